"""Upward: how far above a folder a dialect's project files count. It is asked before every event, so it costs one look
for each folder on the way and reads nothing."""

from __future__ import annotations

import os

from anyhook.model.xdg import home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def outermost(project: str, env: Mapping[str, str]) -> str:
    """The last folder that counts: the repository's root; below the home directory no further than the folder under
    it; outside both, the folder itself. `project` is a real path."""
    home = os.path.realpath(home_of(env))
    folder = project
    while folder != home or home == "/":
        if os.path.exists(f"{folder}/.git"):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            break
        if above == home != "/":  # a home that is not known, or is the root, bounds nothing
            return folder
        folder = above
    return project


def repository_root(project: str, env: Mapping[str, str]) -> str | None:
    """The root of the repository that a folder is in, as far as it counts; None outside one."""
    found = outermost(project, env)
    return found if os.path.exists(f"{found}/.git") else None


def upward(project: str, outer: str) -> list[str]:
    """The folders from the project to the last that counts, the nearest first."""
    found = [project]
    while found[-1] != outer and found[-1] != os.path.dirname(found[-1]):
        found.append(os.path.dirname(found[-1]))
    return found
