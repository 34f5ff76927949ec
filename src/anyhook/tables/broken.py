"""A broken agent: one whose table cannot be loaded. It is listed as a dialect that declares nothing and reports what is
wrong, so its hooks are never silently off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.hook import Layer, Source
from anyhook.tables.cells import everything
from anyhook.tables.registry import BadTable
from anyhook.tables.rows import Dialect, Launch

if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook
    from anyhook.tables.rows import Roots, Scene


def broken(name: str, module: str, error: Exception) -> Dialect:
    why = str(error) if isinstance(error, BadTable) else f"{type(error).__name__}: {error}"

    def find(_roots: Roots) -> list[Source]:
        return [Source(name, "user", module, "")]

    def load(source: Source, files: Files) -> Layer:
        files.problem(
            "broken-agent",
            f"the agent `{name}` cannot be loaded; none of its hooks runs",
            module,
            why,
            f"Correct or remove the package that brings `{module}`.",
        )
        return Layer(source, ())

    return Dialect(
        name=name,
        title=name,
        files=(),
        find=find,
        load=load,
        events=(),
        base=(),
        match=everything,
        launch=_launch,
        names=_names,
        replies={},
        limits={},
    )


def _launch(_hook: Hook, scene: Scene) -> Launch:
    return Launch((), {}, scene.project)


def _names(_hook: Hook, _files: Files, _project: str, _home: str) -> tuple[str, ...]:
    return ()
