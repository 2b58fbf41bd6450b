#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saved runs of models written for ROSS continue on other numbers of workers and ranks, with reverse
handlers and with snapshots. They have the digest and the results of an uninterrupted run. They
continue only with the same command-line words for the model.

usage: test_saved.py FOLDER-OF-PROGRAMS"""

import json
import signal
import subprocess

from checkpoints import restart_hint, start, stop
from programs import MPI_ENVIRONMENT, Programs

programs = Programs()
checkpoint, stats = programs.work / "checkpoint", programs.work / "stats.json"
RANKS = ("mpirun", "--oversubscribe", "-n", "2")


def run(program, *words, launcher=()):
    """(exit code, digest, last line, standard error)"""
    done = subprocess.run([*launcher, programs.bin / program, "--end=16000", "--stats", stats, *words],
                          capture_output=True, text=True, cwd=programs.work, env=MPI_ENVIRONMENT)
    digest = json.loads(stats.read_text())["digest"] if done.returncode == 0 else None
    return done.returncode, digest, done.stdout.splitlines()[-1:], done.stderr


for program in ("ross_shelves", "ross_turns", "ross_pinger"):
    wanted = run(program, "--synch=1")[:3]
    folder = checkpoint / program
    folder.parent.mkdir(exist_ok=True)
    code, errors = stop(start(programs, programs.bin / program, "--end=16000",
                              "--engine", "timewarp", "--workers", 2, "--stats", stats,
                              "--checkpoint", folder, "--checkpoint-period", 0.02), folder)
    programs.expect(code == 0 and restart_hint(errors) is not None, f"{program} saves the run and stops: {code} {errors}")
    for words, launcher in ((("--engine", "timewarp", "--workers", "1"), ()),
                            (("--workers", "3", "--rollback", "snapshot"), ()),
                            (("--synch=1",), ()), (("--engine", "timewarp", "--workers", "1"), RANKS)):
        if program == "ross_pinger" and launcher:
            continue  # this model does not gather its sum over ranks
        got = run(program, "--restart", folder, *words, launcher=launcher)
        programs.expect(got[:3] == wanted, f"{program} continues {launcher} {words}: {got}, wanted {wanted}")

# On the same number of ranks as before, each LP is on the same rank as before.
wanted = run("ross_turns", "--placed", "--synch=1")[:3]
folder = checkpoint / "placed"
code, errors = stop(start(programs, *RANKS, programs.bin / "ross_turns", "--end=16000", "--placed", "--stats", stats,
                          "--checkpoint", folder, "--checkpoint-period", 0.02, env=MPI_ENVIRONMENT,
                          stdout=open(programs.work / "said", "w")),
                    folder, number=signal.SIGUSR1)
programs.expect(code == 0, f"two ranks save the run and stop: {code} {errors}")
got = run("ross_turns", "--placed", "--restart", folder, launcher=RANKS)
programs.expect(got[:3] == wanted, f"two ranks continue: {got}, wanted {wanted}")

programs.expect(" out of turn" not in (programs.work / "said").read_text(),
                "main() does not continue after tw_run() if the run was saved and stopped")
# The command line that the stopped run prints can be executed unchanged, even if it ends with words
# that only the model reads (after `--`).
folder = checkpoint / "words"
code, errors = stop(start(programs, programs.bin / "ross_turns", "--end=16000", "--stats", stats, "--checkpoint", folder,
                          "--checkpoint-period", 0.02, "--", "a word", "another"), folder)
done = subprocess.run(["bash", "-c", restart_hint(errors)], capture_output=True, text=True, cwd=programs.work)
programs.expect(done.returncode == 0 and done.stdout.splitlines()[-1:] == wanted[2],
                f"{restart_hint(errors)}: {done.returncode} {done.stdout[-200:]}{done.stderr}")

# The states point into memory of main(). The saved run causes a warning, and the restart is
# refused.
folder = checkpoint / "shared"
code, errors = stop(start(programs, programs.bin / "ross_turns", "--end=16000", "--misuse=4", "--checkpoint", folder,
                          "--checkpoint-period", 0.02), folder)
programs.expect(code == 0 and "24 words that look like pointers" in errors, f"a warning: {errors}")
code, *_, errors = run("ross_turns", "--misuse=4", "--restart", folder)
programs.expect(code == 2 and "--restart: 24 words in LPs look like pointers" in errors, f"refused: {code} {errors}")

for wrong in (["--workshops=48"], ["--nkp=3"], ["--", "more"]):
    code, *_, errors = run("ross_turns", "--restart", checkpoint / "ross_turns", *wrong)
    programs.expect(code == 2 and "the part of the command line that the model reads" in errors,
                    f"{wrong}: {code} {errors}")
programs.leave()
