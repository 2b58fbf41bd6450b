# SPDX-License-Identifier: Apache-2.0
"""The command line of a job, `./jobs/run JOB`."""

import argparse


class Parser(argparse.ArgumentParser):
    """Prints an error as one line and exits with code 2. Options cannot be abbreviated."""

    def __init__(self, job, **more):
        super().__init__(prog=f"./jobs/run {job}", allow_abbrev=False, **more)
        self.job = job

    def error(self, message):
        self.exit(2, f"numawarp: {self.job}: {message}; see ./jobs/run {self.job} --help\n")
