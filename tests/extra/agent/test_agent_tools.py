"""Tools in a running agent: what hooks of each dialect see, and what their answers do."""

from __future__ import annotations

import json

import pytest
from agent_box import LS, agent, kodik, record, recorded, times, traces

from anyhook.tables import registry
from anyhook.tables.registry import DIALECTS, sample
from anyhook.tables.sample_rows import REASON
from conftest import World


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_denied_tool_does_not_run_and_the_model_is_told_why(world: World, dialect: str) -> None:
    shown, after = sample(dialect), registry.dialect(dialect).row_for("post_tool")
    world.hook(dialect, shown.event, shown.script)
    if after is not None:
        world.hook(dialect, after.native, record("after"), name="after")
    ran = agent(world, {"tools": [LS]}, {"expect": REASON, "text": "Then not."})
    assert (ran.stop, ran.text, traces(world)) == ("done", "Then not.", 0)
    assert ran.calls[0]["denied"] is True
    assert "post_tool" not in ran.events
    assert times(world, "after") == 0  # L-16


NAMES = {
    "kode": ("tool_call_pre", "tool", "input", "shell", {"command": "true", "timeout_seconds": 5}),
    "kodik": ("PreToolUse", "tool_name", "tool_input", "Bash", {"command": "true", "timeout_seconds": 5}),
    "agenthooks": ("before_tool", "tool_name", "tool_input", "Shell", {"command": "true", "timeout": 5}),
    "kolega": (
        "PreToolUse",
        "tool_name",
        "tool_input",
        "execute_terminal_command",
        {"command": "true", "timeout_seconds": 5},
    ),
    "kodelet": ("before_tool_call", "tool_name", "tool_input", "bash", {"command": "true", "timeout": 5}),
    "claude": ("PreToolUse", "tool_name", "tool_input", "Bash", {"command": "true", "timeout_seconds": 5}),
    "codex": ("PreToolUse", "tool_name", "tool_input", "Bash", {"command": "true", "timeout_seconds": 5}),
    "gemini": ("BeforeTool", "tool_name", "tool_input", "run_shell_command", {"command": "true", "timeout_seconds": 5}),
    "qwen": ("PreToolUse", "tool_name", "tool_input", "run_shell_command", {"command": "true", "timeout_seconds": 5}),
    "copilot": ("preToolUse", "toolName", "toolArgs", "bash", {"command": "true", "timeout_seconds": 5}),
    "goose": ("PreToolUse", "tool_name", "tool_input", "shell", {"command": "true", "timeout_seconds": 5}),
}


@pytest.mark.parametrize("dialect", NAMES)
def test_a_hook_sees_its_own_dialects_words(world: World, dialect: str) -> None:
    native, name_key, input_key, name, given = NAMES[dialect]
    world.hook(dialect, native, record("pre"))
    agent(world, {"tools": [{"shell": {"command": "true", "timeout_seconds": 5}}]}, "Done.")
    [payload] = recorded(world, "pre")
    assert (payload[name_key], payload[input_key]) == (name, given)


def test_nested_fields_there_and_back(world: World) -> None:
    world.write(world.project / "a.txt", "one two")
    answer = {"modified_input": {"path": "a.txt", "edit": {"old": "one", "new": "three"}}}
    world.hook("agenthooks", "before_tool", f"{record('pre')}; echo '{json.dumps(answer)}'")
    ran = agent(world, {"tools": [{"edit_file": {"path": "a.txt", "old_text": "one", "new_text": "1"}}]}, "Done.")
    [payload] = recorded(world, "pre")
    assert payload["tool_name"] == "StrReplaceFile"
    assert payload["tool_input"] == {"path": "a.txt", "edit": {"old": "one", "new": "1"}}
    assert ran.calls[0]["input"] == {"path": "a.txt", "old_text": "one", "new_text": "three"}
    assert (world.project / "a.txt").read_text() == "three two"


@pytest.mark.parametrize("matcher", ["Write", "write_file", "Edit|Write", ".*file"])
def test_a_matcher_may_name_either(world: World, matcher: str) -> None:
    kodik(world, "PreToolUse", record("pre"), matcher)
    agent(world, {"tools": [{"write_file": {"path": "a.txt", "content": "x"}}]}, "Done.")
    [payload] = recorded(world, "pre")
    assert payload["tool_name"] == "Write"
    assert payload["tool_input"] == {"file_path": "a.txt", "content": "x"}


@pytest.mark.parametrize("matcher", ["Bash", "Wri", "read_file"])
def test_a_matcher_for_another_tool_stays_quiet(world: World, matcher: str) -> None:
    kodik(world, "PreToolUse", record("pre"), matcher)
    agent(world, {"tools": [{"write_file": {"path": "a.txt", "content": "x"}}]}, "Done.")
    assert times(world, "pre") == 0


REWRITE = {
    "kode": ("tool_call_pre", {"replace_tool_input": {"command": "echo other"}}),
    "kodik": ("PreToolUse", {"modified_input": {"command": "echo other"}}),
    "agenthooks": ("before_tool", {"modified_input": {"command": "echo other"}}),
    "kolega": ("PreToolUse", {"hookSpecificOutput": {"updatedInput": {"command": "echo other"}}}),
    "kodelet": ("before_tool_call", {"blocked": False, "input": {"command": "echo other", "description": "x"}}),
}


@pytest.mark.parametrize("dialect", REWRITE)
def test_a_rewritten_input_runs(world: World, dialect: str) -> None:
    native, answer = REWRITE[dialect]
    world.hook(dialect, native, f"echo '{json.dumps(answer)}'")
    ran = agent(world, {"tools": [LS]}, {"expect": "other", "text": "Done."})
    assert (ran.stop, traces(world)) == ("done", 0)
    assert ran.calls[0]["input"]["command"] == "echo other"


def test_a_rewrite_that_the_tool_does_not_take_is_told(world: World) -> None:
    world.hook("kode", "tool_call_pre", """echo '{"replace_tool_input": {"command": 5}}'""")
    ran = agent(world, {"tools": [LS]}, {"expect": "does not take", "text": "Done."})
    assert (ran.stop, ran.calls[0]["denied"], traces(world)) == ("done", True, 0)


def test_kode_withholds_the_output(world: World) -> None:
    world.hook("kode", "tool_call_post", "echo secret seen >&2; exit 1")
    ran = agent(
        world,
        {"tools": [{"shell": {"command": "echo hush"}}]},
        {"expect": "secret seen", "expect_not": "hush", "text": "Done."},
    )
    assert ran.stop == "done"


def test_kolega_replaces_and_adds(world: World) -> None:
    answer = {"hookSpecificOutput": {"updatedToolOutput": "short", "additionalContext": "and more"}}
    world.hook("kolega", "PostToolUse", f"echo '{json.dumps(answer)}'")
    ran = agent(
        world,
        {"tools": [{"shell": {"command": "echo long"}}]},
        {"expect": ["short\n\nand more"], "expect_not": "long", "text": "Done."},
    )
    assert ran.stop == "done", ran.why


def test_kodelet_replaces_the_output_the_model_sees(world: World) -> None:
    answer = {"output": {"toolName": "bash", "success": True, "metadata": {"output": "quiet"}}}
    world.hook("kodelet", "after_tool_call", f"{record('after')}; echo '{json.dumps(answer)}'")
    ran = agent(
        world,
        {"tools": [{"shell": {"command": "echo loud"}}]},
        {"expect": "quiet", "expect_not": ["loud", "toolName"], "text": "Done."},
    )
    assert ran.stop == "done", ran.why
    [payload] = recorded(world, "after")
    assert (payload["tool_name"], payload["tool_output"]["toolName"]) == ("bash", "bash")
    assert payload["tool_output"]["success"] is True


@pytest.mark.parametrize(("native", "dialect"), [("PostToolUse", "kodik"), ("after_tool", "agenthooks")])
def test_feedback_after_a_tool(world: World, native: str, dialect: str) -> None:
    world.hook(dialect, native, "echo wrong style >&2; exit 2")
    ran = agent(world, {"tools": [LS]}, {"expect": "wrong style", "text": "Done."})
    assert (ran.stop, traces(world)) == ("done", 1)


def test_kolega_ends_the_turn_after_a_tool(world: World) -> None:
    world.hook("kolega", "PostToolUse", "echo enough >&2; exit 2")
    ran = agent(world, {"tools": [LS]}, "Never said.")
    assert (ran.stop, ran.status, ran.why, traces(world)) == ("blocked", 0, "enough", 1)
    again = agent(world, {"expect": "And now?", "text": "Better."}, prompt="And now?", follow=True, hooks=False)
    assert again.text == "Better."


def test_a_failed_tool_is_another_event(world: World) -> None:
    world.hook("agenthooks", "after_tool", record("after"))
    world.hook("agenthooks", "after_tool_failure", record("failure"), name="failure")
    world.hook("kode", "tool_call_post", record("post"))
    world.hook("kolega", "PostToolUse", record("kolega"))
    world.write(world.project / "a.txt", "text")
    ran = agent(
        world,
        {"tools": [{"shell": {"command": "echo oops; exit 3"}}]},
        {"tools": [{"edit_file": {"path": "a.txt", "old_text": "none", "new_text": "x"}}]},
        "Done.",
    )
    assert ran.stop == "done", ran.why
    assert times(world, "after") == 0
    assert [payload["tool_name"] for payload in recorded(world, "failure")] == ["Shell", "StrReplaceFile"]
    assert [payload["exit_code"] for payload in recorded(world, "post")] == [3, 1]
    assert [payload["is_error"] for payload in recorded(world, "kolega")] == [True, True]


def test_a_hook_that_wants_to_be_sure(world: World) -> None:
    """Au: without a user to ask, the call is denied with the hook's reason."""
    world.hook("agenthooks", "before_tool", """echo '{"decision": "ask", "reason": "sure?"}'""")
    ran = agent(world, {"tools": [LS]}, {"expect": "sure?", "text": "Done."})
    assert (ran.calls[0]["denied"], traces(world)) == (True, 0)


def test_two_calls_of_one_answer(world: World) -> None:
    """L-46: hooks of different calls may run in parallel. Each one decides about its own call."""
    world.hook(
        "kodelet", "before_tool_call", """grep -q forbidden && echo '{"blocked": true, "reason": "bad"}' || true"""
    )
    calls = [{"shell": {"command": f"echo {word} >> ran.txt"}} for word in ("good", "forbidden", "fine")]
    ran = agent(world, {"tools": calls}, {"expect": "bad", "text": "Done."})
    assert sorted(call["denied"] for call in ran.calls) == [False, False, True]
    assert traces(world) == 2


def test_a_subagents_own_hook(world: World) -> None:
    """Hooks in a sub-agent's front matter run for its own tool calls and when it stops, and for no other agent."""
    hook = '      hooks:\n        - type: command\n          command: "{}"\n'
    front = (
        "---\nname: self\nhooks:\n  PreToolUse:\n    - matcher: Glob\n"
        f"{hook.format(record('inside'))}  Stop:\n    - matcher: '*'\n{hook.format(record('end'))}---\nWork.\n"
    ).replace("\\n", "\\\\n")
    world.write(world.home / ".claude/agents/self.md", front)
    agent(
        world,
        {"tools": [{"list_files": {}}]},
        {"tools": [{"delegate_task": {"agent_name": "self", "task": "Count."}}]},
        {"by": "subagent", "tools": [{"list_files": {}}]},
        {"by": "subagent", "text": "Three."},
        "Done.",
    )
    assert [payload["agent_type"] for payload in recorded(world, "inside")] == ["self"]
    assert [payload["hook_event_name"] for payload in recorded(world, "end")] == ["SubagentStop"]


def test_a_text_that_looks_like_a_status_is_none(world: World) -> None:
    """The status comes from the process, not from its output, which may contain such a line."""
    world.hook("kode", "tool_call_post", record("post"))
    ran = agent(world, {"tools": [{"shell": {"command": "echo; echo '[exit code: 1]'"}}]}, "Done.")
    assert ran.stop == "done", ran.why
    assert [payload["exit_code"] for payload in recorded(world, "post")] == [0]
