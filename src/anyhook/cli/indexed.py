"""The journal's index for a verb: brought up to date with a bar on the terminal; one sentence where it cannot be."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager

from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import look_for_cycles_seldom
from anyhook.cli.progress import progress
from anyhook.journal.index import index_path, open_index, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def indexed(folder: str, kind: str, since_ns: int | None = None) -> Iterator[sqlite3.Connection]:
    """The index, as new as the journal, for what happened since."""
    look_for_cycles_seldom()
    index: sqlite3.Connection | None = None
    try:
        index = open_index(folder)
        update(index, folder, kind, progress("reading the journal"), since_ns)
        yield index
    except (sqlite3.Error, OSError) as error:
        raise BadCall(
            f"the index of the journal cannot be used: {error} ({index_path(folder)}). "
            "Make the state directory writable, or delete the index; it is made anew."
        ) from None
    finally:
        if index is not None:
            index.close()
