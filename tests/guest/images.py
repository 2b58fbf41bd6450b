# SPDX-License-Identifier: Apache-2.0
"""The files from which a guest boots: QEMU, a Linux kernel with the modules for 9p, and busybox.

QEMU must be installed. Kernel and busybox are downloaded once, as packages of the distribution by
`apt-get download`, unpacked into a cache folder (NUMAWARP_GUEST_CACHE, else
~/.cache/numawarp-guest) and never installed. apt uses separate lists in that folder, from the
system's sources: so no root rights are needed, and the system's lists are not changed.

On Debian 12, QEMU 7.2 boots the distribution's kernel 6.1 reliably. QEMU 10 with kernel 6.12 from
backports is better and is used if the same mirror has both. The newer QEMU and the newer kernel
must be used together: QEMU 7.2 with kernel 6.12 crashes in most boots.
"""

import fcntl
import json
import lzma
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1  # of a cache folder; a new number starts a new folder beside the old one
QEMU = "qemu-system-x86_64"
# In the order of loading. Depending on the distribution, some modules are built into the kernel.
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci",
           "virtio_console", "netfs", "fscache", "9pnet", "9pnet_virtio", "9p"]
KERNEL_PACKAGE = {"debian": "linux-image-amd64", "ubuntu": "linux-image-generic"}
BACKPORTS_QEMU = [f"{name}/bookworm-backports" for name in
                  ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")]
# The packages that a kernel's package depends on. `extra` modules are large and not needed.
KERNEL_PART = re.compile(r"linux-(image|modules|binary)-(?!extra)")


class Unavailable(Exception):
    """There can be no guest on this machine; the text is one line with the reason."""


@dataclass(frozen=True)
class Images:
    qemu: list[str]  # a command without its arguments
    kernel: Path
    busybox: Path
    modules: list[Path]  # in the order of loading


def provide():
    """The images, downloaded if they are not in the cache yet. Raises Unavailable."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"the guest is an x86-64 machine, this one is {platform.machine()}")
    if not shutil.which(QEMU):
        raise Unavailable(f"no {QEMU}; install qemu-system-x86")
    system = _system()
    cache = Path(os.environ.get("NUMAWARP_GUEST_CACHE")
                 or Path.home() / ".cache/numawarp-guest").absolute()
    folder = cache / f"{system['ID']}-{system.get('VERSION_ID', 'testing')}-{FORMAT}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with open(cache / "lock", "w") as lock:
            # One process downloads; others wait for it and find the folder.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                _fill(folder, system)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"cannot fill the cache {cache}: {error}") from error
    qemu = json.loads((folder / "qemu.json").read_text())
    return Images([part.replace("@FOLDER@", str(folder)) for part in qemu], folder / "vmlinuz",
                  folder / "busybox", sorted(folder.glob("modules/*.ko")))


def _system():
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except OSError:
        lines = []
    system = {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
    if system.get("ID") not in KERNEL_PACKAGE or not shutil.which("apt-get"):
        raise Unavailable("the guest's kernel comes from Debian's or Ubuntu's packages by apt, and "
                          "this system is neither")
    return system


def _fill(folder, system):
    """Creates the cache folder, completely or not at all."""
    print("numawarp: fetching a kernel for the guest, once (about 100 MB)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="new-", dir=folder.parent) as work:
        work = Path(work)
        made = work / "images"
        apt = _Apt(work / "apt")
        if system["ID"] == "debian" and system.get("VERSION_ID") == "12":
            backports = _backports_of(apt, work)
            if backports and _make(backports, made, BACKPORTS_QEMU):
                made.rename(folder)
                return
            shutil.rmtree(made, ignore_errors=True)
        if not _make(apt, made):
            raise Unavailable(f"apt could not provide a kernel and busybox: {apt.error}")
        made.rename(folder)


def _backports_of(apt, work):
    """An apt that also has the sources of Debian 12's backports, on the mirror that `apt` uses; or
    None."""
    mirror = apt.mirror_of("bookworm")
    if not mirror:
        return None
    entry = f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror}"
    sources = work / "backports.list"
    sources.write_text(f"{entry} bookworm main\n{entry} bookworm-backports main\n")
    backports = _Apt(work / "backports", "-o", f"Dir::Etc::sourcelist={sources}",
                     "-o", "Dir::Etc::sourceparts=/dev/null",
                     "-o", "APT::Default-Release=bookworm-backports")
    return None if backports.error else backports


def _make(apt, made, qemu_packages=()):
    """Fills the folder `made`. With `qemu_packages`, the folder also contains a QEMU. Returns False
    if a package is not available."""
    unpacked = made.with_name("unpacked")
    shutil.rmtree(unpacked, ignore_errors=True)
    kernel = apt.kernel_packages()
    if not apt.unpack([*kernel, "busybox-static", *qemu_packages], unpacked):
        return False
    vmlinuz = next(unpacked.glob("boot/vmlinuz*"), None)
    if vmlinuz is None:
        apt.error = f"no kernel in the packages {' '.join(kernel)}"
        return False
    made.mkdir()
    qemu = [QEMU]
    if qemu_packages:
        qemu = [f"@FOLDER@/{QEMU}", "-L", "@FOLDER@/share/qemu", "-L", "@FOLDER@/share/seabios"]
        shutil.copy(unpacked / f"usr/bin/{QEMU}", made)
        for name in ("qemu", "seabios"):
            shutil.copytree(unpacked / "usr/share" / name, made / "share" / name, symlinks=True)
        # The newer QEMU uses the libraries of the installed QEMU, and may need other libraries,
        # too.
        if subprocess.run([made / QEMU, "--version"], capture_output=True).returncode != 0:
            return False
    (made / "qemu.json").write_text(json.dumps(qemu))
    # A kernel has hundreds of megabytes of modules; about five modules are needed.
    shutil.copy(vmlinuz, made / "vmlinuz")
    shutil.copy(next(unpacked.glob("**/bin/busybox")), made / "busybox")
    (made / "modules").mkdir()
    for number, name in enumerate(MODULES):
        for path in unpacked.glob(f"**/{name}.ko*"):
            (made / f"modules/{number:02}-{name}.ko").write_bytes(_decompressed(path))
    return True


def _decompressed(module):
    if module.suffix == ".xz":
        return lzma.decompress(module.read_bytes())
    if module.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", module], check=True, capture_output=True).stdout
    return module.read_bytes()


class _Apt:
    """apt with separate lists and a separate cache. `error` is the text of the last error,
    initially empty."""

    def __init__(self, folder, *options):
        self._folder = folder
        self.error = ""
        (folder / "lists/partial").mkdir(parents=True)
        (folder / "cache/archives/partial").mkdir(parents=True)
        self._options = ["-q", "-o", f"Dir::State::lists={folder}/lists",
                         "-o", f"Dir::Cache={folder}/cache", *options]
        if os.geteuid() == 0:
            # Otherwise apt downloads as the user _apt, which has no access to the folder.
            self._options += ["-o", "APT::Sandbox::User=root"]
        self._run("apt-get", "update")

    def mirror_of(self, release):
        """The address from which the system has `release`, or None."""
        for line in self._run("apt-get", "indextargets", "--format",
                              "$(RELEASE) $(REPO_URI)").splitlines():
            name, _, address = line.partition(" ")
            if name == release:
                return address
        return None

    def kernel_packages(self):
        """The names of the packages that contain the system's standard kernel."""
        found = []
        waiting = [KERNEL_PACKAGE[_system()["ID"]]]
        while waiting:
            found.append(waiting.pop())
            depends = self._run("apt-cache", "depends", "--important", found[-1])
            names = re.findall(r"Depends: (\S+)", depends)
            waiting += [name for name in names if KERNEL_PART.match(name) and name not in found]
        return found

    def unpack(self, packages, folder):
        """Downloads and unpacks the packages; returns False if one of them is not available."""
        self.error = ""
        self._run("apt-get", "download", *packages)
        if self.error:
            return False
        for package in self._folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True)
            package.unlink()
        return True

    def _run(self, command, *arguments):
        """Runs the command and returns its output; sets `error` if the command fails."""
        done = subprocess.run([command, *self._options, *arguments], capture_output=True, text=True,
                              cwd=self._folder, env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("E:")]
            self.error = errors[0] if errors else f"{command} {arguments[0]} failed"
        return done.stdout
