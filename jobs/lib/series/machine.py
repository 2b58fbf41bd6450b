# SPDX-License-Identifier: Apache-2.0
"""Facts about this machine that a reader of a figure needs."""

import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path

NODES = Path("/sys/devices/system/node")


class ProgramFailed(Exception):
    """A program ended with an exit code other than 0; text is its last line."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def text_of(path, otherwise=""):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return otherwise


def cpu_model():
    for line in text_of("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return " ".join(value.split())
    return platform.machine()


def last_line(errors):
    return (errors.splitlines() or ["no message"])[-1]


def engine_facts(program):
    """Facts that the engine reports in a run of one unit of virtual time: the number of workers
    (one per core that it may use), the number of their nodes, and the commit."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats = Path(folder) / "stats.json"
        done = subprocess.run([program, "--until", "1", "--quiet", "--stats", stats], text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise ProgramFailed(done.returncode, last_line(done.stderr))
        facts = json.loads(stats.read_text())
    return {"cores": facts["workers"], "nodes": facts["numa"]["nodes"], "commit": facts["commit"]}


def machine_facts(program):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    nodes = sorted(NODES.glob("node[0-9]*"), key=lambda node: int(node.name[4:]))
    return {"cpu": cpu_model(), **engine_facts(program), "memory_gib": round(memory / 2**30, 1),
            "kernel": f"{platform.system()} {platform.release()}",
            "node_distances": [text_of(node / "distance") for node in nodes],
            "kernel_numa_balancing": text_of("/proc/sys/kernel/numa_balancing", "unknown"),
            "transparent_huge_pages": text_of("/sys/kernel/mm/transparent_hugepage/enabled",
                                              "unknown")}


def one_line(machine, date):
    nodes = machine["nodes"]
    return (f"{machine['cpu']}, {machine['cores']} cores on {nodes} NUMA node{'s' * (nodes != 1)}, "
            f"{machine['kernel']}, numawarp {machine['commit']}, {date}")


def paragraph(machine, date):
    return (f"Machine: {one_line(machine, date)}; {machine['memory_gib']} GiB of memory; transparent "
            f"huge pages {machine['transparent_huge_pages']}.")
