# SPDX-License-Identifier: Apache-2.0
"""Measures the effect of placement on the local share of accesses to memory. One part compares
`--memory numa` with `--memory libc`. The other part shows the share over time after half of the
groups have changed their worker, with and without pagemigd. The results are for a page in
docs/results and for the test guest_meter_shares.

usage: shares.py PROGRAMS PAGE.md
"""

import datetime
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from lib.number_text import plain  # noqa: E402
from lib.series.machine import machine_facts, one_line  # noqa: E402
from research.qemu.call import UNAVAILABLE, called  # noqa: E402
from research.meter.counts import KINDS, Counts  # noqa: E402
from research.series.page import table  # noqa: E402

TOPOLOGIES = ("n4", "n8")
# PHOLD's states are larger than the caches of all nodes together.
PHOLD = ("phold", "--lps", 8192, "--remote", 0.25, "--state", 4096, "--touch", 4096, "--window", 1)
MODELS = {"traffic, 1024 objects": ("traffic", "--objects", 1024, "--until", 300),
          "PHOLD, 25 % remote": (*PHOLD, "--until", 3)}
# Half of the groups move once; the run ends before the next move.
REBIND_SECONDS, PERIOD_SECONDS = 24, 3
PERIODS_AFTER, TRIES_MAX = 5, 3
MOVED = (*PHOLD, "--until", 1e6, "--rebind", REBIND_SECONDS, "--check-rebind", 0.5)
DAEMONS = ("1@1", "off")


class NoGuest(Exception):
    """There is no guest, or the guest cannot make these counts; the text is the reason."""


def measured(programs, topology, words, options=(), before=()):
    """The meter's JSON."""
    command = [*before, Path(programs) / words[0], *words[1:], "--engine", "timewarp", "--workers", 8, "--quiet"]
    found, done = called("meter", programs, topology, command, options)
    if done.returncode == UNAVAILABLE:
        raise NoGuest(done.stderr.strip())
    if found is None or done.returncode not in (0, 130):
        sys.exit(f"{topology}, {command}: exit code {done.returncode}: {done.stderr}")
    return found


@dataclass
class Share:
    """Counts of the event loop; all except `local` are per committed event."""

    topology: str
    model: str
    memory: str
    local: float
    accesses: float
    remote_by_kind: dict
    passed_by_kind: dict

    @property
    def without_mail(self):
        """The local share of all accesses except those to mail."""
        remote = sum(number for kind, number in self.remote_by_kind.items() if kind != "mail")
        mail = self.remote_by_kind["mail"]
        return 1 - remote / (self.accesses - mail)


def share(programs, topology, model, memory):
    found = measured(programs, topology, (*MODELS[model], "--memory", memory, "--rebind", "off"))
    loop = Counts(found).of_loop()
    if loop.committed is None:
        raise NoGuest("QEMU before 9.0 does not give the number of events to a plug-in")
    remote = {kind: loop.sum("memory", kind=kind) - loop.sum_local("memory", kind=kind) for kind in KINDS}
    return Share(topology, model, memory, loop.local_share(), loop.sum("memory") / loop.committed,
                 {kind: number / loop.committed for kind, number in remote.items()},
                 {kind: loop.sum("passed", kind=kind) / loop.committed for kind in KINDS})


def series(programs, topology, daemon):
    """[(groups moved, local share)] for each complete period. On a busy host the guest is slow, and
    the run may end too early. In this case the run is repeated."""
    # Set-up takes some seconds before the first period.
    stop = ("timeout", "--preserve-status", "-s", "INT", 2 * REBIND_SECONDS + 2)
    for _ in range(TRIES_MAX):
        found = measured(programs, topology, (*MOVED, "--pagemigd", daemon), ("--period", PERIOD_SECONDS), stop)
        periods = [Counts(fields).of_loop() for fields in found["periods"][:-1]]
        run = [(one.groups_moved, one.local_share()) for one in periods]
        if len(around_move(run)[1]) >= PERIODS_AFTER:
            break
    return run


def around_move(run):
    """The local shares in the periods before and after the period in which groups moved. Periods
    without accesses, which occur on a busy host, are left out."""
    moved = next((i for i, (groups, _) in enumerate(run) if groups), len(run))
    return tuple([share for _, share in part if share is not None] for part in (run[:moved], run[moved + 1:]))


# --- The page ----------------------------------------------------------------------------------

def parts(numbers, scale, form):
    """The four largest numbers with their names, without those below a hundredth of the total."""
    total = sum(numbers.values())
    shown = sorted(((number, kind) for kind, number in numbers.items() if number > 0.01 * total), reverse=True)
    return ", ".join(f"{kind} {form(number * scale)}" for number, kind in shown[:4]) or "none"


def page(shares, runs, machine):
    lines = ["# Where accesses to memory go", "",
             f"Counted by [the meter](../how-to/meter.md) in an emulated machine with 8 cores on 4 nodes (n4) or 8 "
             f"(n8), with a model of the caches of an Opteron 6128. Host: {one_line(machine, datetime.date.today())}. "
             "One run of each; made by `jobs/research/meter/shares.py`.", "",
             "## Placement", "",
             "Accesses to lines that no cache of the node has, in the event loop, on 8 workers, without rebinding. "
             "*Passed* accesses are to lines that another node wrote last and has in its caches; the placement of pages "
             "does not change them.", "",
             *table(["", "memory", "local", "to memory, per event", "remote, per event, by kind",
                     "passed, per event, by kind"],
                    [[f"{one.model}, {one.topology}", one.memory, f"{100 * one.local:.1f} %",
                      plain(round(one.accesses, 2)), parts(one.remote_by_kind, 1, lambda n: plain(round(n, 3))),
                      parts(one.passed_by_kind, 1, lambda n: plain(round(n, 3)))] for one in shares]),
             "## After half of the groups have changed their worker", "",
             f"PHOLD, 25 % remote; after {REBIND_SECONDS} s of the event loop half of the groups, chosen at random, "
             "change to another worker. Local share of accesses to memory in each interval of "
             f"{PERIOD_SECONDS} s, with the page-migration daemon (once per second) and without it; in "
             "brackets the number of groups that moved.", ""]
    head = [f"{topology}, {'pagemigd ' + daemon if daemon != 'off' else 'no pagemigd'}" for topology, daemon in runs]
    length = min(len(run) for run in runs.values())
    lines += table(["seconds", *head],
                   [[f"{i * PERIOD_SECONDS} to {(i + 1) * PERIOD_SECONDS}",
                     *(cell(*run[i]) for run in runs.values())] for i in range(length)])
    return "\n".join(lines)


def cell(moved, local):
    return ("–" if local is None else f"{100 * local:.1f} %") + (f" ({moved})" if moved else "")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    programs, file = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    try:
        shares = [share(programs, topology, model, memory)
                  for model in MODELS for topology in TOPOLOGIES for memory in ("numa", "libc")]
        runs = {(topology, daemon): series(programs, topology, daemon)
                for topology in TOPOLOGIES for daemon in DAEMONS}
    except NoGuest as reason:
        print(reason, file=sys.stderr)
        sys.exit(UNAVAILABLE)
    file.write_text(page(shares, runs, machine_facts(programs / "phold")))


if __name__ == "__main__":
    main()
