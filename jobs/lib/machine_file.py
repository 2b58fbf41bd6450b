"""Files that describe machines, as `./jobs/run machine` writes them and `--machine` of a run takes them."""

import json
from pathlib import Path


class BadMachine(Exception):
    """The text says what is wrong and what is legal."""


def read(text):
    """(NAME, or "" without one; the JSON) of FILE, or of FILE#NAME, one of several machines in it. Raises
    BadMachine."""
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
