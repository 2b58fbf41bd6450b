"""A checkout from which the job scripts are submitted to a SLURM on the hosts."""

import json
import shutil

from checkouts import make_checkout, write_script


def mute_srun(folder):
    """The srun of a SLURM without PMIx, as far as a script can see: a PATH for a job."""
    folder.mkdir()
    write_script(folder / "srun", 'case "$*" in --mpi=list) echo pmi2 ;; *--mpi=pmix*) exit 1 ;; '
                                  f'*) exec {shutil.which("srun")} "$@" ;; esac')
    return f"{folder}:/usr/bin:/bin"


class Checkout:
    """Submits through a Slurm what is to run on its hosts."""

    def __init__(self, ranks, slurm):
        self.folder = make_checkout(ranks)
        self._slurm = slurm

    def submit(self, script, *words):
        """The job's number. A model that is given by its path is not built."""
        said = self._slurm.run(self.folder, "./jobs/run", "slurm", script, *words)
        return int(said.split()[1].rstrip(";"))

    def sbatch(self, *words, through=()):
        """The job's number, by SLURM's own command; `through`: what runs it, as `env A=B`."""
        return int(self._slurm.run(self.folder, *through, "sbatch", "--parsable", *words))

    def statistics(self, results):
        """The JSON that is in this folder of results/, if there is one."""
        stats = self.folder / "results" / results / "stats.json"
        return json.loads(stats.read_text()) if stats.exists() else {}

    def log(self, name):
        file = self.folder / f"{name}.out"
        return file.read_text() if file.exists() else ""
