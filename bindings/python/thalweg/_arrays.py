# SPDX-License-Identifier: Apache-2.0
"""Converts values of Python and NumPy for the library: arrays, types, attributes, settings."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections import UserDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._device import HOST_DEVICES, HostMemory

# netCDF's types (nc_type), from 1 on, and their default fill values.
NAMES = ("i1", "S1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8")
TYPES = {code: np.dtype(name) for code, name in enumerate(NAMES, 1)}
CODES = {(dtype.kind, dtype.itemsize): code for code, dtype in TYPES.items()}
_FLOAT = 9.9692099683868690e36
_SIGNED = (-127, b"\0", -32767, -2147483647, _FLOAT, _FLOAT)
_LATER = (255, 65535, 4294967295, -9223372036854775806, 18446744073709551614)
FILLS = dict(enumerate(_SIGNED + _LATER, 1))
_AS_IT_IS = frozenset("bBhHiIlLqQfd?")


class UnusableError(ValueError):
    """An array that cannot be passed on; `name` is that of the status code."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


def type_code(dtype: Any) -> int:
    """Returns the netCDF type of a NumPy dtype, or of a value that names one."""
    if dtype is str or dtype is bytes:
        dtype = np.dtype("S1")
    dtype = np.dtype(dtype)
    code = CODES.get((dtype.kind, dtype.itemsize))
    if code is None:
        raise UnusableError("TW_ETYPE", f"there is no netCDF type for {dtype}{_advice(dtype)}")
    return code


def _advice(dtype: np.dtype) -> str:
    if dtype.kind in "Mm":
        return (
            ": convert times to numbers and set the attribute units, for example "
            "'seconds since 2000-01-01' (xarray does so in Dataset.thalweg.write)"
        )
    if dtype.kind == "b":
        return ": use 'i1'"
    if dtype.kind == "c":
        return ": write the real and the imaginary part (array.real, array.imag)"
    if dtype.kind in "USO":
        return ": write text as characters ('S1') with one more dimension"
    if "float" in dtype.name:
        return ": use 'f4' or 'f8'"
    return ""


def as_array(values: Any, host: HostMemory, fill: Any = None, code: int = 0) -> np.ndarray:
    """Returns an array that the core can read: of netCDF's types, in the machine's byte order, on
    the host, in the memory `host` if it is a device's.

    Strides stay as they are. Masked elements get the value `fill` of the type `code`.
    """
    if type(values) is np.ndarray:
        array = values
    elif isinstance(values, np.ma.MaskedArray):
        array = _filled(values, fill, code)
    else:
        array = _host_array(values, host)
    if array.dtype.char in _AS_IT_IS and array.dtype.isnative:
        return array
    return _converted(array)


def check_order(values: Any, dims: Sequence[str]) -> None:
    """Raises an error if an array's named dimensions, such as xarray's, are the expected ones in
    another order: equal lengths would hide that."""
    own = getattr(values, "dims", None)
    if isinstance(own, tuple) and len(own) > 1 and all(name in dims for name in own):
        expected = tuple(name for name in dims if name in own)
        if own != expected:
            raise UnusableError(
                "TW_ESHAPE", f"the array's dimensions are {own}: use transpose{expected}"
            )


def _host_array(values: Any, host: HostMemory) -> np.ndarray:
    if values is None or isinstance(values, str | bytes):
        raise UnusableError("TW_EARG", f"expected an array, not {values!r}")
    try:
        if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray | np.generic):
            device = int(values.__dlpack_device__()[0])
            if device not in HOST_DEVICES:
                return host.copy_of(values)
            # PyTorch's __dlpack__ ignores a pending negation; its __array__ refuses it.
            if device != 1 or not hasattr(values, "__array__"):
                return np.from_dlpack(values)
        return np.asarray(values)
    except Exception as problem:
        dtype = f" (elements: {values.dtype})" if hasattr(values, "dtype") else ""
        raise UnusableError("TW_EARG", f"not an array for NumPy: {problem}{dtype}") from problem


def _filled(values: np.ma.MaskedArray, fill: Any, code: int) -> np.ndarray:
    """Returns the values with the variable's fill value in place of masked ones, in a type that
    the library converts exactly as it would convert the values."""
    if values.mask is np.ma.nomask or not values.mask.any():
        return values.data
    own = values.dtype
    if own.kind not in "iufbS":
        type_code(own)  # raises
    target = TYPES[code] if code else own
    value = np.array(FILLS[code or type_code(own)] if fill is None else _number(fill, target))
    if (target.kind == "f" and own.kind in "iub") or np.can_cast(own, target):
        types = [target]
    else:
        types = [own, np.dtype("f8" if own.kind == "f" else "i8")]
    if (own.kind in "iu" and own.itemsize == 8) or own.kind == "S":
        types = types[:1]
    for dtype in types:
        with np.errstate(all="ignore"):
            converted = value.astype(dtype)
        # Compare Python's numbers, which is exact: NumPy's float64 "equals" many an int64. NaN is
        # always right: `value` has the target's type.
        if converted.item() == value.item() or value != value:
            return values.astype(dtype).filled(converted)
    raise UnusableError(
        "TW_ERANGE",
        f"the fill value {value} of masked elements does not fit the array's type "
        f"{own}: convert the array to {target}",
    )


def _number(fill: Any, target: np.dtype) -> Any:
    """Returns a fill value, possibly given as text, in the variable's type."""
    if target.kind == "S":
        return fill
    if isinstance(fill, str | bytes):
        try:
            fill = int(fill)
        except ValueError:
            fill = float(fill)
    with np.errstate(all="ignore"):
        return np.asarray(fill).astype(target)


def _converted(array: np.ndarray) -> np.ndarray:
    dtype = array.dtype
    if dtype.kind in "iufb" and not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
        dtype = array.dtype
    if dtype == np.float16:
        return array.astype(np.float32)
    if dtype.kind == "S" and dtype.itemsize == 1:
        return array
    if dtype.kind == "S" and dtype.itemsize > 1:
        width = dtype.itemsize
        return np.ascontiguousarray(array).view("S1").reshape(*array.shape, width)
    type_code(dtype)
    return array


def writable_array(out: Any) -> np.ndarray:
    """Returns an array that the core can fill: checked, not converted."""
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise UnusableError("TW_EARG", f"out must be a NumPy array, not {type(out).__name__}")
    if not out.flags.writeable:
        raise UnusableError("TW_EARG", "the array out is read-only")
    if not out.dtype.isnative:
        raise UnusableError("TW_ETYPE", f"the byte order of out ({out.dtype}) is not the machine's")
    type_code(out.dtype)
    return out


def attribute_values(value: Any, dtype: np.dtype | None = None) -> bytes | np.ndarray:
    """Returns the value of an attribute: text, or an array of one dimension.

    Integers of Python get netCDF's int if they fit, so that every format can hold them.
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    plain = not isinstance(value, np.ndarray | np.generic)
    array = np.atleast_1d(np.asarray(value)).ravel()
    if array.size == 0:
        raise UnusableError("TW_EARG", "an attribute needs at least one value")
    if array.dtype.kind == "b":
        return array.astype("i1")
    if array.dtype.kind == "S" and dtype == np.dtype("S1") and array.size == 1:
        return bytes(array[0]).ljust(1, b"\0")
    if array.dtype.kind in "SUO":
        raise UnusableError(
            "TW_ETYPE",
            f"the value {value!r} is neither a number nor one text: join texts, for example with "
            "blanks",
        )
    if dtype is not None:
        return _cast(array, dtype)
    if plain and array.dtype == np.int64 and np.all(np.abs(array.astype("f8")) < 2**31):
        return array.astype("i4")
    return np.ascontiguousarray(as_array(array, HostMemory()))


# Attributes that have the type of their variable.
TYPED = ("_FillValue", "missing_value", "valid_min", "valid_max", "valid_range")


def stored_attribute(name: str, value: Any, code: int) -> bytes | np.ndarray:
    """Returns an attribute's value as it is stored; `code` is its variable's type, 0 without one.

    Raises:
        UnusableError: netCDF has no such name or value
    """
    typed = name in TYPED and code and (name == "_FillValue" or not hasattr(value, "dtype"))
    values = attribute_values(value, TYPES[code] if typed else None)
    plain_text(name, "the name")
    return values


def checked_attributes(attributes: Mapping[str, Any], code: int = 0) -> Mapping[str, Any]:
    """Returns attributes that can be stored; `code` is their variable's type, 0 without one."""
    for name, value in attributes.items():
        try:
            stored_attribute(name, value, code)
        except UnusableError as problem:
            raise UnusableError(problem.name, f"attribute '{name}': {problem}") from None
        check_name(name)
    return attributes


def check_name(name: str) -> None:
    bad = re.match(r"[^\w\x80-\U0010ffff]", name) or re.search(r"[\x00-\x1f\x7f/]|\x20$", name)
    if not name or bad or len(name.encode(errors="replace")) > 256:
        raise UnusableError("TW_EARG", f"{name!r} is not a valid netCDF name")


def _cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
    lost = (
        not np.array_equal(cast, array)
        if dtype.kind in "iu"
        else np.any(np.isinf(cast) & np.isfinite(array))
    )
    if lost:
        raise UnusableError("TW_ERANGE", f"{array} does not fit the variable's type {dtype}")
    return cast


def settings_text(settings: Mapping[str, Any]) -> str:
    """Returns settings in the library's form: "name=value; name=value"."""
    parts = []
    for name, value in settings.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = ",".join(f"{k}={v}" for k, v in value.items())
        elif isinstance(value, bool | np.bool_):
            value = "yes" if value else "no"
        text = str(value)
        if ";" in text:
            raise UnusableError("TW_ESETTING", f"the value of {name} has a ';': {text!r}")
        parts.append(f"{name}={text}")
    return "; ".join(parts)


def normal_form(name: Any) -> Any:
    """Returns a name in the form in which netCDF stores it and looks it up."""
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else name


class ByName(UserDict[str, Any]):
    """A dictionary by names in any normal form of Unicode."""

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(normal_form(name))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(normal_form(name), value)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(normal_form(name))


def names_text(names: str | Iterable[str]) -> str:
    """Returns names of dimensions in the library's form; a text stays as it is."""
    if isinstance(names, str):
        return names
    return " ".join(name.replace(" ", "\\ ") for name in names)


def names_of(text: str) -> tuple[str, ...]:
    """Returns the inverse of names_text()."""
    hidden = normal_form(text).replace("\\ ", "\0")
    return tuple(name.replace("\0", " ") for name in hidden.split())


def integers(values: Any) -> list[int]:
    """Converts integers of Python or NumPy."""
    if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes):
        return [operator.index(value) for value in values]
    return [operator.index(values)]


def plain_text(text: Any, what: str) -> str:
    if not isinstance(text, str):
        raise UnusableError("TW_EARG", f"{what} must be a text, not {text!r}")
    if "\0" in text:
        raise UnusableError("TW_EARG", f"{what} has a zero byte: {text!r}")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UnusableError("TW_EARG", f"{what} is not valid Unicode: {text!r}")
    return text
