# SPDX-License-Identifier: Apache-2.0
"""All rows of the bench. Each column of a row is a run. A row also contains the targets for the
ratios of its columns. A section is a function that returns its rows."""

import os
from typing import NamedTuple

from measure import Run, events_a_batch, printed, setup_seconds, whole_seconds

# Runs with this number of events take about one second, so that the cost of set-up has little
# effect.
EVENTS = 10_000_000


class Wanted(NamedTuple):
    """A target for the ratio `over` / `under` * `scale`; if `under` is empty, for `over` *
    `scale`."""
    label: str
    over: str
    under: str = ""
    at_most: float | None = None
    at_least: float | None = None
    scale: float = 1


class Row(NamedTuple):
    name: str
    columns: dict  # name -> Run
    wanted: list
    unit: str = "ns an event"


SEQUENTIAL = " --engine sequential"
TIME_WARP = " --engine timewarp"
ONE = f"{TIME_WARP} --workers 1"
TWO = f"{TIME_WARP} --workers 2"
# A single worker may execute events irrevocably and keep no data for rollback. With this option it
# keeps the data, so that their cost is measured.
KEPT = " --keep-safe-events on"
SHAPES = [(1024, 1), (1024, 16), (65536, 1), (65536, 16)]


def phold(lps, events_per_lp, remote=0.1, events=EVENTS):
    """The command line of a run in which the mean delay is 1."""
    return (f"phold --lps {lps} --events-per-lp {events_per_lp} --remote {remote} --state 16"
            f" --until {max(8.0, events / (lps * events_per_lp)):g}")


def phold_name(lps, events_per_lp, remote=0.1):
    return f"{lps} x {events_per_lp}, {100 * remote:.0f} % remote"


def engines(command, **more):
    return {**more, "sequential": Run(command + SEQUENTIAL), "timewarp": Run(command + ONE),
            "timewarp-2": Run(command + TWO)}


def one_worker(at_most, column="timewarp"):
    return Wanted(f"time of {column} / sequential", column, "sequential", at_most=at_most)


def two_workers(at_least):
    return Wanted("speed of 2 workers / sequential", "sequential", "timewarp-2", at_least=at_least)


def second_worker(at_least):
    return Wanted("speed of 2 workers / 1 worker", "timewarp", "timewarp-2", at_least=at_least)


def phold_rows():
    """PHOLD compared with a plain loop without an engine."""
    for lps, events in SHAPES:
        limit = Run(f"limit_bench {lps} {events} 0.1 {EVENTS}", printed)
        conservative = Run(phold(lps, events) + " --workers 2 --engine conservative")
        columns = {**engines(phold(lps, events), limit=limit), "conservative-2": conservative}
        yield Row(phold_name(lps, events), columns, [
            one_worker(1.1), two_workers(1.6), second_worker(1.6),
            Wanted("speed of 2 workers / limit", "limit", "timewarp-2", at_least=1),
            Wanted("speed of Time Warp / conservative, 2 workers each", "conservative-2", "timewarp-2",
                   at_least=0.9),
            Wanted("time of sequential / limit", "sequential", "limit", at_most=1.3)])


def remote_rows():
    """PHOLD with more events between LPs."""
    for remote, wanted in (0.25, [second_worker(1.6)]), (1.0, [second_worker(1.2), two_workers(1.3)]):
        for lps, events in SHAPES:
            yield Row(phold_name(lps, events, remote), engines(phold(lps, events, remote)), wanted)


def traffic_rows():
    yield Row("traffic, 1024 objects", engines("traffic --objects 1024 --until 7200"),
              [one_worker(1.05), two_workers(1.85)])


def pcs_rows():
    """The cost of keeping data for rollback if nothing is rolled back."""
    command = "pcs --until 2400"
    every_event = "snapshot, interval 1"
    for name, options, wanted in [
            ("", ONE, [one_worker(1.15, "reverse"), one_worker(1.2, "copy"), one_worker(1.3, "snapshot")]),
            (", the past kept", ONE + KEPT, [one_worker(1.2, "reverse"), one_worker(1.25, "copy"),
                                             one_worker(1.4, "snapshot"), one_worker(1.8, every_event)])]:
        rollback = command + options + " --rollback "
        yield Row(f"PCS, 14400 cells{name}", {
            "sequential": Run(command + SEQUENTIAL), "reverse": Run(rollback + "reverse"),
            "copy": Run(rollback + "copy"), "snapshot": Run(rollback + "snapshot"),
            every_event: Run(rollback + "snapshot --state-saving-interval 1")}, [
                *wanted, Wanted("snapshot at every event / reverse", every_event, "reverse", at_most=1.4)])
        containers = command + " --state containers"
        yield Row(f"PCS, 14400 cells with containers{name}", {
            "sequential": Run(containers + SEQUENTIAL), "snapshot": Run(containers + options)},
            [one_worker(1.3, "snapshot")])


def saving_rows():
    """Whether the adaptive interval between saved states is as good as a fixed one, with
    --keep-safe-events on."""
    def interval(command, value):
        return Run(command + ONE + KEPT + " --rollback snapshot --state-saving-interval " + value)

    for name, command in [
            ("PCS, 14400 cells", "pcs --until 2400"),
            ("PHOLD 1024 x 1", phold(1024, 1)),
            ("PHOLD 65536 x 1", phold(65536, 1)),
            ("PHOLD 1024 x 16, 1 KiB of state",
             "phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 1024 --until 300"),
            ("traffic 1024", "traffic --objects 1024 --until 3600")]:
        yield Row(f"states saved, {name}", {
            "interval 1": interval(command, "1"), "interval 16": interval(command, "16"),
            "auto": interval(command, "auto")},
            [Wanted("time of auto / of interval 1", "auto", "interval 1", at_most=1.1),
             Wanted("time of auto / of interval 16", "auto", "interval 16", at_most=1.1)])


def size_rows():
    """Many LPs, and large states."""
    for name, engine, growth in ("sequential", SEQUENTIAL, 1.8), ("2 workers", TWO, 1.4):
        yield Row(f"PHOLD by LPs, {name}", {
            "1024 LPs": Run(phold(1024, 1) + engine),
            "1000000 LPs": Run(phold(1_000_000, 1) + engine)},
            [Wanted("an event of a million LPs / of 1,024", "1000000 LPs", "1024 LPs", at_most=growth)])
    # This row is measured after rows that need as much memory. In a virtual machine, allocation
    # takes two to four times as long if the memory must first be obtained from the host.
    setup = "phold --lps 1000000 --state 16 --until 0.001"
    yield Row("set-up of 1000000 LPs", {
        "sequential": Run(setup + SEQUENTIAL, setup_seconds),
        "timewarp": Run(setup + ONE, setup_seconds)},
        [Wanted("seconds of sequential", "sequential", at_most=0.5)], "s")
    large = "phold --lps 64 --state 1048576 --touch 4096 --remote 0.1 --until 4000"
    yield Row("1 MiB of state, 4 KiB touched", {
        "sequential": Run(large + SEQUENTIAL),
        "copy": Run(large + ONE + KEPT + " --rollback copy"),
        "snapshot": Run(large + ONE + KEPT + " --rollback snapshot"),
        "2 workers": Run(large + TWO + " --rollback snapshot"),
        "2 workers, copy": Run(large + TWO + " --rollback copy")},
        [one_worker(3, "copy"), one_worker(3, "snapshot"), one_worker(3, "2 workers")])
    blocks = "blocks_bench --bytes 9000" + SEQUENTIAL + " --blocks "
    yield Row("blocks of 9000 B in one LP", {
        "50000": Run(blocks + "50000", whole_seconds),
        "200000": Run(blocks + "200000", whole_seconds)},
        [Wanted("200,000 blocks / 50,000", "200000", "50000", at_most=4.5)], "s")


def crowded_rows():
    """Workers, ranks and foreign processes on too few cores, compared with their fair share."""
    cores = len(os.sched_getaffinity(0))
    cases = [(cores, 0, 0.8), (2 * cores, 0, 0.85), (4 * cores, 0, 0.8),
             (cores, max(1, cores // 2), 0.8), (cores, cores, 0.6),
             (cores + 1, max(1, cores // 2), 0.6), (cores + 1, cores, 0.6)]
    command = phold(1024, 16)
    longer = phold(1024, 16, events=4 * EVENTS)  # the trial of auto takes 0.4 s
    columns = {"1 worker": Run(command + ONE)}
    wanted = []

    def add(what, count, foreign, share, run):
        column = f"{count} {what}" + (f" beside {foreign}" if foreign else "")
        columns[column] = run._replace(foreign=foreign)
        fair = min(count, cores, cores * count / (count + foreign))
        wanted.append(Wanted(f"share of the fair speed, {column}", "1 worker", column,
                             at_least=share, scale=1 / fair))

    for workers, foreign, share in cases:
        add("workers", workers, foreign, share, Run(f"{command}{TIME_WARP} --workers {workers}"))
        add("workers with --engine auto", workers, foreign, share, Run(f"{longer} --workers {workers}"))
    for foreign, share in (0, 0.85), (1, 0.6):
        add("ranks", 2 * cores, foreign, share, Run(command + ONE, ranks=2 * cores))
        add("conservative ranks", 2 * cores, foreign, share,
            Run(command + " --workers 1 --engine conservative", ranks=2 * cores))
    yield Row(f"{phold_name(1024, 16)}, on {cores} cores", columns, wanted)
    # There are few events at a time, so that workers often wait for each other.
    few = f"phold --lps 64 --remote 0.5 --state 16 --until 20000{TIME_WARP} --workers {cores}"
    yield Row("64 x 1, 50 % remote, a foreign process for each core",
              {"alone": Run(few), "beside": Run(few, foreign=cores)},
              [Wanted("share of the speed kept", "alone", "beside", at_least=0.05)])


def rank_rows():
    """Two ranks with one worker each, compared with one rank with two workers; the number of events
    per batch; four ranks compared with two workers."""
    share = "speed of the ranks / of 2 workers in one"
    for lps, events in SHAPES:
        command = phold(lps, events)
        yield Row(f"ranks, {phold_name(lps, events)}", {
            "timewarp-2": Run(command + TWO), "ranks-2": Run(command + ONE, ranks=2)},
            [Wanted("time of 2 ranks / of 2 workers in one", "ranks-2", "timewarp-2", at_most=1.1)])
    for lps, events in SHAPES[0], SHAPES[3]:
        yield Row(f"ranks, {phold_name(lps, events, 0.25)}",
                  {"events": Run(phold(lps, events, 0.25) + ONE, events_a_batch, ranks=2)},
                  [Wanted("events a batch", "events", at_least=8)], "events a batch")
    command = phold(1024, 16)
    yield Row("4 ranks on the cores", {
        "timewarp-2": Run(command + TWO), "ranks-4": Run(command + ONE, ranks=4)},
        [Wanted(share, "timewarp-2", "ranks-4", at_least=0.5)])


def auto_rows():
    """--engine auto on all models that declare a lookahead, with two workers. With auto, the other
    models run in Time Warp."""
    few = "phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 16"
    models = [
        *((phold_name(*shape), phold(*shape, events=4 * EVENTS)) for shape in (*SHAPES, (65536, 1, 1))),
        ("PHOLD 1024 x 16, lookahead 0.01", f"{few} --lookahead 0.01 --until 1200"),
        ("PHOLD 1024 x 16, lookahead 0.001", f"{few} --lookahead 0.001 --until 1200"),
        ("traffic, 1024 objects", "traffic --objects 1024 --until 7200"),
        ("bank", "bank --move 0.1 --until 400000"),
        ("car_wash", "car_wash --again 0.1 --until 150000"),
        ("channel", "channel --until 160000"),
        ("gas_station", "gas_station --again 0.1 --until 1500000"),
        ("machine_shop", "machine_shop --share 0.1 --until 600000"),
        ("movies", "movies --cinemas 8000 --move 0.1 --until 700"),
    ]
    for name, command in models:
        yield Row(f"auto, {name}", {engine: Run(f"{command} --workers 2 --engine {engine}")
                                    for engine in ("conservative", "timewarp", "auto")},
                  [Wanted("time of auto / of timewarp", "auto", "timewarp", at_most=1.03),
                   Wanted("time of auto / of conservative", "auto", "conservative", at_most=1.03)])


def instruction_rows():
    """Instructions per event. They depend on the compiler and the libraries, not on the machine."""
    unit = "instructions an event"

    def counted(command, *lengths):
        return Run(command, lengths=lengths)

    def both(command, *lengths):
        command += " --until {}"
        return {"sequential": counted(command + SEQUENTIAL, *lengths), "timewarp": counted(command + ONE, *lengths)}

    def one(at_most):
        return Wanted("of 1 worker / of sequential", "timewarp", "sequential", at_most=at_most)

    few = "phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 16"
    limit = counted("limit_bench 1024 16 0.1 {}", 64_000, 588_000)
    yield Row("instructions, PHOLD 1024 x 16", {"limit": limit, **both(few, 4, 36)},
              [Wanted("of sequential", "sequential", at_most=500), one(1.1)], unit)
    yield Row("instructions, PCS", both("pcs", 20, 100), [], unit)
    kept = ONE + KEPT + " --rollback "
    methods = {"reverse": "reverse", "copy": "copy", "snapshot": "snapshot",
               "snapshot, interval 1": "snapshot --state-saving-interval 1"}
    yield Row("instructions, PCS, the past kept",
              {name: counted("pcs --until {}" + kept + method, 200, 240) for name, method in methods.items()}, [], unit)
    yield Row("instructions, PHOLD 1024 x 16, the past kept",
              {"copy": counted(few + " --until {}" + kept + "copy", 4, 36)}, [], unit)
    yield Row("instructions, traffic", both("traffic --objects 1024", 300, 900),
              [Wanted("of sequential", "sequential", at_most=2100), one(1.05)], unit)
    typed = {events: counted(f"typed_bench --events {events} --until {{}}" + SEQUENTIAL, 2, 14)
             for events in ("untyped", "one", "four")}
    yield Row("instructions, events as bytes and as structs", typed,
              [Wanted("four types of structs / bytes", "four", "untyped", at_most=1.05)], unit)


SECTIONS = {"phold": phold_rows, "remote": remote_rows, "traffic": traffic_rows, "pcs": pcs_rows,
            "saving": saving_rows,
            "sizes": size_rows, "crowded": crowded_rows, "ranks": rank_rows, "auto": auto_rows,
            "instructions": instruction_rows}
