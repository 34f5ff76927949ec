"""Inspect: what would go wrong if a hook were started, found without starting it. It reads and never runs."""

from __future__ import annotations

import os
import shutil

from anyhook.grammar.registry import dialect
from anyhook.grammar.rows import Scene
from anyhook.model.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.catalog import Setup
    from anyhook.model.hook import Hook


def missing_program(hook: Hook, setup: Setup) -> str:
    """Why a command hook's program cannot be started; "" where nothing speaks against it."""
    if hook.handler != "command" or not hook.native_event:
        return ""
    table = dialect(hook.dialect)
    launch = table.launch(hook, Scene(Event(hook.events[0], {}), hook.native_event, setup.project, "", setup.env, {}))
    if launch.missing:
        return launch.missing
    program = launch.argv[0]
    if "/" not in program:
        return "" if shutil.which(program, path=launch.env.get("PATH", "")) else f"`{program}` is not on PATH"
    path = os.path.join(launch.cwd, program)
    if not os.path.isfile(path):
        return f"{path} does not exist"
    if not os.access(path, os.X_OK):
        return f"{path} is not executable"
    return _bad_first_line(path)


def _bad_first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    if not head.startswith(b"#!"):
        return "" if b"\0" in head else f"{path} is a script without a first line such as `#!/bin/sh`"
    words = head.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
    if head.split(b"\n", 1)[0].endswith(b"\r"):
        return f"{path}: its first line ends in a carriage return, so its interpreter is not found"
    if not words or not os.path.isfile(words[0]):
        return f"{path}: its interpreter {words[0] if words else ''!r} does not exist"
    return ""
