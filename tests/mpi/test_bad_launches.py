#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches that cannot work end before the run, on all ranks, with one line that gives the reason.
Calls that need no ranks work even if MPI is broken."""

import subprocess

from ranks import MPI_ENVIRONMENT, Ranks

ranks = Ranks()


def refused(name, code, fragments, *parts):
    ended = ranks.launch(*parts)
    ranks.expect(ended.exit_code == code and len(ended.ours) == 1 and not ended.stdout
                 and all(fragment in ended.ours[0] for fragment in fragments),
                 f"{name}: exit code {ended.exit_code}: {ended.ours}")


def script(name, text):
    path = ranks.work / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# No file has been written before the refusal.
refused("more ranks than groups", 2, ["4 ranks", "2 groups", "at most 2"],
        ranks.part(4, "phold", "--lps", 2, "--output", "never/out", "--checkpoint", "never/saved",
                   "--stats", "never.json"))
ranks.expect(not list(ranks.work.glob("never*")), "a refused run leaves no folder and no file")
refused("not for several ranks", 2, ["--engine sequential: must be conservative, timewarp or auto"],
        ranks.part(2, "phold", "--engine", "sequential"))
refused("not for this engine", 2, ["--trace there: needs --engine timewarp"],
        ranks.part(3, "phold", "--engine", "conservative", "--trace", "there"))
refused("wrong on all ranks", 2, ["numawarp: --workers 0: "],
        ranks.part(2, "phold", "--workers", 0))
refused("wrong on one rank", 2, ["numawarp: rank 2: ", "--workers 0"],
        ranks.part(2, "phold"), ranks.part(1, "phold", "--workers", 0))

# Options that must be equal on all ranks.
refused("two seeds", 2, ["rank 1 has --seed 2", "rank 0 has 1"],
        ranks.part(1, "phold", "--seed", 1), ranks.part(1, "phold", "--seed", 2))
refused("an option of the engine", 2, ["rank 2 has --gvt-interval 5"],
        ranks.part(2, "phold"), ranks.part(1, "phold", "--gvt-interval", 5))
refused("an option of the model", 2, ["rank 1 has --remote 0.5"],
        ranks.part(1, "phold"), ranks.part(2, "phold", "--remote", 0.5))
refused("two models", 2, ["rank 1 has program"], ranks.part(1, "phold"), ranks.part(1, "queues"))
refused("help for one rank", 2, ["rank 1 has --help no", "rank 0 has yes"],
        ranks.part(1, "phold", "--help"), ranks.part(1, "phold"))
refused("output of one rank", 2, ["rank 1 has --output yes", "rank 0 has no"],
        ranks.part(1, "phold"), ranks.part(1, "phold", "--output", "out"))
other = ranks.work / "phold"
other.write_bytes((ranks.bin / "phold").read_bytes() + b"another build")
other.chmod(0o755)
refused("two builds of a model", 2, ["rank 1 has program"],
        ranks.part(1, "phold"), ["-np", 1, other])

# Machines that differ. If MPI provides a higher thread level than requested, nothing is reported.
def on_other_machine(which, setting):
    return ["-np", 2, script(f"other_machine_{which}",
                             f'case $OMPI_COMM_WORLD_RANK in {which}) export {setting} '
                             f'LD_PRELOAD={ranks.bin}/other_machine.so;; esac\n'
                             f'exec {ranks.bin}/phold --until 1')]


for which, says in [("1", "numawarp: rank 1: "), ("*", "numawarp: this MPI ")]:
    refused(f"a thread level, rank {which}", 4, [says, "MPI_THREAD_SERIALIZED"],
            *[on_other_machine(which, "NUMAWARP_TEST_THREAD_LEVEL=funneled")])
for which, says in [("1", "numawarp: rank 1: "), ("*", "numawarp: this kernel ")]:
    refused(f"pages of the kernel, rank {which}", 4, [says, "pages of 65536 bytes"],
            *[on_other_machine(which, "NUMAWARP_TEST_PAGE_BYTES=65536")])

# The places of all workers are printed before the run.
ended = ranks.launch(ranks.part(2, "phold", "--until", 1, "--workers", 2, "--verbose"))
ranks.expect(ended.exit_code == 0 and len(ended.ours) == 2
             and all(line.startswith(f"numawarp: rank {r}") and ": 2 workers, (core, node): (" in line
                     for r, line in enumerate(ended.ours)),
             f"--verbose: {ended.ours}")

# A folder that one rank cannot create.
(ranks.work / "file").touch()
folder_by_rank = script("folder_by_rank", 'case $OMPI_COMM_WORLD_RANK in 1) folder=file/out;; '
                        f'*) folder=out;; esac\nexec {ranks.bin}/phold --output $folder')
refused("no folder on one rank", 2, ["numawarp: rank 1: ", "--output file/out"],
        ["-np", 3, folder_by_rank])

# Text that does not depend on ranks is printed once.
for option, word in [("--help", "Usage"), ("--version", "phold")]:
    ended = ranks.launch(ranks.part(3, "phold", option))
    ranks.expect(ended.exit_code == 0 and ended.stdout.count(word) == 1 and not ended.ours,
                 f"{option} on 3 ranks: exit code {ended.exit_code}, once")

# Without a launcher MPI is not started, so an MPI that cannot start does no harm.
MPI_ENVIRONMENT["OMPI_MCA_pml"] = "there_is_no_such_thing"
ended = ranks.launch(ranks.part(1, "phold", "--until", 1))
ranks.expect(ended.exit_code != 0, f"with a launcher, a broken MPI is an error: {ended.exit_code}")
plain = subprocess.run([ranks.bin / "phold", "--until", "1", "--quiet"], env=MPI_ENVIRONMENT,
                       capture_output=True, text=True, timeout=60)
ranks.expect(plain.returncode == 0 and not plain.stderr, "without a launcher, MPI is not used")

ranks.leave()
