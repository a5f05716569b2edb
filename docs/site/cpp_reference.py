# SPDX-License-Identifier: Apache-2.0
"""The reference of C++, from the comments of include/thalweg/*.hpp."""

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter_cpp
from c_reference import described, without_marks
from prose import CONDITION
from tree_sitter import Language, Node, Parser

# The parts of the page in this order; base.hpp has the types.
PARTS = (
    "session",
    "decomposition",
    "definitions",
    "writing",
    "reading",
    "restart",
    "history",
    "base",
)

INTRODUCTION = """# C++ reference

`#include <thalweg/thalweg.hpp>`, namespace `thalweg`. The classes own the handles of the C
interface, and throw `Error` where that returns a status. What a function does, its arguments and
its errors are those of the [C function](c.md) that its text names.
"""
HIDDEN = ("friend_declaration", "using_declaration", "access_specifier")


@dataclass
class Member:
    """A class, function or type; `code`: all declarations of that name that follow each other."""

    name: str
    comment: str
    code: list[str]
    below: list["Member"] = field(default_factory=list)


def inner(node: Node) -> Node:
    """What a template declares."""
    return node.named_children[-1] if node.type == "template_declaration" else node


def name_of(node: Node) -> str:
    """The name that a declaration declares."""
    node = inner(node)
    while (below := node.child_by_field_name("declarator")) is not None or node.type in (
        "reference_declarator",
        "pointer_declarator",
    ):
        node = below if below is not None else node.named_children[-1]
    named = node.child_by_field_name("name") or node
    return named.text.decode()


def head_of(node: Node) -> str:
    """A declaration without a function's body and initialisers, or a class's members."""
    source = node.text.decode()
    declared = inner(node)
    end = node.end_byte
    for part in declared.named_children:
        is_body = declared.type == "function_definition" and part.type == "compound_statement"
        is_body = is_body or part.type in ("field_declaration_list", "field_initializer_list")
        if is_body and declared.type != "struct_specifier":
            end = min(end, part.start_byte)
    text = source.encode()[: end - node.start_byte].decode().rstrip()
    text = textwrap.dedent(" " * node.start_point[1] + text)
    return text if text.endswith(";") else f"{text};"


def members_of(parent: Node) -> list[Member | str]:
    """What has a comment in a class or namespace, and the texts between; overloads are joined."""
    found: list[Member | str] = []
    comment: list[str] = []
    plain: list[str] = []
    public = parent.parent.type != "class_specifier"
    for node in parent.named_children:
        text = node.text.decode()
        if node.type == "access_specifier":
            public = text == "public"
        elif node.type == "comment" and not text.startswith("///<"):
            (comment if text.startswith("///") else plain).append(text)
            continue
        elif public and node.type not in HIDDEN and not re.search(r"= (delete|default);$", text):
            if plain and parent.parent.type == "class_specifier":
                found.append(without_marks("\n".join(plain)))
            add(found, node, comment)
        comment, plain = [], []
    return found


def add(found: list[Member | str], node: Node, comment: list[str]) -> None:
    name, before = name_of(node), found[-1] if found else None
    same = isinstance(before, Member) and before.name == name
    if node.type == "namespace_definition" or not (comment or same):
        return
    if same:
        before.code += [*comment, head_of(node)]
        return
    member = Member(name, without_marks("\n".join(comment)), [head_of(node)])
    body = inner(node).child_by_field_name("body")
    if inner(node).type == "class_specifier" and body is not None:
        member.below = members_of(body)
    found.append(member)


def shown(member: Member, level: int, owner: str = "") -> list[str]:
    heading = f"{'#' * level} `{owner}{member.name}`"
    lines = ["", heading, "", "```cpp", *member.code, "```", "", described(member.comment, set())]
    for below in member.below:
        if isinstance(below, str):
            lines += ["", f"*{' '.join(below.split())}*"]
        else:
            lines += shown(below, level + 1, f"{member.name}::")
    return lines


def cpp_page(include: Path, c_names: set[str]) -> str:
    """The page; calls of C are links to the page c.md, which has these names."""
    parser = Parser(Language(tree_sitter_cpp.language()))
    lines = [INTRODUCTION]
    for part in PARTS:
        title = "Types and errors" if part == "base" else part.capitalize()
        lines += ["", f"## {title}"]
        text = CONDITION.sub("", (include / f"{part}.hpp").read_text())
        root = parser.parse(text.encode()).root_node
        space = next(n for n in root.named_children if n.type == "namespace_definition")
        for member in members_of(space.child_by_field_name("body")):
            lines += shown(member, 3)
    text = "\n".join(lines) + "\n"
    known = re.compile(r"(?<!\[)`(tw_\w+)`")
    return known.sub(lambda m: f"[`{m[1]}`](c.md#{m[1]})" if m[1] in c_names else m[0], text)
