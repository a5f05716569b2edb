# SPDX-License-Identifier: Apache-2.0
"""Progress of the measurement: a bar with the remaining time on a terminal, else one line per
run."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Reporter:
    """Reports progress. Weights are expected durations of runs in any unit; the time so far
    converts them to seconds."""

    def __init__(self, weights: list[float]) -> None:
        self.weights = weights
        self.done = 0.0
        self.index = 0
        self.start = time.monotonic()
        self.bar = None
        if sys.stderr.isatty():
            self.bar = Progress(
                TextColumn("{task.fields[count]}"),
                BarColumn(),
                TextColumn("{task.fields[left]}  {task.description}"),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.bar.add_task("", total=sum(weights) or 1, count="", left="")

    def __enter__(self) -> "Reporter":
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()

    def left(self) -> str:
        if self.done == 0:
            return ""
        elapsed = time.monotonic() - self.start
        rest = sum(self.weights) - self.done
        return f"about {duration(elapsed / self.done * rest)} left"

    def begin(self, name: str) -> None:
        count = f"{self.index + 1} of {len(self.weights)}"
        if self.bar:
            self.bar.update(self.task, description=name, count=count, left=self.left())
        else:
            note = f" ({self.left()})" if self.left() else ""
            print(f"{count}: {name}{note}", file=sys.stderr, flush=True)

    def end(self) -> None:
        self.done += self.weights[self.index]
        self.index += 1
        if self.bar:
            self.bar.update(self.task, completed=self.done, left=self.left())
