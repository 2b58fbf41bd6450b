# SPDX-License-Identifier: Apache-2.0
"""Tests the progress line. It fits its terminal, and is erased at the end. Log files get a line at
intervals, from one rank. (unit/app/test_progress.cpp tests the predicted time.)"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

from processes import line_of
from programs import MPI_ENVIRONMENT, Programs

programs = Programs()
LINE = re.compile(r"at ([\d.e+]+)/([\d.e+]+) \(([\d.]+) %\) \| .* events/s \| efficiency \d+ %"
                  r"(?: \| (?:ETA (.+)|finishing))?$")


class Terminal:
    """Runs a program on a terminal with `columns` columns, and records the drawn lines with their times
    and the final screen. Interrupts the program after `interrupt_after` seconds, or after
    `interrupt_after_lines` lines after the set-up."""

    def __init__(self, program, *arguments, columns=80, kind="xterm", interrupt_after=None,
                 interrupt_after_lines=None):
        end, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.columns, self.drawn, self.rows, self._row = columns, [], [], ""
        started = time.monotonic()
        with subprocess.Popen([programs.bin / program, *map(str, arguments)], cwd=programs.work,
                              stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
                              env={**os.environ, "TERM": kind}) as run:
            os.close(inner)
            self.text = ""
            while time.monotonic() - started < 120:
                if (interrupt_after and time.monotonic() - started > interrupt_after
                        or interrupt_after_lines and len(self.lines()) >= interrupt_after_lines):
                    run.send_signal(signal.SIGINT)
                    interrupt_after = interrupt_after_lines = None
                if not select.select([end], [], [], 0.05)[0]:
                    continue
                try:
                    some = os.read(end, 65536).decode()
                except OSError:  # no process has the terminal open any more
                    break
                self.text += some
                now = time.monotonic() - started
                self.drawn += [(now, part.split("\x1b[K")[0]) for part in some.split("\r")[1:]
                               if "\x1b[K" in part and not part.startswith("\x1b")]
        os.close(end)
        self.seconds, self.status = time.monotonic() - started, run.returncode
        self.screen = self.screen_of(self.text)

    @staticmethod
    def screen_of(text):
        """The lines on the screen after all of the text was written."""
        lines, at = [""], 0
        for token in re.findall(r"\x1b\[K|\r|\n|[^\x1b\r\n]+|\x1b", text):
            if token == "\n":
                lines.append("")
                at = 0
            elif token == "\r":
                at = 0
            elif token == "\x1b[K":
                lines[-1] = lines[-1][:at]
            else:
                lines[-1] = lines[-1][:at] + token + lines[-1][at + len(token):]
                at += len(token)
        return lines

    def lines(self):
        """The drawn lines of the run itself, without those of its set-up."""
        return [line for _, line in self.drawn if line.startswith("at ")]

    def is_clean(self):
        return not any("events/s |" in line or "\x1b" in line or line.startswith(("at ", "setting"))
                       for line in self.screen)


# --- Content of the line ------------------------------------------------------------------------

short = programs.statistics_of("phold", "--until", 200, "--workers", 1)
until = 5 * short["gvt"] / short["wall_seconds"]
for _ in range(4):
    run = Terminal("phold", "--until", until, "--workers", 1)
    shares = [float(found[3]) for _, line in run.drawn if (found := LINE.match(line))]
    if len(shares) > 3:
        break
    until *= 4  # the machine is faster now than during the short run
programs.expect(shares == sorted(shares) and len(shares) > 3 and any("| ETA " in line for _, line in run.drawn),
                f"{len(shares)} lines in {run.seconds:.1f} s with all numbers, and the share increases")
programs.expect(run.status == 0 and run.is_clean() and any("digest" in line for line in run.screen),
                "no part of the line is left in the report")

# --- Terminals ----------------------------------------------------------------------------------

endless = ["phold", "--until", 1e12, "--workers", 2]
run = Terminal(*endless, columns=30, interrupt_after_lines=5)
programs.expect(run.drawn and all(len(line) < 30 for _, line in run.drawn),
                f"a narrow terminal gets a short line: {run.drawn[-1:]}")
programs.expect(run.status == 130 and run.is_clean(), "no part of the line of an interrupted run is left")
for options, kind in [(["--quiet"], "xterm"), (["--progress", "off"], "xterm"), ([], "dumb")]:
    run = Terminal(*endless, *options, kind=kind, interrupt_after=2)
    programs.expect(run.status == 130 and not run.drawn and "\x1b" not in run.text,
                    f"no live line with {' '.join(options) or 'TERM=' + kind}")
run = Terminal("phold", "--until", -1)
programs.expect(run.status == 2 and "\x1b" not in run.text, "there is no line before the run has begun")

run = Terminal("no_end", "--goal", 10 ** 12, "--workers", 2, interrupt_after_lines=10)
lines = run.lines()
programs.expect(len(lines) > 5 and all(re.fullmatch(
    r"at [\d.e+]+( \| [\d. kMG]+ events/s( \| efficiency \d+ %)?)?", line) for line in lines),
    f"if the run has no end time, the lines contain none: {lines}")

# --- Logs ---------------------------------------------------------------------------------------

alone = [programs.bin / "phold", "--until", "1e12", "--workers", "1"]
commands = {"asked for": [*alone, "--progress", "on"], "not asked for": alone}
mpirun = shutil.which("mpirun")
if mpirun:
    commands["two ranks"] = [mpirun, "--oversubscribe", "-np", "2", *alone, "--progress", "on"]
runs = {name: subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=MPI_ENVIRONMENT) for name, command in commands.items()}
time.sleep(10)
said_so_far = {name: line_of(run.stderr) for name, run in runs.items() if name != "not asked for"}
time.sleep(5)
for name, run in runs.items():
    run.send_signal(signal.SIGINT)
    said = said_so_far.get(name, "") + run.communicate(timeout=60)[1]
    lines = [line for line in said.splitlines() if " events/s" in line]
    wanted = 0 if name == "not asked for" else 1
    programs.expect(len(lines) == wanted and "\x1b" not in said and "\r" not in said
                    and all(line.startswith("numawarp: at ") for line in lines),
                    f"a log of 15 s, {name}: {wanted} lines: {lines}")

programs.leave()
