# SPDX-License-Identifier: Apache-2.0
"""./jobs/run timed: boots the guest with the plug-in, and prints what the model has counted."""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "jobs"), str(ROOT / "tests/guest")]
import boot  # noqa: E402
import images  # noqa: E402
import run as guest  # noqa: E402
from research.meter.presets import MACHINES as CORES  # noqa: E402
from research.qemu import plugin_job  # noqa: E402
from research.timed import results  # noqa: E402
from research.timed.arguments import arguments  # noqa: E402
from research.timed.version import check_version  # noqa: E402

BOOT_SECONDS_MAX = 590  # of this machine's time; usually 10


def joined(values, factor=1):
    return ":".join(str(round(value * factor)) for value in values)


def flat(rows):
    return [value for row in rows for value in row]


def plugin(given, out):
    cores, machine = CORES[given.caches], given.machine
    return plugin_job.option(given.programs / "timed_plugin.so", given.topology, [
        f"out={out}", *cores.arguments(), "hit=" + joined(cores.hit_ns, 1000), f"walk={round(cores.walk_ns * 1000)}",
        "latency=" + joined(flat(machine.latency_ns), 1000 * given.latency_factor),
        "link=" + joined(flat(machine.link)), "bandwidth=" + joined(machine.bandwidth),
        f"overlap={given.overlap}", f"skew={round(given.skew * 1000)}",
        f"instruction={round((given.instruction or cores.instruction_ns) * 1000)}"])


def main():
    given = arguments()
    file = given.json or ROOT / f"results/timed-{time.strftime('%Y-%m-%d-%H%M%S')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numawarp-timed-") as work:
        job = plugin_job.job(given, plugin(given, f"{work}/counts"))
        job.preload = given.programs / "timed_plugin.so"
        job.watchdogs = True
        job.boot_seconds = BOOT_SECONDS_MAX
        found_images = images.provide()
        check_version(found_images.qemu)
        begun = time.monotonic()
        code = boot.run(found_images, given.topology, job)
        if not Path(work, "counts").exists():
            if code != boot.UNUSABLE:
                print("numawarp timed: no counts, because QEMU ended before it had written them", file=sys.stderr)
            return code or boot.CRASHED
        found = results.read(f"{work}/counts")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = CORES[given.caches]
    file.write_text(json.dumps({
        "format": "numawarp timed 1", "note": "all times are modeled, except real_seconds and cpu_seconds",
        "command": given.command, "caches": given.caches, "machine": given.machine_name,
        "instruction_ns": given.instruction or cores.instruction_ns, "hit_ns": cores.hit_ns, "walk_ns": cores.walk_ns,
        "sources": given.machine.sources, "latency_ns": given.machine.latency_ns, "link": given.machine.link,
        "bandwidth": given.machine.bandwidth, "skew_ns": given.skew, "overlap": given.overlap,
        "latency_factor": given.latency_factor,
        "nodes": [{"cpus": node.cpus, "mib": node.mib} for node in given.topology.nodes], "exit_code": code,
        "real_seconds": time.monotonic() - begun, "cpu_seconds": used.ru_utime + used.ru_stime,
        **found.fields()}) + "\n")
    print("\n".join([*found.lines(), f"results  {file}"]), file=sys.stderr)
    return code


if __name__ == "__main__":
    guest.end_with("timed", main)
