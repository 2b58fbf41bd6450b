#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modeled guest. A program in the guest measures the latencies and bandwidths that the model was
given. The load of the host hardly changes the modeled time of PHOLD. The kernel's watchdogs
report nothing.

usage: test_timed.py PROGRAMS [all]     all: with four nodes, more runs and other parameters"""

import json
import os
import re
import shlex
import statistics
import subprocess
import sys

from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs"))
from research.qemu.call import UNAVAILABLE, called  # noqa: E402

# Asymmetric: a row and a column that are exchanged give other figures.
MACHINES = {
    "n2": {"bw": [[9000, 5000], [3000, 9000]], "latency_ns": [[60, 126], [150, 60]]},
    "n4": {"bw": [[9000, 5000, 4500, 3000], [4000, 9000, 2500, 2000], [3500, 5000, 9000, 1500], [3000, 2500, 4500, 9000]],
           "latency_ns": [[60, 96, 132, 168], [102, 60, 96, 132], [138, 102, 60, 96], [174, 138, 102, 60]]},
}
# Messages of the kernel's watchdogs and of the kernel's clock.
COMPLAINT = re.compile(r"lockup|\bstalls?\b|blocked for more than|marking tsc unstable|warning:|\bBUG:|skew is too large", re.I)
assert COMPLAINT.search("watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [phold:77]")
PHOLD = "phold --lps 1024 --events-per-lp 16 --state 1024 --engine timewarp --workers 4 --until 30 --quiet"
programs = Programs()
folder = programs.work


def run(topology, script, *options):
    """The JSON of the modeled guest in which a shell has executed the lines of `script`."""
    (folder / "script.sh").write_text("set -e\n" + "\n".join(script) + "\n")
    found, done = called("timed", programs.bin, topology, ["sh", folder / "script.sh"],
                        ["--rw", folder, "--ro", programs.bin, *options])
    if done.returncode == UNAVAILABLE:
        print(done.stderr, end="")
        sys.exit(UNAVAILABLE)
    programs.expect(done.returncode == 0, f"{topology}: exit code {done.returncode} {done.stderr if done.returncode else ''}")
    if done.returncode != 0:
        programs.leave()
    return found


def within(found, wanted, share):
    return abs(found - wanted) <= share * wanted


def check_tables(topology):
    """`placement measure` in the guest finds the tables of the model, except the bandwidth of own memory,
    which the two CPUs of a node do not use completely. And the kernel's watchdogs, with
    limits of a few modeled seconds, report nothing."""
    machine = folder / f"{topology}.json"
    machine.write_text(json.dumps(MACHINES[topology]))
    run(topology, [f"{programs.bin}/placement measure {folder}/measured.json", f"dmesg > {folder}/dmesg",
                   f"cat /proc/sys/kernel/watchdog > {folder}/watchdog"],
        "--machine", machine, "--overlap", 40, "--sysctl", "kernel.watchdog_thresh=1",
        "--sysctl", "kernel.hung_task_timeout_secs=1")
    measured = json.loads((folder / "measured.json").read_text())
    nodes = range(len(MACHINES[topology]["bw"]))
    for c in nodes:
        for m in nodes:
            wanted, found = MACHINES[topology]["latency_ns"][c][m], measured["latency_ns"][c][m]
            programs.expect(within(found, wanted, 0.05), f"{topology}, latency {c} to {m}: {found:.1f} of {wanted} ns")
            wanted, found = MACHINES[topology]["bw"][c][m], measured["bw"][c][m]
            if c != m:
                programs.expect(within(found, wanted, 0.03), f"{topology}, bandwidth {c} to {m}: {found:.0f} of {wanted} MB/s")
    messages = [line for line in (folder / "dmesg").read_text().splitlines() if COMPLAINT.search(line)]
    programs.expect((folder / "watchdog").read_text().strip() == "1" and not messages,
                    f"{topology}: the watchdogs are on, and the kernel reports nothing: {messages}")


def phold_times(topology, runs, *options):
    """The modeled wall times of PHOLD, in milliseconds."""
    run(topology, [f"{programs.bin}/{PHOLD} --stats {folder}/phold-{i}.json" for i in range(runs)], *options)
    found = [json.loads((folder / f"phold-{i}.json").read_text()) for i in range(runs)]
    programs.expect(len({one["digest"] for one in found}) == 1, f"{topology}: one digest")
    return [1000 * one["wall_seconds"] for one in found]


def under_load(processes, body):
    """body(), while `processes` other programs never wait."""
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(processes)]
    try:
        return body()
    finally:
        for one in load:
            one.kill()
            one.wait()


def shown(times):
    return ", ".join(f"{time:.2f}" for time in times) + " ms"


def check_load(runs):
    quiet = phold_times("n2", runs)
    loaded = under_load(2 * os.cpu_count() if runs < 5 else 8, lambda: phold_times("n2", runs))
    difference = abs(statistics.mean(loaded) / statistics.mean(quiet) - 1)
    limit = 0.015 if runs >= 5 else 0.03
    programs.expect(difference < limit, f"PHOLD without and with load: {shown(quiet)}; {shown(loaded)}; the means differ by {100 * difference:.2f} %")
    if runs >= 5:
        for times in (quiet, loaded):
            spread = (max(times) - min(times)) / statistics.mean(times)
            programs.expect(spread < 0.05, f"PHOLD, spread {100 * spread:.1f} %: {shown(times)}")


def phold(*options):
    return [f"{programs.bin}/phold", "--engine", "timewarp", "--quiet", *map(str, options)]


def check_distance():
    """All pages on another node: the additional time is the additional latency of all lines from
    memory. Two lengths of the run, so that set-up and exit are in neither difference."""
    def figures(node, until):
        command = ["numactl", "-N", "0", "-m", str(node), *phold("--lps", 4096, "--state", 4096, "--touch", 4096, "--workers", 1,
                   "--memory", "libc", "--until", until, "--stats", folder / "phold.json")]
        found = run("n2", [shlex.join(map(str, command))], "--overlap", 1)
        return json.loads((folder / "phold.json").read_text())["wall_seconds"], found["memory"][0][node]

    (local_1, _), (local_2, _) = figures(0, 1), figures(0, 3)
    (remote_1, lines_1), (remote_2, lines_2) = figures(1, 1), figures(1, 3)
    found = (remote_2 - remote_1) - (local_2 - local_1)
    wanted = (lines_2 - lines_1) * (126 - 60) * 1e-9
    programs.expect(within(found, wanted, 0.05), f"PHOLD with remote pages: {1e3 * found:.3f} ms more; lines times latency "
                    f"are {1e3 * wanted:.3f} ms")


def check_flat():
    """On a machine without distances, no placement of pages gains anything. The engine's memory and libc's memory are
    not compared, because their addresses differ."""
    options = ["--lps", 8192, "--state", 4096, "--touch", 4096, "--workers", 4, "--until", 6, "--rebind", "off",
               "--huge-pages", "off", "--pagemigd", "off"]
    libc = phold(*options, "--memory", "libc")
    kinds = {"local": phold(*options), "interleave": phold(*options, "--place", "interleave"),
             "libc": libc, "libc interleaved": ["numactl", "--interleave=all", *libc]}
    run(",".join(["1:512M"] * 4), [shlex.join([*command, "--stats", f"{folder}/{name}-{i}.json"])
                                   for i in range(3) for name, command in kinds.items()], "--machine", "flat")
    times = {name: [1e3 * json.loads((folder / f"{name}-{i}.json").read_text())["wall_seconds"] for i in range(3)]
             for name in kinds}
    for pair in (("local", "interleave"), ("libc", "libc interleaved")):
        means = [statistics.mean(times[name]) for name in pair]
        spread = max(max(times[name]) - min(times[name]) for name in pair) / min(means)
        programs.expect(spread < 0.08 and max(means) / min(means) - 1 < max(0.02, spread),
                        "flat: " + "; ".join(f"{name} {shown(times[name])}" for name in pair))


def check_costs():
    """A boot and a run take not much more of the host's CPUs than docs/how-to/timed.md states."""
    boot = run("n2", ["true"])
    seconds = boot["cpu_seconds"]
    programs.expect(seconds < 20, f"a boot takes {seconds:.1f} s of a CPU")
    more = run("n2", [f"{programs.bin}/{PHOLD} --until 60 --stats {folder}/phold.json"])
    busy = 4 * json.loads((folder / "phold.json").read_text())["wall_seconds"]
    each = (more["cpu_seconds"] - seconds) / busy
    programs.expect(each < 60, f"a second of a CPU in the guest takes {each:.0f} s of a CPU")


def check_many_cpus():
    """The largest number of CPUs boots and runs."""
    run(",".join(["2:256M"] * 8), [shlex.join(phold("--lps", 512, "--workers", 16, "--until", 5, "--stats", folder / "many.json"))])
    programs.expect(json.loads((folder / "many.json").read_text())["workers"] == 16, "16 CPUs")


def check_pagemigd():
    """Moved pages cause interrupts of all CPUs; a run in which pages always move ends."""
    run("n4", [shlex.join(phold("--lps", 2048, "--state", 4096, "--touch", 4096, "--workers", 8, "--until", 30, "--rebind", 0.003,
                                "--check-rebind", 0.5, "--pagemigd", "2@0.002", "--stats", folder / "pagemigd.json"))])
    moved = json.loads((folder / "pagemigd.json").read_text())["numa"]["pages_moved"]
    programs.expect(moved > 100, f"pagemigd with 8 CPUs: {moved} pages moved, and the run ends")


if "all" not in sys.argv:
    check_tables("n2")
    check_load(2)
else:
    check_tables("n4")
    check_load(5)
    means = {skew: statistics.mean(phold_times("n2", 5, "--skew", skew)) for skew in (1000, 2000, 5000)}
    programs.expect(max(means.values()) / min(means.values()) - 1 < 0.02,
                    f"PHOLD with a skew of 1, 2 and 5 µs: {shown(means.values())}")
    check_distance()
    check_flat()
    check_pagemigd()
    check_costs()
    check_many_cpus()
programs.leave()
