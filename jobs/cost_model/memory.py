"""What one of many ranks needs of memory, on paper: PHOLD by Time Warp, an event for each LP, nothing in the past.

What LPs take falls with the ranks; what is known of all groups, and of each other rank, does not. Sizes are
the code's, named beside each. Not in it: the program (12 MB), what MPI keeps for a peer, and the past that Time
Warp keeps, which goes by the window and not by the ranks."""

import json
import math
import subprocess

LPS = 100_000_000
# (ranks, workers in each)
LAYOUTS = ((16, 2), (64, 2), (256, 2), (1024, 2), (1024, 16))

BYTES_AN_LP = {
    "record": 128,         # LpRecord, with the LpHeap in it
    "process": 64,         # its only block: PHOLD's object with 16 bytes of state
    "event": 64,           # EventRecord of 48, header and 16 bytes of payload in one cache line
    "pending entry": 32,   # PendingEntry
}
BYTES_A_GROUP = {
    "first owners": 4,     # Partition::owners_
    "owners": 4,           # Rank::owners_
    "groups": 8,           # Rank::groups_, null where it is another rank's
    "what is open": 4,     # Region::open_units_
}
BYTES_A_PEER_AND_WORKER = {
    "outbox": 64,          # Outboxes::ToRank
    "batches counted": 4,  # CountedReduction::Part
}
BUFFER_BYTES = 4096        # MailBuffer, once an outbox was used
GROUPS_A_WORKER = 4        # these two: src/plan/partition.cpp
LPS_A_GROUP_MOST = 131_072


def groups_of(lps, ranks, workers):
    each = max(1, min(LPS_A_GROUP_MOST, lps // (ranks * workers * GROUPS_A_WORKER)))
    return math.ceil(lps / each)


def on_paper(lps, ranks, workers):
    """Bytes: of the rank's LPs, of its tables, and of its buffers if each worker speaks to all other ranks."""
    return {"lps": math.ceil(lps / ranks) * sum(BYTES_AN_LP.values()),
            "groups": groups_of(lps, ranks, workers) * sum(BYTES_A_GROUP.values()),
            "peers": workers * ranks * sum(BYTES_A_PEER_AND_WORKER.values()),
            "buffers": workers * (ranks - 1) * BUFFER_BYTES}


def measure(programs):
    """What rank_size_bench prints for each of the layouts."""
    return [json.loads(subprocess.check_output([programs / "rank_size_bench", *map(str, (LPS, *layout))]))
            for layout in LAYOUTS]


def by_layout(measured):
    return {(found["ranks"], found["workers"]): found for found in measured}


def lines(measured):
    """The table. `measured`: by (ranks, workers) what tests/bench/rank_size_bench.cpp printed, as far as it was
    asked. It executes no event, so that outboxes and buffers are only on paper."""
    yield f"Memory of one rank, with {LPS:,} LPs of PHOLD in total and one event for each LP, in MB:"
    yield ""
    yield ("| ranks × workers | groups | LPs of a rank, calculated | measured | tables of all groups, calculated | "
           "measured, with the plan | tables of peers, if the rank sends to all, calculated | total, calculated |")
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for ranks, workers in LAYOUTS:
        paper = {name: value / 1e6 for name, value in on_paper(LPS, ranks, workers).items()}
        found = measured.get((ranks, workers))
        own, tables = (("–", "–") if found is None else
                       (f"{found['lps_with_events'] / 1e6:,.1f}",
                        f"{(found['plan'] + found['tables_of_rank_and_workers']) / 1e6:.2f}"))
        peers = paper["peers"] + paper["buffers"]
        yield (f"| {ranks:,} × {workers} | {groups_of(LPS, ranks, workers):,} | {paper['lps']:,.1f} | {own} | "
               f"{paper['groups']:.2f} | {tables} | {peers:.1f} | "
               f"{paper['lps'] + paper['groups'] + peers:,.1f} |")
