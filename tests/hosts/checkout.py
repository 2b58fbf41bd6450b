"""A folder from which the job scripts can be submitted as from a checkout, with the programs under test
where `./jobs/run` would have built them."""

import json
import os
import shutil

from hosts import HERE

ROOT = HERE.parent.parent


def make_checkout(programs, name="checkout"):
    """The folder, below the test's own."""
    folder = programs.work / name
    (folder / "build").mkdir(parents=True)
    (folder / "build/bin").symlink_to(programs.bin)
    for part in ("jobs", "models"):
        (folder / part).symlink_to(ROOT / part)
    return folder


def mute_srun(folder):
    """The srun of a SLURM without PMIx, as far as a script can see: a PATH for a job."""
    folder.mkdir()
    srun = folder / "srun"
    srun.write_text('#!/bin/sh\ncase "$*" in\n    --mpi=list) echo pmi2 ;;\n    *--mpi=pmix*) exit 1 ;;\n'
                    f'    *) exec {shutil.which("srun")} "$@" ;;\nesac\n')
    srun.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


class Checkout:
    """Submits through a Slurm what is to run on its hosts."""

    def __init__(self, ranks, slurm):
        self.folder = make_checkout(ranks)
        self._slurm = slurm

    def without_building(self):
        """The words with which a command starts that would build: that is done. Nor does it install."""
        stand_ins = ROOT / "tests/documents/stand_ins"
        return ["env", f"PATH={stand_ins}:{os.environ['PATH']}",
                f"NUMAWARP_DOCUMENTS_PATH={os.environ['PATH']}",
                f"NUMAWARP_DOCUMENTS_CHECKOUT={self.folder}"]

    def submit(self, script, *words):
        """The job's number. A model that is given by its path is not built."""
        said = self._slurm.run(self.folder, "./jobs/run", "slurm", script, *words)
        return int(said.split()[1].rstrip(","))

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
