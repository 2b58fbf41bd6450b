#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run slurm` without SLURM: the job that the command would submit (with --print, and
with a stand-in script for sbatch), the input that the command refuses, and the text of the job
scripts. tests/hosts runs the scripts on a real SLURM."""

import os
import re
import shutil
import subprocess

from checkouts import path_with, write_script
from programs import CHECKOUT, Programs

programs = Programs()
SCRIPTS = sorted((CHECKOUT / "jobs/slurm").iterdir())
NAMES = [script.stem for script in SCRIPTS]
TOOLS = ["bash", "dirname", "basename", "cat", "grep", "head", "realpath", "sed", "xargs"]


def stand_ins(name, **says):
    """A PATH that contains only these scripts and the tools of ./jobs/run. Each script records its
    calls."""
    folder = programs.work / name
    return path_with(folder, TOOLS, **{
        tool: f'echo "$PWD: {tool} $*" >>{folder}/calls\necho "{words}"' for tool, words in says.items()})


def jobs_run(*arguments, path, folder=CHECKOUT):
    return subprocess.run([shutil.which("bash"), CHECKOUT / "jobs/run", "slurm", *arguments], text=True,
                          capture_output=True, env={**os.environ, "PATH": str(path)}, cwd=folder)


def check_texts():
    programs.expect(NAMES == ["long-run", "node", "nodes", "numa-node", "replicate", "sweep"], f"scripts {NAMES}")
    shellcheck = shutil.which("shellcheck")
    for script in SCRIPTS:
        syntax = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
        found = shellcheck and subprocess.run([shellcheck, script], capture_output=True, text=True)
        programs.expect(syntax.returncode == 0 and not (found and found.stdout),
                        f"{script.name}: bash{' and shellcheck' * bool(found)} {syntax.stderr}"
                        f"{found.stdout if found else ''}")
        text = script.read_text().replace("\\\n", "")
        starts = re.findall(r"srun .*?--ntasks.*?(?=\)|\"\$1\")", text, re.DOTALL)
        programs.expect(starts and all(
            all(word in start for word in ("--mpi=", "--kill-on-bad-exit", "--cpu-bind=",
                                           "--mem-bind=", "--cpus-per-task="))
            for start in starts), f"{script.name}: srun binds ranks, and ends all ranks if one fails")


def check_print():
    nothing = stand_ins("nothing")
    for script in SCRIPTS:
        done = jobs_run(script.stem, "--nodes=1", "phold", "--until", "3", "--print", path=nothing)
        programs.expect(
            done.returncode == 0 and done.stdout.startswith(script.read_text())
            and done.stdout.endswith(f"sbatch --parsable --nodes=1 jobs/slurm/{script.name} phold "
                                     "--until 3\n"),
            f"{script.stem} --print: {done.stdout.splitlines()[-1:]} {done.stderr.strip()}")
    done = jobs_run("node", "--print", path=nothing)
    programs.expect(done.stdout.endswith(" jobs/slurm/node.sbatch\n"), "without a model the script's model is used")
    done = jobs_run("node", path=nothing)
    programs.expect(done.returncode == 4 and "no sbatch" in done.stderr
                    and len(done.stderr.splitlines()) == 1, f"no sbatch: {done.stderr.strip()}")


def check_submission():
    here = stand_ins("here", sbatch="17;cluster", scontrol="   StdOut=/somewhere/mine-17.out")
    own = programs.work / "mine.sbatch"
    shutil.copy(CHECKOUT / "jobs/slurm/node.sbatch", own)
    done = jobs_run("./mine.sbatch", "--time=1", programs.bin / "phold", "--lps", "7", path=here,
                    folder=programs.work)
    called = (here / "calls").read_text().splitlines()
    programs.expect(done.returncode == 0 and called[0] ==
                    f"{CHECKOUT}: sbatch --parsable --time=1 {own} {programs.bin}/phold --lps 7",
                    f"a script and a program by their paths: {called} {done.stderr.strip()}")
    own.rename(own.with_suffix(".sh"))
    done = jobs_run("mine.sh", "--print", programs.bin / "phold", path=here, folder=programs.work)
    programs.expect(done.returncode == 0 and f"{programs.work}/mine.sh" in done.stdout.splitlines()[-1],
                    f"a script in this folder: {done.stdout.splitlines()[-1:]} {done.stderr.strip()}")
    done = jobs_run(own.with_suffix(".sh"), programs.bin / "phold", path=here, folder=programs.work)
    programs.expect("job      17;" in done.stdout and "log      /somewhere/mine-17.out" in done.stdout,
                    f"the job's number and log: {done.stdout.splitlines()}")

    refuses = stand_ins("refuses", scontrol="")
    write_script(refuses / "sbatch", "echo 'sbatch: error: no' >&2; exit 1")
    done = jobs_run("node", programs.bin / "phold", path=refuses)
    programs.expect(done.returncode == 1 and not done.stdout and "sbatch: error: no" in done.stderr,
                    f"sbatch refuses: exit code {done.returncode}: {done.stderr.strip()}")


def check_program_of_long_run():
    """Without a checkpoint, the job runs the latest build. With a checkpoint, the job runs the
    program that wrote the checkpoint."""
    here = stand_ins("cluster", lscpu="0", srun="")
    for tool in ("date", "sort", "wc", "mkdir", "rm", "cp", "ls", "sleep"):
        (here / tool).symlink_to(shutil.which(tool))
    # This srun starts the program, which is the first word that is a file.
    write_script(here / "srun", '[[ $* != --mpi=list ]] || { echo pmix; exit; }\n'
                                'until [[ -e $1 ]]; do shift; done\n"$@"')
    folder = programs.work / "long"
    latest = folder / "results/italy/checkpoint/latest.json"
    (folder / "build/bin").mkdir(parents=True)

    def build(model, says):
        write_script(folder / "build/bin" / model, f'echo {says} "$@"; exit 1')

    def job(model, code):
        done = subprocess.run(
            [shutil.which("bash"), CHECKOUT / "jobs/slurm/long-run.sbatch", model], cwd=folder, text=True,
            capture_output=True, env={"PATH": str(here), "SLURM_JOB_NAME": "italy", "SLURM_JOB_ID": "7",
                                      "SLURM_JOB_NUM_NODES": "1", "SLURM_CPUS_ON_NODE": "1"})
        programs.expect(done.returncode == code, f"long-run {model}: {done.returncode} {done.stderr}")
        return done

    for says in ("first", "second"):
        build("one", says)
        programs.expect(says in job("one", 1).stdout, f"no checkpoint: the {says} build is run")
    latest.parent.mkdir()
    latest.touch()
    build("one", "third")
    said = job("one", 1).stdout
    programs.expect("second --output" in said and "--restart results/italy/checkpoint" in said,
                    f"a checkpoint: the second build continues: {said}")
    build("other", "other")
    done = job("other", 2)
    programs.expect(len(done.stderr.splitlines()) == 1 and "is a run of one, not of other" in done.stderr,
                    f"another model: {done.stderr}")
    stats = folder / "results/italy/stats.json"
    stats.write_text('{"end_reason": "until"}')
    programs.expect("already finished" in job("one", 0).stdout, "the run is over")
    programs.expect("is a run of one" in job("other", 2).stderr, "another model after the end of the run")
    stats.unlink()
    latest.unlink()
    programs.expect("other --output" in job("other", 1).stdout, "another model without a checkpoint is run")


def check_bad_values():
    nothing = programs.work / "nothing"
    for arguments, allowed in [
            ([], NAMES), (["cluster"], NAMES), (["./none.sbatch"], NAMES),
            (["node", "fold"], ["phold", "traffic"]), (["node", "--nodes", "4", "phold"], ["--nodes=4"]),
            (["node", "build/none"], ["build/none"])]:
        done = jobs_run(*arguments, path=nothing)
        programs.expect(done.returncode == 2 and len(done.stderr.splitlines()) == 1
                        and not done.stdout and all(word in done.stderr for word in allowed),
                        f"slurm {' '.join(arguments)}: exit code {done.returncode}: "
                        f"{done.stderr.strip()}")
    for words in (["--print"], ["--ranks", "2"]):
        done = subprocess.run([shutil.which("bash"), CHECKOUT / "jobs/run", *words, "slurm", "node"], text=True,
                              capture_output=True, env={"PATH": str(nothing)})
        programs.expect(done.returncode == 2 and f"{words[0]}" in done.stderr and not done.stdout,
                        f"{' '.join(words)} in front: {done.returncode} {done.stderr.strip()}")
    done = jobs_run("--help", path=nothing)
    programs.expect(done.returncode == 0 and all(name in done.stdout for name in NAMES), "--help")


check_texts()
check_print()
check_submission()
check_program_of_long_run()
check_bad_values()
programs.leave()
