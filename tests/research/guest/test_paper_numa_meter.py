#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-numa --meter --quick`, which counts shares and estimates of the paper's
settings in a guest. A series that is interrupted continues where it stopped. guest_meter_shares
tests the shares of longer runs."""

import json
import signal
import subprocess
import time

from programs import CHECKOUT, Programs, python_with, rows_of

UNAVAILABLE = 77

programs = Programs()
python = python_with("matplotlib")
series = programs.work / "series"


def command(*arguments):
    return [python, CHECKOUT / "jobs/research/paper_numa", "--programs", programs.bin, "--meter", *map(str, arguments)]


def runs():
    return rows_of(series / "runs.csv") if (series / "runs.csv").exists() else []


with subprocess.Popen(command("n4", "--quick", "--only", "unbalanced", "--output", series), stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE, text=True) as first:
    while first.poll() is None and not runs():
        time.sleep(0.1)
    first.send_signal(signal.SIGTERM)
    told = first.communicate()[1]
if first.returncode == UNAVAILABLE:
    print(told)
    raise SystemExit(UNAVAILABLE)
programs.expect(first.returncode == 143 and f"--meter --resume {series}" in told,
                f"terminated: exit code {first.returncode}, {told.splitlines()[-1:]}")
before = runs()
done = subprocess.run(command("--resume", series), capture_output=True, text=True)
programs.expect(done.returncode == 0, f"resumed: exit code {done.returncode} {done.stderr[-300:]}")
rows = runs()
programs.expect(rows[:len(before)] == before and len(rows) == 4, f"{len(before)} runs were kept, {len(rows)} in total")

kinds = {row["variant"]: row for row in rows}
programs.expect(set(kinds) == {"libc", "libc owners", "numa", "numa 8@0.1"}, f"{sorted(kinds)}")
programs.expect(len({row["digest"] for row in rows}) == 1, "one digest")
for name, row in kinds.items():
    programs.expect(int(row["groups_moved"]) > 0 and 0 < float(row["local_share"] or 0) <= 1,
                    f"{name}: {row['groups_moved']} groups moved, local share {row['local_share']}")
    if row["qemu_api"] != "1":
        programs.expect(float(row["estimate_ns"] or 0) > 0 and float(row["memory_an_event"] or 0) > 0,
                        f"{name}: estimate {row['estimate_ns']} ns, {row['memory_an_event']} to memory")
programs.expect(int(kinds["numa 8@0.1"]["pages_moved"]) > 0 and int(kinds["numa"]["pages_moved"]) == 0,
                "pages move only with daemons")

summary = json.loads((series / "summary.json").read_text())
page = (series / "summary.md").read_text()
share = float(kinds["numa 8@0.1"]["local_share"] or 0)
programs.expect(summary["figure_7"]["8"]["0.1"]["median"] == share and f"{share:.3f}" in page,
                f"the summary and its page have the share {share:.3f}")
programs.expect(all((series / f"figure-{number}.png").stat().st_size > 10_000 and f"figure-{number}.svg" in page for number in ("7", "8", "9", "9b")), "pictures")
programs.expect("estimates and not measured" in page and "estimates and not measured" in done.stdout,
                "page and terminal mark estimates")
programs.leave()
