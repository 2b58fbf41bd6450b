# SPDX-License-Identifier: Apache-2.0
"""Advice from the figures of one run, as text: each piece of advice has a finding with a number,
and an option or a part of the model to change. A run without unusual figures gets no advice.

The limits are values at which a change was found to be worth a try."""

from dataclasses import dataclass

from lib.number_text import many, percent, plain, seconds, size

from .curves import rates
from .load import as_number
from .words import listed

# The time of a worker's turn without work, measured with phold and traffic on 2 workers.
IDLE_TURN_SECONDS = 0.3e-6

# Runs with fewer executed events get no advice. Runs with a shorter event loop only get the advice
# to run longer.
EVENTS_MIN = 1000
SECONDS_MIN = 0.2

# The maximum number of LPs that a piece of advice names.
NAMED_MAX = 8


@dataclass(frozen=True)
class Advice:
    finding: str  # with its number
    try_this: str
    options: tuple = ()  # command-line options that try_this names


def advise(run):
    if not run.parallel:
        return []
    if 0 < run.loop_seconds < SECONDS_MIN:
        return [too_short(run)]
    if run.count("executed_events") < EVENTS_MIN:
        return []
    rules = [crowded, robbed, stalled, choked, undone, few_lps, dear_rollbacks, canceled, crashed, uneven, idle, rounds, crossing,
             remote_pages, full_nodes, memory_short, small_batches, credits_used_up]
    return [advice for rule in rules if (advice := rule(run)) is not None]


def too_short(run):
    return Advice(f"The event loop ended after {seconds(run.loop_seconds)}; the figures below mostly show its "
                  "beginning.", "A later --until, for a run of at least a second.", ("--until",))


def crowded(run):
    cpus, hosts_known = run.count("machine.cpus"), run.count("ranks") <= 1
    if not cpus or not hosts_known or run.threads <= cpus:
        return None
    return Advice(f"{run.threads} workers share {many(cpus, 'hardware thread')}, so one thread takes the "
                  "turns of several workers.",
                  f"--workers {plain(cpus)}, or fewer.", ("--workers",))


def robbed(run):
    """Other programs used the cores in the time in which a worker neither had a core nor slept."""
    busy = [worker["busy_seconds"] + (as_number(worker.get("asleep_seconds")) or 0)
            for worker in run.rows("workers_detail", "busy_seconds")]
    wall = run.loop_seconds - run.count("checkpoints.seconds")
    if run.text("engine") != "timewarp" or crowded(run) or run.count("carried_turns") or not busy or wall <= 0:
        return None
    share = sum(busy) / len(busy) / wall
    if share > 0.85:
        return None
    return Advice(f"Workers had a core for {percent(share)} of the time. The rest of the time the cores ran "
                  "other programs, or the machine has fewer cores than workers. A worker that "
                  "waits for a core delays all others.",
                  "No other programs on these cores (under SLURM, exclusive nodes); or fewer --workers.",
                  ("--workers",))


def stalled(run):
    """Time in which almost nothing was committed."""
    points = rates(run)
    stretches = [(a[0], b[0], b[1]) for a, b in zip(points, points[1:])]
    wall = run.loop_seconds
    if wall < 1 or len(stretches) < 10 or choked(run):
        return None
    usual = sorted(rate for _, _, rate in stretches)[len(stretches) // 2]
    longest, total, begin = (0, 0), 0, None
    for start, end, rate in [*stretches, (wall, wall, usual)]:
        if rate < 0.1 * usual:
            total += end - start
            begin = start if begin is None else begin
            longest = max(longest, (end - begin, begin))
        else:
            begin = None
    if total < 0.1 * wall:
        return None
    length, begin = longest
    when = "at the beginning" if begin < 0.05 * wall else f"beginning at {seconds(begin)}"
    if total > 1.1 * length:
        when += f" (and {seconds(total - length)} at other times)"
    finding = f"For {seconds(length)} of {seconds(wall)}, {when}, almost nothing was committed"
    widths = widths_seen(run)
    inside = [row["window"] for row in run.rows("history", "seconds", "window")
              if begin <= row["seconds"] <= begin + length and row["window"] > 0]
    if run.option("window") == "auto" and inside and min(inside) < 0.01 * widths[len(widths) // 2]:
        width = f"{widths[len(widths) // 2]:.2g}"
        return Advice(f"{finding}: in this time the window, controlled by auto, was {min(inside):.1g} instead of the "
                      f"usual {width}.", f"A fixed window, --window {width}.", ("--window",))
    return Advice(f"{finding}.", "--trace shows the activities of the workers in this time.", ("--trace",))


def widths_seen(run):
    return sorted(row["window"] for row in run.rows("history", "window") if row["window"] > 0)


def events_a_round(run):
    """The number of executed events per worker and GVT round."""
    done = run.count("gvt_rounds")
    return run.count("executed_events") / done / run.threads if done else 0


def choked(run):
    """The control of the window made it so narrow that a worker executes few events per round."""
    widths = widths_seen(run)
    if run.option("window") != "auto" or not widths or events_a_round(run) > 200:
        return None
    usual = widths[len(widths) // 2]
    if widths[-1] < 50 * usual:
        return None
    return Advice(f"The window, controlled by auto, fell from {widths[-1]:.2g} to {usual:.2g} and below; a worker "
                  f"then executes {plain(round(events_a_round(run)))} events between two rounds.",
                  f"A fixed window, --window {widths[-1]:.2g}; and, over all ranks of a "
                  "machine, no more workers than cores: a rank waits while another rank uses its core.", ("--window",))


def undone(run):
    executed, rolled_back = run.count("executed_events"), run.count("rolled_back_events")
    if rolled_back < 0.15 * executed or not run.count("rollbacks"):
        return None
    length = rolled_back / run.count("rollbacks")
    finding = (f"{percent(rolled_back / executed)} of the executed events were undone, in rollbacks of "
               f"{plain(round(length, 1))} events on average: ")
    if choked(run):
        return Advice(finding + "mostly while the window was falling.", "First the advice above.")
    if length > 16:
        return Advice(finding + "long ones. Workers run far ahead of each other.",
                      f"A narrower window, {window_to_try(run)}; check below whether a worker is "
                      "busier than others.", ("--window",))
    return Advice(finding + "short ones. LPs of different workers exchange events all the time.",
                  "Name the links in the model's Setup, so that neighbors share a worker; schedule "
                  f"further ahead (lookahead); a narrower window, {window_to_try(run)}.",
                  ("--window",))


def few_lps(run):
    """A large share of the undone events belongs to few LPs."""
    undone_events, lps = run.count_here("rolled_back_events"), run.count("lps")
    if not undone_events or undone_events < 0.03 * run.count_here("executed_events"):
        return None
    named, total = [], 0
    for spot in run.rows("most_rolled_back_lps", "lp", "rolled_back_events")[:NAMED_MAX]:
        named.append(str(spot.get("name", "")).removeprefix("LP ") or plain(spot["lp"]))
        total += spot["rolled_back_events"]
        if total >= 0.5 * undone_events:
            break
    share = total / undone_events
    if share < 0.3 or share < 10 * len(named) / lps:
        return None
    words = listed(named)
    return Advice(f"{percent(share)} of the undone events were undone in rollbacks of "
                  f"{'one LP' if len(named) == 1 else f'{len(named)} LPs'} of {plain(lps)}: {words}.",
                  "Split these LPs if they have much work; let other LPs schedule events for them further "
                  "ahead; name their links in the model's Setup, so that they share a worker with the "
                  "LPs that send to them.")


def window_to_try(run):
    if run.option("window") == "off":
        return "--window auto"
    widths = widths_seen(run)
    if not widths:
        return "--window with a few mean delays between LPs"
    return f"--window {widths[len(widths) // 2] / 2:.2g} (half of the width that auto used)" \
        if run.option("window") == "auto" else f"--window {widths[-1] / 2:.2g}"


def dear_rollbacks(run):
    coasted, executed = run.count("coasted_events"), run.count("executed_events")
    if coasted < 0.2 * executed:
        return None
    return Advice(f"{plain(coasted)} events were executed again to rebuild states from saved states. This number "
                  f"is {percent(coasted / executed)} of the number of forward executions.",
                  "Save states more often, --state-saving-interval 1 or 4; or --rollback copy or "
                  "reverse, if the model supports it.", ("--state-saving-interval", "--rollback"))


def canceled(run):
    antis, rolled_back = run.count("anti_messages"), run.count("rolled_back_events")
    if antis < 2 * rolled_back or rolled_back < 0.05 * run.count("executed_events"):
        return None
    return Advice(f"Each undone event canceled {plain(round(antis / rolled_back, 1))} other events that "
                  "it had sent.",
                  "Send events later, or fewer events: one event to a distributing LP instead of many "
                  "immediate events; a narrower --window.", ("--window",))


def crashed(run):
    failed = run.count("failed_speculations")
    if failed < 0.01 * run.count("executed_events"):
        return None
    return Advice(f"{plain(failed)} handlers threw or crashed on states that were rolled back later; "
                  "each costs an exception or a signal.",
                  "Let the handler return early in such a state; a narrower --window.",
                  ("--window",))


def uneven(run):
    workers = run.rows("workers_detail", "busy_seconds", "committed_events")
    committed = [worker["committed_events"] for worker in workers]
    if len(workers) < 2 or sum(committed) == 0:
        return None
    if run.count("carried_turns"):
        return None  # workers with their own CPU get more LPs
    mean = sum(committed) / len(committed)
    most = max(committed)
    if most < 1.3 * mean:
        return None
    worker = committed.index(most)
    finding = (f"Load is uneven: worker {worker} committed {plain(most)} events, "
               f"{plain(round(most / mean, 1))} times the mean of all workers.")
    if run.text("engine") == "conservative":
        if (run.text("engine_reason") or "").startswith("in the last trial"):
            return None  # Time Warp was slower
        return Advice(finding, "Time Warp moves groups of LPs to workers with less load: --engine timewarp.",
                      ("--engine",))
    wall = run.loop_seconds
    period = f"{min(2, max(0.05, wall / 20)):.2g}"
    if run.option("rebind") == "off":
        return Advice(finding, f"--rebind {period} moves groups of LPs to workers with less load.",
                      ("--rebind",))
    each = run.count("options.lps-per-group")
    if not run.count("numa.groups_moved") and wall < 10:
        return Advice(finding, f"Nothing was moved in {seconds(wall)}: a shorter period, "
                      f"--rebind {period}.", ("--rebind",))
    if each > 1:
        return Advice(finding, f"Smaller groups can be distributed more evenly: --lps-per-group "
                      f"{max(1, int(each // 4))}.", ("--lps-per-group",))
    return Advice(finding, "A single LP may be the whole load of a worker: split the busiest LP.")


def idle(run):
    if robbed(run):
        return None  # a worker that waits for a core makes the others wait
    rows = run.rows("workers_detail", "busy_seconds")
    asleep = sum(as_number(row.get("asleep_seconds")) or 0 for row in rows)
    there = sum(row["busy_seconds"] for row in rows) + asleep
    turns = run.count("idle_turns")
    share = min(1.0, (turns * IDLE_TURN_SECONDS + asleep) / there) if there else 0
    if share < 0.25 or uneven(run):
        return None  # uneven load is the cause
    finding = f"Workers had no work in {plain(turns)} turns, about {percent(share)} of their time"
    at_window = run.count("window_stops") > 0.5 * turns
    if at_window and run.option("window") != "auto" and run.count("efficiency") > 0.9:
        return Advice(f"{finding}: they waited at the limit of the window.", "A wider window, or --window auto.",
                      ("--window",))
    if at_window:
        return Advice(f"{finding}: there were too few events between GVT and the window.",
                      "Fewer --workers, or more LPs; compare with --window off.",
                      ("--workers", "--window"))
    return Advice(f"{finding}: there were too few events.", "Fewer --workers, or more LPs.",
                  ("--workers",))


def rounds(run):
    done, wall = run.count("gvt_rounds"), run.count("wall_seconds")
    if not done or run.text("engine") != "timewarp":
        return None
    each = events_a_round(run)
    if each > 200 or choked(run) or uneven(run) or idle(run) or robbed(run):
        return None  # the cause is named already
    return Advice(f"GVT was computed every {seconds(wall / done)}: {plain(round(each))} events per "
                  "worker and round, which is few for the cost of a round.",
                  "A longer --gvt-interval, or more LPs.", ("--gvt-interval",))


def crossing(run):
    crossed, executed = run.count("events_crossed"), run.count("executed_events")
    if crossed < 0.4 * executed:
        return None
    return Advice(f"{percent(min(1, crossed / executed))} of the events went from one worker to "
                  "another.",
                  "Name the links in the model's Setup, so that neighbors share a worker; or number "
                  "LPs so that neighbors have adjacent numbers.")


def remote_pages(run):
    share = run.count("numa.remote_page_share")
    if share < 0.1:
        return None
    finding = f"{percent(share)} of the pages were on a different node than the worker that uses them."
    if run.option("memory") == "libc":
        return Advice(finding, "--memory numa places the pages.", ("--memory",))
    if run.option("pin") == "off":
        return Advice(finding, "--pin on; a worker that changes its core leaves its pages behind.", ("--pin",))
    threads, period = run.count("numa.pagemigd.threads"), run.count("numa.pagemigd.period_seconds")
    if not threads:
        return Advice(finding, "--pagemigd 1@1 moves the pages to this node.", ("--pagemigd",))
    return Advice(finding, f"A faster daemon: --pagemigd {plain(2 * threads)}@{period / 2:.2g}; if "
                  "groups move too often for the daemon, a longer --rebind.", ("--pagemigd", "--rebind"))


def full_nodes(run):
    pages = run.count("numa.pages_no_room")
    if not pages:
        return None
    return Advice(f"{plain(pages)} pages could not move because their node was full.",
                  "Leave room on each node: a smaller --memory-cap, or workers on more nodes.",
                  ("--memory-cap",))


def memory_short(run):
    stops, done = run.count("memory.memory_stops"), run.count("gvt_rounds")
    if not stops or not done:
        return None
    return Advice(f"Memory was short: in {plain(stops)} cases a worker was held back for a GVT round "
                  f"near the cap ({plain(done)} rounds in total).",
                  "A larger --memory-cap if the machine has the memory; else more ranks on more machines, "
                  "or a narrower --window.", ("--memory-cap", "--window"))


def small_batches(run):
    sent, batches = run.count("mpi.bytes_sent"), run.count("mpi.batches_sent")
    if batches < 1000 or sent / batches > 512:
        return None
    events = run.count("mpi.events_sent") / batches
    return Advice(f"Batches to other ranks were small: {size(sent / batches)}, "
                  f"{plain(round(events, 1))} events on average.",
                  "Fewer ranks with more --workers each; links in the model's Setup, so that fewer "
                  "events leave a rank.", ("--workers",))


def credits_used_up(run):
    stops = run.count("mpi.credit_stops")
    if stops < 0.05 * run.count("gvt_rounds") or not stops:
        return None
    return Advice(f"{plain(stops)} times a worker had used up its credit for messages to other ranks and waited "
                  "for GVT: a rank is too slow.",
                  "--net-thread on, with --workers reduced by one; check below which rank is busiest.",
                  ("--net-thread", "--workers"))
