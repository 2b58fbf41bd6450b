#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: refuse.py CALL=ERRNO COMMAND...

Runs the command while the kernel answers this system call with an error number, as in a container
that forbids the call (a seccomp filter). Of personality(2), only calls that change something are
refused. Exit code 77: no filter can be set on this machine."""

import ctypes
import os
import platform
import struct
import sys

# Numbers of the system calls, by machine.
NUMBERS = {"x86_64": {"madvise": 28, "personality": 135, "sched_setaffinity": 203, "mbind": 237,
                      "set_mempolicy": 238, "get_mempolicy": 239, "move_pages": 279},
           "aarch64": {"personality": 92}}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF: load a word of seccomp_data; jump if equal; verdict
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
ONLY_ASK = 0xFFFFFFFF  # the argument with which personality() changes nothing

call, _, error = sys.argv[1].partition("=")
number = NUMBERS.get(platform.machine(), {}).get(call)
if number is None:
    sys.exit(77)
# Loads the number of the call, then the first word of its first argument.
steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, number), (LOAD, 0, 0, 16),
         (EQUAL, 1, 0, ONLY_ASK) if call == "personality" else (EQUAL, 0, 0, 0),
         (RETURN, 0, 0, ERRNO | int(error)), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
filters = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(filters), 0, 0) != 0:
    sys.exit(77)
os.execvp(sys.argv[2], sys.argv[2:])
