#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the programs in docs/processes.md and docs/how-to/from-simpy.md are complete copies
or parts of tested programs: models/bank/main.cpp and tests/support/simpy_models.py."""

from document import Document, program
from programs import CHECKOUT, Programs

programs = Programs()
bank = program(CHECKOUT / "models/bank/main.cpp")
simpy = (CHECKOUT / "tests/support/simpy_models.py").read_text()
tutorial = [block.text for block in Document(CHECKOUT / "docs/processes.md").blocks]
programs.expect(bank in tutorial, "the tutorial's program is models/bank/main.cpp")
sides = {block.language: block.text
         for block in Document(CHECKOUT / "docs/how-to/from-simpy.md").blocks}
programs.expect(sides["cpp"] in bank, "the numawarp code of the comparison is from models/bank/main.cpp")
programs.expect(sides["python"] in simpy, "the SimPy code of the comparison is from simpy_models.py")
programs.leave()
