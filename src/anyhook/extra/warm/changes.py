"""Whether the installation is still the one that was loaded. inotify records every change in its folders, so one system
call is enough, instead of one for every file."""

from __future__ import annotations

import ctypes
import os
import select
import sys

EVENTS = 0x0002 | 0x0004 | 0x0040 | 0x0080 | 0x0100 | 0x0200 | 0x0400 | 0x0800
"""Modified, attributes, moved from and to, created, deleted, the folder itself deleted or moved."""
FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class Installation:
    """What this process was loaded from: the folders of its modules, those in which Python looks for more, and the
    interpreter, which changes whenever the standard library does."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(FLAGS)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        library = os.path.dirname(os.__file__)
        files = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
        folders = {os.path.dirname(path) for path in files if path}
        own = [folder for folder in folders if folder != library and not _is_part(folder, library)]
        for folder in {*own, *filter(os.path.isdir, sys.path[1:])} - {library}:
            if libc.inotify_add_watch(self.descriptor, os.fsencode(folder), EVENTS) < 0:
                raise OSError(ctypes.get_errno(), "inotify_add_watch", folder)
        self._interpreter = _seen(sys.executable)

    def is_same(self) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        return not poll.poll(0) and _seen(sys.executable) == self._interpreter


def _is_part(folder: str, library: str) -> bool:
    """Whether a folder belongs to the standard library."""
    return folder.startswith(f"{library}/") and not folder.startswith((f"{library}/site-", f"{library}/dist-"))


def _seen(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
