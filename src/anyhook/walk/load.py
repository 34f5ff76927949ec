"""Load: a source's declarations → hooks, entry by entry. Errors become problems; nothing is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.hook import Hook, Layer, Source

if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.tables.rows import Dialect


def load(dialect: Dialect, source: Source, files: Files) -> Layer:
    """What one source holds. If reading it fails, that is a problem, and the layer is empty."""
    from anyhook.tables.isolation import one_file

    before, files.owner = files.owner, (source.dialect, source.scope)
    try:
        with one_file(files, source):
            return dialect.load(source, files)
    finally:
        files.owner = before
    return Layer(source, ())


def builtins(dialect: Dialect) -> list[Hook]:
    """The hooks that are part of the product."""
    found = []
    for builtin in dialect.builtins:
        row = dialect.row(builtin.native_event)
        found.append(
            Hook(
                id=f"{dialect.name}:{builtin.name}",
                name=builtin.name,
                dialect=dialect.name,
                scope="builtin",
                source=dialect.name,
                place=(),
                root="",
                label="",
                native_event=builtin.native_event,
                events=row.canonical if row else (),
                matcher=None,
                handler="builtin",
                spec={},
                limit_s=0.0,
            )
        )
    return found
