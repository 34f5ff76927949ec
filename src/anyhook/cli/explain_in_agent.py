"""One event in one agent, for `anyhook explain --agent`: its name there, that agent's name for the tool, and which
answers count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.install.diagnosis import diagnose
from anyhook.live.observed import ASKABLE, LOST, WORKS, load, promised
from anyhook.model import lean_json
from anyhook.model.record import Record
from anyhook.tables.registry import HOSTS, host
from anyhook.tables.translate import renamed, restored
from anyhook.walk.receive import recalled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.words import HostEffect
    from anyhook.tables.host_rows import Host, HostEvent


class InAgent(Record):
    """One event in one agent."""

    table: Host
    row: HostEvent | None
    """The agent's own event, or None."""
    event: Event
    """As the agent would report it."""
    entry: str
    """Where our entry is, or why there is none."""
    honours: dict[HostEffect, str]
    """Effect → `works`, what it becomes, or `lost`."""
    evidence: str

    def as_json(self) -> dict[str, Json]:
        data = self.event.data
        honours: dict[str, Json] = {str(effect): word for effect, word in self.honours.items()}
        return {
            "name": self.table.name,
            "event": self.row.native if self.row is not None else None,
            "entry": self.entry,
            "tool": data.get("tool"),
            "input": data.get("input"),
            "limit_ms": round(self.row.limit_s * 1000) if self.row is not None else None,
            "honours": honours,
            "evidence": self.evidence,
        }


def in_agent(agent: str, event: Event, home: str, project: str, env: Mapping[str, str]) -> InAgent:
    """The event as it would happen in an agent."""
    table = host(agent)
    row = next((row for row in table.events if event.name in row.canonical), None)
    seen = diagnose(table, home, project, env)
    entry = ", ".join(seen.installed) or f"none ({seen.reason})"
    if row is not None and not row.installed:
        entry = row.why_not
    said = {effect: promised(table, event.name, effect) for effect in ASKABLE.get(event.name, ())}
    honours = {effect: word for effect, word in said.items() if word is not None}
    return InAgent(table, row, _reported(table, event), entry, honours, _evidence(table))


def _reported(table: Host, event: Event) -> Event:
    """The event with the agent's own names for the tool and its fields. The tool may be given by any agent's name."""
    name, given = str(event.data.get("tool", "")), event.data.get("input")
    if not name:
        return event.replace(hosted=True)
    if name not in table.tools:
        known = (host(each).tools for each in HOSTS)
        theirs = next((tools[name] for tools in known if name in tools), None)
        ours = theirs.ours if theirs is not None else name
        plain = restored(given, theirs.inputs) if theirs is not None and isinstance(given, dict) else given
        own = [(native, tool) for native, tool in table.tools.items() if tool.ours == ours and tool.split is None]
        if own:
            native, tool = own[0]
            fields = renamed(plain, tool.inputs) if isinstance(plain, dict) else plain
            event = event.replace(data={**event.data, "tool": native, "input": fields})
    return recalled(table, event.replace(hosted=True))


def _evidence(table: Host) -> str:
    agents = load().get("agents")
    found = agents.get(table.name) if isinstance(agents, dict) else None
    if not isinstance(found, dict):
        return "from its documents and from captured payloads; it was not driven"
    return f"seen live on {found.get('date')} with {found.get('version')}"


def lines(seen: InAgent) -> Iterator[str]:
    """The same as text."""
    title = seen.table.title
    if seen.row is None:
        yield f"{title} has no event for {seen.event.name}, so no hook is asked there."
        return
    yield f"{title} calls this {seen.row.native}, and waits {seen.row.limit_s:g} s."
    yield f"   entry   {seen.entry}"
    data = seen.event.data
    if data.get("tool"):
        yield f"   tool    {data['tool']} {lean_json.dumps(data.get('input') or {}, False)}"
    works = [effect for effect, word in seen.honours.items() if word == WORKS]
    becomes = [f"{effect} becomes {word}" for effect, word in seen.honours.items() if word not in (WORKS, LOST)]
    lost = [effect for effect, word in seen.honours.items() if word == LOST]
    yield f"   honours {', '.join(works) or 'nothing'}" + "".join(f"; {each}" for each in becomes)
    if lost:
        yield f"   ignores {', '.join(lost)}"
    yield f"   known   {seen.evidence}"
