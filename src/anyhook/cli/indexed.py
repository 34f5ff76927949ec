"""The journal's index for a verb: brought up to date with a bar on the terminal; one sentence where it cannot be."""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import contextmanager

from anyhook.cli.bars import bar
from anyhook.cli.failure import BadCall
from anyhook.journal.index import index_path, open_index, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def indexed(folder: str, kind: str) -> Iterator[sqlite3.Connection]:
    """The index, as new as the journal."""
    index: sqlite3.Connection | None = None
    try:
        index = open_index(folder)
        update(index, folder, kind, progress("reading the journal"))
        yield index
    except (sqlite3.Error, OSError) as error:
        raise BadCall(
            f"the index of the journal cannot be used: {error} ({index_path(folder)}). "
            "Make the state directory writable, or delete the index; it is made anew."
        ) from None
    finally:
        if index is not None:
            index.close()


def progress(what: str) -> Callable[[int, int], None]:
    """Says on a terminal how far a long reading has come, and wipes that out at the end."""
    shown = 0.0

    def tell(done: int, all_of_it: int) -> None:
        nonlocal shown
        if not sys.stderr.isatty() or (time.monotonic() - shown < 0.2 and done < all_of_it):
            return
        part = done / all_of_it if all_of_it else 1.0
        if part < 1.0:
            shown = time.monotonic()
            sys.stderr.write(f"\r{what} {bar(part, 1.0, 30)} {part:4.0%}")
        elif shown:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    return tell
