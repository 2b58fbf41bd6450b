"""The model: what a GVT round and the exchange of events cost on P ranks, from a few constants.

LogGP (Alexandrov, Ionescu, Schauser and Scheiman, 1995) says that a message of b bytes takes
L + 2o + (b - 1)G from hand to hand: latency, the processors' overhead at both ends, and a time a byte.
Three things come on top here.

- Open MPI reduces small things over a binomial tree, up and down: 2 ceil(log2 P) messages, one
  after the other.
- A reduction moves only when a rank looks at it, which is once a turn. So each of these messages
  waits for w turns, and w is nearly 1: with shared memory a turn is 20 times the message.
- More ranks than cores take turns on them, and must be woken: a factor that grows with ranks a core,
  and a time for each rank that waits. These two terms are only there to fit what was measured with
  such ranks; what is said of machines with enough cores is without them.

All times are in microseconds."""

import math
from dataclasses import dataclass, replace

import numpy

EVENTS_A_TURN = 128  # batch_events in src/timewarp/worker_execution.cpp
BATCH_AGE = 50.0     # this and the next two: src/worker/outboxes.cpp
EVENTS_WORTH_SENDING = 16
PEERS_FEW = 4
EVENT_BYTES = 40     # PHOLD's, on the wire
INTERVAL = 1000.0    # --gvt-interval


@dataclass(frozen=True)
class Network:
    name: str
    hop: float      # a Contribution from hand to hand, combined
    send: float     # overhead of a batch for who sends it
    receive: float  # and for who receives it
    byte: float     # G
    origin: str     # "measured" or "assumed"


def loggp(name, latency, overhead, byte, contribution_bytes):
    """A network that was not measured, from LogGP's constants."""
    return Network(name, latency + 2 * overhead + (contribution_bytes - 1) * byte, overhead,
                   overhead, byte, "assumed")


@dataclass(frozen=True)
class Engine:
    event: float         # of a worker's time, where all is local
    remote_event: float  # more, for an event that leaves the rank: records, mail, later rollbacks
    batch_bytes: float
    waits: float         # w: turns that a message of a reduction waits
    interval: float = INTERVAL

    @property
    def turn(self):
        return EVENTS_A_TURN * self.event


def steps(ranks):
    """Messages of a reduction that follow each other, as the root sees it: one a level, up and down.
    (Where P is no power of two some paths are shorter; measured times jump there.)"""
    return 2 * math.ceil(math.log2(ranks))


def reduce_time(ranks, network, engine):
    return steps(ranks) * (network.hop + engine.waits * engine.turn)


def round_time(ranks, network, engine):
    """From one result of GVT to the next. A turn passes until a rank sees that the interval is over,
    and one until its last worker has cut."""
    return engine.interval + 2 * engine.turn + reduce_time(ranks, network, engine)


@dataclass(frozen=True)
class Exchange:
    events_a_batch: float
    share: float  # of the speed that a worker has without other ranks


def exchange(peers, remote, network, engine):
    """A worker that sends a share `remote` of its events to other ranks, to `peers` of them in equal
    parts. A batch to one of them is closed when it is full, or at the end of the first turn that
    began BATCH_AGE after the batch did; with few events later, the later the more peers there are, but
    half an interval of GVT after that in the mean, at a cut. Events come slower where they are dearer,
    and turns take longer, so this is a fixed point."""
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
    crowding: float  # factor a rank a core, where that is more than 1
    waking: float    # for each rank that has no core
    error: float     # root mean square, relative

    def time(self, ranks, pause, cores):
        factor = max(1.0, self.crowding * ranks / cores) if ranks > cores else 1.0
        return steps(ranks) * ((self.hop + self.waits * pause) * factor
                               + self.waking * max(0, ranks - cores))


def fit_reduce(points, cores):
    """Least squares of the relative error, over points (ranks, pause between two looks, time)."""
    points = [(int(ranks), float(pause), time) for ranks, pause, time in points]
    best = None
    for crowding in numpy.arange(0.5, 2.001, 0.01):
        # Linear in what is left, and each row divided by what was measured.
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
    """What an event that leaves its rank costs, from runs (share sent, time of an event) of two ranks
    with a core each: the slope through the local event's time, by least squares."""
    return sum(sent * (time - event) for sent, time in runs) / sum(sent ** 2 for sent, _ in runs)
