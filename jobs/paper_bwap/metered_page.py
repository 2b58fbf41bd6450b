"""summary.md of a series with --meter."""

from lib.series.machine import one_line
from lib.series.page import shown, table
from metered import ALL, BOUNDS, BWAP, CACHES, EVEN, LOCAL, SETTLING_SHARE, WORKERS

BESIDE = (LOCAL, WORKERS, ALL, EVEN)
TITLES = {"wait_ns": "if each access waits for the one before",
          "pair_ns": "if the busiest pair of nodes is all that takes time",
          "memory_ns": "if the busiest node's memory is all that takes time, and gives no more than its fastest link"}


def runs(machine):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        for row in of_nodes["rows"]:
            proximity = "–" if row["placement"] == LOCAL else f"{row['proximity']:g}"
            off = "–" if row["shares_off"] is None else f"{100 * row['shares_off']['median']:.1f}"
            rows.append([" ".join(map(str, of_nodes["nodes"])), row["placement"], proximity,
                         shown(row["local_an_event"]), shown(row["remote_an_event"]), shown(row["passed_an_event"]),
                         *(shown(row[bound], "{:.2f}") for bound in BOUNDS), off])
    return table(["nodes", "placement", "proximity", "local, an event", "remote, an event", "passed, an event",
                  "waiting, ns", "busiest pair, ns", "busiest memory, ns", "shares off, points"],
                 rows)


def gain(of_nodes, bound, placement):
    """How many times as fast BWAP is, and where its tuner ended."""
    best, other = of_nodes[bound][BWAP], of_nodes[bound][placement]
    return f"{other['ns'] / best['ns']:.2f}" if best and other else "–"


def gains(machine, bound):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        best = of_nodes[bound][BWAP]
        rows.append([len(of_nodes["nodes"]), *(gain(of_nodes, bound, placement) for placement in BESIDE),
                     f"{best['proximity']:g}" if best else "–"])
    return table(["worker nodes", *(f"as {placement}" for placement in BESIDE), "proximity of BWAP"], rows)


def predicted(machine):
    rows = []
    for of_nodes in machine["worker_nodes"]:
        speed = of_nodes["predicted_mb_s"]
        rows.append([len(of_nodes["nodes"]), *(f"{speed[BWAP] / speed[placement]:.2f}" for placement in BESIDE)])
    return table(["worker nodes", *(f"as {placement}" for placement in BESIDE)], rows)


def matrices(machine):
    """On two worker nodes, the first that have links between them and pages to move."""
    of_nodes = next((one for one in machine["worker_nodes"] if len(one["nodes"]) == 2), None)
    if of_nodes is None:
        return []
    rows = [[row["placement"], "–" if row["proximity"] is None else f"{row['proximity']:g}", node,
             *(f"{value:.2f}" for value in row["matrix_an_event"][node])]
            for row in of_nodes["rows"] if row["matrix_an_event"] for node in of_nodes["nodes"]]
    return ["Accesses to memory an event, by node of the CPU and of the page, with two worker nodes:", "",
            *table(["placement", "proximity", "CPU", *(f"node {node}" for node in range(len(machine["bw"])))], rows)]


def machine_page(name, machine):
    lines = [f"## {name}", "", f"From: {machine['source']}.", "", *runs(machine)]
    for bound in BOUNDS:
        lines += [f"How many times as fast BWAP is, {TITLES[bound]}:", "", *gains(machine, bound)]
    lines += ["The same as the paper's model predicts it, in which all workers read all pages and proximity is "
              "tuned in tenths:", "", *predicted(machine)]
    return lines + matrices(machine)


def page(summary):
    settings = summary["settings"]
    lines = ["# Placements of pages, by the meter", "",
             f"Emulated: topology {settings['topology']}, caches of {CACHES}, workers on all cores of the worker nodes. "
             f"On: {one_line(summary['machine'], summary['date'])}.", ""]
    for warning in summary["warnings"]:
        lines += [f"**{warning}**", ""]
    lines += ["Made by `./jobs/run paper-bwap --meter`. PHOLD, `--state 4096 --touch 4096 --remote 0.25 --window 1`, "
              f"{settings['lps']} LPs a worker, until {settings['until']:g} with all workers, with fewer so much longer that "
              "there are as many events: each reads and writes 4 KiB, and saves them. "
              f"{settings['runs']} runs of each kind, seed {settings['seed']}; counted after {SETTLING_SHARE:g} of "
              "the events, when pages are where they belong. Worker nodes are those with the best links "
              "between them. An access goes to memory if no cache of its node has the line, and is passed if another "
              "node wrote the line last and has it in its caches. *Shares off* says how far the nodes' shares in "
              "accesses to states are from those that the pages should have.", "",
              "Three bounds in nanoseconds for an access to memory, none of them measured: CPU time where each access "
              "waits for the one before, with a latency in proportion to the distance; wall time that the busiest pair "
              "of nodes takes, where nothing else takes any, which is the paper's model with counts instead of shares; and "
              "what the busiest node's memory takes, if all that it gives is as much as the fastest link from it. A "
              "machine that fetches ahead is between the first and the others. A node reads its own memory no slower "
              "than its fastest link, where that is unknown. How many accesses an event has does not depend on where "
              "pages are, but on how many snapshots wait for GVT, and so on how busy the host was. Proximity is not "
              "searched for, since emulated memory is equally near: each is a run, and the best of them is what a tuner "
              "would end at.", "",
              "Every run of a workload had the same digest: "
              + ", ".join(f"{name} `{digest}`" for name, digest in sorted(summary["digests"].items())) + ".", "",
              "![the bounds over the number of worker nodes](metered.svg)", ""]
    for name, machine in summary["machines"].items():
        lines += machine_page(name, machine)
    return "\n".join(lines)
