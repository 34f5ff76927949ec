"""Kinds of command-line arguments, and their completions. They do not validate: the verb does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from anyhook.model.event import EVENTS
from anyhook.rules.pack_list import GUARD, NAMES
from anyhook.tables.registry import DIALECTS, INSTALLABLE, native_names


class KnownWord(click.ParamType[Any]):
    """Text with some known values."""

    def __init__(self, name: str, known: Callable[[], Iterable[str]]) -> None:
        self.name, self._known = name, known

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> Any:
        return value

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in dict.fromkeys(self._known()) if word.startswith(incomplete)]


def _hooks() -> list[str]:
    """The project's and the user's hooks and rules, by their short names."""
    from anyhook.cli.catalog_input import catalog_of
    from anyhook.cli.options import ProjectOptions

    hooks = catalog_of(ProjectOptions()).hooks
    return [*dict.fromkeys([hook.short_name for hook in hooks] + [hook.group for hook in hooks if hook.group])]


AGENT = KnownWord("agent", lambda: INSTALLABLE)
DIALECT = KnownWord("dialect", lambda: DIALECTS)
EVENT = KnownWord("event", lambda: (*EVENTS, *native_names()))
HOOK = KnownWord("hook", _hooks)
PACK = KnownWord("pack", lambda: (GUARD, *NAMES))
KINDS = {"AGENT": AGENT, "DIALECT": DIALECT, "EVENT": EVENT, "HOOK": HOOK}
"""The kind of an option's value, by its metavar."""
