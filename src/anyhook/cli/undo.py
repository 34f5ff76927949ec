"""For verbs that change files: what keeps a file from being changed, and how to undo what was done. Such commands
are made here only, from what was done and where."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from anyhook.cli import BadCall, render
from anyhook.cli.options import ProjectOptions
from anyhook.install.changes import CannotChange
from anyhook.install.packages import BadPackage
from anyhook.model.hook import Hook
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
    """The command that takes it back. It works in any folder: what was done for a project names the project."""
    words = ["anyhook", INVERSE[done], *names]
    if scope == "project":
        words += ["--scope", scope] if done in ("install", "add") else []
        words += ["--project", os.path.realpath(project or ".")]
    return shlex.join(words)


def undo_for_hooks(done: Done, name: str, hooks: Sequence[Hook], options: ProjectOptions) -> str:
    """The same for hooks that were found by their name."""
    scope: OwnScope = "project" if any(hook.scope == "project" for hook in hooks) else "user"
    places = [("--plugin-dir", folder) for folder in options.plugin_dir]
    places += [("--state-dir", options.state_dir)] if options.state_dir is not None else []
    where = [word for flag, folder in places for word in (flag, os.path.realpath(folder))]
    return undo(done, [name, *where], scope, options.project)


def tell_undo(commands: Sequence[str]) -> None:
    if len(commands) == 1:
        render.say(f"Undo it:  {commands[0]}")
    elif commands:
        render.say("Undo it:")
        for command in commands:
            render.say(f"  {command}")
