#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that jobs/pictures generates the pictures of docs/images that come from runs. Neither the
new nor the existing pictures are empty. The pictures of the models are equal each time, and
docs/models/README.md contains one picture of each model. The test is skipped if Pillow is missing;
if rsvg-convert, matplotlib or Chromium is missing, only the existing pictures are checked."""

import re
import subprocess
import sys

from colors import colors_of
from document import Document
from programs import CHECKOUT, Programs

MODELS = sorted(path.parent.name for path in (CHECKOUT / "models").glob("*/CMakeLists.txt"))
DRAWN = [f"model-{model}.svg" for model in MODELS if model != "traffic"]
PICTURES = ["meter.png", "report.png", "traffic.png", *DRAWN]
# Lines and text with smooth edges have hundreds of shades; a page that failed to load has only a
# few shades.
COLORS_MIN = 100
BACKGROUND_MAX = 0.97

programs = Programs()


def as_points(picture):
    if picture.suffix != ".svg":
        return picture
    points = programs.work / "points.png"
    done = subprocess.run(["rsvg-convert", "--width", "800", "--output", points, picture])
    programs.expect(done.returncode == 0, f"{picture.name} can be drawn")
    return points


def drawn_by(picture):
    """The version of matplotlib, because other versions draw other lines."""
    return re.search(r"Matplotlib v[\d.]+", picture.read_text())[0]


def look_at(folder, what):
    for name in PICTURES:
        colors = colors_of(as_points(folder / name))
        share = max(colors.values()) / colors.total()
        programs.expect(len(colors) >= COLORS_MIN and share <= BACKGROUND_MAX,
                        f"{what} {name}: {len(colors)} colors, {share:.0%} of the pixels have the most frequent color")


shown = re.findall(r"!\[.*?\]\(\.\./images/(.*?)\)", Document(CHECKOUT / "docs/models/README.md").text)
programs.expect(sorted(shown) == sorted([*DRAWN, "traffic.png"]), f"docs/models/README.md shows {sorted(shown)}")
look_at(CHECKOUT / "docs/images", "the documents'")
done = subprocess.run([CHECKOUT / "jobs/pictures", programs.bin, programs.work],
                      capture_output=True, text=True)
if done.returncode == 4:
    print(f"skipped: {done.stderr.strip()}")
    sys.exit(1 if programs.failures else 77)
programs.expect(done.returncode == 0, f"jobs/pictures: exit code {done.returncode} {done.stderr}")
if done.returncode == 0:
    look_at(programs.work, "a new")
    for name in DRAWN:
        new, old = programs.work / name, CHECKOUT / "docs/images" / name
        programs.expect(drawn_by(new) != drawn_by(old) or new.read_text() == old.read_text(),
                        f"{name} equals the picture that jobs/gallery draws")
done = subprocess.run([CHECKOUT / "jobs/pictures", programs.work], capture_output=True, text=True)
programs.expect(done.returncode == 2 and done.stderr.count("\n") == 1,
                f"without programs: exit code {done.returncode}, {done.stderr.strip()}")
programs.leave()
