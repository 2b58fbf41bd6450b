# SPDX-License-Identifier: Apache-2.0
"""The model with the constants of one machine. Fits the constants, compares the model with
measurements that were not used for the fit, and creates the tables."""

from dataclasses import dataclass

import memory
import model

REMOTE = 0.1
NEIGHBORS = 6
RANKS = (2, 8, 64, 256, 1024)


@dataclass
class Fitted:
    reduce: model.ReduceFit
    reductions: list  # the points of the fit of `reduce`: (ranks, pause, time)
    engine: model.Engine
    networks: list
    cores: int
    cpu: str
    commit: str


def fit(measured, assumed):
    points = [(run["ranks"], pause, time) for run in measured["shared_memory"]
              for pause, time in {"0": run["reduce_us"], **run["reduce_turn_us"]}.items()]
    reduce = model.fit_reduce(points, measured["cores"])
    event = 1e6 / measured["phold_alone"]["events_per_second"]
    runs = [(run["events_sent_share"], 2e6 / run["events_per_second"])
            for run in measured["phold_two_ranks"]]
    two = measured["shared_memory"][0]
    engine = model.Engine(event=event, remote_event=model.fit_remote_event(runs, event),
                          batch_bytes=two["batch_bytes"], waits=reduce.waits)
    networks = [network_of("shared memory", two, reduce.hop),
                network_of("TCP on this machine", measured["tcp"],
                           measured["tcp"]["reduce_us"] / model.steps(2))]
    networks += [model.loggp(*words, two["contribution_bytes"]) for words in assumed]
    return Fitted(reduce, points, engine, networks, measured["cores"], measured["cpu"],
                  measured["commit"])


def network_of(name, run, hop):
    trips = sorted((int(size), time) for size, time in run["trip_us"].items())
    (small, first), (large, last) = trips[0], trips[-1]
    receive = max(0.0, run["gap_us"])
    return model.Network(name, hop, run["send_us"], receive, max(0.0, last - first) / (large - small),
                         "measured")


def checks(measured, fitted):
    """Yields (name, measured, predicted) for figures that were not used for the fit."""
    shared = fitted.networks[0]
    for run in measured["phold_two_ranks"]:
        predicted = model.exchange(1, run["events_sent_share"], shared, fitted.engine)
        yield (f"events per batch, 2 ranks, {100 * run['remote']:.0f} % remote",
               run["events_a_batch"], predicted.events_a_batch)
    for run in measured["phold_rounds"]:
        if run["ranks"] > fitted.cores:
            continue
        event = 1e6 * run["ranks"] / run["events_per_second"]
        engine = model.Engine(event, 0, 0, fitted.engine.waits, interval=1)
        predicted = (2 * engine.turn + 1 if run["ranks"] == 1
                     else model.round_time(run["ranks"], shared, engine))
        yield f"GVT round without pause, ranks: {run['ranks']}, µs", run["round_us"], predicted


def table(measured, fitted):
    lines = [f"Fitted on {fitted.cpu}, {fitted.cores} cores, numawarp {fitted.commit}; beyond 8 ranks "
             "this is a model, not a measurement.", "",
             "| network | hop, µs | send, µs | receive, µs | GB/s | |",
             "| --- | --- | --- | --- | --- | --- |"]
    for net in fitted.networks:
        speed = f"{1e-3 / net.byte:.1f}" if net.byte else "–"
        lines.append(f"| {net.name} | {net.hop:.2f} | {net.send:.2f} | {net.receive:.2f} | {speed} | "
                     f"{net.origin} |")
    engine = fitted.engine
    lines += ["", f"A local event takes {1000 * engine.event:.0f} ns of a worker's time, so a turn takes "
              f"{engine.turn:.1f} µs; an event for another rank takes {1000 * engine.remote_event:.0f} ns "
              f"more. A message of a reduction waits {engine.waits:.2f} turns. The error of the fit of the "
              f"reductions is {100 * fitted.reduce.error:.0f} % (root mean square).", "",
              "| not fitted | measured | model |", "| --- | --- | --- |"]
    lines += [f"| {what} | {found:.1f} | {said:.1f} |" for what, found, said in
              checks(measured, fitted)]
    lines += ["", f"With {100 * REMOTE:.0f} % of the events sent to other ranks, to {NEIGHBORS} "
              "neighbors / to all other ranks:", "",
              "| ranks | network | reduction, µs | GVT rounds per second | events per batch | share of "
              "the speed |", "| --- | --- | --- | --- | --- | --- |"]
    for ranks in RANKS:
        for net in fitted.networks:
            near, far = (model.exchange(peers, REMOTE, net, engine)
                         for peers in (min(NEIGHBORS, ranks - 1), ranks - 1))
            lines.append(f"| {ranks:,} | {net.name} | {model.reduce_time(ranks, net, engine):.0f} | "
                         f"{1e6 / model.round_time(ranks, net, engine):.0f} | "
                         f"{near.events_a_batch:.1f} / {far.events_a_batch:.1f} | "
                         f"{near.share:.2f} / {far.share:.2f} |")
    lines += ["", *memory.lines(memory.by_layout(measured.get("rank_memory", [])))]
    return "\n".join(lines) + "\n"
