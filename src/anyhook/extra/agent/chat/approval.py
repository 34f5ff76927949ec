"""Approval in the chat: show what the project wants to run before any of it runs, and ask once. A no is saved too: the
chat asks again only about hooks that changed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.utils import get_cwidth

from anyhook.cli.verb_trust import ProjectReview, approve, look, refuse_own_ledger
from anyhook.cli.view.console import BAD, BOLD, FAINT, WARN
from anyhook.cli.view.review_text import brief_lines, entry_lines, summary
from anyhook.cli.view.text import visible, wrapped
from anyhook.extra.agent.chat.keyboard import ENDED, INTERRUPTED
from anyhook.extra.agent.chat.screen import Screen
from anyhook.extra.agent.status_line import INDENT
from anyhook.gates.review import Reviewed

if TYPE_CHECKING:
    from anyhook.extra.agent.chat.loop import Chat

YES, NO, SHOW = ("y", "yes"), ("n", "no", ""), ("s", "show")
DETAIL = " " * 13
"""Where the value of a detail begins."""
MANY = 3
"""With more hooks than this, show an outline first."""


async def ask_about_hooks(chat: Chat) -> None:
    """Ask at the start of a session, if approval is needed and the user has not answered yet."""
    if not chat.options.hooks or chat.options.trust != "ask":
        return
    found = look(chat.call, chat.call.trust, with_offers=not chat.call.dialect)
    if not found.waiting or found.ledger.has_declined(found.setup.project, [entry.item for entry in found.waiting]):
        return
    chat.screen.prose(f"This project wants to run {counted(found.waiting)} of its own:", WARN)
    _outline(chat, found.waiting)
    await _decide(chat, found)


def counted(entries: Sequence[Reviewed]) -> str:
    """How many of them, and what they are."""
    word = "hook" if all(entry.hook is not None for entry in entries) else "thing"
    return f"a {word}" if len(entries) == 1 else f"{len(entries)} {word}s"


async def review(chat: Chat) -> bool:
    """`/trust`: show everything, regardless of earlier answers. True if something was approved now."""
    found = look(chat.call, chat.call.trust, with_offers=not chat.call.dialect)
    if found.too_large:
        for problem in found.problems:
            chat.screen.prose(visible(problem.sentence()), BAD)
        return False
    if not found.entries:
        chat.screen.prose("This project has no hooks and nothing for the agent, so there is nothing to approve.")
        return False
    if len(found.entries) > MANY:
        _outline(chat, found.entries)
        chat.screen.prose(summary(found.setup.project, found.entries, found.ledger))
    else:
        show(chat, found, found.entries)
    return bool(found.waiting) and await _decide(chat, found)


def _outline(chat: Chat, entries: Sequence[Reviewed]) -> None:
    size = shutil.get_terminal_size((80, 24))
    for line in outline_lines(entries, size.columns, size.lines - 5):
        chat.screen.line(line)


def outline_lines(entries: Sequence[Reviewed], width: int, room: int) -> list[str]:
    """An outline that leaves room for the question on the same screen. Lines are cut only if there is no room for all
    of them."""
    lines = [INDENT + line for line in brief_lines(entries, room)]
    whole = [part for line in lines for part in wrapped(visible(line), width, DETAIL)]
    rows = sum(-(-max(1, get_cwidth(line)) // width) for line in whole)  # a long word takes several
    return whole if rows <= room else [Screen.fitted(line) for line in lines]


def show(chat: Chat, found: ProjectReview, entries: Sequence[Reviewed]) -> None:
    """Everything that their approval covers, file by file."""
    shown: set[str] = set()
    for problem in found.problems:
        chat.screen.prose(visible(problem.sentence()), BAD)
    for entry in entries:
        for number, line in enumerate(entry_lines(entry, found.ledger, shown)):
            chat.screen.line(line, BOLD if number == 0 else FAINT if line.startswith("    ") else "")
        chat.screen.line()
    chat.screen.prose(summary(found.setup.project, found.entries, found.ledger))


async def _decide(chat: Chat, found: ProjectReview) -> bool:
    refuse_own_ledger(found.setup)
    while True:
        answer = await chat.keyboard.answer("Approve exactly this? [y]es, [N]o, [s]how all of it, or a part of a name:")
        if answer in YES:
            approve(found, lambda text: chat.screen.prose(text, FAINT))
            return True
        if answer in (INTERRUPTED, ENDED):
            chat.screen.prose("Not approved; you will be asked again.", FAINT)
            return False
        if answer in NO:
            _decline(chat, found)
            return False
        named = [entry for entry in found.entries if answer in entry.item.id.lower()]
        if answer in SHOW or named:
            show(chat, found, found.entries if answer in SHOW else named)
        else:
            chat.screen.prose(f"Nothing here is called {answer!r}.", FAINT)


def _decline(chat: Chat, found: ProjectReview) -> None:
    try:
        found.ledger.decline(found.setup.project, [entry.item for entry in found.waiting])
    except OSError as error:
        chat.screen.prose(f"The answer cannot be kept ({error.strerror}); you will be asked again.", WARN)
    chat.screen.prose("Not approved: they do not run. /trust asks again, and so does a change in them.", FAINT)
