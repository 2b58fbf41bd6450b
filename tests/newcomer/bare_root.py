# SPDX-License-Identifier: Apache-2.0
"""A bare Debian root folder: created, entered, and deleted in every case.

If the caller provides an unpacked minimal image (a folder, or a tar file of a folder), the root is
a copy of this image. Otherwise debootstrap --variant=minbase makes the root, from the mirror in the
configuration of this machine's apt, with the same settings. This file names no mirror.

The danger of such roots is that /proc or /dev is still mounted in a root when the root is deleted.
So nothing is mounted in the process that deletes the folder: work that needs mounts is done by a
child process in separate mount and process namespaces. The namespaces end with the child, and all
processes in them end, too. The folder is deleted outside, after the end of the child."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

# All processes end with the child, because it is the first process of their namespace.
NAMESPACES = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]

# The program of the child, for sh: creates the mounts of a machine and enters the root.
ENTER = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmp "$root/dev/shm"
exec chroot "$root" "$@"
"""


class Unavailable(Exception):
    """There can be no such root on this machine; the text is one line with the reason."""


@contextmanager
def bare_root(suite, gigabytes, image):
    """The folder of a bare root, without mounts. The folder is deleted at the end of the context.
    `suite`: bookworm is Debian 12, trixie is Debian 13. `image`: None, or see unpacked()."""
    if os.geteuid() != 0:
        raise Unavailable("a separate root file system needs root")
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1e9
    if free < gigabytes:
        raise Unavailable(f"needs {gigabytes} GB in {tempfile.gettempdir()}, which has {free:.1f}")
    if subprocess.run([*NAMESPACES, "true"], capture_output=True).returncode != 0:
        raise Unavailable("no namespaces here (a container without CAP_SYS_ADMIN?)")
    with tempfile.TemporaryDirectory(prefix="numawarp-bare-") as folder:
        root = Path(folder) / "root"
        if image:
            root = unpacked(Path(image), root)
        else:
            bootstrap(root, suite)
        connect(root, suite)
        yield root


def enter(root, *command, timeout):
    """Runs a command inside, with the output of this process. Returns its exit code."""
    # The command gets only the variables of a new login.
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}
    sys.stdout.flush()
    return subprocess.run([*NAMESPACES, "sh", "-e", "-c", ENTER, "enter", root, *command],
                          env=environment, stdin=subprocess.DEVNULL, timeout=timeout).returncode


def unpacked(image, root):
    """The path of the root: `root`, or the one folder of a tar file."""
    if image.is_dir():
        # An image that is in use may contain mounts, which must not be copied.
        copied = subprocess.run(["cp", "-a", "--one-file-system", image, root])
    else:
        root.mkdir()
        copied = subprocess.run(["tar", "-C", root, "--numeric-owner", "-xf", image])
    found = [path for path in (root, *root.iterdir()) if (path / "etc/debian_version").exists()]
    if copied.returncode != 0 or not found:
        raise Unavailable(f"{image}: neither a Debian root nor a tar file of a Debian root")
    return found[0]


def bootstrap(root, suite):
    if not shutil.which("debootstrap"):
        raise Unavailable("no debootstrap here (Debian: debootstrap), and no image of a bare root")
    mirror = mirrors(suite)[0][0]
    done = subprocess.run([*NAMESPACES, "debootstrap", "--variant=minbase", suite, root, mirror],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800)
    if done.returncode != 0:
        raise Unavailable("debootstrap: " + done.stdout.strip().splitlines()[-1])


def mirrors(suite):
    """(address, release, component) of the sources of this Debian, from this machine's apt; at
    least one."""
    listed = subprocess.run(["apt-get", "indextargets", "Created-By: Packages", "--format",
                             "$(REPO_URI) $(RELEASE) $(COMPONENT)"], capture_output=True, text=True)
    rows = sorted({tuple(line.split()) for line in listed.stdout.splitlines()})
    ours = [row for row in rows if row[1].startswith(suite) and row[2] == "main"]
    # A mirror of another Debian release contains this release, too.
    base = [row[0] for row in rows if row[0].rstrip("/").endswith("/debian") and row[2] == "main"]
    if not base:
        raise Unavailable("apt of this machine has no mirror of Debian")
    first = (base[0], suite, "main")
    return [first, *(row for row in ours if row != first)]


def connect(root, suite):
    """Lets the root's apt use the network and the sources of this machine's apt."""
    for file in (Path("/etc/resolv.conf"), Path("/etc/hosts")):
        if file.exists():
            shutil.copy(file, root / "etc" / file.name)
    try:
        lines = [f"deb {' '.join(row)}\n" for row in mirrors(suite)]
    except Unavailable:
        return  # an image contains its own sources
    (root / "etc/apt/sources.list").write_text("".join(lines))
    shutil.rmtree(root / "etc/apt/sources.list.d", ignore_errors=True)
    (root / "etc/apt/sources.list.d").mkdir()
    settings = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True)
    (root / "etc/apt/apt.conf.d/90as-outside").write_text("".join(
        f"{line}\n" for line in settings.stdout.splitlines()
        if line.startswith(("Acquire::Check-", "Acquire::http", "Acquire::Retries"))))
