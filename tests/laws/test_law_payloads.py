"""Round trip: a hook reads what its document says, and the same keys passed as --data give the same event. The table
below is written from the documents, not from the dialects' own tables."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_strategies import TABLES, objects, texts, values

from anyhook.agents.goose import FACETS
from anyhook.cli.fire import event_of
from anyhook.cli.options import EventOptions
from anyhook.engine.present import payload
from anyhook.model import lean_json
from anyhook.model.event import FIELDS, Event
from anyhook.model.json_types import Json
from anyhook.model.lean_json import encode
from anyhook.tables.rows import Scene

if TYPE_CHECKING:
    from conftest import World

# native key[=canonical field]; `!` marks a generated value, `?` a key that is left out if it is empty.
TOOL = "tool_name=tool tool_input=input"
IDS = "tool_use_id=call_id tool_call_id=call_id"
MODE = "model permission_mode!"
TURN = f"{MODE} turn_id!"
CAMEL = "sessionId=session timestamp! cwd!"
PASCAL = "hook_event_name! session_id=session timestamp! cwd!"
SWITCH = (
    "from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl estimated_cache_write_usd "
    "pricing"
)
TASK = "task_id task_subject task_description? teammate_name? team_name?"
PAYLOADS: dict[str, dict[str, str]] = {
    "kode": {
        "": "event! session_id=session",
        "session_start": "work_dir! provider model",
        "user_prompt_submit": "prompt attachments",
        "tool_call_pre": "tool input auto_approve",
        "tool_call_post": "tool exit_code! output! duration_ms",
        "session_end": "reason turns",
    },
    "kodik": {
        "": "hook_event_name! context!",
        "PreToolUse": TOOL,
        "PostToolUse": f"{TOOL} tool_output=output error=tool_error?",
        "PermissionRequest": TOOL,
        "SubagentStart": "agent_type",
        "SubagentStop": "agent_type",
        "SessionStart": "source",
        "PreCompact": "trigger",
        "PostCompact": "trigger",
        "UserPromptSubmit": "prompt",
        "Stop": "",
    },
    "agenthooks": {
        "": "event_type! timestamp! session_id=session work_dir!",
        "session_start": "model args!",
        "session_end": "duration_seconds=duration_s total_steps=step_count exit_reason=reason",
        "before_agent": "prompt",
        "after_agent": "final_message",
        "before_tool": f"{TOOL} tool_use_id=call_id",
        "after_tool": f"{TOOL} tool_use_id=call_id tool_output=output error=tool_error duration_ms",
        "after_tool_failure": f"{TOOL} tool_use_id=call_id tool_output=output error=tool_error duration_ms",
        "subagent_start": "subagent_name=agent_name subagent_type=agent_type task_description=task",
        "subagent_stop": "subagent_name=agent_name subagent_type=agent_type task_description=task result",
        "pre_compact": "trigger",
        "before_stop": "stop_reason step_count final_message",
    },
    "kolega": {
        "": "hook_event_name! session_id=session cwd! permission_mode",
        "SessionStart": "source",
        "UserPromptSubmit": "user_message=prompt",
        "PreToolUse": f"{TOOL} tool_use_id=call_id",
        "PostToolUse": f"{TOOL} tool_output! is_error!",
        "PreCompact": "trigger input_tokens model_context_length",
        "PostCompact": "trigger ok! input_tokens_before=input_tokens model_context_length",
        "Stop": "stop_reason last_message",
        "SubagentStop": "agent_name result sub_agent_info",
        "Notification": "notification_type message tool_name=tool",
        "SessionEnd": "reason",
    },
    "claude": {
        "": "session_id=session transcript_path! cwd! permission_mode hook_event_name! "
        "agent_id=agent_name? agent_type?",
        "SessionStart": "source model?",
        "UserPromptSubmit": "prompt source?",
        "PreToolUse": f"{TOOL} tool_use_id=call_id",
        "PermissionRequest": TOOL,
        "PostToolUse": f"{TOOL} tool_use_id=call_id tool_response=output duration_ms?",
        "PostToolUseFailure": f"{TOOL} tool_use_id=call_id error=tool_error duration_ms?",
        "Notification": "message notification_type",
        "SubagentStart": "agent_id=agent_name agent_type",
        "SubagentStop": "agent_id=agent_name agent_type stop_hook_active! last_assistant_message=last_message "
        "agent_transcript_path!",
        "PreCompact": "trigger custom_instructions",
        "PostCompact": "trigger compact_summary",
        "Stop": "stop_hook_active! last_assistant_message=last_message",
        "SessionEnd": "reason",
        "Setup": "trigger",
        "PermissionDenied": f"{TOOL} tool_use_id=call_id reason",
        "PostToolBatch": "tool_calls",
        "UserPromptExpansion": "expansion_type command_name command_args command_source? prompt",
        "StopFailure": "error error_details? last_assistant_message=last_message?",
        "PreModelSwitch": SWITCH,
        "PostModelSwitch": SWITCH,
        "MessageDisplay": "turn_id message_id index final delta=message",
        "Elicitation": "mcp_server_name message mode? url? elicitation_id? requested_schema?",
        "ElicitationResult": "mcp_server_name action content=input? mode? elicitation_id?",
        "TaskCreated": TASK,
        "TaskCompleted": TASK,
        "TeammateIdle": "teammate_name team_name",
        "ConfigChange": "source file_path?",
        "InstructionsLoaded": "file_path memory_type load_reason globs? trigger_file_path? parent_file_path?",
        "CwdChanged": "old_cwd new_cwd",
        "FileChanged": "file_path event=change",
        "DirectoryAdded": "directory source",
        "WorktreeCreate": "name=worktree_name",
        "WorktreeRemove": "worktree_path",
    },
    "codex": {
        "": "session_id=session transcript_path! cwd! hook_event_name!",
        "SessionStart": f"source {MODE}",
        "UserPromptSubmit": f"prompt {TURN}",
        "PreToolUse": f"{TOOL} tool_use_id=call_id {TURN}",
        "PermissionRequest": f"{TOOL} {TURN}",
        "PostToolUse": f"{TOOL} tool_use_id=call_id tool_response=output {TURN}",
        "SubagentStart": f"agent_type agent_id=agent_name {TURN}",
        "SubagentStop": f"agent_type last_assistant_message=last_message agent_id=agent_name {TURN} stop_hook_active! "
        "agent_transcript_path!",
        "PreCompact": "trigger model turn_id!",
        "PostCompact": "trigger model turn_id!",
        "Stop": f"last_assistant_message=last_message stop_hook_active! {TURN}",
        "SessionEnd": "reason",
    },
    "gemini": {
        "": "session_id=session transcript_path! cwd! hook_event_name! timestamp!",
        "SessionStart": "source",
        "BeforeAgent": "prompt",
        "BeforeTool": TOOL,
        "AfterTool": f"{TOOL} tool_response!",
        "AfterAgent": "prompt prompt_response=last_message stop_hook_active!",
        "Notification": "message notification_type details=context",
        "PreCompress": "trigger",
        "SessionEnd": "reason",
    },
    "qwen": {
        "": "session_id=session transcript_path! cwd! hook_event_name! timestamp! permission_mode",
        "SessionStart": "source",
        "UserPromptSubmit": "prompt submitted_prompt=prompt",
        "PreToolUse": f"{TOOL} {IDS}",
        "PermissionRequest": TOOL,
        "PostToolUse": f"{TOOL} {IDS} tool_response!",
        "PostToolUseFailure": f"{TOOL} {IDS} error=tool_error",
        "Notification": "message notification_type",
        "SubagentStart": "agent_type",
        "SubagentStop": "agent_type last_assistant_message=last_message",
        "PreCompact": "trigger",
        "PostCompact": "trigger",
        "Stop": "last_assistant_message=last_message stop_hook_active! background_tasks! crons!",
        "SessionEnd": "reason",
    },
    "copilot": {
        "": "",
        "sessionStart": f"{CAMEL} source",
        "userPromptSubmitted": f"{CAMEL} prompt",
        "preToolUse": f"{CAMEL} toolName=tool toolArgs=input",
        "permissionRequest": f"{CAMEL} toolName=tool toolInput=input hookName! permissionSuggestions!",
        "postToolUse": f"{CAMEL} toolName=tool toolArgs=input toolResult!",
        "postToolUseFailure": f"{CAMEL} toolName=tool toolArgs=input error!",
        "notification": f"{CAMEL} message notification_type hook_event_name!",
        "subagentStart": f"{CAMEL} agentType=agent_type",
        "subagentStop": f"{CAMEL} agentType=agent_type response=last_message stop_hook_active!",
        "preCompact": f"{CAMEL} trigger",
        "agentStop": f"{CAMEL} stopReason=stop_reason stop_hook_active!",
        "sessionEnd": f"{CAMEL} reason",
        "SessionStart": f"{PASCAL} source",
        "UserPromptSubmit": f"{PASCAL} prompt",
        "PreToolUse": f"{PASCAL} {TOOL}",
        "PermissionRequest": f"{PASCAL} {TOOL}",
        "PostToolUse": f"{PASCAL} {TOOL} tool_result!",
        "PostToolUseFailure": f"{PASCAL} {TOOL} error!",
        "SubagentStop": f"{PASCAL} last_assistant_message=last_message stop_hook_active!",
        "PreCompact": f"{PASCAL} trigger",
        "Stop": f"{PASCAL} stop_reason stop_hook_active!",
        "SessionEnd": f"{PASCAL} reason",
    },
    "goose": {
        "": "event! session_id=session matcher_context!",
        "SessionStart": "",
        "UserPromptSubmit": "message=prompt",
        "PreToolUse": f"{TOOL} tool_call_id=call_id working_dir!",
        "PostToolUse": f"{TOOL} tool_call_id=call_id working_dir!",
        "PostToolUseFailure": f"{TOOL} tool_call_id=call_id working_dir!",
        "Stop": "last_assistant_message=last_message working_dir!",
        "SessionEnd": "",
        "BeforeShellExecution": f"{TOOL} working_dir!",
        "BeforeReadFile": f"{TOOL} working_dir!",
        "AfterShellExecution": f"{TOOL} working_dir!",
        "AfterFileEdit": f"{TOOL} working_dir!",
    },
    "kodelet": {
        "": "event! conv_id=session cwd! invoked_by",
        "before_tool_call": f"{TOOL} tool_user_id=call_id",
        "after_tool_call": f"{TOOL} tool_user_id=call_id tool_output!",
        "user_message_send": "message=prompt",
        "after_turn": "turn_number tools_used usage auto_compact_enabled auto_compact_threshold?",
        "agent_stop": "messages usage invoked_recipe? auto_compact_enabled auto_compact_threshold?",
    },
}


class Key:
    """One documented key."""

    def __init__(self, word: str) -> None:
        self.made, self.optional = word.endswith("!"), word.endswith("?")
        self.name, _, field = word.rstrip("!?").partition("=")
        self.field = field or self.name


def keys_of(dialect: str, native: str) -> list[Key]:
    return [Key(word) for word in f"{PAYLOADS[dialect]['']} {PAYLOADS[dialect][native]}".split()]


CASES = [
    (name, row.native, canonical)
    for name, table in TABLES.items()
    if name in PAYLOADS  # for the other dialects, their vectors say what is read
    for row in table.events
    for canonical in row.canonical
]


@cache
def value_for(field: str) -> st.SearchStrategy[Json]:
    """A strategy for a field's values. Cached, because making a strategy takes longer than drawing from it."""
    empty = FIELDS[field]
    if field == "usage":
        return st.fixed_dictionaries(dict.fromkeys(FIELDS["usage"], st.integers())).map(dict)  # type: ignore[arg-type]
    if isinstance(empty, bool):
        return st.booleans().map(lambda value: value)
    if isinstance(empty, int):
        return st.integers(1, 2**53).map(lambda value: value)
    if isinstance(empty, dict):
        return objects.map(lambda value: value)
    if isinstance(empty, list):
        return st.lists(values, max_size=3).map(lambda value: value)
    return texts.filter(bool).map(lambda value: value) if isinstance(empty, str) else values


def payload_of(dialect: str, native: str, event: Event) -> dict[str, Json]:
    table = TABLES[dialect]
    row = table.row(native)
    assert row is not None
    scene = Scene(event, native, "/project", str(event.data.get("session", "s")), {}, {})
    found = json.loads(encode(payload(table, row, scene)))
    assert isinstance(found, dict)
    return found


each_case = pytest.mark.parametrize(("dialect", "native", "canonical"), CASES)
few = settings(max_examples=5)


@st.composite
def events(draw: st.DrawFn, dialect: str, native: str, canonical: str) -> Event:
    """An event with a value for every field that one dialect's hook receives."""
    fields = {key.field for key in keys_of(dialect, native) if not key.made}
    if canonical == "post_tool_failure":
        fields.add("tool_error")
    else:
        fields.discard("tool_error")
    return Event(canonical, {field: draw(value_for(field)) for field in sorted(fields)})


def test_the_table_names_every_native_event() -> None:
    assert {name: set(rows) - {""} for name, rows in PAYLOADS.items()} == {
        name: {row.native for row in table.events} for name, table in TABLES.items() if name in PAYLOADS
    }


@each_case
@few
@given(st.data(), st.binary(max_size=40))
def test_a_payload_of_any_event(dialect: str, native: str, canonical: str, data: st.DataObject, raw: bytes) -> None:
    event = data.draw(events(dialect, native, canonical)).replace(raw=raw)
    before = json.dumps(event.data)
    found = payload_of(dialect, native, event)
    assert (event.raw, json.dumps(event.data)) == (raw, before), "the event stays what it was"
    has_the_documented_keys_and_the_given_values(keys_of(dialect, native), event, found)
    means_the_same_read_back(native, keys_of(dialect, native), event, found)
    event = Event(event.name, {"session": "s-1", **event.data})
    has_made_values(native, event, payload_of(dialect, native, event))


def has_the_documented_keys_and_the_given_values(keys: list[Key], event: Event, found: dict[str, Json]) -> None:
    left_out = {key.name for key in keys if key.optional and not event.data.get(key.field)}
    assert set(found) == {key.name for key in keys} - left_out
    for key in keys:
        if not key.made and key.name in found:
            assert found[key.name] == event.data.get(key.field, FIELDS[key.field])


def test_a_payload_is_complete_where_the_host_gave_nothing() -> None:
    for dialect, native, canonical in CASES:
        found = payload_of(dialect, native, Event(canonical, {}))
        keys = keys_of(dialect, native)
        assert set(found) == {key.name for key in keys if not key.optional}, (dialect, native, canonical)
        for key in keys:
            if not key.made and not key.optional and key.field != "session":
                assert found[key.name] == FIELDS[key.field], (dialect, native, canonical)


def has_made_values(native: str, event: Event, found: dict[str, Json]) -> None:
    """Check the generated values, one by one."""
    failed = event.name == "post_tool_failure"
    if "is_error" in found:
        assert found["is_error"] is failed
    if "exit_code" in found:
        assert bool(found["exit_code"]) is failed
    if "args" in found:
        assert found["args"] == {}
    if "context" in found:
        assert found["context"] == {"session_id": event.data["session"], "cwd": "/project"}

    name = next((found[key] for key in ("hook_event_name", "event_type", "event") if key in found), native)
    assert str(name).lower() == native.lower(), "one of them spells its notification otherwise"
    for key in ("work_dir", "cwd"):
        assert found.get(key, "/project") == "/project"


def means_the_same_read_back(native: str, keys: list[Key], event: Event, found: dict[str, Json]) -> None:
    """A dialect's own names mean the same on the command line as in its hooks."""
    given_back = {key.name: found[key.name] for key in keys if not key.made and key.name in found}
    if "tool_error" in event.data and "error" not in given_back:
        given_back.setdefault("tool_error", event.data["tool_error"])
    again, unknown = event_of(native, EventOptions(data=json.dumps(given_back)))
    assert unknown == []
    assert again.name == event.name
    ours = {field: value for field, value in event.data.items() if value or field in again.data}
    assert {field: again.data.get(field) for field in ours} == ours


@pytest.mark.parametrize("canonical", sorted({canonical for _, _, canonical in CASES}))
def test_real_hooks_read_it(world: World, canonical: str) -> None:
    """One `cat` hook in each dialect that has the event."""
    listening = [(name, native) for name, native, event in CASES if event == canonical and native not in FACETS]
    for dialect, native in listening:
        world.hook(dialect, native, f"cat > '{world.root}/{dialect}.{native}.json'")
    fields = {key.field for dialect, native in listening for key in keys_of(dialect, native) if not key.made}
    tree: Json = {"a": [1, None, 0.5]}
    samples: dict[type, Json] = {str: 'é\n"x" 💥 </a>&', dict: tree, bool: True, int: 7, list: []}
    data: dict[str, Json] = {field: samples[type(FIELDS[field])] for field in fields if FIELDS[field] is not None}
    data["usage"] = FIELDS["usage"]
    if canonical != "post_tool_failure":
        data.pop("tool_error", None)
    raw = b'\xff\x00{"raw": true}'
    event = Event(canonical, data, raw)
    before = json.dumps(data)
    decision = world.engine().fire_sync(event)
    assert [report.status for report in decision.hooks] == ["ran"] * len(decision.hooks)
    assert (event.raw, json.dumps(event.data)) == (raw, before)
    for dialect, native in listening:
        found = json.loads((world.root / f"{dialect}.{native}.json").read_bytes())
        for key in keys_of(dialect, native):
            if key.optional and not data.get(key.field):
                assert key.name not in found
            elif not key.made:
                assert found[key.name] == data.get(key.field, FIELDS[key.field])
            else:
                assert key.name in found


@given(value=objects, long=st.integers(1, 5))
def test_a_long_text_is_encoded_like_any_other(value: dict[str, Json], long: int) -> None:
    """Long texts are escaped in pieces; here almost every text is long."""
    given_data: Json = {"input": {"text": 'a\\"\n\t\r\x00\x1f\x7fé\u2028', **value}, "plain": value}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lean_json, "LONG_TEXT", long)
        made = encode(given_data, long=True)
    assert made == json.dumps(given_data, ensure_ascii=False).encode()
