"""Suspicious: commands that a person should look at before they run: code from the network that goes straight into a
shell, and hidden programs that start with the session. It finds only plain spellings, and starts nothing."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from anyhook.documents.files import Files
from anyhook.documents.read import head
from anyhook.model.problem import WARNING, Problem
from anyhook.tables.registry import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.hook import Hook
    from anyhook.state.plans import Setup

MAX_SCRIPT = 65_536
"""How many bytes of a script are searched."""
LINE_LIMIT = 2_000
"""How much of a line is searched; lines that people write are much shorter."""
FETCH = r"(?:curl|wget|fetch|aria2c|http|https|xh|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)"
SHELLS = r"(?:(?:ba|z|da|k|a|fi)?sh|python[\d.]*|node|perl|ruby|php|bun|deno|iex)\b"
RUNNER = rf"(?:(?:\S*/)?(?:sudo|env|exec)\s+(?:-\S+\s+)*)*(?:\S*/)?{SHELLS}"
FED = re.compile(
    rf"\b{FETCH}\b[^\n;&]*\|\s*{RUNNER}"
    rf"|{SHELLS}\s+(?:-\S+\s+)*<\(\s*{FETCH}\b"
    rf"|(?:{SHELLS}\s+-\S*c|\beval|\bsource|(?:^|[\s;&])\.)\s+[\"']?(?:\$\(|`|<\()\s*{FETCH}\b"
    rf"|\bbase64\s+(?:-\S+\s+)*(?:-d|-D|--decode)\b[^\n;&]*\|\s*{RUNNER}"
)
"""A download, or encoded text, that is run directly. No two parts of the pattern match the same character: the
project's author controls these lines, and could otherwise keep a backtracking search busy forever."""
SHARED = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 (places to warn about)
STARTS = ("session_start",)
UNKNOWN_CODE = "what it will run cannot be approved in advance"


def suspicious(hook: Hook, setup: Setup) -> list[Problem]:
    """The suspicious parts of one hook."""
    project, home = hook.project or setup.project, setup.env.get("HOME", "")
    if hook.handler == "rule":
        return []  # it starts nothing: the commands in its condition are what it looks for
    paths = dialect(hook.dialect).names(hook, Files(), project, home) if hook.handler == "command" else ()
    return [*_fed(hook, paths), *_hidden(hook, paths, project, home)]


def is_fed(line: str) -> bool:
    """Whether a shell line runs what it downloads or decodes."""
    return FED.search(line, 0, LINE_LIMIT) is not None


def _fed(hook: Hook, paths: tuple[str, ...]) -> Iterator[Problem]:
    fix = "Download it once, read it, keep it in the project, and run that."
    words = [text for value in hook.spec.values() for text in (value if isinstance(value, list) else [value])]
    line = " ".join(text for text in words if isinstance(text, str))
    if any(map(is_fed, line.split("\n"))):
        what = f"hook `{hook.name}` runs code that it downloads or decodes at that moment"
        yield Problem("downloaded-code", what, hook.where(), UNKNOWN_CODE, fix, WARNING)
    for path in paths:
        text = (head(path, MAX_SCRIPT) or b"").decode("utf-8", "replace")
        for number, each in enumerate(text.split("\n"), 1):
            if not each.lstrip().startswith(("#", "//")) and is_fed(each):
                what = f"the script of hook `{hook.name}` runs code that it downloads or decodes at that moment"
                why = UNKNOWN_CODE
                yield Problem("downloaded-code", what, f"{path}:{number}", why, fix, WARNING)
                break


def _hidden(hook: Hook, paths: tuple[str, ...], project: str, home: str) -> Iterator[Problem]:
    if not set(STARTS).intersection(hook.events):
        return
    for path in paths:
        name = os.path.basename(path)
        shared = path.startswith(SHARED) and not path.startswith((f"{project}/", f"{home}/"))
        if shared or name.startswith(".") or "/.git/" in path:
            what = f"hook `{hook.name}` starts a hidden program when a session starts: {path}"
            fix = "Look at that file. If it is yours, give it a plain name and keep it with the other hooks."
            yield Problem("hidden-program", what, hook.where(), "", fix, WARNING)
