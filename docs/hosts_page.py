"""The page about real agents, generated from the host tables and the rules for effects that an agent lacks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from anyhook.engine.settle import INSTEAD_OF
from anyhook.gates.observed import ASKABLE, WORKS, load, promised
from anyhook.model.event import EVENTS
from anyhook.model.json_types import Json
from anyhook.state.entry_places import OWN
from anyhook.tables.host_rows import EFFECTS, Host, HostEvent
from anyhook.tables.registry import AGENTS, host
from anyhook.tables.registry import HOSTS as ALL_HOSTS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from live.matrix import NOTHING, QUIET_EFFECTS, SUB_AGENTS, UNSEEN, Sight, sights, undriven  # beside `docs`

PAYLOADS = Path(__file__).resolve().parents[1] / "tests" / "data" / "payloads"
CAPTURED, DOCUMENTED = "from captured payloads", "from documents"
FOLDERS = {"kimi": "kimicode"}
"""Agents whose payloads are kept under another name."""
HOSTS = tuple(name for name in ALL_HOSTS if name in (agent for agent, _, _ in AGENTS))

INTRO = """\
Your hooks, in any dialect, also run in agents that know nothing about anyhook. `anyhook install AGENT` adds one entry
per event to the agent's own config. The agent then calls `anyhook bridge AGENT EVENT`, which fires your hooks and
answers in the agent's own format. anyhook decides which hooks exist, which tools they match, whether they may run, and
how their answers combine.

```sh
anyhook install claude --dry-run     # what would change
anyhook install claude               # the user's config; --scope project for the project's
anyhook install claude --lean # leaves out events that no hook uses and that cannot be blocked
anyhook uninstall claude             # byte for byte as it was, if nobody has changed it since
anyhook uninstall --all --purge      # every entry, settings, approvals, the journal and the server; your own rules stay
```

A hook sees its own dialect's name and fields for a tool (`Bash` with `file_path`, `Shell` with `path` …). Its matcher
is tried against that name, the agent's own name and anyhook's name. If one call contains several commands or a patch of
several files, hooks see it part by part, and one refused part refuses the call. To see what a hook sees in an agent,
and which answers count there:

```sh
anyhook explain PreToolUse --agent cursor --tool Bash --input '{"command": "ls"}'
```

`install` approves nothing in an agent's own trust store. If you have to confirm something there, `install` says so.
Codex keeps its approvals in `config.toml`: `anyhook status codex` and `anyhook doctor codex` say whether it has
approved our entry as it is now.

Products change. `anyhook status` and `anyhook doctor` compare an agent's version with what is known: a version that
does not load or obey our entry is `off` (OpenCode since 2: it does not load plug-ins of version 1), and one that is
only newer than what was seen is told. The version is read from the package; if there is none, `AGENT --version` is
started once for each form of the program, for at most two seconds.

If anyhook itself fails, or cannot read what the agent sent, `on_failure` in the [settings](config.md) decides. With
`deny` the call is refused. If it fails before a guard is asked, all guards are off, and `off = "deny"` refuses too.
Otherwise the agent continues and you are told, through the agent's own messages if it has any, or else through its
model or on stderr. The journal has it as `bridge-failed`. Self-protection refuses even then.
The agent never gets an exit status that means something else to it. Deep nesting (up to 10,000 levels) and long numbers
in a payload are read, and reach hooks as they were sent.

Some agents also run entries from other agents' files, with their own tool names, payloads and answers. anyhook
recognises the caller by its payload and treats the call as that agent's: its events, its tools, its answer format. If
it does not know the caller, it asks your hooks as usual, and the call counts as one that could not be judged. `doctor`
and `status` list the entries that an agent may run. They do not count that agent as installed, because its own settings
decide whether it runs them.

Hook files are read independently. Nothing in a project's files can change what your own hooks answer. If reading a file
fails, only that file is dropped, with a problem (`layer-failed`).

## What anyhook keeps agents from doing

A built-in guard refuses tool calls of a bridged agent that would change what your guards depend on:

- files that an approval pins, and hook files of every scope and dialect, including new ones;
- anyhook's state, settings, package and launcher;
- the agent's settings about hooks, in every layer (`disableAllHooks`, `hooksConfig.enabled`, …);
  other settings can be edited with the agent's file tools;
- `anyhook trust`, `disable`, `uninstall` and other verbs that are for people, and uninstalling the package.

Reading is allowed, and so are `anyhook list`, `status`, `log`, `check` and `explain`. The refusal names the reason. A
person can make the change outside the agent and approve it with `anyhook trust`.

The guard uses the [facts](facts.md) of a call: it parses command lines with a grammar and follows folders, variables,
wildcards, braces, links, pipes, nested shells and one-liners of interpreters. A tool that it does not know (an MCP
server's) is judged by its name and input. The guard does not see paths that exist only at run time, what a program
computes or downloads and a shell then evaluates, or a program that writes to a place the call does not name.

So it is a fence, not a sandbox. `protect = false` in the [settings](config.md) turns it off.

### Verbs that are for people

`trust`, `disable`, `shadow`, `remove`, `relax`, `uninstall`, `allow-once`, `approvals` and `add` of a package also look
who started them, whatever the line was. They refuse if an agent is above them, if they or a process above them has a
variable that agents set, and if what started them is gone, no terminal is there, and an agent is running that was there
before and uses the same home, settings or state. Without an agent, scripts and CI can run them without a terminal
(`trust` with `--yes`; `allow-once` and `approvals` need one).

They cannot recognise a process without those variables that waits until its agent has ended, or that opens a new
terminal. There, only the check of the line that starts it can refuse. Without `/proc`, as on macOS, they know the
processes above them and their own variables, and nothing else.

If an agent calls several anyhook entries for one event (from its user's and its project's config, or from another
agent's file that it also reads), the hooks run once, and every entry gives the same answer in its own agent's format.
Hooks in an agent's own files are left to that agent.

`anyhook doctor` shows which agents exist, where the entry is, and what would keep it from working. Only the agent
itself can show whether it really calls the entry and obeys:

```sh
anyhook doctor --live            # every agent that has the entry; or name some
```

It starts the agent once, in a temporary home and project, with copies of your entry and of the settings and approvals
that decide whether hooks run there (but no credentials), against a scripted model. It asks the agent to run a harmless
command that a hook refuses. **ARMED**: that run's journal has the refusal, the command did not run, and your own guards
are on in this project, as `anyhook status` shows. **INERT**: the agent ran it, or a guard is
off, with the reason. **REFUSING** (also without `--live`): anyhook cannot be run, so the agent refuses everything.
**UNKNOWN**: the agent did not get that far, or you have no guard, and why. On Linux the agent has no network during the
check; if the system does not allow that, the answer says so. The check does not see hooks that only interactive
sessions hold back, or settings that an organisation manages outside your home.

`--live` proves one moment. Whether you were guarded last week, in the sessions that you really had, is in the agents'
own transcripts:

```sh
anyhook doctor --past            # the last seven days; or --since 30d
```

It names every tool call since our entry was written that the agent never asked about, and every call that ran although
it was refused (status 1). A question for permission counts only if it was refused, because rules are asked before a
call. It can read the transcripts of Claude Code (also of its sessions in editors), Codex, Gemini CLI, Copilot CLI,
goose, opencode, Qwen Code and Kimi Code. `anyhook status` and the page look at the last day each time, and say it in
one line.

## Whose guards an entry asks

An entry in your own config says whose settings, state and hooks count: `--home` names the home it was written for, and
`--place NAME=DIR` each further variable that you had set when you installed it, such as `XDG_CONFIG_HOME` or
`CODEX_HOME`. A project's `.env`, direnv, a dev container or the agent's own `env` settings may name other places. Hooks
get those variables as they are, but your guards stay where they are, and each session shows you once which variables
do not count. If they should, install from there. A variable that is not set changes nothing, so an agent with an empty
environment asks the same guards. If the home is not there, because the config was copied from another machine, the
environment counts, and you are told. An entry in a project's config is shared with others and names no home.

Our own Python is isolated: `PYTHONPATH`, `PYTHONHOME` and the like do not count for it, and reach the hooks. `bridge`
does not read `ANYHOOK_MANAGED_DIR`, and believes `ANYHOOK_RUN` only if one of our own processes above has set it.

`doctor` and `status` say if an entry is from a version that did not name the home; it works as before. Install it
again. Codex then asks you to approve the new form.

## When anyhook cannot run

If the launcher is there but its Python does not start (a virtual environment was moved or changed, a part of the
package is missing), the launcher answers itself, in the agent's format: by default the action goes on and you are told
that all guards are OFF; with a closed entry, or with `off` or `on_failure` set to `"deny"`, it is refused. `install`
has written down these answers in the state folder. For a call without an entry there are none, and it is refused with
exit status 2.

Limits that the system sets for the agent (`ulimit`, `prlimit`) reach anyhook and its hooks. With a limit so low that no
agent works with it, what cannot be judged is refused, and so is what a hook that fails guards. A limit that ends every
program at its start (no stack, no CPU time) ends the launcher too.

## When anyhook is gone

An entry names anyhook's launcher by its path. If that is removed or moved (with its virtual environment, for example),
most agents ignore the entry and go on unguarded. Two refuse every call instead. `anyhook install AGENT --closed` writes
an entry that refuses prompts and tools, in the agent's own format, if anyhook cannot be run: a line of `sh` that works
without anyhook. A closed entry stays closed when you install again, and `anyhook uninstall AGENT` removes it. The
second column shows what we observed with a hook whose shell exits with status 127.

{without_us}

## What an agent cannot do

If an agent lacks an effect, the effect becomes the first of these that the agent has. If it has none, the effect is
lost. Both are recorded in the [journal](journal.md) as a problem of the event."""


GATING = ("user_prompt_submit", "pre_tool", "post_tool", "stop")
"""The events where most decisions are made."""

SEEN = """\
The tables below show what anyhook promises for each agent, and what was observed when the agent itself went through the
same trials (`make live`; the data: `src/anyhook/gates/observed.json`). ✓ is the effect itself. `stopped`, `told` and
`nothing` show what happened to effects that the agent lacks: prevented, told to the model, no trace. Messages are for
people, so a run without a person may not show them. Results that differ from the promise are bold, and make `make live`
fail. If a run without a person cannot show something, the table says why.

The policy trial makes the same twenty calls in every agent. The cost is the CPU time of anyhook's entry per event,
compared with a no-op shell hook (the better of two runs, including the agent's own work, so it is an estimate). Each
run starts the [warm server](../warm.md#what-it-costs), which is most of the cost. Agents whose tool calls only Python
can read, such as Grok Build, cost more: the launcher cannot answer those by itself. The figures for CodeBuddy Code,
deepagents-code, Mastra Code and Reasonix are older, and without a server. Sub-agents: whether a hook's refusal also
applies to a sub-agent that the agent starts. Secrets: with the pack `redact` on, the agent's shell and its tool for
files print a secret of every kind that anyhook knows, and the model's requests are searched for them. Agents in which
all are shown let no hook replace an output; `anyhook status` shows the pack as `uncovered` there."""

MATRIX = """\
## Every event and effect

✓ works; *block*, *context*, *message*: what it becomes; *lost*: no effect; –: the agent has no such event. In brackets:
promised from documentation only, because a run without a person cannot show it."""


OTHERS = """\
## Agents that were not driven

The same for agents that `make live` has not driven. What such an agent sends was captured, by us or by others (ᶜ), or
is taken from its documents (ᵈ). What it does with an answer is taken from its documents, and from trials that the page
of its dialect names."""


def hosts_pages(note: str) -> dict[str, str]:
    """The page about all agents, the page of what was observed, and one for each agent: path and Markdown."""
    data = load()
    listed = [f"- [{host(name).title}](hosts/{name}.md)" for name in HOSTS]
    becomes = {effect: ", ".join(f"`{other}`" for other in INSTEAD_OF[effect]) for effect in EFFECTS}
    rules = [f"| `{effect}` | {text or 'lost'} |" for effect, text in becomes.items()]
    parts = [
        "# Real agents",
        note,
        INTRO.replace("{without_us}", _without_us()),
        "\n".join(["| effect | becomes |", "| --- | --- |", *rules]),
        "`block` refuses a call or a prompt, or keeps the agent working at a stop. After a tool it tells the model."
        " Context that the agent cannot take is added to the reason, if there is one.",
        "## Each agent",
        "Its entry, its events, and what it does with an answer. [What was observed](hosts/observed.md) compares them.",
        "\n".join(listed),
    ]
    seen = ["# What was observed", note, SEEN, _agents(data), MATRIX, _matrix(data), OTHERS, _promises(data)]
    made = {"hosts.md": parts, "hosts/observed.md": seen}
    for name in HOSTS:
        made[f"hosts/{name}.md"] = _agent(host(name), [*sights(host(name), data)], note)
    return {path: "\n\n".join(texts) + "\n" for path, texts in made.items()}


WITHOUT_US = {"open": "goes on unguarded", "refuses": "refuses every call", "unknown": "not known"}


def _without_us() -> str:
    """What each agent does if our launcher is missing, and what turns its hooks off."""
    rows = [
        "| agent | without anyhook's program | settings, options and variables that turn its hooks off |",
        "| --- | --- | --- |",
    ]
    for table in (host(name) for name in HOSTS):
        if table.entry is not None:
            keys = ", ".join(f"`{'.'.join(switch.key)}`" for switch in table.switches if switch.key)
            files = ", ".join(f"`{_shown(table, path)}`" for path in table.settings)
            said = [f"{keys} in {files}"] if keys else []
            said += [f"`{name}`" for name in (*table.off_words, *table.variables)]
            rows.append(f"| {table.title} | {WITHOUT_US[table.without_us]} | {'; '.join(said) or '–'} |")
    return "\n".join(rows)


def _shown(table: Host, path: str) -> str:
    """A path as people write it."""
    for root, (_, usual) in reversed(list((table.entry.roots if table.entry is not None else {}).items())):
        path = path.replace(f"{{{root}}}", usual)
    return path.replace("{home}", "~").replace("{project}/", "")


def _agents(data: Mapping[str, Json]) -> str:
    """One line per agent that was tried."""
    names = ("agent", "version", "date", "twenty calls", "sub-agents", "secrets shown", "extra per event")
    rows = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    agents = data.get("agents")
    for name, seen in agents.items() if isinstance(agents, dict) else ():
        if isinstance(seen, dict):
            words = [host(name).title, seen.get("version"), seen.get("date")]
            words += [_calls(seen.get("policy")), _sub_agents(name, seen.get("events"))]
            words += [_secrets(seen.get("secrets")), _cost(seen.get("cost"))]
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


def _secrets(seen: Json) -> str:
    """How many kinds of secrets reached the model, of those that the agent's tools read."""
    if not isinstance(seen, dict):
        return "not tried"
    parts = [(how, part) for how, part in seen.items() if isinstance(part, dict) and part["read"]]
    return ", ".join(f"{how}: {part['shown']} of {part['read']}" for how, part in parts)


def _cost(cost: Json) -> str:
    if not isinstance(cost, dict):
        return "not tried"
    return (
        f"{cost['more_per_event_ms']} ms ({cost['cpu_s']} s against {cost['no_op_cpu_s']} s, {cost['events']} events)"
    )


def _matrix(data: Mapping[str, Json]) -> str:
    """Every effect that a hook can ask for, in every agent."""
    known = {name: {(one.event, one.effect): one for one in sights(host(name), data)} for name in HOSTS}
    driven = [name for name, found in known.items() if found]
    rows = [f"| event | effect | {' | '.join(driven)} |", f"|{' --- |' * (len(driven) + 2)}"]
    for event, effects in ASKABLE.items():
        for effect in effects:
            cells = [_cell(known[name].get((event, effect))) for name in driven]
            rows.append(f"| `{event}` | `{effect}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def _promises(data: Mapping[str, Json]) -> str:
    """What is promised for agents that were not driven, and the evidence; one line per agent."""
    cells = [(event, effect) for event in GATING for effect in ASKABLE[event] if effect != "message"]
    rows = [
        f"| agent | {' | '.join(f'`{event}` {effect}' for event, effect in cells)} |",
        f"|{' --- |' * (len(cells) + 1)}",
    ]
    for name in HOSTS:
        if any(sights(host(name), data)):
            continue
        words = [_promise(host(name), event, effect) for event, effect in cells]
        rows.append(f"| {host(name).title} | {' | '.join(words)} |")
    return "\n".join(rows)


def _promise(table: Host, event: str, effect: str) -> str:
    said = promised(table, event, effect)
    if said is None:
        return "–"
    row = next(row for row in table.events if event in row.canonical)
    mark = "ᶜ" if basis(table, row) == CAPTURED else "ᵈ"
    return f"{'✓' if said == WORKS else said} {mark}"


def basis(table: Host, row: HostEvent) -> str:
    """The evidence for a row of an agent that was not driven."""
    folder = PAYLOADS / FOLDERS.get(table.name, table.name)
    return CAPTURED if any(folder.glob(f"{row.native}.*json")) else DOCUMENTED


def _cell(sight: Sight | None) -> str:
    if sight is None:
        return "–"
    word = "✓" if sight.promised == WORKS else sight.promised
    if not sight.agrees:
        return f"**{word}?**"
    unshown = sight.effect in QUIET_EFFECTS and sight.promised == WORKS != sight.seen
    return f"({word})" if sight.seen in UNSEEN or unshown else word


def _agent(table: Host, seen: Sequence[Sight], note: str) -> list[str]:
    rows = [_row(table, row, [sight for sight in seen if sight.event in row.canonical]) for row in table.events]
    lines = [f"# {table.title}", note]
    if table.entry is not None:
        where = "; ".join(f"{scope}: `{path}`" for scope, path in table.entry.files.items())
        roots = [
            f"`{{{root}}}` is `${variable}`, else `{usual}`" for root, (variable, usual) in table.entry.roots.items()
        ]
        if OWN in table.entry.files["user"]:
            roots.append(f"`{OWN}` is a name that `install` makes up, so that no project has a plug-in of that name")
        lines.append(
            f"`{table.name}`. Entry: {where}{' (' + '; '.join(roots) + ')' if roots else ''}. {_upper(table.confirm)}"
        )
    else:
        lines.append(f"`{table.name}`. Its own hook files are an anyhook dialect, so nothing is installed.")
    agents = load().get("agents")
    found = agents.get(table.name) if isinstance(agents, dict) else None
    if isinstance(found, dict):
        lines.append(f"Seen live on {found.get('date')} with {found.get('version')}.")
    else:
        lines.append("Not driven here: the table shows the evidence for each event.")
    lent = [host(name).title for name in table.reads if name != table.name and name in HOSTS and host(name).lent]
    if lent and table.signs:
        lines.append(f"It may also run the entry of {' and '.join(lent)}, and then gets answers in its own format.")
    if table.gaps:
        lines.append(f"Not covered: {'; '.join(table.gaps)}.")
    lines.append("\n".join(["| event | canonical | honours | observed | |", "| --- | --- | --- | --- | --- |", *rows]))
    return lines


def _row(table: Host, row: HostEvent, seen: Sequence[Sight]) -> str:
    canonical = ", ".join(f"`{name}`" for name in row.canonical if name in EVENTS)
    says = ", ".join(effect for effect in EFFECTS if effect in row.says) or "–"
    if row.after_failure is not None:
        says += f"; after a failed tool: {', '.join(row.after_failure) or '–'}"
    note = row.why_not if row.installed or not row.why_not else f"not installed: {row.why_not}"
    reasons = {sight.why for sight in seen}
    shown = ", ".join(map(_sight, seen))
    if len(reasons) == 1 and "" not in reasons:
        shown = f"cannot be tried without a person: {reasons.pop()}"
    return f"| {row.native} | {canonical} | {says} | {shown or basis(table, row)} | {note} |"


def _sight(sight: Sight) -> str:
    if sight.why:
        return f"{sight.effect}: cannot be tried without a person ({sight.why})"
    if not sight.agrees:
        return f"**{sight.effect}: promised {sight.promised}, observed {sight.seen}**"
    return f"{sight.effect} ✓" if sight.seen == WORKS else f"{sight.effect}: {sight.seen}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
