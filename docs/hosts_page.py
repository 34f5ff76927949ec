"""The page about real agents, made of the host tables and the rules by which effects degrade."""

from __future__ import annotations

from anyhook.grammar.host_rows import EFFECTS, Host, HostEvent
from anyhook.hosts import HOSTS, host
from anyhook.model.event import EVENTS
from anyhook.steps.settle import RULES

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

If anyhook itself fails, the posture for broken hooks decides (`on_failure` in the [settings](config.md)): by default
the agent goes on as without hooks, with `deny` it is refused. The agent never gets an exit status that means
something else to it.

## What anyhook keeps agents from

A bridged agent may not edit anyhook's own files (approvals, journal, settings), take our entry out of a config, or
call `anyhook trust` and the like: such a tool call is refused by a built-in guard. Reading is allowed. Of a command
line it sees folders (`cd x && …`, `git -C`), `~`, variables that the line or the environment tells, wildcards,
redirections, shells inside shells and here-documents, and links in front of a file's name of ours; of a program for an
interpreter only whether it names our files and has a word for writing. It does not see paths that are put together
while something runs, other links, a script's content, or a program that writes without being told where. So it is a
fence and no sandbox; `protect = false` in the [settings](config.md) turns it off.

Where an agent calls several entries of ours about one event (its user's and its project's config, or another agent's
file that it reads as well), the hooks run once, and every entry gives the same answer in its own agent's words. Hooks
in an agent's own files are left to that agent.

`anyhook doctor` shows which agents there are, where the entry is, and what would keep it from working.

## What an agent cannot do

An effect that an agent lacks becomes the first of these that it has; what is left is lost. Either stands in the
[journal](journal.md) as a problem of the event."""


def hosts_page(note: str) -> str:
    """The whole page."""
    rules = [f"| `{effect}` | {', '.join(f'`{other}`' for other in RULES[effect]) or 'lost'} |" for effect in EFFECTS]
    parts = [
        "# Real agents",
        note,
        INTRO,
        "\n".join(["| effect | becomes |", "| --- | --- |", *rules]),
        "`block` of a call, a prompt or a stop is what refuses it or keeps the agent working; after a tool it tells the"
        " model. Context that cannot be told is added to a reason, where there is one.",
        *(_section(host(name)) for name in HOSTS),
    ]
    return "\n\n".join(parts) + "\n"


def _section(table: Host) -> str:
    rows = [_row(row) for row in table.events]
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
    lines.append("\n".join(["| event | canonical | honours | |", "| --- | --- | --- | --- |", *rows]))
    return "\n\n".join(lines)


def _row(row: HostEvent) -> str:
    canonical = ", ".join(f"`{name}`" for name in row.canonical if name in EVENTS)
    says = ", ".join(effect for effect in EFFECTS if effect in row.says) or "–"
    note = row.why_not if row.installed or not row.why_not else f"not installed: {row.why_not}"
    return f"| {row.native} | {canonical} | {says} | {note} |"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
