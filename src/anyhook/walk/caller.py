"""Caller: which agent is really calling. Some agents run entries from another agent's files, with their own tool names,
payloads and answers. Such a call is treated as the caller's; if no table recognises it, that is reported as a doubt.
Calls with an ordinary payload never come here."""

from __future__ import annotations

from anyhook.tables.registry import HOSTS, BadTable, host
from anyhook.walk.receive import receive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent, Sign
    from anyhook.walk.bridge import Incoming


def recognised(incoming: Incoming, raw: bytes, env: Mapping[str, str]) -> Incoming:
    """The call, with the tables of the agent that made it. If that agent is unknown, or has no such event, the call
    stays with the agent whose entry it came through, and that is a doubt."""
    entry, payload = incoming.table, incoming.payload
    caller = caller_of(entry, payload, env)
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
    for name in HOSTS:
        if name == entry.name:
            continue
        try:
            table = host(name)
        except BadTable:
            continue
        if any(_shows(sign, payload, env) for sign in table.signs):
            return table
    return entry if any(_shows(sign, payload, env) for sign in entry.signs) else None


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
