"""Repository: which checkouts belong together, read from `.git` without starting git. Reading is bounded and never
waits; what cannot be read belongs to nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from anyhook.model.record import Record
from anyhook.platform.places import NO_WAIT, user_id

MAX_GIT_CONFIG = 1024 * 1024
MAX_POINTER_BYTES = 8192
PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418"}


class Place(Record):
    """A folder in a checkout."""

    root: str
    """The checkout's root."""
    inside: str
    """The folder, relative to the root; "" for the root itself."""
    common: str
    """The git directory that all worktrees of a clone share."""
    origin: str
    """The normalised URL of the remote `origin`; "" without one."""

    def same_as(self, other: Place) -> bool:
        """Whether both are the same folder of one repository."""
        shared = self.common == other.common or (self.origin != "" and self.origin == other.origin)
        return shared and self.inside == other.inside

    def here(self, path: str, other: Place) -> str:
        """A path of the other checkout as it is in this one; outside the other's root, the path itself."""
        return self.root + path[len(other.root) :] if path.startswith(f"{other.root}/") else path


def place_of(folder: str, look: Callable[[str], object] | None = None) -> Place | None:
    """Where a folder is; None outside a repository. `look` is told every file that decides it, before it is read."""
    look = look or (lambda path: None)
    root = folder
    while not os.path.exists(f"{root}/.git"):
        above = os.path.dirname(root)
        if above == root:
            return None
        root = above
    common = _common_dir(root, look)
    if common is None:
        return None
    look(f"{common}/config")
    config = _own_text(f"{common}/config", MAX_GIT_CONFIG)
    return Place(root, folder[len(root) :].lstrip("/"), common, normalised(_origin(config or ""), root))


def _common_dir(root: str, look: Callable[[str], object]) -> str | None:
    """The shared git directory. A worktree counts where the repository knows of it: its `.git` file alone could have
    been unpacked from anywhere, and so could a link to another's git directory."""
    mark = f"{root}/.git"
    if os.path.islink(mark):
        return None
    if os.path.isdir(mark):
        return os.path.realpath(mark)
    look(mark)
    pointer = _own_text(mark, MAX_POINTER_BYTES)
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    own = os.path.realpath(os.path.join(root, pointer[len("gitdir:") :].strip()))
    for name in ("commondir", "gitdir"):
        look(f"{own}/{name}")
    shared = _own_text(f"{own}/commondir", MAX_POINTER_BYTES)
    if shared is None:
        return own  # a submodule, or a git directory that is kept apart
    back = _own_text(f"{own}/gitdir", MAX_POINTER_BYTES)
    if back is None or os.path.realpath(os.path.join(own, back.strip())) != os.path.realpath(mark):
        return None
    return os.path.realpath(os.path.join(own, shared.strip()))


def _own_text(path: str, limit: int) -> str | None:
    """The text of a regular file of this user's; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | NO_WAIT)
        with os.fdopen(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode) or seen.st_uid != user_id() or seen.st_size > limit:
                return None
            return file.read(limit).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return None


def _origin(config: str) -> str:
    """The first `url` of `[remote "origin"]`, as git takes it."""
    inside = False
    for raw in config.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            section, _, name = line[1:].partition("]")[0].partition(" ")
            inside = section.lower() == "remote" and name.strip() == '"origin"'
        elif inside:
            key, _, value = line.partition("=")
            if key.strip().lower() == "url" and value.strip():
                return value.strip().strip('"')
    return ""


def normalised(url: str, root: str = "/") -> str:
    """One spelling for the forms of a URL: without scheme, user, password, usual port and `.git`; the host in lower
    case. A path on this machine stays one."""
    if not url or not url.isprintable():
        return ""
    scheme, mark, rest = url.partition("://")
    scheme = scheme.lower()
    if mark and scheme != "file":
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].lower()
        host = host.removesuffix(f":{PORTS[scheme]}") if scheme in PORTS else host
    elif not mark and ":" in url.partition("/")[0]:
        host, _, path = url.partition(":")
        host = host.rpartition("@")[2].lower()
    else:
        host, path = "", os.path.realpath(os.path.join(root, rest if mark else url))
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if path else ""
