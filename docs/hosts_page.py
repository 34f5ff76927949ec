"""The page about real agents, made of the host tables and the rules by which effects degrade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anyhook.live.observed import (
    ASKABLE,
    NOTHING,
    QUIET,
    SUB_AGENTS,
    UNSEEN,
    WORKS,
    Sight,
    load,
    sights,
    undriven,
)
from anyhook.model.event import EVENTS
from anyhook.model.json_types import Json
from anyhook.tables.host_rows import EFFECTS, Host, HostEvent
from anyhook.tables.registry import AGENTS, host
from anyhook.tables.registry import HOSTS as ALL_HOSTS
from anyhook.walk.settle import RULES

HOSTS = tuple(name for name in ALL_HOSTS if name in (agent for agent, _, _ in AGENTS))

INTRO = """\
Your hooks, in whatever dialect they are written, also run in agents that know nothing of anyhook. `anyhook install
AGENT` puts one entry per event into the agent's own config; the agent then calls `anyhook bridge AGENT EVENT`, which
fires your hooks and answers in the agent's own words. Which hooks there are, which tools they want, whether they may
run and what several of them come to stays with anyhook.

```sh
anyhook install claude --dry-run     # what would change
anyhook install claude               # the user's config; --scope project for the project's
anyhook uninstall claude             # byte for byte as it was, if nobody changed it since
```

A hook sees its own dialect's name and fields for a tool (`Bash` with `file_path`, `Shell` with `path` …), and its
matcher is tried against that, against the agent's own name and against ours. One call that holds several commands or
a patch of several files is shown part by part; one refused part refuses the call.

Nothing is approved in an agent's own trust store. Where you have to confirm something there, `install` says so.

If anyhook itself fails, or cannot read what the agent sent, the posture for broken hooks decides (`on_failure` in the
[settings](config.md)): with `deny` the call is refused, otherwise the agent goes on and you are told, through the
agent's own messages where it has any, else through its model or on stderr; the journal has it as `bridge-failed`.
Self-protection refuses even then. The agent never gets an exit status that means something else to it. Deep nesting
(up to 10,000 levels) and long numbers in a payload are read, and reach hooks as they were sent.

Hook files are read apart from each other. Whatever a project's files hold, your own hooks answer as if they were not
there; a file that makes reading fail is dropped alone, with a problem (`layer-failed`).

## What anyhook keeps agents from

A bridged agent may not edit anyhook's own files (approvals, journal, settings), take our entry out of a config, or
call `anyhook trust` and the like: such a tool call is refused by a built-in guard. Reading is allowed, and so are edits
of a config that leave our entry and the agent's hooks on. Of a command line it sees folders (`cd x && …`, `git -C`),
`~`, variables that the line or the environment tells, wildcards, braces, redirections, pipes into `xargs` or a shell,
shells inside shells and here-documents, and links in front of a file's name of ours; of a program for an interpreter
only whether it names our files and has a word for writing; of a tool it does not know (an MCP server's) whether its
name says that it changes something and its input names a file of ours. It does not see paths that are put together
while something runs, other links, a script's content, or a program that writes without being told where. So it is a
fence and no sandbox; `protect = false` in the [settings](config.md) turns it off.

Where an agent calls several entries of ours about one event (its user's and its project's config, or another agent's
file that it reads as well), the hooks run once, and every entry gives the same answer in its own agent's words. Hooks
in an agent's own files are left to that agent.

`anyhook doctor` shows which agents there are, where the entry is, and what would keep it from working. Whether an agent
really calls the entry and obeys, only the agent can show:

```sh
anyhook doctor --live            # every agent that has our entry; or name some
```

It starts the agent once, in a throw-away home and project, with copies of your entry and of the settings and approvals
that decide whether hooks run there (not those of credentials), against a model that anyhook plays, and asks it to run
a harmless command that a hook refuses. **ARMED**: the refusal stands in that run's journal, and the command did not
run. **INERT**: the agent ran it, with the reason. **UNKNOWN**: the agent did not get that far, and why. On Linux the
agent has no network meanwhile; where the system does not allow that, the answer says so. What it does not see: hooks
that only interactive sessions hold back, and settings that an organisation manages outside your home.

## What an agent cannot do

An effect that an agent lacks becomes the first of these that it has; what is left is lost. Either stands in the
[journal](journal.md) as a problem of the event."""


SEEN = """\
## What was seen

The tables below say what anyhook promises for each agent, and what was seen when the agent itself was driven through
the same trials (`make live`; the data: `src/anyhook/live/observed.json`). ✓ is the effect itself; `stopped`, `told` and
`nothing` are what became of effects that the agent lacks: kept from happening, told to the model, no trace. Messages
are for people, and a run without one may not show them. What differs from the promise is bold, and fails `make live`.
What a run without a person cannot show says why.

One policy, twenty calls, the same in every agent; and what our entry costs there, in CPU time per event, beside a no-op
shell hook in its place (the better of two runs, the agent's own work included, so no more than an estimate).
Sub-agents: whether what a hook refuses is also refused to a sub-agent that the agent starts."""

MATRIX = """\
### Every event and effect

✓ works; *block*, *context*, *message*: what it becomes; *lost*: nothing of it is left; –: the agent has no such event.
In brackets: what a run without a person cannot show, so that it is promised from documents alone."""


def hosts_page(note: str) -> str:
    """The whole page."""
    data = load()
    rules = [f"| `{effect}` | {', '.join(f'`{other}`' for other in RULES[effect]) or 'lost'} |" for effect in EFFECTS]
    parts = [
        "# Real agents",
        note,
        INTRO,
        "\n".join(["| effect | becomes |", "| --- | --- |", *rules]),
        "`block` of a call, a prompt or a stop is what refuses it or keeps the agent working; after a tool it tells the"
        " model. Context that cannot be told is added to a reason, where there is one.",
        SEEN,
        _agents(data),
        MATRIX,
        _matrix(data),
        *(_section(host(name), [*sights(host(name), data)]) for name in HOSTS),
    ]
    return "\n\n".join(parts) + "\n"


def _agents(data: Mapping[str, Json]) -> str:
    """One line per agent that was driven."""
    names = ("agent", "version", "on", "twenty calls", "sub-agents", "more per event")
    rows = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    agents = data.get("agents")
    for name, seen in agents.items() if isinstance(agents, dict) else ():
        if isinstance(seen, dict):
            words = [host(name).title, seen.get("version"), seen.get("date")]
            words += [_calls(seen.get("policy")), _sub_agents(name, seen.get("events")), _cost(seen.get("cost"))]
            rows.append(f"| {' | '.join(map(str, words))} |")
    return "\n".join(rows)


def _calls(policy: Json) -> str:
    if not isinstance(policy, dict):
        return "not tried"
    differences, runs = policy.get("differences"), policy.get("runs")
    said = "; ".join(map(str, differences)) if isinstance(differences, list) else ""
    ended = f", in {runs} runs: a refusal ends the run" if isinstance(runs, int) and runs > 1 else ""
    return (said or "as the policy says") + ended


def _sub_agents(name: str, events: Json) -> str:
    tried = events.get(SUB_AGENTS) if isinstance(events, dict) else None
    seen = tried.get("block") if isinstance(tried, dict) else None
    words = {WORKS: "covered", NOTHING: "**not covered**"}
    return undriven(name, SUB_AGENTS, "block") or words.get(str(seen), "not tried")


def _cost(cost: Json) -> str:
    if not isinstance(cost, dict):
        return "not tried"
    return (
        f"{cost['more_per_event_ms']} ms ({cost['cpu_s']} s against {cost['no_op_cpu_s']} s, {cost['events']} events)"
    )


def _matrix(data: Mapping[str, Json]) -> str:
    """Every effect that can be asked for, in every agent."""
    known = {name: {(one.event, one.effect): one for one in sights(host(name), data)} for name in HOSTS}
    driven = [name for name, found in known.items() if found]
    rows = [f"| event | effect | {' | '.join(driven)} |", f"|{' --- |' * (len(driven) + 2)}"]
    for event, effects in ASKABLE.items():
        for effect in effects:
            cells = [_cell(known[name].get((event, effect))) for name in driven]
            rows.append(f"| `{event}` | `{effect}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(sight: Sight | None) -> str:
    if sight is None:
        return "–"
    word = "✓" if sight.promised == WORKS else sight.promised
    if not sight.agrees:
        return f"**{word}?**"
    unshown = sight.effect in QUIET and sight.promised == WORKS != sight.seen
    return f"({word})" if sight.seen in UNSEEN or unshown else word


def _section(table: Host, seen: Sequence[Sight]) -> str:
    rows = [_row(row, [sight for sight in seen if sight.event in row.canonical]) for row in table.events]
    lines = [f"## {table.title}", f"`{table.name}`."]
    if table.entry is not None:
        where = "; ".join(f"{scope}: `{path}`" for scope, path in table.entry.files.items())
        roots = [
            f"`{{{root}}}` is `${variable}`, else `{usual}`" for root, (variable, usual) in table.entry.roots.items()
        ]
        lines[1] = (
            f"`{table.name}`. Entry: {where}{' (' + '; '.join(roots) + ')' if roots else ''}. {_upper(table.confirm)}"
        )
    else:
        lines[1] = f"`{table.name}`. Its own hook files are a dialect of anyhook, so nothing is installed."
    if table.gaps:
        lines.append(f"Not covered: {'; '.join(table.gaps)}.")
    lines.append("\n".join(["| event | canonical | honours | seen | |", "| --- | --- | --- | --- | --- |", *rows]))
    return "\n\n".join(lines)


def _row(row: HostEvent, seen: Sequence[Sight]) -> str:
    canonical = ", ".join(f"`{name}`" for name in row.canonical if name in EVENTS)
    says = ", ".join(effect for effect in EFFECTS if effect in row.says) or "–"
    note = row.why_not if row.installed or not row.why_not else f"not installed: {row.why_not}"
    reasons = {sight.why for sight in seen}
    shown = ", ".join(map(_sight, seen))
    if len(reasons) == 1 and "" not in reasons:
        shown = f"not drivable headless: {reasons.pop()}"
    return f"| {row.native} | {canonical} | {says} | {shown or 'not driven'} | {note} |"


def _sight(sight: Sight) -> str:
    if sight.why:
        return f"{sight.effect}: not drivable headless ({sight.why})"
    if not sight.agrees:
        return f"**{sight.effect}: promised {sight.promised}, seen {sight.seen}**"
    return f"{sight.effect} ✓" if sight.seen == WORKS else f"{sight.effect}: {sight.seen}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
