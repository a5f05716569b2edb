# SPDX-License-Identifier: Apache-2.0
"""Sizes of the experiments. A scale is a fraction of the paper's horizontal sizes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """A CMAQ domain: its number of species, and its process grids (columns x rows)."""

    species: int
    grids: tuple[str, ...]


@dataclass(frozen=True)
class Model:
    """An ocean or ice model in the overlap experiment: its grid, its steps, and the simulated
    disk."""

    scale: float
    steps: int
    bandwidth: int  # bytes a second of all writers together


@dataclass(frozen=True)
class Preset:
    repetitions: int
    warmup: int  # uncounted repetitions before the others
    prewarm_gb: float
    # CAM: scale and rank counts by resolution; ranks x threads of the hybrid runs
    cam: dict[str, tuple[float, tuple[int, ...]]]
    hybrid: tuple[tuple[int, int], ...]
    # CMAQ
    cmaq_scale: float
    cmaq: dict[str, Domain]
    # CFIO: program 1 (scale, variables, clients, servers), program 2, the models
    throughput: tuple[float, int, tuple[int, ...], tuple[int, ...]]
    overlap: tuple[float, int, int, tuple[int, ...]]  # scale, steps, ranks, servers
    models: dict[str, Model]
    model_ranks: int
    # MOM5: the scale, and the I/O layouts by rank count; Table 6 (scale, ranks, days)
    mom5_scale: float
    layouts: dict[int, tuple[str, ...]]
    shares: tuple[float, int, int]


CAM = ("t85", "fv-b", "fv-c", "fv-d")
PRESETS = {
    # Only shows that everything works.
    "smoke": Preset(
        repetitions=1,
        warmup=0,
        prewarm_gb=0,
        cam=dict.fromkeys(CAM, (0.1, (1, 2))),
        hybrid=((2, 1), (1, 2)),
        cmaq_scale=0.1,
        cmaq={
            "ca": Domain(4, ("1x2", "2x2")),
            "eus": Domain(4, ("2x2",)),
            "conus": Domain(4, ("2x2",)),
            "4km": Domain(4, ("2x2",)),
        },
        throughput=(0.05, 2, (2,), (1,)),
        overlap=(0.1, 4, 2, (1,)),
        models={
            "pop": Model(0.02, 3, 500_000_000),
            "cice": Model(0.02, 3, 500_000_000),
            "licom": Model(0.01, 3, 500_000_000),
        },
        model_ranks=2,
        mom5_scale=0.05,
        layouts={2: ("2x1",), 4: ("1x1", "2x2")},
        shares=(0.02, 2, 4),
    ),
    "standard": Preset(
        repetitions=3,
        warmup=1,
        prewarm_gb=1,
        cam=dict.fromkeys(CAM, (1, (1, 2, 4, 8, 16))),
        hybrid=((4, 1), (2, 2), (1, 4)),
        cmaq_scale=1,
        cmaq={
            "ca": Domain(73, ("2x2", "2x4", "4x4", "4x8")),
            "eus": Domain(12, ("2x2", "2x4", "4x4")),
            "conus": Domain(8, ("2x2", "2x4", "4x4")),
            "4km": Domain(10, ("4x4",)),
        },
        throughput=(0.5, 8, (2, 4, 8), (1, 2, 4)),
        overlap=(1, 12, 4, (1, 2)),
        models={
            "pop": Model(0.06, 8, 500_000_000),
            "cice": Model(0.1, 8, 500_000_000),
            "licom": Model(0.02, 8, 1_000_000_000),
        },
        model_ranks=4,
        mom5_scale=0.25,
        layouts={4: ("1x1", "2x1", "2x2"), 8: ("1x1", "2x1", "2x2", "4x2"), 16: ("2x2", "4x4")},
        shares=(0.08, 4, 8),
    ),
    # For a machine with more cores and memory; takes hours on two cores.
    "large": Preset(
        repetitions=5,
        warmup=1,
        prewarm_gb=2,
        cam=dict.fromkeys(CAM, (1, (1, 2, 4, 8, 16, 32, 64))),
        hybrid=((16, 1), (8, 2), (4, 4), (2, 8), (1, 16)),
        cmaq_scale=1,
        cmaq={
            "ca": Domain(146, ("4x4", "4x8", "8x8", "8x16", "16x16")),
            "eus": Domain(146, ("4x4", "4x8", "8x8", "8x16", "16x16")),
            "conus": Domain(146, ("4x8", "8x8", "8x16", "16x16", "16x32")),
            "4km": Domain(142, ("10x12", "12x15", "18x20")),
        },
        throughput=(1, 500, (16, 64, 128), (1, 4, 16, 64)),
        overlap=(1, 40, 64, (1, 4, 16)),
        models={
            "pop": Model(0.5, 48, 1_000_000_000),
            "cice": Model(1, 40, 1_000_000_000),
            "licom": Model(0.5, 10, 1_000_000_000),
        },
        model_ranks=64,
        mom5_scale=1,
        layouts={64: ("1x1", "2x2", "4x4", "8x8"), 240: ("1x1", "2x2", "4x4", "8x8", "15x16")},
        shares=(0.5, 64, 8),
    ),
}


def repeating(preset: Preset) -> tuple[str, ...]:
    """Returns the options of every run. In the overlap experiment, every session warms up by
    itself."""
    return (
        *("--repetitions", str(preset.repetitions)),
        *("--prewarm-gb", f"{preset.prewarm_gb:g}"),
    )


def measuring(preset: Preset) -> tuple[str, ...]:
    """Returns the options of the runs that compare methods."""
    return (*repeating(preset), "--warmup", str(preset.warmup))
