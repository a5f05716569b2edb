# SPDX-License-Identifier: Apache-2.0
"""Values that do not fit into the type in which a variable is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray
from xarray import conventions

PACKING = ("scale_factor", "add_offset")
KEPT = (*PACKING, "_FillValue", "missing_value", "units", "calendar")


def exact(name: str, plain: xarray.Variable, encoded: xarray.Variable) -> xarray.Variable:
    """Returns the encoded variable with values that the library converts, because NumPy's
    conversion, which xarray uses, wraps around. The library stores the fill value and reports
    TW_ERANGE.

    Args:
        plain: the variable before it was encoded, with its encoding
    """
    source, target = plain.dtype, encoded.dtype
    packed = any(plain.encoding.get(key) is not None for key in PACKING)
    times = source.kind in "mM" or holds_times(plain)
    if not (times or source.kind in "iuf") or target.kind not in "iuf":
        return encoded
    if not packed and (target.itemsize == 8 if times else np.can_cast(source, target, "safe")):
        return encoded
    unsigned = plain.encoding.get("_Unsigned")
    if source.kind in "iu" and not packed and unsigned is None:
        return _with_data(encoded, plain)
    raw = plain.copy(deep=False)
    raw.encoding = {
        key: value for key, value in plain.encoding.items() if key in KEPT and value is not None
    }
    with np.errstate(invalid="ignore", over="ignore"):
        raw = conventions.encode_cf_variable(raw, name=name)
    counted = target
    if unsigned is not None and target.kind in "iu":
        counted = np.dtype(f"{'u' if str(unsigned) == 'true' else 'i'}{target.itemsize}")
    fills = [
        float(fill)
        for values in (plain.encoding, encoded.attrs)
        for key in ("_FillValue", "missing_value")
        if (fill := values.get(key)) is not None
    ]
    merged = xarray.apply_ufunc(
        _marked,
        encoded,
        raw,
        kwargs={"counted": counted, "fills": fills},
        dask="parallelized",
        output_dtypes=[np.float64],
    )
    return _with_data(encoded, merged)


def holds_times(v: xarray.Variable) -> bool:
    """Tests if an array of objects holds dates of another calendar."""
    return v.dtype == object and v.size > 0 and hasattr(np.asarray(v.data).ravel()[0], "timetuple")


def _with_data(encoded: xarray.Variable, values: xarray.Variable) -> xarray.Variable:
    return xarray.Variable(encoded.dims, values.data, encoded.attrs, encoded.encoding)


def _marked(encoded: np.ndarray, raw: np.ndarray, counted: np.dtype, fills: list[float]) -> Any:
    """Returns the encoded values; those that do not fit are infinite or unchanged."""
    if counted.kind == "f":
        misfit = np.isfinite(raw) & ~np.isfinite(encoded)
        return np.where(misfit, raw, encoded) if misfit.any() else encoded
    limits = np.iinfo(counted)
    rounded = np.around(raw)
    misfit = ~((rounded >= float(limits.min)) & (rounded < float(limits.max + 1)))
    for fill in fills:
        misfit &= raw != fill
    return np.where(misfit, np.inf, encoded) if misfit.any() else encoded
