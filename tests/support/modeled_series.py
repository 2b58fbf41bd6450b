# SPDX-License-Identifier: Apache-2.0
"""A `--quick` series of ./jobs/run in the modeled guest, for tests."""

import dataclasses
import json
import subprocess

from programs import CHECKOUT, python_with, rows_of

UNAVAILABLE = 77


@dataclasses.dataclass(frozen=True)
class QuickSeries:
    rows: list  # of runs.csv
    summary: dict
    page: str


def quick_series(programs, folder, *options, pictures=True):
    """Runs the series `folder` of jobs/research with `options`, and checks that all its output marks modeled times.
    `pictures`: whether the series draws pictures. Ends the test with UNAVAILABLE if the guest cannot run here."""
    output = programs.work / "-".join([folder, *map(str, options)])
    done = subprocess.run([python_with("matplotlib"), CHECKOUT / "jobs/research" / folder, "--programs", programs.bin,
                           "--quick", "--output", output, *map(str, options)], capture_output=True, text=True)
    if done.returncode == UNAVAILABLE:
        print(done.stderr)
        raise SystemExit(UNAVAILABLE)
    programs.expect(done.returncode == 0, f"{output.name}: exit code {done.returncode} {done.stderr[-300:]}")
    page = (output / "summary.md").read_text()
    drawn = [picture.read_text() for picture in output.glob("*.svg")]
    programs.expect(bool(drawn) == pictures and all("modeled, not measured" in text for text in (page, done.stdout, *drawn)),
                    f"{output.name}: page, terminal and {len(drawn)} pictures mark modeled times")
    return QuickSeries(rows_of(output / "runs.csv"), json.loads((output / "summary.json").read_text()), page)
