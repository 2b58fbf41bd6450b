"""A user who may use sudo, in a bare root, with a fresh checkout of numawarp and nothing else. The checkout is
HEAD, so that what was not committed is missed here as by everybody else."""

import subprocess
from pathlib import Path

from bare_root import Unavailable, enter

checkout = Path(__file__).resolve().parent.parent.parent
HOME = "/home/newcomer"

# What an administrator has done before: the user, and sudo.
PREPARE = """
apt-get -qq update
apt-get -qq install -y --no-install-recommends sudo >/dev/null
useradd --create-home --shell /bin/bash newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/newcomer
mkdir /home/newcomer/numawarp
tar -C /home/newcomer/numawarp -xf /checkout.tar
chown -R newcomer: /home/newcomer/numawarp
"""


def settle(root):
    """The user is there, and the checkout."""
    with open(root / "checkout.tar", "wb") as file:
        if subprocess.run(["git", "archive", "HEAD"], cwd=checkout, stdout=file).returncode != 0:
            raise Unavailable("no checkout of git")
    if enter(root, "sh", "-e", "-c", PREPARE, timeout=1200) != 0:
        raise Unavailable("apt in the bare root does not work")


def as_newcomer(root, lines, timeout):
    """The exit code of lines of bash in the checkout, each of which must succeed."""
    # `tee` must not hide that what is before it failed.
    (root / "step").write_text(f"set -e -o pipefail\ncd {HOME}/numawarp\n{lines}\n")
    return enter(root, "sudo", "--set-home", "--user=newcomer", "bash", "/step", timeout=timeout)
