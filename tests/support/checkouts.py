"""A folder like a checkout in which ./jobs/run finds the programs under test built, and what stands in for
commands that a test must not run, or that are not there."""

import os
import shutil

from programs import CHECKOUT


def make_checkout(programs, name="checkout"):
    """Folders of ours by links, build/ that of the test; results and what commands write are its own."""
    folder = programs.work / name
    folder.mkdir()
    for path in CHECKOUT.iterdir():
        if not path.name.startswith((".git", "build", "results")):
            (folder / path.name).symlink_to(path)
    (folder / "build").symlink_to(programs.bin.parent)
    return folder


def without_building(checkout):
    """The environment of commands there that would build, test or install: stand-ins come before cmake, ctest
    and apt-get, since other tests run meanwhile."""
    # Inside a job of SLURM the same lines would mean other things.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    return environment | {"PATH": f"{CHECKOUT}/tests/documents/stand_ins:{os.environ['PATH']}",
                          "NUMAWARP_DOCUMENTS_PATH": os.environ["PATH"],
                          "NUMAWARP_DOCUMENTS_CHECKOUT": str(checkout)}


def write_script(path, text):
    """For bash, wherever that is."""
    path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
    path.chmod(0o755)


def path_with(folder, tools, **scripts):
    """A folder for PATH with nothing but these tools of this machine, and scripts by name."""
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(shutil.which(tool))
    for tool, text in scripts.items():
        write_script(folder / tool, text)
    return folder
