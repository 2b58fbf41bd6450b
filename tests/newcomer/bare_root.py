"""A bare Debian to change into: made, entered, and taken away whatever happens.

Where it comes from: an unpacked minimal image (a folder, or a tar file of one), if the caller knows one;
else debootstrap --variant=minbase, from the mirror that apt of this machine is configured with and
reads with the same settings. No mirror is named here.

What may go wrong with such roots is that /proc or /dev is still mounted in one when it is deleted.
So nothing is mounted where the folder is deleted: whatever needs mounts is done by a child in mount
and process namespaces of its own, which end with it, and with them every process that is left. The
folder is deleted outside, when the child is gone."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

# Processes die with the child: with the first process of their namespace.
NAMESPACES = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]

# What the child does, as sh: the mounts of a machine, and in.
ENTER = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmp "$root/dev/shm"
exec chroot "$root" "$@"
"""


class Unavailable(Exception):
    """No such root on this machine; the text says why, in a line."""


@contextmanager
def bare_root(suite, gigabytes, image):
    """The folder of a bare root, without mounts, that goes away with the context. `suite`: bookworm is
    Debian 12, trixie 13. `image`: None, or see unpacked()."""
    if os.geteuid() != 0:
        raise Unavailable("a root of its own needs root")
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
    """The exit code of a command inside; its output is ours."""
    # Only what a fresh login has.
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}
    sys.stdout.flush()
    return subprocess.run([*NAMESPACES, "sh", "-e", "-c", ENTER, "enter", root, *command],
                          env=environment, stdin=subprocess.DEVNULL, timeout=timeout).returncode


def unpacked(image, root):
    """Where the root is: there, or in the one folder of a tar file."""
    if image.is_dir():
        # A root that somebody is using has mounts: not ours to copy.
        copied = subprocess.run(["cp", "-a", "--one-file-system", image, root])
    else:
        root.mkdir()
        copied = subprocess.run(["tar", "-C", root, "--numeric-owner", "-xf", image])
    found = [path for path in (root, *root.iterdir()) if (path / "etc/debian_version").exists()]
    if copied.returncode != 0 or not found:
        raise Unavailable(f"{image}: no Debian root, nor a tar file of one")
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
    """(address, release, component) of what this machine's apt reads of that Debian; at least one."""
    listed = subprocess.run(["apt-get", "indextargets", "Created-By: Packages", "--format",
                             "$(REPO_URI) $(RELEASE) $(COMPONENT)"], capture_output=True, text=True)
    rows = sorted({tuple(line.split()) for line in listed.stdout.splitlines()})
    ours = [row for row in rows if row[1].startswith(suite) and row[2] == "main"]
    # Another Debian's mirror has this one, too.
    base = [row[0] for row in rows if row[0].rstrip("/").endswith("/debian") and row[2] == "main"]
    if not base:
        raise Unavailable("apt of this machine knows no mirror of Debian")
    first = (base[0], suite, "main")
    return [first, *(row for row in ours if row != first)]


def connect(root, suite):
    """Lets the root's apt reach what this machine's reaches."""
    for file in (Path("/etc/resolv.conf"), Path("/etc/hosts")):
        if file.exists():
            shutil.copy(file, root / "etc" / file.name)
    try:
        lines = [f"deb {' '.join(row)}\n" for row in mirrors(suite)]
    except Unavailable:
        return  # an image has its own
    (root / "etc/apt/sources.list").write_text("".join(lines))
    shutil.rmtree(root / "etc/apt/sources.list.d", ignore_errors=True)
    (root / "etc/apt/sources.list.d").mkdir()
    settings = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True)
    (root / "etc/apt/apt.conf.d/90as-outside").write_text("".join(
        f"{line}\n" for line in settings.stdout.splitlines()
        if line.startswith(("Acquire::Check-", "Acquire::http", "Acquire::Retries"))))
