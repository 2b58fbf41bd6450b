#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a picture of each model for docs/models/README.md from short, reproducible runs.
jobs/pictures calls this program. The picture of traffic is drawn by jobs/pictures itself."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pictures import MODELS, Runs, draw  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="jobs/gallery", description=__doc__)
    parser.add_argument("programs", type=Path, help="folder of the programs, build/bin")
    parser.add_argument("pictures", type=Path, help="folder for the pictures, docs/images")
    parser.add_argument("models", nargs="*", help="only these models")
    arguments = parser.parse_args()
    for model in MODELS:
        if not arguments.models or model.__name__ in arguments.models:
            print(draw(model, Runs(arguments.programs), arguments.pictures), flush=True)


main()
