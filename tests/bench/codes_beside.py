#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares CODES on ROSS with CODES on our interface (docs/ross.md). CODES consists of network
models that were written for ROSS. The source tree of CODES is built twice, with ROSS and with our
interface. Each case must commit the same number of events as ROSS on one core, and write the same
lines into the same files (lp-io). Then the event loop is timed without these files, on one core,
and on two ranks with reverse handlers. Runs with ROSS and with our interface alternate, and the
shortest run counts. The number of events that ROSS commits on two ranks is only printed: a
difference is not a failure.

usage: codes_beside.py [--rounds N] [--json FILE] SOURCES BUILD-WITH-ROSS BUILD-WITH-OURS
                       [CASE...]"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
from ross_beside import Sides, told_by_ross  # noqa: E402

# For each case: the program, its options, and its configuration in tests/conf of a build or of the
# sources.
CASES = {
    "dragonfly plus": ("src/model-net-synthetic-dragonfly-all", ["--num_messages=900"], "dragonfly-plus/dfp-test.conf"),
    "dragonfly custom": ("src/model-net-synthetic-dragonfly-all", ["--num_messages=25"],
                         "dragonfly-custom/dfcustom-8group.conf"),
    "torus": ("tests/modelnet-test", [], "modelnet-test-torus.conf"),
    "dragonfly": ("tests/modelnet-test", [], "modelnet-test-dragonfly.conf"),
}


def files_of(folder):
    """The sorted lines of each file. The order of lines is ignored, because ranks write one after
    the other."""
    return {path.relative_to(folder): sorted(path.read_bytes().splitlines())
            for path in folder.rglob("*") if path.is_file()}


class CodesSides(Sides):
    def __init__(self, sources, *builds_and_folder):
        super().__init__(*builds_and_folder)
        self.sources = sources.resolve()

    def outcome(self, is_ours, case, ranks, *words):
        """(events, seconds)"""
        program, own_words, name = CASES[case]
        build = self.ours if is_ours else self.theirs
        configuration = next(path for path in (build / "tests/conf" / name, self.sources / "tests/conf" / name)
                             if path.exists())
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        engine = ["--synch=3" if ranks > 1 else "--synch=1", *(["--quiet", "--stats", "stats.json"] if is_ours else [])]
        said = self.run([*launcher, build / program, *engine, *own_words, *words, "--", configuration])
        return self.told_by_ours() if is_ours else told_by_ross(said)

    def written(self, is_ours, case, ranks):
        """(events, files)"""
        results = self.folder / "results"
        shutil.rmtree(results, ignore_errors=True)
        events, _ = self.outcome(is_ours, case, ranks, f"--lp-io-dir={results.name}")
        return events, files_of(results)

    def row(self, case, ranks, rounds, wanted):
        """The measured values of a case, and the number of files that differ from those of ROSS."""
        events, files = self.written(True, case, ranks)
        told = [[self.outcome(is_ours, case, ranks) for is_ours in (False, True)] for _ in range(rounds)]
        return {"case": case, "ranks": ranks, "events_of_ross": told[-1][0][0], "events_of_ours": events,
                "events_wanted": wanted[0], "files": len(wanted[1]),
                "files_not_of_ross": sum(files.get(name) != lines for name, lines in wanted[1].items()),
                "seconds_of_ross": min(theirs[1] for theirs, _ in told),
                "seconds_of_ours": min(ours[1] for _, ours in told)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\nusage")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("ours", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all of " + ", ".join(CASES))
    options = parser.parse_args()
    rows = []
    print("| model | ranks | events, ROSS | ours | files, of which different from ROSS on one core "
          "| ROSS, s | ours, s | ROSS / ours |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        sides = CodesSides(options.sources, options.theirs, options.ours, Path(folder))
        for case in options.cases or CASES:
            wanted = sides.written(False, case, 1)
            for ranks in (1, 2):
                row = sides.row(case, ranks, options.rounds, wanted)
                rows.append(row)
                print(f"| {case} | {ranks} | {row['events_of_ross']:,} | {row['events_of_ours']:,} | {row['files']}, "
                      f"{row['files_not_of_ross']} | {row['seconds_of_ross']:.3f} | {row['seconds_of_ours']:.3f} "
                      f"| {row['seconds_of_ross'] / row['seconds_of_ours']:.2f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({**sides.facts, "rounds": options.rounds, "rows": rows}, indent=1) + "\n")
    wrong = {row["case"] for row in rows
             if row["events_of_ours"] != row["events_wanted"] or row["files_not_of_ross"] > 0}
    if wrong:
        raise SystemExit("our events or files differ from those of ROSS on one core: " + ", ".join(sorted(wrong)))


if __name__ == "__main__":
    main()
