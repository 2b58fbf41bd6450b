# SPDX-License-Identifier: Apache-2.0
"""The measurements for the fit of the model: the transport alone with 2 to 8 ranks, and PHOLD."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import memory
from lib import cores
from lib.series.machine import cpu_model

JOBS = Path(__file__).resolve().parents[2]
RANKS = (2, 3, 4, 5, 6, 7, 8)
REMOTE = (0.05, 0.1, 0.25, 0.5)
# The model assumes that GVT rounds begin at fixed intervals, and that a single rank keeps data for
# rollback, as several ranks do.
PHOLD = ["--lps", 1024, "--events-per-lp", 16, "--state", 16, "--until", 300, "--workers", 1,
         "--gvt-interval", 1, "--keep-safe-events", "on"]


def launch(ranks, program, *arguments, **environment):
    """The output of the program. Inside a cluster's allocation, launch.py places the ranks."""
    done = subprocess.run([sys.executable, JOBS / "lib/launch.py", str(ranks), program,
                           *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} on {ranks} ranks: exit code {done.returncode}:\n{done.stderr}")
    return done.stdout


def phold(programs, ranks, *options, repeats=3):
    """Figures of the run with the median speed."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats = Path(folder) / "stats.json"
        runs = []
        for _ in range(repeats):
            launch(ranks, programs / "phold", *PHOLD, *options, "--quiet", "--stats", stats)
            runs.append(json.loads(stats.read_text()))
    run = statistics.median_low([run["events_per_second"] for run in runs])
    run = next(found for found in runs if found["events_per_second"] == run)
    return {"ranks": ranks, "events_per_second": run["events_per_second"],
            "events_sent_share": run["mpi"]["events_sent"] / run["executed_events"],
            "events_a_batch": run["mpi"]["events_sent"] / max(1, run["mpi"]["batches_sent"]),
            "efficiency": run["efficiency"], "commit": run["commit"],
            "round_us": 1e6 * run["wall_seconds"] / run["gvt_rounds"]}


def measure(programs, say):
    """All measurements as one object. Takes half a minute on two idle cores."""
    transport = programs / "transport_bench"
    shared = []
    for ranks in RANKS:
        say(f"transport, {ranks} ranks")
        shared.append(json.loads(launch(ranks, transport)))
    say("transport, 2 ranks over TCP")
    tcp = json.loads(launch(2, transport, OMPI_MCA_btl="tcp,self"))
    say("PHOLD on one rank")
    alone = phold(programs, 1, "--remote", 0)
    apart = []
    for remote in REMOTE:
        say(f"PHOLD on two ranks, {100 * remote:.0f} % remote")
        apart.append({"remote": remote, **phold(programs, 2, "--remote", remote)})
    rounds = []
    for ranks in (1, 2, 4):
        say(f"PHOLD on {ranks} ranks, GVT without pause")
        rounds.append(phold(programs, ranks, "--remote", 0.1, "--gvt-interval", 0.001))
    say("memory of one rank of many")
    rank_memory = memory.measure(programs)
    return {"schema": "numawarp.cost-model/1", "cpu": cpu_model(),
            "cores": len(cores.this_machine().cores), "commit": alone["commit"],
            "shared_memory": shared, "tcp": tcp, "phold_alone": alone, "phold_two_ranks": apart,
            "phold_rounds": rounds, "rank_memory": rank_memory}
