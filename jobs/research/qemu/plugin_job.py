# SPDX-License-Identifier: Apache-2.0
"""Parts of the jobs that run a command in a guest whose QEMU has loaded a plug-in. The job finds the
modules of tests/guest in sys.path."""

import run as guest


def check_size(parser, given, nodes_max, cpus_max):
    """Refuses a topology that exceeds the limits of a plug-in."""
    nodes = given.topology.nodes
    cpus = sum(node.cpus for node in nodes)
    if len(nodes) > nodes_max or cpus > cpus_max:
        parser.error(f"topology '{given.topology_name}' has {len(nodes)} nodes and {cpus} CPUs; allowed: up to "
                     f"{nodes_max} and {cpus_max}")


def node_of_cpus(topology):
    return [number for number, node in enumerate(topology.nodes) for _ in range(node.cpus)]


def option(file, topology, words):
    """The plug-in `file` and its arguments for QEMU's option -plugin: the topology, then `words`, which
    may depend on the topology. Commas separate the arguments, so a comma in an argument is doubled."""
    words = [str(file), "memory=" + ":".join(str(node.mib << 20) for node in topology.nodes),
             "cpus=" + ":".join(map(str, node_of_cpus(topology))), *words]
    return ",".join(word.replace(",", ",,") for word in words)


def job(given, plugin):
    """The guest's job for the command. The command starts the counts of the plug-in."""
    made = guest.job_of(given)
    made.command = [str(given.programs / "meter_begin"), *given.command]
    made.visible += [given.programs] if guest.below_tmp(given.programs) else []
    made.accelerator = "multi"
    made.plugin = plugin
    return made
