#!/usr/bin/env python3
"""Draws a picture of each model for docs/models/README.md from short runs, the same each time. jobs/pictures calls
it; that of traffic it draws itself."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pictures import MODELS, Runs, draw  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="jobs/gallery", description=__doc__)
    parser.add_argument("programs", type=Path, help="the folder of programs, build/bin")
    parser.add_argument("pictures", type=Path, help="where the pictures go, docs/images")
    parser.add_argument("models", nargs="*", help="only these")
    arguments = parser.parse_args()
    for model in MODELS:
        if not arguments.models or model.__name__ in arguments.models:
            print(draw(model, Runs(arguments.programs), arguments.pictures), flush=True)


main()
