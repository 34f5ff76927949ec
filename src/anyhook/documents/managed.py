"""Where the organisation keeps its settings and rules, and whether a file there is believed: only root may have written
it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.documents.files import Files
    from anyhook.model.words import HookScope

PLACE, VARIABLE = "/etc/anyhook", "ANYHOOK_MANAGED_DIR"
SCOPE: HookScope = "managed"


def managed_dir(env: Mapping[str, str]) -> str:
    """The folder. A variable, which tests set, names another folder only if the organisation has none: otherwise it
    could turn the organisation's rules off."""
    named = env.get(VARIABLE, "")
    return named if named.startswith("/") and not os.path.isdir(PLACE) else PLACE


def believed(path: str, files: Files) -> bool:
    """Whether a file of this tier counts. One that others than root could have written is reported and ignored."""
    if files.look(path) is None:
        return False
    why = _not_by_root(path)
    if why:
        fix = f"Give it back to root: chown root: {path}; chmod go-w {path}, and the same for its folder."
        files.problem("managed-not-root", "the organisation's file is ignored", path, why, fix, scope=SCOPE)
    return not why


def _not_by_root(path: str) -> str:
    real = os.path.realpath(path)
    for each in dict.fromkeys((os.path.dirname(path), os.path.dirname(real), real)):
        try:
            seen = os.stat(each)
        except OSError as error:
            return f"{each} cannot be looked at ({error.strerror})"
        if seen.st_uid != 0:
            return f"{each} belongs to user {seen.st_uid}, not to root"
        if seen.st_mode & 0o022:
            return f"others than root can write {each}"
    return ""
