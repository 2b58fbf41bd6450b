# SPDX-License-Identifier: Apache-2.0
"""Settings for all figures that matplotlib draws."""

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, F401

# Equal numbers give equal files, and the text in a figure can be searched.
matplotlib.rcParams.update({"svg.hashsalt": "numawarp", "svg.fonttype": "none", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False})
