#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./jobs/run report. For every kind of run, the page has all parts, is well formed, loads
nothing, reports different digests prominently, and gives advice with options that exist. A browser
must be able to display the page: if Chromium is installed, Chromium takes a picture of a page."""

import copy
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser

from colors import colors_of
from programs import CHECKOUT, MPI_ENVIRONMENT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs"))
from report_page import advice, load, page  # noqa: E402

programs = Programs()

PARTS = ["What stands out", "Measures", "Over time", "Kinds of LPs, types of events", "Rollback lengths",
         "Load by worker", "Memory by kind", "Pages by node", "Communication", "Every figure", "Options"]
VOID = {"meta", "br"}


class Outline(HTMLParser):
    """Open tags, the headings, and everything that a browser would fetch or run."""

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.wrong = [], [], []
        self.charts = []  # for each chart: (x, y, anchor, words) of its texts

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "img", "iframe", "object", "embed", "base", "form"):
            self.wrong.append(f"<{tag}>")
        for name, value in attributes:
            if name in ("src", "href", "action", "data") or name.startswith("on"):
                self.wrong.append(f"{name}={value}")
        if tag == "svg":
            self.charts.append([])
        if tag == "text":
            facts = dict(attributes)
            self.charts[-1].append([float(facts["x"]), float(facts["y"]), facts["class"], ""])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)
        if self.open and self.open[-1] == "text":
            self.charts[-1][-1][3] += data


def outline(text):
    parser = Outline()
    parser.feed(text)
    parser.close()
    return parser


def crowded_texts(chart):
    """Texts of a chart that overlap another text or leave the picture. The width of a text is
    estimated."""
    character, height, width = 6.6, 11, 560
    boxes = []
    for x, y, style, words in chart:
        long = character * len(words)
        left = x - (long if "end" in style.split() else long / 2 if "middle" in style else 0)
        boxes.append((left, left + long, y, words))
    outside = [words for left, right, _, words in boxes if left < -8 or right > width + 12]
    return outside + [(a[3], b[3]) for i, a in enumerate(boxes) for b in boxes[i + 1:]
                      if abs(a[2] - b[2]) < height and a[0] < b[1] - 2 and b[0] < a[1] - 2]


def report(*arguments):
    return subprocess.run([CHECKOUT / "jobs/report", *map(str, arguments)], capture_output=True, text=True,
                          cwd=programs.work, timeout=60)


def stats_file(name, *arguments):
    stats = programs.statistics_of(*arguments)
    (programs.work / name).write_text(json.dumps(stats))
    return stats


def check_page(name, files, runs):
    done = report(*files, "-o", f"{name}.html")
    programs.expect(done.returncode == 0 and done.stdout == f"{name}.html\n", f"{name}: the page is made")
    text = (programs.work / f"{name}.html").read_text()
    seen = outline(text)
    missing = [part for part in PARTS if seen.headings.count(part) != runs]
    programs.expect(not missing, f"{name}: the page has all parts for each run: {missing}")
    programs.expect(not seen.open and not seen.wrong,
                    f"{name}: the page is well formed, and fetches and runs nothing: {seen.open[:3]} {seen.wrong[:3]}")
    crowded = [found for chart in seen.charts if (found := crowded_texts(chart))]
    programs.expect(not crowded, f"{name}: in {len(seen.charts)} charts all texts are readable {crowded[:2]}")
    fetched = re.findall(r"https?:|url\(|@import|\bsrc=", text)
    programs.expect(not fetched, f"{name}: the page contains no address: {fetched}")
    return text


# --- statistics of real runs ---

phold = ["phold", "--lps", 512, "--until", 150]
sequential = stats_file("sequential.json", *phold, "--engine", "sequential")
timewarp = stats_file("timewarp.json", *phold, "--workers", 2, "--remote", 0.25, "--window", "off")
hot = stats_file("hot.json", *phold, "--engine", "timewarp", "--workers", 2, "--hot-spot", 0.7, "--rebind", "off")
conservative = stats_file("conservative.json", *phold, "--engine", "conservative", "--workers", 2)

for name, stats in [("sequential", sequential), ("timewarp", timewarp), ("hot", hot),
                    ("conservative", conservative)]:
    history = stats["history"]
    last = history[-1]
    programs.expect(
        all(last[key] == stats[key] for key in ["gvt", "committed_events", "executed_events",
                                                "rolled_back_events", "gvt_rounds"])
        and last["seconds"] == stats["wall_seconds"], f"{name}: the history ends at the end of the run")
    rising = ["seconds", "gvt", "committed_events", "executed_events", "rolled_back_events",
              "gvt_rounds"]
    programs.expect(all(a[key] <= b[key] for a, b in zip(history, history[1:]) for key in rising),
                    f"{name}: totals never decrease")
    programs.expect(all(s["committed_events"] + s["rolled_back_events"] <= s["executed_events"]
                        for s in history), f"{name}: committed ≤ executed − rolled back")
    lengths = stats["rollback_lengths"]
    programs.expect(sum(row["rollbacks"] for row in lengths) == stats["rollbacks"],
                    f"{name}: every rollback has a length")
    most = sum(row["rollbacks"] * row["events_max"] for row in lengths)
    programs.expect(stats["rolled_back_events"] <= most <= 2 * stats["rolled_back_events"],
                    f"{name}: lengths add up to the number of undone events")
    spots = stats["most_rolled_back_lps"]
    counts = [spot["rolled_back_events"] for spot in spots]
    programs.expect(len(spots) <= 16 and counts == sorted(counts, reverse=True)
                    and sum(counts) <= stats["rolled_back_events"]
                    and bool(spots) == (stats["rollbacks"] > 0)
                    and all(spot["lp"] < stats["lps"] for spot in spots),
                    f"{name}: the LPs that were rolled back most are named")
programs.expect(timewarp["rollbacks"] > 0, "there were rollbacks")

mpirun = shutil.which("mpirun")
if mpirun:
    stats = programs.work / "ranks.json"
    subprocess.run([mpirun, "--oversubscribe", "-np", "2", programs.bin / "phold",
                    "--lps", "64", "--until", "10", "--engine", "timewarp", "--workers", "1", "--quiet",
                    "--stats", stats], check=True, env=MPI_ENVIRONMENT, timeout=120)
    ranks = json.loads(stats.read_text())
    cells = ranks["communication"]
    programs.expect([len(row) for row in cells] == [2, 2] and cells[0][0] == cells[1][1] == 0
                    and cells[0][1] > 0
                    and sum(map(sum, cells)) == ranks["mpi"]["events_sent"],
                    f"the table of communication adds up: {cells}")
    check_page("ranks", ["ranks.json"], 1)

# --- pages ---

for name in ["sequential", "timewarp", "hot", "conservative"]:
    check_page(name, [f"{name}.json"], 1)
shops = stats_file("shops.json", "print_shops", "--workers", 2, "--window", "off", "--measure-interval", 50)
text = check_page("shops", ["shops.json"], 1)
programs.expect(all(f"{name}: mean of each interval" in text for name in shops["measures"]),
                "each measure is drawn over virtual time")
costs = {f"{row['kind']} {row['event']}": row["mean_ns"] * (row["committed_events"] + row["rolled_back_events"])
         for row in shops["event_types"] if row["mean_ns"]}
places = [text.index(f"<td>{name}</td>") for name in sorted(costs, key=costs.get, reverse=True)]
programs.expect(len(places) > 3 and places == sorted(places) and "<td>dispatcher</td><td>3</td><td>copy</td>" in text,
                "events are sorted by cost, the most expensive first, and kinds have their rollback method")
programs.expect(f">{shops['most_rolled_back_lps'][0]['name']} (worker" in text, "LPs have the names of their kinds")
programs.expect("The model has no measures" in (programs.work / "timewarp.html").read_text()
                and "neither has kinds" in (programs.work / "timewarp.html").read_text(),
                "the page reports that a model has no measures and no kinds")
programs.expect("No rollbacks." in (programs.work / "sequential.html").read_text(),
                "the page reports that a sequential run has no rollbacks")
text = check_page("compared", ["sequential.json", "conservative.json", "timewarp.json", "hot.json"], 4)
programs.expect("differ in hot-spot" in text and "DIGESTS" not in text,
                "runs with different model options are not compared")
text = check_page("agreed", ["sequential.json", "timewarp.json"], 2)
programs.expect("All digests are equal" in text, "the page reports that equal digests are equal")
programs.expect("was fastest" in text and "the speed of the sequential engine" in text,
                "the comparison names the fastest run and the speedup of the workers")

forged = {**timewarp, "digest": "0" * 32, "model": timewarp["model"]}
(programs.work / "forged.json").write_text(json.dumps(forged))
text = check_page("mismatch", ["sequential.json", "timewarp.json", "forged.json"], 3)
programs.expect("DIGESTS DIFFER" in text and "0" * 32 in text, "digests that differ are shown prominently")
programs.expect(report("hot.json").stdout == "report.html\n"
                and (programs.work / "report.html").exists(), "the page has a default name")


def page_with(**changes):
    return page.page_of([load.Run("changed", {**copy.deepcopy(timewarp), **changes})])


def check_changed(name, **changes):
    """A page of a run that this machine cannot produce."""
    programs.work.joinpath(f"{name}.json").write_text(json.dumps({**copy.deepcopy(timewarp), **changes}))
    return check_page(name.replace(".json", ""), [f"{name}.json"], 1)


worker, samples = timewarp["workers_detail"][0], timewarp["history"]
for workers in (24, 64, 300):
    check_changed(f"{workers}-workers", workers=workers, workers_detail=[
        {**worker, "core": i, "committed_events": worker["committed_events"] * (i % 7 + 1)}
        for i in range(workers)])
check_changed("many-ranks", ranks=40, communication=[[i * k for i in range(40)] for k in range(40)])
check_changed("long-rollbacks", rollback_lengths=[{"events_max": 2 ** b, "rollbacks": 10 ** b // 2 ** b}
                                                  for b in range(20)])
for seconds, unit in [(3e-4, "µs"), (0.05, "ms"), (100, "s"), (3000, "min"), (86400, "h"), (1e6, "days")]:
    last = samples[-1]["seconds"]
    text = check_changed(f"of-{seconds}-seconds", wall_seconds=seconds, history=[
        {**sample, "seconds": sample["seconds"] * seconds / last, "window": 1e-7 * 10 ** (i % 12)}
        for i, sample in enumerate(samples)])
    programs.expect(re.search(rf">[\d.]+ {unit}</text>", text) is not None,
                    f"the time axis of a run of {seconds} s is in {unit}")
check_changed("a-file-of-a-parameter-sweep-with-lps=4096_remote=0.25_mean=1.5_seed=17")
text = check_page("sweep", ["a-file-of-a-parameter-sweep-with-lps=4096_remote=0.25_mean=1.5_seed=17.json",
                            "timewarp.json"], 2)
text = check_changed("restarted", checkpoints={"restarted_at": 100.0, "written": 3, "seconds": 0.1},
                     history=[{**sample, "seconds": 50 + sample["seconds"], **{
                         name: 1000 + sample[name] for name in ("executed_events", "rolled_back_events")}}
                              for sample in samples],
                     wall_seconds=50 + timewarp["wall_seconds"],
                     executed_events=1000 + timewarp["executed_events"],
                     rolled_back_events=1000 + timewarp["rolled_back_events"])
pieces = [{"seconds": at, "gvt": 2 * at, "executed_events": 20 * at, "rolled_back_events": 20 * at}
          for at in (0, 25, 50)]
of_pieces = load.Run("pieces", {**timewarp, "checkpoints": {"restarted_at": 100.0, "pieces": pieces},
                                "wall_seconds": 50 + timewarp["wall_seconds"],
                                "executed_events": 1000 + timewarp["executed_events"]})
programs.expect(of_pieces.began_seconds == 50
                and of_pieces.count_here("executed_events") == timewarp["executed_events"]
                and "in 3 pieces, restarted after 25 s, 50 s" in page.page_of([of_pieces]).replace("\u202f", " "),
                "the page of a run in several pieces has their begins, and marks figures of the last piece")
programs.expect(f"undid {timewarp['rolled_back_events']:,} of {timewarp['executed_events']:,} executed events"
                in text.replace("\u202f", ",").replace("\xa0", ",") and "since the restart" in text,
                "the lengths of its rollbacks are of the last piece")
programs.expect("continued from a checkpoint at virtual time 100; 3 checkpoints" in text
                and "at 50 s of wall time." in text, "the page of a restarted run reports the restart")

for lacking in timewarp:
    stats = {key: value for key, value in timewarp.items() if key != lacking}
    page.page_of([load.Run("older", stats), load.Run("whole", timewarp)])
page.page_of([load.Run("bare", {"schema": "numawarp.stats/2"})])
former = load.Run("former", load.as_today({
    "schema": "numawarp.stats/1", "checkpoints": 7, "run_checkpoints": {"restarted_at": 100.0},
    "options": {"checkpoint-every": 4}, "memory": {"checkpoints_bytes_peak": 9}}))
programs.expect(former.restarted and former.number("saved_states") == 7
                and former.option("state-saving-interval") == "4"
                and former.number("memory.saved_states_bytes_peak") == 9,
                "a file of the first format is read with the present names")
for odd in [None, 5, -1, 10 ** 400, 1e308, float("nan"), "<b>", [], [None], [[1]], [{"seconds": 0}], {},
            {"by_kind": 3}]:
    for key in timewarp:
        seen = outline(page_with(**{key: odd}))
        if seen.wrong or seen.open:
            programs.expect(False, f"{key}={odd!r}: {seen.wrong[:3]} {seen.open[:3]}")
programs.expect(True, "files with missing or invalid parts still give a page")
programs.expect("<script>alert" not in page_with(model="<script>alert(1)</script>"),
                "names from a file cannot become markup")

# --- advice ---

calm = {"schema": "numawarp.stats/2", "model": "toy", "engine": "timewarp", "ranks": 1, "workers": 2,
        "machine": {"cpus": 2}, "wall_seconds": 100.0, "committed_events": 99_000_000,
        "executed_events": 100_000_000, "rolled_back_events": 1_000_000, "rollbacks": 200_000,
        "anti_messages": 1_000_000, "coasted_events": 0, "gvt_rounds": 90_000, "idle_turns": 1_000_000,
        "window_stops": 0, "events_crossed": 5_000_000, "efficiency": 0.99,
        "options": {"window": "auto", "rebind": "2", "lps-per-group": 16, "memory": "numa",
                    "pin": "on"},
        "numa": {"remote_page_share": 0.01, "pagemigd": {"threads": 0}},
        "workers_detail": [{"busy_seconds": 99, "committed_events": 50_000_000},
                           {"busy_seconds": 98, "committed_events": 49_000_000}]}
uneven = [{"busy_seconds": 99, "committed_events": 80_000_000},
          {"busy_seconds": 50, "committed_events": 19_000_000}]
fell = [{"seconds": i, "window": 10.0 / 4 ** i} for i in range(20)]
stood = [{"seconds": 5 * i, "committed_events": 5_000_000 * max(0, i - 4), "window": 1e-6 if i < 4 else 2.0}
         for i in range(21)]
slow = [{**sample, "window": 2.0} for sample in stood]
robbed = [{"busy_seconds": 30, "committed_events": 50_000_000},
          {"busy_seconds": 34, "committed_events": 49_000_000}]
spots = [{"lp": lp, "rank": 0, "worker": 0, "rolled_back_events": count}
         for lp, count in [(17, 3_000_000), (4, 1_900_000), (230, 1_300_000), (8, 9), (9, 8)]]


def advised(**changes):
    return advice.advise(load.Run("toy", {**calm, **changes}))


programs.expect(advised() == [], "no advice for a run without problems")
programs.expect(advised(engine="sequential", idle_turns=10 ** 9) == [], "no advice for a sequential run")
programs.expect(advised(engine="conservative", workers_detail=robbed) == [],
                "no advice for workers that wait for each other in barriers")
programs.expect(advised(rolled_back_events=10_000_000, rollbacks=2_000_000, lps=8, most_rolled_back_lps=spots)
                == [], "no advice about a few LPs if the model has only a few")
expected = [
    ("3 workers", ["--workers 2"], {"workers": 3}),
    ("a core for 32 % of the time", ["--workers"], {"workers_detail": robbed}),
    ("62 % of the undone events were undone in rollbacks of 3 LPs of 4,096: 17, 4 and 230.", ["links"],
     {"rolled_back_events": 10_000_000, "rollbacks": 2_000_000, "most_rolled_back_lps": spots, "lps": 4096}),
    ("one LP of 4,096: 17.", ["links"],
     {"rolled_back_events": 5_000_000, "rollbacks": 1_000_000, "most_rolled_back_lps": spots, "lps": 4096}),
    ("For 20 s of 1 min 40 s, at the beginning, almost nothing was committed: in this time the window", ["--window 2"],
     {"history": stood}),
    ("For 20 s of 1 min 40 s, at the beginning, almost nothing was committed.", ["--trace"],
     {"history": slow}),
    ("ended after 50 ms", ["--until"], {"wall_seconds": 0.05}),
    ("40 %", ["--window"], {"rolled_back_events": 40_000_000, "rollbacks": 10_000_000}),
    ("long ones", ["--window auto"], {"rolled_back_events": 40_000_000, "rollbacks": 100_000,
                                      "options": {"window": "off"}}),
    ("fell from 10", ["--window 10"], {"history": fell, "gvt_rounds": 5_000_000}),
    ("executed again", ["--state-saving-interval"], {"coasted_events": 50_000_000}),
    ("5 other", ["--window"], {"rolled_back_events": 6_000_000, "anti_messages": 30_000_000}),
    ("crashed", ["--window"], {"failed_speculations": 2_000_000}),
    ("worker 0", ["--rebind 2"], {"workers_detail": uneven, "options": {"rebind": "off"}}),
    ("worker 0", ["--lps-per-group 4"], {"workers_detail": uneven}),
    ("worker 0", ["--engine timewarp"], {"workers_detail": uneven, "engine": "conservative"}),
    ("had no work", ["--workers"], {"idle_turns": 400_000_000}),
    ("waited at the limit of the window", ["--window"], {"idle_turns": 400_000_000, "window_stops": 390_000_000,
                                           "options": {"window": "2"}}),
    ("GVT was computed", ["--gvt-interval"], {"gvt_rounds": 2_000_000}),
    ("60 %", [], {"events_crossed": 60_000_000}),
    ("30 % of the pages", ["--pagemigd 1@1"], {"numa": {"remote_page_share": 0.3}}),
    ("30 % of the pages", ["--pagemigd 2@0.5"],
     {"numa": {"remote_page_share": 0.3, "pagemigd": {"threads": 1, "period_seconds": 1}}}),
    ("node was full", ["--memory-cap"], {"numa": {"pages_no_room": 7}}),
    ("Memory was short", ["--memory-cap"], {"memory": {"memory_stops": 500}}),
    ("small", ["--workers"], {"mpi": {"batches_sent": 10_000, "bytes_sent": 1_000_000,
                                      "events_sent": 20_000}}),
    ("a rank is too slow", ["--net-thread on"], {"mpi": {"credit_stops": 80_000}}),
]
options = load.engine_options()
programs.expect({"engine", "window", "pagemigd", "net-thread"} <= options, "the options of the engine are found")
for said, tried, changes in expected:
    pieces = advised(**changes)
    fits = [piece for piece in pieces if said in piece.finding
            and all(words in piece.try_this for words in tried)]
    programs.expect(fits != [], f"advice '{said}' → {tried}: {pieces if not fits else ''}")
    for piece in pieces:
        named = set(re.findall(r"--([a-z-]+)", piece.try_this))
        programs.expect(named <= options and re.search(r"\d", piece.finding) is not None,
                        f"the advice has a number, and its options exist: {sorted(named)}")

# --- bad input ---

(programs.work / "text.json").write_text("no JSON")
(programs.work / "list.json").write_text("[1]")
(programs.work / "other.json").write_text('{"schema": "something.else/1"}')
(programs.work / "deep.json").write_text("[" * 100_000)
(programs.work / "bytes.json").write_bytes(b"\xff\xfe\x00")
for arguments in [[], ["absent.json"], ["text.json"], ["list.json"], ["other.json"], ["deep.json"],
                  ["bytes.json"], ["."], ["hot.json", "--wrong"], ["hot.json", "-o"],
                  ["hot.json", "-o", "nowhere/page.html"], ["hot.json", "-o", "./hot.json"],
                  ["hot.json", "text.json"]]:
    done = report(*arguments)
    one_line = done.stderr.count("\n") == 1 and done.stderr.startswith("numawarp: ")
    programs.expect(done.returncode == 2 and one_line and not done.stdout,
                    f"report {' '.join(arguments)} -> {done.returncode}: {done.stderr.strip()!r}")

# --- in a browser ---

browser = shutil.which("chromium")
if not browser:
    print("skipped  no chromium here: the page is not displayed")
if programs.failures or not browser:
    programs.leave()
for name, options, page_color, bar_color in [
        ("light", [], "f6f6f3", "2a78d6"),
        ("dark", ["--blink-settings=preferredColorScheme=0"], "14161a", "4a90e2")]:
    picture = programs.work / "page.png"
    shown = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", *options,
         f"--user-data-dir={programs.work / 'browser'}", "--window-size=700,900",
         f"--screenshot={picture}", (programs.work / "agreed.html").as_uri()],
        capture_output=True, timeout=120)
    seen = colors_of(picture) if shown.returncode == 0 and picture.exists() else Counter()
    programs.expect(seen[page_color] > 10_000 and seen[bar_color] > 500 and len(seen) > 50,
                    f"Chromium shows the page in {name} colors, with bars: {seen.most_common(4)}")

programs.leave()
