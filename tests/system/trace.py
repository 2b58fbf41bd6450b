# SPDX-License-Identifier: Apache-2.0
"""Tests --trace. The file is in the Trace Event Format that Perfetto and chrome://tracing read,
agrees with the statistics, and has a bounded size.

No viewer runs in this test. It checks the rules of the format, and the rules by which viewers draw:
spans of a thread nest, an outer span precedes the spans that it contains, and nothing has process
or thread 0, which Perfetto reserves for the kernel."""

import json
import shutil
import signal
import subprocess
from collections import defaultdict

from checkpoints import gvt, latest, start, stop
from programs import MPI_ENVIRONMENT, Programs

programs = Programs()
# Fields that each kind of event must have (Trace Event Format, Google, 2016); "ph" is the kind.
FIELDS = {"X": {"pid", "tid", "name", "ts", "dur", "args"}, "M": {"pid", "name", "args"},
          "C": {"pid", "name", "ts", "args"}}
METADATA = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
            "thread_name": "name", "thread_sort_index": "sort_index"}
KINDS = {"execute", "rollback", "mail", "commit", "idle", "GVT cut", "handover", "takeover",
         "GVT round", "send", "receive", "save", "left out"}


def wrong_with(event):
    """Describes a violation of the format, or returns None."""
    kind = event.get("ph")
    if kind not in FIELDS:
        return f"unknown ph {kind}"
    missing = FIELDS[kind] - event.keys()
    if missing:
        return f"{kind} without {missing}"
    if event["pid"] < 1 or event.get("tid", 1) < 1:
        return "process or thread 0"
    if kind == "M" and list(event["args"]) != [METADATA.get(event["name"])]:
        return f"metadata {event['name']} with {event['args']}"
    if kind == "C" and not all(type(value) in (int, float) for value in event["args"].values()):
        return f"counter of {event['args']}"
    if kind == "X" and (event["ts"] < 0 or event["dur"] < 0 or event["name"] not in KINDS):
        return f"span {event['name']} at {event['ts']} for {event['dur']}"
    return None


def ns(us):
    """The exact time in ns, because times have three decimals in the text."""
    return round(us * 1000)


def badly_nested(spans):
    """Pairs of spans of one thread. In the order of the file, the second span begins before the
    first span, or begins within an open span and ends after this open span."""
    wrong, around = [], []
    for before, span in zip([None, *spans], spans):
        start, end = ns(span["ts"]), ns(span["ts"]) + ns(span["dur"])
        if before is not None and start < ns(before["ts"]):
            wrong.append((before, span))
        while around and around[-1][0] <= start:
            around.pop()
        if around and end > around[-1][0]:
            wrong.append((around[-1][1], span))
        around.append((end, span))
    return wrong


class Trace:
    """A file, read and checked against the format."""

    def __init__(self, name, file):
        # Refuses duplicate names within an object. NaN and Infinity are not JSON.
        def whole(pairs):
            assert len(dict(pairs)) == len(pairs), pairs
            return dict(pairs)

        def no_number(word):
            raise ValueError(word)

        data = json.loads(file.read_text(), object_pairs_hook=whole, parse_constant=no_number)
        events = data["traceEvents"]
        wrong = [(words, event) for event in events if (words := wrong_with(event))]
        programs.expect(not wrong and data["displayTimeUnit"] in ("ms", "ns"),
                        f"{name}: {len(events)} events have the required format {wrong[:2]}")
        self.spans = [event for event in events if event["ph"] == "X"]
        self.counters = [event for event in events if event["ph"] == "C"]
        self.names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                      if e["name"] == "thread_name"}
        self.processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        threads = defaultdict(list)
        for span in self.spans:
            threads[span["pid"], span["tid"]].append(span)
        programs.expect(threads.keys() <= self.names.keys(), f"{name}: every thread has a name")
        wrong = [pair for spans in threads.values() for pair in badly_nested(spans)]
        programs.expect(not wrong, f"{name}: spans of a thread nest, the outer one first {wrong[:2]}")
        self.sums = defaultdict(int)
        for span in self.spans:
            for count, value in span["args"].items():
                if not isinstance(value, str):  # a text names the event of the span
                    self.sums[span["name"], count] += value


def traced(name, *arguments):
    file = programs.work / f"{name}.trace"
    stats = programs.statistics_of("phold", *arguments, "--trace", file)
    return Trace(name, file), stats, file


# --- a run that continues another run

mpirun = shutil.which("mpirun")
RANKS = [mpirun, "--oversubscribe", "-np", "2"] if mpirun else []
PHOLD = [programs.bin / "phold", "--lps", 256, "--remote", 0.3, "--quiet"]


def saved_in(name):
    return ["--checkpoint", programs.work / name, "--checkpoint-period", 0.1]


def piece(folder, *command, number):
    """Executes a part of a run. A signal ends the part after it has written a later checkpoint than
    the checkpoint from which it started."""
    passed = gvt(programs.work / folder)
    run = start(programs, *command, *saved_in(folder), env=MPI_ENVIRONMENT)
    code, errors = stop(run, programs.work / folder, passed, number)
    programs.expect(gvt(programs.work / folder) > passed, f"a piece was saved: {code} {errors!r}")


def further_than(folder):
    """The end of the last part. On a busy machine, the other parts end early in virtual time, but
    with this end, the last part nevertheless has many spans."""
    return gvt(programs.work / folder) + 1000


def last_piece(folder, *options):
    trace, stats, file = traced(folder, *PHOLD[1:-1], *options, "--restart", programs.work / folder,
                                "--until", further_than(folder))
    wanted = {"execute": "executed_events", "rollback": "rolled_back_events", "GVT round": "gvt_rounds"}
    # Every rank has a span for every round.
    spans = [s for s in trace.spans if s["name"] != "GVT round" or s["pid"] == 1]
    counts = {name: (sum(s["args"].get("events", s["args"].get("rounds")) for s in spans if s["name"] == name),
                     stats[counter]) for name, counter in wanted.items()}
    programs.expect(all(found == right for found, right in counts.values()),
                    f"{folder}: the spans of the whole run exist once each: {counts}")
    return trace, stats


# Work of the first part after its last checkpoint is repeated, and must not appear twice in the
# trace.
ENDLESS = ["--until", 1e9, "--trace", programs.work / "pieces.trace"]
piece("pieces", *PHOLD, *ENDLESS, "--workers", 3, number=signal.SIGKILL)
if mpirun:
    piece("pieces", *RANKS, *PHOLD, *ENDLESS, "--workers", 1, "--net-thread", "on", "--restart", "pieces",
          number=signal.SIGUSR1)
programs.expect((programs.work / "pieces.trace").exists() == bool(mpirun),
                "a killed run has written no trace")
trace, stats = last_piece("pieces", "--workers", 2)
begins = [1e6 * piece["seconds"] for piece in stats["checkpoints"]["pieces"]]
for number, (begin, end) in enumerate(zip(begins, [*begins[1:], 1e6 * stats["wall_seconds"]])):
    programs.expect(any(begin <= s["ts"] < end and s["name"] == "execute" for s in trace.spans),
                    f"there are spans of piece {number}")
threads = {(rank, f"worker {w}") for rank, workers in ((1, 3), (2, 1 if mpirun else 0)) for w in range(workers)}
threads |= {(1, "GVT rounds")} | ({(2, "GVT rounds"), (1, "network"), (2, "network")} if mpirun else set())
found = sorted((pid, name) for (pid, _), name in trace.names.items())
programs.expect(found == sorted(threads), f"there are spans of threads that no longer exist: {found}")
gvts = sorted((counter["ts"], counter["args"]["virtual time"]) for counter in trace.counters
              if counter["name"] == "GVT")
programs.expect([value for _, value in gvts] == sorted(value for _, value in gvts)
                and gvts[0][0] < begins[1] < gvts[-1][0], "counters cover all pieces")

piece("untraced", *PHOLD, "--until", 1e9, number=signal.SIGTERM)
before_us = round(1e6 * latest(programs.work / "untraced")["wall_seconds"], 3)  # unit of the trace
trace, stats, _ = traced("gone on", *PHOLD[1:-1], "--restart", programs.work / "untraced",
                         "--until", further_than("untraced"))
programs.expect(before_us <= min(span["ts"] for span in trace.spans),
                "spans of a continued run begin after the time of the earlier pieces")
notice = "--trace: the run was saved without a trace, so the trace begins at "
programs.expect(any(text.startswith(notice) for text in stats["notices"]),
                f"a notice reports that the trace begins at the restart: {stats['notices']}")

# --- one rank, with rebinding ---

trace, stats, _ = traced("three workers", "--lps", 512, "--until", 300, "--remote", 0.5, "--workers", 3,
                         "--window", "off", "--rebind", 0.02, "--check-rebind", 0.3)
programs.expect(sorted(trace.names.values()) == ["GVT rounds", "worker 0", "worker 1", "worker 2"],
                "there is a track for each worker and one for GVT rounds")
sums = trace.sums
programs.expect(sums["execute", "events"] == stats["executed_events"],
                "every executed event is in an execute span")
programs.expect(sums["rollback", "events"] == stats["rolled_back_events"] > 0,
                "every event that was undone is in a rollback span")
programs.expect(sums["GVT round", "rounds"] == stats["gvt_rounds"], "every GVT round has a span")
programs.expect(3 * (stats["gvt_rounds"] - 1) <= sums["GVT cut", "cuts"] <= 3 * stats["gvt_rounds"] + 3,
                "every worker's cut of each round has a span")
programs.expect(sums["handover", "groups"] == sums["takeover", "groups"] == stats["numa"]["groups_moved"] > 0,
                "every group that moved is handed over once and taken over once")
programs.expect(sums["idle", "turns"] > 0 and sums["commit", "turns"] > 0, "there are spans of idling and of commits")

wall = stats["wall_seconds"] * 1e6
programs.expect(all(span["ts"] + span["dur"] <= wall + 1e6 for span in trace.spans),
                "all spans are within the run")

# Workers continue to execute during a round: no worker waits for the round.
rounds = [s for s in trace.spans if s["name"] == "GVT round"]
executes = sorted((s["ts"], s["ts"] + s["dur"]) for s in trace.spans if s["name"] == "execute")
busy = sum(any(start < r["ts"] + r["dur"] and end > r["ts"] for start, end in executes)
           for r in rounds[:200])
programs.expect(busy > 0.8 * len(rounds[:200]),
                f"in {busy} of {len(rounds[:200])} rounds some worker executes events")

# --- more than a track holds ---

SPANS_MAX = 1 << 18
# Every event is rolled back once: this creates enough spans on any machine.
trace, stats, file = traced("long", "--lps", 1024, "--until", 800, "--workers", 2, "--check-rollback", 1)
gaps = {(s["pid"], s["tid"]): s for s in trace.spans if s["name"] == "left out"}
programs.expect(gaps != {}, "a busy run has more spans than a track can contain, and the gap is a span")
for thread, gap in gaps.items():
    mine = [s for s in trace.spans if (s["pid"], s["tid"]) == thread and s["name"] != "left out"]
    after = [s["ts"] + s["dur"] for s in mine if s["ts"] >= gap["ts"] + gap["dur"]]
    programs.expect(len(mine) == SPANS_MAX and len(after) >= SPANS_MAX / 2 - 8
                    and max(after) > 0.95 * stats["wall_seconds"] * 1e6,
                    f"{trace.names[thread]}: the track is full, and its last half is from the end of the run")
notice = f"{sum(gap['args']['spans'] for gap in gaps.values())} spans of "
programs.expect(any(text.startswith("--trace: " + notice) for text in stats["notices"]),
                f"the run reports the number of omitted spans: {stats['notices']}")
programs.expect(file.stat().st_size < 120e6, f"the file is bounded: {file.stat().st_size >> 20} MiB")
course = [c["ts"] for c in trace.counters if c["name"] == "committed events a second"]
# A sample every 0.1 s, and one at the end.
programs.expect(len(course) > min(5, stats["wall_seconds"] / 0.2)
                and max(course) > 0.5 * stats["wall_seconds"] * 1e6,
                f"{len(course)} samples of counters cover the whole run")

# --- the network ---

for name, options in [("two ranks", []), ("two ranks, net thread", ["--net-thread", "on"])]:
    if not mpirun:
        print(f"skipped  {name}: no mpirun here")
        continue
    file, stats_file = programs.work / "ranks.trace", programs.work / "ranks.json"
    subprocess.run([*RANKS, programs.bin / "phold",
                    "--lps", "64", "--until", "30", "--workers", "2", "--quiet",
                    *options, "--stats", stats_file, "--trace", file],
                   check=True, env=MPI_ENVIRONMENT, timeout=120)
    trace, stats = Trace(name, file), json.loads(stats_file.read_text())
    programs.expect(sorted(trace.processes.values()) == ["rank 0", "rank 1"],
                    f"{name}: there is a process for each rank")
    programs.expect(trace.sums["send", "batches"] == trace.sums["receive", "batches"]
                    == stats["mpi"]["batches_sent"] > 0,
                    f"{name}: every batch is sent in one span and received in another")
    senders = {trace.names[s["pid"], s["tid"]] for s in trace.spans if s["name"] in ("send", "receive")}
    programs.expect(senders == {"network"} if options else senders <= {"worker 0", "worker 1"},
                    f"{name}: the spans are on the tracks of the sending and receiving threads: {sorted(senders)}")

programs.leave()
