"""Present: a hook and an event → the call to make, with the payload that its dialect documents; and the hook that was
started with it."""

from __future__ import annotations

import os
from _functools import partial  # type: ignore[import-not-found]  # `functools` is this and much more
from time import monotonic

from anyhook.handlers import start
from anyhook.model.call import Call, Run
from anyhook.model.hook import Hook
from anyhook.model.lean_json import LONG_TEXT, encode
from anyhook.model.record import Record
from anyhook.model.words import ASKED_AGAIN, HOOK_DIALECT, HOOK_EVENT, RUN_VARIABLE
from anyhook.platform.places import state_dir
from anyhook.platform.run import start as start_process
from anyhook.platform.spawn import here
from anyhook.state.entry_places import own_env
from anyhook.state.start_variables import COMPILED, NOT_COMPILED
from anyhook.tables.rows import Dialect, EventRow, Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.context import Context
    from anyhook.engine.match import HookStep
    from anyhook.handlers import Waitable
    from anyhook.journal.journal import Trace
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json

SHOWN = ("callable", "function", "prompt", "url", "server", "tool")
"""The keys that describe a handler other than a command."""
GRACE_S, GRACE_PER_BYTE_S, MAX_GRACE_S = 0.002, 4e-9, 0.01
"""How long an async caller's loop waits for a hook before a thread takes over, plus an allowance per byte of payload.
Switching to a thread costs more time than most native hooks need."""
MIN_LIMIT_S = 0.01
"""The limit of a hook that starts when the host's time is already up. It counts as one that timed out."""


def payload(dialect: Dialect, row: EventRow, scene: Scene) -> dict[str, Json]:
    """The object that the hook reads."""
    get = scene.event.get
    made: dict[str, Json] = {}
    for fields in (dialect.base, row.payload):
        for field in fields:
            cell = field.cell
            value = get(cell) if isinstance(cell, str) else cell(scene)
            if value or not field.optional:
                made[field.key] = value
    if scene.facts is not None:
        made["facts"] = scene.facts
    return made


def scene_of(context: Context, event: Event, table: Dialect, row: EventRow) -> Scene:
    """The values that the cells of a hook's tables can read."""
    setup = context.setup
    session = str(event.data.get("session") or context.session)
    settings = context.config.dialects.get(table.name, {})
    env = setup.for_hooks
    env = {**env, ASKED_AGAIN: "1"} if context.asked_again and not table.closed_env else env
    scene = Scene(
        event, row.native, setup.project, session, env, settings, context.one_shot, only=context.config.hook_env,
        withholds=setup.trust in ("all", "native") and not table.inherits,
    )  # fmt: skip
    if context.config.facts and "tool" in event.data:
        from anyhook.engine.facts_handed import with_facts

        return with_facts(scene, event, table)
    return scene


def present(
    hook: Hook, dialect: Dialect, row: EventRow, scene: Scene, run_id: str, trace: Trace | None = None
) -> tuple[Call, str]:
    """The call, and why it cannot be made ("" if it can)."""
    return call_of(hook, dialect, scene, run_id, trace, stdin_of(dialect, row, scene))


def stdin_of(dialect: Dialect, row: EventRow, scene: Scene) -> bytes:
    """The hook's stdin. Long texts (a file's content in a field, or in a field of a tool's input or result) are encoded
    in pieces. This runs for every event that an agent waits for, so it looks no deeper."""
    long = False
    for item in scene.event.data.values():
        if type(item) is str:
            long = long or len(item) > LONG_TEXT
        elif type(item) is dict:
            for part in item.values():
                long = long or (type(part) is str and len(part) > LONG_TEXT)
    return encode(payload(dialect, row, scene), long=long, dense=dialect.dense)


def own_scene(hook: Hook, scene: Scene) -> Scene:
    """The values that a hook's launch can read: its project is the folder whose file declares it. (The payload is about
    the event, and names the folder that the agent works in.) Of the variables it gets those that its declaration or the
    user's settings list, if they do; its dialect adds its own. A project's hook that runs without an approval gets none
    that hold a secret, unless the settings list them."""
    if hook.project:
        scene = scene.replace(project=hook.project)
    only, named = hook.spec.get("env"), scene.only.get(hook.id)
    if scene.withholds and hook.scope == "project" and not isinstance(named, list):
        scene = scene.replace(env=_without_secrets(scene.env))
    for names in (only, named):
        if isinstance(names, list):
            scene = scene.replace(env={name: text for name, text in scene.env.items() if name in (*names, ASKED_AGAIN)})
    return scene


def _without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold no secret, by their names and values. (The path of a file is none; a key may begin like
    one.)"""
    from anyhook.journal.secret_names import is_secret_name  # only for hooks that run without an approval
    from anyhook.journal.shown import without_secrets

    return {
        name: text
        for name, text in env.items()
        if (text[:1] == "/" and os.path.lexists(text)) or not (is_secret_name(name) or without_secrets({name: text})[1])
    }


def call_of(
    hook: Hook, dialect: Dialect, scene: Scene, run_id: str, trace: Trace | None = None, stdin: bytes = b""
) -> tuple[Call, str]:
    """The same, with a stdin that exists already, or will be made later."""
    scene = own_scene(hook, scene)
    if hook.handler != "command":
        words = (hook.handler, *(str(hook.spec[key]) for key in SHOWN if key in hook.spec))
        return Call(words, stdin, {}, scene.project, hook.limit_s, ""), ""
    launch = dialect.launch(hook, scene)
    env = launch.env
    mark, told = f"{RUN_VARIABLE}={run_id}", ""
    if dialect.closed_env:
        mark = ""
    else:
        env[RUN_VARIABLE], env[HOOK_DIALECT], env[HOOK_EVENT] = run_id, dialect.name, scene.native
        if hook.scope == "project":
            # Python would take a compiled file beside a source if only its date and size agree, whatever is in it.
            env[COMPILED] = f"{state_dir(own_env(scene.env))}/compiled"
            env.pop(NOT_COMPILED, None)  # without files there, every start compiles Python's own modules
        if trace is not None:
            told = trace.enter(env, scene.session)
    return Call(launch.argv, stdin, env, launch.cwd, hook.limit_s, mark, told), launch.missing


class StartedHook(Record):
    """A hook that was started."""

    call: Call
    model: str
    """The model that it asks, or ""."""
    run: Waitable | Run
    """What to wait for; or how it ended, if it could not be started or ended at once."""
    grace_s: float = GRACE_S
    """How long an async caller's loop waits for it."""


class Prepared(Record):
    """What is known about a hook before its turn comes."""

    matched: tuple[str | None, str] | None = None
    """What `match` said; None if it has not been asked."""
    same_as: str = ""
    """The id of an earlier hook that runs for both."""
    started: StartedHook | None = None
    """Its run, if it was started before its turn."""
    seen: Event | None = None
    """The event that it was started with."""


UNPREPARED = Prepared()


def start_hook(context: Context, step: HookStep, scene: Scene) -> StartedHook:
    """Start a hook. A process gets its input while it starts."""
    hook, table = step.hook, step.dialect
    late = hook.handler == "command" and context.recorder.listener is None
    stdin = b"" if late else stdin_of(table, step.row, scene)
    call, missing = call_of(hook, table, scene, next(context.ids), context.trace, stdin)
    if context.deadline_s is not None:  # it gets no more time than the host has left for all hooks
        call = call.replace(limit_s=min(call.limit_s, max(context.deadline_s - monotonic(), MIN_LIMIT_S)))
    if missing:
        return StartedHook(call, "", Run("not_started", None, b"", b"", 0, 0.0, missing))
    if here.warm_child is not None and context.config.may_be_warm(hook):
        call = call.replace(may_be_warm=True)
    if hook.handler == "command":
        child = start_process(call, partial(stdin_of, table, step.row, scene) if late else None)
        if isinstance(child, Run):
            return StartedHook(call, "", child)
        return StartedHook(call, "", child, min(GRACE_S + child.sent * GRACE_PER_BYTE_S, MAX_GRACE_S))
    asked, model = context.asked(hook, table)
    return StartedHook(call, model, start(hook, table, call, own_scene(hook, scene), asked, context.config))
