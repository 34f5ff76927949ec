"""Folders outside the project that belong to a session: the agent's own notes, and where it works besides.
Asked only if a call changes something outside the project. Nothing is started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from anyhook.documents import edit
from anyhook.platform.places import head, home_of
from anyhook.state.entry_places import roots_of
from anyhook.state.repository import place_of
from anyhook.tables.registry import HOSTS, host, special

MAX_SETTINGS_BYTES = 1 << 20
MAX_WORKTREES = 100


def own_folders(agent: str, env: Mapping[str, str], project: str) -> tuple[str, ...]:
    """The folders in which an agent keeps plans, memory, tasks and scratch files, as patterns; those of all agents for
    a call that comes from none."""
    found: list[str] = []
    for name in [agent] if agent in HOSTS else HOSTS:
        roots = _roots(name, env, project)
        found += [path.format(**roots) for path in special(name, "OWN_FOLDERS") or () if roots]
    return tuple(found)


def working_folders(agent: str, env: Mapping[str, str], project: str, cwd: str) -> tuple[str, ...]:
    """The checkouts of the project's repository and of the one that the session has moved to, and the folders that the
    agent's user has added in its settings. (A project's own settings do not count: it could name any folder.)"""
    found = [*_checkouts(project), *(_checkouts(cwd) if cwd != project else ())]
    found += _added(agent, env, project) if agent in HOSTS else ()
    home = os.path.realpath(home_of(env))
    return tuple([each for each in dict.fromkeys(found) if not f"{home}/".startswith(f"{each.rstrip('/')}/")])


def _roots(agent: str, env: Mapping[str, str], project: str) -> dict[str, str]:
    entry = host(agent).entry
    return roots_of(entry, home_of(env), project, env) if entry is not None else {}


def _checkouts(folder: str) -> Iterator[str]:
    """The checkout that a folder is in, and all others of the same repository."""
    here = place_of(folder) if folder.startswith("/") else None
    if here is None:
        return
    yield here.root
    shared, worktrees = here.common, f"{here.common}/worktrees"
    others = [os.path.dirname(shared)] if os.path.basename(shared) == ".git" else []
    for name in sorted(os.listdir(worktrees))[:MAX_WORKTREES] if os.path.isdir(worktrees) else ():
        back = head(f"{worktrees}/{name}/gitdir") or b""
        others.append(os.path.dirname(back.decode("utf-8", "replace").strip()))
    for root in others:  # each has to say the same: a file in `.git` alone could name any folder
        there = place_of(root) if root.startswith("/") else None
        if there is not None and there.common == shared and there.root == root:
            yield root


def _added(agent: str, env: Mapping[str, str], project: str) -> list[str]:
    """The folders in the user's settings of the agent."""
    found: list[str] = []
    for path, syntax, keys in special(agent, "WORKING_FOLDERS") or ():
        text = head(path.format(**_roots(agent, env, project)), MAX_SETTINGS_BYTES) or b""
        try:
            named = edit.at(edit.read(text.decode("utf-8", "replace"), syntax), keys) if text else None
        except edit.CannotEdit:
            continue
        for each in named if isinstance(named, list) else ():
            folder = str(each).replace("~", home_of(env), 1) if str(each).startswith("~/") else str(each)
            if folder.startswith("/") and folder.count("/") > 1:
                found.append(os.path.realpath(folder))
    return found
