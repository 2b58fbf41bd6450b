"""A PNG as Chromium and rsvg-convert write it (8 bits, RGB or RGBA, not interlaced), without a
library: what colours are in it."""

import struct
import zlib
from collections import Counter


def colours_of(path):
    """(width, height, how many pixels have each colour)"""
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path.name} is no PNG")
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError(f"{path.name}: depth {depth}, colour type {colour}")
    size = 3 if colour == 2 else 4
    found, above, raw = Counter(), bytearray(width * size), zlib.decompress(packed)
    for y in range(height):
        start = y * (width * size + 1)
        line = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + width * size]), above, size)
        found.update(bytes(line[x:x + 3]) for x in range(0, len(line), size))
        above = line
    return width, height, found


def unfiltered(kind, line, above, size):
    """One line of pixels from what is stored: differences to its left, above, or between (PNG
    specification, section 9)."""
    for i in range(len(line)) if kind else ():
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        up = above[i]
        if kind == 1:
            add = left
        elif kind == 2:
            add = up
        elif kind == 3:
            add = (left + up) // 2
        else:
            to_left, to_up, to_corner = (abs(up - corner), abs(left - corner),
                                         abs(left + up - 2 * corner))
            add = (left if to_left <= to_up and to_left <= to_corner
                   else up if to_up <= to_corner else corner)
        line[i] = (line[i] + add) & 255
    return line
