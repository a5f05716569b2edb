# SPDX-License-Identifier: Apache-2.0
"""What the library chooses by a calibration of this machine, beside settings by hand."""

from dataclasses import replace
from pathlib import Path

from .figures import HOLDS, IN_PART, NOT, Chart, Figure, Table, percent
from .presets import Choice, Preset, measuring
from .runs import CALIBRATION, Results, Run

USUAL = "record"  # as chosen without a calibration
AUTO = f"record:method=auto:calibration={CALIBRATION}"
BY_HAND = ("serial", "slabs", "tiles", "rows", "columns")
DIRECT = "record:method=direct"
REPETITIONS = 5
AIM = 1.10  # of the best by hand
TEXT = "method=auto and writers=auto, with a calibration of this machine"


def name_of(choice: Choice) -> str:
    return f"choices-{choice.workload}-{choice.ranks}"


def numbers(ranks: int) -> list[int]:
    """Writers of a node by hand, besides the usual one: 2, 4, 8, ... and all."""
    return sorted({n for n in (2, 4, 8, 16, 32, 64) if n < ranks} | {ranks})


def methods(ranks: int) -> list[str]:
    """The number of writers changes most with record and slabs."""
    counted = [f"{m}:writers={n}/node" for m in ("record", "slabs") for n in numbers(ranks)]
    return ["raw", AUTO, USUAL, *BY_HAND, *counted, DIRECT]


def runs(preset: Preset) -> list[Run]:
    result = []
    for choice in preset.choices:
        arguments = (choice.workload, "--scale", f"{choice.scale:g}")
        if choice.variables:
            arguments += ("--variables", str(choice.variables))
        if choice.steps:
            arguments += ("--steps", str(choice.steps))
        arguments += ("--methods", ",".join(methods(choice.ranks)))
        # With so many settings, the best of a few runs each would be the luckiest.
        repeated = replace(preset, repetitions=max(REPETITIONS, preset.repetitions))
        arguments += measuring(preset if preset.repetitions == 1 else repeated)
        result.append(Run(name_of(choice), choice.ranks, arguments, weight=40))
    return result


def seconds_of(results: Results, choice: Choice) -> dict[str, float]:
    """Of each setting; the one of the library has no path in its name."""
    found = {}
    for name, row in results.rows(name_of(choice)).items():
        short = AUTO if name.startswith("record:method=auto") else name
        found[short] = row["median_seconds"]
    return found


def written(row: dict) -> str:
    """By which method and how many writers, by the library's summary."""
    details = row.get("details", {})
    writers = details.get("writers", "?")
    return f"{details.get('method', '?')}, {writers} writer{'s' if writers != 1 else ''}"


def chosen(results: Results, choice: Choice) -> str:
    """What the library has chosen."""
    rows = results.rows(name_of(choice))
    return next((written(r) for n, r in rows.items() if n.startswith("record:method=auto")), "?")


def noise(results: Results, choice: Choice) -> float | None:
    """By what part two measurements of one setting differ: where the library takes the usual
    one."""
    usual = results.rows(name_of(choice)).get(USUAL)
    if usual is None or written(usual) != chosen(results, choice):
        return None
    auto, by_hand = seconds_of(results, choice)[AUTO], usual["median_seconds"]
    return max(auto, by_hand) / min(auto, by_hand) - 1


def figures(results: Results, preset: Preset, folder: Path) -> list[Figure]:
    figure = Figure(
        "choices",
        "Thalweg",
        "Times as long as the best of the settings by hand",
        f"With {TEXT}, a file takes at most a tenth longer than with the best setting by hand, and "
        "no longer than without.",
        claimed_by="the aim",
        scaled="; ".join(f"{c.workload} at {c.scale:g}, {c.ranks} ranks" for c in preset.choices),
    )
    rows, groups = [], []
    ratios: dict[str, list[float | None]] = {"auto": [], "usual": [], "worst by hand": []}
    for choice in preset.choices:
        seconds = seconds_of(results, choice)
        if AUTO not in seconds or USUAL not in seconds:
            figure.missing.append((name_of(choice), results.reason(name_of(choice), USUAL)))
            continue
        by_hand = {k: v for k, v in seconds.items() if k not in (AUTO, "raw")}
        best = min(by_hand, key=by_hand.get)
        least = by_hand[best]
        groups.append(f"{choice.workload} {choice.ranks}")
        ratios["auto"].append(seconds[AUTO] / least)
        ratios["usual"].append(seconds[USUAL] / least)
        ratios["worst by hand"].append(max(by_hand.values()) / least)
        row = [choice.workload, str(choice.ranks), f"{seconds[AUTO]:.3f}", chosen(results, choice)]
        row += [f"{least:.3f}", best, f"{seconds[USUAL]:.3f}", f"{seconds[AUTO] / least:.2f}"]
        rows.append(row)
    if not rows:
        return [figure]
    heads = ["workload", "ranks", "auto s", "chosen", "best by hand s", "which", "usual s"]
    figure.tables.append(Table([*heads, "auto / best"], rows))
    chart = Chart(folder, figure.name)
    chart.bars(groups, list(ratios.items()), "times the best by hand", log=True)
    figure.image = chart.save()
    same = [n for c in preset.choices if (n := noise(results, c)) is not None]
    near = [r <= AIM for r in ratios["auto"]]
    # Two runs of one setting differ by a few hundredths.
    not_worse = [a <= 1.05 * u for a, u in zip(ratios["auto"], ratios["usual"], strict=True)]
    figure.verdict = (
        HOLDS if all(near) and all(not_worse) else IN_PART if any(near) and any(not_worse) else NOT
    )
    figure.finding = (
        f"Within a tenth of the best by hand in {sum(near)} of {len(near)} cases, at worst "
        f"{percent(max(ratios['auto']) - 1)} longer; no longer than the usual setting in "
        f"{sum(not_worse)}."
    )
    if same:
        figure.finding += (
            f" In {len(same)} it takes the usual setting; the two times then differ by up to "
            f"{percent(max(same))}, which is noise."
        )
    return [figure]
