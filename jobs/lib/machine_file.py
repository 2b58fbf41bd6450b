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
        raise BadMachine(f"{error.strerror}; legal: a file that can be read") from error
    except ValueError as error:
        raise BadMachine(f"no JSON: {error}; legal: as ./jobs/run machine writes it") from error
    if name:
        if not isinstance(content, dict) or name not in content:
            raise BadMachine(f"no machine '{name}' in it; legal: FILE#NAME of one that is")
        content = content[name]
    return name, content
