# SPDX-License-Identifier: Apache-2.0
"""The commands `zarr` and `report` of the program thalweg: python3 -m thalweg zarr FILES."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from typing import Any

from .report import write_report


def size(least: int) -> Callable[[str], int]:
    """Returns a parser of sizes such as 16MiB."""

    def parse(text: str) -> int:
        found = re.fullmatch(r"(\d{1,18}) ?([kmgt]?)(?:i?b)?", text.strip().lower())
        value = int(found[1]) << 10 * " kmgt".index(found[2] or " ") if found else -1
        if not least <= value <= 1 << 40:
            raise argparse.ArgumentTypeError(f"{text!r} is no size from {least} to 1 TiB")
        return value

    return parse


def split_at_commas(text: str) -> list[str]:
    """Splits a list of names. A backslash makes the character after it part of a name."""
    names = re.findall(r"((?:\\.|[^,\\])*)(?:,|$)", text)[: text.count(",") + 1]
    return [re.sub(r"\\(.)", r"\1", name) for name in names if name]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("thalweg")
    commands = made.add_subparsers(dest="command", required=True)
    zarr = commands.add_parser(
        "zarr",
        description="Writes references (kerchunk JSON) by which Zarr readers read netCDF files in "
        "place. Several files are joined along their record dimension, in the order given.",
    )
    zarr.add_argument("files", nargs="+", metavar="FILE", help="netCDF file of any format")
    zarr.add_argument(
        "-o", "--output", help="JSON file; FILE.json by default; required for several files"
    )
    zarr.add_argument("--absolute", action="store_true", help="refer to files by absolute paths")
    zarr.add_argument(
        "--skip",
        action="extend",
        type=split_at_commas,
        default=[],
        metavar="NAMES",
        help="variables to leave out",
    )
    zarr.add_argument(
        "--chunk",
        type=size(1),
        default="16MiB",
        help="largest chunk into which data without filters are cut (%(default)s)",
    )
    zarr.add_argument(
        "--copy",
        type=size(0),
        default="64KiB",
        help="copy variables of up to this size into the JSON file (%(default)s)",
    )
    joinable = commands.add_parser(
        "joinable", description="Says why files cannot be joined along their record dimension."
    )
    joinable.add_argument("files", nargs="+", metavar="FILE", help="netCDF files in their order")
    report = commands.add_parser(
        "report", description="Shows where the time of a run went: its summary as an HTML page."
    )
    report.add_argument(
        "summary", metavar="SUMMARY", help="JSON file of the setting summary; - for standard input"
    )
    report.add_argument(
        "-o",
        "--output",
        metavar="PAGE",
        help="SUMMARY with the ending .html by default; - for standard output",
    )
    return made


def refer(files: list[str], output: str | None, **options: Any) -> None:
    from .references import write_references

    for note in write_references(files, output, **options):
        print(f"thalweg: zarr: note: {note}", file=sys.stderr)
    of = files[0] if len(files) == 1 else f"{len(files)} files"
    print(f"{output or files[0] + '.json'}: references to {of}")


def tell_reasons(files: list[str]) -> int:
    from .references._joinable import reasons

    found = list(reasons(files))
    print(*found, f"{', '.join(files)}: {'cannot' if found else 'can'} be joined", sep="\n")
    return 1 if found else 0


def main(arguments: list[str] | None = None) -> int:
    own = parser()
    options = vars(own.parse_args(arguments))
    command = options.pop("command")
    name, wrong = ("verify", 2) if command == "joinable" else (command, 1)
    if command == "zarr" and len(options["files"]) > 1 and options["output"] is None:
        own.error(f"zarr: {len(options['files'])} files are given: --output is missing")
    try:
        if command == "zarr":
            refer(**options)
        elif command == "joinable":
            return tell_reasons(**options)
        elif (page := write_report(**options)) is not None:
            print(page)
    except ImportError as problem:
        print(
            f"thalweg: {name}: {problem}: install the packages that it needs: "
            "pip install netCDF4 h5py",
            file=sys.stderr,
        )
        return wrong
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"thalweg: {name}: {problem}", file=sys.stderr)
        return wrong
    return 0


if __name__ == "__main__":
    sys.exit(main())
