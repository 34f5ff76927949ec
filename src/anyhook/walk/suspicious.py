"""Suspicious: what a hook's command says that a person should look at before it runs: code from the network that goes
straight into a shell, and programs that start with the session from places where nobody looks. It finds the plain
spellings and starts nothing."""

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

LOOKED_AT = 65_536
"""How much of a script is searched."""
FETCH = r"(?:curl|wget|fetch|aria2c|http|https|xh|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)"
SHELLS = r"(?:(?:ba|z|da|k|a|fi)?sh|python[\d.]*|node|perl|ruby|php|bun|deno|iex)\b"
RUNNER = rf"(?:sudo\s+(?:-\S+\s+)*|env\s+|exec\s+|\S*/)*{SHELLS}"
FED = re.compile(
    rf"\b{FETCH}\b[^\n;&]*\|(?:[^\n;&]*\|)*\s*{RUNNER}"
    rf"|{RUNNER}\s+(?:-\S+\s+)*<\(\s*{FETCH}\b"
    rf"|(?:{RUNNER}\s+-\S*c|\beval|\bsource|(?:^|[\s;&])\.)\s+[\"']?(?:\$\(|`|<\()\s*{FETCH}\b"
    rf"|\bbase64\s+(?:-\S+\s+)*(?:-d|-D|--decode)\b[^\n;&]*\|\s*{RUNNER}"
)
"""A download, or encoded text, that is run as it comes."""
SHARED = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 (places to warn about)
STARTS = ("session_start",)


def suspicious(hook: Hook, setup: Setup) -> list[Problem]:
    """What to look at in one hook."""
    project, home = hook.project or setup.project, setup.env.get("HOME", "")
    paths = dialect(hook.dialect).names(hook, Files(), project, home) if hook.handler == "command" else ()
    return [*_fed(hook, paths), *_hidden(hook, paths, project, home)]


def _fed(hook: Hook, paths: tuple[str, ...]) -> Iterator[Problem]:
    fix = "Download it once, read it, keep it in the project, and run that."
    words = [text for value in hook.spec.values() for text in (value if isinstance(value, list) else [value])]
    line = " ".join(text for text in words if isinstance(text, str))
    if FED.search(line):
        what = f"hook `{hook.name}` runs code that it downloads or decodes at that moment"
        yield Problem("downloaded-code", what, hook.where(), "nobody can approve what it will be", fix, WARNING)
    for path in paths:
        text = (head(path, LOOKED_AT) or b"").decode("utf-8", "replace")
        for number, each in enumerate(text.split("\n"), 1):
            if not each.lstrip().startswith(("#", "//")) and FED.search(each):
                what = f"the script of hook `{hook.name}` runs code that it downloads or decodes at that moment"
                why = "nobody can approve what it will be"
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
