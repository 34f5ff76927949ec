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
"""Names the run that a process belongs to: found by those who end it, and by an engine that was started inside a
hook."""


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
        return (_with_long_texts(value) if _has_long_text(value) else json.dumps(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


LONG = 65_536
ESCAPED = ("\n", '"', "\\", *(chr(code) for code in range(32) if code != 10))


def _has_long_text(value: Json) -> bool:
    """Whether it is a file's content or the like, at most three levels down: a tool's input or result."""
    rest: list[Json] = [value]
    for _ in range(3):
        items = [item for each in rest if isinstance(each, dict) for item in each.values()]
        if any(isinstance(item, str) and len(item) > LONG for item in items):
            return True
        rest = items
    return False


def _with_long_texts(value: Json) -> str:
    """The same JSON. A long text in which nothing has to be escaped is taken as it is: looking for each such character
    takes a quarter of the time that the encoder takes to look at every character."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key, False)}: {_with_long_texts(item)}' for key, item in value.items())}}}"
    if isinstance(value, str) and len(value) > LONG and not any(sign in value for sign in ESCAPED):
        return f'"{value}"'
    return json.dumps(value, ensure_ascii=False)


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
