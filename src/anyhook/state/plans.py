"""Compiled plans: a catalog kept as plain values, good as long as every file it came from looks the same. It is
read before anything else is imported, so it uses built-in modules only; a plan that is missing, old or damaged is
simply made anew."""

from __future__ import annotations

import marshal
import os

from anyhook.documents.stamps import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SETTLED_NS = 50_000_000
"""A file that changed so short a time ago may change again without its stamp showing it; such a catalog is not kept."""


def plan_key(
    version: str,
    env: Mapping[str, str],
    variables: tuple[str, ...],
    project: str,
    dialects: tuple[str, ...],
    trust: str,
    plugin_dirs: tuple[str, ...],
    state_dir: str | None,
) -> tuple[object, ...]:
    """Everything but the files that decides what a catalog holds."""
    seen = tuple(env.get(name) for name in variables)
    return (version, project, dialects, trust, plugin_dirs, state_dir, seen)


def plan_path(own_dir: str, key: tuple[object, ...]) -> str:
    """A file name per key. Two keys of one name cost a look at the files, no more, so a plain checksum will do;
    those of the library are shared objects, and loading one costs more than this loop."""
    checksum = 0
    for byte in repr(key).encode("utf-8", "surrogateescape"):
        checksum = (checksum * 131 + byte) & 0xFFFF_FFFF_FFFF_FFFF
    return f"{own_dir}/plans/{checksum:016x}"


def read_plan(own_dir: str, key: tuple[object, ...]) -> dict[str, object] | None:
    """The plan, if every file still looks as it did when the plan was made."""
    try:
        with open(plan_path(own_dir, key), "rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid != os.geteuid() or (state.st_mode | os.stat(own_dir).st_mode) & 0o022:
                return None
            plan: dict[str, object] = marshal.loads(file.read())  # noqa: S302 (our own file, for its owner only)
        if plan["key"] != key:
            return None
        stamps: dict[str, object] = plan["stamps"]  # type: ignore[assignment]
        for path, seen in stamps.items():
            if stamp(path) != seen:
                return None
    except Exception:  # noqa: BLE001 (whatever is wrong with it, the files know better)
        return None
    return plan


def keep_plan(own_dir: str, key: tuple[object, ...], plan: dict[str, object], begun_ns: int) -> None:
    """Keeps a plan, unless one of its files had only just changed when the reading began."""
    stamps: dict[str, tuple[int, ...] | None] = plan["stamps"]  # type: ignore[assignment]
    youngest = max((max(seen[0], seen[1]) for seen in stamps.values() if seen), default=0)
    if begun_ns - youngest < SETTLED_NS:
        return
    from anyhook.state.places import write_private

    try:
        write_private(plan_path(own_dir, key), marshal.dumps({**plan, "key": key}))
    except (OSError, ValueError):
        return  # the next one is made from the files again
