# SPDX-License-Identifier: Apache-2.0
"""Strict reading of TOML: missing and unknown keys, and values of other types, are errors."""

import difflib
import math
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class PlanError(Exception):
    """A mistake in a file, with the names of the file and the key."""


def load(path):
    """Returns the table of a TOML file. Raises PlanError."""
    try:
        return tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        place = re.search(r"line \d+", str(error))
        raise PlanError(f"{path}, {place[0] if place else 'content'}: {error}") from None


def close_to(name, known):
    """Returns a question for the known name that is most similar, or an empty text."""
    near = difflib.get_close_matches(name, known, 1, 0.7)
    return f"; did you mean '{near[0]}'?" if near else ""


def text(value):
    """Checks a text."""
    if not isinstance(value, str):
        raise ValueError("expected a text in quotes")
    return value


def flag(value):
    """Checks a truth value."""
    if not isinstance(value, bool):
        raise ValueError("expected true or false")
    return value


def integer(least, most=2**63):
    """Returns a function that checks an integer."""

    def check(value):
        if type(value) is not int or value < least:
            raise ValueError(f"expected an integer >= {least}")
        if value > most:
            raise ValueError(f"more than {most}")
        return value

    return check


def number(value):
    """Checks a finite number of at least 0."""
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ValueError("expected a number >= 0")
    return value


def positive(value):
    """Checks a number that is used as a divisor."""
    if number(value) == 0:
        raise ValueError("expected a number > 0")
    return value


def numbers(value):
    """Checks a list of one or more numbers greater than 0."""
    good = (type(n) in (int, float) and math.isfinite(n) and n > 0 for n in value or [0])
    if not isinstance(value, list) or not all(good):
        raise ValueError("expected a list of numbers > 0")
    return value


def size(value):
    """Returns a size in bytes, which is given as an integer or as a text such as "64 GiB"."""
    if type(value) is int and value >= 0:
        return value
    found = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    if not found or found[2] not in UNITS:
        raise ValueError('expected a size in bytes, such as "64 GiB"')
    return int(found[1]) * UNITS[found[2]]


def table(value):
    """Checks a table."""
    if not isinstance(value, dict):
        raise ValueError("expected a table")
    return value


def tables(value):
    """Checks an array of tables."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("expected tables in double brackets")
    return value


def read(content, where, needed, optional):
    """Returns the checked values of a table as an object with the keys as names.

    @param where: file and table, for messages; needed: functions that check, by key; optional: the
        same with the value of a missing key: (check, value)
    Raises PlanError.
    """
    known = [*needed, *optional]
    for key in content:
        if key not in known:
            meant = close_to(key, known) or f"; the keys are {', '.join(known)}"
            raise PlanError(f"{where}: unknown key '{key}'{meant}")
    for key in needed:
        if key not in content:
            raise PlanError(f"{where}: the key '{key}' is missing")
    checks = needed | {key: check for key, (check, _) in optional.items()}
    found = SimpleNamespace(**{key: value for key, (_, value) in optional.items()})
    for key, value in content.items():
        try:
            setattr(found, key, checks[key](value))
        except ValueError as error:
            raise PlanError(f"{where}: key '{key}': {error}") from None
    return found
