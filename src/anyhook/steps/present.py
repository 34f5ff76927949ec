"""Present: a hook and an event → the process to start, with the payload its dialect documents. It starts nothing."""

from __future__ import annotations

from io import BytesIO

from anyhook.model import lean_json as json
from anyhook.model.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.rows import Dialect, EventRow, Scene
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.trace import Trace

RUN_VARIABLE = "ANYHOOK_RUN"
"""Names the run that a process belongs to: found by those who end it, and by an engine that was started inside a
hook."""


def payload(dialect: Dialect, row: EventRow, scene: Scene) -> dict[str, Json]:
    """The object that the hook reads."""
    get = scene.event.get
    made: dict[str, Json] = {}
    for fields in (dialect.base, row.payload):
        for field in fields:
            cell = field.cell
            value = get(cell) if type(cell) is str else cell(scene)  # type: ignore[operator]
            if not field.optional or value not in ("", None, 0):
                made[field.key] = value
    return made


def encode(value: Json, *, long: bool = False) -> bytes:
    """JSON with a space after each colon and comma (hooks search the text), as UTF-8 wherever it can be. `long` where
    there may be long texts in it."""
    try:
        if not long:
            return json.dumps(value, ensure_ascii=False).encode()
        made = BytesIO()
        _write(made, value)
        return made.getvalue()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
    except RecursionError:  # of the pieces
        return encode(value)


LONG = 65_536
ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t"), (b"\r", b"\\r"))
"""What texts often hold and JSON escapes. The backslash comes first, or it would escape the others' escapes."""
RARE = tuple(chr(code) for code in range(32) if chr(code) not in "\n\t\r")


def _has_long_text(data: dict[str, Json]) -> bool:
    """Whether an event has a file's content or the like in it: a field, or a field of a tool's input or result. Asked
    of each event that an agent waits for, so it looks no deeper."""
    for item in data.values():
        if type(item) is str:
            if len(item) > LONG:
                return True
        elif type(item) is dict:
            for part in item.values():
                if type(part) is str and len(part) > LONG:
                    return True
    return False


def _write(made: BytesIO, value: Json) -> None:
    """The same JSON, long texts piece by piece: what is made of a piece stays in the processor's cache, while a copy of
    a whole one costs as much as looking through it for what has to be escaped."""
    if isinstance(value, dict):
        before = "{"
        for key, item in value.items():
            made.write(f"{before}{json.dumps({key: 0}, False)[1:-2]}".encode())
            _write(made, item)
            before = ", "
        made.write(b"}" if value else b"{}")
    elif isinstance(value, str) and len(value) > LONG:
        made.write(b'"')
        for start in range(0, len(value), LONG):
            made.write(_escaped(value[start : start + LONG]))
        made.write(b'"')
    else:
        made.write(json.dumps(value, ensure_ascii=False).encode())


def _escaped(text: str) -> bytes:
    if any(sign in text for sign in RARE):
        return json.dumps(text, ensure_ascii=False)[1:-1].encode()
    made = text.encode()
    for sign, escaped in ESCAPES:
        made = made.replace(sign, escaped)
    return made


def present(
    hook: Hook, dialect: Dialect, row: EventRow, scene: Scene, run_id: str, trace: Trace | None = None
) -> tuple[Call, str]:
    """The call, and why it cannot be made ("" if it can)."""
    return aim(hook, dialect, scene, run_id, trace, stdin_of(dialect, row, scene))


def stdin_of(dialect: Dialect, row: EventRow, scene: Scene) -> bytes:
    """What the hook reads."""
    return encode(payload(dialect, row, scene), long=_has_long_text(scene.event.data))


def aim(
    hook: Hook, dialect: Dialect, scene: Scene, run_id: str, trace: Trace | None = None, stdin: bytes = b""
) -> tuple[Call, str]:
    """The same with an input that is made already, or is going to be."""
    if hook.handler != "command":
        words = (hook.handler, *(str(hook.spec[key]) for key in ("callable", "prompt", "url") if key in hook.spec))
        return Call(words, stdin, {}, scene.project, hook.limit_s, ""), ""
    launch = dialect.launch(hook, scene)
    env = launch.env
    mark, told = f"{RUN_VARIABLE}={run_id}", ""
    if dialect.closed_env:
        mark = ""
    else:
        env[RUN_VARIABLE] = run_id
        if trace is not None:
            told = trace.enter(env, scene.session)
    return Call(launch.argv, stdin, env, launch.cwd, hook.limit_s, mark, told), launch.missing
