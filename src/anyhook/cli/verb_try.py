"""`anyhook try`: what the guards say about one shell line. As `anyhook fire pre_tool`, without a record."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from anyhook.cli import BLOCKED, DONE, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, ProjectOption, option
from anyhook.cli.verb_facts import lines
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import prefixed
from anyhook.engine.engine import Engine
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.platform.places import home_of
from anyhook.rules.calls import facts_of

WORDS = {"block": "refused", "ask": "a person is asked", "allow": "allowed", "none": "passes"}


class TryOptions(JsonOptions, ProjectOption):
    tool: str | None = option("--tool", "The tool's name; default: Bash.", "NAME")


@verb("try", TryOptions, "anyhook try 'git push --force'", [click.Argument(["command"])])
def try_(command: str, options: TryOptions) -> int:
    """Show what the guards say about one shell line: what it would do, the verdict, and the rule that decides.

    The line itself does not run. Your other hooks for tool calls are asked as well, as `anyhook fire pre_tool` does;
    nothing is recorded, and no allowance of `anyhook allow-once` is used up.

    \b
    Exit status: 0 not blocked, 2 blocked, 3 bad call.
    """
    tool, folder = options.tool or "Bash", os.path.realpath(project_of(options.project))
    given: dict[str, Json] = {"command": command}
    engine = Engine.open(folder, host="fire")
    engine.context.recorder.rehearse()
    decision = engine.fire_sync(Event.pre_tool(tool, given))
    engine.close_sync()
    found = facts_of(tool, given, cwd=folder, home=home_of(os.environ), project=folder)
    rule = decider(decision, engine.catalog.hooks)
    if options.json:
        told = {"verdict": decision.verdict, "rule": rule, "reason": decision.reason}
        render.json_out({**told, "facts": found.as_json()}, indent=2)
    else:
        for line in lines(found):
            render.out(line)
        said = f"{WORDS[decision.verdict]}{f' by {rule}' if rule else ''}"
        render.out(said, render.verdict_style(decision.verdict))
        for line in prefixed(decision.reason or "", "  ", "  ") if decision.reason else ():
            render.out(line)
    return BLOCKED if decision.stops else DONE


def decider(decision: Decision, hooks: Iterable[Hook]) -> str | None:
    """The rule that refused or asked, as PACK/NAME; the id of any other hook; None if nothing was stopped."""
    wanted = decision.hook or next((each.id for each in decision.hooks if each.verdict == decision.verdict), None)
    if decision.verdict not in ("block", "ask") or wanted is None:
        return None
    return next((hook.short_name for hook in hooks if hook.id == wanted and hook.condition is not None), wanted)
