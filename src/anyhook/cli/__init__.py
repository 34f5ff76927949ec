"""The command. One verb per file; only render.py prints. Here are the exit statuses, and the error that ends a call."""

from __future__ import annotations

# Every exit status of the command.
DONE = 0
FINDINGS = 1
BLOCKED = 2
BAD_CALL = 3


class BadCall(Exception):  # noqa: N818 (it says what is bad)
    """A call that cannot be carried out. The message is printed unchanged, and the command exits with status 3."""
