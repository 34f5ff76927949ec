"""Hooks of Kimi's config in every host: the names of both products that read it, and their payloads."""

from __future__ import annotations

import pytest

from anyhook.engine.match import match
from anyhook.engine.present import payload
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.tables.registry import INSTALLABLE, dialect, host
from anyhook.tables.rows import Scene
from anyhook.tables.translate import to_native

CLI = {
    "shell": "Shell", "read_file": "ReadFile", "write_file": "WriteFile", "edit_file": "StrReplaceFile",
    "list_files": "Glob", "grep": "Grep", "delegate_task": "Task", "web_fetch": "FetchURL",
    "web_search": "SearchWeb",
}  # fmt: skip
"""The names in the documentation of Kimi CLI."""
CALLS = [("agent", ours, "") for ours in CLI] + [
    (name, native, tool.ours) for name in INSTALLABLE for native, tool in host(name).tools.items() if tool.ours in CLI
]


def matches(matcher: str, event: Event) -> bool:
    table = dialect("kimi")
    row = table.row("PreToolUse")
    assert row is not None
    hook = Hook("kimi:user:E:h", "h", "kimi", "user", "/f", (), "/", "", "", (), matcher, "command", {}, 1.0)
    return match(hook, table, row, to_native(event, table), event)[0] is None


@pytest.mark.parametrize(("name", "native", "ours"), CALLS)
def test_the_names_of_kimi_cli_match_in_every_host(name: str, native: str, ours: str) -> None:
    event = Event("pre_tool", {"tool": native, "input": {}}, hosted=True, ours=ours)
    kind = ours or native
    assert matches(f"^{CLI[kind]}$", event)
    assert matches("^(WriteFile|StrReplaceFile)$", event) is (kind in ("write_file", "edit_file"))
    others = [other for other in CLI if other != kind]
    assert not any(matches(f"^{CLI[other]}$", event) for other in others if native != CLI[other])


KEYS = {
    "session_start": {"source"},
    "session_end": {"reason"},
    "user_prompt_submit": {"prompt"},
    "pre_tool": {"tool_name", "tool_input", "tool_call_id"},
    "post_tool": {"tool_name", "tool_input", "tool_output", "tool_call_id"},
    "post_tool_failure": {"tool_name", "tool_input", "error", "tool_call_id"},
    "notification": {"sink", "notification_type", "title", "body", "severity"},
    "subagent_start": {"agent_name", "prompt"},
    "subagent_stop": {"agent_name", "response"},
    "pre_compact": {"trigger", "token_count"},
    "post_compact": {"trigger", "estimated_token_count"},
    "stop": {"stop_hook_active"},
}
"""What hooks of Kimi CLI 1.51.0 read, by its `hooks/events.py`."""


@pytest.mark.parametrize("canonical", KEYS)
def test_the_keys_of_kimi_cli(canonical: str) -> None:
    table = dialect("kimi")
    row = table.row_for(canonical)
    assert row is not None
    data: dict[str, Json] = {
        "task": "t" * 600,
        "result": "r" * 600,
        "input_tokens": 7,
        "message": "m",
        "reason": "completed",
    }
    event = to_native(Event(canonical, data, hosted=True), table)
    made = payload(table, row, Scene(event, row.native, "/project", "s", {}, {}))
    assert KEYS[canonical] | {"hook_event_name", "session_id", "cwd"} <= set(made)
    said = {"session_end": ("reason", "exit"), "notification": ("body", "m"), "pre_compact": ("token_count", 7),
            "subagent_start": ("prompt", "t" * 500), "subagent_stop": ("response", "r" * 500)}  # fmt: skip
    if canonical in said:
        key, value = said[canonical]
        assert made[key] == value


def test_a_helper_that_only_left_a_last_message_has_a_response() -> None:
    """Most agents give its last words, and only some call them its result."""
    table = dialect("kimi")
    row = table.row_for("subagent_stop")
    assert row is not None
    event = to_native(Event("subagent_stop", {"last_message": "done"}, hosted=True), table)
    assert payload(table, row, Scene(event, row.native, "/project", "s", {}, {}))["response"] == "done"
