"""Stamps: a path's identity without reading it. Two different contents have two different stamps."""

from __future__ import annotations

import os

Stamp = tuple[int, int, int, int, int]
"""Modification and change time, size, inode and mode."""


def stamp(path: str) -> Stamp | None:
    """None for a path that is not there."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return None
    return (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_mode)
