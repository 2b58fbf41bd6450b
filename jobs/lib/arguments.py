"""The command line of a job, `./jobs/run JOB`."""

import argparse


class Parser(argparse.ArgumentParser):
    """What is wrong is said in one line, with exit code 2; an option's name is whole."""

    def __init__(self, job, **more):
        super().__init__(prog=f"./jobs/run {job}", allow_abbrev=False, **more)
        self.job = job

    def error(self, message):
        self.exit(2, f"numawarp: {self.job}: {message}; see ./jobs/run {self.job} --help\n")
