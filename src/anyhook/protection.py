"""Self-protection: refuses tool calls of an agent that would edit anyhook's own files, or take our entry out of an
agent's config. It looks at names and texts only, so it is a fence against accidents and simple tricks, no sandbox."""

from __future__ import annotations

import os

from anyhook.grammar.xdg import home_of
from anyhook.stores.places import config_file, state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome

NAME = "self-protection"
FIX = "A person can do this outside the agent, or turn the guard off with `protect = false` in anyhook's settings."
WRITERS = ("write_file", "edit_file")
READERS = frozenset(
    {
        "cat",
        "ls",
        "head",
        "tail",
        "grep",
        "egrep",
        "rg",
        "less",
        "more",
        "wc",
        "stat",
        "file",
        "jq",
        "diff",
        "cmp",
        "md5sum",
    }
)
"""Programs that only look."""
DECIDING = ("trust", "install", "uninstall", "enable", "disable")
"""Verbs of ours that are a person's to use."""
OUR_ENTRY = "anyhook bridge"


def guard(event: Event, env: Mapping[str, str], project: str) -> Outcome | None:
    """A refusal, or nothing."""
    why = refusal(event, env, project)
    if why is None:
        return None
    from anyhook.model.outcome import BLOCK, Outcome

    return Outcome(verdict=BLOCK, reason=f"{why} {FIX}")


def refusal(event: Event, env: Mapping[str, str], project: str) -> str | None:
    """Why a tool call may not be made; None where it may. Cheap where nothing of ours is named."""
    given = event.data.get("input")
    if event.name != "pre_tool" or not isinstance(given, dict):
        return None
    if not _may_matter(given, env):
        return None
    from anyhook.steps.translate import restored

    ours = restored(given, event.inputs) if event.inputs else given
    tool = event.ours or str(event.data.get("tool"))
    if tool in WRITERS:
        return _writes(ours, env, project)
    return _runs(str(ours["command"]), env) if isinstance(ours.get("command"), str) else None


def _may_matter(given: dict[str, Json], env: Mapping[str, str]) -> bool:
    """Whether any text of the input names us, or a file that holds our entry."""
    texts = [text for text in given.values() if isinstance(text, str)]
    if any("anyhook" in text for text in texts):
        return True
    tails = [path.rsplit("/", 1)[-1] for path in _entries(env)]
    return any(tail in text for tail in tails for text in texts)


def _entries(env: Mapping[str, str]) -> list[str]:
    """The files of agents that hold our entry."""
    from anyhook.model import lean_json

    try:
        with open(f"{state_dir(env)}/installs/index.json", "rb") as file:
            found = lean_json.loads(file.read().decode())
    except (OSError, ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []


def _writes(given: dict[str, Json], env: Mapping[str, str], project: str) -> str | None:
    path = given.get("path")
    if not isinstance(path, str):
        return None
    home = home_of(env)
    path = os.path.realpath(os.path.join(project, home + path[1:] if path.startswith("~/") else path))
    for own in (state_dir(env), os.path.dirname(config_file(env))):
        real = os.path.realpath(own)
        if path == real or path.startswith(f"{real}/"):
            return f"{path} is anyhook's own."
    if path not in map(os.path.realpath, _entries(env)):
        return None
    old, new, content = (str(given.get(key) or "") for key in ("old_text", "new_text", "content"))
    loses = OUR_ENTRY in old and OUR_ENTRY not in new if "old_text" in given else OUR_ENTRY not in content
    return f"{path} holds the entry by which anyhook is called, and would lose it." if loses else None


def _runs(command: str, env: Mapping[str, str]) -> str | None:
    for words in _commands(command):
        names = [word.rsplit("/", 1)[-1] for word in words]
        for index, name in enumerate(names[:-1]):
            if name == "anyhook" and names[index + 1] in DECIDING:
                return f"`anyhook {names[index + 1]}` is for people."
    if not any(spelled in command for spelled in _spellings(env)):
        return None
    if ">" not in command and all(words[0].rsplit("/", 1)[-1] in READERS for words in _commands(command)):
        return None
    return "The command names files of anyhook, or one that holds its entry, and may change them."


def _spellings(env: Mapping[str, str]) -> Iterator[str]:
    """The ways in which a shell line may name what is protected."""
    home = home_of(env)
    for path in (state_dir(env), os.path.dirname(config_file(env)), *_entries(env)):
        yield path
        if path.startswith(f"{home}/"):
            yield path[len(home) + 1 :]


def _commands(line: str) -> list[list[str]]:
    """The commands of a shell line, each as its words without variables in front."""
    from anyhook.grammar.permission_rules import OPERATORS

    for operator in OPERATORS:
        line = line.replace(operator, "\0")
    found = []
    for part in line.split("\0"):
        words = part.replace('"', " ").replace("'", " ").split()
        while words and "=" in words[0]:
            words = words[1:]
        if words:
            found.append(words)
    return found
