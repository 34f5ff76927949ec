"""Where the user's files and our own are, how to recognise a file without reading it, and how small files are read and
written: atomically, for their owner only."""

from __future__ import annotations

import os
import stat

from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json


def home_of(env: Mapping[str, str]) -> str:
    """The home directory. Relative values are ignored, as the XDG specification asks: otherwise the current folder,
    which may be a cloned project, could replace the user's."""
    home = env.get("HOME", "")
    return home if home.startswith("/") else "/"


def base_of(env: Mapping[str, str], variable: str, fallback: str) -> str:
    """One of the user's base directories."""
    value = env.get(variable, "")
    return value if value.startswith("/") else f"{home_of(env).rstrip('/')}/{fallback}"


def state_dir(env: Mapping[str, str]) -> str:
    """Approvals, journal, compiled plans."""
    return base_of(env, "XDG_STATE_HOME", ".local/state") + "/anyhook"


def runtime_dir(env: Mapping[str, str]) -> str:
    """The folder of the warm server's sockets and tables: in the user's runtime directory, where there is one. The
    caller checks who owns it."""
    base = env.get("XDG_RUNTIME_DIR", "")
    return f"{base}/anyhook" if base.startswith("/") else f"/tmp/anyhook-{os.geteuid()}"  # noqa: S108


INSTALLS = "installs/index.json"
"""In our state folder, the file that lists the agents' files with our entry."""
NO_LOCKS = (22, 37, 38, 95)
"""EINVAL, ENOLCK, ENOSYS, ENOTSUP: errors of `flock` on a file system without locks."""
NOWHERE = "/dev/null/anyhook"
"""A folder that cannot exist and cannot be created."""


def believed_dir(env: Mapping[str, str], project: str, outer: str = "") -> str:
    """The state folder, if its records can be trusted; NOWHERE if the project may have brought it: if it is in the
    project or, away from its usual place, in `outer`, the last folder above whose hooks count. A project that contains
    the home folder may contain the state folder."""
    folder = state_dir(env)
    held = project if folder == env.get("HOME", "") + "/.local/state/anyhook" else outer or project
    return NOWHERE if lies_in(folder, held) and not lies_in(home_of(env), held) else folder


def upward(project: str, outer: str) -> list[str]:
    """The folders from the project up to `outer`, the nearest first."""
    found = [project]
    while found[-1] != outer and found[-1] != os.path.dirname(found[-1]):
        found.append(os.path.dirname(found[-1]))
    return found


def lies_in(path: str, folder: str, known: dict[str, bool] | None = None) -> bool:
    """Whether a path is a folder or below it, by identity and not by name: links, mounts or case may differ. `known` is
    a cache for the folders above, for more questions about the same folder."""
    try:
        wanted = os.stat(folder)
    except OSError:
        return False
    known = {} if known is None else known
    path = path if path.startswith("/") else os.path.realpath(path)
    passed: list[str] = []
    while path not in known:
        passed.append(path)
        is_link = False
        try:
            seen = os.lstat(path)
            known[path] = (seen.st_ino, seen.st_dev) == (wanted.st_ino, wanted.st_dev)
            is_link = stat.S_ISLNK(seen.st_mode)
        except OSError:
            known[path] = False  # it does not exist yet; its parents may
        if known[path]:
            break
        real = os.path.realpath(path) if is_link or path.endswith("/..") else path
        path = real if real != path else os.path.dirname(path)
    found = known[path]
    known.update(dict.fromkeys(passed, found))
    return found


def real_path(path: str) -> str:
    """A path as the system would resolve it. Characters that no path can contain, a NUL or half a character, are left
    out or replaced, as agents do."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return os.path.realpath(path.replace("\0", "").encode("utf-8", "replace").decode())


def config_file(env: Mapping[str, str]) -> str:
    """The user's settings."""
    return base_of(env, "XDG_CONFIG_HOME", ".config") + "/anyhook/config.toml"


Stamp = tuple[int, int, int, int, int]
"""Modification and change time, size, inode and mode."""


def stamp(path: str) -> Stamp | None:
    """A file's identity without reading it: different contents have different stamps. None if the path does not
    exist."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return None
    return (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_mode)


PRIVATE = 0o600
MAX_OWN = 64 << 20
AT_ONCE = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""How our own files are opened: if someone replaced one by a pipe, it is empty, and we do not wait for a writer."""


def replace_file(path: str, data: bytes, mode: int = PRIVATE) -> None:
    """Writes or replaces a file. A link is replaced, not followed."""
    temporary = write_beside(path, data, mode)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_beside(path: str, data: bytes, mode: int = PRIVATE) -> str:
    """Writes a file with another name into the same folder, to be moved or linked to its place. Returns its path."""
    folder, name = os.path.split(path)
    temporary = f"{folder}/.{name}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if mode != PRIVATE:
                os.fchmod(file.fileno(), mode)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def make_private_dir(folder: str) -> None:
    """Creates one of our folders, with its parents, for its owner only."""
    if folder and not os.path.isdir(folder):
        make_private_dir(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return  # another process was faster


def write_private(path: str, data: bytes) -> None:
    """Replaces a file atomically, readable by its owner only: a reader sees the old bytes or the new ones."""
    make_private_dir(os.path.dirname(path))
    replace_file(path, data)


def read_object(path: str) -> dict[str, Json] | None:
    """The JSON object in one of our small files, or None."""
    try:
        with open(os.open(path, AT_ONCE), "rb") as file:
            found = lean_json.loads(file.read(MAX_OWN).decode())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
