#!/usr/bin/env python3
"""What --trace costs: the speed of the event loop with it, by the speed without. (Writing the file comes
after the loop, and is not in it.)

usage: trace_cost.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]
"""

from pairs import ahead_of_others, folder_rounds_and_file, judge, ratios, write_results

ON = ["--trace", "FOLDER/trace.json"]
WANTED = 0.95
TWO = ["--workers", "2", "--rebind", "off"]
# Events of 0.2 µs with a rollback every 100 or so, and of 1 µs; and a hot spot, with many rollbacks.
CASES = [
    ("phold 1,024 x 16", ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "2000", *TWO]),
    ("phold 65,536 x 1", ["phold", "--lps", "65536", "--until", "150", *TWO]),
    ("phold, half to others",
     ["phold", "--lps", "1024", "--events-per-lp", "4", "--remote", "0.5", "--until", "1000", *TWO]),
    ("traffic, 1024 objects", ["traffic", "--objects", "1024", "--until", "5000", *TWO]),
]


def main():
    programs, rounds, file = folder_rounds_and_file(__doc__, 11)
    results = {}
    for name, command in CASES:
        found = ratios(name, programs, command, [], ON, rounds, ahead_of_others())
        results[name] = {"ratio": judge(name, found, WANTED), "ratios": found, "wanted": WANTED}
    if file:
        write_results(file, programs, results)


if __name__ == "__main__":
    main()
