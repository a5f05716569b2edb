# SPDX-License-Identifier: Apache-2.0
"""The exception of every failed call."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from ._arrays import UnusableError
from ._load import core, when_loaded

# The library's messages name C functions. These functions have other names in Python.
_SAME = """decompose decompose_list create open set_record enddef put put_record put_box end_step
sync close wait get get_box read prefetch summary finalize recover fill_halo pad"""
_CALLS = {f"tw_{name}": name for name in _SAME.split()} | {
    "tw_decompose_halo": "decompose",
    "tw_def_dim": "define_dim",
    "tw_def_var": "define",
    "tw_get_array": "get",
    "tw_put_record_array": "put_record",
    "tw_put_array": "put",
    "tw_restart_add_array": "Restart.add",
}
_CALL = re.compile(r"(?<![\w./-])(" + "|".join(sorted(_CALLS, reverse=True)) + r")(?![\w./-]*\w)")


class Error(RuntimeError):
    """A failed call. `str(error)` says what is wrong, where, and what to do.

    Attributes:
        code: the status code, negative, as in thalweg.h
        name: its name, such as "TW_ESHAPE"
        file: path of the file, or None
        variable: name of the variable, or None
        record: number of the record, from 0, or None
        rank: the rank at which the call failed, or None
        collective: whether all ranks of the session raised this error, with the same text
    """

    def __init__(
        self,
        code: int,
        text: str,
        file: str = "",
        variable: str = "",
        collective: bool = False,
        record: int | None = None,
        rank: int | None = None,
    ) -> None:
        text = _CALL.sub(lambda call: _CALLS[call.group(1)], text)
        super().__init__(text)
        self.code = code
        self.name = _name(code)
        self.file: str | None = file or None
        self.variable: str | None = variable or None
        self.record = record
        self.rank = rank
        self.collective = collective

    def __reduce__(self):
        return Error, (
            self.code,
            str(self),
            self.file or "",
            self.variable or "",
            self.collective,
            self.record,
            self.rank,
        )


def error(name: str, text: str, file: str = "", variable: str = "") -> Error:
    """Makes an error that the Python layer found; `name` is that of a status code."""
    where = f"{file}: " if file else ""
    where += f"variable '{variable}': " if variable else ""
    return Error(core().codes[name], where + text, file, variable)


@contextlib.contextmanager
def located(file: str = "", variable: str = "", what: str = "") -> Iterator[None]:
    """Turns an UnusableError of its block into an Error about a file and a variable; `what` begins
    the text."""
    try:
        yield
    except UnusableError as problem:
        raise error(problem.name, what + str(problem), file, variable) from None


def _name(code: int) -> str:
    for name, value in core().codes.items():
        if value == code:
            return name
    return f"status {code}"


when_loaded(lambda core: core.set_error_class(Error))
