# SPDX-License-Identifier: Apache-2.0
"""Text for HTML."""

import html
import re


def escape(text):
    return html.escape(str(text), quote=True)


def with_options(text):
    """HTML in which command-line options with their values are marked as code."""
    return re.sub(r"--[a-z][\w-]*( (?:auto|off|on|libc|numa|copy|[\d.@e-]*\d\b))?",
                  r"<code>\g<0></code>", escape(text))


def listed(words):
    """The words joined as in "one, two and three"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
