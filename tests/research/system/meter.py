# SPDX-License-Identifier: Apache-2.0
"""Tests ./jobs/run meter without a guest: the input that the command refuses, and its estimate for
known counts. The counts themselves are tested in tests/research/guest."""

import contextlib
import io
import json
import re
import sys
import unittest.mock

from programs import CHECKOUT
from refusals import Refusals

sys.path.insert(0, str(CHECKOUT / "jobs"))
import research.meter.__main__ as job  # noqa: E402
from research.meter.arguments import CPUS_MAX, NODES_MAX  # noqa: E402
from research.meter.counts import KINDS, PHASES, Counts, read, since_moved, together  # noqa: E402
from research.meter.estimate import Estimate, Memory, read_memory  # noqa: E402
from research.meter.page import page_of  # noqa: E402
from research.meter.presets import Cache, Machine, Tlb  # noqa: E402

programs = Refusals()
run = CHECKOUT / "jobs/run"


# --- refused input ---

def machine(content):
    return programs.file_with(content if isinstance(content, str) else json.dumps(content), "machine.json")


for arguments, fragments in [
        ([], ["meter", "TOPOLOGY"]), (["n5", "--", "true"], ["topology 'n5'", "n1"]), (["n2"], ["command is missing"]),
        (["n2", "--caches", "z80", "--", "true"], ["--caches", "z80", "opteron6128"]),
        (["n2", "--period", "0", "--", "true"], ["--period", "'0'", "from 0.1"]),
        ([",".join(["1:64M"] * 17), "--", "true"], ["17 nodes", "up to 16 and 126"]),
        (["127:1G", "--", "true"], ["127 CPUs", "up to 16 and 126"]),
        (["n2", "--per", "1", "--", "true"], ["unrecognized arguments: --per"]),
        (["n2", "--period", "soon", "--", "true"], ["--period", "'soon'", "from 0.1"]),
        (["n2", "--machine", "/nowhere", "--", "true"], ["--machine", "No such file", "allowed"]),
        (["n2", "--against", "/nowhere", "--", "true"], ["--against", "No such file", "allowed"])]:
    programs.refused(2, fragments, run, "meter", *arguments)
for content, fragments in [
        ("no JSON", ["not valid JSON"]), ([], ["`bw` is missing"]), ({"other": 1}, ["`bw` is missing"]),
        ({"bw": [[1, 2]]}, ["bw has 1 rows", "2 rows of 2"]),
        ({"bw": [[1, 2], [3]]}, ["2 rows of 2"]), ({"bw": 5}, ["no rows"]),
        ({"bw": [[1, 2, 3]] * 3}, ["bw has 3 rows", "2 rows of 2"]),
        ({"bw": [[1, -2], [3, 4]]}, ["bw[0][1] is -2", "above 0"]),
        ({"bw": [[1, 2], [0, 4]]}, ["bw[1][0] is 0", "above 0"]),
        ({"bw": [[1, "x"], [3, 4]]}, ["bw[0][1] is 'x'"]),
        ({"bw": [[0, 2], [2, 0]], "latency_ns": [[0, 2], [2, 1]]}, ["latency_ns[0][0] is 0"])]:
    programs.refused(2, ["--machine", *fragments], run, "meter", "n2", "--machine", machine(content), "--", "true")
programs.refused(2, ["no machine 'b'"], run, "meter", "n2", "--machine", f"{machine({'a': {'bw': []}})}#b", "--", "true")
programs.refused(2, ["--against"], run, "meter", "n2", "--against", machine({"nodes": [1]}), "--", "true")
programs.refused(2, ["--against: it has no 'api'"], run, "meter", "n2", "--against",
                 machine({"nodes": [1, 2], "caches": "opteron6128"}), "--", "true")
programs.refused(2, ["2 nodes and opteron6128"], run, "meter", "n2", "--against",
                 machine({"nodes": [1, 2, 3], "caches": "xeon"}), "--", "true")

# QEMU ends without having written counts. This is reported for any exit code of the command.
for code, wanted in (0, 125), (3, 3):
    sys.argv = ["meter", "n2", "--json", str(programs.work / "never.json"), "--", "true"]
    with unittest.mock.patch.multiple(job, boot=unittest.mock.DEFAULT, images=unittest.mock.DEFAULT) as stand_ins, \
            contextlib.redirect_stderr(io.StringIO()) as said:
        stand_ins["boot"].run.return_value, stand_ins["boot"].CRASHED = code, 125
        found = job.main()
    programs.expect(found == wanted and "no counts" in said.getvalue(),
                    f"no counts after exit code {code}: {found}, {said.getvalue().strip()}")

# --- names that C++ code contains, too ---

marks = (CHECKOUT / "src/util/meter_marks.hpp").read_text()
for array, names in ("meter_phase_names", PHASES), ("meter_kind_names", KINDS):
    said = re.findall('"(.*?)"', re.search(array + r"\[\] = {(.*?)}", marks, re.DOTALL)[1])
    programs.expect(said == names, f"{array}: {said}")
plugin = (CHECKOUT / "jobs/research/meter/plugin/meter.cpp").read_text()
programs.expect(f"nodes_max = {NODES_MAX}, cpus_max = {CPUS_MAX}," in plugin,
                "the plug-in has the same limits of nodes and CPUs")

# --- the estimate ---

# A machine with two levels of caches. An instruction takes 1 ns, a hit in the second level 10 ns,
# an access to the node's own memory 100 ns, and a walk of the page tables 50 ns.
small = Machine((Cache(1 << 15, 8), Cache(1 << 20, 16)), (Tlb((64, 4)), Tlb((512, 4))), (1, 10), 100, 50, 1)
# Counts of 10 events. CPU 0 has 900 hits in the first level and 50 hits in the second level. It
# accesses 30 lines of its own node and 20 lines of the other node.
counts = Counts({
    "api": 4, "committed_events": 10,
    "instructions": [[0, "execute", 1000], [2, "execute", 500], [0, "set-up", 10 ** 6]],
    "accesses": [[0, 0, "execute", "state", 0, False, 950, 80, 30, 0, 30, 0],
                 [0, 0, "mail", "mail", 1, True, 50, 20, 20, 0, 15, 5],
                 [2, 1, "execute", "state", 1, False, 100, 10, 10, 0, 10, 0],
                 [0, 0, "set-up", "state", 1, True, 10 ** 6, 10 ** 6, 10 ** 6, 0, 10 ** 6, 0]],
    "tlb": [[0, "execute", "state", 9, 4, 0]]})


def expect(what, found, wanted):
    programs.cases += 1
    programs.expect(abs(found - wanted) <= 1e-9 * wanted, f"{what}: {found}, should be {wanted}")


memory = Memory().completed(None, 2)
cpu0, cpu2 = 1000 + 50 * 10 + 30 * 100 + 20 * 200 + 4 * 50, 500 + 10 * 100
expect("distances", Estimate(counts, small, memory).ns, (cpu0 + cpu2) / 10)
expect("other distances", Estimate(counts, small, Memory().completed([[10, 30], [40, 10]], 2)).ns,
       (cpu0 + 20 * 100 + cpu2) / 10)
named = machine({"other": 1, "here": {"bw": [[0, 10 ** 6], [10 ** 6, 0]], "latency_ns": [[80, 90], [500, 70]]}})
expect("latencies", Estimate(counts, small, read_memory(f"{named}#here", 2)).ns,
       (1000 + 500 + 30 * 80 + 20 * 90 + 200 + 500 + 10 * 70) / 10)
# 20 lines of 64 B at 0.01 MB/s take 128 ms; the busiest CPU takes 8.7 µs.
slow = Estimate(counts, small, Memory([[0, 0.01], [1000, 0]]).completed(None, 2))
expect("a narrow link", slow.ns, (cpu0 + cpu2) / 10 * (20 * 64 * 1000 / 0.01 / cpu0))
programs.expect("from node 0 to node 1" in next(iter(slow.lines())), next(iter(slow.lines())))
wide = Estimate(counts, small, Memory([[0, 10 ** 6], [10 ** 6, 0]]).completed(None, 2))
expect("a wide link", wide.ns, (cpu0 + cpu2) / 10)
expect("a narrow link alone", slow.transfer_ns, 20 * 64 * 1000 / 0.01 / 10)
expect("a wide link alone", wide.transfer_ns, 20 * 64 * 1000 / 10 ** 6 / 10)
expect("no link known", Estimate(counts, small, memory).transfer_ns, 0)
programs.expect(f"{slow.ns / wide.ns:.3f} times as fast" in wide.line_against(slow), wide.line_against(slow))
expect("the local share", counts.of_loop().local_share(), 40 / 55)

# The counts of two CPUs in three periods. The second CPU did nothing in the last period. Groups
# move in the middle period.
file = programs.file_with("""version 4
period 0 5 0
instructions 0 2 100
access 0 2 1 0 0 10 9 8 7 1
period 1 6 3
access 0 2 1 0 0 20 9 8 7 2
period 2 7 0
access 0 2 1 1 0 40 9 8 7 3
period 0 1 0
instructions 1 2 100
access 1 2 1 1 1 10 9 8 7 0
period 1 2 1
access 1 2 1 0 0 10 9 8 7 0
""", "counts")
periods = read(file, [0, 1], 3)
programs.expect([(one.committed, one.groups_moved) for one in periods] == [(6, 0), (8, 4), (7, 0)],
                "events and moves of three periods")
whole, later = together(periods), since_moved(periods)
programs.expect((whole.committed, whole.sum("accesses"), whole.sum_instructions()) == (21, 90, 200),
                "the figures of the run are the sums over its periods")
programs.expect([row[5:] for row in whole.accesses if row.cpu == 0 and row.node == 0]
                == [(False, 30, 18, 16, 14, 11, 3)], "counts with the same label are added")
programs.expect((later.committed, later.sum("accesses"), later.local_share()) == (7, 40, 0), "after the move")
programs.expect(since_moved(periods[:2]) is None and since_moved(periods[2:]) is None, "there is no move, or no period after it")

page = page_of(counts, slow, ["a program", "--odd=<1>"], "n2", "xeon")
for words in ("&lt;1&gt;", "73 %", "by kind of memory", "mail", "estimate"):
    programs.expect(words in page, f"the page has '{words}'")
programs.leave()
