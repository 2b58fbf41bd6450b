"""What all figures that matplotlib draws have in common."""

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, F401

# The same numbers give the same file, and its words can be searched.
matplotlib.rcParams.update({"svg.hashsalt": "numawarp", "svg.fonttype": "none", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False})
