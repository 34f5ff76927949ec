"""Receive: a host's payload → canonical events, as the host's table says. A batch or a patch is one call and several
events. It keeps the host's bytes, fires nothing, and never fails on an incomplete payload."""

from __future__ import annotations

import os

from anyhook.model.event import FIELDS, Event
from anyhook.model.record import Record
from anyhook.model.texts import text_of
from anyhook.tables.registry import HOSTS, PARENT_KEYS, hosts
from anyhook.tables.translate import NEEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.engine.bridge import Incoming
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent, HostTool, Sign


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


CALL_FIELDS = ("tool", "command", "action")
"""Words in the keys of any agent's payload about a tool call."""


def receive(host: Host, row: HostEvent, payload: dict[str, Json], raw: bytes) -> Received:
    """The events of one payload."""
    data = _taken(host, row, payload)
    response = data.pop("response", None)
    if not row.canonical or (row.when is not None and not row.when(payload)):
        return Received((), None, None, False, response)
    name = _named(row, payload, data)
    tool = host.tools.get(str(data.get("tool"))) if "tool" in data else None
    given = value if isinstance(value := data.get("input"), dict) else None
    lost = _is_lost(name, payload, data, tool, given)
    if given is None:
        lost = data.pop("input", None) is not None or lost
    fields = {key: data[key] for key in data if key in FIELDS}
    if tool is None:
        return Received((Event(name, fields, raw, hosted=True),), given, None, False, response, lost)
    parts = tool.split(given) if tool.split and given is not None else []
    if parts:
        also = (str(data["tool"]),)
        events = tuple(
            Event(name, {**fields, "tool": ours, "input": part}, raw, hosted=True, also=also) for ours, part in parts
        )
        return Received(events, given, tool, True, response)
    event = Event(name, fields, raw, True, tool.ours, dict(tool.inputs), (tool.ours,))
    return Received((event,), given, tool, False, response, lost)


def _is_lost(
    name: str, payload: dict[str, Json], data: dict[str, Json], tool: HostTool | None, given: dict[str, Json] | None
) -> bool:
    """Whether a call lacks its tool's name, or the input that its tool needs."""
    if name != "pre_tool":
        return False
    is_named = isinstance(data.get("tool"), str) and data["tool"]
    if not is_named and any(word in key.lower() for key in payload for word in CALL_FIELDS):
        return True
    return given is None and tool is not None and tool.ours in NEEDED


def _taken(host: Host, row: HostEvent, payload: dict[str, Json]) -> dict[str, Json]:
    """The payload's values under our names."""
    data: dict[str, Json] = {}
    for taken in (*host.base, *row.takes):
        value = first(payload, taken.paths)
        if value is not None and taken.make is not None:
            value = taken.make(value)
        if value is not None:
            data[taken.field] = value
    if (parent := first(payload, PARENT_KEYS)) is not None:
        data["parent_session"] = parent
    data.update(row.fixed)
    return data


def _named(row: HostEvent, payload: dict[str, Json], data: dict[str, Json]) -> str:
    """The event's name, which an error may decide; completes the data for it."""
    name = row.canonical[0]
    error = first(payload, row.error)
    if len(row.canonical) > 1 and error:
        name = row.canonical[-1]
        data["tool_error"] = text_of(data.get("output", "") if error is True else error)
    if name == "post_tool_failure":
        data.setdefault("tool_error", text_of(data.get("output", "")))
    if "agent_type" in data:
        data.setdefault("agent_name", data["agent_type"])
    return name


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


# Caller: which agent is really calling. Some agents run entries from another agent's files, with their own tool names,
# payloads and answers. Such a call is treated as the caller's; if no table recognises it, that is reported as a doubt.
# Calls with an ordinary payload never come here.


def recognised(incoming: Incoming, raw: bytes, env: Mapping[str, str]) -> Incoming:
    """The call, with the tables of the agent that made it. If that agent is unknown, or has no such event, the call
    stays with the agent whose entry it came through, and that is a doubt."""
    entry, payload = incoming.table, incoming.payload
    caller = caller_of(entry, payload, env)
    if caller is None or caller is entry:
        # Payloads change more often than the names of tools do.
        tools = [str(event.data.get("tool")) for event in incoming.received.events]
        caller = next(filter(None, (_knowing(entry, tool) for tool in tools)), caller)
    if caller is entry:
        return incoming
    if caller is None:
        if not any(key in payload and not own for key, own in entry.lent):
            return incoming  # something is missing, and nothing else is wrong
        why = f"an unknown agent, not {entry.title}, runs this entry; its tools may have other names"
        return incoming.replace(doubts=(*incoming.doubts, why))
    row = row_of(caller, incoming.row)
    if row is None:
        why = f"{caller.title} runs the entry of {entry.title}, and has no such event"
        return incoming.replace(doubts=(*incoming.doubts, why))
    row = row.replace(limit_s=incoming.row.limit_s)  # the entry sets the time limit
    if caller.borrowed:
        caller = caller.replace(tools={**caller.tools, **caller.borrowed})
    where = f"{caller.name} {row.native}"
    return incoming.replace(where=where, table=caller, row=row, received=receive(caller, row, payload, raw))


def caller_of(entry: Host, payload: dict[str, Json], env: Mapping[str, str]) -> Host | None:
    """The agent that sent this payload through an entry of `entry`; None if no table knows it."""
    for table in _others(entry):
        # The signs of one that runs nobody else's entries only tell its calls from those of its guests.
        is_guest = not table.lent or any(name != table.name for name in table.reads)
        if is_guest and any(_shows(sign, payload, env) for sign in table.signs):
            return table
    return entry if any(_shows(sign, payload, env) for sign in entry.signs) else None


def _others(entry: Host) -> Iterator[Host]:
    return hosts(name for name in HOSTS if name != entry.name)


def _knowing(entry: Host, tool: str) -> Host | None:
    """The one agent that reads these entries and has a tool of this name, if `entry` has none."""
    if tool in entry.tools or tool in entry.borrowed:
        return None
    knowing = [table for table in _others(entry) if entry.name in table.reads and tool in table.tools]
    return knowing[0] if len(knowing) == 1 else None


def _shows(sign: Sign, payload: dict[str, Json], env: Mapping[str, str]) -> bool:
    return (
        all(key in payload for key in sign.keys)
        and not any(key in payload for key in sign.without)
        and all(env.get(variable) for variable in sign.variables)
    )


def row_of(caller: Host, row: HostEvent) -> HostEvent | None:
    """The caller's event that corresponds to an event of the agent whose entry it runs."""
    if not row.canonical:
        return caller.row(row.native)
    return next((each for each in caller.events if row.canonical[0] in each.canonical), None)


class Unusable(Exception):  # noqa: N818 (it says what is wrong)
    """A payload that cannot be judged."""
