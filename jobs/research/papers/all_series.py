# SPDX-License-Identifier: Apache-2.0
"""The series of the four papers, and their runs.

Some claims are decided by modeled times. A second list of series has only the runs that decide these claims. Each of
its series is repeated with other parameters of the model, to find out whether the results depend on them."""

import dataclasses
import subprocess
import sys
from pathlib import Path

from lib.series.runner import Interrupted

RESEARCH = Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class Series:
    """A series of ./jobs/run. options: of the complete series; quick: of one claim in short runs."""

    folder: str  # of its results
    command: str
    paper: str
    options: tuple
    quick: tuple = ()
    change: str = ""  # of CHANGES

    def words(self, results, quick, programs):
        """The command line that starts the series in the folder `results`, or continues it there."""
        begins = not (results / "plan.json").exists()
        return [sys.executable, RESEARCH / self.command.replace("-", "_"), "--programs", programs,
                *(self.quick if quick else self.options)[:None if begins else self.kept],
                "--output" if begins else "--resume", results]

    @property
    def is_modeled(self):
        return self.command == "paper-asymsched" or "--timed" in self.options

    @property
    def kept(self):
        """The number of options that are repeated to continue a series: --timed and --meter select the kind of the
        series, and all other options are stored with its runs."""
        return sum(option in ("--timed", "--meter") for option in self.options)


SERIES = (
    Series("numa-time-warp", "paper-numa", "NUMA Time Warp (PADS 2015), in modeled time",
           ("--timed",), ("--timed", "--quick", "--only", "memory-bound")),
    Series("asymsched", "paper-asymsched", "Thread and Memory Placement on NUMA Systems (ATC 2015), in modeled time",
           (), ("--quick", "--only", "two-nodes")),
    Series("bwap", "paper-bwap", "Bandwidth-Aware Page Placement in NUMA Systems (IPDPS 2020), in modeled time",
           ("--timed",), ("--timed", "--quick")),
    Series("state-saving", "paper-state-saving",
           "The effect of state-saving in optimistic simulation (WSC 1999), on this machine", (), ("--quick",)),
    Series("state-saving-timed", "paper-state-saving",
           "The effect of state-saving in optimistic simulation (WSC 1999), in modeled time",
           ("--timed",), ("--timed", "--quick")))


# Changes of the model, and the options that make them.
CHANGES = {f"{what} × {factor:g}": (f"--{option}-factor", f"{factor:g}")
           for what, option in (("latencies", "latency"), ("overlap", "overlap")) for factor in (0.7, 1.3)}
CLAIMS = tuple(
    Series(f"{one.folder}{change and '-' + '-'.join(options).strip('-')}", one.command, one.paper,
           (*one.options, "--claims", *options, "--runs", "1" if change else "3"), change=change)
    for change, options in {"": (), **CHANGES}.items() for one in SERIES if one.is_modeled)


def run_all(series, folder, quick, programs):
    """Runs all series one after the other and returns {folder of a series: exit code}. Raises Interrupted, after the
    running series has ended."""
    codes = {}
    for number, one in enumerate(series):
        print(f"{number + 1}/{len(series)}  {one.command}: {one.paper}", file=sys.stderr, flush=True)
        # The child gets its own session. So Ctrl-C reaches only this program, which then stops the series.
        with subprocess.Popen(list(map(str, one.words(folder / one.folder, quick, programs))),
                              start_new_session=True) as child:
            try:
                codes[one.folder] = child.wait()
            except Interrupted:
                child.terminate()
                child.wait()
                raise
    return codes
