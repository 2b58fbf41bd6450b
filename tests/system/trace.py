"""--trace: the file is what trace viewers open, and tells what the statistics tell."""

import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import Programs

programs = Programs()
file = programs.work / "trace.json"
stats = programs.statistics_of("phold", "--lps", 512, "--until", 300, "--remote", 0.5, "--workers", 3,
                               "--rebind", 0.02, "--check-rebind", 0.3, "--trace", file)
events = json.loads(file.read_text())["traceEvents"]

spans = [event for event in events if event["ph"] == "X"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
programs.expect(sorted(names.values()) == ["GVT and network", "worker 0", "worker 1", "worker 2"],
                "there is a track for each worker and one for the net role")

sums = defaultdict(int)
for span in spans:
    for count, value in span["args"].items():
        sums[span["name"], count] += value
programs.expect(sums["execute", "events"] == stats["executed_events"],
                "every executed event is in an execute span")
programs.expect(sums["rollback", "events"] == stats["rolled_back_events"],
                "every event that was undone is in a rollback span")
programs.expect(stats["rolled_back_events"] > 0, "there were rollbacks")
programs.expect(sums["GVT round", "rounds"] == stats["gvt_rounds"], "every GVT round is there")
programs.expect(sums["handover", "groups"] == stats["numa"]["groups_moved"] > 0,
                "every group that moved is in a handover span")

wall = stats["wall_seconds"] * 1e6
programs.expect(all(0 <= span["ts"] and span["ts"] + span["dur"] <= wall + 1e6 for span in spans),
                "spans lie within the run")

# Workers go on executing while a round is under way: nobody waits in it.
rounds = [s for s in spans if s["name"] == "GVT round"]
executes = sorted((s["ts"], s["ts"] + s["dur"]) for s in spans if s["name"] == "execute")
busy = sum(any(start < r["ts"] + r["dur"] and end > r["ts"] for start, end in executes)
           for r in rounds[:200])
programs.expect(busy > 0.8 * len(rounds[:200]),
                f"in {busy} of {len(rounds[:200])} rounds some worker executes events")

programs.leave()
