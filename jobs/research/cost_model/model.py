# SPDX-License-Identifier: Apache-2.0
"""The model: computes the cost of a GVT round and of the exchange of events on P ranks from a few
constants.

In LogGP (Alexandrov, Ionescu, Schauser and Scheiman, 1995), the transfer of a message of b bytes
takes L + 2o + (b - 1)G: the latency, the overhead of the processors at both ends, and a time per
byte. This model adds three effects.

- Open MPI reduces small data over a binomial tree, up and down: 2 ceil(log2 P) messages, one after
  the other.
- A rank advances a reduction only when the rank polls, which is once per turn. Therefore each of
  these messages waits for w turns. w is nearly 1, because with shared memory a turn takes 20 times
  as long as a message.
- If there are more ranks than cores, ranks share the cores and must be woken. This costs a factor
  that grows with the ranks per core, and a time for each rank that has no core. These two terms
  only serve to fit the measurements with more ranks than cores. Predictions for machines with
  enough cores do not contain these terms.

All times are in microseconds."""

import math
from dataclasses import dataclass, replace

import numpy

EVENTS_A_TURN = 128  # batch_events in src/engine/timewarp/worker/executor.cpp
BATCH_AGE = 50.0     # this and the next two constants: src/engine/timewarp/worker/outboxes.cpp
EVENTS_WORTH_SENDING = 16
PEERS_FEW = 4
EVENT_BYTES = 40     # an event of PHOLD in a message
INTERVAL = 1000.0    # --gvt-interval


@dataclass(frozen=True)
class Network:
    name: str
    hop: float      # transfer of a Contribution to the next rank, and combining it
    send: float     # the sender's overhead for a batch
    receive: float  # the receiver's overhead for a batch
    byte: float     # G
    origin: str     # "measured" or "assumed"


def loggp(name, latency, overhead, byte, contribution_bytes):
    """A network that was not measured, from the constants of LogGP."""
    return Network(name, latency + 2 * overhead + (contribution_bytes - 1) * byte, overhead,
                   overhead, byte, "assumed")


@dataclass(frozen=True)
class Engine:
    event: float         # a worker's time for an event if all events are local
    remote_event: float  # extra time of an event for another rank: records, mail, later rollbacks
    batch_bytes: float
    waits: float         # w: the number of turns that a message of a reduction waits
    interval: float = INTERVAL

    @property
    def turn(self):
        return EVENTS_A_TURN * self.event


def steps(ranks):
    """The number of messages of a reduction that follow each other from a leaf to the root and
    back: one per level and direction. (If P is not a power of two, some paths are shorter, and
    measured times have a step.)"""
    return 2 * math.ceil(math.log2(ranks))


def reduce_time(ranks, network, engine):
    return steps(ranks) * (network.hop + engine.waits * engine.turn)


def round_time(ranks, network, engine):
    """The time from one result of GVT to the next. One turn passes until a rank detects the end of
    the interval, and another turn until the last worker of the rank has made its cut."""
    return engine.interval + 2 * engine.turn + reduce_time(ranks, network, engine)


@dataclass(frozen=True)
class Exchange:
    events_a_batch: float
    share: float  # the worker's speed, relative to its speed without other ranks


def exchange(peers, remote, network, engine):
    """The batches and the speed of a worker that sends a share `remote` of its events to other
    ranks, in equal parts to `peers` ranks. A batch is closed when it is full, or at the end of the
    first turn that begins BATCH_AGE after the batch was begun. A batch with fewer than
    EVENTS_WORTH_SENDING events is closed later. This delay grows with the number of peers; a cut
    ends the delay, on average after half a GVT interval. Sending makes events slower and turns
    longer, which changes the batches. Therefore the result is computed as a fixed point."""
    time = engine.event
    full = engine.batch_bytes / EVENT_BYTES
    for _ in range(200):
        turn = EVENTS_A_TURN * time
        rate = remote / time / peers
        latest = min(max(BATCH_AGE, BATCH_AGE * peers / PEERS_FEW), engine.interval / 2)
        due = max(BATCH_AGE, min(latest, (EVENTS_WORTH_SENDING - 1) / rate))
        age = (math.ceil(due / turn) + 1) * turn
        batch = min(full, 1 + rate * age)
        wire = (network.send + network.receive) / batch + EVENT_BYTES * network.byte
        time = 0.5 * time + 0.5 * (engine.event + remote * (engine.remote_event + wire))
    return Exchange(batch, engine.event / time)


@dataclass(frozen=True)
class ReduceFit:
    hop: float
    waits: float
    crowding: float  # factor per (ranks / cores), if there are more ranks than cores
    waking: float    # time per step for each rank that has no core
    error: float     # root mean square of the relative errors

    def time(self, ranks, pause, cores):
        factor = max(1.0, self.crowding * ranks / cores) if ranks > cores else 1.0
        return steps(ranks) * ((self.hop + self.waits * pause) * factor
                               + self.waking * max(0, ranks - cores))


def fit_reduce(points, cores):
    """Least squares of the relative error, over points (ranks, pause between two polls, time)."""
    points = [(int(ranks), float(pause), time) for ranks, pause, time in points]
    best = None
    for crowding in numpy.arange(0.5, 2.001, 0.01):
        # The time is linear in the other parameters. Each row is divided by its measured time.
        one = ReduceFit(0, 0, crowding, 0, 0)
        rows = [[replace(one, **{name: 1}).time(ranks, pause, cores) / time
                 for name in ("hop", "waits", "waking")] for ranks, pause, time in points]
        solution = numpy.linalg.lstsq(numpy.array(rows), numpy.ones(len(rows)), rcond=None)[0]
        hop, waits, waking = (max(0.0, float(value)) for value in solution)
        fit = ReduceFit(hop, waits, float(crowding), waking, 0)
        error = math.sqrt(sum((fit.time(ranks, pause, cores) / time - 1) ** 2
                              for ranks, pause, time in points) / len(points))
        if best is None or error < best.error:
            best = replace(fit, error=error)
    return best


def fit_remote_event(runs, event):
    """The extra time of an event for another rank, from runs (share sent, time of an event) of two
    ranks with one core each: the least-squares slope of a line through the time of a local
    event."""
    return sum(sent * (time - event) for sent, time in runs) / sum(sent ** 2 for sent, _ in runs)
