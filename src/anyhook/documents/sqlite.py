"""Other programs' SQLite files, read and never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

from anyhook.model.json_types import Json


def rows(path: str, query: str, given: tuple[str | float, ...] = ()) -> Iterator[tuple[Json, ...]]:
    """What a query with these values finds; OSError where the file cannot be read, or has other tables than the query
    asks for."""
    try:
        opened = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=5.0)
        try:
            yield from opened.execute(query, given)
        finally:
            opened.close()
    except sqlite3.Error as error:
        raise OSError(0, str(error), path) from None
