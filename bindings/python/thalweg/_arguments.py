# SPDX-License-Identifier: Apache-2.0
"""Names the argument that has a wrong type, and shows the signature of the function."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class ArgumentError(TypeError):
    """An error that already shows a signature."""


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Iterable) and all(isinstance(name, str) for name in value)
    )


def _are_integers(value: Any) -> bool:
    values = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return all(hasattr(number, "__index__") for number in values)


def _is_decomposition(value: Any) -> bool:
    return hasattr(value, "array_shape") or isinstance(value, Mapping)  # a mapping: for xarray


_INTEGERS = ("start", "count", "stride", "extent", "record", "length", "most", "block")
# The test for each argument, and words for messages. The function itself checks None.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("name", "calendar", "variable"), (_is(str), "a text")),
    **dict.fromkeys(("path", "config"), (_is(str, os.PathLike), "a path")),
    **dict.fromkeys(("dims", "along", "listed"), (_are_names, "names of dimensions")),
    **dict.fromkeys(_INTEGERS, (_are_integers, "integers")),
    "attrs": (_is(Mapping), "a dictionary"),
    "decomposition": (_is_decomposition, "a decomposition"),
    "session": (lambda value: hasattr(value, "decompose_list"), "a session"),
}


def explains_arguments(cls: type[T]) -> type[T]:
    """Lets the methods of a class raise a TypeError with their signature where a wrong argument
    would otherwise be an error of Python from inside."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            setattr(cls, name, _explained(member))
    return cls


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except ArgumentError:
            raise
        except (AttributeError, TypeError) as problem:
            raise ArgumentError(_text(function, problem, args, keywords)) from problem

    return call


def _text(function: Any, problem: Exception, args: Any, keywords: Any) -> str:
    signature = inspect.signature(function)
    shown = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
    form = function.__name__ + str(inspect.Signature(shown))
    try:
        given = signature.bind(*args, **keywords).arguments
    except TypeError as wrong:
        return f"{wrong}: {form}"
    for name, value in given.items():
        fits, words = _KINDS.get(name, (None, ""))
        if fits is not None and value is not None and not fits(value):
            return f"{name} must be {words}, not {value!r}: {form}"
    return f"{problem}: {form}"
