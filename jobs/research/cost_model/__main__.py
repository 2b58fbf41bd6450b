# SPDX-License-Identifier: Apache-2.0
"""Predicts the cost of GVT and of the exchange of events on up to 1,024 ranks, by a model that is
fitted to measurements with 2 to 8 ranks on this machine, or to the measurements in a file.

Writes cost-model.json (the measurements), cost-model.svg and cost-model.md into a folder. The
behavior of a real run also depends on its rollbacks, which a model of the transport cannot
predict."""

import argparse
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from lib.arguments import Parser  # noqa: E402


def network(text):
    try:
        name, latency, overhead, speed = text.rsplit(":", 3)
        return name, float(latency), float(overhead), 1e-3 / float(speed)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: NAME:LATENCY_US:OVERHEAD_US:GB/S") \
            from None


def arguments():
    parser = Parser("cost-model", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="file", type=Path, metavar="FILE",
                        help="a cost-model.json with measurements; default: measure this machine")
    parser.add_argument("--network", type=network, action="append", metavar="NAME:L:o:GB/S",
                        help="another network, by its latency L and overhead o of LogGP in µs, and its "
                             "bandwidth; default: an assumed InfiniBand, 'InfiniBand:1.0:0.3:12'")
    parser.add_argument("--programs", type=Path, default=Path("build/bin"), metavar="DIR",
                        help="folder of phold and transport_bench (build/bin)")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="folder for the results (results)")
    return parser.parse_args()


def main():
    given = arguments()
    # Imported here, so that --help needs no package.
    import fitted
    import measure
    import plot

    given.output.mkdir(parents=True, exist_ok=True)
    if given.file:
        measured = json.loads(given.file.read_text())
    else:
        measured = measure.measure(given.programs.resolve(),
                                   lambda text: print(text, file=sys.stderr, flush=True))
        (given.output / "cost-model.json").write_text(json.dumps(measured, indent=1) + "\n")
    found = fitted.fit(measured, given.network or [network("InfiniBand:1.0:0.3:12")])
    text = fitted.table(measured, found)
    (given.output / "cost-model.md").write_text(text)
    plot.draw(given.output / "cost-model.svg", found, fitted.REMOTE, fitted.NEIGHBORS)
    print(text, end="")


if __name__ == "__main__":
    main()
