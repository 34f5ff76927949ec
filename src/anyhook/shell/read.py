"""Reading shell lines: the one entry point for what a line would run, for rules, trust and the guard. The tree of the
grammar is walked as a shell would walk it, with what is known about variables, folders, functions and pipes. Nothing is
started, and no file is looked at."""

from __future__ import annotations

from anyhook.shell.expand import STRANGE
from anyhook.shell.program import ShellLine
from anyhook.shell.scope import Scope
from anyhook.shell.statements import LineReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LINE = 200_000
"""Longer lines are not read."""


def read_line(line: str, cwd: str | None, home: str, variables: Mapping[str, str] | None = None) -> ShellLine:
    """What a line would run, if that can be known. It never raises."""
    text = line.replace("\0", "")
    text = text if text.isascii() else STRANGE.sub("\ufffd", text)
    told = [] if len(text) <= MAX_LINE else [f"not read: the line is longer than {MAX_LINE} characters"]
    given = dict(zip(variables, zip(variables.values(), strict=True), strict=True)) if variables else {}
    scope = Scope(cwd, {"HOME": (home,), "IFS": (" ",), **given})
    reader = LineReader(home)
    try:
        reader.line(text[:MAX_LINE], scope)
    except RecursionError:
        told.append("not read: the line is nested too deeply")
    return ShellLine(tuple(reader.programs), tuple(dict.fromkeys([*reader.unknown, *told])), scope.cwd)
