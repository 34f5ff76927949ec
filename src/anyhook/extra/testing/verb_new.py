"""`anyhook new`: write a working hook, and say how to try it. It never overwrites anything."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from shutil import which

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.options import ProjectJsonOptions, option, repeated
from anyhook.cli.verbs import verb
from anyhook.extra.testing.hook_script import EFFECTS, MARK, Lang
from anyhook.extra.testing.kit.form import by_key
from anyhook.extra.testing.new_hook import CannotScaffold, Order, Plan, find_row, write
from anyhook.model import lean_json as json
from anyhook.model.event import FIELDS
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import OwnScope
from anyhook.tables.patterns import names_only
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.rows import EventRow

INTERPRETERS = {"bash": "bash", "python": "python3"}
EXAMPLE = "anyhook new guard --dialect kodik --event PreToolUse --tool Bash"


class NewOptions(ProjectJsonOptions):
    dialect: tuple[str, ...] = repeated("--dialect", "The dialect to write the hook in.", "DIALECT")
    event: str | None = option("--event", "The event: a canonical name or any dialect's own.", "EVENT")
    tool: str | None = option("--tool", "Only for this tool.", "NAME")
    lang: Lang | None = option("--lang", "The script's language; default: bash.", "LANG", choices=("bash", "python"))
    scope: OwnScope | None = option(
        "--scope",
        "For the project (the default if the dialect has such hooks) or the user.",
        "SCOPE",
        choices=("project", "user"),
    )


@verb("new", NewOptions, EXAMPLE, [click.Argument(["name"])])
def new(name: str, options: NewOptions) -> int:
    """Write a working hook and say how to try it.

    NAME becomes the name of its script. A new gate refuses calls that contain the word anyhook-demo-block; any other
    new hook logs its events. Change it from there. Existing files keep their content.
    """
    try:
        order, canonical = _order(name, options)
        made, hook = write(order)
    except CannotScaffold as error:
        raise BadCall(str(error)) from None
    for note in made.notes:
        render.say(f"note: {note}")
    program = INTERPRETERS[order.lang]
    if made.script and which(program) is None:
        render.say(f"note: the script needs {program}, which is not on your PATH.")
    if canonical != order.row.canonical[0]:
        render.say(f"note: {order.row.native} comes after every tool, whether it succeeded or failed.")
    _report(made, hook, _trials(order, canonical, options), options.json)
    return 0


def _order(name: str, options: NewOptions) -> tuple[Order, str]:
    chosen = options.dialect
    if len(chosen) != 1:
        raise BadCall(f"--dialect: name the one dialect to write the hook in: {', '.join(DIALECTS)}.")
    table = dialect(chosen[0])
    if not options.event:
        known = ", ".join(row.native for row in table.events)
        raise BadCall(f"--event: name the event. Events of {table.name}: {known}.")
    roots = setup_of(options).roots(())
    row, canonical = find_row(table, options.event)
    scope: OwnScope = options.scope or ("project" if "project" in dict(table.files) else "user")
    return Order(name, table, row, scope, options.lang or "bash", options.tool or "", roots), canonical


def _trials(order: Order, canonical: str, options: NewOptions) -> list[tuple[str, str]]:
    """Command lines, and what each of them shows."""
    where = ["--project", options.project] if options.project else []
    more = ["--state-dir", options.state_dir] if options.state_dir else []
    found: list[tuple[str, str]] = []
    if order.scope == "project":
        found.append((shlex.join(["anyhook", "trust", *where]), "look at it and approve it"))
    acts = "blocks" if order.row.block in EFFECTS else "is recorded"
    for marked, effect in ((True, acts), (False, "passes" if acts == "blocks" else "is recorded too")):
        words = [*_fire(order, trial(order, canonical, marked=marked)), "--dialect", order.dialect.name, *where, *more]
        found.append((shlex.join(words), effect))
    return found


def _report(made: Plan, hook: Hook, trials: list[tuple[str, str]], as_json: bool) -> None:
    if as_json:
        files: list[Json] = [piece.path for piece in made.pieces]
        render.json_out({"files": files, "id": hook.id, "try": [line for line, _ in trials]}, indent=2)
        return
    for piece in made.pieces:
        render.out(f"{'wrote' if piece.old is None else 'added to'} {piece.path}")
    if made.log:
        render.out(f"it keeps its record in {made.log}")
    render.out(f"hook {hook.id}")
    render.out("")
    render.out("Try it:")
    width = max(len(line) for line, _ in trials)
    for line, effect in trials:
        render.out(f"  {line:<{width}}  # {effect}")


# -- how to try a new hook: `fire` command lines


NAMED_TEXTS = ("prompt", "message", "source", "trigger", "reason", "agent_type")
"""Texts that have their own option and key."""
MCP_TOOL = "mcp__server__tool"
"""A tool of an MCP server, as most agents call one."""


def tool_of(order: Order) -> str:
    """A tool that the hook is for."""
    if order.tool:
        names = sorted(names_only(order.tool) or ())
        return names[0] if names else order.tool
    table, about = order.dialect, order.row.about
    if about:
        return table.tools[about[0]].native if about[0] in table.tools else MCP_TOOL
    return table.scaffold.tool if table.scaffold else ""


def trial(order: Order, canonical: str, *, marked: bool) -> dict[str, Json]:
    """The fields of an event that a new hook blocks or records, or, not marked, lets pass."""
    text, about = f"say {MARK}" if marked else "say hello", order.row.about[:1]
    fields: dict[str, Json] = {"tool": tool_of(order)} if order.about_tools else {}
    if canonical in ("pre_tool", "permission_request"):
        line: Json = {"command": text.replace("say", "echo")}
        if about and about[0] not in ("shell", "mcp"):  # the hook sees the text in another field
            line = {order.dialect.tools[about[0]].inputs.get("path", "path"): text}
        return {**fields, "input": line}
    if canonical == "post_tool":
        return {**fields, "output": text}
    if canonical == "post_tool_failure":
        return {**fields, "tool_error": text}
    texts = _texts(order.row)
    return {**fields, texts[0]: text} if texts else {**fields, "session": text.replace(" ", "-")}


def _texts(row: EventRow) -> list[str]:
    """The fields of an event that are texts, those first that are named."""
    cells = [field.cell for field in row.payload if isinstance(field.cell, str) and field.cell != "tool"]
    return sorted([cell for cell in cells if isinstance(FIELDS[cell], str)], key=lambda cell: cell not in NAMED_TEXTS)


def _fire(order: Order, fields: Mapping[str, Json]) -> list[str]:
    """The call that fires this event."""
    words = ["anyhook", "fire", order.row.native]
    for name, value in by_key(fields).items():
        flag = "--agent" if name == "agent_type" else f"--{name.replace('_', '-')}"
        words += [flag, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]
    return words
