#!/usr/bin/env python3
"""The field's words, and one word for one thing (docs/glossary.md): what was called otherwise once does
not come back, in code, messages or documents. Decisions are left as they were written.

usage: words.py ROOT    exit code 1 and a line `file:line: word: say ...` for each
"""

import re
import sys
from pathlib import Path

INSTEAD = {
    r"anti[-_ ]event": "anti-message",
    r"set_back|\b(?:was|is|were|are|be) set back|\bsets (?:it|its LP|an LP|the LP) back": "rolled back",
    r"checkpoint[-_]every": "state-saving-interval for LPs, checkpoint-period for runs",
    r"run_checkpoints": "checkpoints",
    r"free_history": "fossil collection",
    r"waiting_anti": "unmatched_anti_messages",
    r"from_afar": "from_other_worker",
    r"\bhopeless": "infeasible",
    r"learn_gvt|take_in\b|wind_up|mind_memory|plan_ahead|spend_ahead|thrift": "what docs/glossary.md says",
    r"[Ww]hereabouts": "error context",
    r"\bMapMove|\bmove_sobj\(": "GroupHome, request_migration",
    r"[Rr]ollback_?[Ss]pot": "most rolled back LPs",
    r"\blong_runs\b|how_to_go_on": "checkpoint_folders, restart_hint",
    r"lp_building|[Ff]inal_?[Ee]xecutor": "lp_lifetime, in_order_executor",
    r"[Uu]nmeasured guess": "how the value was derived, or what tests/bench/constants.py measured",
}
# It speaks of the words; they read statistics of the first format.
EXCEPT = {"tests/checks/words.py", "jobs/report_page/load.py", "tests/system/report_page.py"}
SUFFIXES = {".hpp", ".cpp", ".md", ".py", ".pml", ".txt", ".cmake", ".sh", ".sbatch", ""}


def main():
    root = Path(sys.argv[1])
    files = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"]
    for folder in ("src", "numa", "mpi", "models", "jobs", "docs", "tests"):
        files += sorted((root / folder).rglob("*"))
    found = 0
    for path in files:
        name = path.relative_to(root).as_posix()
        if not path.is_file() or path.suffix not in SUFFIXES or name in EXCEPT or name.startswith("docs/decisions/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            for word, instead in INSTEAD.items():
                if match := re.search(word, line):
                    print(f"{name}:{number}: {match[0]}: say {instead}")
                    found += 1
    print(f"{found} words that are not ours" if found else "clean")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
