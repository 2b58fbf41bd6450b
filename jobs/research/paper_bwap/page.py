# SPDX-License-Identifier: Apache-2.0
"""The tables as Markdown."""

from model import PLACEMENTS

BESIDE = [name for name in PLACEMENTS if name != "BWAP"]


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def head(*cells):
    return row(*cells) + row(*["---"] * len(cells))


def spread_text(spread, digits):
    low, middle, high = (f"{spread[name]:.{digits}f}" for name in ("least", "median", "most"))
    return middle if low == high else f"{middle} ({low}–{high})"


def machine_page(name, source, rows):
    text = f"## {name}\n\nFrom: {source}.\n\n"
    text += "MB/s per worker, the median over all sets with this number of worker nodes:\n\n"
    text += head("worker nodes", *PLACEMENTS)
    for found in rows:
        text += row(found["worker_nodes"], *(f"{found['mb_s'][of]['median']:,.0f}" for of in PLACEMENTS))
    text += "\nSpeed of BWAP relative to the other placements (in brackets the minimum and the maximum over these " \
            "sets):\n\n"
    text += head("worker nodes", *(f"over {of}" for of in BESIDE))
    for found in rows:
        text += row(found["worker_nodes"], *(spread_text(found["gain_of_bwap"][of], 2) for of in BESIDE))
    text += "\nOn the nodes with the best links between them, MB/s per worker, and the proximity at which the " \
            "search ends:\n\n"
    text += head("nodes", *PLACEMENTS, "proximity without canonical tuner", "proximity of BWAP")
    for found in rows:
        best = found["best_connected"]
        text += row(" ".join(map(str, best["nodes"])), *(f"{best[of]:,.0f}" for of in PLACEMENTS),
                    f"{best['proximity without canonical tuner']:.2f}", f"{best['proximity of BWAP']:.2f}")
    return text


def page(result):
    text = f"# Predicted speed of page placements\n\n{result['model']} These are no measurements.\n"
    for name, machine in result["machines"].items():
        text += "\n" + machine_page(name, machine["source"], machine["rows"])
    return text
