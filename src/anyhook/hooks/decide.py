"""What a function asks for. `deny` and `ask` end it at once, so that a forgotten `return` cannot lose them; the others
are collected until it ends."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from anyhook.model.json_types import Json


class Decided(BaseException):
    """Ends the function that decided."""


class Collected:
    """What the running function has asked for so far. A process calls one function."""

    verdict = ""
    reason = ""
    context: list[str] = []  # noqa: RUF012 (one per process)
    messages: list[str] = []  # noqa: RUF012
    fields: dict[str, Json] = {}  # noqa: RUF012
    command: str | None = None


def deny(reason: str) -> NoReturn:
    """Refuse, and say why."""
    Collected.verdict, Collected.reason = "deny", reason
    raise Decided


def ask(reason: str) -> NoReturn:
    """Let a person decide; an agent that cannot ask refuses."""
    Collected.verdict, Collected.reason = "ask", reason
    raise Decided


def context(text: str) -> None:
    """Tell the model something."""
    Collected.context.append(text)


def warn(text: str) -> None:
    """Tell the person something, and stop nothing."""
    Collected.messages.append(text)


def rewrite(command: str | None = None, **fields: Json) -> None:
    """Replace the call's command, or fields of its input."""
    Collected.command = command if command is not None else Collected.command
    Collected.fields.update(fields)
