"""The tables' check of themselves: unknown names, cells without effect, handlers that could not be started. A mistake
names the table and the cell, as `DIALECT.events[PreToolUse].canonical`.

Tests call it for the agents that come with anyhook; the search for agents of other packages calls it for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anyhook.model.event import EVENTS, FIELDS, Event
from anyhook.model.hook import Hook
from anyhook.model.outcome import EFFECTS
from anyhook.model.words import VERDICTS
from anyhook.tables.cell_names import (
    CAUSES,
    CHAINS,
    DOES,
    EXITS,
    KINDS,
    LAYERINGS,
    OUR_TOOLS,
    REASONS,
    SCAFFOLDS,
    SCOPES,
    doubled,
    unknown,
)
from anyhook.tables.cell_types import mistyped
from anyhook.tables.host_check import host_mistakes
from anyhook.tables.host_rows import Host
from anyhook.tables.isolation import error_line
from anyhook.tables.rows import Dialect, Roots, Scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.json_types import Json
    from anyhook.tables.rows import EventRow, Field, Key, Reply
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
    yield from unknown("DIALECT.layering", [dialect.layering], LAYERINGS, "way to layer")
    yield from unknown("DIALECT.chains", dialect.chains, CHAINS, "field that can be rewritten")
    yield from unknown("DIALECT.tools", dialect.tools, OUR_TOOLS, "anyhook tool")
    yield from unknown("DIALECT.failing.blocks", dialect.failing.blocks, CAUSES, "cause")
    yield from unknown("DIALECT.failing.gates_only", dialect.failing.gates_only, CAUSES, "cause")
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
    yield from unknown(f"{cell}.block", [row.block] if row.block else [], EFFECTS, "effect of a block")
    yield from unknown(f"{cell}.target", [row.target] if row.target else [], FIELDS, "field")
    yield from unknown(f"{cell}.closed_on", row.closed_on, CAUSES, "cause")
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
    yield from unknown(f"{cell}.exits", reply.exits.values(), EXITS, "meaning of an exit status")
    yield from unknown(f"{cell}.otherwise", [reply.otherwise], EXITS, "meaning of an exit status")
    yield from unknown(f"{cell}.exit_reasons", reply.exit_reasons, REASONS, "place of a reason")
    yield from unknown(f"{cell}.json_reasons", reply.json_reasons, REASONS, "place of a reason")
    yield from unknown(f"{cell}.text_on", reply.text_on, EVENTS, "event")
    yield from unknown(f"{cell}.on_event", reply.on_event, EVENTS, "event")
    yield from doubled(f"{cell}.keys", [".".join((*key.path, *key.on)) for key in reply.keys])
    for key in reply.keys:
        yield from _key(f"{cell}.keys[{'.'.join(key.path)}]", key, native)
    for event, other in reply.on_event.items():
        yield from _reply(f"{cell}.on_event[{event}]", other.replace(on_event={}), dialect)


def _key(cell: str, key: Key, native: set[str]) -> Iterator[str]:
    yield from unknown(f"{cell}.kind", [key.kind], KINDS, "type")
    yield from unknown(f"{cell}.does", [key.does], DOES, "effect")
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
    yield from unknown("DIALECT.scaffold.shape", [row.shape], SCAFFOLDS, "shape")
    yield from unknown("DIALECT.scaffold.scripts", row.scripts, SCOPES, "scope")
    yield from unknown("DIALECT.scaffold.command", row.command, SCOPES, "scope")
    if row.shape in ("list", "groups"):
        for scope in row.scripts:
            if scope not in row.command:
                yield f"DIALECT.scaffold.command: it has no line for the scope {scope!r}, which `scripts` has"
    paths = {".".join(key.path) for reply in dialect.replies.values() for key in reply.keys}
    yield from unknown("DIALECT.scaffold.answers", row.answers, paths, "key of an answer")


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
