"""What the runs of a series come to: medians, spreads and speed-ups. No files, no pictures."""

import statistics

from machine import one_node_notice


def spread(values):
    """Median, least and most; None where there is nothing."""
    values = list(values)
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "runs": len(values)}


def speed_up(records, before, after):
    """Of `after` over `before`, from runs of the same round: what slows the machine down for a
    while slows both."""
    slow, fast = records.of(before), records.of(after)
    return spread(slow[run] / fast[run] for run in sorted(slow.keys() & fast.keys()))


def figure_6(plan, records):
    groups = []
    for variant in plan.balanced():
        if not groups or groups[-1]["workload"] != variant.workload.name:
            groups.append({"workload": variant.workload.name,
                           "inter_arrival": variant.workload.inter_arrival, "variants": []})
            base = {}
        kind = "numa with daemons" if variant.daemons else variant.name
        base[kind] = variant
        gains = {f"over {name}": speed_up(records, base[name], variant)
                 for name in ("sequential", "libc", "numa") if name in base and name != kind}
        groups[-1]["variants"].append({"kind": kind, "variant": variant.name,
                                       "seconds": spread(records.of(variant).values()),
                                       "efficiency": spread(records.of(variant, "efficiency")
                                                            .values()), "speed_up": gains})
    return groups


SURFACES = {7: "sequential", 8: "numa", 9: "libc"}


def figures_7_to_9(plan, records):
    """Figure number -> daemons -> period -> speed-up; and the seconds of every variant."""
    variants = {variant.name: variant for variant in plan.unbalanced()}
    grid = [variant for variant in variants.values() if variant.daemons]
    figures = {}
    for number, base in SURFACES.items():
        figures[number] = {daemons: {} for daemons in plan.daemons}
        for variant in grid:
            figures[number][variant.daemons][variant.period] = speed_up(records, variants[base],
                                                                        variant)
    details = [{"variant": variant.name,
                "seconds": spread(records.of(variant).values()),
                **{name: spread(records.of(variant, name).values())
                   for name in ("efficiency", "groups_moved", "pages_moved", "remote_page_share")}}
               for variant in variants.values()]
    return figures, details


def short_runs(plan, records):
    """Variants whose daemons woke up less than five times in a run."""
    return [variant for variant in plan.variants() if variant.daemons and records.of(variant)
            and statistics.median(records.of(variant).values()) < 5 * variant.period]


def warnings(plan, records):
    """What a reader must know before the figures are believed; one sentence each."""
    found = [one_node_notice(plan.machine)]
    missing = sum(not records.has(variant, run) for run, variant in plan.schedule())
    failed = sum(row["exit_code"] != "0" for row in records.rows())
    if missing:
        found.append(f"The series is not complete: runs missing: {missing}, of these failed: "
                     f"{failed}.")
    if plan.quick:
        found.append("A --quick series shows that everything works, and nothing about speed.")
    short = short_runs(plan, records)
    if short and not plan.quick:
        names = ", ".join(sorted({variant.name for variant in short}))
        found.append(f"Runs were too short for these daemons, which woke up less than five times: "
                     f"{names}. A larger --until helps.")
    if plan.machine["nodes"] > 1 and plan.machine["kernel_numa_balancing"] not in ("0", "unknown"):
        found.append("The kernel's own NUMA balancing was on and moves pages, too: `sysctl "
                     "kernel.numa_balancing=0` before such a series.")
    busy = sum(float(row["load_before"]) > 1.5 * plan.workers for row in records.good())
    if busy:
        found.append(f"Before {busy} runs the load of the machine was above 1.5 a core: something "
                     "else was running.")
    return [text for text in found if text]


def summary(plan, records, date):
    result = {"schema": "numawarp.paper-numa/1", "date": date, "machine": plan.machine,
              "settings": {name: getattr(plan, name)
                           for name in ("workers", "seed", "runs", "quick", "experiments", "until",
                                        "rebind", "daemons", "periods", "balanced_daemons",
                                        "balanced_period")},
              "warnings": warnings(plan, records),
              "digests": {row["workload"]: row["digest"] for row in records.good()}}
    if "balanced" in plan.experiments:
        result["figure_6"] = figure_6(plan, records)
    if "unbalanced" in plan.experiments:
        figures, details = figures_7_to_9(plan, records)
        result |= {f"figure_{number}": surface for number, surface in figures.items()}
        result["unbalanced"] = details
    return result
