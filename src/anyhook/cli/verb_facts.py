"""`anyhook facts`: what a tool call would do, as rules and self-protection see it. It starts nothing."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator

import click

from anyhook.cli import BadCall, render
from anyhook.cli.fire import event_of, project_of
from anyhook.cli.options import EventOptions, FactsOptions
from anyhook.cli.verbs import check_agents, verb
from anyhook.platform.places import home_of
from anyhook.programs.facts import Facts, Program
from anyhook.rules.calls import facts_of

EXAMPLE = "anyhook facts 'sudo rm -r build && git push -f'"


@verb("facts", FactsOptions, EXAMPLE, [click.Argument(["command"], required=False)])
def facts(command: str | None, options: FactsOptions) -> int:
    """Show what a tool call would do, as rules see it: the programs it runs (also through sudo, xargs or a pipe),
    the paths it reads, writes and deletes, where it connects to, and what cannot be known before it runs. COMMAND is
    one shell line, for short. Starts nothing."""
    check_agents([options.agent] if options.agent is not None else [])
    if command is not None:
        if options.input is not None:
            raise BadCall("give the shell line or --input, not both.")
        options = options.replace(input=json.dumps({"command": command}))
    event, _ = event_of("pre_tool", EventOptions(tool=options.tool or "Bash", input=options.input or "{}"))
    given = event.data["input"]
    folder = project_of(options.project, ())
    found = facts_of(
        str(event.data["tool"]),
        given if isinstance(given, dict) else {},
        cwd=folder,
        home=home_of(os.environ),
        project=folder,
        agent=options.agent,
    )
    if options.json:
        render.json_out(found.as_json(), indent=2)
        return 0
    for line in lines(found):
        render.out(line)
    return 0


def lines(found: Facts) -> Iterator[str]:
    """The facts as text."""
    kinds = {
        "reads": found.reads, "writes": found.writes, "deletes": found.deletes, "cleans": found.cleans,
        "executable": found.makes_executable,
        "changes": found.changes, "connects": found.connects, "secrets": found.secrets, "unknown": found.unknown,
    }  # fmt: skip
    if not found.runs and not any(kinds.values()):
        yield "This call runs, reads, writes and deletes nothing that can be seen."
    yield from _listed("runs", [_shown(program) for program in found.runs])
    for kind, values in kinds.items():
        yield from _listed(kind, values)


def _listed(kind: str, values: tuple[str, ...] | list[str]) -> Iterator[str]:
    for place, value in enumerate(values):
        yield f"{kind if place == 0 else '':<11} {value}".replace("\n", "\n" + " " * 12)


def _shown(program: Program) -> str:
    words = " ".join(shlex.quote(word) for word in (program.name or program.path, *program.args))
    via = f"  (through {', '.join(program.via)})" if program.via else ""
    fed = tuple(dict.fromkeys(origin.name for origin in program.stdin_from if origin.name))
    return f"{words}{via}" + (f"  (reads the output of {', '.join(fed)})" if fed else "")
