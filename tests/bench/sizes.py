#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures set-up time and resident memory against the number of LPs: PHOLD on every engine, and
one rank of 1,024.

There are two series for each size and engine. `one event each`: every LP executes one event, and no
event follows it, so that the resident memory is the memory of LPs and events. `PHOLD`: the defaults
of the model, with --until 5. All runs of one size and series must have the same digest. Set-up
times are the least over the rounds, because the first run that gets this amount of memory from the
machine waits for the memory.

Then one rank of many (rank_size_bench) is measured and compared with its computed memory: 100
million LPs over up to 1,024 ranks.

usage: sizes.py BUILD/bin [ROUNDS] [--sizes LPS...] [--json FILE] [--picture FILE]"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "jobs"), str(ROOT / "jobs/research/cost_model")]
import memory  # noqa: E402

ROUNDS_DEFAULT = 3
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
# Until 110, nearly all first events are executed (at 100 plus an exponential time of mean 0.9), and
# no second events are executed.
SERIES = {
    "one event each": "--lookahead 100 --until 110",
    "PHOLD": "--until 5",
}
ENGINES = {
    "sequential": "--engine sequential",
    "conservative, 2 workers": "--engine conservative --workers 2",
    "timewarp, 1 worker": "--engine timewarp --workers 1",
    "timewarp, 2 workers": "--engine timewarp --workers 2",
}
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")


def run(programs, lps, *options):
    """The statistics of one run, with its CPU seconds outside of the event loop."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats = Path(folder) / "stats.json"
        words = [programs / "phold", "--lps", str(lps), "--quiet", "--stats", stats]
        words += [word for option in options for word in option.split()]
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}: exit code {child.returncode}")
        found = json.loads(stats.read_text())
    loop = sum(worker["busy_seconds"] for worker in found["workers_detail"])
    found["cpu_seconds_outside_loop"] = max(0.0, used.ru_utime + used.ru_stime - loop)
    return found


def measure(programs, sizes, rounds):
    """The least figures over the rounds, by series, engine and size; and the digest of each series
    and size."""
    found = {series: {engine: {} for engine in ENGINES} for series in SERIES}
    digests = {series: {} for series in SERIES}
    for number in range(rounds):
        for lps in sizes:
            for series, until in SERIES.items():
                for engine, options in ENGINES.items():
                    stats = run(programs, lps, until, options)
                    digest = digests[series].setdefault(lps, stats["digest"])
                    if stats["digest"] != digest:
                        sys.exit(f"{lps} LPs, {engine}: digest {stats['digest']}, not {digest}")
                    figures = {"setup_seconds": stats["setup_seconds"],
                               "cpu_seconds_outside_loop": stats["cpu_seconds_outside_loop"],
                               "loop_seconds": stats["wall_seconds"],
                               "resident_peak_bytes": stats["memory"]["resident_peak_bytes"],
                               "committed_events": stats["committed_events"]}
                    least = found[series][engine].setdefault(lps, figures)
                    for name, value in figures.items():
                        least[name] = min(least[name], value)
            print(f"round {number + 1} of {rounds}: {lps:,} LPs", file=sys.stderr, flush=True)
    return found, digests


def bytes_an_lp(found, lps, least_lps):
    """Bytes of memory per LP. The memory of the smallest size is subtracted, because it counts as
    the memory of the program itself."""
    more = found[lps]["resident_peak_bytes"] - found[least_lps]["resident_peak_bytes"]
    return more / (lps - least_lps)


def table(found, sizes):
    yield "| LPs | engine | set-up, s | bytes an LP, one event each | resident, MB | PHOLD until 5: MB | s |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for lps in sizes:
        for engine in ENGINES:
            rest, phold = (found[series][engine] for series in SERIES)
            each = f"{bytes_an_lp(rest, lps, sizes[0]):.0f}" if lps > sizes[0] else "–"
            setup = min(rest[lps]["setup_seconds"], phold[lps]["setup_seconds"])
            yield (f"| {lps:,} | {engine} | {setup:.2f} | {each} | "
                   f"{rest[lps]['resident_peak_bytes'] / 1e6:,.0f} | "
                   f"{phold[lps]['resident_peak_bytes'] / 1e6:,.0f} | {phold[lps]['loop_seconds']:.1f} |")


def draw(file, found, sizes, facts):
    from lib.plotting import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    for color, (engine, its) in zip(COLORS, found["one event each"].items()):
        left.plot(sizes, [its[lps]["setup_seconds"] for lps in sizes], "o-", color=color, markersize=4,
                  label=engine)
        for series, style in zip(SERIES, ("o-", "s:")):
            right.plot(sizes, [found[series][engine][lps]["resident_peak_bytes"] / 1e6 for lps in sizes], style,
                       color=color, markersize=4, fillstyle="none", label=f"{engine}: {series}")
    right.plot(sizes, [300e-6 * lps for lps in sizes], color="#999999", linewidth=0.8, label="300 bytes an LP")
    left.set(title="Set-up, one event for each LP", ylabel="seconds")
    right.set(title="Most resident memory", ylabel="MB")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="LPs")
        axes.set_xticks(sizes, [f"{lps:,}" for lps in sizes])
        axes.legend(fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.text(0.01, 0.015, f"PHOLD on {facts['machine']['cpu']}, numawarp {facts['commit']}.", fontsize=7,
                color="#444444")
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS_DEFAULT)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="LPS")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    sizes = sorted(given.sizes)
    # Only this script needs rank_size_bench.
    subprocess.run(["cmake", "--build", given.programs.resolve().parent, "--target", "rank_size_bench"],
                   stdout=subprocess.DEVNULL, check=True)
    about = run(given.programs, 10, "--until 1")
    facts = {name: about[name] for name in ("machine", "commit", "date")}
    ranks = memory.measure(given.programs)
    found, digests = measure(given.programs, sizes, given.rounds)
    print("\n".join([*table(found, sizes), "", *memory.lines(memory.by_layout(ranks))]))
    if given.json:
        given.json.write_text(json.dumps(
            {**facts, "rounds": given.rounds, "options": {"series": SERIES, "engines": ENGINES},
             "digests": digests, "series": found, "one_rank_of_many": ranks}, indent=1) + "\n")
    if given.picture:
        draw(given.picture, found, sizes, facts)


if __name__ == "__main__":
    main()
