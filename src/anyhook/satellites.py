"""How the core asks for a satellite (a folder of `extra/`): by name, so that it works where that folder is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

SATELLITES = {
    "agent": "our own agent and its chat",
    "frameworks": "the adapters for agent frameworks and the MCP proxy",
    "testing": "the test kit, the conformance vectors and the scaffolding of new hooks",
    "live": "the stage on which real agents are tried",
    "warm": "the server that keeps anyhook loaded",
}
"""Each folder of `extra/`, and what it holds."""
PACKAGE = "anyhook.extra"
POSIX = ("fcntl", "pty", "pwd", "resource", "termios", "tty")
"""Modules of Python that only POSIX systems have."""


class Missing(Exception):  # noqa: N818 (it says what is wrong)
    """A satellite is not installed. The text says which, and what to do."""


def missing(error: ImportError) -> Missing | None:
    """What to tell a person about a module that was not found: which satellite lacks. None if it is another module's
    fault, such as a package that is not installed."""
    name = error.name or ""
    folder = name.removeprefix(f"{PACKAGE}.").partition(".")[0]  # an empty folder may be left where it was
    if name == PACKAGE:
        return Missing("this installation lacks everything but its core (the folder `extra`). Install anyhook again.")
    if not name.startswith(f"{PACKAGE}.") or folder not in SATELLITES:
        return None
    return Missing(
        f"this installation lacks {SATELLITES[folder]} (the folder `extra/{folder}`). Install anyhook again."
    )


def part(name: str) -> ModuleType | None:
    """A module of a satellite, such as `live.check`. None if that satellite, or another one that it needs, is not
    installed."""
    try:
        return needed(name)
    except Missing:
        return None


def needed(name: str) -> ModuleType:
    """The same. Raises Missing instead."""
    try:
        module: ModuleType = __import__(f"{PACKAGE}.{name}", fromlist=("",))
    except ModuleNotFoundError as error:
        lacking = missing(error)
        if error.name in POSIX:
            folder = name.partition(".")[0]
            lacking = Missing(f"{SATELLITES[folder]}: this system cannot run it (Python has no `{error.name}` here).")
        if lacking is None:
            raise  # a satellite that is there, and needs a package that is not
        raise lacking from error
    return module
