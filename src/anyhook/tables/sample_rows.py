"""The row type for an agent's sample: one small hook that blocks, and a call that it blocks. Tests, docs and examples
read it, so that none of them has to know an agent by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables.rows import SPECIFIC

COMMAND, REASON = "echo hi", "no echo"
"""The shell command of every sample's call, and why its hook refuses it."""
REFUSE = f"echo '{REASON}' >&2; exit 2"
GUARD = f"#!/bin/sh\nif grep -q '{COMMAND}'; then {REFUSE}; fi\n"
"""The usual hook: it refuses the command by its exit status, and says why on stderr."""


def grouped(event: str, tool: str, command: str) -> dict[str, Json]:
    """A file with groups of handlers under each event, as several products have it."""
    return {"hooks": {event: [{"matcher": tool, "hooks": [{"type": "command", "command": command}]}]}}


def entered(event: str, command: str, **keys: Json) -> dict[str, Json]:
    """A file with handlers under each event."""
    return {"hooks": {event: [{"command": command, **keys}]}}


def denied(event: str) -> dict[str, Json]:
    """The refusal that several products read."""
    specific: Json = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": REASON}
    return {SPECIFIC: specific}


def decided(word: str) -> dict[str, Json]:
    """The refusal of several others."""
    return {"decision": word, "reason": REASON}


def called(tool: str, **inputs: Json) -> dict[str, Json]:
    """The call that is refused, as most hosts send it."""
    return {"tool_name": tool, "tool_input": {"command": COMMAND, **inputs}}


class Sample(Record):
    """Of an agent that declares hooks, the first five; of one that calls us, the others."""

    event: str = ""
    """The native event of the hook: the one before a tool runs."""
    files: Mapping[str, Json] = {}
    """Path → text, or what is written as JSON; what begins with `#!` is a program."""
    scope: str = "project"
    """Whose files they are; `user` where the product reads no project's."""
    script: str = REFUSE
    """The shell lines by which any hook of this dialect refuses what that event is about."""
    tool: str = ""
    input: Mapping[str, Json] = {"command": COMMAND}
    """What is fired at it, in the dialect's own words."""

    calls: str = ""
    """The host's own event before a tool runs."""
    payload: Mapping[str, Json] = {}
    """What the host sends then."""
    stdout: Mapping[str, Json] = {}
    stderr: str = ""
    status: int = 0
    """What the host is told where a hook refuses: the JSON on stdout, stderr, the exit status."""


BY_STATUS: dict[str, Any] = {"stderr": REASON, "status": 2}
"""The fields of a sample whose host reads no JSON here."""


def guarded(
    path: str,
    tool: str,
    payload: Mapping[str, Json] | None = None,
    *,
    entry: Json = None,
    guard: str = "",
    event: str = "PreToolUse",
    **more: Any,
) -> Sample:
    """The sample of a product that has its hooks in one file, where the usual guard is in a folder next to it, and of
    the host that calls us for the same event; `more` are fields of `Sample`. Without an answer among them, the host
    reads `denied`."""
    guard = guard or f"{path.partition('/')[0]}/hooks/guard"
    known: dict[str, Any] = {
        "event": event,
        "files": {path: grouped(event, tool, guard) if entry is None else entry, guard: GUARD},
        "tool": tool,
        "calls": event,
        "payload": {"session_id": "s", **called(tool)} if payload is None else payload,
        "stdout": {} if "stderr" in more else denied(event),
    }
    return Sample(**{**known, **more})
