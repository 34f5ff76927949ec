"""Present: a hook and an event → the process to start, with the payload its dialect documents. It starts nothing."""

from __future__ import annotations

from anyhook.model import lean_json as json

from anyhook.model.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.rows import Dialect, EventRow, Field, Scene
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

RUN_VARIABLE = "ANYHOOK_RUN"
"""Names the run that a process belongs to: found by those who end it, and by an engine that was started inside a hook."""


def payload(dialect: Dialect, row: EventRow, scene: Scene) -> dict[str, Json]:
    """The object that the hook reads."""
    made: dict[str, Json] = {}
    for field in (*dialect.base, *row.payload):
        value = _value(field, scene)
        if not field.optional or value not in ("", None, 0):
            made[field.key] = value
    return made


def _value(field: Field, scene: Scene) -> Json:
    return scene.event.get(field.cell) if isinstance(field.cell, str) else field.cell(scene)


def encode(value: Json) -> bytes:
    """JSON with a space after each colon and comma (hooks search the text), as UTF-8 wherever it can be."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def present(hook: Hook, dialect: Dialect, row: EventRow, scene: Scene, run_id: str) -> tuple[Call, str]:
    """The call, and why it cannot be made ("" if it can)."""
    if hook.handler != "command":
        words = (hook.handler, *(str(hook.spec[key]) for key in ("callable", "prompt") if key in hook.spec))
        return Call(words, encode(payload(dialect, row, scene)), {}, scene.project, hook.limit_s, ""), ""
    launch = dialect.launch(hook, scene)
    env = launch.env
    mark = f"{RUN_VARIABLE}={run_id}"
    if dialect.closed_env:
        mark = ""
    else:
        env[RUN_VARIABLE] = run_id
    stdin = encode(payload(dialect, row, scene))
    return Call(launch.argv, stdin, env, launch.cwd, hook.limit_s, mark), launch.missing
