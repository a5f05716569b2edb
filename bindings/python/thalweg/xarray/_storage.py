# SPDX-License-Identifier: Apache-2.0
"""Chunks, filters and quantization that an encoding of xarray asks for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray

COMPRESSORS = ("zlib", "zstd", "szip", "bzip2", "blosc")
OPTIONS = ("blosc_shuffle", "szip_coding", "szip_pixels_per_block")
KNOWN = {
    *("dtype", "_FillValue", "complevel", "compression", "compression_opts", "shuffle"),
    *("fletcher32", "contiguous", "chunksizes", "endian", "quantize_mode", "significant_digits"),
    *("least_significant_digit", *COMPRESSORS, *OPTIONS),
}
# Encodings that say where xarray found a variable; they request nothing.
ORIGIN = ("source", "original_shape")
LEVELS = {"deflate": range(10), "zstd": range(-100, 23)}
# For each quantize_mode: the setting, and the largest number of digits (bits for BitRound) by the
# size of the type in bytes.
QUANTIZERS: dict[Any, tuple[str, dict[int, int]]] = {
    "BitGroom": ("bitgroom", {4: 7, 8: 15}),
    "GranularBitRound": ("granularbr", {4: 7, 8: 15}),
    "BitRound": ("bitround", {4: 23, 8: 52}),
}


@dataclass
class Encoded:
    """An encoded variable."""

    v: xarray.Variable
    lengths: Mapping[str, int]  # global, by dimension
    record: str | None
    explicit: bool  # the caller has passed the encoding, so it must be possible

    @property
    def asked(self) -> dict[str, Any]:
        return {k: x for k, x in self.v.encoding.items() if x is not None and k not in ORIGIN}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.lengths[str(d)] for d in self.v.dims)


def storage_of(name: str, encoded: Encoded) -> dict[str, Any]:
    """Returns the settings of a variable. As in to_netcdf, what an encoding has inherited from the
    file that the data come from is dropped if it does not fit.

    Raises:
        ValueError: an explicit encoding cannot be done
    """
    asked, explicit = encoded.asked, encoded.explicit
    if explicit and (unknown := sorted(set(asked) - KNOWN)):
        raise ValueError(
            f"variable '{name}': unknown encoding {', '.join(map(repr, unknown))}; it can have "
            f"{', '.join(sorted(KNOWN))}"
        )
    settings: dict[str, Any] = {}
    parts: list[Callable[[Encoded], dict[str, Any]]] = [_compression, _chunks, _quantization]
    for part in [*parts, _refused] if explicit else parts:
        try:
            settings |= part(encoded)
        except ValueError as problem:
            if explicit:
                raise ValueError(f"variable '{name}': encoding: {problem}") from None
    if not explicit and not ({"deflate", "zstd"} & set(settings)):
        settings.pop("shuffle", None)
    if explicit and asked.get("contiguous") and (settings or encoded.record in encoded.v.dims):
        raise ValueError(
            f"variable '{name}': encoding: contiguous data have neither chunks nor filters nor a "
            "record dimension"
        )
    return settings


def asks_for_netcdf4(settings: Mapping[str, Any]) -> bool:
    """Tests if only netCDF-4 can store a variable in this way."""
    return any(bool(value) for value in settings.values())


def keep_digits(encoded: Encoded) -> xarray.Variable:
    """Rounds as least_significant_digit asks, like netCDF4-python."""
    v = encoded.v
    digit = encoded.asked.get("least_significant_digit")
    if digit is None or v.dtype.kind != "f":
        if digit is not None and encoded.explicit:
            raise ValueError("encoding: least_significant_digit is for floating-point numbers")
        return v
    scale = 2.0 ** np.ceil(np.log2(10.0 ** _integer("least_significant_digit", digit)))
    rounded = np.around(v.astype("f8") * scale) / scale
    attributes = {**v.attrs, "least_significant_digit": digit}
    return xarray.Variable(v.dims, rounded.astype(v.dtype).data, attributes, v.encoding)


def _integer(what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{what} is an integer, not {value!r}") from None


def _compression(encoded: Encoded) -> dict[str, Any]:
    asked = encoded.asked
    flags = [name for name in COMPRESSORS if asked.get(name)]
    kind = asked.get("compression") or (flags[-1] if flags else None)
    level = asked.get("complevel", asked.get("compression_opts"))
    shuffle = bool(asked.get("shuffle"))
    if not encoded.v.dims:  # nothing to compress
        return {}
    if kind is None:
        if level and not set(asked) & {"compression", *COMPRESSORS}:
            raise ValueError(f"complevel is {level!r}, but neither zlib nor compression is given")
        return {"shuffle": True} if shuffle else {}
    setting = {"zlib": "deflate", "gzip": "deflate", "zstd": "zstd"}.get(kind)
    if setting is None:
        raise ValueError(f"compression is zlib or zstd, not {kind!r}")
    number = 4 if level is None else _integer("complevel", level)
    if number not in LEVELS[setting]:
        raise ValueError(f"complevel {number} of {kind} is not one of {LEVELS[setting]}")
    return {setting: number, **({"shuffle": shuffle} if "shuffle" in asked else {})}


def _chunks(encoded: Encoded) -> dict[str, Any]:
    asked = encoded.asked.get("chunksizes")
    if asked is None or (not encoded.v.dims and not len(asked)):
        return {}
    shape = encoded.shape
    origin = None if encoded.explicit else encoded.v.encoding.get("original_shape")
    lengths = [_integer("a length in chunksizes", n) for n in asked]
    if encoded.v.dtype.kind == "S" and len(lengths) + 1 == len(shape):
        lengths.append(shape[-1])  # that of the characters
    if len(lengths) != len(shape):
        raise ValueError(f"chunksizes has {len(lengths)} lengths for {len(shape)} dimensions")
    if origin is not None and tuple(origin) != shape[: len(origin)]:
        raise ValueError(f"chunksizes is for the shape {tuple(origin)}, not {shape}")
    for dim, length, whole in zip(encoded.v.dims, lengths, shape, strict=True):
        if dim == encoded.record and length != 1:
            raise ValueError(f"chunksizes along the record dimension '{dim}' is 1, not {length}")
        if dim != encoded.record and not 1 <= length <= max(whole, 1):
            raise ValueError(f"chunksizes along '{dim}' is from 1 to {whole}, not {length}")
    return {"chunks": dict(zip(map(str, encoded.v.dims), lengths, strict=True))}


def _quantization(encoded: Encoded) -> dict[str, Any]:
    asked, dtype = encoded.asked, encoded.v.dtype
    digits, mode = asked.get("significant_digits"), asked.get("quantize_mode", "BitGroom")
    if digits is None:
        if "quantize_mode" in asked:
            raise ValueError("quantize_mode needs significant_digits")
        return {}
    setting, limits = QUANTIZERS.get(mode, ("", {}))
    most = limits.get(dtype.itemsize, 0) if dtype.kind == "f" else 0
    if most == 0:
        raise ValueError(f"values of type {dtype} cannot be quantized with {mode!r}")
    if not 1 <= _integer("significant_digits", digits) <= most:
        raise ValueError(f"significant_digits of {mode} is from 1 to {most}, not {digits}")
    return {"quantize": f"{setting}:{digits}"}


def _refused(encoded: Encoded) -> dict[str, Any]:
    """Raises an error for an encoding that is impossible."""
    asked = encoded.asked
    if asked.get("fletcher32"):
        raise ValueError("fletcher32 cannot be written")
    if (order := asked.get("endian", "native")) != "native":
        raise ValueError(f"endian is the format's, and cannot be {order!r}")
    if options := [name for name in OPTIONS if asked.get(name)]:
        raise ValueError(f"{', '.join(options)} is for compression that cannot be written")
    return {}
