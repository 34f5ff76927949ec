"""Approval in the chat: what the project wants to run is shown before anything of it runs, and its user is asked once.
A no is kept as well: the same hooks are not asked about again, changed ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli.chat.keyboard import ENDED, INTERRUPTED
from anyhook.cli.chat.screen import INDENT
from anyhook.cli.verb_trust import approve, look, refuse_own_ledger
from anyhook.cli.view.review_text import entry_lines, summary, what_it_runs
from anyhook.cli.view.styles import BAD, BOLD, FAINT, WARN
from anyhook.cli.view.visible import visible

if TYPE_CHECKING:
    from anyhook.cli.chat.loop import Chat
    from anyhook.cli.verb_trust import ProjectReview

YES, NO, SHOW = ("y", "yes"), ("n", "no", ""), ("s", "show")


async def ask_about_hooks(chat: Chat) -> None:
    """At the start of a session, where the user's word decides and has not been given yet."""
    if not chat.options.hooks or chat.options.trust != "ask":
        return
    found = look(chat.call, chat.call.trust)
    if not found.waiting or found.ledger.has_declined(found.setup.project, [entry.item for entry in found.waiting]):
        return
    screen, count = chat.screen, len(found.waiting)
    screen.line(f"This project wants to run {'a hook' if count == 1 else f'{count} hooks'} of its own:", WARN)
    for entry in found.waiting:
        for line in what_it_runs(entry):
            screen.line(line, indent=INDENT)
    await _decide(chat, found)


async def review(chat: Chat) -> bool:
    """`/trust`: all of it, whatever was said before; whether something was approved now."""
    found = look(chat.call, chat.call.trust)
    if found.too_large:
        for problem in found.problems:
            chat.screen.line(visible(problem.sentence()), BAD)
        return False
    if not found.entries:
        chat.screen.line("This project has no hooks, so there is nothing to approve.")
        return False
    show(chat, found)
    return bool(found.waiting) and await _decide(chat, found)


def show(chat: Chat, found: ProjectReview) -> None:
    """Everything that an approval is about, file by file."""
    shown: set[str] = set()
    for problem in found.problems:
        chat.screen.line(visible(problem.sentence()), BAD)
    for entry in found.entries:
        for number, line in enumerate(entry_lines(entry, found.ledger, shown)):
            chat.screen.line(line, BOLD if number == 0 else FAINT if line.startswith("    ") else "")
        chat.screen.line()
    chat.screen.line(summary(found.setup.project, found.entries, found.ledger))


async def _decide(chat: Chat, found: ProjectReview) -> bool:
    refuse_own_ledger(found.setup)
    while True:
        answer = await chat.keyboard.answer("Approve exactly this? [y]es, [N]o, [s]how all of it:")
        if answer in YES:
            approve(found, lambda text: chat.screen.line(text, FAINT))
            return True
        if answer in (INTERRUPTED, ENDED):
            chat.screen.line("Not approved; you will be asked again.", FAINT)
            return False
        if answer in NO:
            _decline(chat, found)
            return False
        if answer in SHOW:
            show(chat, found)


def _decline(chat: Chat, found: ProjectReview) -> None:
    try:
        found.ledger.decline(found.setup.project, [entry.item for entry in found.waiting])
    except OSError as error:
        chat.screen.line(f"The answer cannot be kept ({error.strerror}); you will be asked again.", WARN)
    chat.screen.line("Not approved: they do not run. /trust asks again, and so does a change in them.", FAINT)
