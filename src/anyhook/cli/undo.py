"""For verbs that change files: what keeps a file from being changed, and how to undo what was done. Such commands
are made here only, from what was done and where."""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anyhook.cli import BadCall, render
from anyhook.install.changes import CannotChange
from anyhook.install.packages import BadPackage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from anyhook.model.words import OwnScope

    Done = Literal["install", "add", "shadow", "disable", "enable", "relax"]

INVERSE: dict[Done, str] = {
    "install": "uninstall", "add": "remove", "shadow": "enforce", "disable": "enable", "enable": "disable",
    "relax": "relax",
}  # fmt: skip


@contextmanager
def changing(path: str) -> Iterator[None]:
    """Files are changed in here; a failure is a message. `path` is the file, if the error names none."""
    try:
        yield
    except (CannotChange, BadPackage) as why:
        raise BadCall(str(why)) from None
    except OSError as error:
        raise BadCall(f"{error.filename or path} cannot be written ({error.strerror}).") from None


def undo(done: Done, names: Sequence[str], scope: OwnScope = "user", project: str | None = None) -> str:
    """The command that takes it back. `project` is the folder that it was done for, if that was named."""
    words = ["anyhook", INVERSE[done], *names, *(["--scope", scope] if scope != "user" else [])]
    if project is not None:
        words += ["--project", os.path.realpath(project)]
    return shlex.join(words)


def tell_undo(commands: Sequence[str]) -> None:
    if len(commands) == 1:
        render.say(f"Undo it:  {commands[0]}")
    elif commands:
        render.say("Undo it:")
        for command in commands:
            render.say(f"  {command}")
