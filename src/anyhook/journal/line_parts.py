"""Line parts: the needed parts of a record's line, found in its bytes, twice as fast as by parsing it. A line that we
may not have written ourselves is left to the parser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Call = tuple[bytes, bytes, bytes, bytes, bytes]
    """From `hook` to `limit_s`, and of that `hook` alone; from `failed` to `error`, and of that up to `ending`; the
    seconds. Each is the inside of an object."""
    Parts = tuple[bytes, bytes, bytes, list[Call], bytes, bytes]
    """Time; from `host` to `event`, as the inside of an object; the tool; the calls; the decision; its hooks, as the
    inside of a list. All is JSON."""

_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXTS = rf"\[(?:{_TEXT}(?:, {_TEXT})*+)?+\]"
_MAYBE = rf"(?:null|{_TEXT})"
_NUMBER = r"[-+.\deE]++"
_CALL = (
    rf'{{(("hook": {_TEXT}), "name": {_TEXT}, "dialect": {_TEXT}, "native": {_TEXT}(?:, "handler": {_TEXT})?+'
    rf'(?:, "posture": {_TEXT})?+(?:, "model": {_TEXT})?+, "argv": {_TEXTS}, "cwd": {_TEXT}, "env": {_TEXTS}, '
    rf'"limit_s": {_NUMBER})(?:, "trace": {_TEXT})?+, (("failed": {_MAYBE}, "run": {{"ending": {_TEXT}), '
    rf'"exit_code": (?:null|-?\d++)(?:, "stdout": {_TEXT})?+(?:, "stderr": {_TEXT})?+, "error": {_MAYBE}), '
    rf'"started_ns": \d++, "duration_s": ({_NUMBER})}}}}'
)
_ONE_CALL = re.compile(_CALL.encode())
_MORE_CALLS = rf"((?:, {re.sub(r'[(](?![?])', '(?:', _CALL)})*+)"
_LINE = re.compile(
    (
        rf'{{"v": 1, "at": (\d{{1,19}}+), ("host": {_TEXT}, "project": {_TEXT}, "mode": {_TEXT}'
        rf'(?:, "parent": {_TEXT})?+, "session": {_TEXT}, "event": {_TEXT}), "data": {{(?:"tool": ({_TEXT}))?+'
        rf'(?:[^\[\n]*+\[)+?(?<=, "calls": \[)(?:{_CALL}{_MORE_CALLS})?+\], '
        r'"decision": ({"verdict": (?:[^\[\n]*+\[)+?(?<="hooks": \[)([^]\n]*+)\](?:, "unmet": \d++)?+'
        r'(?:, "problems": \[\])?+}), '
        r'"n": \d++, "hash": "\w++"}\n'
    ).encode()
)
_decoder = json.JSONDecoder()


def parts_of(line: bytes) -> Parts | None:
    """The parts of a line; None if it takes the parser to find them.

    A key in its quotes, before a colon, is a key wherever it stands: inside a text its quotes would have backslashes.
    Only the event's data, and what a decision asks for, hold keys that are not ours. So where `calls` stands once in
    the line, it is the record's own; and the hooks end where the decision ends."""
    found = _LINE.fullmatch(line)
    if found is None or line.count(b'"calls": ') != 1:
        return None
    at, about, tool, called, hook, run, ended, spent, more, decision, hooks = found.groups()
    if tool is None:
        tool = _tool_of(line, found.end(2) + len(b', "data": '), found.start(10))
        if tool is None:
            return None
    calls = [] if called is None else [(called, hook, run, ended, spent)]
    if more:
        calls += _ONE_CALL.findall(more)
    return at, about, tool, calls, decision, hooks


def _tool_of(line: bytes, start: int, end: int) -> bytes | None:
    """The tool of data that does not start with it; None if it is not a text."""
    if line.find(b'"tool": ', start, end) < 0:
        return b"null"
    try:
        data: Json
        data, _ = _decoder.raw_decode(line[start:].decode("ascii"))
    except (ValueError, RecursionError):
        return None
    tool = data.get("tool") if isinstance(data, dict) else None
    return json.dumps(tool).encode() if tool is None or isinstance(tool, str) else None
