# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --timed."""

from lib.series.machine import one_line
from placements import ALL, BWAP, EVEN, WORKERS
from research.series.page import beginning, digests, milliseconds, shown, table
from research.timed.series import factors
from timed import AUTONUMA, FIRST, LOCAL, STATE_BYTES, gain, title

OTHERS = (FIRST, AUTONUMA, WORKERS, ALL, EVEN, LOCAL)
PREDICTED = (WORKERS, ALL)  # the gains of BWAP over these placements are also computed by the formula


def section(group):
    predicted = group["predicted_mb_s"]
    rows = []
    for row in group["rows"]:
        formula = f"{predicted[BWAP] / predicted[row['placement']]:.2f}" if row["placement"] in PREDICTED else "–"
        rows.append([row["placement"], "–" if row["proximity"] is None else f"{row['proximity']:g}",
                     milliseconds(row["seconds"]), shown(row["gain_of_bwap"]), formula,
                     "–" if row["shares_off"] is None else f"{100 * row['shares_off']['max']:.1f}"])
    ends = [f"Proximity of {placement}: fastest at {at['best']:g}, a search from 0 ends at {at['search']:g}."
            for placement, at in group["proximity"].items() if at and not group["long"]]
    ends += [f"With {AUTONUMA} the kernel moved {shown(row['pages_migrated'], '{:,.0f}')} pages. Intended is the same "
             "share on each worker node."
             for row in group["rows"] if row["pages_migrated"]]
    return [f"## {title(group).capitalize()}", "",
            " ".join([f"Nodes {' '.join(map(str, group['nodes']))}, {group['workers']} workers.", *ends]), "",
            *table(["placement", "proximity", "modeled ms", "speed of BWAP relative to it", "by the formula",
                    "shares off, points"], rows)]


def gains(groups):
    return table(["", *(f"over {placement}" for placement in OTHERS)],
                 [[title(group), *(shown(gain(group, placement)) for placement in OTHERS)] for group in groups])


def page(summary):
    settings = summary["settings"]
    modeled = settings["modeled"]
    machine = (f"Modeled: {modeled['source']}. Own memory of a node: {modeled['bw'][0][0]:,} MB/s (assumed). Caches of "
               f"{modeled['caches']}.{factors(settings)} "
               f"On: {one_line(summary['machine'], summary['date'])}.")
    lines = beginning("Placements of pages, in modeled time", machine, summary)
    lines += ["Made by `./jobs/run paper-bwap --timed`; [runs.csv](runs.csv) has every run. PHOLD with "
              f"{settings['lps']:,} LPs of {STATE_BYTES} bytes for each worker node, on the conservative engine. Runs "
              f"of each kind: {settings['runs']}; seed {settings['seed']}. Worker nodes are those with the best links "
              f"between them. The CPUs of a node request as many lines as {modeled['cores']} cores with "
              f"{modeled['instruction_ns']:g} ns per instruction and {modeled['overlap']} misses at the same time. "
              "Shown are the median and, in brackets, the minimum "
              "and the maximum. *Shares off* is the largest difference between the share of a node in the pages of "
              "the states and its intended share.", "", *digests(summary),
              "![modeled time over proximity](timed.svg)", "",
              "Speed of BWAP, at its best proximity, relative to the other placements, modeled:", "",
              *gains(summary["groups"])]
    for group in summary["groups"]:
        lines += section(group)
    return "\n".join(lines)
