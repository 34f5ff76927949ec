"""Where anyhook's own files are, and how small ones are read and written: as a whole, for their owner only."""

from __future__ import annotations

import os

from anyhook.documents.write import replace_file
from anyhook.model import lean_json
from anyhook.model.xdg import base_of, home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json


def state_dir(env: Mapping[str, str]) -> str:
    """Approvals, journal, compiled plans."""
    return base_of(env, "XDG_STATE_HOME", ".local/state") + "/anyhook"


def installs_index(state_dir: str) -> str:
    """The file that says which files of agents hold our entry."""
    return f"{state_dir}/installs/index.json"


NO_LOCKS = (22, 37, 38, 95)
"""EINVAL, ENOLCK, ENOSYS, ENOTSUP: what `flock` says on a file system without locks."""
NOWHERE = "/dev/null/anyhook"
"""A folder that can neither be there nor be made."""


def believed_dir(env: Mapping[str, str], project: str) -> str:
    """The state folder as far as its records may be believed: not one inside the project, which the project could have
    brought along. A project that holds the home folder holds the state folder by right."""
    folder = state_dir(env)
    return NOWHERE if lies_in(folder, project) and not lies_in(home_of(env), project) else folder


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it, by identity: letters differ where links, mounts or upper case do."""
    try:
        wanted = os.stat(folder)
    except OSError:
        return False
    path = os.path.realpath(path)
    while True:
        try:
            seen = os.stat(path)
            if (seen.st_ino, seen.st_dev) == (wanted.st_ino, wanted.st_dev):
                return True
        except OSError:
            pass  # not there yet; its parents may be
        path, below = os.path.dirname(path), path
        if path == below:
            return False


def real_path(path: str) -> str:
    """A path of somebody else's as the system would find it. What no path can hold, a NUL or half a character, must not
    end the question: it is left out or replaced, as agents do."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return os.path.realpath(path.replace("\0", "").encode("utf-8", "replace").decode())


def config_file(env: Mapping[str, str]) -> str:
    """The user's settings."""
    return base_of(env, "XDG_CONFIG_HOME", ".config") + "/anyhook/config.toml"


def make_private_dir(folder: str) -> None:
    """Creates one of our folders, with its parents, for its owner only."""
    if folder and not os.path.isdir(folder):
        make_private_dir(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return  # somebody else was faster


def write_private(path: str, data: bytes) -> None:
    """Replaces a file as a whole, readable by its owner only: a reader sees the old bytes or the new ones."""
    make_private_dir(os.path.dirname(path))
    replace_file(path, data)


def file_name(text: str) -> str:
    """A file name for a text, by a plain checksum: those of the library are shared objects, and loading one costs more
    than this loop."""
    checksum = 0
    for byte in text.encode("utf-8", "surrogatepass"):
        checksum = (checksum * 1_000_003 + byte) & 0xFFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF
    return f"{checksum:032x}"


def read_object(path: str) -> dict[str, Json] | None:
    """The JSON object in one of our small files, or None."""
    try:
        with open(path, "rb") as file:
            found = lean_json.loads(file.read().decode())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
