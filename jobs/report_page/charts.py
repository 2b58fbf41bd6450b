# SPDX-License-Identifier: Apache-2.0
"""Charts as inline SVG. Colors are classes (s0, s1, …), which the style sheet defines for light and
dark pages. Every mark shows its value while the mouse is over it."""

import math

from lib.number_text import plain, power, seconds, short, time_unit

from .words import escape

WIDTH, HEIGHT = 560, 210
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 10, 30
HOVER_STRIPS_MAX = 200
CHARACTER = 7  # approximate width of a character in the text of the charts


def figure(title, body, legend=(), note=""):
    """A chart with its heading. `legend`: (class, text) of each series if there are several."""
    keys = "".join(f'<span class="key"><i class="{style}"></i>{escape(text)}</span>'
                   for style, text in legend)
    return (f"<figure><figcaption>{escape(title)}{keys}</figcaption>{body}"
            + (f'<p class="note">{escape(note)}</p>' if note else "") + "</figure>")


def ticks(low, high, about, base, whole):
    """Round numbers that cover [low, high]. `base`: 10, or 2 for bytes, where multiples of powers
    of two are round. `whole`: only whole numbers, for counts. Requires: low < high."""
    raw = (high - low) / about
    step = base ** math.floor(math.log(raw, base) + 1e-9)
    factors = (1, 2, 5, 10) if base == 10 else (1, 2)
    step *= next(factor for factor in factors if factor * step >= raw * 0.999)
    step = max(step, 1) if whole else step
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


class Scale:
    """Maps values to pixels, linearly or logarithmically, from the first tick to the last one."""

    def __init__(self, low, high, start, end, log=False, about=4, base=10, whole=False):
        self.log = log
        if log:
            lowest, highest = math.floor(math.log10(low)), math.ceil(math.log10(high))
            highest = max(highest, lowest + 1)
            self.ticks = [10.0 ** e for e in range(lowest, highest + 1,
                                                   max(1, (highest - lowest) // 5))]
            self.low, self.high = lowest, highest
        else:
            self.ticks = ticks(low, high if high > low else low + max(1, abs(low)), about, base, whole)
            self.low, self.high = self.ticks[0], self.ticks[-1]
        self.start, self.end = start, end

    def __call__(self, value):
        if self.log:  # a value that has no logarithm is drawn at the lower edge
            value = math.log10(value) if value > 0 else self.low
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def svg(width, height, body, label):
    return (f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
            f"{body}</svg>")


def text(x, y, words, style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(words)}</text>'


def rectangle(x, y, width, height, style, title=""):
    hint = f"<title>{escape(title)}</title>" if title else ""
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0, width):.1f}" height="{height:.1f}" '
            f'class="{style}">{hint}</rect>')


def lines(series, label, x_max, value=short, y_max=None, log=False, base=10, virtual=False):
    """Curves over seconds, or virtual time, from 0 to x_max. `series`: (class, name, points).
    Requires: there is at least one point."""
    values = [y for _, _, points in series for _, y in points]
    low = min((v for v in values if v > 0), default=1) if log else min(0, *values)
    y = Scale(low, max(low, *values) if y_max is None else y_max, HEIGHT - BOTTOM, TOP, log,
              base=base)
    unit, unit_seconds = ("", 1) if virtual else time_unit(x_max)
    scale = Scale(0, x_max / unit_seconds, LEFT, WIDTH - RIGHT, about=6)
    # The axis ends at the end of the run, not at a round number.
    scale.high = x_max / unit_seconds if x_max > 0 else scale.high

    def x(time):
        return scale(time / unit_seconds)

    body = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
        + text(LEFT - 6, y(t) + 4, power(t) if log else value(t), "end") for t in y.ticks)
    body += "".join(text(scale(t), HEIGHT - BOTTOM + 17, f"{t:.4g} {unit}".rstrip() if t else "0",
                         "middle") for t in scale.ticks if scale(t) <= WIDTH - RIGHT)
    for style, _, points in series:
        path = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in points)
        body += f'<polyline class="line {style}" points="{path}"/>'
        if len(points) == 1:
            body += f'<circle class="dot {style}" r="3" cx="{x(points[0][0]):.1f}" ' \
                    f'cy="{y(points[0][1]):.1f}"/>'
    body += hover_strips(series, x, value, plain if virtual else seconds)
    return svg(WIDTH, HEIGHT, body, label)


def hover_strips(series, x, value, time):
    longest = max((points for _, _, points in series), key=len)
    step = -(-len(longest) // HOVER_STRIPS_MAX)
    chosen = longest[::step]
    strips = ""
    for i, (t, _) in enumerate(chosen):
        left = x((chosen[i - 1][0] + t) / 2) if i else LEFT
        right = x((chosen[i + 1][0] + t) / 2) if i + 1 < len(chosen) else WIDTH - RIGHT
        said = [time(t)]
        for _, name, points in series:
            near = min(points, key=lambda point: abs(point[0] - t))
            said.append(f"{name}: {value(near[1])}")
        strips += rectangle(left, TOP, right - left, HEIGHT - TOP - BOTTOM, "strip",
                            "\n".join(said))
    return strips


def columns(bars, label, value=short):
    """Columns for a histogram, with narrow gaps. `bars`: (label, number)."""
    y = Scale(0, max(number for _, number in bars) or 1, HEIGHT - BOTTOM, TOP, whole=True)
    body = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
        + text(LEFT - 6, y(t) + 4, value(t), "end") for t in y.ticks)
    slot = min(64.0, (WIDTH - LEFT - RIGHT) / len(bars))
    every = math.ceil((CHARACTER * max(len(name) for name, _ in bars) + 8) / slot)
    for i, (name, number) in enumerate(bars):
        left = LEFT + i * slot
        body += rectangle(left + 1, y(number), slot - 2, y(0) - y(number), "s0",
                          f"{name}: {number:,}")
        if i % every == 0:
            body += text(left + slot / 2, HEIGHT - BOTTOM + 17, name, "middle")
    return svg(WIDTH, HEIGHT, body, label)


def rows(bars, label, value=short, whole=None):
    """Horizontal bars: (label, [(class, name, number), …]), with the parts side by side. `whole`:
    the value of the full width. If there are many bars, they are thin, and only some have a label;
    their values are shown while the mouse is over them."""
    height = next(height for height, most in ((24, 24), (7, 96), (4, 1e9)) if len(bars) <= most)
    thin = height < 14
    every = math.ceil(20 / height) if thin else 1
    widest = max((len(name) for name, _ in bars), default=0)
    left = min(230, 14 + CHARACTER * widest)
    totals = [sum(number for _, _, number in parts) for _, parts in bars]
    said = [value(total) for total in totals]
    end = max(70, 12 + CHARACTER * max((len(words) for words in said), default=0))
    above = 6 if thin else 0
    scale = (WIDTH - left - end) / (whole or max([*totals, 0]) or 1)
    body = ""
    for i, (name, parts) in enumerate(bars):
        top, at = above + i * height, left
        if i % every == 0:
            body += text(left - 8, top + min(height, 24) / 2 + 4, name, "end")
        for style, what, number in parts:
            width = number * scale
            body += rectangle(at, top + height * 0.15, width - (1 if width > 2 else 0),
                              height * 0.7, style, f"{name}, {what}: {value(number)}")
            at += width
        if not thin:
            body += text(min(at, WIDTH - end) + 6, top + min(height, 24) / 2 + 4, said[i])
    return svg(WIDTH, max(height * len(bars), 14) + 4 + 2 * above, body, label)


def matrix(cells, label, row_word, column_word):
    """A matrix of shaded cells, with numbers if there is enough space."""
    size = len(cells)
    most = max((number for row in cells for number in row), default=0) or 1
    side = min(64.0, (WIDTH - LEFT - RIGHT) / max(1, size))
    numbers = side >= 34
    every = math.ceil(18 / side)
    body = text(LEFT, 12, f"{row_word} (down) {column_word} (across)", "start")
    top = 36
    for r, row in enumerate(cells):
        if r % every == 0:
            body += text(LEFT - 8, top + r * side + side / 2 + 4, r, "end")
            body += text(LEFT + r * side + side / 2, top - 6, r, "middle")
        for c, number in enumerate(row):
            share = number / most
            x, y = LEFT + c * side, top + r * side
            body += (f'<rect x="{x:.1f}" y="{y:.1f}" width="{side - 1:.1f}" height="{side - 1:.1f}" '
                     f'class="s0" fill-opacity="{0.06 + 0.94 * share:.2f}">'
                     f"<title>{r} to {c}: {number:,}</title></rect>")
            if numbers:
                style = "middle inside" if share > 0.75 else "middle strong"
                body += text(x + side / 2, y + side / 2 + 4, short(number), style)
    return svg(WIDTH, top + size * side + 4, body, label)
