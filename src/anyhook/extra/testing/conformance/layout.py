"""Creates files below a folder. Nothing is ever written outside it: a link that leads out is refused as a folder, and
replaced as a file, never followed."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from anyhook.extra.testing.kit.form import FileEntry


def lay_out(base: Path, entries: Mapping[str, FileEntry]) -> None:
    """Writes the entries; raises OSError for one that would be outside the folder."""
    root = os.path.realpath(base)
    modes: list[tuple[str, int]] = []
    for name, entry in entries.items():
        parts = _parts(root, name)
        with _opened(root, parts[:-1]) as folder:
            _place(folder, parts[-1], entry)
        if entry.mode is not None and entry.link is None and entry.text is None:
            modes.append((name, entry.mode))
    # Last and deepest first: a directory may be about to become unreadable.
    for name, mode in sorted(modes, key=lambda item: item[0].count("/"), reverse=True):
        with _opened(root, _parts(root, name)) as folder:
            os.fchmod(folder, mode)


def _parts(root: str, name: str) -> list[str]:
    """The path from the folder to an entry, with links resolved. A link among its folders may lead elsewhere inside."""
    above, last = os.path.split(os.path.normpath(os.path.join(root, name)))
    real = os.path.realpath(above)
    if not f"{real}/".startswith(f"{root}/") or last in ("", ".", ".."):
        raise PermissionError(1, f"a link leads out of the folder, to {real}; nothing is written there", name)
    below = os.path.relpath(real, root)
    return [*([] if below == "." else below.split("/")), last]


@contextlib.contextmanager
def _opened(root: str, parts: list[str]) -> Iterator[int]:
    """A folder below the root, created if it is missing. No part of the path is a link when it is opened."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(root, flags)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
            below = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _place(folder: int, name: str, entry: FileEntry) -> None:
    """Replace what is there with one entry: always a new file, so that nothing is written through a link or a hard
    link."""
    if entry.link is None and entry.text is None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise FileExistsError(17, "something else than a folder is there", name)
        return
    before = None
    with contextlib.suppress(FileNotFoundError):
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        before = stat.S_IMODE(seen.st_mode) & 0o777 if stat.S_ISREG(seen.st_mode) else None
        os.unlink(name, dir_fd=folder)
    if entry.link is not None:
        os.symlink(entry.link, name, dir_fd=folder)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb") as file:
        file.write((entry.text or "").encode("utf-8", "surrogatepass"))
        mode = entry.mode if entry.mode is not None else before
        if mode is not None:
            os.fchmod(file.fileno(), mode)
