# SPDX-License-Identifier: Apache-2.0
"""Boots a guest, runs one command in it, and brings its output and exit code back.

QEMU emulates the processor (TCG), so neither KVM nor root is needed. The guest writes to three
channels of bytes: the command's output, its errors, and a report of the guest's progress. QEMU
writes each channel into a pipe of this process. All code here runs in one thread, which reads these
pipes.

An emulated guest sometimes dies or hangs while its kernel starts. The command has not started at
that time, so the guest is booted again. Once the command has started there is no second try.
"""

import contextlib
import os
import selectors
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from topology import qemu_arguments

HERE = Path(__file__).resolve().parent
BOOTS_MAX = 4
BOOT_SECONDS_MAX = 150  # usually 4; on a busy machine 15, with a load average of 15 more than 60
TIMED_OUT = 124
# A plug-in ends QEMU with this exit code, after a message, if it cannot be used with this QEMU.
UNUSABLE = 77
CRASHED = 125

# `single` emulates all cores in one thread, in turns. It becomes slower only by the share of one
# core that other programs of the host take. `multi` has one thread per core. It is faster if the
# host has as many idle cores; otherwise emulated cores wait for each other in every interrupt
# between them, and moves of pages cause many interrupts. With `single`, eight PHOLD workers on eight nodes and two busy cores
# committed five times as much.
ACCELERATORS = {"single": "tcg,thread=single", "multi": "tcg,thread=multi,tb-size=256"}

# Without fast string instructions, which an emulator executes byte by byte. Then the C library
# copies 32 bytes at a time and the kernel 8. This also brings the counts of the meter closer to the
# accesses of a processor.
PROCESSOR = "max,la57=off,erms=off,fsrm=off"

# The guest ends instead of rebooting, skips work that only a real machine needs, and trusts its
# clock even when the host had no time for it.
KERNEL_OPTIONS = ("console=ttyS0 panic=-1 mitigations=off nokaslr init_on_alloc=0 apparmor=0 "
                  "audit=0 tsc=reliable no_timer_check random.trust_cpu=on lpj=8000000 cryptomgr.notests")
# The kernel's watchdogs need a clock that does not depend on the load of the host.
NO_WATCHDOGS = "nowatchdog rcupdate.rcu_cpu_stall_suppress=1"

# The busybox commands that init.sh and session.sh use.
APPLETS = ["cat", "cp", "hostname", "ifconfig", "insmod", "kill", "ln", "mkdir", "mkfifo", "mount",
           "mv", "sh", "sleep", "switch_root", "sync", "tr", "umount"]


@dataclass
class Job:
    """A command to run in the guest. Folders are absolute and without symbolic links."""

    command: list[str]
    folder: Path  # the working folder of the command
    writable: list[Path] = field(default_factory=list)
    visible: list[Path] = field(default_factory=list)  # folders of /tmp that the guest sees, too
    environment: dict[str, str] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    timeout: float = 300  # seconds from the command's start
    accelerator: str = "single"
    plugin: str = ""  # one of QEMU's plugins, with its arguments
    preload: Path | None = None  # a library that QEMU's process loads first
    watchdogs: bool = False  # whether the kernel's watchdogs are on
    boot_seconds: float = BOOT_SECONDS_MAX
    verbose: bool = False


def run(images, topology, job):
    """The command's exit code, or TIMED_OUT, CRASHED or UNUSABLE, with an explanation on stderr."""
    for _ in range(BOOTS_MAX):
        with tempfile.TemporaryDirectory(prefix="numawarp-guest-") as work:
            boot = _Boot(images, topology, job, Path(work))
            boot.watch()
            if boot.exit_code is not None:
                return boot.exit_code
            if boot.is_unusable:
                return UNUSABLE
            if boot.timed_out:
                _say(f"the command has not ended after {job.timeout:g} s")
                return TIMED_OUT
            if boot.started:
                _say("the guest crashed; the end of its console:\n" + boot.console_end())
                return CRASHED
            if job.verbose:
                _say("the guest ended before the command started; the end of its console:\n"
                     + boot.console_end())
    _say(f"the guest did not start in {BOOTS_MAX} boots (--verbose shows its console)")
    return CRASHED


def _say(text):
    print("numawarp guest: " + text, file=sys.stderr, flush=True)


class _Boot:
    """One boot of a guest. After watch(): exit_code if the command ended, else the failure."""

    def __init__(self, images, topology, job, work):
        self.exit_code = None
        self.started = False
        self.timed_out = False
        self.is_unusable = False
        self._job = job
        self._console = work / "console"
        self._report = b""
        preload = ["env", f"LD_PRELOAD={job.preload}"] if job.preload else []
        kernel_options = KERNEL_OPTIONS if job.watchdogs else f"{KERNEL_OPTIONS} {NO_WATCHDOGS}"
        self._qemu = [
            # The guest must end with this process, whatever ends this process.
            "setpriv", "--pdeathsig", "KILL", *preload, *images.qemu,
            "-machine", "q35", "-cpu", PROCESSOR, "-accel", ACCELERATORS[job.accelerator],
            "-nodefaults", "-display", "none", "-no-reboot",
            *qemu_arguments(topology),
            "-kernel", str(images.kernel), "-initrd", str(_pack(images, job, work)), "-append", kernel_options,
            "-serial", f"file:{self._console}", *_export("host", Path("/"), "on"),
        ]
        for number, folder in enumerate(job.writable):
            self._qemu += _export(f"rw{number}", folder, "off")
        self._qemu += ["-device", "virtio-serial-pci"]
        if job.plugin:
            self._qemu += ["-plugin", job.plugin]

    def watch(self):
        begun = time.monotonic()
        with contextlib.ExitStack() as stack, selectors.DefaultSelector() as channels:
            ends = []
            for name in ("out", "err", "report"):
                read, write = os.pipe()
                stack.callback(os.close, read)
                ends.append(write)
                channels.register(read, selectors.EVENT_READ, name)
                self._qemu += ["-chardev", f"file,id={name},path=/proc/self/fd/{write},append=on",
                               "-device", f"virtserialport,chardev={name},name={name}"]
            if self._job.verbose:
                _say(shlex.join(self._qemu))
            qemu = subprocess.Popen(self._qemu, stdin=subprocess.DEVNULL, pass_fds=ends)
            stack.callback(qemu.wait)
            stack.callback(qemu.kill)
            for end in ends:
                os.close(end)

            deadline = begun + self._job.boot_seconds
            while channels.get_map():
                if time.monotonic() > deadline:
                    self.timed_out = self.started
                    return
                was_started = self.started
                for key, _ in channels.select(max(0, deadline - time.monotonic())):
                    if not self._forward(key):
                        channels.unregister(key.fd)
                if self.started and not was_started:
                    deadline = time.monotonic() + self._job.timeout
                    if self._job.verbose:
                        _say(f"the command starts after {time.monotonic() - begun:.1f} s")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.is_unusable = qemu.wait(timeout=5) == UNUSABLE

    def _forward(self, key):
        """Forwards the data of a channel; returns False at the end of the channel."""
        data = os.read(key.fd, 65536)
        if key.data == "report":
            self._report += data
            lines = self._report.decode().split("\n")[:-1]
            self.started = "started" in lines
            for line in lines:
                if line.startswith("exit "):
                    self.exit_code = int(line.removeprefix("exit "))
        else:
            stream = (sys.stdout if key.data == "out" else sys.stderr).buffer
            stream.write(data)
            stream.flush()
        return bool(data)

    def console_end(self):
        try:
            return "\n".join(self._console.read_text(errors="replace").splitlines()[-25:])
        except FileNotFoundError:
            return "(it is empty)"


def _export(tag, folder, readonly):
    """QEMU's options for a folder of the host that the guest can mount."""
    path = str(folder).replace(",", ",,")
    return ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap,"
                      f"readonly={readonly}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _pack(images, job, work):
    """Builds the initramfs of this boot, which contains the command; init.sh lists the content."""
    files = {"bin/busybox": images.busybox.read_bytes(), "init": (HERE / "init.sh").read_bytes(),
             "guest/session.sh": (HERE / "session.sh").read_bytes(),
             "guest/command.sh": _command_script(job).encode()}
    files |= {f"modules/{module.name}": module.read_bytes() for module in images.modules}
    for name, lines in [("writable", job.writable), ("visible", job.visible),
                        ("sysctls", [f"{key}={value}" for key, value in job.sysctls.items()])]:
        files[f"guest/{name}"] = "".join(f"{line}\n" for line in lines).encode()
    tree, packed = work / "tree", work / "initramfs"
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
        (tree / name).chmod(0o755)
    for applet in APPLETS:
        (tree / "bin" / applet).symlink_to("busybox")
    names = "".join(f"{path.relative_to(tree)}\n" for path in sorted(tree.rglob("*")))
    with open(packed, "wb") as archive:
        subprocess.run([images.busybox, "cpio", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, check=True,
                       input=names.encode(), stdout=archive, stderr=subprocess.DEVNULL)
    return packed


def _command_script(job):
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", **job.environment}
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environment.items())
    # Through env, because busybox's shell prefers its own sh, ls, ... to the programs in PATH.
    return (f"{exports}cd {shlex.quote(str(job.folder))}\n"
            f"exec /usr/bin/env -- {shlex.join(job.command)}\n")
