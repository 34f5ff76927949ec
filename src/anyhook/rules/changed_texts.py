"""What a call takes out of files and puts into them, for rules about what is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.platform.places import head
from anyhook.programs.quick import CONTENTS
from anyhook.rules.calls import LINES, PATCHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.model.json_types import Json
    from anyhook.programs.facts import Facts
    from anyhook.programs.program import Program

    Texts = tuple[list[str], list[str]]

PATCHING = ("apply_patch", "applypatch")
PRINTING = ("cat", "tee", "echo", "printf")
"""Programs that put what they are given into a file, and nothing else."""
MAX_REPLACED = 1 << 20
"""How many bytes of a file that is written anew count as what it held before."""


def changed_texts(given: Json, facts: Facts, paths: Sequence[str]) -> Texts | None:
    """The texts that a call takes out of these files, and those that it puts in; None if anything but their text
    changes, or if a text is not known."""
    if not {*paths}.isdisjoint((*facts.deletes, *facts.changes)):
        return None
    old, new = _by_programs(facts, paths) if facts.runs else _by_tool(given)
    if not new:
        return None
    if not old:  # whole files
        old = [text.decode("utf-8", "replace") for path in paths if (text := head(path, MAX_REPLACED))]
    return old, new


def _by_tool(given: Json) -> Texts:
    old: list[str] = []
    new: list[str] = []
    for key, value in _named_texts(given):
        if key in CONTENTS:
            (old if key.startswith("old") else new).append(value)
        elif key in PATCHES and value.lstrip().startswith("*** Begin Patch"):
            _patch(value, old, new)
        elif key in LINES and not value.isidentifier():  # an editor's command is one word
            return [], []
    return old, new


def _by_programs(facts: Facts, paths: Sequence[str]) -> Texts:
    """The same for a shell line: a patch, or texts that it prints into files."""
    writers = {name for _, path, name in facts.doers if path in paths}
    old: list[str] = []
    new: list[str] = []
    for program in facts.runs:
        if program.name not in writers:
            continue
        texts = _texts_of(program)
        if texts is None:
            return [], []
        for text in texts:
            _patch(text, old, new) if program.name in PATCHING else new.append(text)
    return old, new if writers.issubset((*PATCHING, *PRINTING)) else []


def _texts_of(program: Program) -> list[str] | None:
    """Its arguments and its input; None if one of them is not known."""
    words = [word.text for word in program.words]
    if not all(word.known for word in program.words) or (program.name in ("cat", "tee") and program.stdin is None):
        return None
    if program.name == "cat" and any(not word.startswith("-") for word in words):
        return None  # another file
    if program.name in ("echo", "printf") and any("\\" in word for word in words):
        return None  # letters may be written as numbers
    return [*words, program.stdin or ""]


def _patch(text: str, old: list[str], new: list[str]) -> None:
    for line in text.splitlines():
        if line[:1] in ("+", "-"):
            (new if line.startswith("+") else old).append(line[1:])


def _named_texts(value: Json) -> Iterator[tuple[str, str]]:
    """Every text in a value that has a key."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, str):
            yield str(key), inner
        else:
            yield from _named_texts(inner)
