#!/usr/bin/env python3
"""Inside the guest: runs a program of ours and interrupts it, as Ctrl-C would, so many seconds after its placement
began to be watched, which it says when it is asked (SIGUSR2): on a busy host it takes long to be set up. With a
command of the shell, that is done first, and then the same time goes by; $RUN is the program's process.

usage: interrupt_after.py SECONDS COMMAND|- PROGRAM...     exit code: the program's"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from processes import PATIENCE_SECONDS, wait_until_computing  # noqa: E402

# An answer of the watch: where pages are, or that the kernel refuses to tell. Before there is one, the run says
# that placement is not watched.
ANSWERS = (b"local;", b"placement: the kernel does not say")

seconds, command, *program = sys.argv[1:]
with subprocess.Popen(program, stderr=subprocess.PIPE) as run:
    wait_until_computing(run)
    said = b""
    deadline = time.monotonic() + PATIENCE_SECONDS / 2  # less than a batch gives a program
    while run.poll() is None and not any(answer in said for answer in ANSWERS):
        if time.monotonic() > deadline:
            run.kill()
            sys.exit(f"placement is not watched: {said.decode()[-200:]}")
        run.send_signal(signal.SIGUSR2)
        if select.select([run.stderr], [], [], 1)[0]:
            said += os.read(run.stderr.fileno(), 65536)
    if command != "-":
        time.sleep(float(seconds))
        subprocess.run(["sh", "-c", command], env={**os.environ, "RUN": str(run.pid)}, check=True)
    time.sleep(float(seconds))
    run.send_signal(signal.SIGINT)
    said += run.stderr.read()
sys.stderr.write("".join(line for line in said.decode().splitlines(keepends=True) if "placement:" not in line))
sys.exit(run.returncode)
