# SPDX-License-Identifier: Apache-2.0
"""A checkout from which the job scripts are submitted to SLURM on the hosts."""

import json
import shutil

from checkouts import make_checkout, write_script


def mute_srun(folder):
    """A PATH for a job whose srun behaves like the srun of a SLURM without PMIx, as far as a script
    can detect."""
    folder.mkdir()
    write_script(folder / "srun", 'case "$*" in --mpi=list) echo pmi2 ;; *--mpi=pmix*) exit 1 ;; '
                                  f'*) exec {shutil.which("srun")} "$@" ;; esac')
    return f"{folder}:/usr/bin:/bin"


class Checkout:
    """Submits jobs to a Slurm, which runs them on its hosts."""

    def __init__(self, ranks, slurm):
        self.folder = make_checkout(ranks)
        self._slurm = slurm

    def submit(self, script, *words):
        """Submits a script by ./jobs/run and returns the job's number. A model given by its path is
        not built."""
        said = self._slurm.run(self.folder, "./jobs/run", "slurm", script, *words)
        return int(said.split()[1].rstrip(";"))

    def sbatch(self, *words, through=()):
        """Submits by SLURM's own command and returns the job's number. `through`: a command that
        runs sbatch, for example `env A=B`."""
        return int(self._slurm.run(self.folder, *through, "sbatch", "--parsable", *words))

    def statistics(self, results):
        """The JSON in this folder of results/; empty if there is none."""
        stats = self.folder / "results" / results / "stats.json"
        return json.loads(stats.read_text()) if stats.exists() else {}

    def log(self, name):
        file = self.folder / f"{name}.out"
        return file.read_text() if file.exists() else ""
