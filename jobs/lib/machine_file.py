# SPDX-License-Identifier: Apache-2.0
"""Files that describe machines. `./jobs/run machine` writes them and the option --machine reads
them."""

import json
from pathlib import Path


class BadMachine(Exception):
    """The text names the error and the allowed values."""


def read(text):
    """Returns (name, JSON). If `text` is FILE: "" and the content of FILE. If `text` is FILE#NAME,
    where FILE contains several machines: NAME and the machine with this name. Raises BadMachine."""
    file, _, name = text.partition("#")
    try:
        content = json.loads(Path(file).read_text())
    except OSError as error:
        raise BadMachine(f"{error.strerror}; allowed: a readable file") from error
    except ValueError as error:
        raise BadMachine(f"not valid JSON: {error}; allowed: a file as written by ./jobs/run machine") from error
    if name:
        if not isinstance(content, dict) or name not in content:
            raise BadMachine(f"the file has no machine '{name}'; allowed: FILE#NAME with a machine of the file")
        content = content[name]
    return name, content
