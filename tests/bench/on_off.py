"""Pairs of runs of a program, with something off and on, in alternating order: what both share (a busy
machine, a warm one) cancels in their ratio, and the median over pairs forgets the odd disturbance."""

import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def ahead_of_others():
    """Words before a command that keep other programs off its cores, where that is allowed."""
    words = ["chrt", "--fifo", "50"]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return words if allowed else []


def run(programs, command, before=()):
    """The statistics of one run of `command`: a program's name and its options."""
    program, *arguments = command
    # Where the heap's blocks come to lie depends on the length of every name, and the speed by some
    # percent on that: luck, which must not be the same luck in every run with an option.
    with tempfile.TemporaryDirectory(prefix="r" * random.randint(1, 99)) as folder:
        stats = Path(folder) / "stats.json"
        arguments = [word.replace("FOLDER", folder) for word in arguments]
        subprocess.run([*before, programs / program, *arguments, "--quiet", "--stats", stats],
                       check=True)
        return json.loads(stats.read_text())


def ratios(name, programs, command, off, on, rounds, before=()):
    """Of each pair: the speed with `on` by that with `off`. FOLDER in an option is a folder that goes
    away after the run."""
    found = []
    for i in range(rounds):
        order = [off, on] if i % 2 == 0 else [on, off]
        pair = [run(programs, [*command, *options], before) for options in order]
        off_run, on_run = pair if i % 2 == 0 else reversed(pair)
        if off_run["digest"] != on_run["digest"]:
            sys.exit(f"{name}: the digests differ")
        found.append(on_run["events_per_second"] / off_run["events_per_second"])
    return found


def judge(name, found, wanted):
    """Prints a line and returns the median."""
    ratio = statistics.median(found)
    verdict = "reached" if ratio >= wanted else "MISSED"
    print(f"{name:26} on / off {ratio:.3f} ({min(found):.3f} to {max(found):.3f})"
          f"  wanted at least {wanted}  {verdict}", flush=True)
    return ratio


def write_results(file, programs, results):
    """With what they hold for: the machine, the commit and the day."""
    about = run(programs, ["phold", "--until", "1"])
    facts = {name: about[name] for name in ("machine", "commit", "date")}
    Path(file).write_text(json.dumps({**facts, "results": results}, indent=2) + "\n")


def folder_rounds_and_file(usage, rounds):
    """FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE] of the command line."""
    arguments, file = sys.argv[1:], None
    if "--json" in arguments:
        at = arguments.index("--json")
        file = arguments[at + 1]
        del arguments[at:at + 2]
    if not 1 <= len(arguments) <= 2:
        sys.exit(usage)
    return Path(arguments[0]), int(arguments[1]) if len(arguments) == 2 else rounds, file
