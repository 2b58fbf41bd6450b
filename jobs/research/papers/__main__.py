# SPDX-License-Identifier: Apache-2.0
"""./jobs/run papers: the experiments of all four papers, one series after the other, and one page about all of them.
docs/papers.md compares the claims of the papers with the results.

    all_series.py   the series, their order, and how one of them is started or continued
    page.py         summary.md
"""

import json
import sys
from pathlib import Path

JOBS = Path(__file__).resolve().parents[2]
sys.path += [str(JOBS), str(JOBS.parent / "tests/guest")]
from lib.series.runner import Interrupted, raise_on_signals  # noqa: E402
from lib.series.records import write_atomically  # noqa: E402
from research.series.command import ROOT, Parser, Refused, new_folder  # noqa: E402
from all_series import CHANGES, CLAIMS, SERIES, run_all  # noqa: E402
from page import claims_page, page  # noqa: E402

SETTINGS = "papers.json"


def read(arguments):
    parser = Parser(
        "papers", description="Runs the experiments of all four papers: " + ", ".join(one.command for one in SERIES)
        + ". Each series has its own folder in results/papers-<date>, and summary.md shows all of them.",
        epilog="A series that fails does not end the others. Exit codes: 0 done; 2 wrong option; 4 a package or the "
               "programs are missing; 77 the guest cannot run here; otherwise that of the first series that failed; "
               "130, 143 interrupted; continue with --resume.")
    parser.add_argument("--quick", action="store_true",
                        help="one claim of each paper, in short runs, to check that everything works")
    parser.add_argument("--claims", action="store_true",
                        help="only the runs in modeled time that decide claims, three times, and once with each change of "
                             f"the model: {', '.join(CHANGES)}")
    parser.add_argument("--only", metavar="SERIES",
                        help="only the series whose names begin with SERIES; the names are those of the folders: "
                             f"{', '.join(one.folder for one in SERIES)}")
    parser.add_argument("--output", type=Path, metavar="DIR", help="new folder for the results")
    parser.add_argument("--resume", type=Path, metavar="DIR",
                        help="continue after an interruption, and write all pages and pictures again")
    parser.add_argument("--programs", type=Path, metavar="DIR", default=ROOT / "build/bin",
                        help="folder of the programs [build/bin]")
    options = parser.parse_args(arguments)
    if options.resume and (options.quick or options.claims or options.output):
        raise Refused("--resume: only --only and --programs are allowed with it; all other settings stay the same")
    if options.quick and options.claims:
        raise Refused("--quick and --claims exclude each other")
    return options


def folder_of(options):
    """(folder, kind of the runs: "", "quick" or "claims")"""
    if options.resume:
        try:
            return options.resume, json.loads((options.resume / SETTINGS).read_text())["kind"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"--resume {options.resume}: the folder has no {SETTINGS} of ./jobs/run papers") from error
    folder = options.output or new_folder("papers")
    if (folder / SETTINGS).exists():
        raise Refused(f"--output {folder}: already has results; --resume continues them")
    kind = "quick" if options.quick else "claims" if options.claims else ""
    chosen(options.only, kind)  # refuses a wrong name before the folder exists
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"--output {folder}: {error.strerror}") from error
    write_atomically(folder / SETTINGS, json.dumps({"kind": kind}) + "\n")
    return folder, kind


def chosen(only, kind):
    """The series to run."""
    every = CLAIMS if kind == "claims" else SERIES
    found = [one for one in every if one.folder.startswith(only or "")]
    if not found:
        raise Refused(f"--only {only}: no such series; allowed: the beginning of {', '.join(one.folder for one in every)}")
    return found


def main():
    raise_on_signals()
    folder = None
    try:
        options = read(sys.argv[1:])
        folder, kind = folder_of(options)
        codes = run_all(chosen(options.only, kind), folder, kind == "quick", options.programs)
    except Refused as error:
        print(f"numawarp: {error}", file=sys.stderr)
        return 2
    except Interrupted as interrupted:
        if folder:
            print(f"interrupted; continue with: ./jobs/run papers --resume {folder}", file=sys.stderr)
        return interrupted.exit_code
    write_atomically(folder / "summary.md", (claims_page if kind == "claims" else page)(folder, codes))
    print(f"results  {folder / 'summary.md'}")
    return next((code for code in codes.values() if code != 0), 0)


sys.exit(main())
