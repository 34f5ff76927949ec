"""How to undo what a verb has just done: the one place where such commands are made, from what was done and where."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from anyhook.cli import render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from anyhook.model.words import OwnScope

    Done = Literal["install", "add", "shadow", "disable", "enable"]

INVERSE: dict[Done, str] = {
    "install": "uninstall", "add": "remove", "shadow": "enforce", "disable": "enable", "enable": "disable",
}  # fmt: skip


def undo(done: Done, names: Sequence[str], scope: OwnScope = "user", project: str | None = None) -> str:
    """The command that takes it back. `project` is the folder that the caller named, if one was needed."""
    words = ["anyhook", INVERSE[done], *names, *(["--scope", scope] if scope != "user" else [])]
    if project is not None and os.path.realpath(project) != os.path.realpath(os.curdir):
        words += ["--project", os.path.realpath(project)]
    return shlex.join(words)


def tell_undo(commands: Sequence[str]) -> None:
    if len(commands) == 1:
        render.say(f"Undo it:  {commands[0]}")
    elif commands:
        render.say("Undo it:")
        for command in commands:
            render.say(f"  {command}")
