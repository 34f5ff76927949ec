"""Same hook: a program that several dialects declare for one event runs once. Every dialect that declares it reads its
answer, and the strictest reading counts."""

from __future__ import annotations

import os

from anyhook.model.hook import ARMED
from anyhook.model.outcome import EFFECTS, STRENGTH
from anyhook.shell.commands import SHELLS, expand_home, words_of
from anyhook.tables.rows import Scene
from anyhook.tables.translate import REWRITES, completed, to_host, to_native
from anyhook.walk.interpret import interpret
from anyhook.walk.merge import judge, posture_of
from anyhook.walk.never_ran import unless_never_ran
from anyhook.walk.present import own_scene
from anyhook.walk.routes import match
from anyhook.walk.walk import UNPREPARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.model.call import Call, Run
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.state.plans import Setup
    from anyhook.tables.rows import Dialect, EventRow, Launch
    from anyhook.walk.routes import HookStep
    from anyhook.walk.walk import Walk

SHELL_SIGNS = frozenset("|&;<>()`*?[]{}#!\\\n'")
"""Characters that make a shell line more than one program with arguments, or hide a variable's value."""


def declared_again(
    steps: Sequence[HookStep], event: Event, setup: Setup, settings: Mapping[str, Mapping[str, str]]
) -> dict[int, tuple[int, ...]]:
    """Position of a hook → the positions of later declarations of the same program in other dialects."""
    keys: list[tuple[int, Dialect, tuple[str, ...]]] = []
    for place, step in enumerate(steps):
        hook, table = step.hook, step.dialect
        if step.why or step.closed_because or hook.handler != "command" or hook.background or hook.status != ARMED:
            continue
        scene = Scene(event, step.row.native, setup.project, "", setup.env, settings.get(table.name, {}))
        launch = table.launch(hook, own_scene(hook, scene))
        if launch.argv and not launch.missing:
            keys.append((place, table, program_of(launch, setup.env)))
    found: dict[int, tuple[int, ...]] = {}
    for index, (place, table, key) in enumerate(keys):
        later = tuple(other for other, its, again in keys[index + 1 :] if again == key and its is not table)
        if later:
            found[place] = later
    return found


def program_of(launch: Launch, env: Mapping[str, str]) -> tuple[str, ...]:
    """The program that would run and its arguments: links followed, variables filled in, files by their real paths."""
    argv = launch.argv
    if len(argv) == 3 and argv[1] in ("-c", "-lc") and os.path.basename(argv[0]) in SHELLS:
        line = argv[2].strip()
        words = None if SHELL_SIGNS & set(line) else _words(line)
        if words is None:
            return (_resolved(argv[0], launch, env), argv[1], _filled(line, launch.env))
        argv = tuple(expand_home(_filled(word, launch.env), env.get("HOME", "")) for word in words)
    if not argv:
        return ()
    return (_resolved(argv[0], launch, env), *(_by_real_path(word, launch.cwd) for word in argv[1:]))


def _words(line: str) -> list[str] | None:
    """The words of a plain line; None for any other line."""
    try:
        return words_of(line)
    except ValueError:
        return None


def _filled(text: str, env: Mapping[str, str]) -> str:
    if "$" not in text:
        return text
    from string import Template

    return Template(text).safe_substitute(env)


def _resolved(program: str, launch: Launch, env: Mapping[str, str]) -> str:
    if "/" in program:
        return os.path.realpath(os.path.join(launch.cwd, program))
    for folder in launch.env.get("PATH", env.get("PATH", "")).split(os.pathsep):
        path = os.path.join(launch.cwd, folder, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.realpath(path)
    return program


def _by_real_path(word: str, cwd: str) -> str:
    path = os.path.join(cwd, word)
    return os.path.realpath(path) if os.path.isfile(path) else word


# -- while an event walks


def read_by_all(
    walk: Walk, place: int, step: HookStep, call: Call, run: Run, outcome: Outcome
) -> tuple[HookStep, Outcome]:
    """The strictest reading of a run, with the names of the dialect that ran it, and the step that it counts for. The
    other declarations that match are then done; one that cannot read the answer runs by itself."""
    shadowed = walk.context.config.hook_mode
    readings = [] if shadowed.get(step.hook.id) == "shadow" else [(step.row, outcome)]
    speaker = step.hook if readings else None
    also: list[tuple[str, str]] = []
    for other in walk.route.declared_again[place]:
        again = walk.route.steps[other]
        try:
            prepared = walk.prepared.get(other, UNPREPARED)
            judged = None if prepared.same_as else _read(walk, again, step.dialect, call, run)
        except Exception:  # noqa: BLE001 (a failure here must not cost the first reading)
            judged = None
        if judged is None:
            continue
        walk.prepared[other], walk.read_with[other] = prepared.replace(same_as=step.hook.id), place
        if shadowed.get(again.hook.id) != "shadow" and again.dialect.name not in walk.context.exhausted:
            speaker = speaker or again.hook
            also.append((again.dialect.name, again.row.native))
            readings.append((again.row, judged))
    if also:
        walk.runs[-1] = walk.runs[-1].replace(also=tuple(also))
    if speaker is None:
        return step, outcome
    row, outcome = strictest(readings)
    return step.replace(hook=speaker, row=row), outcome


def _read(walk: Walk, again: HookStep, table: Dialect, call: Call, run: Run) -> Outcome | None:
    """How another declaration reads the run, with the names of `table`; None if it does not want the event."""
    context, event, hook = walk.context, walk.event, again.hook
    seen = to_native(walk.queue.event, again.dialect)
    why, failed = ("", "") if again.why == "" else match(hook, again.dialect, again.row, seen, walk.queue.event)
    if why or failed:
        return None
    reply = again.dialect.replies[hook.handler]
    read = interpret(hook, reply, event.name, unless_never_ran(call, reply, event.name, run))
    settings = context.config.dialects.get(again.dialect.name, {})
    whole = completed(read, seen, again.dialect)
    judged = judge(hook, again.dialect, again.row, whole, posture_of(context, hook), settings)
    return in_terms_of(table, judged, again.dialect, event)


def in_terms_of(table: Dialect, outcome: Outcome, read_by: Dialect, event: Event) -> Outcome:
    """One dialect's reading of an answer, with the names of another."""
    plain = to_host(outcome, event, read_by)
    if plain.tool_input is None or not event.hosted:
        return plain
    native = to_native(event.replace(data={**event.data, "input": plain.tool_input}), table)
    given = native.data["input"]
    return plain.replace(tool_input=given if isinstance(given, dict) else plain.tool_input)


def strictest(readings: Sequence[tuple[EventRow, Outcome]]) -> tuple[EventRow, Outcome]:
    """The strictest reading; the first of equals. A rewrite that only another reading has is kept."""
    row, outcome = max(readings, key=_strictness)
    for _, rewrite in REWRITES:
        if getattr(outcome, rewrite) is None:
            made = [value for _, other in readings if (value := getattr(other, rewrite)) is not None]
            outcome = outcome.replace(**{rewrite: made[0]}) if made else outcome
    return row, outcome


def _strictness(reading: tuple[EventRow, Outcome]) -> tuple[int, int, bool, bool, bool]:
    row, outcome = reading
    effect = EFFECTS.index(row.block) if outcome.verdict == "block" and row.block else -1
    speaks = bool(outcome.context or outcome.messages or outcome.spoke)
    return STRENGTH[outcome.verdict], effect, outcome.end_turn, outcome.failure is None, speaks


def explained(records: list[dict[str, Json]], declared: Mapping[int, tuple[int, ...]]) -> None:
    """Mark hooks that would not run because an earlier one is the same."""
    for place, record in enumerate(records):
        for other in declared.get(place, ()) if record["would_run"] else ():
            if records[other]["would_run"]:
                records[other].update(would_run=False, status="skipped", why=f"{record['id']} is the same")
