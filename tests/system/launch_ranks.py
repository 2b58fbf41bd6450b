#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command line that `./jobs/run --ranks` builds for each machine and launcher, and checks
that this command line works.

The machines are described here, as folders like /sys, and the launchers are small scripts in PATH:
neither SLURM nor a second node is needed. The effect of a command line on Open MPI is tested on
this machine, on four nodes by tests/guest/test_ranks.py, and on two sockets by
tests/guest/test_sockets.py."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys

from checkouts import path_with
from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs/lib"))
import cores  # noqa: E402
import launch  # noqa: E402

programs = Programs()


def machine(name, nodes, sockets=None, threads=1, allowed=None, memory_nodes=0):
    """A machine, read from a folder like /sys. `nodes`: the number of cores of each node;
    `sockets`: the socket of each node."""
    system = programs.work / name
    core = 0
    total = sum(nodes) * threads
    sockets = sockets or range(len(nodes))

    def write(path, text):
        (system / path).parent.mkdir(parents=True, exist_ok=True)
        (system / path).write_text(f"{text}\n")

    for node, count in enumerate([*nodes, *[0] * memory_nodes]):
        cpus = []
        for _ in range(count):
            siblings = [core + sum(nodes) * t for t in range(threads)]
            for cpu in siblings:
                write(f"cpu/cpu{cpu}/topology/thread_siblings_list", cores.list_text(siblings))
                write(f"cpu/cpu{cpu}/topology/physical_package_id", sockets[node])
            cpus += siblings
            core += 1
        write(f"node/node{node}/cpulist", cores.list_text(sorted(cpus)))
    write("node/online", cores.list_text(range(len(nodes) + memory_nodes)))
    write("cpu/online", cores.list_text(range(total)))
    return cores.this_machine(system, allowed or range(total))


def expect_line(ranks, where, launcher, wanted, notice=""):
    words, said = launch.command_line(ranks, where, launcher, ["phold"])
    programs.expect(shlex.join(words) == wanted and said == notice,
                    f"--ranks {ranks}: {shlex.join(words)} {said and f'({said})'}")


def check_mpirun():
    plain = launch.Launcher()
    two = machine("two", [4, 4], threads=2)
    programs.expect(len(two.cores) == 8 and two.regular
                    and two.parts("node") == [[0, 1, 2, 3, 8, 9, 10, 11],
                                              [4, 5, 6, 7, 12, 13, 14, 15]],
                    "two nodes with four cores of two threads")
    expect_line("numa", two, plain, "mpirun -np 2 --map-by ppr:1:numa --bind-to numa phold")
    expect_line("4", two, plain, "mpirun -np 4 --map-by slot:PE=2 --bind-to core phold")
    expect_line("9", two, plain, "mpirun -np 9 --map-by slot:OVERSUBSCRIBE --bind-to none phold",
                "9 ranks share 8 cores, unbound")
    expect_line("2", two, launch.Launcher(root=True),
                "mpirun --allow-run-as-root -np 2 --map-by slot:PE=4 --bind-to core phold")
    expect_line("3", machine("threes", [3, 3]), plain,
                "mpirun -np 3 --map-by slot:PE=2 --bind-to core phold",
                "a rank spans two NUMA nodes; --ranks numa avoids this")

    clustered = machine("clustered", [2, 2, 2, 2], sockets=[0, 0, 1, 1])
    expect_line("socket", clustered, plain,
                "mpirun -np 2 --map-by ppr:1:socket --bind-to socket phold")
    expect_line("socket", clustered, launch.Launcher(major=5),
                "mpirun -np 2 --map-by ppr:1:package --bind-to package phold")

    # Properties that mpirun does not detect: a node without cores, and an affinity.
    def bound_by_shell(choice):
        return ("mpirun --bind-to none -np 2 sh -c 'case $OMPI_COMM_WORLD_RANK in " + choice
                + ' esac; exec taskset -c "$cpus" "$@"\' sh phold')

    expect_line("numa", machine("tier", [2, 2], memory_nodes=1), plain,
                bound_by_shell("0) cpus=0-1;; 1) cpus=2-3;;"))
    expect_line("2", machine("part", [4, 4], allowed=[1, 2, 3, 6]), plain,
                bound_by_shell("0) cpus=1-2;; 1) cpus=3,6;;"),
                "a rank spans two NUMA nodes; --ranks numa avoids this")


def check_slurm():
    four = machine("four", [4, 4, 4, 4])
    srun = launch.Launcher(srun=True, slurm=True, hosts=3)
    expect_line("numa", four, srun,
                "srun --mpi=pmix --nodes=3 --ntasks=12 --kill-on-bad-exit --ntasks-per-node=4 "
                "--cpus-per-task=4 --cpu-bind=ldoms phold")
    expect_line("6", four, srun,
                "srun --mpi=pmix --nodes=3 --ntasks=6 --kill-on-bad-exit --ntasks-per-node=2 "
                "--cpus-per-task=8 --cpu-bind=cores phold")
    expect_line("60", four, srun,
                "srun --mpi=pmix --nodes=3 --ntasks=60 --kill-on-bad-exit "
                "--overcommit --cpu-bind=none phold",
                "20 ranks share 16 cores, unbound")
    mpirun = launch.Launcher(slurm=True, hosts=3)
    expect_line("numa", four, mpirun,
                "mpirun -np 12 --map-by ppr:1:numa:OVERSUBSCRIBE --bind-to numa phold")
    expect_line("6", four, mpirun,
                "mpirun -np 6 --map-by ppr:2:node:PE=8:OVERSUBSCRIBE --bind-to core phold")


def stand_ins(name, **scripts):
    """A PATH that contains only these scripts, and the programs that numawarp's scripts need."""
    return path_with(programs.work / name, ["bash", "dirname", "basename", "python3", "env"], **scripts)


OPEN_MPI = "echo 'mpirun (Open MPI) 4.1.4'"


def jobs_run(*arguments, path=None, **environment):
    bare = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    if path is not None:
        bare["PATH"] = str(path)
    return subprocess.run([shutil.which("bash"), CHECKOUT / "jobs/run", *arguments], text=True,
                          capture_output=True, env={**bare, **environment}, cwd=CHECKOUT)


def check_choice():
    """The choice of the launcher, depending on the programs that exist."""
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2"}
    speaks = stand_ins("speaks", mpirun=OPEN_MPI, srun="echo 'MPI plugin types are...'; "
                       "echo '\tpmi2'; echo '\tpmix_v4'")
    for what, path, environment, starts in [
            ("no allocation", speaks, {}, "mpirun "),
            ("an allocation, and PMIx", speaks, job, "srun --mpi=pmix --nodes=2 "),
            ("an allocation, no PMIx", stand_ins("mute", mpirun=OPEN_MPI, srun="echo pmi2"), job,
             "mpirun ")]:
        done = jobs_run("--ranks", "numa", "phold", "--print", path=path, **environment)
        programs.expect(done.returncode == 0 and done.stdout.startswith(starts),
                        f"{what}: {done.stdout.strip()} {done.stderr.strip()}")
    done = jobs_run("phold", "--print", path=speaks, **job)
    programs.expect(done.stdout.startswith("srun "), "in an allocation, --ranks numa is the default")
    for what, path in [("nothing", stand_ins("nothing")),
                       ("another MPI", stand_ins("other", mpirun="echo HYDRA build details"))]:
        done = jobs_run("--ranks", "2", "phold", "--print", path=path)
        programs.expect(done.returncode == 4 and len(done.stderr.splitlines()) == 1,
                        f"{what} to start ranks: exit code {done.returncode}: {done.stderr.strip()}")


def check_print_of_one():
    """Tests --print without --ranks. The line for traffic contains the folder to which traffic
    would write."""
    nothing = stand_ins("no launcher", date="echo now")
    for arguments, wanted in [
            (["phold", "--print", "--until", "3", "--json", "a b"],
             r"build/bin/phold --until 3 --json a\ b"),
            (["--print", "traffic"], "build/bin/traffic --output results/traffic-now"),
            (["--print", "traffic", "--output=x"], "build/bin/traffic --output=x"),
            (["--print", "traffic", "--help"], "build/bin/traffic --help"),
            (["--print", "traffic", "--checkpoint", "D/"],
             "build/bin/traffic --checkpoint D/ --output D/output"),
            (["--print", "traffic", "--restart=D", "--checkpoint", "E"],
             "build/bin/traffic --restart=D --checkpoint E --output D/output")]:
        done = jobs_run(*arguments, path=nothing)
        programs.expect((done.returncode, done.stdout) == (0, f"{wanted}\n"),
                        f"{' '.join(arguments)}: {done.stdout.strip()} {done.stderr.strip()}")


def check_bad_values():
    for arguments in (["--ranks", "0", "phold"], ["phold", "--ranks", "nodes"], ["phold", "--ranks"],
                      ["--ranks=", "phold"], ["--ranks", "2"], ["phold", "--ranks", "-1"],
                      ["bench", "--ranks", "2"], ["bench", "--print"], ["--ranks", "1.5", "phold"]):
        done = jobs_run(*arguments)
        programs.expect(done.returncode == 2 and len(done.stderr.splitlines()) == 1
                        and not done.stdout,
                        f"{' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}")


def launched(*arguments):
    return [sys.executable, CHECKOUT / "jobs/lib/launch.py", *map(str, arguments)]


def check_runs():
    """Tests runs on this machine. Bound and oversubscribed ranks have the same digest. The exit code
    is that of the model, after an invalid option and after Ctrl-C."""
    stats = programs.work / "stats.json"
    model = [programs.bin / "phold", "--until", 30, "--quiet"]
    digests = set()
    cores_here = len(cores.this_machine().cores)
    for ranks in ("1", "numa", "socket", min(2, cores_here), cores_here + 1):
        done = subprocess.run(launched(ranks, *model, "--lps-per-group", 16, "--stats", stats),
                              capture_output=True, text=True, timeout=120)
        facts = json.loads(stats.read_text()) if done.returncode == 0 else {}
        stats.unlink(missing_ok=True)
        digests.add(facts.get("digest"))
        programs.expect(done.returncode == 0 and (str(ranks) in ("numa", "socket")
                                                  or facts.get("ranks") == int(ranks)),
                        f"{ranks} ranks: {facts.get('ranks')} x {facts.get('workers')} "
                        f"{done.stderr.strip()}")
    programs.expect(len(digests) == 1 and None not in digests, f"one digest: {digests}")

    done = subprocess.run(launched(2, programs.bin / "phold", "--until", "soon"),
                          capture_output=True, text=True, timeout=60)
    programs.expect(done.returncode == 2, f"a wrong option: exit code {done.returncode}")

    with subprocess.Popen(launched(2, programs.bin / "phold", "--until", 1e12, "--progress", "on"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        for line in running.stderr:  # mpirun may print any text before the first line of progress
            if line.startswith("numawarp: at "):
                break
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=60)
        programs.expect(running.returncode == 130 and "interrupted by SIGINT" in said,
                        f"Ctrl-C: exit code {running.returncode}: {said[:40]}")


check_mpirun()
check_slurm()
check_choice()
check_print_of_one()
check_bad_values()
if shutil.which("mpirun") is None:
    print("not run: there is no mpirun here (Debian: openmpi-bin)")
else:
    check_runs()
programs.leave()
