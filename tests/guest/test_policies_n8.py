#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --place on eight nodes with one core each, whose different links are described by a file.
Four workers begin on nodes 0 to 3. Nodes 0, 5, 6 and 7 have the best links, and only placements
with all of these nodes are admissible.

asymsched: the workers move to these nodes within three periods, their pages follow, and the digest
is that of the sequential engine. If pages do not follow, the workers fetch these pages after two
seconds. A move that would cost more than the allowed share of time is postponed. If the run ends
before the move, the workers have stayed on their nodes, and the run reports this. Two ranks with
two workers each decide together.

weighted: state pages have the shares of the weights, to within one percentage point, also if groups
are rebound and if states grow. The search moves no page twice in one step, and the number of
mappings stays small. Figures are printed."""

import json
import re

import guest
from programs import Programs

programs = Programs()

MODEL = ["phold", "--lps", 1024, "--state", 4096, "--touch", 64, "--lps-per-group", 16, "--remote", 0.5]
LONG = [*MODEL, "--until", 1e9]
TRAFFIC = ["traffic", "--objects", 1024, "--until", 1e9]
# An LP takes 1.3 MB. The pages on three of the four nodes would move. A move takes SECONDS_A_GB per
# GB, and moves may take SHARE_SPENT of the run's time. So 400 LPs move after 3 s, and 1536 LPs
# would move after 9 s.
SECONDS_A_GB, SHARE_SPENT = 0.3, 0.05
HEAVY = ["phold", "--state", 1048576, "--touch", 64, "--lps-per-group", 16, "--remote", 0.5, "--until", 1e9,
         "--rollback", "reverse"]
PUT_OFF_LPS, STAYING_LPS = 400, 1536
BEST = [0, 5, 6, 7]
NODES = 8
TOPOLOGY = ",".join(["1:768M"] * NODES)
LINKS = [[0 if a == b else 8000 - 100 * b if {a, b} <= set(BEST) else 2000 + 100 * a for b in range(NODES)]
         for a in range(NODES)]
WORKERS = ["--workers", 4]
DAEMON = ["--pagemigd", "1@0.25"]
PERIODS = 3
SECONDS = 8
# The answers of a run contain this when its pages have followed its workers (run_until.py).
ARRIVED = "state 0.[0-9] % remote.*engine 0.[0-9] % remote.*from nodes 0 1 2 3 to"
RANKS_SECONDS = 40  # MPI takes a while to start
SEARCH_SECONDS = 45
GROWTH_SECONDS = 30
MAPPINGS_MAX = 500
RANKS = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-np", 2]


def wanted_shares(result):
    return [float(share) / 100 for share in re.findall(r" \d+ ([\d.]+) %", result.numa.get("placed", ""))]


def expect_shares(name, result):
    shares, wanted = guest.shares_of(result), wanted_shares(result)
    off = max((abs(a - b) for a, b in zip(shares, wanted)), default=1)
    programs.expect(len(shares) == len(wanted) == NODES and off <= 0.01,
                    f"{name}: state pages are at most {100 * off:.2f} percentage points off the weights, "
                    f"{[f'{share:.3f}' for share in shares]}; {result.numa.get('placed')}")


def expect_moved(name, result):
    placed = result.numa.get("placed", "")
    found = re.match(r"at [\d.]+ s, period (\d+), from nodes 0 1 2 3 to 0 5 6 7", placed)
    programs.expect(found is not None and int(found[1]) <= PERIODS, f"{name}: moves within {PERIODS} periods: {placed}")
    nodes = sorted(worker["node"] for worker in result.stats.get("workers_detail", []))
    programs.expect(nodes == BEST, f"{name}: the workers are on nodes {nodes}")
    for kind in ("state", "engine"):
        remote = ((result.numa.get("placement") or {}).get(kind) or {}).get("remote_share")
        programs.expect(remote is not None and remote < 0.02, f"{name}: {remote} of {kind} is remote")


batch = guest.Batch(programs, TOPOLOGY)
machine = batch.folder / "machine.json"
machine.write_text(json.dumps({"bw": LINKS}))
asymsched = ["--place", "asymsched", "--machine", machine]
weighted = ["--place", "weighted", "--machine", machine]


def counted_and_interrupted(name, seconds):
    """Counts mappings when half of the time is over."""
    return guest.interrupted(seconds / 2, f"wc -l </proc/$RUN/maps >{name}.maps", until="spread")


# mpirun ends all ranks when the first of them ends with another exit code than 0. A signal to one rank stops all ranks,
# so another rank may end with 130 before its own time is over.
EXPECTED = '{ [ $code = 124 ] || [ $code = 130 ]; } || { echo "a rank ended with $code" >&2; false; }'
interrupted_ranks = ["sh", "-c", f'timeout --signal=INT {RANKS_SECONDS} "$@"; code=$?; {EXPECTED}', "sh"]


batch.add("sequential", *MODEL, "--until", 60, "--engine", "sequential")
batch.add("whole", *MODEL, "--until", 60, *asymsched, *WORKERS, *DAEMON)
batch.add("moved", *LONG, *asymsched, *WORKERS, *DAEMON,
          through=guest.interrupted(SECONDS, until=ARRIVED))
batch.add("fetched", *LONG, *asymsched, *WORKERS, "--pagemigd", "off", "--rebind", "off",
          through=guest.interrupted(SECONDS, until=f"{ARRIVED}.*pages fetched at a pause"))
batch.add("put-off", *HEAVY, "--lps", PUT_OFF_LPS, *asymsched, *WORKERS, *DAEMON,
          through=guest.interrupted(SECONDS, until="from nodes 0 1 2 3 to"))
# On a busy host the loads differ. Without --rebind off, groups change their worker, and their pages are remote
# until a daemon has moved them.
batch.add("staying", *HEAVY, "--lps", STAYING_LPS, *asymsched, *WORKERS, *DAEMON, "--rebind", "off",
          through=guest.interrupted(0, until="workers stay: .* would take"))
batch.add("ranks-whole", *MODEL, "--until", 60, *asymsched, "--workers", 2, through=RANKS)
batch.add("ranks", *LONG, *asymsched, "--workers", 2, *DAEMON, through=[*RANKS, *interrupted_ranks])
batch.add("bound", *LONG, *asymsched, "--workers", 1, *DAEMON,
          through=[*RANKS[:2], "--bind-to", "core", *RANKS[4:], *interrupted_ranks])
batch.add("weighted", *LONG, *weighted, *WORKERS, *DAEMON, "--rebind", "off",
          through=counted_and_interrupted("weighted", SEARCH_SECONDS))
batch.add("rebound", *LONG, *weighted, *WORKERS, *DAEMON, "--rebind", 3, "--check-rebind", 0.5,
          through=counted_and_interrupted("rebound", GROWTH_SECONDS))
batch.add("grown", *TRAFFIC, *weighted, *WORKERS, *DAEMON, through=guest.interrupted(GROWTH_SECONDS, until="grown"))
results = batch.run("--timeout", 1500)

sequential = results["sequential"]
guest.expect_ended(programs, "sequential", sequential)
for name in ("whole", "ranks-whole"):
    guest.expect_ended(programs, name, results[name])
    programs.expect(results[name].stats.get("digest") == sequential.stats.get("digest"),
                    f"{name}: digest {results[name].stats.get('digest')}")
for name in ("moved", "fetched", "put-off", "staying", "ranks", "bound", "weighted", "rebound", "grown"):
    guest.expect_ended(programs, name, results[name], exit_code=0 if name in ("ranks", "bound") else 130)
    programs.expect(not results[name].notices, f"{name}: notices {results[name].notices}")

expect_moved("asymsched", results["moved"])
expect_moved("without pagemigd", results["fetched"])
programs.expect("pages fetched at a pause" in results["fetched"].numa.get("placed", ""),
                f"without pagemigd: workers fetch their pages: {results['fetched'].numa.get('placed')}")
placed = results["put-off"].numa.get("placed", "")
found = re.match(r"at ([\d.]+) s, period \d+, from nodes 0 1 2 3 to 0 5 6 7, ([\d.]+) GB", placed)
programs.expect(found is not None and SHARE_SPENT * float(found[1]) > SECONDS_A_GB * (float(found[2]) - 0.01),
                f"a budget too small at first: {placed}")
staying = results["staying"]
placed = staying.numa.get("placed", "")
programs.expect(re.match(r"P \d+ of \d+; workers stay: [12]\.\d+ GB would take [\d.]+ s; the limit is 5 % of [\d.]+ s, "
                         r"of which 0\.00 s are used; on nodes 0 1 2 3;", placed) is not None,
                f"a budget too small: {placed}")
nodes = sorted(worker["node"] for worker in staying.stats.get("workers_detail", []))
moved = staying.numa.get("pages_moved", 0)
remote = ((staying.numa.get("placement") or {}).get("state") or {}).get("remote_share")
programs.expect(nodes == [0, 1, 2, 3] and remote is not None and remote < 0.02,
                f"a budget too small: the workers are on nodes {nodes}, {remote} of the state is remote, {moved} pages moved")

expect_moved("two ranks", results["ranks"])
programs.expect(results["ranks"].stats.get("ranks") == 2, f"two ranks: {results['ranks'].stats.get('ranks')}")
placed = results["bound"].numa.get("placed", "")
programs.expect("no choice" in placed and "rank 1: no choice" in placed, f"ranks that are bound to one core each: {placed}")

for name in ("weighted", "rebound", "grown"):
    expect_shares(name, results[name])
for name in ("weighted", "rebound"):
    file = batch.folder / f"{name}.maps"
    mappings = int(file.read_text() or 0) if file.exists() else 0
    programs.expect(0 < mappings < MAPPINGS_MAX, f"{name}: {mappings} mappings")
moved = results["rebound"].numa.get("groups_moved", 0)
programs.expect(moved > 0, f"rebound: {moved} groups were rebound")
history = [row for row in results["grown"].stats.get("history", []) if row["resident_bytes"]]
grown = history[-1]["resident_bytes"] / history[0]["resident_bytes"] if history else 0
# Less growth would hardly change shares that are checked to a percentage point.
programs.expect(grown > 1.1, f"grown: {grown:.2f} times the memory")

# Pages are allocated beside their workers, a quarter on each of the workers' nodes. Each page moves
# once to the node that the weights require, and each step of the search then moves a tenth of all
# pages. At most one step is reversed.
search = results["weighted"]
placed = search.numa.get("placed", "")
programs.expect("has not ended" not in placed, f"weighted: the search has ended: {placed}")
if wanted_shares(search):
    bytes_of = {kind: (search.numa.get("placement") or {}).get(kind, {}).get("resident_bytes", 0)
                for kind in ("state", "engine")}
    pages = sum(bytes_of.values()) / 4096
    lowest = [min(LINKS[w][m] for w in range(4) if w != m) for m in range(NODES)]
    canonical = [value / sum(lowest) for value in lowest]
    own = sum(canonical[:4])
    at_first = 1 - sum(canonical[w] / 4 for w in range(4))
    steps = sum(wanted_shares(search)[:4]) - own
    moved = search.numa.get("pages_moved", 0) / pages
    programs.expect(moved <= at_first + steps + 0.2 + 0.05,
                    f"weighted: {moved:.3f} moves per page; {at_first:.3f} of the pages are on other nodes at first, "
                    f"{steps:.3f} moves are by steps, and 0.2 by a step that is taken back")
programs.leave()
