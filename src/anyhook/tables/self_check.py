"""The tables' check of themselves: unknown names, cells without effect, handlers that could not be started. A mistake
names the table and the cell, as `DIALECT.events[PreToolUse].canonical`.

Tests call it for the agents that come with anyhook; the search for agents of other packages calls it for those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from anyhook.model.event import EVENTS, FIELDS, Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import VERDICTS
from anyhook.tables import host_rows, rows, shapes
from anyhook.tables.cell_names import CAUSES, OUR_TOOLS, SCOPES, WORDS, doubled, unknown
from anyhook.tables.host_rows import Entry, Host, HostEvent, Say, Taken
from anyhook.tables.isolation import error_line
from anyhook.tables.rows import Dialect, EventRow, Field, Key, Reply, Roots, Scene
from anyhook.tables.shapes import HandlerShape

COMMON_VARIABLES = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME")

WITHOUT_LIMITS = ("builtin", "callable", "rule")

"""Kinds of handlers that start nothing."""


def mistakes(name: str, dialect: Dialect | None, host: Host | None) -> list[str]:
    """The mistakes in an agent's tables, one sentence each."""
    found: list[str] = []
    if dialect is None and host is None:
        return ["it has neither DIALECT nor HOST"]
    for table, value, kind in (("DIALECT", dialect, Dialect), ("HOST", host, Host)):
        if value is None:
            continue
        if not isinstance(value, kind):
            found.append(f"{table}: it must be a {kind.__name__}, not {value!r:.60}")
            continue
        if value.name != name:
            found.append(f"{table}.name: {value.name!r} must be the agent's name in the registry, {name!r}")
        found += mistyped(table, value)
    if found:
        return found  # the checks below read the cells
    if dialect is not None:
        found += dialect_mistakes(dialect)
    if host is not None:
        found += host_mistakes(host)
    return [*dict.fromkeys(found)]


def dialect_mistakes(dialect: Dialect) -> Iterator[str]:
    yield from unknown("DIALECT.tools", dialect.tools, OUR_TOOLS, "anyhook tool")
    yield from unknown("DIALECT.words", dialect.words, FIELDS, "field")
    yield from unknown("DIALECT.failing.codes", dialect.failing.codes, CAUSES, "cause")
    yield from doubled("DIALECT.events", [row.native for row in dialect.events])
    if not dialect.events:
        yield "DIALECT.events: a dialect without events has no hooks"
    for row in dialect.events:
        yield from _event(row, bool(dialect.base))
    yield from _fields("DIALECT.base", dialect.base)
    for kind, reply in dialect.replies.items():
        yield from _reply(f"DIALECT.replies[{kind}]", reply, dialect)
        if kind not in dialect.limits and kind not in WITHOUT_LIMITS:
            yield f"DIALECT.limits: there is none for {kind!r}, which `replies` has"
    kinds = [*dialect.replies, *(handler.kind for handler in (dialect.shape.handlers if dialect.shape else ()))]
    yield from unknown("DIALECT.limits", dialect.limits, kinds, "kind of handler")
    yield from _scaffold(dialect)
    yield from _handlers(dialect)
    yield from _sources(dialect)


def _event(row: EventRow, has_base: bool) -> Iterator[str]:
    cell = f"DIALECT.events[{row.native}]"
    yield from unknown(f"{cell}.canonical", row.canonical, EVENTS, "event")
    yield from unknown(f"{cell}.target", [row.target] if row.target else [], FIELDS, "field")
    yield from _fields(f"{cell}.payload", row.payload)
    if not row.canonical:
        yield f"{cell}.canonical: it stands for no event"
    if not row.payload and not has_base:
        yield f"{cell}.payload: neither the event nor `base` gives its hooks anything to read"
    if row.bound and row.block != "keep_working":
        yield f"{cell}.bound: it counts blocks that keep the agent working, and `block` is {row.block!r}"
    if row.notice and row.block is None:
        yield f"{cell}.notice: a hook of this event cannot block"


def _fields(cell: str, fields: tuple[Field, ...]) -> Iterator[str]:
    yield from doubled(cell, [field.key for field in fields])
    for field in fields:
        if isinstance(field.cell, str):
            yield from unknown(f"{cell}[{field.key}]", [field.cell], FIELDS, "field")
        elif not callable(field.cell):
            yield f"{cell}[{field.key}]: {field.cell!r} is neither a field's name nor a function"


def _reply(cell: str, reply: Reply, dialect: Dialect) -> Iterator[str]:
    native = {event for row in dialect.events for event in row.canonical}
    yield from unknown(f"{cell}.text_on", reply.text_on, EVENTS, "event")
    yield from unknown(f"{cell}.on_event", reply.on_event, EVENTS, "event")
    yield from doubled(f"{cell}.keys", [".".join((*key.path, *key.on)) for key in reply.keys])
    for key in reply.keys:
        yield from _key(f"{cell}.keys[{'.'.join(key.path)}]", key, native)
    for event, other in reply.on_event.items():
        yield from _reply(f"{cell}.on_event[{event}]", other.replace(on_event={}), dialect)


def _key(cell: str, key: Key, native: set[str]) -> Iterator[str]:
    yield from unknown(f"{cell}.on", key.on, EVENTS, "event")
    yield from unknown(f"{cell}.words", [verdict for _, verdict, _ in key.words], VERDICTS, "verdict")
    for word, _, events in key.words:
        yield from unknown(f"{cell}.words[{word}]", events, EVENTS, "event")
    if key.on and not native & set(key.on):
        yield f"{cell}.on: the dialect has none of these events, so the key has no effect"
    if key.does == "verdict" and not key.words:
        yield f"{cell}.words: a verdict needs the words that it is said by"
    if key.any_case and not key.words:
        yield f"{cell}.any_case: it has no words, so this has no effect"
    if key.words and key.does not in ("verdict", "note"):
        yield f"{cell}.words: only a verdict or a note has words, and `does` is {key.does!r}"


def _scaffold(dialect: Dialect) -> Iterator[str]:
    row = dialect.scaffold
    if row is None:
        return
    yield from unknown("DIALECT.scaffold.scripts", row.scripts, SCOPES, "scope")
    yield from unknown("DIALECT.scaffold.command", row.command, SCOPES, "scope")
    if row.shape in ("list", "groups"):
        for scope in row.scripts:
            if scope not in row.command:
                yield f"DIALECT.scaffold.command: it has no line for the scope {scope!r}, which `scripts` has"


def _handlers(dialect: Dialect) -> Iterator[str]:
    """Whether the loader reads from a handler what `launch` needs."""
    shape = dialect.shape
    if shape is None:
        return
    yield from doubled("DIALECT.shape.handlers", [handler.kind for handler in shape.handlers])
    if shape.events != dialect.events:
        yield "DIALECT.shape.events: they are not those of DIALECT.events"
    for handler in shape.handlers:
        cell = f"DIALECT.shape.handlers[{handler.kind}]"
        if handler.kind not in dialect.replies:
            refused = shape.refuses is not None and any(shape.refuses(handler.kind, row.native) for row in shape.events)
            if not refused:
                yield f"{cell}: `replies` cannot read it, and `refuses` does not refuse it"
            continue
        if handler.needs not in (*handler.keys, "type"):
            yield f"{cell}.keys: the key {handler.needs!r}, which it needs, is not among them"
        yield from _launched(cell, handler, dialect)


def _launched(cell: str, handler: HandlerShape, dialect: Dialect) -> Iterator[str]:
    if handler.kind != "command":
        return
    spec: dict[str, Json] = {handler.needs: "true"}
    if handler.split is not None:
        spec["argv"] = ["true"]
    row = dialect.events[0]
    hook = Hook(
        "x", "x", dialect.name, "project", "/p/f", (), "/p", "", row.native, row.canonical, None, "command", spec, 1.0
    )
    scene = Scene(Event(row.canonical[0], {}), row.native, "/p", "s", {}, {})
    try:
        made = dialect.launch(hook, scene)
    except KeyError as error:
        yield f"{cell}: `launch` reads the key {error.args[0]!r}, which such a handler does not have"
        return
    except Exception as error:  # noqa: BLE001 (an agent's own code)
        yield f"DIALECT.launch: it fails for a {handler.kind!r} handler ({error_line(error)})"
        return
    if not any("true" in word for word in made.argv):
        yield f"{cell}: `launch` does not read the key {handler.needs!r}, which such a handler needs"


class _Seen(Mapping[str, str]):
    """Variables that remember which of them were read."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values
        self.asked: list[str] = []

    def __getitem__(self, key: str) -> str:
        self.asked.append(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _sources(dialect: Dialect) -> Iterator[str]:
    """Where `find` looks, on every platform, and by which variables."""
    for platform in ("linux", "darwin", "win32"):
        env = _Seen({"HOME": "/h"})
        try:
            sources = dialect.find(Roots("/p", env, ("/plugin",), None, platform))
        except Exception as error:  # noqa: BLE001 (an agent's own code)
            yield f"DIALECT.find: it fails on {platform} ({error_line(error)})"
            return
        for source in sources:
            yield from unknown("DIALECT.find: the scope of a source", [source.scope], SCOPES, "scope")
            if source.dialect != dialect.name:
                yield f"DIALECT.find: a source is of the dialect {source.dialect!r}, not {dialect.name!r}"
        for variable in dict.fromkeys(env.asked):
            if variable not in (*COMMON_VARIABLES, *dialect.variables):
                yield f"DIALECT.variables: `find` reads {variable}, which is not among them, so it would never see it"


# The check of a host's table: what its payloads give, what it is told, and where our entry goes.


VALUES = ("reason", "context", "message", "input", "output", "prompt", "follow_up")

"""What is in braces where an effect is expressed; for some effects the value must be there."""

NEEDED = {
    "input": "{input}",
    "output": "{output}",
    "prompt": "{prompt}",
    "context": "{context}",
    "message": "{message}",
}

HANDLER_VALUES = ("command", "event", "own", "seconds", "milliseconds")

TOOL_EVENTS = ("pre_tool", "post_tool", "post_tool_failure", "permission_request")

ONE_STYLE = {"group": "groups", "module": "module"}

"""Cells of an entry that only one style uses."""


def host_mistakes(host: Host) -> Iterator[str]:
    yield from doubled("HOST.events", [row.native for row in host.events])
    if not host.events:
        yield "HOST.events: a host without events never calls us"
    yield from _taken("HOST.base", host.base)
    for row in host.events:
        yield from _event_host_check(row)
    for native, tool in host.tools.items():
        yield from unknown(f"HOST.tools[{native}].ours", [tool.ours], OUR_TOOLS, "anyhook tool")
        if tool.rejoin is not None and tool.split is None:
            yield f"HOST.tools[{native}].rejoin: nothing is rejoined, because there is no `split`"
    for dialect, scopes in host.reads.items():
        yield from unknown(f"HOST.reads[{dialect}]", scopes, SCOPES, "scope")
    for sign in host.signs:
        if not sign.keys and not (sign.variables and sign.without):
            yield "HOST.signs: a sign needs keys, or variables and keys that are not there"
    roots = ("home", "project", *(host.entry.roots if host.entry is not None else ()))
    yield from unknown("HOST.settings", _braced(*host.settings), roots, "folder")
    yield from unknown("HOST.variable_files", _braced(*host.variable_files), ("here", *roots), "folder")
    yield from unknown("HOST.confirms", host.confirms, ("user", "project"), "scope")
    if host.entry is not None:
        yield from _entry(host.entry)
        if not host.program:
            yield "HOST.program: `install` and `doctor` look for the agent by it"


def _taken(cell: str, taken: tuple[Taken, ...]) -> Iterator[str]:
    for row in taken:
        yield from unknown(cell, [row.field], (*FIELDS, "response"), "field")
        if not row.paths:
            yield f"{cell}[{row.field}].paths: it is taken from nowhere"


def _event_host_check(row: HostEvent) -> Iterator[str]:
    cell = f"HOST.events[{row.native}]"
    yield from unknown(f"{cell}.canonical", row.canonical, EVENTS, "event")
    yield from _taken(f"{cell}.takes", row.takes)
    yield from unknown(f"{cell}.says", row.says, host_rows.EFFECTS, "effect")
    yield from unknown(f"{cell}.fixed", row.fixed, FIELDS, "field")
    for effect, say in row.says.items():
        yield from _say(f"{cell}.says[{effect}]", effect, say)
    wanted = ("tool", "input") if set(row.canonical) & set(TOOL_EVENTS) else ()
    for field in dict.fromkeys(wanted).keys() - {taken.field for taken in row.takes}:
        yield f"{cell}.takes: an event about a tool gives its {field!r}"
    if len(row.canonical) > 1 and not row.error:
        yield f"{cell}.error: it stands for success and failure, and nothing says which"
    yield from unknown(f"{cell}.after_failure", row.after_failure or (), tuple(row.says), "effect")
    if row.installed and not row.canonical:
        yield f"{cell}.canonical: it is installed and stands for no event"
    if row.installed and row.on_demand:
        yield f"{cell}.on_demand: the event is installed anyway, so this has no effect"
    if not (row.installed or row.why_not):
        yield f"{cell}.why_not: people want to know why it is not installed"
    if not row.limit_s > 0:
        yield f"{cell}.limit_s: {row.limit_s!r} leaves no time for an answer"


def _say(cell: str, effect: str, say: Say) -> Iterator[str]:
    texts = [*_texts(dict(say.json)), say.text, say.stderr]
    if not (say.json or say.text or say.stderr or say.status):
        yield f"{cell}: it says nothing"
    for text in texts:
        yield from unknown(cell, _braced(text), VALUES, "value")
    needed = NEEDED.get(effect)
    if needed and not any(needed in text for text in texts):
        yield f"{cell}: {needed} is missing, so the effect has no value"


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


def _braced(*texts: str) -> list[str]:
    parts = [part for text in texts for part in text.split("{")[1:]]
    return [part.split("}")[0] for part in parts if "}" in part and part.split("}")[0].isidentifier()]


def _entry(entry: Entry) -> Iterator[str]:
    yield from unknown("HOST.entry.files", entry.files, ("user", "project"), "scope")
    roots = ("home", "project", "own", *entry.roots)
    for scope, path in entry.files.items():
        yield from unknown(f"HOST.entry.files[{scope}]", _braced(path), roots, "folder")
        if not path.startswith("{"):
            yield f"HOST.entry.files[{scope}]: {path!r} does not begin with one of {', '.join(roots)} in braces"
    if entry.style in ("groups", "list", "rows", "tables"):
        texts = list(_texts(dict(entry.handler)))
        if not any("{command}" in text for text in texts):
            yield "HOST.entry.handler: {command} is missing, so the entry would call nothing"
        for text in texts:
            yield from unknown("HOST.entry.handler", _braced(text), HANDLER_VALUES, "value")
    for name, style in ONE_STYLE.items():
        if getattr(entry, name) and entry.style != style:
            yield f"HOST.entry.{name}: only the style {style!r} uses it, and this one is {entry.style!r}"


# The types of the cells in an agent's tables, checked against the annotations of the row types. A mistake names the
# cell: `DIALECT.limits[command]: it must be a Limits, not 10`.


PLAIN: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "bool": ((bool,), "True or False"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
}

ROW_NAMES = ("native", "path", "key", "kind", "name", "field")

"""The fields by which a row is named, the first that it has."""


def mistyped(cell: str, row: Record) -> Iterator[str]:
    """A sentence for each cell of a row, and of the rows in it, that has a value of another type."""
    for name, annotation in _annotations(type(row)).items():
        yield from _mistakes(f"{cell}.{name}", getattr(row, name), annotation)


@cache
def _annotations(kind: type[Record]) -> dict[str, ast.expr]:
    return {name: ast.parse(text, mode="eval").body for name, text in kind.__annotations__.items()}


def _mistakes(cell: str, value: object, wanted: ast.expr) -> Iterator[str]:
    match wanted:
        case ast.BinOp(left, ast.BitOr(), right):
            found = [[*_mistakes(cell, value, each)] for each in (left, right)]
            if all(found):
                yield from max(found, key=lambda each: each[0].index(":"))  # what is wrong in a row, not that it is one
        case ast.Constant(None):
            if value is not None:
                yield _sentence(cell, "None", value)
        case ast.Name(name):
            yield from _named(cell, value, name)
        case ast.Subscript(ast.Name("tuple"), ast.Tuple([each, ast.Constant(x)])) if x is ...:
            yield from _listed(cell, value, each)
        case ast.Subscript(ast.Name("Mapping" | "dict"), ast.Tuple([_, each])):
            if not isinstance(value, Mapping):
                yield _sentence(cell, "a mapping", value)
            for key, item in value.items() if isinstance(value, Mapping) else ():
                yield from _mistakes(f"{cell}[{key}]", item, each)
        case ast.Subscript(ast.Name("Callable")):
            if not callable(value):
                yield _sentence(cell, "a function", value)
        case _:  # a set, or a tuple of a fixed length: others check what is in it
            return


def _named(cell: str, value: object, name: str) -> Iterator[str]:
    if name in PLAIN:
        kinds, words = PLAIN[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            yield _sentence(cell, words, value)
    elif name in WORDS:
        yield from unknown(cell, [str(value)], WORDS[name], "word")
    elif name in _row_types():
        if type(value).__name__ != name:
            yield _sentence(cell, f"a {name}", value)
        elif isinstance(value, Record):
            yield from mistyped(cell, value)


def _listed(cell: str, value: object, each: ast.expr) -> Iterator[str]:
    if not isinstance(value, tuple):
        yield _sentence(cell, "a tuple", value)
        return
    for index, item in enumerate(value):
        label = next(
            (getattr(item, name) for name in ROW_NAMES if isinstance(item, Record) and name in item.fields), index
        )
        yield from _mistakes(f"{cell}[{'.'.join(label) if isinstance(label, tuple) else label}]", item, each)


def _sentence(cell: str, wanted: str, value: object) -> str:
    shown = repr(value)
    return f"{cell}: it must be {wanted}, not {shown if len(shown) <= 60 else f'{shown[:60]}…'}"


@cache
def _row_types() -> frozenset[str]:
    """The names of the row types; any other name in an annotation stands for several types, or for words."""
    return frozenset(
        name
        for module in (rows, host_rows, shapes)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Record)
    )
