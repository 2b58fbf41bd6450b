#!/usr/bin/env python3
"""jobs/pictures makes the pictures of docs/images that come from runs, and they show something; and so
do the ones that are there. Skipped where Pillow is missing; where rsvg-convert or Chromium is, the ones
that are there are looked at."""

import subprocess
import sys

from colours import colours_of
from programs import CHECKOUT, Programs

PICTURES = ["meter.png", "report.png", "traffic.png"]
# Lines, text and their edges have hundreds of shades; a page that failed to load some.
COLOURS_MIN = 100
BACKGROUND_MAX = 0.97

programs = Programs()


def look_at(folder, what):
    for name in PICTURES:
        colours = colours_of(folder / name)
        share = max(colours.values()) / colours.total()
        programs.expect(len(colours) >= COLOURS_MIN and share <= BACKGROUND_MAX,
                        f"{what} {name}: {len(colours)} colours, {share:.0%} of it the commonest")


look_at(CHECKOUT / "docs/images", "the documents'")
done = subprocess.run([CHECKOUT / "jobs/pictures", programs.bin, programs.work],
                      capture_output=True, text=True)
if done.returncode == 4:
    print(f"skipped: {done.stderr.strip()}")
    sys.exit(1 if programs.failures else 77)
programs.expect(done.returncode == 0, f"jobs/pictures: exit code {done.returncode} {done.stderr}")
if done.returncode == 0:
    look_at(programs.work, "a new")
done = subprocess.run([CHECKOUT / "jobs/pictures", programs.work], capture_output=True, text=True)
programs.expect(done.returncode == 2 and done.stderr.count("\n") == 1,
                f"without programs: exit code {done.returncode}, {done.stderr.strip()}")
programs.leave()
