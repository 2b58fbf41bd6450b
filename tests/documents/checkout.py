# SPDX-License-Identifier: Apache-2.0
"""A checkout for executing the commands of the documents. Lines run unchanged, in bash, one after
the other, each in the folder in which the line before it ended. A model that takes too long is
interrupted as by Ctrl-C, and then ends in order."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from checkouts import make_checkout, without_building

INTERRUPTED = 128 + signal.SIGINT
SECONDS_TO_STOP = 60


@dataclass(frozen=True)
class Ran:
    code: int
    output: str  # standard output and standard error
    seconds: float
    interrupted: bool

    @property
    def well(self):
        return self.code == 0 or self.interrupted and self.code == INTERRUPTED

    @property
    def lacks_package(self):
        return self.code == 4 and ("stand-in for apt-get" in self.output
                                   or "please install" in self.output)


class Checkout:
    def __init__(self, programs, name="checkout"):
        self.folder = self.cwd = make_checkout(programs, name)
        self.home = programs.work / f"{name}-home"
        self.home.mkdir()
        caches = Path(os.environ.get("NUMAWARP_GUEST_CACHE")
                      or Path.home() / ".cache/numawarp-guest")
        self.environment = {**without_building(self.folder), "HOME": str(self.home),
                            "NUMAWARP_GUEST_CACHE": str(caches)}

    def write(self, name, text):
        (self.cwd / name).write_text(text)

    def run(self, line, seconds):
        left = self.home / "folder"
        script = f"{line}\ncode=$?\npwd >'{left}'\nexit $code"
        began = time.monotonic()
        process = subprocess.Popen(["bash", "-c", script], cwd=self.cwd, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        interrupted = False
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            interrupted = True
            os.killpg(process.pid, signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
        if left.exists():
            self.cwd = Path(left.read_text().strip())
            left.unlink()
        return Ran(process.returncode, output, time.monotonic() - began, interrupted)

    def leave_folder(self):
        self.cwd = self.folder
