# SPDX-License-Identifier: Apache-2.0
"""The caches and TLBs of some machines, in the form of the plug-in's model, and their latencies.

Sources:
  opteron6128  "Magny-Cours", family 10h, one die: AMD, Software Optimization Guide for AMD Family
               10h and 12h Processors (40546), appendix A; P. Conway et al., Cache hierarchy and
               memory subsystem of the AMD Opteron processor (IEEE Micro 30(2), 2010): the directory
               occupies 1 MiB of the 6 MiB on a die
  opteron6272  "Interlagos", family 15h, one die: AMD, Software Optimization Guide for AMD Family
               15h Processors (47414), sections 2.5 to 2.8 and appendix B; two cores share a second
               level
  origin2000   R10000: K. Yeager, The MIPS R10000 superscalar microprocessor (IEEE Micro 16(2),
               1996); latencies: J. Laudon, D. Lenoski, The SGI Origin: a ccNUMA highly scalable
               server (ISCA 1997). The TLB has 64 entries of two neighboring pages each, modeled as
               128 entries of one page
  origin2000-timed  the same machine with lines of 64 bytes, for the modeled guest. The TLB has 512 entries,
               so that it reaches 2 MiB with pages of 4 KiB, like 128 pages of 16 KiB, the usual size of
               IRIX
  epyc7003     "Milan": AMD, Software Optimization Guide for AMD EPYC 7003 Processors (56665), chapter 2;
               eight cores share the last level. Latencies: assumed
  altra        Neoverse N1: Arm, Neoverse N1 Core Technical Reference Manual (100616); system cache of
               Ampere Altra. Latencies: assumed
  xeon         Skylake server, ten cores of a node: Intel 64 and IA-32 Architectures Optimization
               Reference Manual, chapters on the Skylake and Skylake Server microarchitectures
  xeon-e5v4    Broadwell server, the seven cores of a node of the Xeon E5-2660 v4 with Cluster-on-Die: the same
               manual, chapter on the Haswell and Broadwell microarchitectures; Intel's data sheet: 2.5 MB of the last
               level for each core. Latencies: assumed, at 2.4 GHz

In both Opterons, a directory occupies a part of the last cache level. The model leaves this part
out, as whole ways of 128 KiB each. Latencies are in nanoseconds, rounded, for loads that wait for
each other.
"""

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Cache:
    bytes: int
    ways: int
    share: int = 1  # number of neighboring cores of a node that share the cache; 0: all cores
    line: int = 64

    def argument(self):
        return f"{self.line.bit_length() - 1}:{self.bytes // self.line // self.ways}:{self.ways}:{self.share}"


@dataclass(frozen=True)
class Tlb:
    small: tuple[int, int]  # (entries, ways) for pages of 4 KiB
    huge: tuple[int, int] = (0, 1)  # (entries, ways) for pages of 2 MiB
    unified: bool = False  # `small` is used for both sizes of pages

    def argument(self):
        numbers = [number for entries, ways in (self.small, self.huge)
                   for number in (entries // ways, ways)]
        return ":".join(map(str, [*numbers, int(self.unified)]))


@dataclass(frozen=True)
class Machine:
    caches: tuple[Cache, ...]  # from the first level to the last
    tlbs: tuple[Tlb, Tlb]
    hit_ns: tuple[float, ...]  # one per level
    memory_ns: float  # memory of the CPU's own node
    walk_ns: float  # after a miss in both levels of the TLB
    instruction_ns: float  # all time of an instruction except waiting

    def arguments(self):
        return [f"l{i}={cache.argument()}" for i, cache in enumerate(self.caches, start=1)] + [
            f"tlb{i}={tlb.argument()}" for i, tlb in enumerate(self.tlbs, start=1)]


MACHINES = {
    "opteron6128": Machine((Cache(64 * KIB, 2), Cache(512 * KIB, 16), Cache(5 * MIB, 40, share=0)),
                           (Tlb((48, 48), unified=True), Tlb((512, 4), (128, 2))),
                           (1.5, 7.5, 23), 60, 15, 0.35),
    "opteron6272": Machine((Cache(16 * KIB, 4), Cache(2 * MIB, 16, share=2),
                            Cache(6 * MIB, 48, share=0)),
                           (Tlb((32, 32), unified=True), Tlb((1024, 8), unified=True)),
                           (1.9, 9.5, 30), 70, 20, 0.4),
    "origin2000": Machine((Cache(32 * KIB, 2, line=32), Cache(4 * MIB, 2, line=128)),
                          (Tlb((128, 128), unified=True), Tlb((0, 1))),
                          (5.1, 56), 310, 200, 3),
    "origin2000-timed": Machine((Cache(32 * KIB, 2), Cache(4 * MIB, 2)), (Tlb((512, 512), unified=True), Tlb((0, 1))),
                                (5.1, 56), 310, 200, 3),
    "epyc7003": Machine((Cache(32 * KIB, 8), Cache(512 * KIB, 8), Cache(32 * MIB, 16, share=8)),
                        (Tlb((64, 64), unified=True), Tlb((2048, 8), unified=True)),
                        (1.2, 4, 14), 96, 10, 0.12),
    "altra": Machine((Cache(64 * KIB, 4), Cache(1 * MIB, 8), Cache(32 * MIB, 16, share=0)),
                     (Tlb((48, 48), unified=True), Tlb((1280, 5), unified=True)),
                     (1.3, 4, 30), 95, 15, 0.13),
    "xeon": Machine((Cache(32 * KIB, 8), Cache(1 * MIB, 16), Cache(13 * MIB + 3 * MIB // 4, 11, share=0)),
                    (Tlb((64, 4), (32, 4)), Tlb((1536, 12), unified=True)),
                    (1.7, 5.8, 21), 80, 10, 0.2),
    "xeon-e5v4": Machine((Cache(32 * KIB, 8), Cache(256 * KIB, 8), Cache(17 * MIB + MIB // 2, 20, share=0)),
                         (Tlb((64, 4), (32, 4)), Tlb((1536, 6), unified=True)),
                         (1.7, 5, 21), 90, 10, 0.2),
}
