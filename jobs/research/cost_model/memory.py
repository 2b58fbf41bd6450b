# SPDX-License-Identifier: Apache-2.0
"""Calculates the memory of one of many ranks that execute PHOLD in Time Warp, with one event for
each LP and empty histories.

The memory of the LPs is divided by the number of ranks. The tables of all groups and of all other
ranks are not divided: each rank has them. The sizes are those in the code; each size is next to the
name of its structure. These parts are not included: the program (12 MB), MPI's memory for each
peer, and the history. The size of the history depends on the window and not on the number of
ranks."""

import json
import math
import subprocess

LPS = 100_000_000
# (ranks, workers in each)
LAYOUTS = ((16, 2), (64, 2), (256, 2), (1024, 2), (1024, 16))

BYTES_AN_LP = {
    "record": 128,         # LpRecord, with the LpHeap in it
    "process": 64,         # the LP's only block: PHOLD's object with 16 bytes of state
    "event": 64,           # one cache line: EventRecord with header (48 bytes), 16 bytes of payload
    "pending entry": 32,   # PendingEntry
}
BYTES_A_GROUP = {
    "first owners": 4,     # Partition::owners_
    "owners": 4,           # Rank::owners_
    "groups": 8,           # Rank::groups_, null for a group of another rank
    "what is open": 4,     # Region::open_units_
}
BYTES_A_PEER_AND_WORKER = {
    "outbox": 64,          # Outboxes::ToRank
    "batches counted": 4,  # CountedReduction::Part
}
BUFFER_BYTES = 4096        # MailBuffer, allocated when an outbox is first used
GROUPS_A_WORKER = 4        # this and the next constant: src/plan/partition.cpp
LPS_A_GROUP_MOST = 131_072


def groups_of(lps, ranks, workers):
    each = max(1, min(LPS_A_GROUP_MOST, lps // (ranks * workers * GROUPS_A_WORKER)))
    return math.ceil(lps / each)


def on_paper(lps, ranks, workers):
    """Bytes of the rank's LPs, of its tables, and of its buffers if each worker sends to all other
    ranks."""
    return {"lps": math.ceil(lps / ranks) * sum(BYTES_AN_LP.values()),
            "groups": groups_of(lps, ranks, workers) * sum(BYTES_A_GROUP.values()),
            "peers": workers * ranks * sum(BYTES_A_PEER_AND_WORKER.values()),
            "buffers": workers * (ranks - 1) * BUFFER_BYTES}


def measure(programs):
    """The output of rank_size_bench for each of the LAYOUTS."""
    return [json.loads(subprocess.check_output([programs / "rank_size_bench", *map(str, (LPS, *layout))]))
            for layout in LAYOUTS]


def by_layout(measured):
    return {(found["ranks"], found["workers"]): found for found in measured}


def lines(measured):
    """The table. `measured`: (ranks, workers) -> output of tests/bench/rank_size_bench.cpp; layouts
    may be missing. rank_size_bench executes no event, so the sizes of outboxes and buffers are only
    calculated."""
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
