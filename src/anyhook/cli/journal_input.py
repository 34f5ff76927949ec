"""The options of a call → a journal query."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from sqlite3 import Error

from anyhook.cli import BadCall, render
from anyhook.cli.options import Options, option
from anyhook.cli.view.progress import progress
from anyhook.journal.files import UnreadableJournal
from anyhook.journal.machines import machines_in
from anyhook.journal.read import JournalLine
from anyhook.journal.run_index import Runs, index_elsewhere, index_path, known_runs
from anyhook.journal.search import Wanted
from anyhook.journal.timespec import parse_time
from anyhook.journal.writer import current_path, full_paths
from anyhook.model.event import EVENTS
from anyhook.model.outcome import STRENGTH
from anyhook.platform.places import state_dir
from anyhook.tables.registry import UnknownEvent, canonical_event


class FromOption(Options):
    from_: str | None = option("--from", "Read this directory, which `anyhook ship` filled, instead.", "DIR")


class MachineOption(FromOption):
    machine: str | None = option("--machine", "Only the machine of `--from` whose name begins with this.", "NAME")


def index_of(options: FromOption, folder: str) -> str:
    """The index of that folder. That of a directory is in the reader's own state: others share the directory."""
    return index_path(folder) if options.from_ is None else index_elsewhere(state_dir(os.environ), folder)


@contextmanager
def runs_of(folder: str, index: str, since_ns: int | None) -> Iterator[Runs]:
    """The runs of a folder's hooks, from the index, which is brought up to date."""
    try:
        with progress("reading the journal") as tell, known_runs(folder, tell, since_ns, index) as runs:
            yield runs
    except UnreadableJournal:
        raise
    except (Error, OSError) as error:
        raise BadCall(
            f"the index of the journal cannot be used: {error} ({index}). "
            "Make the state directory writable, or delete the index; it is rebuilt."
        ) from None


def folder_of(options: FromOption) -> str:
    """The folder to read: the journal of this user, or a directory with those of many machines."""
    if options.from_ is None:
        return state_dir(os.environ)
    folder = os.path.realpath(options.from_)
    if not os.path.isdir(folder):
        raise BadCall(f"--from {options.from_}: this is not a directory.")
    if not machines_in(folder) and not os.path.exists(current_path(folder)) and not full_paths(folder):
        raise BadCall(f"--from {options.from_}: there is no journal here. `anyhook ship --to {folder}` brings one.")
    return folder


class EventFilter(Options):
    """Selects events of the journal."""

    since: str | None = option("--since", "Only from this time on: 2h, 3d, today, 2026-11-15T10:30.", "TIME")
    until: str | None = option("--until", "Only before this time.", "TIME")
    session: str | None = option("--session", "Only this session.", "ID")
    agent: str | None = option("--agent", "Only events from this agent; also fire, library, agent.", "AGENT")
    event: str | None = option("--event", "Only this event; any of its names.", "EVENT")
    tool: str | None = option("--tool", "Only this tool.", "NAME")
    verdict: str | None = option("--verdict", "Only this verdict.", "VERDICT", choices=tuple(STRENGTH))


class JournalFilter(EventFilter):
    """The same, for any project or hook."""

    project: str | None = option("--project", "Only this project.", "DIR")
    hook: str | None = option("--hook", "Only where a hook was reached whose id contains this.", "ID")


class TextFilter(Options):
    text: str | None = option("--text", "Only records that contain this text, in any case.", "TEXT")


class RecordFilter(TextFilter, JournalFilter):
    """All filters of a journal search."""


def wanted_of(options: EventFilter, since: str | None = None) -> Wanted:
    """The options, checked. `since` is the default if the call has no --since."""
    project = options.project if isinstance(options, JournalFilter) else None
    return Wanted(
        time_of("--since", since if options.since is None else options.since),
        time_of("--until", options.until),
        options.session,
        None if project is None else os.path.realpath(project),
        options.agent,
        _event(options.event),
        options.tool,
        options.hook if isinstance(options, JournalFilter) else None,
        options.verdict,
        options.text if isinstance(options, TextFilter) else None,
        options.machine if isinstance(options, MachineOption) else None,
    )


def time_of(flag: str, given: str | None) -> int | None:
    """A point in time, in nanoseconds."""
    try:
        return None if given is None else parse_time(given, datetime.now())
    except ValueError as error:
        raise BadCall(f"{flag}: {error}") from None


def look_for_cycles_seldom() -> None:
    """For a verb that reads very many records: they are trees, so searching them for cycles wastes time."""
    gc.set_threshold(50_000, 20, 100)


def check_not_journal(option: str, path: str, folder: str) -> None:
    """Refuse to overwrite a file of the journal."""
    if os.path.realpath(path) in map(os.path.realpath, (current_path(folder), *full_paths(folder))):
        raise BadCall(f"{option} {path}: this is a file of the journal. Name another one.")


def sound(records: Iterable[JournalLine]) -> Iterator[JournalLine]:
    """The intact records. Damaged lines are reported and skipped."""
    for found in records:
        if found.record is None:
            render.say(f"a line of the journal is damaged: {found.raw[:60].decode('utf-8', 'replace')!r}")
        else:
            yield found


def _event(name: str | None) -> str | None:
    if name is None or name in EVENTS:
        return name
    try:
        return canonical_event(name, failed=False)
    except UnknownEvent as error:
        raise BadCall(f"--event: {error}") from None


def count_of(flag: str, given: str | None, default: int) -> int:
    """A whole number, 1 or more."""
    if given is None:
        return default
    if not given.isdecimal() or not 0 < int(given) < 10**12:
        raise BadCall(f"{flag} {given}: must be a whole number, 1 or more.")
    return int(given)


# -- a filter typed into a live view: `tool:Bash verdict:block rm -rf`. The names are the options of `anyhook log`;
# the rest is text to find


class _Typed(RecordFilter, MachineOption):
    """What can be typed."""


NAMED = {row.key: row for row in _Typed.rows if row.key not in ("text", "from_")}


def wanted_by(query: str) -> Wanted:
    """Raises BadCall for an invalid value."""
    values: dict[str, str | None] = {}
    words: list[str] = []
    for word in query.split():
        name, colon, value = word.partition(":")
        if not colon or name not in NAMED:
            words.append(word)
            continue
        choices = NAMED[name].choices
        if choices and value and value not in choices:
            raise BadCall(f"{name}:{value}: one of {', '.join(choices)} is needed.")
        values[name] = value or None  # a value that is still being typed
    values["text"] = " ".join(words) or None
    return wanted_of(_Typed.of(values))


def like(line: JournalLine) -> list[str]:
    """Filters for similar records: same session, agent, tool or deciding hook. Values with spaces are left out, because
    they cannot be typed."""
    decided = line.background or (line.decision.hook if line.decision is not None else None)
    parts = {
        "machine": line.machine or None,
        "session": line.session,
        "agent": line.host,
        "tool": line.tool,
        "hook": decided,
    }
    return [
        f"{name}:{value}"
        for name, value in parts.items()
        if value is not None and value.isprintable() and len(value.split()) == 1
    ]
