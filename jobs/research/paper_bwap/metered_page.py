# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --meter."""

from lib.series.machine import one_line
from metered import BOUNDS, CACHES, LOCAL, SETTLING_SHARE
from placements import ALL, BWAP, EVEN, WORKERS
from research.series.page import beginning, digests, shown, table

BESIDE = (LOCAL, WORKERS, ALL, EVEN)
TITLES = {"wait_ns": "if each access waits for the previous access",
          "pair_ns": "if only the busiest pair of nodes takes time",
          "memory_ns": "if only the memory of the busiest node takes time, at the speed of the node's fastest link"}


def runs(machine):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        for row in of_nodes["rows"]:
            proximity = "–" if row["placement"] == LOCAL else f"{row['proximity']:g}"
            off = "–" if row["shares_off"] is None else f"{100 * row['shares_off']['median']:.1f}"
            rows.append([" ".join(map(str, of_nodes["nodes"])), row["placement"], proximity,
                         shown(row["local_an_event"]), shown(row["remote_an_event"]), shown(row["passed_an_event"]),
                         *(shown(row[bound], "{:.2f}") for bound in BOUNDS), off])
    return table(["nodes", "placement", "proximity", "local, per event", "remote, per event", "passed, per event",
                  "waiting, ns", "busiest pair, ns", "busiest memory, ns", "shares off, points"],
                 rows)


def gain(of_nodes, bound, placement):
    """The speed of BWAP relative to another placement, as text."""
    best, other = of_nodes[bound][BWAP], of_nodes[bound][placement]
    return f"{other['ns'] / best['ns']:.2f}" if best and other else "–"


def gains(machine, bound):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        best = of_nodes[bound][BWAP]
        rows.append([len(of_nodes["nodes"]), *(gain(of_nodes, bound, placement) for placement in BESIDE),
                     f"{best['proximity']:g}" if best else "–"])
    return table(["worker nodes", *(f"over {placement}" for placement in BESIDE), "proximity of BWAP"], rows)


def predicted(machine):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        speed = of_nodes["predicted_mb_s"]
        rows.append([len(of_nodes["nodes"]), *(f"{speed[BWAP] / speed[placement]:.2f}" for placement in BESIDE)])
    return table(["worker nodes", *(f"over {placement}" for placement in BESIDE)], rows)


def matrices(machine):
    """The tables for two worker nodes, the smallest number of nodes with a link between worker
    nodes."""
    of_nodes = next((one for one in machine["worker_nodes"] if len(one["nodes"]) == 2), None)
    if of_nodes is None:
        return []
    rows = [[row["placement"], "–" if row["proximity"] is None else f"{row['proximity']:g}", node,
             *(f"{value:.2f}" for value in row["matrix_an_event"][node])]
            for row in of_nodes["rows"] if row["matrix_an_event"] for node in of_nodes["nodes"]]
    return ["Accesses to memory per event, by node of the CPU and of the page, with two worker nodes:", "",
            *table(["placement", "proximity", "CPU", *(f"node {node}" for node in range(len(machine["bw"])))], rows)]


def machine_page(name, machine):
    lines = [f"## {name}", "", f"From: {machine['source']}.", "", *runs(machine)]
    for bound in BOUNDS:
        lines += [f"Speed of BWAP relative to the other placements, {TITLES[bound]}:", "", *gains(machine, bound)]
    lines += ["The prediction of the paper's model, in which all workers read all pages and proximity is tuned in steps "
              "of a tenth:", "", *predicted(machine)]
    return lines + matrices(machine)


def page(summary):
    settings = summary["settings"]
    machine = (f"Emulated: topology {settings['topology']}, caches of {CACHES}, workers on all cores of the worker nodes. "
               f"On: {one_line(summary['machine'], summary['date'])}.")
    lines = beginning("Placements of pages, by the meter", machine, summary)
    lines += ["Made by `./jobs/run paper-bwap --meter`. PHOLD, `--state 4096 --touch 4096 --remote 0.25 --window 1`, "
              f"{settings['lps']} LPs per worker, until {settings['until']:g} with all workers, and longer with fewer "
              "workers, so that the number of events is the same. Each event reads and writes 4 KiB, and saves them. "
              f"{settings['runs']} runs of each kind, seed {settings['seed']}; counted after {SETTLING_SHARE:g} of "
              "the events, when pages are on the intended nodes. Worker nodes are those with the best links "
              "between them. An access goes to memory if no cache of its node has the line, and is passed if another "
              "node wrote the line last and has it in its caches. *Shares off* is the difference between the nodes' "
              "shares in accesses to states and the intended shares of the pages.", "",
              "Three bounds in nanoseconds for an access to memory, none of them measured: the CPU time if each access "
              "waits for the previous one, with a latency in proportion to the distance; the wall time of the busiest "
              "pair of nodes if nothing else takes time (the paper's model, with counts instead of shares); and the time "
              "of the busiest node's memory if its bandwidth is that of the fastest link from the node. A machine with "
              "prefetching is between the first bound and the others. If the bandwidth of a node to its own memory is "
              "unknown, it equals that of the node's fastest link. The number of accesses per event does not depend on "
              "the placement of pages, but on the number of snapshots that wait for GVT, and therefore on the load "
              "of the host. Proximity is not searched, because emulated memory is equally near on all nodes: there is a "
              "run for each value, and the best value is the one at which a tuner would end.", "",
              *digests(summary),
              "![the bounds over the number of worker nodes](metered.svg)", ""]
    for name, machine in summary["machines"].items():
        lines += machine_page(name, machine)
    return "\n".join(lines)
