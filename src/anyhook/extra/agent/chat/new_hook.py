"""`/create-hook`: a hook from a description. The model writes it. It is checked and explained in a temporary place,
shown as a diff, and saved only if the user agrees. None of it is started."""

from __future__ import annotations

import difflib
import json
import shlex
from typing import TYPE_CHECKING

from anyhook.cli import BadCall
from anyhook.cli.verb_trust import approve_one, look
from anyhook.cli.view.console import BAD, BOLD, FAINT, GOOD, WARN
from anyhook.extra.agent.chat.draft_check import DraftCheck, check_draft, order_of
from anyhook.extra.agent.chat.keyboard import ENDED, INTERRUPTED
from anyhook.extra.agent.failure import Failed
from anyhook.extra.agent.hook_writer import write_hook
from anyhook.extra.agent.nesting import INDENT
from anyhook.extra.testing.scaffold.plan import CannotScaffold, plan
from anyhook.extra.testing.scaffold.script import brief
from anyhook.extra.testing.scaffold.write import write
from anyhook.tables.registry import DIALECTS, dialect, module_of, part
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.extra.agent.chat.loop import Chat
    from anyhook.extra.agent.hook_writer import Draft
    from anyhook.extra.testing.scaffold.plan import Order, Plan
    from anyhook.model.hook import Hook
    from anyhook.model.words import OwnScope
    from anyhook.tables.rows import Dialect

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
