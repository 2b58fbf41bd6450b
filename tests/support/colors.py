# SPDX-License-Identifier: Apache-2.0
"""Counts the colors of a picture with Pillow. Pillow may be installed for another Python than the Python that runs
the tests."""

import subprocess
from collections import Counter

from programs import python_with

COUNT = """
import sys
from PIL import Image
picture = Image.open(sys.argv[1]).convert("RGB")
for count, color in picture.getcolors(picture.width * picture.height):
    print(bytes(color).hex(), count)
"""


def colors_of(path):
    """Returns {color: number of pixels}; a color has the form f6f6f3. Skips the test if Pillow is not installed."""
    counted = subprocess.run([python_with("PIL"), "-c", COUNT, path], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return Counter({color: int(count) for color, count in map(str.split, counted.splitlines())})
