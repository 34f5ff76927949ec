"""Match, as a table: whether a hook's matcher accepts an event, as its agent's documentation says."""

from __future__ import annotations

import pytest

from anyhook.engine.match import match
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.tables.patterns import BadPattern, PatternTimeout
from anyhook.tables.registry import dialect
from each_of import each_of

TABLE: list[tuple[str, str, Json, Event, bool, str]] = [
    ("kodik", "PreToolUse", None, Event.pre_tool("Bash", {}), True, "no matcher means always"),
    ("kodik", "PreToolUse", "Bash", Event.pre_tool("Bash", {}), True, "the tool's name"),
    ("kodik", "PreToolUse", "Bas", Event.pre_tool("Bash", {}), False, "the pattern has to match the whole value"),
    ("kodik", "PreToolUse", "bash", Event.pre_tool("Bash", {}), False, "matching minds the case"),
    ("kodik", "PreToolUse", "*", Event.pre_tool("Bash", {}), True, "a star matches all"),
    ("kodik", "PreToolUse", "", Event.pre_tool("Bash", {}), True, "and so does an empty matcher"),
    ("kodik", "Stop", "nothing", Event.stop(), True, "Stop takes no notice of the matcher"),
    ("kolega", "PreToolUse", "Bash|Write", Event.pre_tool("Write", {}), True, "names joined by pipes"),
    ("kolega", "PreToolUse", "Bash|Write", Event.pre_tool("WriteFile", {}), False, "match exactly"),
    ("kolega", "PreToolUse", "Wri.*", Event.pre_tool("WriteFile", {}), True, "patterns"),
    ("kolega", "PreToolUse", "rite.*", Event.pre_tool("WriteFile", {}), False, "match the full value"),
    ("agenthooks", "before_tool", {"tool": "hel"}, Event.pre_tool("Shell", {}), True, "searched in the tool's name"),
    ("agenthooks", "before_tool", {"tool": "shell"}, Event.pre_tool("Shell", {}), False, "minding the case"),
    ("agenthooks", "before_tool", {"pattern": "rm -rf"}, Event.pre_tool("Shell", {"command": "rm -rf /"}), True,
     "searched in the tool's input"),
    ("agenthooks", "before_tool", {"tool": "Shell", "pattern": "rm"}, Event.pre_tool("Shell", {"command": "ls"}), False,
     "both have to match"),
    ("agenthooks", "before_stop", {"tool": "Shell"}, Event.stop(), False,
     "with a matcher a hook never runs on an event without a tool"),
    ("kode", "tool_call_pre", None, Event.pre_tool("anything", {}), True, "each hook of an event sees every tool"),
    ("claude", "PreToolUse", "Bash|Edit", Event.pre_tool("Edit", {}), True, "plain names joined by a bar"),
    ("claude", "PreToolUse", "Edit", Event.pre_tool("MultiEdit", {}), False, "name tools exactly"),
    ("claude", "PreToolUse", "Edit$", Event.pre_tool("MultiEdit", {}), True, "any other matcher is searched for"),
    ("goose", "PreToolUse", "hel", Event.pre_tool("Shell", {}), True, "searched for in the tool's name"),
]  # fmt: skip


def hook(name: str, native: str, matcher: Json) -> Hook:
    row = dialect(name).row(native)
    assert row is not None, f"{name} has no {native}"
    return Hook(
        id="i", name="n", dialect=name, scope="user", source="/f", place=(), root="", label="", native_event=native,
        events=row.canonical, matcher=matcher, handler="command", spec={}, limit_s=1.0,
    )  # fmt: skip


@each_of(("name", "native", "matcher", "event", "taken", "why"), TABLE, ids=[f"{row[0]}: {row[5]}" for row in TABLE])
def test_taken_or_not(name: str, native: str, matcher: Json, event: Event, taken: bool, why: str) -> None:
    table = dialect(name)
    row = table.row(native)
    assert row is not None
    reason, broken = match(hook(name, native, matcher), table, row, event)
    assert ((reason is None), broken) == (taken, ""), why
    assert taken or reason, "whoever is left out is told why"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PatternTimeout("x"), "took too long"),
        (BadPattern("a bracket is open", 0), "a bracket is open"),
        (ZeroDivisionError("division by zero"), "could not be tried"),
    ],
)
def test_a_matcher_that_fails_is_no_answer(error: Exception, said: str) -> None:
    """It is unknown whether the hook applies, so the hook is not left out, and the error is reported."""

    def fails(*_: object) -> str | None:
        raise error

    table = dialect("kodik").replace(match=fails)
    row = table.row("PreToolUse")
    assert row is not None
    reason, broken = match(hook("kodik", "PreToolUse", "x"), table, row, Event.pre_tool("Bash", {}))
    assert reason is None
    assert said in broken
