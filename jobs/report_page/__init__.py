# SPDX-License-Identifier: Apache-2.0
"""The page of `jobs/run report`: load.py reads files, advice.py evaluates figures, charts.py draws,
and sections.py and comparison.py build the parts of the page."""
