"""BadCall: a call that cannot be carried out, with a message for the person who made it."""

from __future__ import annotations

# Every exit status of the command.
DONE = 0
FINDINGS = 1
BLOCKED = 2
BAD_CALL = 3


class BadCall(Exception):  # noqa: N818 (it says what is bad)
    """The message is printed unchanged, and the command exits with status 3."""
