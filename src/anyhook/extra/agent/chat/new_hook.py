"""`/create-hook`: a hook from a description. The model writes it. It is checked and explained in a temporary place,
shown as a diff, and saved only if the user agrees. None of it is started."""

from __future__ import annotations

import difflib
import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, UnexpectedModelBehavior
from pydantic_ai.models import Model

from anyhook.cli import BadCall
from anyhook.cli.fire import event_of
from anyhook.cli.options import EventOptions
from anyhook.cli.verb_explain import lines
from anyhook.cli.verb_trust import approve_one, look
from anyhook.cli.view.console import BAD, BOLD, FAINT, GOOD, WARN
from anyhook.engine.catalog import build
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.extra.agent.chat.keyboard import ENDED, INTERRUPTED
from anyhook.extra.agent.models import explained
from anyhook.extra.agent.script import HOOK_WRITER, asked_apart
from anyhook.extra.agent.settings import Failed
from anyhook.extra.agent.status_line import INDENT
from anyhook.extra.testing.hook_script import brief
from anyhook.extra.testing.new_hook import CannotScaffold, Order, Plan, find_row, plan, write
from anyhook.gates.check import checkup
from anyhook.model.hook import Hook
from anyhook.model.problem import ERROR
from anyhook.model.words import OwnScope
from anyhook.platform.other_programs import ask
from anyhook.state.plans import Setup
from anyhook.tables.registry import DIALECTS, VARIABLES, dialect, module_of, part, special
from anyhook.tables.rows import Dialect, Roots
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.extra.agent.chat.loop import Chat

SCOPES: tuple[OwnScope, ...] = ("project", "user")
OTHER: dict[OwnScope, OwnScope] = {"project": "user", "user": "project"}
KEPT = "The draft is kept: /create-hook alone shows it again."
USAGE = "Say what the hook should do: /create-hook [--dialect NAME] [--scope project|user] DESCRIPTION"


async def create_hook(chat: Chat, rest: str) -> None:
    table, scope, description = _asked_for(chat, rest)
    if not description and chat.draft is not None:
        await _offer(chat, *chat.draft)
        return
    if not description:
        description = (await chat.keyboard.text("What should the hook do?")).strip("\x03\x04")
    if not description:
        chat.screen.prose(USAGE)
        return
    assert chat.session is not None  # noqa: S101 (commands are read in a session)
    setup, last = chat.setup(), list[DraftCheck]()

    def examine(draft: Draft) -> list[str]:
        last[:] = [check_draft(draft, table, setup, scope)]
        if not last[0].errors:
            try:  # the real place may have a hook of that name
                plan(order_of(draft, table, setup.roots(()), scope), draft.script)
            except CannotScaffold as error:
                return [str(error)]
        return last[0].errors

    chat.screen.line(f"The model writes a hook of {table.title} …", FAINT)
    try:
        draft = await chat.work(write_hook(chat.session.model, brief(table), description, examine))
    except Failed as error:
        chat.screen.prose(f"The model has written no hook that would work: {error}", BAD)
        return
    if draft is None:
        chat.screen.line("Stopped; nothing was written.", WARN)
        return
    chat.draft = (draft, table, scope, last[0])
    await _offer(chat, *chat.draft)


def _asked_for(chat: Chat, rest: str) -> tuple[Dialect, OwnScope, str]:
    """The dialect, the scope and the description."""
    chosen = chat.options.dialects
    name, scope = (chosen[0], SCOPES[0]) if len(chosen) == 1 else _from_chat()
    words = rest.split(maxsplit=2)
    while words and words[0] in ("--dialect", "--scope"):
        flag, value = words[0], words[1] if len(words) > 1 else ""
        known = DIALECTS if flag == "--dialect" else SCOPES
        if value not in known:
            raise BadCall(f"{flag} {value}: must be one of {', '.join(known)}.{guess(value, known)}")
        name = value if flag == "--dialect" else name
        scope = next((each for each in SCOPES if each == value), scope)
        rest = words[2] if len(words) > 2 else ""
        words = rest.split(maxsplit=2)
    return dialect(name), scope, rest.strip()


def _from_chat() -> tuple[str, OwnScope]:
    """The first dialect whose documentation lets people describe hooks in the chat, and the scope of such a hook."""
    for name in DIALECTS:
        scope: Callable[[], OwnScope] | None = part(module_of(name), "chat_scope")
        if scope is not None:
            return name, scope()
    return DIALECTS[0], SCOPES[0]


# -- showing and saving


async def _offer(chat: Chat, draft: Draft, table: Dialect, scope: OwnScope, tried: DraftCheck) -> None:
    """Show it for one scope, and ask until there is an answer. The user can switch to the other scope."""
    shown = ""
    while True:
        try:
            order = order_of(draft, table, chat.setup().roots(()), scope)
            made = plan(order, draft.script)
        except CannotScaffold as error:
            chat.screen.prose(f"It cannot be saved for the {scope}: {error}", BAD)
            chat.screen.prose(KEPT, FAINT)
            return
        if shown != scope:
            _show(chat, draft, order, made, tried)
        shown = scope
        question = f"Save it for the {scope}? [y]es, [{OTHER[scope][0]}] for the {OTHER[scope]} instead, [n]o:"
        answer = await chat.keyboard.answer(question)
        if answer in ("y", "yes"):
            break
        if answer in ("n", "no", INTERRUPTED, ENDED):
            chat.screen.prose(f"Not saved. {KEPT}", FAINT)
            return
        if answer in (OTHER[scope], OTHER[scope][0]):
            scope = OTHER[scope]
            tried = check_draft(draft, table, chat.setup(), scope)
    try:
        made, hook = write(order, draft.script)
    except CannotScaffold as error:
        chat.screen.prose(f"{error} {KEPT}", BAD)
        return
    chat.draft = None
    for piece in made.pieces:
        chat.screen.line(f"{'wrote' if piece.old is None else 'added to'} {piece.path}", GOOD, INDENT)
    if scope == "project":
        _approve(chat, hook, made)
    chat.screen.line("It takes effect in a new session. To try it before:", indent=INDENT)
    chat.screen.line(_trial(order, draft, chat.call.project), FAINT, INDENT * 2)


def _show(chat: Chat, draft: Draft, order: Order, made: Plan, tried: DraftCheck) -> None:
    screen = chat.screen
    screen.line()
    screen.prose(f"{order.name}: {draft.explanation}", BOLD)
    screen.line(f"event  {order.row.native}" + (f", tool {order.tool}" if order.tool else ""), indent=INDENT)
    for piece in made.pieces:
        old = (piece.old or b"").decode("utf-8", "replace").splitlines()
        before = piece.path if piece.old is not None else "(nothing)"
        for line in difflib.unified_diff(old, piece.text.splitlines(), before, piece.path, lineterm=""):
            screen.line(line, GOOD if line[:1] == "+" else BAD if line[:1] == "-" else FAINT, INDENT)
    for note in made.notes:
        screen.prose(f"note: {note}", WARN, INDENT)
    for warning in tried.warnings:
        screen.prose(f"check: {warning}", WARN, INDENT)
    if not tried.warnings:
        screen.line("check: no problems", indent=INDENT)
    screen.line("explain, with an event that it acts on:", indent=INDENT)
    for line in tried.explained:
        screen.line(line, FAINT, INDENT * 2)


def _approve(chat: Chat, hook: Hook, made: Plan) -> None:
    """Approve it: the user has just seen all of it and said yes."""
    found = look(chat.call.replace(dialect=(hook.dialect,)), chat.call.trust)
    if approve_one(found, hook.id, {piece.path: piece.text.encode() for piece in made.pieces if piece.executable}):
        chat.screen.line(f"approved {hook.id}", GOOD, INDENT)
    else:
        chat.screen.line(f"{hook.id} waits for approval: /trust", WARN, INDENT)


def _trial(order: Order, draft: Draft, project: str | None) -> str:
    where = ["--project", project] if project else []
    words = ["fire", order.row.native, "--dialect", order.dialect.name, *where, "--data", json.dumps(draft.sample)]
    return shlex.join(["anyhook", *words])


# -- the check, in an empty temporary project and home: write it there, check it like `anyhook check`, and explain it
# with an event. None of it is started, and nothing is left behind


SYNTAX_LIMIT_S = 10


@dataclass
class DraftCheck:
    """The result as text, with the paths of the real place."""

    errors: list[str]
    """If there are any, the draft is not offered at all."""
    warnings: list[str]
    explained: list[str]


def order_of(draft: Draft, table: Dialect, roots: Roots, scope: OwnScope) -> Order:
    """The order that `anyhook new` would get; raises CannotScaffold if that is not possible."""
    row, _ = find_row(table, draft.event)
    return Order(draft.name, table, row, scope, draft.lang, draft.tool, roots)


def check_draft(draft: Draft, table: Dialect, setup: Setup, scope: OwnScope) -> DraftCheck:
    """Write it to an empty place, and check it."""
    with _empty_place(setup, table) as place:
        try:
            order = order_of(draft, table, place.roots(()), scope)
            write(order, draft.script)
            errors, warnings = _checked(place)
            errors += _syntax(draft)
            found, why = _explained(draft, order, place)
        except (CannotScaffold, BadCall) as error:
            return DraftCheck([_here(str(error), place, setup)], [], [])
        errors += [f"with the sample event the hook would not run: {why}"] if why else []
        return DraftCheck(*([_here(text, place, setup) for text in texts] for texts in (errors, warnings, found)))


@contextmanager
def _empty_place(setup: Setup, table: Dialect) -> Iterator[Setup]:
    with TemporaryDirectory(prefix="anyhook-") as folder:
        project, home = f"{folder}/project", f"{folder}/home"
        os.mkdir(project)
        os.mkdir(home)
        places = set(VARIABLES) - {"PATH"}
        env = {key: value for key, value in setup.env.items() if key not in places}
        yield Setup.of(project, {**env, "HOME": home}, [table.name], "all")


def _here(text: str, place: Setup, setup: Setup) -> str:
    """A message about the temporary place, with the paths of the real one."""
    return text.replace(place.project, setup.project).replace(place.env["HOME"], setup.env.get("HOME", "~"))


def _checked(place: Setup) -> tuple[list[str], list[str]]:
    problems = checkup(place).problems
    errors = [problem.sentence() for problem in problems if problem.severity == ERROR]
    return errors, [problem.sentence() for problem in problems if problem.severity != ERROR]


def _syntax(draft: Draft) -> list[str]:
    """Syntax errors in the script, found without running it."""
    if not draft.script.startswith("#!"):
        return ["the script needs a first line that names its interpreter, such as `#!/usr/bin/env bash`"]
    if draft.lang == "python":
        try:
            compile(draft.script, draft.name, "exec")
        except (SyntaxError, ValueError) as error:
            return [f"the script is not valid Python: {error}"]
        return []
    try:
        looked = ask(("bash", "-n"), SYNTAX_LIMIT_S, stdin=draft.script.encode())
    except OSError:
        return []  # no bash on this system: `check` has reported that
    return [f"the script is not valid bash: {looked.complaint()}"] if looked.status else []


def _explained(draft: Draft, order: Order, place: Setup) -> tuple[list[str], str]:
    """What `anyhook explain` shows for the sample, and why the hook would not run, or ""."""
    event, _ = event_of(order.row.native, EventOptions(data=json.dumps(draft.sample)))
    options = EngineOptions(place, mode="enforce", host="explain")
    records = open_engine(options, build(place, may_start=False).with_lines()).explain(event)
    # A hook that declares its own event would have to be started.
    asked = special(order.dialect.name, "ASK_TYPE") is not None
    why = "" if asked or any(record["would_run"] for record in records) else str(records[0]["why"] if records else "")
    return list(lines(event.name, records)), why


# -- the model writes it. The caller examines the draft, and the model gets the mistakes and tries again


TRIES = 3
INSTRUCTIONS = (
    "You write one lifecycle hook for a coding agent: a script that is started when an event happens, reads one JSON "
    "object on stdin and answers by its exit status and what it prints. Write the smallest script that does what the "
    "user describes and nothing else; it must need no network and no package that is not installed everywhere, and "
    "must not change any file unless the description says so. Choose the event by the description. What a hook of "
    "this kind reads and may answer:"
)


class Draft(BaseModel):
    """One hook, as the model wrote it."""

    name: Annotated[str, Field(description="Short, of lower-case letters, digits and dashes.")]
    event: Annotated[str, Field(description="One of the events, spelled as in the list.")]
    tool: Annotated[str, Field(description="The tool it is for, by its name or a pattern of names; empty for all.")] = (
        ""
    )
    lang: Literal["bash", "python"]
    script: Annotated[str, Field(description="The whole script, with its first line `#!/usr/bin/env …`.")]
    explanation: Annotated[str, Field(description="One sentence: what it does, and when.")]
    sample: Annotated[
        dict[str, Any], Field(description="An event that the hook acts on: some of the keys it reads on stdin.")
    ]


async def write_hook(model: Model, about: str, description: str, examine: Callable[[Draft], list[str]]) -> Draft:
    """A draft that passes `examine`; raises Failed if the model does not manage that."""
    writer = Agent(model, output_type=Draft, instructions=f"{INSTRUCTIONS}\n\n{about}", retries=TRIES - 1)
    found: list[str] = []

    @writer.output_validator
    def check(draft: Draft) -> Draft:
        found[:] = examine(draft)
        if found:
            raise ModelRetry("This hook is not good yet:\n" + "\n".join(f"- {each}" for each in found))
        return draft

    token = asked_apart.set(HOOK_WRITER)
    try:
        return (await writer.run(description)).output
    except UnexpectedModelBehavior as error:
        said = "; ".join(found) or f"it was asked {TRIES} times, and its answers were not a draft ({error})"
        raise Failed(said) from None
    except Exception as error:  # noqa: BLE001 (whatever a model or a provider's client raises)
        raise Failed("; ".join(found) if found else explained(error, model)) from None
    finally:
        asked_apart.reset(token)
