"""One event in one agent, for `anyhook explain --agent`: its name there, that agent's name for the tool, and which
answers count."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.fire import event_of
from anyhook.cli.known_words import EVENT
from anyhook.cli.options import FireOptions, option
from anyhook.cli.verb_facts import lines as fact_lines
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import TONES, wants_colour
from anyhook.cli.view.record_text import record_page, tone
from anyhook.engine.catalog import build
from anyhook.engine.engine import Engine, EngineOptions, open_engine
from anyhook.engine.receive import recalled
from anyhook.gates.diagnosis import diagnose
from anyhook.gates.observed import ASKABLE, LOST, WORKS, load, promised
from anyhook.journal.search import Wanted, newest, record_of
from anyhook.model import lean_json
from anyhook.model.event import Event
from anyhook.model.json_types import Json, JsonView
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record
from anyhook.model.words import NOT_MET, HostEffect
from anyhook.platform.places import home_of, state_dir
from anyhook.programs.facts import Facts
from anyhook.rules.calls import facts_of_event
from anyhook.state.plans import Setup
from anyhook.tables.host_rows import Host, HostEvent
from anyhook.tables.registry import DIALECTS, HOSTS, host
from anyhook.tables.translate import renamed, restored


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
        return {
            "name": self.table.name,
            "event": self.row.native if self.row is not None else None,
            "entry": self.entry,
            "tool": data.get("tool"),
            "input": data.get("input"),
            "limit_ms": round(self.row.limit_s * 1000) if self.row is not None else None,
            "honours": {str(effect): word for effect, word in self.honours.items()},
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


def agent_lines(seen: InAgent) -> Iterator[str]:
    """The same as text."""
    title = seen.table.title
    if seen.row is None:
        yield f"{title} has no event for {seen.event.name}, so no hook is asked there."
        return
    yield f"{title} calls this {seen.row.native}, and waits {seen.row.limit_s:g} s."
    yield f"   entry   {seen.entry}"
    data = seen.event.data
    if data.get("tool"):
        yield f"   tool    {data['tool']} {lean_json.dumps(data.get('input') or {}, ensure_ascii=False)}"
    works = [effect for effect, word in seen.honours.items() if word == WORKS]
    becomes = [f"{effect} becomes {word}" for effect, word in seen.honours.items() if word not in (WORKS, LOST)]
    lost = [effect for effect, word in seen.honours.items() if word == LOST]
    yield f"   honours {', '.join(works) or 'nothing'}" + "".join(f"; {each}" for each in becomes)
    if lost:
        yield f"   ignores {', '.join(lost)}"
    yield f"   known   {seen.evidence}"


# `anyhook explain`: which hooks an event would start, and why others would not run; or what a recorded event did. It
# starts nothing.


SUB_AGENT = ("agent_type", "agent_name")
"""The fields that `--agent` fills if it names a sub-agent's type."""

REFUSAL = "refusal"
NAMED_RECORDS = ("last", REFUSAL)
"""What stands for the number of a record: the newest, and the newest of a call that was refused."""
WHAT_TO_EXPLAIN = (
    "say what. `anyhook explain refusal` is the last refused call, `anyhook explain last` the last event, `anyhook"
    " explain 12` record 12 of `anyhook log`, and `anyhook explain pre_tool --tool Bash` what an event would start."
)
MAX_NUMBER = 20
"""No journal has numbers with this many digits."""


class ExplainOptions(FireOptions):
    agent: str | None = option(
        "--agent", "An agent: show what hooks see there. Any other word is the sub-agent's type.", "NAME|TYPE"
    )


@verb(
    "explain",
    ExplainOptions,
    """anyhook explain PreToolUse --tool Bash --input '{"command": "ls"}'""",
    [click.Argument(["event"], metavar="EVENT|RECORD", type=EVENT, required=False)],
)
def explain(event: str | None, options: ExplainOptions) -> int:
    """Show which hooks an event would run: in what order, with what argv, environment, directory, stdin and time limit.
    Also shows which hooks would not run, and why, and what a tool call would do (see `anyhook facts`). With --agent it
    shows the same in an agent: its own names for the event and the tool, and which answers it honours; the tool may be
    given by any agent's name. With the number of a record (see `anyhook log`), with `last`, or with `refusal` for the
    last refused call, it shows what that event did. Starts nothing."""
    if event is None:
        raise BadCall(f"{WHAT_TO_EXPLAIN} `anyhook explain --help` has more.")
    if event.isdecimal() or event in NAMED_RECORDS:
        return _recorded(event, options)
    return _what_would_run(event, options)


def _what_would_run(event: str, options: ExplainOptions) -> int:
    setup = setup_of(options, options.trust)
    catalog = build(setup, may_start=False).with_lines()
    made, seen = _asked_about(event, options, setup)
    own = EngineOptions(setup, None, "enforce", options.session or None, "explain", options.model or None)
    engine = open_engine(own.replace(serves=seen.table if seen is not None else None), catalog)
    is_asked = seen is None or seen.row is not None
    records = engine.explain(made) if is_asked else []
    found = facts_of_event(made, cwd=setup.project, home=home_of(os.environ)) if made.data.get("tool") else None
    if options.json:
        told: dict[str, JsonView] = {"event": made.name, "hooks": records}
        told |= {"agent": seen.as_json()} if seen is not None else {}
        render.json_out(told | ({"facts": found.as_json()} if found is not None else {}), indent=2)
        return 0
    for line in agent_lines(seen) if seen is not None else ():
        render.out(line)
    if is_asked:
        _tell(made, records, found, engine)
    return 0


def _tell(event: Event, records: list[dict[str, Json]], facts: Facts | None, engine: Engine) -> None:
    for line in lines(event.name, records):
        render.out(line)
    for line in fact_lines(facts) if facts is not None else ():
        render.out(f"   {line}")
    for line in render.problem_lines(engine.problems(event.name)):
        render.say(line)


def _asked_about(event: str, options: ExplainOptions, setup: Setup) -> tuple[Event, InAgent | None]:
    """The event, and how the agent sees it, if one is named."""
    agent = options.agent if options.agent in HOSTS else None
    dialects = (*options.dialect, agent) if agent in DIALECTS else options.dialect
    made, _ = event_of(event, options, dialects=dialects)
    if agent is None:
        return made, None
    made = made.replace(data={key: made.data[key] for key in made.data if key not in SUB_AGENT})
    seen = in_agent(agent, made, home_of(os.environ), setup.project, os.environ)
    return seen.event, seen


def _recorded(name: str, options: FireOptions) -> int:
    folder = state_dir(os.environ)
    if name == REFUSAL:
        found = next(iter(newest(folder, Wanted(verdict=BLOCK), 1)), None)
    else:
        found = record_of(folder, name) if len(name) < MAX_NUMBER else None
    if found is None and name in NAMED_RECORDS:
        raise BadCall("nothing was refused yet." if name == REFUSAL else "nothing was recorded yet.")
    if found is None:
        raise BadCall(f"the journal has no record {name[:MAX_NUMBER]}. `anyhook log` shows the number of each.")
    if found.record is None:
        raise BadCall(f"record {name} of the journal is damaged. `anyhook verify` shows what is.")
    if options.json:
        render.json_out(found.record, indent=2)
        return 0
    colour = wants_colour(os.environ)
    for line in record_page(found):
        render.out(line, TONES[tone(line)] if colour else "")
    return 0


def lines(event: str, records: list[dict[str, Json]]) -> Iterator[str]:
    """The records as text."""
    if not records:
        yield f"{event}: nothing is hooked."
    number = unmet = 0
    for record in records:
        if record["why"] == NOT_MET:
            unmet += 1
        elif not record["would_run"]:
            yield f"-  {record['id']}  would not run: {record['why']}"
        else:
            number += 1
            yield from _call_lines(number, record)
    if unmet:
        yield f"-  {unmet} {'rule does' if unmet == 1 else 'rules do'} not apply"


def _call_lines(number: int, record: dict[str, Json]) -> Iterator[str]:
    yield f"{number}. {record['id']}  ({record['source']})"
    if "then" in record:
        yield f"   when   {record['command']}"
        yield f"   then   {record['then']}"
        earlier = record.get("earlier")
        yield from (f"   after  {told}" for told in (earlier if isinstance(earlier, list) else ()))
        return
    argv = record["argv"]
    words = shlex.join(map(str, argv)) if isinstance(argv, list) else str(record.get("command"))
    env = record["env"]
    home = set(os.environ)
    added = [str(name) for name in env if name not in home] if isinstance(env, list) else []
    count = len(env) if isinstance(env, list) else 0
    yield f"   run    {words}"
    if "model" in record:
        yield f"   asks   {record['model'] or 'no model: none is configured for its role'}"
    yield f"   in     {record['cwd']}, at most {record['limit_ms']} ms"
    yield f"   env    {count} variables" + (f", of its own: {', '.join(added)}" if added else "")
    yield f"   stdin  {record['stdin']}"
