# SPDX-License-Identifier: Apache-2.0
"""Figures: their statements, and how they are drawn."""

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

HOLDS, IN_PART, NOT, UNMEASURED = "holds", "holds in part", "does not hold", "not measured"

# Colours that colour-blind readers can tell apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6f6f6f", "#000000")
PAPER_COLOUR = "#8a8a8a"


@dataclass
class Table:
    heads: list[str]
    rows: list[list[str]]


@dataclass
class Figure:
    """A figure of the report, with the paper's finding, and whether the finding holds on this
    machine."""

    name: str
    source: str  # "CAM, figs. 4 and 5"
    title: str
    claim: str  # the finding of the paper
    finding: str = ""
    verdict: str = UNMEASURED
    reference: list[str] = field(default_factory=list)  # the paper's own numbers
    scaled: str = ""
    missing: list[tuple[str, str]] = field(default_factory=list)  # what was not measured, and why
    tables: list[Table] = field(default_factory=list)
    image: Path | None = None

    def sentence(self) -> str:
        """Says whether the finding holds, in one sentence."""
        if self.finding:
            return self.finding
        return f"Nothing was measured{f': {self.missing[0][1]}' if self.missing else ''}."


@dataclass
class Line:
    label: str
    x: list[float]
    y: list[float]


def plain(value: float, _: int = 0) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def plain_numbers(axis: Axes) -> None:
    """Labels a logarithmic axis with 1, 2, 5, 10 ..."""
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(plain))
    axis.yaxis.set_minor_locator(NullLocator())


class Chart:
    """A picture being drawn; `save` gives its path."""

    def __init__(self, folder: Path, name: str, panels: int = 1) -> None:
        self.path = folder / f"{name}.png"
        self.figure, axes = plt.subplots(
            1, panels, figsize=(7.6 if panels == 1 else 11, 4.2), layout="constrained"
        )
        self.axes: list[Axes] = [axes] if panels == 1 else list(axes)

    def lines(
        self,
        lines: list[Line],
        x_label: str,
        y_label: str,
        panel: int = 0,
        log: str = "",
        title: str = "",
    ) -> None:
        """Draws lines.
        @param log: the axes with logarithmic scales, "x", "y" or both: "xy". Default: none"""
        axis = self.axes[panel]
        if not lines:
            self.nothing(panel)
        for i, line in enumerate(lines):
            axis.plot(line.x, line.y, marker="o", color=PALETTE[i % 8], label=line.label, ms=5)
        if "x" in log:
            axis.set_xscale("log", base=2)
            axis.xaxis.set_major_locator(FixedLocator(sorted({x for k in lines for x in k.x})))
            axis.xaxis.set_minor_locator(NullLocator())
            axis.xaxis.set_major_formatter(FuncFormatter(plain))
        if "y" in log:
            axis.set_yscale("log")
            plain_numbers(axis)
        else:
            axis.set_ylim(bottom=0)
        self.finish(axis, x_label, y_label, title)

    def levels(self, levels: list[tuple[str, float]], panel: int = 0) -> None:
        """Draws the paper's figures as horizontal lines."""
        for text, value in levels:
            axis = self.axes[panel]
            axis.axhline(value, color=PAPER_COLOUR, linestyle="--", linewidth=1)
            axis.annotate(
                text,
                (1, value),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                color=PAPER_COLOUR,
                fontsize=8,
            )

    def bars(
        self,
        groups: list[str],
        series: list[tuple[str, list[float | None]]],
        y_label: str,
        paper_groups: int = 0,
        panel: int = 0,
        log: bool = False,
        title: str = "",
    ) -> None:
        """Draws bars side by side in each group; the last `paper_groups` groups are the paper's."""
        axis = self.axes[panel]
        width = 0.8 / max(1, len(series))
        if all(v is None for _, values in series for v in values):
            self.nothing(panel)
        first_paper = len(groups) - paper_groups
        for i, (label, values) in enumerate(series):
            for g, value in enumerate(values):
                if value is None:
                    continue
                paper = g >= first_paper
                axis.bar(
                    g + (i - (len(series) - 1) / 2) * width,
                    value,
                    width,
                    color="white" if paper else PALETTE[i % 8],
                    edgecolor=PALETTE[i % 8],
                    hatch="///" if paper else None,
                )
            axis.bar(0, 0, color=PALETTE[i % 8], label=label)
        axis.axhline(0, color="black", linewidth=0.8)
        if log:
            axis.set_yscale("log")
            plain_numbers(axis)
        turned = max(map(len, groups), default=0) * len(groups) > 60
        axis.set_xticks(range(len(groups)), groups, rotation=25 if turned else 0)
        if turned:
            plt.setp(axis.get_xticklabels(), ha="right")
        if paper_groups:
            axis.axvline(first_paper - 0.5, color=PAPER_COLOUR, linestyle=":")
        self.finish(axis, "", y_label, title)

    def nothing(self, panel: int) -> None:
        self.axes[panel].annotate(
            "not measured", (0.5, 0.5), xycoords="axes fraction", ha="center", color=PAPER_COLOUR
        )

    def finish(self, axis: Axes, x_label: str, y_label: str, title: str) -> None:
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.set_title(title, fontsize=10)
        axis.grid(axis="y", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=8, framealpha=0.8)

    def save(self) -> Path:
        self.figure.savefig(self.path, dpi=110)
        plt.close(self.figure)
        return self.path


def times(ratio: float) -> str:
    """Formats a ratio: "2.3 times", "11 times"."""
    return f"{ratio:.0f} times" if ratio >= 9.95 else f"{ratio:.1f} times"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def at_ranks(count: int) -> str:
    return f"{count} rank" if count == 1 else f"{count} ranks"


def seconds(value: float) -> str:
    return f"{value:.3f} s" if value < 1 else f"{value:.1f} s"
