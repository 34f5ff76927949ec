"""`anyhook get`, `deny`, `ask` and `context`: for hooks that are shell scripts. They read the payload and print the
answer in the format of the dialect and event that called the hook."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from anyhook.cli import BLOCKED, DONE, FINDINGS, BadCall, render
from anyhook.cli.calling_hook import CallingHook, calling_hook
from anyhook.cli.options import Options
from anyhook.cli.verbs import verb
from anyhook.documents.places import home_of
from anyhook.facts.calls import LINES, PATHS, facts_of
from anyhook.model import lean_json
from anyhook.model.event import FIELDS
from anyhook.model.outcome import ASK, BLOCK
from anyhook.tables import spoken
from anyhook.tables.registry import HOSTS
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.spoken import Spoken

FACTS = ("runs", "reads", "writes", "deletes", "connects", "unknown", "executable", "changes", "git", "secrets")
OWN = ("event", "dialect", "project", "command", "path")
KNOWN = (*OWN, *FACTS, *FIELDS)
NO_HOOK = "no hook that anyhook knows called this. It is for scripts that are hooks of an agent: see docs/rules.md."


class AnswerOptions(Options):
    """Only the options that all verbs have."""


@verb("get", AnswerOptions, "command=$(anyhook get command)", [click.Argument(["fields"], nargs=-1, required=True)])
def get(fields: tuple[str, ...], _options: AnswerOptions) -> int:
    """In a hook: print what the call is about, a line for each field: command, path, tool, prompt, session, event, or
    what it does: runs, reads, writes, deletes, connects. `input.NAME` is a field of the tool's input. Every field has
    the same name in every dialect. Standard input stays as it was, so that this can be called again.

    \b
    Exit status: 0 printed, 1 the call has no such field, 3 not called in a hook.
    """
    hook = calling_hook(os.environ, needs_payload=True)
    if hook is None:
        raise BadCall(NO_HOOK)
    if not hook.payload:
        raise BadCall("the payload on standard input has been read already. Call `anyhook get` before, or pipe it in.")
    status = DONE
    for field in fields:
        found = _value(hook, field)
        if found in (None, "", [], {}):
            status = FINDINGS
            if field not in KNOWN and not field.startswith("input."):
                render.say(f"anyhook get: there is no field `{field}`.{guess(field, KNOWN)} Known: {', '.join(KNOWN)}.")
        for each in found if isinstance(found, list) else [found]:
            if each is not None:
                render.exact_out(each if isinstance(each, str) else lean_json.dumps(each, ensure_ascii=False))
    return status


def _value(hook: CallingHook, field: str) -> Json:
    """The value of a field; None if the call has none."""
    given = hook.canonical_fields()
    tool, tool_input = str(given.get("tool") or ""), given.get("input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    match field:
        case "event":
            return hook.canonical
        case "dialect":
            return hook.dialect.name
        case "command":
            return next((tool_input[key] for key in LINES if isinstance(tool_input.get(key), str)), None)
        case "path":
            return next((tool_input[key] for key in PATHS if isinstance(tool_input.get(key), str)), None)
        case _:
            pass
    if field in FACTS:
        folder = str(given.get("project") or os.getcwd())
        agent = hook.dialect.name if hook.dialect.name in HOSTS else None
        home = home_of(os.environ)
        return facts_of(tool, tool_input, cwd=folder, home=home, project=folder, agent=agent).as_json()[field]
    if field in given:
        return given[field]
    value: Json = {**hook.payload, "input": tool_input}
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


@verb("deny", AnswerOptions, 'anyhook deny "Deploys wait for the release."; exit', [click.Argument(["why"])])
def deny(why: str, _options: AnswerOptions) -> int:
    """In a hook: refuse, and say why. It prints the refusal in the hook's dialect and exits with the status that
    refuses there, so end the script with `exit` right after it."""
    return _refuse(calling_hook(os.environ), why)


@verb("ask", AnswerOptions, 'anyhook ask "This deletes a branch."; exit', [click.Argument(["why"])])
def ask(why: str, _options: AnswerOptions) -> int:
    """In a hook: let a person decide, and say why. If the hook's dialect cannot ask, it refuses."""
    hook = calling_hook(os.environ)
    said = spoken.verdict(hook.dialect, hook.row, hook.canonical, ASK, why) if hook is not None else None
    return _refuse(hook, why) if said is None else _print(said)


@verb("context", AnswerOptions, 'anyhook context "The tests need a database."', [click.Argument(["text"])])
def context(text: str, _options: AnswerOptions) -> int:
    """In a hook: tell the model something."""
    hook = calling_hook(os.environ)
    if hook is None:
        raise BadCall(NO_HOOK)
    said = spoken.context(hook.dialect, hook.row, hook.canonical, text)
    if said is None:
        render.say(f"anyhook context: {_cannot(hook, 'tell the model anything')}")
        return DONE
    return _print(said)


def _refuse(hook: CallingHook | None, why: str) -> int:
    if hook is None:  # a script that has read its payload itself still refuses: most agents read it so
        render.say(f"{why}\nanyhook: {NO_HOOK} Status {BLOCKED} refuses in most agents.")
        return BLOCKED
    said = spoken.verdict(hook.dialect, hook.row, hook.canonical, BLOCK, why)
    if said is None:
        render.say(f"{why}\nanyhook: {_cannot(hook, 'refuse')}")
        return BLOCKED
    return _print(said)


def _cannot(hook: CallingHook, what: str) -> str:
    return f"a {hook.dialect.title} hook cannot {what} on {hook.row.native}."


def _print(said: Spoken) -> int:
    if said.stdout:
        render.exact_out(said.stdout)
    if said.stderr:
        render.say(said.stderr)
    return said.status
