# SPDX-License-Identifier: Apache-2.0
"""The Fortran reference, from the comments of bindings/fortran."""

import re
from dataclasses import dataclass
from pathlib import Path

from prose import inline, markdown

PARTS = ("base", "session", "decomposition", "writing", "reading", "inquiry", "restart", "history")
ENTITY = re.compile(
    r"(?P<kind>interface|type|function|subroutine|\w.*\bparameter\b)\b.*?"
    r"\b(?P<name>(?:tw_|TW_)\w+)",
)
CALL = re.compile(r"(?:call |(?P<result>\w+) = )(?P<name>tw_\w+)(?P<arguments>\(.*?\)(?=$|[:\s]))")
ERRORS = re.compile(r"(?:^|(?<=[.)])\s+)Errors:", re.MULTILINE)
END = re.compile(r"(.*)(?<=[.\s])((?:Local|Collective)\b[^.]*)\.$", re.DOTALL)


@dataclass
class Entity:
    """A procedure, type or group of constants: its comment and its declarations."""

    kind: str
    name: str
    comment: str
    usage: str
    declarations: list[str]


def joined(lines: list[str], at: int) -> str:
    """A statement, with its continuation lines."""
    text = lines[at].strip()
    while text.endswith("&"):
        at += 1
        text = text[:-1].rstrip() + " " + lines[at].strip().removeprefix("&")
    return text


def arguments_of(lines: list[str], at: int) -> list[str]:
    """The declarations of a procedure's arguments and result."""
    head = joined(lines, at)
    names = set(re.findall(r"\w+", head[head.index("(") :])) - {"result", "bind", "C"}
    found = []
    for number in range(at + 1, len(lines)):
        line = lines[number].strip()
        if line.startswith(("end function", "end subroutine", "contains")):
            break
        declared = re.match(r"[^!'\"]*::\s*(.*)", line)
        if declared and names & set(re.findall(r"\w+", declared[1])):
            found.append(joined(lines, number))
    return found


def usage_of(head: str, declarations: list[str]) -> str:
    """How a procedure is called, with brackets around what is optional."""
    name, inside = re.search(r"\b(tw_\w+)\(([^)]*)\)", head).groups()
    optional = set()
    for line in declarations:
        if "optional" in line:
            optional |= set(re.findall(r"\w+", line.split("::")[1]))
    text = ""
    for argument in (a.strip() for a in inside.split(",")):
        comma = ", " if text else ""
        text += f" [{comma}{argument}]" if argument in optional else f"{comma}{argument}"
    result = re.search(r"result\((\w+)\)", head)
    return f"{f'{result[1]} =' if result else 'call'} {name}({text.strip()})"


def entity(lines: list[str], at: int, comment: list[str]) -> Entity | None:
    """What is declared in a line that follows a comment."""
    found = ENTITY.match(lines[at].strip())
    if found is None:
        return None
    kind = "constant" if "parameter" in found["kind"] else found["kind"]
    text, declarations, usage = "\n".join(comment), [], ""
    call = CALL.match(text)
    if call and call["name"].lower() == found["name"].lower():
        usage = call[0]
        text = text[call.end() :].lstrip(": \n")
        text = text[:1].upper() + text[1:]
    if kind in ("function", "subroutine"):
        declarations = arguments_of(lines, at)
        usage = usage or usage_of(joined(lines, at), declarations)
    elif kind == "constant":
        while "parameter" in lines[at]:
            declarations.append(lines[at].strip().replace(", public", ""))
            at += 1
    return Entity(kind, found["name"], text, usage, declarations)


def entities_of(source: Path) -> list[Entity]:
    found, comment = [], []
    lines = source.read_text().split("\n")
    for at, line in enumerate(lines):
        words = line.strip()
        if words.startswith("!>"):
            comment.append(words[2:].removeprefix(" "))
            continue
        made = entity(lines, at, comment) if comment else None
        if made is not None:
            found.append(made)
        comment = []
    return found


def introduction(source: Path) -> str:
    lines = re.findall(r"^!>(?: (.*))?$", source.read_text(), re.MULTILINE)
    return "\n".join(lines)


def shown(entity: Entity, anchors: set[str]) -> list[str]:
    entity.comment = ERRORS.sub("\n\n**Errors:**", entity.comment)
    text = [entity.usage] if entity.usage else [f"type({entity.name})"] * (entity.kind == "type")
    text += ["  " + d if entity.usage else d for d in entity.declarations]
    lines = ["", f"### `{entity.name}`", "", "```fortran", *text, "```", ""]
    end = END.match(entity.comment)
    if end is None:
        return [*lines, markdown(entity.comment, anchors)]
    lines.append(markdown(end[1], anchors))
    word, *rest = re.split(r"\b", " ".join(end[2].split()), maxsplit=2)[1:]
    return [*lines, "", f"**{word}**{inline(''.join(rest), anchors)}"]


def fortran_page(folder: Path) -> str:
    sources = {p: next(folder.glob(f"thalweg_{p}.[fF]90")) for p in PARTS}
    entities = {part: entities_of(source) for part, source in sources.items()}
    anchors = {e.name.lower() for part in entities.values() for e in part}
    text = introduction(folder / "thalweg.f90")
    lines = ["# Fortran reference", "", "`use thalweg`", "", markdown(text, anchors)]
    lines += ["", "The types of variables and the status codes are those of the"]
    lines += ["[C reference](c.md#types-and-status-codes), under the same names."]
    for part, found in entities.items():
        title = "Handles" if part == "base" else part.capitalize()
        about = introduction(sources[part]).replace(": part of module thalweg.", ".").strip()
        about = re.sub(r": part of module thalweg\b", "", about)
        lines += ["", f"## {title}", "", markdown(about, anchors) if part != "base" else ""]
        for one in found:
            lines += shown(one, anchors)
    return "\n".join(lines) + "\n"


def undocumented_fortran(folder: Path, page: str) -> list[str]:
    """Public procedures that the page does not have."""
    public: set[str] = set()
    for part in PARTS:
        text = next(folder.glob(f"thalweg_{part}.[fF]90")).read_text()
        for statement in re.findall(r"^ *public ::((?:.*&\n)*.*)$", text, re.MULTILINE):
            public |= set(re.findall(r"\btw_\w+", statement))
    return sorted(public - set(re.findall(r"^### `(\w+)`$", page, re.MULTILINE)))
