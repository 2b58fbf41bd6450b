# SPDX-License-Identifier: Apache-2.0
"""Caches and TLBs for cachegrind: those of this machine, of the paper, or of the user."""

import argparse
import dataclasses
from pathlib import Path

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclasses.dataclass(frozen=True)
class Geometry:
    """A cache is (bytes, ways, bytes of a line). The TLB is fully associative."""

    name: str
    d1: tuple
    l2: tuple
    tlb_entries: int
    page_bytes: int  # mapped by an entry
    huge_page_bytes: int  # mapped by an entry with large pages

    def text(self):
        def cache(part):
            return f"{part[0] >> 10} KiB, {part[1]} ways, lines of {part[2]} B"
        return (f"first level {cache(self.d1)}; second level {cache(self.l2)}; TLB "
                f"{self.tlb_entries} entries of {self.page_bytes >> 10} KiB, or of "
                f"{self.huge_page_bytes >> 10} KiB with huge pages")

    def cache_options(self):
        """cachegrind's options for cache misses. I1 equals D1, because instruction misses are not
        used."""
        return options(self.d1, self.l2)

    def tlb_options(self, huge):
        """cachegrind's options for TLB misses: the first-level cache has pages as its lines."""
        page = self.huge_page_bytes if huge else self.page_bytes
        tlb = (self.tlb_entries * page, self.tlb_entries, page)
        return options(tlb, tlb)


def options(first, second):
    def text(cache):
        return ",".join(map(str, cache))
    return [f"--I1={text(first)}", f"--D1={text(first)}", f"--LL={text(second)}"]


# Carothers, Perumalla, Fujimoto, section 2; MIPS: "R10000 Microprocessor User's Manual",
# version 2.0. An entry of the TLB maps two neighboring pages, here of 16 KiB (the usual size of
# IRIX) or of 4 MiB.
ORIGIN_2000 = Geometry("origin2000", (32 << 10, 2, 32), (4 << 20, 2, 128), 64, 32 << 10, 8 << 20)


def number_in(file):
    text = file.read_text().strip()
    return int(text.removesuffix("K")) * (1024 if text.endswith("K") else 1)


def cache_of_this_machine(level, otherwise):
    for index in sorted(CACHES.glob("index*")):
        if (index / "level").read_text().strip() == str(level) \
                and (index / "type").read_text().strip() in ("Data", "Unified"):
            size, ways, line = (number_in(index / name) for name in
                                ("size", "ways_of_associativity", "coherency_line_size"))
            sets = size // (ways * line) if ways else 0
            if sets:
                # cachegrind requires that the number of sets is a power of two.
                return ((1 << (sets.bit_length() - 1)) * ways * line, ways, line)
    return otherwise


def this_machine():
    """The caches of this machine. The system does not report the TLB. The TLB is assumed to have 64
    entries for pages of 4 KiB and 2 MiB, as in x86 processors since 2008."""
    return Geometry("this-machine", cache_of_this_machine(1, (32 << 10, 8, 64)),
                    cache_of_this_machine(2, (1 << 20, 16, 64)), 64, 4 << 10, 2 << 20)


def parsed_geometry(text):
    """The Geometry for the name of a preset or NAME:D1:L2:TLB, as in
    mine:32768,8,64:1048576,16,64:64,4096,2097152."""
    if text == ORIGIN_2000.name:
        return ORIGIN_2000
    if text == "this-machine":
        return this_machine()
    try:
        name, *parts = text.split(":")
        d1, l2, tlb = (tuple(map(int, part.split(","))) for part in parts)
        if not name or [len(part) for part in (d1, l2, tlb)] != [3, 3, 3] \
                or min(d1 + l2 + tlb) < 1:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}'; allowed: this-machine, origin2000, or NAME:SIZE,WAYS,LINE:SIZE,WAYS,LINE:"
            "ENTRIES,PAGE,HUGE_PAGE for first level, second level and TLB") from None
    return Geometry(name, d1, l2, *tlb)
