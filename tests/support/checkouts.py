# SPDX-License-Identifier: Apache-2.0
"""Creates a folder that is like a checkout. In this folder, ./jobs/run finds the programs under test as if they
had been built in it. Also creates substitutes for commands that a test must not run or that are not installed."""

import os
import shutil

from programs import CHECKOUT


def make_checkout(programs, name="checkout"):
    """Returns a new folder with links to the files and folders of this checkout. The link build/ leads to the tested
    build. Results and other files that programs write stay in the new folder."""
    folder = programs.work / name
    folder.mkdir()
    for path in CHECKOUT.iterdir():
        if not path.name.startswith((".git", "build", "results")):
            (folder / path.name).symlink_to(path)
    (folder / "build").symlink_to(programs.bin.parent)
    return folder


def without_building(checkout):
    """Returns the environment for commands in this checkout that would build, test or install. In PATH, substitutes
    precede cmake, ctest and apt-get, because other tests run at the same time."""
    # Inside a SLURM job the same command lines would have another meaning.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    return environment | {"PATH": f"{CHECKOUT}/tests/documents/stand_ins:{os.environ['PATH']}",
                          "NUMAWARP_DOCUMENTS_PATH": os.environ["PATH"],
                          "NUMAWARP_DOCUMENTS_CHECKOUT": str(checkout)}


def write_script(path, text):
    """Writes a bash script, with the path of this machine's bash."""
    path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
    path.chmod(0o755)


def path_with(folder, tools, **scripts):
    """Returns a folder for PATH that contains only these tools of this machine, and the given scripts."""
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(shutil.which(tool))
    for tool, text in scripts.items():
        write_script(folder / tool, text)
    return folder
