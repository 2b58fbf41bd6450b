#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests closed or full standard streams, limits of the shell, names that are not UTF-8, and missing
folders (the home folder and the folder for temporary files). The run succeeds, or ends with one line
and the documented exit code. It never hangs or crashes, and data that is already written is not
lost."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

from refusals import Refusals

programs = Refusals()
SHORT = ["--lps", 16, "--until", 2, "--workers", 2]


def closed(*numbers):
    return lambda: [os.close(number) for number in numbers]


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


# Standard streams. A file that gets the number of a closed stream must not receive printed text.
programs.accepted("phold", *SHORT, "--quiet", setup=closed(0))
programs.refused(4, ["standard output cannot be written"], "phold", *SHORT, setup=closed(1))
stats = programs.work / "s.json"
for numbers in [(1,), (0, 1), (0, 1, 2)]:
    stats.unlink(missing_ok=True)
    done = programs.start("queues", "--until", 50, "--workers", 1, "--stats", stats, "--output", "tables",
                          setup=closed(*numbers))
    header = (programs.work / "tables" / "stations.csv").read_text().splitlines()
    columns = {line.count(",") for line in header}
    programs.cases += 1
    programs.expect(done.returncode == 4 and json.loads(stats.read_text())["digest"]
                    and len(columns) == 1,
                    f"{numbers} closed: exit code {done.returncode}, statistics and table are whole")
with open("/dev/full", "w") as full:
    programs.cases += 2
    done = programs.start("phold", "--lps", "0", setup=lambda: os.dup2(full.fileno(), 2))
    programs.expect(done.returncode == 2, f"standard error is full: {done.returncode}")
    done = programs.start("phold", *SHORT, "--stats", stats, stdout=full)
    programs.expect(done.returncode == 4 and "standard output" in done.stderr
                    and len(done.stderr.splitlines()) == 1 and json.loads(stats.read_text())["digest"],
                    f"standard output is full: {done.returncode} {done.stderr.strip()}")
programs.accepted("phold", *SHORT, "--quiet", stdin=None)

# Home folders, locales, terminals, and environment variables with arbitrary content.
for environment in [{"HOME": ""}, {"HOME": "/nonexistent"}, {"TMPDIR": "/nonexistent"}, {"TERM": ""},
                    {"TERM": "x" * 10_000}, {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "nonsense"},
                    {"LANG": "\udcff"}, {"TZ": "Nowhere/Nothing"}, {"PATH": ""}, {"COLUMNS": "-1"},
                    {"OMP_NUM_THREADS": "-5"}, {"SLURM_JOB_ID": "x"}]:
    programs.accepted("phold", *SHORT, "--quiet", environment=environment)

# A process is stopped and continued, by a signal and by the freezer of its control group. The
# stopped time does not count toward any time limit.
@contextlib.contextmanager
def stopped_by_signal(process):
    process.send_signal(signal.SIGSTOP)
    yield
    process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def frozen(process):
    group = FREEZER / f"numawarp-test-{os.getpid()}"
    group.mkdir()
    (group / "cgroup.procs").write_text(str(process.pid))
    (group / "freezer.state").write_text("FROZEN")
    yield
    (group / "freezer.state").write_text("THAWED")
    (FREEZER / "cgroup.procs").write_text(str(process.pid))
    group.rmdir()


FREEZER = Path("/sys/fs/cgroup/freezer")
for stopped in [stopped_by_signal, *([frozen] if os.access(FREEZER / "cgroup.procs", os.W_OK) else [])]:
    slow = subprocess.Popen([programs.bin / "slow_phases", "--slow", "on_event", "--engine", "sequential",
                             "--handler-timeout", "2", "--quiet"], stderr=subprocess.PIPE, text=True)
    slow.stderr.readline()
    with stopped(slow):
        time.sleep(4)
    time.sleep(0.5)
    slow.send_signal(signal.SIGTERM)
    words = slow.communicate(timeout=60)[1]
    programs.cases += 1
    programs.expect(slow.returncode == 143 and words == "", f"{stopped.__name__} for 4 s: {slow.returncode} {words!r}")

# A container that hides /proc/meminfo, and a container that also hides the machine's CPUs and
# nodes.
HIDDEN = ["mount --bind /dev/null /proc/meminfo",
          "mount --bind /dev/null /proc/meminfo && mount -t tmpfs none /sys/devices/system"]
for hide in HIDDEN:
    hidden = ["unshare", "--map-root-user", "--mount", "sh", "-c", f'{hide} && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
        print("skipped: no mount namespace can be created here")
        break
    done = subprocess.run([*hidden, programs.bin / "phold", *map(str, SHORT), "--quiet", "--stats", stats],
                          capture_output=True, text=True, cwd=programs.work)
    programs.cases += 1
    programs.expect(done.returncode == 0, f"{hide}: exit code {done.returncode} {done.stderr.strip()}")

# A user limit that allows no further thread. (The limit does not apply to root.)
if os.getuid() == 0:
    def as_nobody():
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    programs.refused(4, ["the thread", "could not be started", "ulimit -u"], "phold", *SHORT,
                     "--engine", "sequential", "--progress", "on", setup=as_nobody)

# Limits of the shell.
programs.refused(4, ["File too large"], "queues", "--until", 50, "--stats", "big.json", "--quiet",
                 setup=limited(resource.RLIMIT_FSIZE, 1024))
programs.refused(4, ["File too large"], "queues", "--until", 50, "--output", "big", "--quiet",
                 setup=limited(resource.RLIMIT_FSIZE, 64))
programs.accepted("phold", *SHORT, "--quiet", setup=limited(resource.RLIMIT_CORE, 0))
programs.accepted("phold", *SHORT, "--quiet", setup=limited(resource.RLIMIT_STACK, 256 << 10))

# Files that cannot be written, and pipes without a reader.
(programs.work / "folder").mkdir()
os.mkfifo(programs.work / "pipe")
(programs.work / "loop").symlink_to("loop")
(programs.work / "dangling").symlink_to("nowhere/at/all")
ETERNAL = ["--until", "1e300", "--lps", 16]
for option in ["--stats", "--trace"]:
    for path, why in [("folder", "directory"), ("loop", "symbolic"), ("dangling", "No such file"),
                      ("nowhere/s", "No such file"), ("/proc/s", ""), ("/sys/s", ""),
                      ("n" * 300, "too long"), ("s/", ""), (b"caf\xe9/s", "No such file"),
                      ("pipe", "No such device")]:
        programs.refused(2, [option, "must be a writable file", why], "phold", *ETERNAL, option, path)
for path in ["pipe", "loop", "dangling", "/dev/full", "/proc/out", "n" * 300, "folder/../pipe/x"]:
    programs.refused(2, [f"--output {path[:30]}", "writable folder"], "queues", "--until", "1e300",
                     "--output", path)
(programs.work / "taken" / "stations.csv").mkdir(parents=True)
programs.refused(2, ["stations.csv"], "queues", "--until", "1e300", "--output", "taken")
(programs.work / "taken-h5" / "stations.h5").mkdir(parents=True)
programs.refused(2, ["stations.h5"], "queues", "--until", "1e300", "--output", "taken-h5",
                 "--output-format", "hdf5")

# Names that are not valid UTF-8: the files get these names, and the JSON output is valid.
name = b"caf\xe9 \xf0\x28\x8c"
done = programs.start("queues", "--until", 20, "--workers", 2, "--output", name, "--stats", name + b".json",
                      "--trace", name + b".trace", "--quiet")
programs.cases += 1
try:
    text = (programs.work / os.fsdecode(name + b".json")).read_bytes().decode()
    options = json.loads(text)["options"]
    programs.expect(done.returncode == 0 and "caf" in options["output"]
                    and os.path.exists(os.path.join(os.fsencode(programs.work), name, b"stations.csv")),
                    f"names that are not UTF-8: {done.returncode}, {ascii(options['output'])}")
except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
    programs.expect(False, f"names that are not UTF-8: {done.returncode} {ascii(done.stderr)} {error}")
(programs.work / os.fsdecode(b"caf\xe9.toml")).write_text("seed = 7\n")
programs.accepted("phold", *SHORT, "--quiet", "--config", b"caf\xe9.toml")
# A file that can be read only once is read once: `--config <(command)`.
reading, writing = os.pipe()
os.write(writing, b"seed = 7\n")
os.close(writing)
programs.cases += 1
done = programs.start("phold", *SHORT, "--quiet", "--stats", stats, "--config", "/dev/stdin", stdin=reading)
os.close(reading)
got = json.loads(stats.read_text())["seed"] if done.returncode == 0 else done.stderr
programs.expect(got == 7, f"a configuration from a pipe: seed {got}")
# A checkpoint keeps the values of the model's options, whatever bytes they contain.
os.makedirs(programs.work / "saved", exist_ok=True)
bytes_model = {"BAD_MODEL": "name-bytes"}
programs.accepted("bad_model", "--quiet", "--checkpoint", "saved", "--workers", 1, environment=bytes_model)

# Options without effect in a run are reported once, in the report and in the statistics. The
# statistics do not list these options as active.
for arguments, idle in [
        (["--engine", "sequential", "--rollback", "copy"], ["rollback"]),
        (["--engine", "sequential", "--window", 1], ["window"]),
        (["--engine", "sequential", "--workers", 2], ["workers"]),
        (["--engine", "sequential", "--gvt-interval", 5], ["gvt-interval"]),
        (["--engine", "sequential", "--state-saving-interval", 5], ["state-saving-interval"]),
        (["--engine", "sequential", "--rebind", 1, "--check-rebind", 0.5], ["rebind", "check-rebind"]),
        (["--engine", "sequential", "--net-thread", "on"], ["net-thread"]),
        (["--engine", "sequential", "--watchdog", 5], []),
        (["--engine", "sequential", "--pagemigd", "1@1"], ["pagemigd"]),
        (["--engine", "conservative", "--window", 1, "--rollback", "reverse"], ["window", "rollback"]),
        (["--rollback", "reverse", "--state-saving-interval", 5], ["state-saving-interval"]),
        (["--workers", 1, "--rebind", 1], ["rebind"]),
        (["--memory", "libc", "--huge-pages", "on"], ["huge-pages"]),
        (["--memory", "libc", "--pagemigd", "1@1"], ["pagemigd"]),
        (["--engine", "sequential", "--window", "off", "--workers", 1], []),
        (["--workers", 2, "--rollback", "copy", "--state-saving-interval", 5, "--window", 1], [])]:
    programs.cases += 1
    done = programs.start("phold", "--lps", 16, "--until", 2, *arguments, "--stats", stats)
    statistics = json.loads(stats.read_text()) if done.returncode == 0 else {"notices": [], "options": {}}
    said = [line for line in statistics["notices"] if "has no effect with" in line]
    in_force = [name for name in idle if statistics["options"].get(name) and name != "workers"]
    programs.expect(done.returncode == 0 and not in_force
                    and sorted(line.split()[0] for line in said) == sorted("--" + n for n in idle)
                    and done.stdout.count("has no effect with") == len(idle),
                    f"{' '.join(map(str, arguments))}: {said} {in_force} {done.stderr}")

# A flag that the model declares takes `on` and `off`, like the engine's flags.
for arguments in [["--flag"], ["--flag", "on"], ["--flag=off"], ["--flag", "off"], ["--flag", "--flag", "off"]]:
    programs.cases += 1
    done = programs.start("bad_model", "--quiet", "--workers", 1, *arguments, "--stats", stats)
    wanted = arguments[-1] in ("--flag", "on")
    got = json.loads(stats.read_text())["options"]["flag"] if done.returncode == 0 else done.stderr
    programs.expect(got is wanted, f"{' '.join(arguments)}: {got}")
programs.refused(2, ["off: unexpected"], "bad_model", "--flag=on", "off")
programs.refused(2, ["--flag maybe", "on or off"], "bad_model", "--flag=maybe")

programs.leave()
