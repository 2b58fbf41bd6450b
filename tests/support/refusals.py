# SPDX-License-Identifier: Apache-2.0
"""Checks how a program ends if its command line, a file, its set-up or its environment is wrong. The program must end
within 10 s with the documented exit code. It must print exactly one line on standard error, which names the error, and
nothing on standard output."""

import os
import subprocess

from programs import Programs

SECONDS_MAX = 10


class Refusals(Programs):
    def __init__(self):
        super().__init__()
        self.cases = 0

    def start(self, program, *arguments, environment=None, setup=None, stdin=subprocess.DEVNULL,
              stdout=subprocess.PIPE):
        """The finished process, with its output as text. Bytes that are not valid UTF-8 become
        surrogate escapes, as in file names. None if the process does not end in time."""
        path = self.bin / program if isinstance(program, str) else program
        try:
            return subprocess.run([path, *map(_bytes, arguments)], stdin=stdin, stdout=stdout,
                                  stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                                  timeout=SECONDS_MAX, cwd=self.work, preexec_fn=setup,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            return None

    def refused(self, code, fragments, program, *arguments, **how):
        """Checks that the case ends as required. `chatty=N` in `how`: up to N lines may precede
        numawarp's line, because the C library prints a line in abort() and std::terminate()."""
        self.cases += 1
        chatty = how.pop("chatty", 0)
        name = f"{how.get('environment') or ''} {program} {' '.join(map(_shown, arguments))}".strip()
        done = self.start(program, *arguments, **how)
        if done is None:
            self.expect(False, f"{name}: does not end within {SECONDS_MAX} s")
            return
        lines = done.stderr.splitlines()
        good = (done.returncode == code and 1 <= len(lines) <= 1 + chatty and not done.stdout
                and lines[-1].startswith("numawarp: ")
                and all(fragment in lines[-1] for fragment in fragments))
        self.expect(good, f"{name} -> {done.returncode}: {_shown(done.stderr.strip(), 300)}"
                          + ("" if good else f"  (wanted {code} {fragments})"))

    def accepted(self, program, *arguments, says="", **how):
        """Checks that the program accepts unusual input."""
        self.cases += 1
        name = f"{how.get('environment') or ''} {program} {' '.join(map(_shown, arguments))}".strip()
        done = self.start(program, *arguments, **how)
        good = (done is not None and done.returncode == 0 and not done.stderr
                and says in (done.stdout or ""))
        self.expect(good, f"{name} -> {'no end' if done is None else done.returncode}"
                          + ("" if good or done is None else f": {_shown(done.stderr)} {done.stdout}"))

    def file_with(self, content, name="options.toml"):
        path = self.work / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def leave(self):
        print(f"{self.cases} cases")
        super().leave()


def _bytes(argument):
    return argument if isinstance(argument, bytes) else os.fsencode(str(argument))


def _shown(text, most=80):
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    text = text.encode("ascii", "backslashreplace").decode()
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"
