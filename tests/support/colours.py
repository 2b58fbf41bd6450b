"""What is in a picture, by Pillow, which the Python that runs the tests need not have."""

import subprocess
from collections import Counter

from programs import python_with

COUNT = """
import sys
from PIL import Image
picture = Image.open(sys.argv[1]).convert("RGB")
for count, colour in picture.getcolors(picture.width * picture.height):
    print(bytes(colour).hex(), count)
"""


def colours_of(path):
    """{colour, as f6f6f3: how many points have it}. Ends the test, as skipped, where there is no Pillow."""
    counted = subprocess.run([python_with("PIL"), "-c", COUNT, path], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return Counter({colour: int(count) for colour, count in map(str.split, counted.splitlines())})
