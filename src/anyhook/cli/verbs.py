"""Click commands from option rows, so that a verb and the fast path always agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

from anyhook.cli import BadCall
from anyhook.cli.known_words import KINDS
from anyhook.cli.options import Option, Options
from anyhook.model.texts import install_command
from anyhook.satellites import missing
from anyhook.tables.registry import DIALECTS, HOSTS
from anyhook.tables.shapes import guess


def verb(
    name: str, kind: type[Options], example: str, arguments: Sequence[click.Argument] = ()
) -> Callable[[Callable[..., int]], click.Command]:
    """A command that passes its arguments, and its options as one record, to a function."""

    def make(function: Callable[..., int]) -> click.Command:
        def call(**given: str | tuple[str, ...] | bool | None) -> int:
            positional = [given.pop(argument.name or "") for argument in arguments]
            dialects = given.get("dialect")
            check_dialects(dialects if isinstance(dialects, tuple) else ())
            return function(*positional, kind.of(given))

        params = [*arguments, *map(_option, kind.rows)]
        return click.Command(
            name,
            callback=call,
            params=params,
            help=function.__doc__,
            epilog=f"\b\nExample:\n  {example}",
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
        )

    return make


def _option(option: Option) -> click.Option:
    names = [option.key, option.flag, *([option.short] if option.short else [])]
    if not option.metavar:
        return click.Option(names, is_flag=True, help=option.help)
    kind = click.Choice(option.choices) if option.choices else KINDS.get(option.metavar)
    return click.Option(
        names,
        metavar=None if option.choices else option.metavar,
        type=kind,
        multiple=option.many,
        help=option.help,
    )


def check_dialects(names: Sequence[str]) -> None:
    _check("dialect", names, DIALECTS)


def check_agents(names: Sequence[str]) -> None:
    _check("agent", names, HOSTS)


def _check(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise BadCall(f"there is no {kind} `{name}`.{guess(name, known)} {kind.title()}s: {', '.join(known)}.")


def of_extra(module: str, extra: str, lacking: str) -> Any:
    """A module that needs the packages of an extra; `lacking` says what is missing without them."""
    try:
        return import_module(module)
    except ImportError as error:
        if missing(error):
            raise
        raise BadCall(f"{lacking} ({error}): {install_command(extra)}") from None
