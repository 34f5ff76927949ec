"""`anyhook log`: print the journal or a part of it, oldest first."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import chain

from anyhook.cli import BadCall, render
from anyhook.cli.journal_input import MachineOption, RecordFilter, count_of, folder_of, sound, wanted_of
from anyhook.cli.options import option, switch
from anyhook.cli.standing import here
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import wants_colour
from anyhook.cli.view.log_line import log_line
from anyhook.cli.view.rows import Row, row_of
from anyhook.journal.read import JournalLine
from anyhook.journal.search import follow, newest, search

MAX_TEXT = 2_000
"""How many characters of one text a line shows, if no terminal cuts it earlier."""
MACHINE_FIELD = "anyhook.machine"
LOOK_S = 0.2
"""How often `--follow` checks for new records."""


class LogOptions(RecordFilter, MachineOption):
    search: str | None = option("--search", "Only records that contain all these words, in any order.", "WORDS")
    last: str | None = option("--last", "Only the last N.", "N", short="-n")
    follow: bool = switch("--follow", "Print the last ten, then new records as they come; Ctrl-C stops it.", short="-f")
    json: bool = switch("--json", "Print the raw records, one JSON object per line.")


@verb("log", LogOptions, "anyhook log --since 2h --verdict block")
def log(options: LogOptions) -> int:
    """Print the journal of fired events, oldest first."""
    wanted, folder, as_json = wanted_of(options), folder_of(options), options.json
    if options.search is not None:
        if not options.search.split():
            raise BadCall("--search: give at least one word.")
        wanted = wanted.replace(words=tuple(options.search.split()))
    if not as_json and options.from_ is None and (off := here()()):
        render.say(off)
    if options.follow:
        for found in follow(folder, wanted, count_of("--last", options.last, 10)):
            if found is None:
                time.sleep(LOOK_S)
            elif not show_records([found], as_json=as_json):
                return 0
    most = count_of("--last", options.last, 0)
    records = iter(newest(folder, wanted, most) if most else search(folder, wanted))
    first = next(records, None)
    if first is None:
        render.say("The journal has no such record." if os.path.isdir(folder) else "Nothing was recorded yet.")
        return 0
    show_records(chain([first], records), as_json=as_json)
    return 0


def show_records(records: Iterable[JournalLine], *, as_json: bool = False) -> bool:
    """Print them; False if nobody reads the output any more."""
    return render.many_out(_as_written(records) if as_json else _for_people(records))


def _as_written(records: Iterable[JournalLine]) -> Iterator[str]:
    return map(_raw, sound(records))


def _raw(found: JournalLine) -> str:
    """The line as it is written. Of many machines, the one that it is from is put behind its last field, under a name
    that no record has."""
    line = found.raw.decode("utf-8", "replace").rstrip("\n")
    return f'{line.rstrip()[:-1]}, "{MACHINE_FIELD}": {json.dumps(found.machine)}}}' if found.machine else line


def _for_people(records: Iterable[JournalLine]) -> Iterator[str]:
    room, colour = render.columns(), wants_colour(os.environ)
    rows = (row_of(found, MAX_TEXT) for found in sound(records))
    if render.only_ascii():
        # Our own marks are replaced; what was recorded is escaped, so that it stays what it was.
        return (render.legible(log_line(_escaped(row), room, colour=colour)) for row in rows)
    return (log_line(row, room, colour=colour) for row in rows)


def _escaped(row: Row) -> Row:
    signs = render.ESCAPED_SIGNS
    return row.replace(about=row.about.translate(signs), reason=row.reason.translate(signs))
