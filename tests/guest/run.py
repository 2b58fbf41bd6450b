#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a Linux with several NUMA nodes: a QEMU guest on this machine's own file tree.

Output, errors and exit code are those of the command. The tree is read-only. /tmp, /run and
/dev/shm are separate and empty in the guest, but /tmp contains the working folder and the folders
of --rw and --ro if they are below /tmp. The guest is emulated. Therefore it is slow, and its speed
is not meaningful.

Exit codes: the command's (128 + n for signal n); 124 the command did not end in time; 125 the guest
crashed; 77 no guest can run on this machine, for the printed reason; 2 wrong option.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "jobs")]
import boot  # noqa: E402
import images  # noqa: E402
import topology  # noqa: E402
from lib import arguments  # noqa: E402


class Parser(arguments.Parser):
    """The command line of a job that runs in a guest."""

    def __init__(self, job, description, timeout=300):
        self._timeout = timeout
        super().__init__(job, description=description,
                         usage=f"./jobs/run {job} TOPOLOGY [OPTION...] -- COMMAND...",
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self._add_options()

    def _add_options(self):
        add = self.add_argument
        add("topology", metavar="TOPOLOGY",
            help=f"{', '.join(topology.PRESETS)}; or nodes CPUS:MEM,... as in 2:1G,0:512M")
        add("--dist", metavar="ROWS", help="distances, as in '10,20;20,10'")
        add("--sockets", metavar="N",
            help="number of sockets, with the same number of cores on each (as many as possible)")
        add("--rw", metavar="DIR", type=folder, action="append", default=[],
            help="a folder that the command may write to")
        add("--ro", metavar="DIR", type=folder, action="append", default=[],
            help="a folder below /tmp that the command may read")
        add("--env", metavar="NAME=VALUE", type=setting, action="append", default=[],
            help="a variable of the command's environment, which is empty by default")
        add("--sysctl", metavar="NAME=VALUE", type=setting, action="append", default=[],
            help="a setting of the guest's kernel, as in vm.nr_hugepages=8")
        add("--timeout", metavar="SECONDS", type=float, default=self._timeout,
            help=f"time limit of the command, without the boot ({self._timeout})")
        add("--verbose", action="store_true", help="show QEMU's command and failed boots")

    def parse_words(self, words):
        """The options, with `topology` and `command`. All words after the first `--` belong to the
        command, even if they look like options."""
        ours = words[:words.index("--")] if "--" in words else words
        given = self.parse_args(ours)
        given.command = words[len(ours) + 1:]
        if not given.command:
            self.error(f"the command is missing; it must follow --, as in `{self.job} n4 -- numactl --hardware`")
        given.topology_name = given.topology
        try:
            given.topology = topology.parse(given.topology, given.dist, given.sockets)
        except ValueError as error:
            self.error(str(error))
        return given


def setting(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: NAME=VALUE")
    return name, value


def folder(text):
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is not a folder")
    return path


def below_tmp(path):
    return Path("/tmp") in path.parents


def job_of(given):
    """The job that the options describe, in the working folder."""
    here = Path.cwd()
    return boot.Job(command=given.command, folder=here, writable=given.rw,
                    visible=[path for path in (here, *given.ro) if below_tmp(path)],
                    environment=dict(given.env), sysctls=dict(given.sysctl), timeout=given.timeout,
                    verbose=given.verbose)


def main():
    parser = Parser("guest", __doc__)
    parser.add_argument("--accel", choices=boot.ACCELERATORS, default="single",
                        help="emulate all cores in one thread, or each core in its own thread (single)")
    given = parser.parse_words(sys.argv[1:])
    job = job_of(given)
    job.accelerator = given.accel
    return boot.run(images.provide(), given.topology, job)


def end_with(job, main):
    """Ends this process with the exit code of main(), or with the exit code of its failure."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except images.Unavailable as reason:
        print(f"numawarp {job}: {reason}", file=sys.stderr)
        sys.exit(77)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of the output has ended.
        os._exit(141)


if __name__ == "__main__":
    end_with("guest", main)
