"""The check of a host's table: what its payloads give, what it is told, and where our entry goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.event import EVENTS, FIELDS
from anyhook.tables.cell_names import OUR_TOOLS, SCOPES, STYLES, doubled, unknown
from anyhook.tables.host_rows import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Entry, Host, HostEvent, Say, Taken

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
        yield from _event(row)
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
    for path in host.settings:
        yield from unknown("HOST.settings", _braced(path), roots, "folder")
    for path in host.variable_files:
        yield from unknown("HOST.variable_files", _braced(path), ("here", *roots), "folder")
    yield from unknown("HOST.without_us", [host.without_us], ("open", "refuses", "unknown"), "value")
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


def _event(row: HostEvent) -> Iterator[str]:
    cell = f"HOST.events[{row.native}]"
    yield from unknown(f"{cell}.canonical", row.canonical, EVENTS, "event")
    yield from _taken(f"{cell}.takes", row.takes)
    yield from unknown(f"{cell}.says", row.says, EFFECTS, "effect")
    yield from unknown(f"{cell}.fixed", row.fixed, FIELDS, "field")
    for effect, say in row.says.items():
        yield from _say(f"{cell}.says[{effect}]", effect, say)
    if set(row.canonical) & set(TOOL_EVENTS):
        for field in ("tool", "input"):
            if field not in (taken.field for taken in row.takes):
                yield f"{cell}.takes: an event about a tool gives its {field!r}"
    if len(row.canonical) > 1 and not row.error:
        yield f"{cell}.error: it stands for success and failure, and nothing says which"
    yield from unknown(f"{cell}.after_failure", row.after_failure or (), tuple(row.says), "effect")
    if not row.canonical and row.installed:
        yield f"{cell}.canonical: it is installed and stands for no event"
    if row.installed and row.on_demand:
        yield f"{cell}.on_demand: the event is installed anyway, so this has no effect"
    if not row.installed and not row.why_not:
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


def _braced(text: str) -> list[str]:
    parts = text.split("{")[1:]
    return [part.split("}")[0] for part in parts if "}" in part and part.split("}")[0].isidentifier()]


def _entry(entry: Entry) -> Iterator[str]:
    yield from unknown("HOST.entry.style", [entry.style], STYLES, "style")
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
