# SPDX-License-Identifier: Apache-2.0
"""The output of cachegrind."""


def read_summary(file):
    """{name: value} of the counters of cachegrind."""
    names = values = None
    for line in file.read_text().splitlines():
        kind, _, rest = line.partition(":")
        if kind == "events":
            names = rest.split()
        elif kind == "summary":
            values = [int(value) for value in rest.split()]
    return dict(zip(names, values))
