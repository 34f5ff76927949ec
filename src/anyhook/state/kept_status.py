"""Kept status: what `anyhook status` printed, valid while every file that it looked at is the same. A shell prompt
asks for it before each line, so nothing else is loaded for it; if it is missing, old or damaged, it is computed
again."""

from __future__ import annotations

import marshal
import os
import sys

from anyhook.platform.places import SETTLED_NS, Stamp, believed_dir, is_unchanged, stamp
from anyhook.platform.store import Store, slot_of
from anyhook.state.plans import Setup, plan_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Printed = tuple[str, str, int]
    """stdout, stderr and the exit status."""

SEEN = ("PATH", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM", "LANG", "LC_ALL", "PYTHONIOENCODING")
"""Variables that decide what is printed, besides those that decide what a catalog has."""
PLAIN = ("--json", "--short")


def kept_status(words: Sequence[str]) -> Printed | None:
    """What the same call printed before; None if it has to be computed, and for a terminal that shows colours."""
    project, words = _project(words)
    if any(word not in PLAIN for word in words) or ("--short" not in words and sys.stdout.isatty()):
        return None
    try:
        setup = Setup.of(project or os.getcwd(), os.environ)
        own_dir, key = believed_dir(setup.env, setup.project, setup.outer), _key(setup, words)
        data = Store(own_dir, "plans").read(_name(key))
        if data is None or os.stat(own_dir).st_mode & 0o022:
            return None
        made, stamps, contents, printed = marshal.loads(data)  # noqa: S302 (our own file, for its owner only)
        if made != key:
            return None
        for path, seen in stamps.items():
            if stamp(path) != seen:
                return None
        if not is_unchanged(contents):
            return None
    except Exception:  # noqa: BLE001 (whatever is wrong with it, the files know better)
        return None
    found: Printed = printed
    return found


def _project(words: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that the words name, and the other words."""
    if "--project" not in words[:-1]:
        return "", list(words)
    at = words.index("--project")
    return words[at + 1], [*words[:at], *words[at + 2 :]]


def keep_status(
    setup: Setup,
    words: Sequence[str],
    stamps: Mapping[str, Stamp | None],
    contents: Mapping[str, str],
    printed: Printed,
    begun_ns: int,
) -> None:
    """Store it, unless one of the files had just changed when the look began."""
    youngest = max((max(seen[0], seen[1]) for seen in stamps.values() if seen), default=0)
    if begun_ns - youngest < SETTLED_NS or any(word not in PLAIN for word in words):
        return
    key = _key(setup, words)
    try:
        kept: Any = (key, dict(stamps), dict(contents), printed)
        Store(setup.own_dir(), "plans").write(_name(key), marshal.dumps(kept))
    except (OSError, ValueError):
        return  # the next one works it out again


def _key(setup: Setup, words: Sequence[str]) -> tuple[object, ...]:
    return (setup.key(), os.getcwd(), tuple(sorted(words)), tuple([setup.env.get(name) for name in SEEN]))


def _name(key: tuple[object, ...]) -> str:
    """The key of its file: widths of terminals and values of `PATH` share a few."""
    setup_key, *others, seen = key
    assert isinstance(setup_key, tuple)  # noqa: S101 (`_key`)
    return repr(("status", plan_name(setup_key), others, slot_of(seen)))
