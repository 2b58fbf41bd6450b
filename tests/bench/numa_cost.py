#!/usr/bin/env python3
"""What page migration and rebinding cost where they can gain nothing, on a machine with one node, and
what rebinding gains where load wanders.

usage: numa_cost.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]
"""

from pairs import ahead_of_others, folder_rounds_and_file, judge, ratios, write_results

OFF = ["--rebind", "off", "--pagemigd", "off"]
ALL = ["--rebind", "1", "--pagemigd", "2@0.5"]
OFTEN = ["--rebind", "0.05", "--pagemigd", "off"]
# name, program and options, what is on, least ratio wanted
CASES = [
    ("phold 1,024 x 16", ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "800"],
     ALL, 0.97),
    ("phold 65,536 x 1", ["phold", "--lps", "65536", "--until", "150"], ALL, 0.97),
    ("traffic, 1024 objects", ["traffic", "--objects", "1024", "--until", "14400"], ALL, 0.97),
    ("phold, hot spot of 60 %",
     ["phold", "--lps", "4096", "--events-per-lp", "4", "--until", "1000", "--hot-spot", "0.6",
      "--hot-spot-period", "4000"], OFTEN, 1.05),
]


def main():
    programs, rounds, file = folder_rounds_and_file(__doc__, 7)
    results = {}
    for name, command, on, wanted in CASES:
        found = ratios(name, programs, command, OFF, on, rounds, ahead_of_others())
        results[name] = {"on": on, "ratio": judge(name, found, wanted), "ratios": found,
                         "wanted": wanted}
    if file:
        write_results(file, programs, results)


if __name__ == "__main__":
    main()
