"""The live line: what it foretells comes true, it fits its terminal and leaves nothing there, and logs
get a line now and then, from one rank."""

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
    """A run on a terminal of so many columns: what was drawn when, and what stands there at the end.
    Interrupted after so many seconds or lines."""

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
                        or interrupt_after_lines and len(self.drawn) >= interrupt_after_lines):
                    run.send_signal(signal.SIGINT)
                    interrupt_after = interrupt_after_lines = None
                if not select.select([end], [], [], 0.05)[0]:
                    continue
                try:
                    some = os.read(end, 65536).decode()
                except OSError:  # nobody has it open any more
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
        """The lines that stand there after all was written."""
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

    def is_clean(self):
        return not any("events/s |" in line or "\x1b" in line or line.startswith(("at ", "setting"))
                       for line in self.screen)


def seconds_of(words):
    """Of "under 1 s", "40 s", "3 min 05 s"."""
    if words == "under 1 s":
        return 0.5
    units = {"s": 1, "min": 60, "h": 3600, "days": 86400}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"(\d+) (\w+)", words))


# --- what it foretells -----------------------------------------------------------------------------

def speed_of_short_run():
    stats = programs.statistics_of("phold", "--until", 200, "--workers", 1)
    return stats["gvt"] / stats["wall_seconds"]


def is_steady(lines):
    """Whether the virtual time rose alike in every eighth of the run after the first second, as far as
    the machine let it."""
    rows = [(when, float(LINE.match(line)[1])) for when, line in lines if LINE.match(line)]
    rows = [row for row in rows if row[0] > 1]
    parts = [rows[len(rows) * i // 8] for i in range(8)] + [rows[-1]]
    speeds = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(parts, parts[1:])]
    mean = sum(speeds) / len(speeds)
    return all(0.9 * mean < speed < 1.1 * mean for speed in speeds)


until = 20 * speed_of_short_run()
for attempt in range(4):
    run = Terminal("phold", "--until", until, "--workers", 1)
    if run.seconds > 12 and is_steady(run.drawn):
        break  # else no forecast can be right
    until *= min(4, max(0.5, 20 / run.seconds))
foretold = [(when, seconds_of(found[4])) for when, line in run.drawn
            if (found := LINE.match(line)) and found[4] and when > run.seconds / 2]
# Half a second is what drawing, rounding and the way out may take.
wrong = [(round(when, 1), eta, round(run.seconds - when, 1)) for when, eta in foretold
         if abs(eta - (run.seconds - when)) > max(0.2 * (run.seconds - when), 0.8)]
said = (f"a run of {run.seconds:.1f} s: of {len(foretold)} times to go in its second half "
        f"{len(wrong)} were wrong by more than 20 % {wrong[:5]}")
if not wrong or is_steady(run.drawn):
    programs.expect(len(foretold) > 2 * run.seconds and not wrong, said)
else:
    print(f"skipped  no steady run on this machine now; {said}")
shares = [float(found[3]) for _, line in run.drawn if (found := LINE.match(line))]
programs.expect(shares == sorted(shares) and len(shares) > 3 * run.seconds,
                f"{len(shares)} lines, with every number, and the share rises")
programs.expect(run.status == 0 and run.is_clean() and any("digest" in line for line in run.screen),
                "nothing of the line is left beside the report")

# --- terminals -------------------------------------------------------------------------------------

endless = ["phold", "--until", 1e12, "--workers", 2]
run = Terminal(*endless, columns=30, interrupt_after_lines=5)
programs.expect(run.drawn and all(len(line) < 30 for _, line in run.drawn),
                f"a narrow terminal gets a short line: {run.drawn[-1:]}")
programs.expect(run.status == 130 and run.is_clean(), "nothing is left of an interrupted run's")
for options, kind in [(["--quiet"], "xterm"), (["--progress", "off"], "xterm"), ([], "dumb")]:
    run = Terminal(*endless, *options, kind=kind, interrupt_after=2)
    programs.expect(run.status == 130 and not run.drawn and "\x1b" not in run.text,
                    f"no live line with {' '.join(options) or 'TERM=' + kind}")
run = Terminal("phold", "--until", -1)
programs.expect(run.status == 2 and "\x1b" not in run.text, "none before the run has begun")

run = Terminal("no_end", "--goal", 10 ** 12, "--workers", 2, interrupt_after_lines=10)
lines = [line for _, line in run.drawn if line.startswith("at ")]
programs.expect(len(lines) > 5 and all(re.fullmatch(
    r"at [\d.e+]+( \| [\d. kMG]+ events/s \| efficiency \d+ %)?", line) for line in lines),
    f"where no end is known, nothing is said of it: {lines[-1:]}")

# --- logs ------------------------------------------------------------------------------------------

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
