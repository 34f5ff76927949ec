"""A report about an unexpected failure, written to a file for the developers, without secrets. It never raises."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback

from anyhook import __version__
from anyhook.journal.record import secrets_of, without_secrets
from anyhook.journal.redact import redacted
from anyhook.platform.places import state_dir
from anyhook.platform.store import Store

CONTENT_OPTIONS = ("--input", "--output", "--data", "--prompt", "--message", "--tool-error")
"""Options whose values are the user's own data: a report has their length."""


def write_report(error: BaseException) -> str:
    """The file's path; "" if it could not be written."""
    try:
        store = Store(state_dir(os.environ), "failures")
        key = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        store.put(key, report_text(error).encode("utf-8", "backslashreplace"))
    except Exception:  # noqa: BLE001 (one failure is being reported already)
        return ""
    return store.path(key)


def report_text(error: BaseException) -> str:
    """What was called, on what, and the traceback."""
    made = [
        f"anyhook {__version__}",
        f"python {platform.python_version()} ({sys.executable})",
        f"platform {platform.platform()}",
        f"called {' '.join(_arguments(sys.argv))}",
        "",
        "".join(traceback.format_exception(error)),
    ]
    return without_secrets(str(redacted("\n".join(made))), secrets_of(os.environ))


def _arguments(words: list[str]) -> list[str]:
    """The command line of the call; data is replaced by its length."""
    shown: list[str] = []
    before = ""
    for word in words:
        flag, equals, value = word.partition("=")
        if before in CONTENT_OPTIONS:
            shown.append(f"({len(word)} characters)")
        elif equals and flag in CONTENT_OPTIONS:
            shown.append(f"{flag}=({len(value)} characters)")
        else:
            shown.append(word)
        before = word
    listed = redacted([*shown])
    return [str(word) for word in listed] if isinstance(listed, list) else shown
