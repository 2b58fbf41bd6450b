# SPDX-License-Identifier: Apache-2.0
"""Tests ./jobs/run timed without a guest: the input that the command refuses, the machines, and the
figures that it reads from the plug-in. The model is tested in tests/research/unit, and the guest in
tests/research/guest."""

import json
import sys
import tempfile
import unittest.mock
from pathlib import Path

from programs import CHECKOUT
from refusals import Refusals

sys.path[:0] = [str(CHECKOUT / "jobs"), str(CHECKOUT / "tests/guest")]
import boot  # noqa: E402
import images  # noqa: E402
import topology  # noqa: E402
from research.meter.presets import MACHINES as CORES  # noqa: E402
from research.timed import machines, results  # noqa: E402
from research.timed.arguments import CPUS_MAX, NODES_MAX, USABLE_CORES  # noqa: E402
from research.timed.version import check_version  # noqa: E402

programs = Refusals()
run = CHECKOUT / "jobs/run"


def machine(content):
    return programs.file_with(json.dumps(content), "machine.json")


# --- refused input ---

for arguments, fragments in [
        ([], ["timed", "TOPOLOGY"]), (["n5", "--", "true"], ["topology 'n5'", "n1"]), (["n2"], ["command is missing"]),
        (["n2", "--caches", "origin2000", "--", "true"], ["--caches", "origin2000", "opteron6128"]),
        (["n2", "--overlap", "2.5", "--", "true"], ["--overlap", "'2.5'", "whole numbers from 1 to 128"]),
        (["n2", "--skew", "nan", "--", "true"], ["--skew", "'nan'", "100 to 1e+06 ns"]),
        (["n2", "--instruction", "0", "--", "true"], ["--instruction", "'0'", "0.01 to 100 ns"]),
        (["17:1G", "--", "true"], ["17 CPUs", "up to 16 and 16"]),
        (["n2", "--machine", "flat", "--", "true"], ["flat has 4 nodes", "2 nodes"]),
        (["n2", "--machine", "nosuch", "--", "true"], ["--machine nosuch", "No such file", "opteron6128"])]:
    programs.refused(2, fragments, run, "timed", *arguments)
for content, fragments in [
        ({"other": 1}, ["`bw` is missing"]), ({"bw": [[1, 2]]}, ["bw has 1 rows", "2 rows of 2"]),
        ({"bw": [[9000, 0.1], [5000, 9000]]}, ["bw contains 0.1", "1 to 1e+07"]),
        ({"bw": [[1, 2], [2, 1]], "latency_ns": [[60, 1e9], [1, 60]]}, ["latency_ns contains", "1 to 100000"])]:
    programs.refused(2, ["--machine", *fragments], run, "timed", "n2", "--machine", machine(content), "--", "true")

# --- machines ---

for name, found in machines.MACHINES.items():
    nodes = range(len(found.bandwidth))
    square = all(len(rows) == len(nodes) and all(len(row) == len(nodes) for row in rows)
                 for rows in (found.latency_ns, found.link))
    own_is_nearest = all(found.latency_ns[c][c] <= latency for c in nodes for latency in found.latency_ns[c])
    programs.expect(square and own_is_nearest and found.cores in USABLE_CORES, f"{name}: matrices of its nodes, and known cores")
    distances = machines.with_distances(topology.Topology([topology.Node(1, 64)] * len(nodes), None), found).distances
    programs.expect(all(distances[c][c] == 10 and distances[c][m] > 10 for c in nodes for m in nodes if c != m),
                    f"{name}: distances of the firmware")
flat = machines.MACHINES["flat"]
programs.expect(len({latency for row in flat.latency_ns for latency in row}) == 1 and not any(map(any, flat.link)),
                "flat: no distances")
for name, cores in USABLE_CORES.items():
    programs.expect(list(cores.hit_ns) == sorted(cores.hit_ns) and cores.hit_ns[-1] < cores.memory_ns,
                    f"{name}: each level is slower than the level before, and memory is the slowest")
source = "".join((CHECKOUT / f"jobs/research/timed/plugin/{name}").read_text() for name in ("timed.cpp", "cost_model.hpp"))
programs.expect(f"vcpus_max = {CPUS_MAX};" in source and f"nodes_max = {NODES_MAX};" in source, "the limits are those of the plug-in")
programs.expect("origin2000" in CORES and "origin2000" not in USABLE_CORES, "origin2000 has other lines")

# --- QEMU ---

for text, is_usable in [("QEMU emulator version 7.2.22", False), ("QEMU emulator version 9.0.4", False),
                        ("QEMU emulator version 9.1.0", True), ("QEMU emulator version 10.0.2", True), ("?", False)]:
    try:
        check_version(["echo", text])
        refused = ""
    except images.Unavailable as reason:
        refused = str(reason)
    programs.expect(is_usable == (not refused) and (is_usable or "9.1 or later" in refused), f"{text}: {refused or 'usable'}")

# A plug-in that cannot be used ends QEMU with this exit code, without another boot. In this test, `sh` runs instead of
# QEMU.
with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("boot._pack"):
    count = Path(folder) / "boots"
    stand_in = images.Images(["sh", "-c", f"echo boot >> {count}; exit 77"], Path("kernel"), Path("busybox"), [])
    code = boot.run(stand_in, topology.parse("n1"), boot.Job(["true"], Path(folder)))
    programs.expect(code == 77 and count.read_text() == "boot\n", f"exit code {code} after {count.read_text().split()}")

# --- the figures of the plug-in ---

counts = programs.file_with("""begin 1000000000000 end 1250000000000
cpu 0 node 0 time 1240000000000 accesses 100 walks 3 upgrades 2 waited 5000000 allowances 9 overruns 1
memory 0 40 10
passed 0 0 4
cpu 1 node 1 time 1250000000000 accesses 50 walks 1 upgrades 0 waited 0 allowances 8 overruns 0
memory 1 5 45
passed 1 6 0
""", "counts")
found = results.read(counts)
lines = list(found.lines())
programs.expect(found.matrix("memory") == [[40, 10], [5, 45]] and found.matrix("passed") == [[0, 4], [6, 0]],
                "lines by node")
programs.expect(lines[0].endswith(" 0.250000 s") and "100, 85.0 % local" in lines[1] and "walks 4" in lines[1]
                and all(line.startswith("modeled") for line in lines), f"report: {lines}")
programs.leave()
