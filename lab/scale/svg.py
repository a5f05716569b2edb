# SPDX-License-Identifier: Apache-2.0
"""Small plain pictures of curves, as SVG. The same numbers give the same bytes."""

import math
from dataclasses import dataclass, field
from html import escape

# Colours that colour-blind readers can tell apart.
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6f6f6f", "#000000"),
    *("#332288", "#999933", "#882255", "#117733"),
)
REFERENCE = "#8a8a8a"
WIDTH, HEIGHT = 300, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 30, 40


@dataclass
class Line:
    label: str
    points: list  # (x, y)
    joined: bool = True
    reference: bool = False  # grey and dashed: a curve to compare with


@dataclass
class Panel:
    title: str
    x: str
    lines: list = field(default_factory=list)
    log_x: bool = True
    log_y: bool = True
    number_ticks: bool = True  # a logarithmic axis shows the points' own numbers

    @property
    def points(self):
        return [p for line in self.lines for p in line.points]


def number(value):
    """Formats a short number for an axis."""
    if abs(value) < 10000:
        return f"{value:g}"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def decades(low, high):
    """Returns values of a logarithmic axis: powers of ten, or 1, 2 and 5 times these if they are
    few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        found = [s * 10.0**e for e in range(first, last + 1) for s in steps]
        inside = [t for t in found if low <= t * 1.0001 and t <= high * 1.0001]
        if len(inside) > 2:
            break
    return inside


def even_steps(high):
    """Returns values of a linear axis from 0."""
    size = 10.0 ** math.floor(math.log10(high / 4))
    step = next(s * size for s in (1, 2, 5, 10) if high / (s * size) <= 5)
    return [i * step for i in range(math.floor(high / step + 1e-9) + 1)]


class Axis:
    def __init__(self, values, log, begin, end):
        self.log = log
        self.low = min(values) if log else 0
        self.high = max(values)
        if not self.high > self.low:
            self.high = 2 * self.low if log else 1
        if log:
            self.low, self.high = self.low * 0.85, self.high * 1.18
        self.begin, self.end = begin, end

    def place(self, value):
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = value / self.high
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        return decades(self.low, self.high) if self.log else even_steps(self.high)


def draw(panel, colours, left, top):
    """Returns the elements of a panel."""
    x0, x1 = left + LEFT, left + WIDTH - RIGHT
    middle = f'x="{(x0 + x1) / 2:.0f}" text-anchor="middle"'
    y0, y1 = top + HEIGHT - BOTTOM, top + TOP
    # Zero has no place on a logarithmic axis.
    seen = [p for p in panel.points if p[1] > 0 or not panel.log_y]
    out = [
        f'<text x="{x0}" y="{top + 18}" font-weight="bold">{escape(panel.title)}</text>',
        f'<text {middle} y="{y0 + 34}">{escape(panel.x)}</text>',
    ]
    if not seen:
        return [*out, f'<text {middle} y="{(y0 + y1) / 2:.0f}">none</text>']
    across = Axis([p[0] for p in seen], panel.log_x, x0, x1)
    up = Axis([p[1] for p in seen], panel.log_y, y0, y1)
    for value in up.ticks():
        y = up.place(value)
        out.append(f'<path d="M{x0} {y:.1f}H{x1}" stroke="#dde4e8"/>')
        out.append(f'<text x="{x0 - 5}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
    own = panel.log_x and panel.number_ticks
    for value in sorted({p[0] for p in seen}) if own else across.ticks():
        x = across.place(value)
        out.append(f'<path d="M{x:.1f} {y0}v4" stroke="#46626f"/>')
        out.append(f'<text x="{x:.1f}" y="{y0 + 17}" text-anchor="middle">{number(value)}</text>')
    out.append(f'<path d="M{x0} {y1}V{y0}H{x1}" stroke="#46626f" fill="none"/>')
    for line in panel.lines:
        there = [p for p in line.points if p[1] > 0 or not panel.log_y]
        if not there:
            continue
        places = [(across.place(x), up.place(y)) for x, y in there]
        colour = colours[line.label]
        dashed = ' stroke-dasharray="5 3"' if line.reference else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        if line.joined:
            out.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" '
                f'stroke-width="1.8"{dashed}/>'
            )
        size = 2.6 if line.joined else 1.6
        out += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>' for x, y in places
        ]
    return out


def picture(title, panels, columns=3):
    """Returns an SVG file of all panels and one legend."""
    lines = {line.label: line for panel in panels for line in panel.lines}
    own = [label for label, line in lines.items() if not line.reference]
    colours = dict.fromkeys(lines, REFERENCE)
    colours |= {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(own)}
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    legend, places, x, y = [], [], LEFT, 0
    for label in lines:
        size = 34 + 7 * len(label)
        if x + size > columns * WIDTH and x > LEFT:
            x, y = LEFT, y + 18
        places.append((label, x, y))
        x += size
    top = rows * HEIGHT + 12
    for label, x, y in places:
        dashed = ' stroke-dasharray="5 3"' if lines[label].reference else ""
        legend.append(
            f'<path d="M{x} {top + y}h18" stroke="{colours[label]}" stroke-width="2.5"{dashed}/>'
            f'<text x="{x + 23}" y="{top + y + 4}">{escape(label)}</text>'
        )
    width, height = columns * WIDTH, top + y + 14
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" fill="#2b3d47" role="img">',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, panel in enumerate(panels):
        out += draw(panel, colours, i % columns * WIDTH, i // columns * HEIGHT)
    return "\n".join([*out, *legend, "</svg>"]) + "\n"
