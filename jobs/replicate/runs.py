# SPDX-License-Identifier: Apache-2.0
"""The runs of a series: stores the results of each run, and makes the missing runs."""

import hashlib
import json
import math
import os
import sys
import tempfile
from pathlib import Path

from lib import number_text
from lib.cores import this_machine
from lib.series.machine import ProgramFailed, last_line
from lib.series.records import write_atomically
from lib.series.runner import Progress, Running

MEMORY_SHARE = 0.8  # share of the available memory for all concurrent runs


def text_of(variant):
    return " ".join(f"{name}={value}" for name, value in variant.items()) or "all"


def available_bytes():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 1 << 62


def task_of_slurm():
    """(I, N) in an array of SLURM jobs, else None."""
    try:
        task, first, count = (int(os.environ[f"SLURM_ARRAY_TASK_{name}"])
                              for name in ("ID", "MIN", "COUNT"))
        step = int(os.environ.get("SLURM_ARRAY_TASK_STEP", 1))
    except (KeyError, ValueError):
        return None
    return (task - first) // step + 1, count


class Series:
    """variants: {option: value} of the options that differ."""

    def __init__(self, given, variants):
        self._program = (given.programs / given.model).resolve()
        if not self._program.is_file():
            raise ProgramFailed(2, f"no program '{given.model}' in {given.programs}; allowed: a built model")
        self.variants, self.count = variants, 0
        self.part = given.part or task_of_slurm()
        self._options = given.options
        self._decided = any(word.partition("=")[0] in ("--engine", "--workers") for word in given.options)
        self._folder = given.output / "runs"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._fingerprint = hashlib.sha256(self._program.read_bytes()).hexdigest()
        self._kept = {}

    def _words(self, variant):
        return [*self._options, *(word for name, value in variant.items() for word in (f"--{name}", value))]

    def _file(self, variant, seed):
        key = json.dumps([self._program.name, self._words(variant), seed, self._fingerprint])
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def kept(self, variant, seed):
        file = self._file(variant, seed)
        if file not in self._kept and file.exists():
            try:
                self._kept[file] = json.loads(file.read_text())
            except ValueError:
                return None  # the run is made again
        return self._kept.get(file)

    def figures(self, variant, seed):
        """{(measure, figure): number} of a stored run; the first figure of a measure is its
        mean."""
        found = {}
        for name, measure in self.kept(variant, seed)["measures"].items():
            values = {"mean": measure["mean"], **(measure["quantiles"] or {})}
            values.pop("error", None)
            found.update({(name, figure): value for figure, value in values.items()
                          if value is not None})
        return found

    def make(self, count):
        """Ensures: `count` runs of each variant are stored; with --part, the runs of this part."""
        seeds = range(1, count + 1)
        missing = [(variant, seed) for seed in seeds for variant in self.variants
                   if not self.kept(variant, seed)]
        if self.part:
            index, parts = self.part
            missing = [(variant, seed) for variant, seed in missing if seed % parts == index % parts]
        # All variants of a seed come before the next seed, so that an interrupted series has pairs.
        if missing and not self._decided:
            known = next((self.kept(variant, seed) for seed in seeds for variant in self.variants
                          if self.kept(variant, seed)), None)
            if known is None:
                self._run(missing[:1], 1, ["--engine", "sequential"])
                known = self.kept(*missing.pop(0))
            at_once, words, why = self._layout(known, len(missing))
        else:
            at_once, words, why = 1, [], "as given by --engine or --workers, one at a time"
        if missing:
            print(f"{number_text.many(len(missing), 'run')}: {why}", file=sys.stderr)
            self._run(missing, at_once, words)
        self.count = count

    def _layout(self, known, missing):
        """(runs at a time, options for the engine, reason). Sequential runs have no cost for
        rollbacks and GVT. Therefore each run is sequential if there are enough memory and enough
        missing runs for one run per core."""
        cores = len(this_machine().cores)
        fit = max(1, int(MEMORY_SHARE * available_bytes() / max(known["bytes"], 1)))
        at_once = max(1, min(cores, fit, missing))
        workers = cores // at_once
        took = f"the first took {number_text.seconds(known['seconds'])} and {number_text.size(known['bytes'])}"
        if workers == 1:
            return at_once, ["--engine", "sequential"], f"{took}; {at_once} at a time, sequential"
        short = "memory" if at_once == fit < missing else "runs"
        # Without --pin off, concurrent runs would bind their workers to the same cores.
        return at_once, ["--workers", workers, "--pin", "on" if at_once == 1 else "off"], \
            f"{took}; enough {short} for only {at_once} at a time, each with {workers} workers"

    def _run(self, missing, at_once, words):
        waiting, running, progress = list(missing), {}, Progress()
        done, failure = 0, None
        with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
            try:
                while running or (waiting and not failure):
                    while waiting and len(running) < at_once and not failure:
                        variant, seed = waiting.pop(0)
                        file = Path(folder) / f"{len(waiting)}.json"
                        command = [self._program, *self._words(variant), "--seed", seed, *words]
                        running[len(waiting)] = variant, seed, Running(command, file)
                    next(iter(running.values()))[2].wait(0.05)
                    for number in [number for number, one in running.items() if one[2].wait(0)]:
                        variant, seed, program = running.pop(number)
                        code, errors, stats = program.result()
                        if code != 0:
                            failure = failure or ProgramFailed(code if code > 0 else 128 - code, f"{text_of(variant)}, seed {seed}: "
                                                               f"{last_line(errors).removeprefix('numawarp: ')}")
                            continue
                        self._keep(variant, seed, stats)
                        done += 1
                        progress.running(f"{done}/{len(missing)}")
            finally:
                progress.end()
                for _, _, program in running.values():
                    program.stop()
        if failure:
            raise failure

    def _keep(self, variant, seed, stats):
        if not stats["measures"]:
            raise ProgramFailed(2, f"{self._program.name}: the model has no measures; allowed: a model with "
                                   "Setup::measures")
        row = {"model": self._program.name, "options": self._words(variant), "seed": seed,
               "program": self._fingerprint, "commit": stats["commit"], "digest": stats["digest"],
               "seconds": stats["wall_seconds"] + stats["setup_seconds"],
               "bytes": stats["memory"]["resident_peak_bytes"], "measures": stats["measures"]}
        write_atomically(self._file(variant, seed), json.dumps(row, indent=1) + "\n")


def is_close(half, mean, precision):
    return half <= precision * abs(mean) or math.isclose(half, 0, abs_tol=1e-300)
