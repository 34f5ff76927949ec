"""What a Python hook would gain in a warm interpreter. This is measured without running the hook: its interpreter is
started once with only the modules that the script imports."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

from anyhook.model.call import Call
from anyhook.model.event import Event
from anyhook.model.hook import ARMED
from anyhook.process.python_script import read_script
from anyhook.process.run import run
from anyhook.walk.present import present, scene_of

if TYPE_CHECKING:
    from collections.abc import Container

    from anyhook.model.hook import Hook
    from anyhook.process.python_script import PythonScript
    from anyhook.walk.engine import Engine

TRIES, LIMIT_S = 2, 20.0
LOAD = "for name in {names!r}:\n    try:\n        __import__(name)\n    except Exception:\n        pass\n"


def gains(engine: Engine, wanted: Container[str]) -> dict[str, float]:
    """Hook id → seconds per run, for Python hooks of this project and this user that are not warm yet."""
    found: dict[str, float] = {}
    for hook in engine.catalog.hooks:
        if hook.id in wanted and hook.status == ARMED and hook.handler == "command" and hook.native_event:
            call = None if engine.context.config.may_be_warm(hook) else _call(engine, hook)
            script = read_script(call.argv, call.cwd, call.env) if call is not None else None
            if call is not None and script is not None:
                found[hook.id] = min(_start_s(script, call) for _ in range(TRIES))
    return found


def _call(engine: Engine, hook: Hook) -> Call | None:
    context = engine.context
    event = Event(hook.events[0], {})
    for step in context.routes.find(event).steps:
        if step.hook.id == hook.id:
            scene = scene_of(context, event, step.dialect, step.row)
            call, missing = present(hook, step.dialect, step.row, scene, "")
            return None if missing else call
    return None


def _start_s(script: PythonScript, call: Call) -> float:
    words = (script.interpreter, *script.words[1 : script.at], "-c", LOAD.format(names=_imports(script, call.cwd)))
    return run(Call(words, b"", call.env, "/", LIMIT_S, "")).duration_s


def _imports(script: PythonScript, cwd: str) -> list[str]:
    """The modules that a script imports at its top."""
    try:
        with open(os.path.join(cwd, script.path), "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names
