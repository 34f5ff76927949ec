"""Present: a hook and an event → the call to make, with the payload that its dialect documents. It starts nothing."""

from __future__ import annotations

from anyhook.model.call import Call
from anyhook.model.lean_json import LONG, encode
from anyhook.model.words import ASKED_AGAIN, HOOK_DIALECT, HOOK_EVENT, RUN_VARIABLE
from anyhook.platform.places import state_dir
from anyhook.state.entry_places import own_env
from anyhook.state.start_variables import COMPILED, NOT_COMPILED
from anyhook.tables.rows import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.engine.context import Context
    from anyhook.journal.journal import Trace
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow

SHOWN = ("callable", "function", "prompt", "url", "server", "tool")
"""The keys that describe a handler other than a command."""


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
        event, row.native, setup.project, session, env, settings, context.one_shot, only=context.config.hook_env
    )
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
            long = long or len(item) > LONG
        elif type(item) is dict:
            for part in item.values():
                long = long or (type(part) is str and len(part) > LONG)
    return encode(payload(dialect, row, scene), long=long, dense=dialect.dense)


def own_scene(hook: Hook, scene: Scene) -> Scene:
    """The values that a hook's launch can read: its project is the folder whose file declares it. (The payload is about
    the event, and names the folder that the agent works in.) Of the variables it gets those that its declaration or the
    user's settings list, if they do; its dialect adds its own."""
    if hook.project:
        scene = scene.replace(project=hook.project)
    for names in (hook.spec.get("env"), scene.only.get(hook.id)):
        if isinstance(names, list):
            scene = scene.replace(env={name: text for name, text in scene.env.items() if name in (*names, ASKED_AGAIN)})
    return scene


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
