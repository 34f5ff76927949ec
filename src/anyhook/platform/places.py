"""Where the user's files and our own are, how to recognise a file without reading it, and how small files are read and
written: atomically, for their owner only."""

from __future__ import annotations

import os
import stat

from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO

    from anyhook.model.json_types import Json


def find_program(name: str, path: str, cwd: str = "") -> str | None:
    """The path of a program given by its bare name: the first on `path`, relative to `cwd`, as execvp does. None if it
    is not there."""
    for folder in path.split(os.pathsep) if name else ():
        found = f"{folder or '.'}/{name}"
        place = os.path.join(cwd, found)
        if os.access(place, os.X_OK) and not os.path.isdir(place):
            return found
    return None


def home_of(env: Mapping[str, str]) -> str:
    """The home directory. Relative values are ignored, as the XDG specification asks: otherwise the current folder,
    which may be a cloned project, could replace the user's."""
    home = env.get("HOME", "")
    return home if home.startswith("/") else "/"


# 0 on systems without them.
NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)


def user_id() -> int:
    """Who owns what is ours. A system without such users says 0 for every file, and here."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def allow_many_files() -> None:
    """Let this process have as many files open as the system allows."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def after_fork(function: Callable[[], object]) -> None:
    """Call it in every child that this process forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, offset: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(descriptor, data, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.write(descriptor, data)


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
    return f"{base}/anyhook" if base.startswith("/") else f"/tmp/anyhook-{user_id()}"  # noqa: S108


INSTALLS = "installs/index.json"
APPROVALS_FILE = "trust.json"
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


def may_exist(path: str) -> bool:
    """Whether there is something at a path, or its folder does not let us see that."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


class RealPaths:
    """`os.path.realpath` of many paths at one moment, and what `lstat` tells: each folder is looked at once."""

    def __init__(self) -> None:
        self._real = {"/": "/"}
        self._seen: dict[str, os.stat_result | None] = {}
        self._looked: list[str] = []
        """The paths that were looked at: what is in a folder that is missing is missing too."""
        self._followed: dict[str, str] = {}
        """What had to be asked of the library: links, and paths with `..`."""

    def both(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The paths, and where they really are."""
        return tuple(dict.fromkeys([each for path in sorted(paths) for each in (path, self.of(path))]))

    def of(self, path: str) -> str:
        if path in self._real:
            return self._real[path]
        is_plain = path.startswith("/") and not path.endswith(("/", "/.", "/..")) and path.count("/") <= MAX_PARTS
        if not is_plain or "//" in path or "/./" in path or "/../" in path:
            return self._followed.setdefault(path, os.path.realpath(path))
        return self._of(path)

    def _of(self, path: str) -> str:
        found = self._real.get(path)
        if found is None:
            above, _, name = path.rpartition("/")
            real = self._of(above or "/")
            found = f"{real}/{name}" if real != "/" else f"/{name}"
            seen = self.look(found)
            if seen is not None and stat.S_ISLNK(seen.st_mode):
                found = self._followed.setdefault(found, os.path.realpath(found))
            self._real[path] = found
        return found

    def look(self, path: str) -> os.stat_result | None:
        """What is at a path, without following a link; None if nothing is there, or it cannot be seen."""
        if path in self._seen:
            return self._seen[path]
        above, seen = path[: path.rfind("/")], None
        if not above or above not in self._seen or self._seen[above] is not None:
            self._looked.append(path)
            seen = _lstat(path)
        self._seen[path] = seen
        return seen

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder, perhaps behind a link."""
        seen = self.look(self.of(path))
        return seen is not None and stat.S_ISDIR(seen.st_mode)

    def is_same(self) -> bool:
        """Whether all of it is as it was: each path is the same file, and each link leads to the same place."""
        for path in self._looked:
            seen = self._seen[path]
            if is_there(path, follows=False) if seen is None else not _is_same_file(seen, _lstat(path)):
                return False
        return all(os.path.realpath(path) == real for path, real in self._followed.items())


def is_there(path: str, *, follows: bool = True) -> bool:
    """Whether `stat` finds something, or `lstat` if links are not followed. It takes half their time if nothing is
    there."""
    if hasattr(os, "getuid") and os.getuid() == os.geteuid():  # `access` asks for the first of them
        return os.access(path, os.F_OK, follow_symlinks=follows)
    return (stamp(path) if follows else _lstat(path)) is not None


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _is_same_file(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.st_ino, one.st_dev, one.st_mode) == (other.st_ino, other.st_dev, other.st_mode)


def config_file(env: Mapping[str, str]) -> str:
    """The user's settings."""
    return base_of(env, "XDG_CONFIG_HOME", ".config") + "/anyhook/config.toml"


Stamp = tuple[int, int, int, int, int]
"""Modification and change time, size, inode and mode."""
SETTLED_NS = 50_000_000
"""What changed less than this long ago may change again with the same stamp; what was made from it is not stored."""


def stamp(path: str) -> Stamp | None:
    """A file's identity without reading it; None if the path does not exist. An equal stamp does not prove equal
    contents (a write through a memory map need not change it): where that matters, `content` decides."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return None
    return (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_mode)


MAX_PARTS = 200
"""Paths with more parts are left to `os.path.realpath`."""
MAX_HASHED_BYTES = 256 * 1024 * 1024
MAX_COMPARED_BYTES, MAX_COMPARED = 64 * 1024, 64
_compared: dict[str, tuple[bytes, str]] = {}
"""Path → what a small file held, and its digest: to compare bytes takes a fifth of the time of hashing them."""


def content(path: str) -> str:
    """What a path holds, as a digest: the bytes of a regular file, or the names in a folder. "" if there is nothing,
    and one word for everything that cannot be read or is too large. Everything that is kept, and was made from files,
    is checked with this at every use."""
    try:
        descriptor = os.open(path, AT_ONCE)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return "unread"
    try:
        seen = os.fstat(descriptor)
        if stat.S_ISDIR(seen.st_mode):
            return names_digest(os.listdir(descriptor))
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_HASHED_BYTES:
            return "unread"
        size = min(seen.st_size, MAX_COMPARED_BYTES)
        chunk = os.read(descriptor, size + 1)
        whole, known = chunk if len(chunk) <= size else None, _compared.get(path)
        if known is not None and known[0] == whole:
            return known[1]
        hashed = lean_json.hasher()
        while chunk:
            hashed.update(chunk)
            chunk = os.read(descriptor, 1 << 20)
        digest: str = hashed.hexdigest()
        if whole is not None:
            if len(_compared) >= MAX_COMPARED:
                _compared.clear()
            _compared[path] = whole, digest
        return digest
    except OSError:
        return "unread"
    finally:
        os.close(descriptor)


def names_digest(names: list[str]) -> str:
    """The content of a folder with these names."""
    return lean_json.digest("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))


def is_unchanged(contents: Mapping[str, str]) -> bool:
    """Whether each of these paths holds what it held."""
    return all(content(path) == seen for path, seen in contents.items())


PRIVATE = 0o600
MAX_OWN = 64 << 20
AT_ONCE = os.O_RDONLY | NO_WAIT
"""How files are opened on the way to an answer: if one is a pipe, it is empty, and we do not wait for a writer."""


def open_regular(path: str, limit: int = MAX_OWN) -> BinaryIO:
    """A regular file of at most `limit` bytes, open for reading. Raises OSError for anything else: a pipe has a writer
    to wait for, a device has no end."""
    descriptor = os.open(path, AT_ONCE)
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > limit:
            raise OSError(22, "it is not a regular file, or too large", path)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


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
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if mode != PRIVATE:
                os.chmod(temporary, mode)
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
        with open_regular(path) as file:
            found = lean_json.loads(file.read().decode())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def head(path: str, size: int = 4096) -> bytes | None:
    """The first bytes of a regular file; None if it does not exist or cannot be read. It never blocks."""
    try:
        handle = os.open(path, AT_ONCE)
    except (OSError, ValueError):
        return None
    try:
        return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(handle)


class NoPlace(Exception):  # noqa: N818 (it says what is wrong)
    """There is no folder that only this user can write to."""


def private_dir(env: Mapping[str, str]) -> str:
    """The folder, created if it is missing. Raises NoPlace if it belongs to another user or if others can enter it."""
    folder = runtime_dir(env)
    try:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        seen = os.lstat(folder)
    except OSError as error:
        raise NoPlace(f"{folder} cannot be made ({error.strerror})") from None
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != user_id() or stat.S_IMODE(seen.st_mode) & 0o077:
        raise NoPlace(f"{folder} is not a folder that only this user can enter")
    return folder
