"""Self-protection: refuses tool calls of an agent that would edit anyhook's own files, or take our entry out of an
agent's config. It reads paths and command lines and runs nothing, so it is a fence, no sandbox."""

from __future__ import annotations

import os

from anyhook.documents.places import config_file, home_of, installs_index, real_path, state_dir
from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome

NAME = "self-protection"
FIX = "A person can do this outside the agent, or turn the guard off with `protect = false` in anyhook's settings."
WRITERS = ("write_file", "edit_file")
CHANGING = (
    "write", "edit", "create", "delete", "remove", "move", "rename", "append", "patch", "insert", "replace", "update",
    "save", "truncate", "copy", "upload", "download",
)  # fmt: skip
"""Words in the name of a tool that we do not know, by which it is taken to change the files it is given."""
OWN_NAMES = ("anyhook", "trust.json", "switches.json", "journal", "config.toml", "index.json")
"""Our own names. A link that leads to our folder is resolved if one of these follows it."""


def guard(event: Event, env: Mapping[str, str], project: str) -> Outcome | None:
    """A refusal, or nothing."""
    why = refusal(event, env, project)
    if why is None:
        return None
    from anyhook.model.outcome import BLOCK, Outcome

    return Outcome(verdict=BLOCK, reason=f"{why} {FIX}")


def refusal(event: Event, env: Mapping[str, str], project: str) -> str | None:
    """Why a tool call is not allowed; None if it is. Cheap if the call cannot mean our files."""
    given = event.data.get("input")
    if event.name != "pre_tool" or not isinstance(given, dict):
        return None
    entries = _entries(env)
    if not _may_matter(given, env, entries):
        return None
    from anyhook.tables.translate import restored

    ours = restored(given, event.inputs) if event.inputs else given
    tool = event.ours or str(event.data.get("tool"))
    if tool in WRITERS:
        return _writes(ours, env, project, entries)
    if not isinstance(ours.get("command"), str):
        return _changes(tool, ours, env, project, entries)
    from anyhook.guard.shell import Protected, runs

    return runs(str(ours["command"]), Protected(env, project, own_folders(env), tuple(entries)))


def _may_matter(given: dict[str, Json], env: Mapping[str, str], entries: list[str]) -> bool:
    """Whether any text of the input could name us, a file that holds our entry, or a folder above them."""
    texts = list(lean_json.every_text(given))
    names = {"~", "$", "`", home_of(env), *OWN_NAMES}
    for path in (*own_folders(env), *entries):
        names.update(path.rsplit("/", 3)[1:])
    return any(name in text for name in names if name for text in texts)


def own_folders(env: Mapping[str, str]) -> tuple[str, str]:
    """Where everything is ours."""
    return state_dir(env), os.path.dirname(config_file(env))


def _entries(env: Mapping[str, str]) -> list[str]:
    """The files of agents that hold our entry."""
    try:
        with open(installs_index(state_dir(env)), "rb") as file:
            found = lean_json.loads(file.read().decode())
    except (OSError, ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []


def _writes(given: dict[str, Json], env: Mapping[str, str], project: str, entries: list[str]) -> str | None:
    named = given.get("path")
    if not isinstance(named, str):
        return None
    path = _real(named, env, project)
    if _is_own(path, env):
        return f"{path} is anyhook's own."
    if path not in map(os.path.realpath, entries):
        return None
    from anyhook.guard.entries import loses

    return f"{path} holds the entry by which anyhook is called, and would lose it." if loses(path, given) else None


def _changes(tool: str, given: dict[str, Json], env: Mapping[str, str], project: str, entries: list[str]) -> str | None:
    """A tool that we do not know, by its name and by the paths that it is given."""
    if not any(word in tool.lower() for word in CHANGING):
        return None
    held = [os.path.realpath(entry) for entry in entries]
    for text in lean_json.every_text(given):
        if "/" in text and "\n" not in text:
            path = _real(text, env, project)
            if path in held or _is_own(path, env):
                return f"`{tool}` names {path}, which is anyhook's or holds its entry, and may change it."
    return None


def _real(path: str, env: Mapping[str, str], project: str) -> str:
    return real_path(os.path.join(project, home_of(env) + path[1:] if path.startswith("~/") else path))


def _is_own(path: str, env: Mapping[str, str]) -> bool:
    reals = [os.path.realpath(own) for own in own_folders(env)]
    return any(path == real or path.startswith(f"{real}/") for real in reals)
