"""Lean: an entry without the events and tools that no hook uses, and what such an entry leaves out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anyhook.model.event import AFTER_CALL, GATES
from anyhook.tables.host_rows import CHANNELS, Host, HostEvent, speaks_before_calls

Tools = frozenset[str] | None
"""Tools by the agent's own names; None for every tool."""
Wanted = Mapping[str, Tools]
"""Canonical event → the tools that hooks want there."""
Asked = Mapping[str, Tools]
"""The agent's own event → the tools at which it calls us."""


def lean(host: Host, wanted: Wanted) -> Host:
    """The same host with only the required and the wanted events; events after a call only for the wanted tools, if the
    agent's matchers can name them."""
    return host.replace(
        events=tuple(row if must_stay(host, row) else _as_wanted(host, row, wanted) for row in host.events)
    )


def must_stay(host: Host, row: HostEvent) -> bool:
    """Whether an event is always hooked up, for every tool. Gates are: self-protection checks every call, and hooks of
    other projects and future hooks must not be missed. So are the events at which a person is told which gates are
    off."""
    if is_gate(row) or "session_start" in row.canonical:
        return True
    return _is_after_call(row) and not speaks_before_calls(host) and not row.says.keys().isdisjoint(CHANNELS)


def is_gate(row: HostEvent) -> bool:
    """Whether a refusal keeps something from happening there; after a call it comes too late."""
    return "block" in row.says and (not row.canonical or not GATES.isdisjoint(row.canonical))


def _is_after_call(row: HostEvent) -> bool:
    return not set(AFTER_CALL).isdisjoint(row.canonical)


def _as_wanted(host: Host, row: HostEvent, wanted: Wanted) -> HostEvent:
    named = [wanted[event] for event in row.canonical if event in wanted]
    if not named:
        return row.replace(installed=False)
    tools = union(named)
    can_name = host.entry is not None and host.entry.names_tools and _is_after_call(row)
    return row.replace(tools=tuple(sorted(tools))) if tools and can_name else row


def union(some: Collection[Tools]) -> Tools:
    """All of them together."""
    return frozenset().union(*[tools for tools in some if tools is not None]) if None not in some else None


def passes_over(host: Host, asked: Asked, event: str, tools: Tools) -> str:
    """What an entry leaves out of an event; "" if the agent calls us for all of these tools."""
    for row in host.events:
        if event in row.canonical and row.installed and not _covers(asked.get(row.native, frozenset()), tools):
            return _told(row, asked)
    return ""


def left_out(host: Host, asked: Asked) -> list[str]:
    """Everything that an entry leaves out."""
    rows = [row for row in host.events if row.installed and not _covers(asked.get(row.native, frozenset()), None)]
    return [_told(row, asked) for row in rows]


def _covers(asked: Tools, wanted: Tools) -> bool:
    return asked is None or (wanted is not None and wanted <= asked)


def _told(row: HostEvent, asked: Asked) -> str:
    named = asked.get(row.native)
    if named is None:
        return row.native
    return f"{row.native} for all tools but {', '.join(sorted(named))}" if named else f"{row.native} for some tools"
