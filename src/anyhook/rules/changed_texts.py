"""What a call takes out of files and puts into them, for rules about what is added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anyhook.model.event import Event
from anyhook.model.json_types import Json
from anyhook.model.pattern import later, re
from anyhook.platform.places import head
from anyhook.programs.facts import Facts
from anyhook.programs.outputs import output_of
from anyhook.programs.quick import CONTENTS
from anyhook.programs.special import patch_of
from anyhook.rules.calls import LINES, PATCHES

Texts = tuple[list[str], list[str]]

WHOLE_FILE = frozenset({"file_path", "filePath", "path", "content", "contents", "file_text"})
"""The keys of an input with which a tool writes a whole file. With any other, it may add to it."""
ADDS = later("append|insert", re.IGNORECASE)
"""The names of tools that add to a file whatever keys they have."""
FILLED_IN = later(r"\$(?!\{\{)[\w({]|`")
"""What a shell may fill in, in a text that a program gets: whether a here-document was quoted is not known any more."""
MAX_REPLACED = 1 << 20
"""How many bytes of a file that is written as a whole count as what it held before."""


def changed_texts(event: Event, facts: Facts, paths: Sequence[str]) -> Texts | None:
    """The texts that a call takes out of these files, and those that it puts in; None if anything but their text
    changes, or if a text is not known."""
    if not {*paths}.isdisjoint((*facts.deletes, *facts.changes)):
        return None
    given = event.data.get("input")
    old, new = _by_programs(facts, paths) if facts.runs else _by_tool(given)
    if not new:
        return None
    is_whole = isinstance(given, dict) and given.keys() <= WHOLE_FILE and not ADDS.search(str(event.data.get("tool")))
    if is_whole and event.name == "pre_tool":  # later, the file holds what was written
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
    """The same for a shell line: a patch, or texts that are printed into files."""
    writers = {name for _, path, name in facts.doers if path in paths}
    old: list[str] = []
    new: list[str] = []
    for program in facts.runs:
        if program.name not in writers:
            continue
        patch = patch_of(program)
        text = patch if patch is not None else output_of(program, program.cwd, lambda _: None)
        if text is None or not all(word.known for word in program.words) or FILLED_IN.search(program.stdin or ""):
            return [], []
        _patch(text, old, new) if patch is not None else new.append(text)
    return old, new


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
