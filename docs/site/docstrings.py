# SPDX-License-Identifier: Apache-2.0
"""An extension of griffe: the docstrings of bindings/python in the form that it reads."""

import re
from typing import Any

import griffe

SECTION = re.compile(r"(?<=\S)\n(?=(?:Args|Attributes|Returns|Raises|Yields|Note):)")
NOTE = re.compile(r"^(Note|Returns): +(?=\S)", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^(?:>>>|\.\.\.) .*\n?)+", re.MULTILINE)
DOCUMENT = re.compile(r"\bdocs/([\w-]+)\.md")


def mended(text: str) -> str:
    text = NOTE.sub(r"**\1:** ", SECTION.sub("\n\n", text))
    text = EXAMPLE.sub(lambda m: f"```python\n{m[0].rstrip()}\n```\n", text)
    return DOCUMENT.sub(r"[\1](../\1.md)", text)


class Sections(griffe.Extension):
    """Blank lines before sections, examples as code, documents as links."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = mended(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        modules = [pkg, *(m for m in pkg.members.values() if m.is_module and not m.is_alias)]
        for module in modules:
            self.on_object(obj=module)
