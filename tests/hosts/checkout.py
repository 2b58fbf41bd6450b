"""A folder from which the job scripts can be submitted as from a checkout, with the programs under test
where `./jobs/run` would have built them."""

import json

from hosts import HERE

ROOT = HERE.parent.parent
# Each host believes that it has the cores for itself.
SHARED_CORES = ["--workers", 1, "--pin", "off"]


class Checkout:
    """Submits through a Slurm what is to run on its hosts."""

    def __init__(self, ranks, slurm):
        self.folder = ranks.work / "checkout"
        self._slurm = slurm
        (self.folder / "build").mkdir(parents=True)
        (self.folder / "build/bin").symlink_to(ranks.bin)
        for part in ("jobs", "models"):
            (self.folder / part).symlink_to(ROOT / part)

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
