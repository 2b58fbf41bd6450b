#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap --meter --quick`. In a guest, accesses to states are distributed
over nodes as each placement specifies, and the estimates correspond to these distributions. A
series that is interrupted continues where it stopped. Input that cannot be counted is refused."""

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
    return [python, CHECKOUT / "jobs/research/paper_bwap", "--programs", programs.bin, "--meter", *map(str, arguments)]


def runs():
    return rows_of(series / "runs.csv") if (series / "runs.csv").exists() else []


# --- a series ---

with subprocess.Popen(command("n4", "--quick", "--output", series), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                      text=True) as first:
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
programs.expect(len({row["digest"] for row in rows}) == 1, "one digest")

# --- counts ---

summary = json.loads((series / "summary.json").read_text())


def bound(name, placement):
    """Nanoseconds per access."""
    return summary["machines"]["opteron_8n"]["worker_nodes"][0][name][placement]["ns"]


kinds = {row["placement"]: row for row in rows}
programs.expect(set(kinds) == {"first touch (local)", "uniform workers", "uniform all", "BWAP"}, f"{sorted(kinds)}")
nodes = [int(node) for node in rows[0]["nodes"].split()]
if all(row["qemu_api"] != "1" for row in rows):
    matrices = {name: json.loads(row["matrix_an_event"]) for name, row in kinds.items()}
    for name, row in kinds.items():
        memory, local, remote = (float(row[f"{kind}_an_event"]) for kind in ("memory", "local", "remote"))
        sums = [sum(of_node) for of_node in matrices[name]]
        programs.expect(abs(local + remote - memory) < 0.01 and abs(sum(sums) - memory) < 0.01 * memory,
                        f"{name}: {memory:.2f} accesses to memory per event: local, remote and by the matrix")
        programs.expect(sum(sums[node] for node in nodes) > 0.99 * sum(sums), f"{name}: accesses by the CPUs of nodes {nodes}")
        programs.expect(memory > 10 and float(row["estimate_ns"]) > 0, f"{name}: estimate {row['estimate_ns']} ns")
        if name != "first touch (local)":
            programs.expect(float(row["shares_off"]) < 0.05, f"{name}: {float(row['shares_off']):.3f} off its shares")
    share = {name: float(row["local_share"]) for name, row in kinds.items()}
    programs.expect(share["first touch (local)"] > 0.95 and 0.4 < share["uniform workers"] < 0.65
                    and max(share["uniform all"], share["BWAP"]) < 0.45, f"local shares {share}")
    elsewhere = {name: sum(value for of_node in matrix for node, value in enumerate(of_node) if node not in nodes)
                 for name, matrix in matrices.items()}
    programs.expect(elsewhere["uniform workers"] < 0.1 * elsewhere["uniform all"],
                    f"accesses per event to memory of other nodes: {elsewhere}")
    programs.expect(bound("wait_ns", "first touch (local)") < bound("wait_ns", "uniform all"),
                    "if each miss waits for the previous miss, local memory is faster")
    programs.expect(bound("pair_ns", "BWAP") < min(bound("pair_ns", "uniform workers"), bound("pair_ns", "uniform all")),
                    "by the bandwidth of pairs, weighted pages are faster than evenly spread pages")

page = (series / "summary.md").read_text()
machine = summary["machines"]["opteron_8n"]
programs.expect(len(machine["bw"]) == 4 and machine["worker_nodes"][0]["nodes"] == nodes,
                f"the first four of eight nodes, workers on {nodes}")
programs.expect("the first 4" in page and "estimates and not measured" in page and "estimates and not measured" in done.stdout,
                "page and terminal state that the results are estimates")
programs.expect((series / "metered.png").stat().st_size > 10_000, "a picture")

# --- refused input ---

small = programs.work / "small.json"
small.write_text(json.dumps({"bw": [[9, 4], [4, 9]]}))
for words, told in ((["n4", "--machine", small], "small has 2 nodes; allowed with this --meter: 4 or more"),
                    (["tier"], "--meter tier; allowed: two nodes or more, each with cores")):
    done = subprocess.run(command(*words, "--output", programs.work / "refused"), capture_output=True, text=True)
    programs.expect(done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1,
                    f"{words}: exit code {done.returncode}: {done.stderr}")
programs.leave()
