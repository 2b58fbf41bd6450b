# SPDX-License-Identifier: Apache-2.0
"""One picture of each model, and the runs behind it."""

import csv
import json
import math
import subprocess
import tempfile
from pathlib import Path

from lib.plotting import pyplot

ROOT = Path(__file__).resolve().parents[2]
BLUE, ORANGE, GRAY = "#0072b2", "#d55e00", "#999999"


class Runs:
    """Runs the programs of one build, sequentially and with the default seed, so that pictures are
    reproducible."""

    def __init__(self, programs):
        self.programs = Path(programs)

    def measures(self, model, *options):
        with tempfile.TemporaryDirectory() as folder:
            self._run(model, *options, "--stats", f"{folder}/s.json")
            return json.loads(Path(folder, "s.json").read_text())["measures"]

    def table(self, model, name, *options):
        with tempfile.TemporaryDirectory() as folder:
            self._run(model, *options, "--output", folder)
            with open(Path(folder, f"{name}.csv"), newline="") as file:
                return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def _run(self, model, *options):
        subprocess.run([self.programs / model, "--engine", "sequential", "--quiet", *map(str, options)],
                       check=True)


def curves(axes, places, measures, what):
    """Draws the means and the 95th percentiles."""
    axes.plot(places, [measure["quantiles"]["p95"] for measure in measures], marker=".", color=ORANGE,
              label="95 % stay below")
    axes.plot(places, [measure["mean"] for measure in measures], marker=".", color=BLUE, label=what)


# --- Models of handlers ------------------------------------------------------------------------

def phold(axes, runs):
    """Draws the newest results file of the bench. No run is made, because times depend on the
    machine."""
    file = max((ROOT / "docs/results").glob("bench-*.json"))
    result = json.loads(file.read_text())
    sizes = {"1024 x 1": "1,024 × 1", "1024 x 16": "1,024 × 16", "65536 x 1": "65,536 × 1", "65536 x 16": "65,536 × 16"}
    engines = {"limit": ("", "no engine", GRAY), "sequential": ("", "sequential", ORANGE),
               "auto": ("auto, ", "2 workers", BLUE)}
    for number, (engine, (rows_of, label, color)) in enumerate(engines.items()):
        rows = [result["rows"][f"{rows_of}{size}, 10 % remote"][engine]["median"] for size in sizes]
        axes.bar([place + (number - 1) * 0.27 for place in range(len(sizes))], rows, 0.25, color=color, label=label)
    axes.set_xticks(range(len(sizes)), sizes.values())
    axes.set(xlabel="LPs × events, 10 % to other LPs", ylabel="ns an event")
    axes.legend(frameon=False)


def pcs(axes, runs):
    portables, load = 25, 180 / 360
    channels = range(4, 17)

    def blocked(free):
        """Engset's formula: the probability that the calls of the other portables occupy all `free`
        channels."""
        terms = [math.comb(portables - 1, busy) * load ** busy for busy in range(free + 1)]
        return terms[-1] / sum(terms)

    shares = []
    for count in channels:
        rows = runs.table("pcs", "cells", "--moves", "off", "--width", 30, "--height", 30, "--channels", count,
                          "--count-from", 1200, "--until", 4800)
        lost, made = (sum(row[name] for row in rows) for name in ("blocked", "connected"))
        shares.append(lost / (lost + made))
    axes.plot(channels, [100 * blocked(count) for count in channels], color=GRAY, label="theory (Engset, 1918)")
    axes.plot(channels, [100 * share for share in shares], ".", color=BLUE, label="900 cells, an hour")
    axes.set(xlabel="channels of a cell with 25 portables", ylabel="blocked calls, %", ylim=(0, None))
    axes.legend(frameon=False)


def queues(axes, runs):
    stations = 16
    loads = [0.1 * step for step in range(1, 10)] + [0.95]
    jobs = [runs.measures("queues", "--arrival-rate", load / (stations + 1), "--warm-up", 30000,
                          "--until", 150000)["jobs"]["mean"] for load in loads]
    theory = [step / 200 for step in range(1, 193)]
    axes.plot(theory, [load / (1 - load) for load in theory], color=GRAY, label="theory (Jackson, 1963)")
    axes.plot(loads, jobs, ".", color=BLUE, label="16 stations")
    axes.set(xlabel="load of a station", ylabel="jobs at a station", xlim=(0, 1), ylim=(0, 25))
    axes.legend(frameon=False)


# --- Models of processes -----------------------------------------------------------------------

def bank(axes, runs):
    counters = [1, 2, 3, 4]
    found = [runs.measures("bank", "--counters", count) for count in counters]
    came = [one["served"]["count"] + one["reneged"]["count"] for one in found]
    for name, color, label in (("served", BLUE, "served"), ("reneged", ORANGE, "out of patience")):
        shares = [100 * one[name]["count"] / all_of for one, all_of in zip(found, came)]
        below = [0] * len(counters) if name == "served" else [100 - share for share in shares]
        axes.bar(counters, shares, 0.6, bottom=below, color=color, label=label)
    axes.set(xlabel="counters", ylabel="customers, %", xticks=counters,
             yticks=range(0, 101, 20), ylim=(0, 120))
    axes.legend(frameon=False, loc="upper center", ncol=2)


def car_wash(axes, runs):
    times = [3, 3.5, 4, 4.5, 5, 5.25, 5.5, 5.75]
    curves(axes, times, [runs.measures("car_wash", "--wash-time", time, "--warm-up", 500)["wait"] for time in times],
              "mean wait")
    axes.axvline(6, color=GRAY, linestyle=":")
    axes.text(5.96, 0.97, "as fast as cars come", rotation=90, ha="right", va="top", color="#666666",
              transform=axes.get_xaxis_transform(), fontsize=8)
    axes.set(xlabel="time to wash a car, min (two machines)", ylabel="wait, min", ylim=(0, None))
    axes.legend(frameon=False, loc="upper left")


def channel(axes, runs):
    gaps = [3.3, 3.5, 4, 5, 6, 8, 10, 14]
    found = [runs.measures("channel", "--gap", gap, "--warm-up", 300)["until_done"] for gap in gaps]
    curves(axes, gaps, found, "mean until it is done")
    axes.axhline(10, color=GRAY, linestyle=":")
    axes.text(14, 8.6, "in the channel", ha="right", va="top", color="#666666", fontsize=8)
    axes.set(xlabel="time between two messages of a host", ylabel="age of a message", ylim=(0, None))
    axes.legend(frameon=False)


def gas_station(axes, runs):
    # If a quarter of the tank is less than one car needs, the tank may run dry although no truck
    # was called.
    tanks = [180, 190, 200, 215, 230, 250, 275, 300, 350, 400]
    curves(axes, tanks, [runs.measures("gas_station", "--tank", tank)["time"] for tank in tanks], "mean time")
    axes.set(xlabel="tank of a station, l", ylabel="time at the station, s", ylim=(0, None))
    axes.legend(frameon=False)


def histogram(axes, values, bins, label):
    axes.hist(values, bins=bins, color=BLUE, edgecolor="white", linewidth=0.5)
    middle = sum(values) / len(values)
    axes.axvline(middle, color=ORANGE)
    axes.annotate(f"mean {middle:,.1f}", (middle, 1), (4, 0), xycoords=axes.get_xaxis_transform(),
                  textcoords="offset points", color=ORANGE, va="top", fontsize=8)
    axes.set(xlabel=label, ylim=(0, 1.12 * axes.get_ylim()[1]))


def machine_shop(axes, runs):
    rows = runs.table("machine_shop", "shops", "--shops", 1000)
    histogram(axes, [row["parts"] for row in rows], 30, "parts that a shop with ten machines makes to time 5,000")
    axes.set(ylabel="shops")


def movies(axes, runs):
    rows = runs.table("movies", "films", "--cinemas", 500)
    histogram(axes, [row["sold_out_at"] for row in rows if row["sold_out_at"] >= 0], 40,
              "time at which a film with 50 seats is sold out, min")
    axes.set(ylabel="films")


MODELS = [phold, pcs, queues, bank, car_wash, channel, gas_station, machine_shop, movies]


def draw(model, runs, folder):
    figure, axes = pyplot.subplots(figsize=(4.6, 2.7))
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    model(axes, runs)
    figure.tight_layout()
    file = Path(folder, f"model-{model.__name__}.svg")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
    return file
