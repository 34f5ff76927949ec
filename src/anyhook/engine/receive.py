"""Receive: a host's payload → canonical events, as the host's table says. A batch or a patch is one call and several
events. It keeps the host's bytes, fires nothing, and never fails on an incomplete payload."""

from __future__ import annotations

import os

from anyhook.model.event import FIELDS, Event
from anyhook.model.record import Record
from anyhook.model.texts import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent, HostTool


class Received(Record):
    """The contents of one payload."""

    events: tuple[Event, ...]
    """() if no canonical event corresponds to the host's."""
    input: dict[str, Json] | None
    """The tool's input as the host gave it."""
    tool: HostTool | None
    split: bool
    """Whether the events are parts of one call."""
    response: Json
    """The tool's result as the host gave it."""
    lost: bool = False
    """Whether the tool has no name, or its input is not an object, or is missing for a tool that needs one, so that it
    is unknown what the call would do."""


ABOUT_CALLS = ("tool", "command", "action")
"""Words in the keys of any agent's payload about a tool call."""
NEED_INPUT = frozenset({"shell", "write_file", "edit_file", "read_file"})
"""Our tools that do nothing without an input; others may have none."""


def receive(host: Host, row: HostEvent, payload: dict[str, Json], raw: bytes) -> Received:
    """The events of one payload."""
    data: dict[str, Json] = {}
    for taken in (*host.base, *row.takes):
        value = first(payload, taken.paths)
        if value is not None and taken.make is not None:
            value = taken.make(value)
        if value is not None:
            data[taken.field] = value
    data.update(row.fixed)
    response = data.pop("response", None)
    if not row.canonical or (row.when is not None and not row.when(payload)):
        return Received((), None, None, False, response)
    name = row.canonical[0]
    error = first(payload, row.error)
    if len(row.canonical) > 1 and error:
        name = row.canonical[-1]
        data["tool_error"] = text_of(data.get("output", "") if error is True else error)
    if name == "post_tool_failure":
        data.setdefault("tool_error", text_of(data.get("output", "")))
    if "agent_type" in data:
        data.setdefault("agent_name", data["agent_type"])
    tool = host.tools.get(str(data.get("tool"))) if "tool" in data else None
    given = data.get("input")
    lost = name == "pre_tool" and not (isinstance(data.get("tool"), str) and data["tool"])
    lost = lost and any(word in key.lower() for key in payload for word in ABOUT_CALLS)
    if not isinstance(given, dict):
        lost = lost or given is not None or (name == "pre_tool" and tool is not None and tool.ours in NEED_INPUT)
        given = None
        data.pop("input", None)
    fields = {key: data[key] for key in data if key in FIELDS}
    if tool is None:
        return Received((Event(name, fields, raw, hosted=True),), given, None, False, response, lost)
    parts = tool.split(given) if tool.split is not None and given is not None else []
    if parts:
        also = (str(data["tool"]),)
        events = tuple(
            Event(name, {**fields, "tool": ours, "input": part}, raw, hosted=True, also=also) for ours, part in parts
        )
        return Received(events, given, tool, True, response)
    event = Event(name, fields, raw, True, tool.ours, dict(tool.inputs), (tool.ours,))
    return Received((event,), given, tool, False, response, lost)


def recalled(host: Host, event: Event) -> Event:
    """A host's event from the journal, which has only the fields, with our names for its tool."""
    name = str(event.data.get("tool"))
    if name in host.tools:
        tool = host.tools[name]
        return event.replace(ours=tool.ours, inputs=dict(tool.inputs), also=(tool.ours,))
    split = {native: tool.ours for native, tool in host.tools.items() if tool.split is not None}
    return event.replace(also=tuple(native for native, ours in split.items() if ours == name) or (*split,))


def project_of(host: Host, payload: dict[str, Json], env: Mapping[str, str]) -> str:
    """The folder whose hooks count: named by the agent's own variable, by the payload, or the current one."""
    # Some send an empty text first, and the folder in another field.
    texts = [found for path in host.project if isinstance(found := first(payload, (path,)), str) and found]
    for folder in (*map(env.get, host.project_variables), *texts[:1]):
        if folder and os.path.isdir(folder):
            return folder
    return os.getcwd()


def first(payload: Json, paths: tuple[str, ...]) -> Json:
    """The first value found; dots lead into objects and lists."""
    for path in paths:
        value = payload
        for name in path.split("."):
            if isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None
