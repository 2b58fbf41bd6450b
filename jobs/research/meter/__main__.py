# SPDX-License-Identifier: Apache-2.0
"""./jobs/run meter: boots the guest with the plug-in, and prints the counts of the plug-in."""

import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "jobs"), str(ROOT / "tests/guest")]
import boot  # noqa: E402
import images  # noqa: E402
import run as guest  # noqa: E402
from research.meter import counts, page, table  # noqa: E402
from research.meter.arguments import arguments  # noqa: E402
from research.meter.estimate import Estimate  # noqa: E402
from research.meter.presets import MACHINES  # noqa: E402
from research.qemu import plugin_job  # noqa: E402


def plugin(given, out):
    return plugin_job.option(given.programs / "meter_plugin.so", given.topology, [
        f"out={out}", *([f"period={round(given.period * 1000)}"] if given.period else []),
        *MACHINES[given.caches].arguments()])


def main():
    given = arguments()
    file = given.json or ROOT / f"results/meter-{time.strftime('%Y-%m-%d-%H%M%S')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numawarp-meter-") as work:
        job = plugin_job.job(given, plugin(given, f"{work}/counts"))
        code = boot.run(images.provide(), given.topology, job)
        if not Path(work, "counts").exists():
            print("numawarp meter: no counts, because QEMU ended before it had written them", file=sys.stderr)
            return code or boot.CRASHED
        machine = MACHINES[given.caches]
        periods = counts.read(f"{work}/counts", plugin_job.node_of_cpus(given.topology), len(machine.caches))
    counted = counts.together(periods)
    estimate = Estimate(counted, machine, given.memory)
    file.write_text(json.dumps({
        "format": "numawarp meter 1", "command": given.command, "caches": given.caches,
        "nodes": [{"cpus": node.cpus, "mib": node.mib} for node in given.topology.nodes],
        "distances": given.topology.distances, "exit_code": code, "estimate": estimate.fields(),
        **counted.fields(),
        **({"period_seconds": given.period, "periods": [one.fields() for one in periods]} if given.period else {})})
        + "\n")
    series = table.lines_of_periods(periods, given.period) if given.period else []
    print("\n".join([*table.lines_of(counted), *series, *estimate.lines()]), file=sys.stderr)
    if given.against:
        other = Estimate(given.against, machine, given.memory)
        print(estimate.line_against(other), file=sys.stderr)
    print(f"results  {file}", file=sys.stderr)
    if given.report:
        file.with_suffix(".html").write_text(page.page_of(counted, estimate, given.command, given.topology_name,
                                                          given.caches), encoding="utf-8")
        print(f"page     {file.with_suffix('.html')}", file=sys.stderr)
    return code


if __name__ == "__main__":
    guest.end_with("meter", main)
