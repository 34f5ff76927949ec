"""Writes a file as a whole: whoever reads it meanwhile sees the old bytes or the new ones."""

from __future__ import annotations

import os

PRIVATE = 0o600


def replace_file(path: str, data: bytes, mode: int = PRIVATE) -> None:
    """Puts a file in the place of the one that may be there. A link is replaced, not followed."""
    temporary = write_beside(path, data, mode)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_beside(path: str, data: bytes, mode: int = PRIVATE) -> str:
    """Writes a file of another name into the same folder, to be moved or linked to its place; its path."""
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
