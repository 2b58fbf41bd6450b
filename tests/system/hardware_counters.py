#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --hardware-counters on every engine. Each figure is present or named in a notice, the value
per event is the figure divided by the number of events, and nothing is counted without the option.
The kernel's own counters, CPU time and page faults, exist on every machine whose kernel allows
counting."""

from programs import Programs

programs = Programs()
ENGINES = {"sequential": [], "conservative": ["--workers", 2], "timewarp": ["--workers", 2],
           "auto": ["--workers", 2]}

for engine, options in ENGINES.items():
    phold = ["phold", "--lps", 256, "--until", 50, "--engine", engine, *options]
    stats = programs.statistics_of(*phold, "--hardware-counters")
    counted = dict(stats["hardware"])
    an_event = counted.pop("an_event")
    notice = " ".join(text for text in stats["notices"] if "--hardware-counters" in text)
    programs.expect(len(counted) == 9 and counted.keys() == an_event.keys(),
                    f"{engine}: {len(counted)} figures")
    for name, number in counted.items():
        programs.expect((number is None) == (name in notice),
                        f"    {name}: {number} ({'in a notice' if name in notice else 'counted'})")
        wanted = None if number is None else number / stats["committed_events"]
        programs.expect(an_event[name] == wanted, f"        per event: {an_event[name]}")
    programs.expect((counted["cpu_ns"] or 0) > 0 or "perf_event_paranoid" in notice,
                    f"    CPU time: {counted['cpu_ns']} ns")

    plain = programs.statistics_of(*phold)
    programs.expect(plain["digest"] == stats["digest"], "    the same digest without the option")
    programs.expect(set(plain["hardware"].pop("an_event").values()) == {None}
                    and set(plain["hardware"].values()) == {None}
                    and not any("--hardware-counters" in text for text in plain["notices"]),
                    "    without the option nothing is counted or reported")

programs.leave()
