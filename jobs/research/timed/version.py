# SPDX-License-Identifier: Apache-2.0
"""The version of QEMU that the modeled guest needs. Requires: tests/guest is in sys.path."""

import re
import subprocess

import images

QEMU_VERSION = (9, 1)  # the first version with conditional callbacks


def check_version(qemu):
    """Raises Unavailable if QEMU is too old. `qemu`: the words that start QEMU."""
    text = subprocess.run([*qemu, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)\.(\d+)", text)
    if not found or (int(found[1]), int(found[2])) < QEMU_VERSION:
        raise images.Unavailable(f"the modeled guest needs QEMU {'.'.join(map(str, QEMU_VERSION))} or later; "
                                 f"this is {found[0] if found else 'an unknown version'}")
