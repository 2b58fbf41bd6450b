#!/usr/bin/env python3
"""PHOLD for a while on 3 ranks, most of its events between ranks, with forced rollbacks and with groups
that change their worker: no event is lost or doubled, nothing is left in MPI.

usage: test_soak.py FOLDER-OF-PROGRAMS [SECONDS]

Stopped by a signal to one rank. The engine itself checks at the end that as many messages were
received as sent; here the digest is compared with a sequential run up to the virtual time at which
the ranks stopped, and MPI is asked which of its handles were not freed."""

import os
import signal
import sys
import time

from ranks import Ranks, Launch, SHARED_CORES
from processes import processes_of

OPTIONS = ["--lps", 512, "--events-per-lp", 4, "--remote", 0.9, "--lookahead", 0, "--payload", 40]
FOR_EVER = 1e12

seconds = float(sys.argv.pop(2)) if len(sys.argv) > 2 else 10
ranks = Ranks()
stats = ranks.work / "soak.json"

