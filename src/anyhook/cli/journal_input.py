"""The words of a call → what is wanted of the journal. It opens nothing."""

from __future__ import annotations

import gc
import os
from datetime import datetime

from anyhook.cli.failure import BadCall
from anyhook.cli.options import Option
from anyhook.cli.view import render
from anyhook.journal.files import current_path, full_paths
from anyhook.journal.search import Wanted
from anyhook.journal.timespec import moment
from anyhook.model.event import EVENTS
from anyhook.model.outcome import STRENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anyhook.cli.options import Values
    from anyhook.journal.search import Found

WANTED = (
    Option("--since", "Not before this: 2h, 3d, today, 2026-11-15T10:30.", "TIME"),
    Option("--until", "Only before this.", "TIME"),
    Option("--session", "Only this session.", "ID"),
    Option("--project", "Only this project.", "DIR"),
    Option("--agent", "Only what this one fired: fire, library, agent, or a bridged agent.", "NAME"),
    Option("--event", "Only this event, by any of its names.", "EVENT"),
    Option("--tool", "Only this tool.", "NAME"),
    Option("--hook", "Only where a hook was reached whose id has this in it.", "ID"),
    Option("--verdict", "Only this verdict.", "VERDICT", choices=tuple(STRENGTH)),
    Option("--text", "Only where this text is found, in upper or lower case.", "TEXT"),
)


def wanted_of(values: Values, since: str | None = None) -> Wanted:
    """The options, checked. `since` counts where the call names no moment."""

    def text(key: str) -> str | None:
        return str(values[key]) if values.get(key) is not None else None

    def at(key: str, default: str | None = None) -> int | None:
        given = default if text(key) is None else text(key)
        try:
            return None if given is None else moment(given, datetime.now())
        except ValueError as error:
            raise BadCall(f"--{key}: {error}") from None

    project = text("project")
    return Wanted(
        at("since", since),
        at("until"),
        text("session"),
        None if project is None else os.path.realpath(project),
        text("agent"),
        _event(text("event")),
        text("tool"),
        text("hook"),
        text("verdict"),
        text("text"),
    )


def look_for_cycles_seldom() -> None:
    """For a verb that reads very many records: they are trees, so looking for cycles among them is time lost."""
    gc.set_threshold(50_000, 20, 100)


def check_not_journal(option: str, path: str, folder: str) -> None:
    """Nothing is written over the journal itself."""
    if os.path.realpath(path) in map(os.path.realpath, (current_path(folder), *full_paths(folder))):
        raise BadCall(f"{option} {path}: this is a file of the journal. Name another one.")


def sound(records: Iterable[Found]) -> Iterator[Found]:
    """The records that are whole; of a damaged line it is said that it is left out."""
    for found in records:
        if found.record is None:
            render.say(f"a line of the journal is damaged: {found.line[:60].decode('utf-8', 'replace')!r}")
        else:
            yield found


def _event(name: str | None) -> str | None:
    if name is None or name in EVENTS:
        return name
    from anyhook.tables.registry import UnknownEvent, canonical_event

    try:
        return canonical_event(name, failed=False)
    except UnknownEvent as error:
        raise BadCall(f"--event: {error}") from None


def count_of(values: Values, key: str, default: int) -> int:
    """A whole number above nothing."""
    given = values.get(key)
    if given is None:
        return default
    if not str(given).isdecimal() or not 0 < int(str(given)) < 10**12:
        raise BadCall(f"--{key.replace('_', '-')} {given}: this must be a whole number, 1 or more.")
    return int(str(given))
