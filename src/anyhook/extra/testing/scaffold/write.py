"""Writes the files of a new hook, all of them or none. It never overwrites a file that has changed since the plan was
made."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from anyhook.extra.testing.scaffold.plan import CannotScaffold, Overtaken, find_hook, plan
from anyhook.platform.locks import locked
from anyhook.platform.places import replace_file, write_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.extra.testing.scaffold.plan import Order, Piece, Plan
    from anyhook.model.hook import Hook

MAX_TRIES = 20
"""How often a plan is made again because someone else has written in the meantime."""


def write(order: Order, script: str = "") -> tuple[Plan, Hook]:
    """Plans the hook, writes it, and checks that the dialect accepts it. `script` is its text; "" for one made from the
    event's row."""
    for attempt in range(MAX_TRIES):
        made, writing = plan(order, script), _Writing()
        try:
            writing.write(made.pieces)
            return made, find_hook(order, made)
        except Overtaken:
            if attempt == MAX_TRIES - 1:
                raise
        except BaseException:
            writing.undo()
            raise
    raise AssertionError("the last attempt returns or raises")


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class _Writing:
    """Writes that can be undone, for one new hook."""

    def __init__(self) -> None:
        self._folders: list[str] = []
        self._files: list[str] = []
        self._replaced: list[tuple[str, bytes, bytes]] = []
        self._mask = os.umask(0o077)
        os.umask(self._mask)

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write every piece in order; undo all of them on a failure."""
        for piece in pieces:
            try:
                self._make_folder(os.path.dirname(piece.path))
                self._replace(piece) if piece.old is not None else self._create(piece)
            except FileExistsError:
                self.undo()
                if piece.executable:
                    raise CannotScaffold(f"{piece.path} is there already. Choose another name, or remove it.") from None
                raise Overtaken(f"{piece.path} was made meanwhile. Nothing was written; try again.") from None
            except FileNotFoundError:
                self.undo()
                raise Overtaken(f"{os.path.dirname(piece.path)} was removed meanwhile. Try again.") from None
            except OSError as error:
                self.undo()
                where = error.filename or piece.path
                raise CannotScaffold(
                    f"{piece.path} cannot be written ({error.strerror}: {where}). Check the folder's permissions."
                ) from None
            except BaseException:
                self.undo()
                raise

    def undo(self) -> None:
        """Restore our own files; what others wrote in the meantime stays."""
        for path, old, new in reversed(self._replaced):
            with suppress(OSError), locked(os.path.dirname(path)):
                if _bytes(path) == new:
                    replace_file(path, old, stat.S_IMODE(os.stat(path).st_mode))
        for path in reversed(self._files):
            with suppress(OSError):
                os.unlink(path)
        for folder in reversed(self._folders):
            with suppress(OSError):
                os.rmdir(folder)
        self._replaced, self._files, self._folders = [], [], []

    def _make_folder(self, folder: str) -> None:
        if os.path.isdir(folder):
            return
        self._make_folder(os.path.dirname(folder))
        try:
            os.mkdir(folder)
        except FileExistsError:
            if os.path.isdir(folder):
                return  # created in the meantime
            raise NotADirectoryError(errno.ENOTDIR, "there is a file where a folder must be", folder) from None
        self._folders.append(folder)

    def _create(self, piece: Piece) -> None:
        temporary = write_beside(piece.path, piece.text.encode(), 0o600)
        try:
            try:
                os.link(temporary, piece.path)
            except FileExistsError:
                raise
            except OSError:
                # A file system without hard links.
                if os.path.lexists(piece.path):
                    raise FileExistsError(piece.path) from None
                os.rename(temporary, piece.path)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)
        self._files.append(piece.path)
        os.chmod(piece.path, (0o777 if piece.executable else 0o666) & ~self._mask)

    def _replace(self, piece: Piece) -> None:
        # A link stays a link: people keep such files elsewhere.
        path = os.path.realpath(piece.path)
        new = piece.text.encode()
        with locked(os.path.dirname(path)):
            now = _bytes(path)
            if now != piece.old:
                raise Overtaken(f"{piece.path} was changed meanwhile. Nothing was written; try again.")
            replace_file(path, new, stat.S_IMODE(os.stat(path).st_mode))
        self._replaced.append((path, now, new))
