"""What a Python hook would gain in a warm interpreter. This is measured without running the hook: its interpreter is
started once with only the modules that the script imports."""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Container

from anyhook.cli import render
from anyhook.cli.journal_input import (
    JournalFilter,
    MachineOption,
    folder_of,
    index_of,
    look_for_cycles_seldom,
    runs_of,
    wanted_of,
)
from anyhook.cli.options import JsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import show
from anyhook.cli.view.record_text import span
from anyhook.cli.view.stats_table import stats_table
from anyhook.engine.engine import Engine
from anyhook.engine.present import present, scene_of
from anyhook.journal.search import Wanted
from anyhook.journal.stats import HookFigures, figures
from anyhook.model.call import Call
from anyhook.model.event import Event
from anyhook.model.hook import ARMED, Hook
from anyhook.platform.run import run
from anyhook.programs.python_script import PythonScript, read_script

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


# `anyhook stats`: what each hook did and what it cost, as a table with charts.


class StatsOptions(JsonOptions, JournalFilter, MachineOption):
    """`anyhook stats`."""


@verb("stats", StatsOptions, "anyhook stats --since 30d --project .")
def stats(options: StatsOptions) -> int:
    """Show what each hook did: runs, median and 95th percentile, blocks, failures, timeouts, and how long it kept the
    agent waiting. Covers the last seven days, unless --since says otherwise. A rule counts as run if it applied, and
    takes no time."""
    folder = folder_of(options)
    found = _figures(folder, index_of(options, folder), wanted_of(options, since="7d"))
    gained_s = _gains(found) if options.from_ is None else {}
    if options.json:
        gained_ms = {name: round(gain_s * 1000) for name, gain_s in gained_s.items()}
        rows = [{**hook.as_dict(), "warm_gain_ms": gained_ms.get(hook.hook)} for hook in found]
        render.json_out({"hooks": rows}, indent=2)
    elif not found:
        narrowed = any(getattr(options, row.key) for row in JournalFilter.rows if row.key not in ("since", "until"))
        time_meant = "in this time" if options.since or options.until else "in the last seven days"
        render.say(f"No run {time_meant} is one of these." if narrowed else f"No hook ran {time_meant}.")
    else:
        show(stats_table(found, options.since or "7d", render.columns()))
        if in_shadow := _in_shadow(found):
            render.out(in_shadow)
        if gained_s:
            named = ", ".join(f"{hook} about {span(seconds)} a run" for hook, seconds in gained_s.items())
            render.out(f'faster with `warm_python = "all"`, or `warm = "on"` for one hook: {named}')
    return 0


def _gains(found: list[HookFigures]) -> dict[str, float]:
    """For hooks that could run in a warm interpreter: how many seconds a run would save."""
    try:
        return gains(Engine.open(), {hook.hook for hook in found}) if found and sys.platform == "linux" else {}
    except OSError:  # there is no current folder
        return {}


def _figures(folder: str, index: str, wanted: Wanted) -> list[HookFigures]:
    look_for_cycles_seldom()
    with runs_of(folder, index, wanted.since_ns) as runs:
        return figures(runs, wanted, time.time_ns())


def _in_shadow(found: list[HookFigures]) -> str:
    """A sentence about blocks that stopped nothing; "" if there are none."""
    shadow = sum(hook.shadow_blocks for hook in found)
    named = ", ".join(f"{hook.hook} {hook.shadow_blocks}" for hook in found if hook.shadow_blocks)
    stopped = f"{shadow} of the blocks stopped nothing, since they were in shadow mode: {named}"
    return stopped if shadow else ""
