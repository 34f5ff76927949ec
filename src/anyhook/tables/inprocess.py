"""In-process hooks: callables that an embedding program registers with the engine. They have no files and no time
limit, see events with canonical names, and run before the hooks of every other dialect."""

from __future__ import annotations

from anyhook.documents.files import Files
from anyhook.model.event import EVENTS
from anyhook.model.hook import Hook, Layer, Source
from anyhook.tables.cells import whole_value
from anyhook.tables.readers import whole_object
from anyhook.tables.rows import BLOCKS, Dialect, EventRow, Launch, Reply, Roots, Scene


def _nowhere(_roots: Roots) -> list[Source]:
    return []


def _nothing(source: Source, _files: Files) -> Layer:
    return Layer(source, ())


def _no_process(_hook: Hook, scene: Scene) -> Launch:
    return Launch((), {}, scene.project)


def _no_files(_hook: Hook, _files: Files, _project: str, _home: str) -> tuple[str, ...]:
    return ()


DIALECT = Dialect(
    name="inprocess",
    title="In-process callables",
    files=(),
    find=_nowhere,
    load=_nothing,
    events=tuple(
        EventRow(name, (name,), BLOCKS.get(name, "advisory"), target=fields[0] if fields else None)
        for name, fields in EVENTS.items()
    ),
    base=(),
    match=whole_value,
    launch=_no_process,
    names=_no_files,
    replies={"callable": Reply(read=whole_object, keys=())},
    limits={},
    chains=("input", "prompt", "output"),
)
