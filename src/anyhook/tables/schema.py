"""Schema: a dialect's hook file as JSON Schema, for editors. The rows are the only source; what they do not say about a
value, the schema leaves open."""

from __future__ import annotations

from anyhook.model.json_types import Json
from anyhook.tables.folders import FolderShape
from anyhook.tables.rows import Dialect, Scaffold
from anyhook.tables.shapes import EntryShape, HandlerShape

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT: dict[str, Json] = {"type": "string", "minLength": 1}
TEXTS: dict[str, Json] = {"type": "array", "items": TEXT}
NUMBER: dict[str, Json] = {"type": "number", "exclusiveMinimum": 0}


def schema_of(dialect: Dialect) -> dict[str, Json] | None:
    """The schema of a dialect's hook file; None for a dialect whose hooks no file declares."""
    made: dict[str, Json] | None = None
    if dialect.schema is not None:
        made = dialect.schema()
    elif dialect.shape is not None and dialect.scaffold is not None:
        made = _entries(dialect.shape, dialect.scaffold)
    return None if made is None else {"$schema": DRAFT, "title": f"Hooks of {dialect.title}", **made}


def table(properties: dict[str, Json], needed: list[str], *, closed: bool = True) -> dict[str, Json]:
    """An object with these keys."""
    made: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": not closed}
    return {**made, "required": [*needed]} if needed else made


def _entries(shape: EntryShape, scaffold: Scaffold) -> dict[str, Json]:
    hooks = rows_schema(shape, scaffold.event) if scaffold.shape == "rows" else events_schema(shape, scaffold)
    if not shape.under:
        return hooks
    for key in reversed(shape.under[1:]):
        hooks = table({key: hooks}, [], closed=False)
    top: dict[str, Json] = {shape.under[0]: hooks, **{key: {} for key in sorted(shape.top_keys or ())}}
    return table(top, [], closed=shape.top_keys is not None)


def rows_schema(shape: EntryShape, event_key: str) -> dict[str, Json]:
    """One list of handlers, each with its event."""
    row = _handler(shape, shape.handlers[0], typed=False)
    keys, needed = row["properties"], row["required"]
    assert isinstance(keys, dict)  # noqa: S101 (a table is made so)
    assert isinstance(needed, list)  # noqa: S101 (every handler needs its command)
    named: Json = {"enum": [event.native for event in shape.events]}
    return {"type": "array", "items": table({**keys, event_key: named}, [event_key, *map(str, needed)])}


def events_schema(shape: EntryShape, scaffold: Scaffold) -> dict[str, Json]:
    """A list of handlers, or of groups of them, for each event."""
    grouped = scaffold.shape == "groups"
    typed = grouped or len(shape.handlers) > 1 or bool(shape.default_kind) or "type" in scaffold.fixed
    handlers = [_handler(shape, handler, typed) for handler in shape.handlers]
    handler: dict[str, Json] = {"anyOf": [*handlers]} if len(handlers) > 1 else handlers[0]
    entry: dict[str, Json] = handler
    if grouped:
        keys: dict[str, Json] = {key: {} for key in shape.group_keys}
        keys.update(matcher={}, hooks={"type": "array", "items": handler, "minItems": 1})
        entry = table(keys, ["hooks"])
    lists: dict[str, Json] = {
        row.native: {
            "description": f"canonical: {', '.join(row.canonical)}",
            "type": "array",
            "items": {"anyOf": [handler, entry]} if row.native in shape.flat else entry,
        }
        for row in shape.events
    }
    # A file that holds other things as well may have events under `hooks` that are not for us.
    return table(lists, [], closed=shape.top_keys is not None)


def _handler(shape: EntryShape, handler: HandlerShape, typed: bool) -> dict[str, Json]:
    keys: dict[str, Json] = {key: {} for key in (*handler.keys, *shape.group_keys)}
    needed: list[str] = []
    if typed:
        keys["type"] = {"const": handler.kind}
        needed = [] if shape.default_kind == handler.kind else ["type"]
    if handler.needs in handler.keys:
        keys[handler.needs] = {"anyOf": [TEXT, TEXTS]} if handler.split else TEXT
        needed.append(handler.needs)
    if shape.timeout_key in keys and shape.limits[handler.kind].read is None:
        keys[shape.timeout_key] = NUMBER
    return table(keys, needed)


def folder_schema(shape: FolderShape) -> dict[str, Json]:
    """The front matter of a hook that is a folder."""
    keys: dict[str, Json] = {key: {} for key in shape.keys}
    keys.update(name=TEXT, description=TEXT, trigger={"enum": [row.native for row in shape.events]})
    return table(keys, ["name", "trigger"])


def declared(scaffold: Scaffold, event: str, command: str, tool: str = "") -> dict[str, Json]:
    """The entry of one hook in the list of an event."""
    last, *outer = reversed(scaffold.key.split("."))
    handler: dict[str, Json] = {**scaffold.fixed, last: command}
    for key in outer:
        handler = {key: handler}
    if scaffold.shape == "groups":
        handler = {"type": "command", **handler}
        handler = handler if event in scaffold.flat else {"hooks": [handler]}
    if tool:
        matcher, *inner = scaffold.matcher.split(".")
        handler = {matcher: {inner[0]: tool} if inner else tool, **handler}
    return {scaffold.event: event, **handler} if scaffold.shape == "rows" else handler
