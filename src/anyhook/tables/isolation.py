"""Isolation: whatever goes wrong with one layer of hooks, even in our own code, drops only that layer, with a problem.
A project's content must never decide whether the user's own hooks answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from anyhook.documents.files import Files
    from anyhook.model.hook import Source
    from anyhook.model.words import HookScope

FAILED = "layer-failed"
"""The code of a layer that was dropped. Its problem names file, dialect and scope, so that the layer can be counted
among those that cannot be read."""


class Isolated:
    """A stretch of work on one layer: `with Isolated(files, …) as work:`. An exception ends it and becomes a problem;
    `work.failed` says afterwards whether that happened."""

    def __init__(self, files: Files, where: str, what: str, dialect: str = "", scope: HookScope = "") -> None:
        self.files, self.where, self.what, self.dialect, self.scope = files, where, what, dialect, scope
        self.failed = False

    def __enter__(self) -> Isolated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.failed = True
        self.files.problem(
            "layer-failed",
            self.what,
            self.where,
            error_line(error),
            "Remove what is unusual in the file, and report this line; other hooks are not affected.",
            dialect=self.dialect,
            scope=self.scope,
        )
        return True


def one_file(files: Files, source: Source, path: str = "") -> Isolated:
    """Work on one file of a source."""
    what = "these hooks are not used: reading them failed"
    return Isolated(files, path or source.path, what, source.dialect, source.scope)


def error_line(error: BaseException) -> str:
    """An exception in one line of reasonable length; it never raises."""
    try:
        said = " ".join(str(error).split())[:200]
    except Exception:  # noqa: BLE001 (its own words may be what is broken)
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
