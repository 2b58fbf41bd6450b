# SPDX-License-Identifier: Apache-2.0
"""Computes the values of the paper's figures from the runs. Writes no files and no pictures."""

import statistics

from research.series.summary import speed_up, spread, warnings_about_runs


def figure_6(plan, records):
    groups = []
    for variant in plan.balanced():
        if not groups or groups[-1]["workload"] != variant.workload.name:
            groups.append({"workload": variant.workload.name,
                           "inter_arrival": variant.workload.inter_arrival, "variants": []})
            base = {}
        kind = "numa with daemons" if variant.daemons else variant.name
        base[kind] = variant
        gains = {f"over {name}": speed_up(records, base[name], variant)
                 for name in ("sequential", "libc", "libc owners", "numa") if name in base and name != kind}
        groups[-1]["variants"].append({"kind": kind, "variant": variant.name,
                                       "seconds": spread(records.of(variant).values()),
                                       "efficiency": spread(records.of(variant, "efficiency")
                                                            .values()), "speed_up": gains})
    return groups


SURFACES = {"7": "sequential", "8": "numa", "9": "libc", "9b": "libc owners"}


def figures_7_to_9(plan, records):
    """({figure number: {daemons: {period: speed-up}}}, spreads of the values of every variant)."""
    variants = {variant.name: variant for variant in plan.unbalanced()}
    grid = [variant for variant in variants.values() if variant.daemons]
    figures = {}
    for number, base in SURFACES.items():
        figures[number] = {daemons: {} for daemons in plan.daemons}
        for variant in grid:
            figures[number][variant.daemons][variant.period] = speed_up(records, variants[base],
                                                                        variant)
    details = [{"variant": variant.name,
                "seconds": spread(records.of(variant).values()),
                **{name: spread(records.of(variant, name).values())
                   for name in ("efficiency", "groups_moved", "pages_moved", "remote_page_share")}}
               for variant in variants.values()]
    return figures, details


def short_runs(plan, records):
    """Variants whose daemons woke up less than five times in the median run."""
    return [variant for variant in plan.variants() if variant.daemons and records.of(variant)
            and statistics.median(records.of(variant).values()) < 5 * variant.period]


def one_node_notice(machine):
    """A notice if the machine has one NUMA node; otherwise empty."""
    if machine["nodes"] > 1:
        return ""
    return "This machine has one NUMA node, so it cannot show a gain from NUMA placement."


def warnings_about_daemons(plan, records):
    short = short_runs(plan, records)
    if not short or plan.quick:
        return []
    names = ", ".join(sorted({variant.name for variant in short}))
    return [f"Runs were too short for these daemons, which woke up less than five times: {names}. Use a larger "
            "--until."]


def warnings(plan, records):
    """Warnings for the reader of the figures, one sentence each."""
    found = [one_node_notice(plan.machine), *warnings_about_runs(plan, records),
             *warnings_about_daemons(plan, records)]
    if plan.machine["nodes"] > 1 and plan.machine["kernel_numa_balancing"] not in ("0", "unknown"):
        found.append("The NUMA balancing of the kernel was on and also moves pages; run `sysctl "
                     "kernel.numa_balancing=0` before such a series.")
    return [text for text in found if text]


def results(plan, records):
    found = {}
    if "balanced" in plan.experiments:
        found["figure_6"] = figure_6(plan, records)
    if "unbalanced" in plan.experiments:
        figures, found["unbalanced"] = figures_7_to_9(plan, records)
        found |= {f"figure_{number}": surface for number, surface in figures.items()}
    return found
