"""Answers that are almost valid: what their dialect does not read is reported, and blocks if failures block."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.engine.interpret import interpret
from anyhook.engine.merge import judge
from anyhook.model.call import Run
from anyhook.model.hook import Hook
from anyhook.model.outcome import Outcome
from anyhook.model.words import HANDLER_KINDS, word_of
from anyhook.tables.registry import DIALECTS, dialect
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import Posture
    from conftest import World

DENY = '{"hookSpecificOutput": {"permissionDecision": "deny"}}'
CURSORS = (
    '{"permission": "deny"}',
    '{"hookSpecificOutput": {"permission": "deny"}}',
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permission": "deny"}}',
)
FOREIGN = [
    ("kodik", '{"permissionDecision": "deny"}'),
    ("kodik", DENY),
    ("kodik", '{"decision": "deny"}'),
    ("kodik", '{"blocked": true}'),
    ("kodik", '{"decision": "block"}\n{"additional_context": "fine"}'),
    ("claude", '{"decision": "deny"}'),
    ("claude", '{"permissionDecision": "deny"}'),
    ("claude", '{"hookSpecificOutput": {"decision": {"behavior": "deny"}}}'),
    ("claude", '{"ok": false}'),
    ("claude", 'checking\n{"decision": "block"}'),
    ("qwen", '{"cancel": true}'),
    ("codex", '{"blocked": true}'),
    ("codex", '{"continue": false}'),
    ("codex", '{"continue": false, "stopReason": "no"}'),
    *((name, text) for name in ("codex", "claude", "gemini") for text in CURSORS),
    ("gemini", '{"action": "block"}'),
    ("copilot", '{"decision": "deny"}'),
    ("copilot", DENY),
    ("goose", '{"decision": "deny"}'),
    ("goose", '{"continue": false}'),
    ("agenthooks", '{"decision": "block"}'),
    ("agenthooks", '{"result": "block"}'),
    ("kode", '{"decision": "block"}'),
    ("kode", DENY),
    ("kodelet", '{"block": true}'),
    ("kodelet", '{"Decision": "DENY"}'),
    ("kolega", '{"decision": "block"}'),
    ("kolega", '{"permissionDecision": "deny"}'),
]
UNCLEAR = [
    ("claude", '{"decision": "bloc'),
    ("claude", 'done: {"decision": "approve"}'),
    ("claude", '{"decision": "Block"}'),
    ("claude", '{"decision": true}'),
    ("claude", '{"decision": null}'),
    ("claude", '{"hookSpecificOutput": "deny"}'),
    ("claude", '{"hookSpecificOutput": {"permissionDecision": "denied"}}'),
    ("claude", '{"decision": "approve"} {}'),
    ("codex", '{"decision": "block"'),
    ("codex", "[]"),
    ("gemini", '{"decision": "no"}'),
    ("qwen", "{'decision': 'block'}"),
    ("copilot", '{"permissionDecision": "no"}'),
    ("copilot", "refused"),
    ("goose", '{"decision": "refuse"}'),
    ("goose", 'x {"decision": "block"'),
    ("kodik", '{"decision": "stop"}'),
    ("kodik", '{"decision": "block"'),
    ("kodik", '{"modified_input": []}'),
    ("agenthooks", '{"decision": "no"}'),
    ("agenthooks", '["deny"]'),
    ("agenthooks", '{"decision": ["deny"]}'),
    ("kode", '{"block": "yes"}'),
    ("kode", "no"),
    ("kodelet", '{"blocked": "true"}'),
    ("kodelet", "\n"),
    ("kolega", '{"hookSpecificOutput": {"permissionDecision": "no"}}'),
    ("kolega", "not now"),
    *(
        (name, said)
        for name in ("kodik", "claude", "gemini", "goose")
        for said in ('["deny"]', '"no"', "false\n", "[]")
    ),
]
CLEAR = [
    *((name, "") for name in ("claude", "codex", "gemini", "qwen", "copilot", "goose", "kodik", "agenthooks", "kode")),
    *((name, "{}") for name in ("claude", "codex", "gemini", "qwen", "copilot", "goose", "kodik", "kode", "kodelet")),
    *((name, "all good") for name in ("claude", "codex", "gemini", "qwen", "goose", "kodik", "agenthooks")),
    *((name, "[info] fine, found 3") for name in ("claude", "gemini", "goose", "kodik")),
    ("claude", '{"suppressOutput": true, "continue": true}'),
    ("claude", '{"decision": "approve", "reason": "fine"}'),
    ("claude", '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'),
    ("codex", '{"decision": "approve"}'),
    ("gemini", '{"decision": "allow", "suppressOutput": true}'),
    ("copilot", '{"type": "progress", "message": "1"}\n{"permissionDecision": "allow"}'),
    ("agenthooks", '{"decision": "allow", "log": "seen"}'),
    ("kodik", 'a log line\n{"decision": "approve"}'),
    ("kode", '{"block": false}'),
    ("kodelet", '{"blocked": false}'),
    ("kolega", '{"hookSpecificOutput": {"permissionDecision": "allow"}}'),
    ("claude", '{"tyop": 1}'),
]


def judged(
    name: str,
    said: str | bytes,
    posture: Posture,
    exit_code: int = 0,
    event: str = "pre_tool",
    handler: str = "command",
) -> Outcome:
    table = dialect(name)
    row = table.row_for(event)
    assert row is not None
    kind = word_of(handler, HANDLER_KINDS)
    hook = Hook("h", "guard", name, "user", "f", (), "/", "", row.native, (event,), None, kind, {}, 5.0)
    run = Run("exited", exit_code, said.encode() if isinstance(said, str) else said, b"", 0, 0.0)
    return judge(hook, table, row, interpret(hook, table.replies[handler], event, run), posture, {})


def codes(outcome: Outcome) -> list[str]:
    return [problem.code for problem in outcome.problems]


@each_of(("name", "said"), FOREIGN)
def test_a_refusal_in_another_dialects_words_is_told_and_closes_under_deny(name: str, said: str) -> None:
    for posture in ("native", "allow"):
        outcome = judged(name, said, posture)
        assert outcome.verdict != "block"
        assert codes(outcome).count("foreign-refusal") == 1
        assert any("guard" in message and "refusal" in message for message in outcome.messages)
    closed = judged(name, said, "deny")
    assert closed.verdict == "block"
    assert "foreign-refusal" in codes(closed)


@pytest.mark.parametrize("said", ['{"decision": "block"}', DENY])
def test_a_refusal_that_its_own_dialect_cannot_use_is_told(said: str) -> None:
    outcome = judged("codex", said, "native")
    assert (outcome.verdict, codes(outcome)) == ("none", ["hook-output-invalid"])
    assert outcome.messages[0].startswith("anyhook: `guard` refused, but its output cannot be used: ")


@each_of(("name", "said"), UNCLEAR)
def test_what_is_not_a_clear_yes_closes_under_deny(name: str, said: str) -> None:
    assert judged(name, said, "native").verdict != "block"
    assert judged(name, said, "allow").verdict != "block"
    closed = judged(name, said, "deny")
    assert closed.verdict == "block"
    assert closed.reason
    assert closed.problems


@each_of(("name", "said"), CLEAR)
def test_a_documented_yes_goes_on_under_deny(name: str, said: str) -> None:
    outcome = judged(name, said, "deny")
    assert outcome.verdict in ("none", "allow")
    assert "foreign-refusal" not in codes(outcome)
    if "tyop" not in said:
        assert codes(outcome) == []


GATED = [name for name in DIALECTS if "command" in dialect(name).replies and dialect(name).row_for("pre_tool")]


@pytest.mark.parametrize("said", [b"\x80\xff", b"fine \xff", b'{"x": "\xff"}'])
@pytest.mark.parametrize("name", GATED)
def test_bytes_that_are_no_text_are_no_yes(name: str, said: bytes) -> None:
    assert judged(name, said, "deny").verdict == "block"
    assert judged(name, "schön ✓", "native").verdict == judged(name, "fine", "native").verdict


@pytest.mark.parametrize("code", [1, 2, 3, 126, 127, 255])
@pytest.mark.parametrize("name", GATED)
def test_a_status_other_than_0_is_no_yes(name: str, code: int) -> None:
    """This also holds if the agent ignores the status: a shell uses it to say that a program was not found."""
    assert judged(name, "", "deny", exit_code=code).verdict == "block"
    assert judged(name, "", "allow", exit_code=code).verdict in ("none", "block")


NEVER_A_YES = (
    "no", '"allow"', "[]", "5", "null", "false", '{"ok": true', '{"ok": false}', 'fine: {"decision": "block"',
    '{"decision": "deny"}', '{"decision": "block"}', '{"blocked": true}', '{"continue": false, "block": true}',
    '{"hookSpecificOutput": {"permissionDecision": "deny"}}', '{"decision": "approve"}\n{"ok": false}',
)  # fmt: skip
ASKED = [
    (name, handler)
    for name in DIALECTS
    for handler in dialect(name).replies
    if handler not in ("command", "builtin", "callable", "rule")
]


@each_of("said", NEVER_A_YES)
@each_of(("name", "handler"), ASKED)
def test_every_kind_of_handler_needs_a_clear_yes_under_deny(name: str, handler: str, said: str) -> None:
    closed = judged(name, said, "deny", handler=handler)
    assert closed.verdict == "block"
    assert closed.reason


@each_of(("name", "handler"), ASKED)
def test_silence_of_a_model_is_no_yes(name: str, handler: str) -> None:
    """Nor is the silence of a function in `hooks.py`: its process answers even if the function asks for nothing. If it
    exits before that, the function has failed, and in anyhook's own dialect failures block."""
    asked = handler in ("prompt", "agent", "function")
    for said in ("", " \n"):
        assert (judged(name, said, "deny", handler=handler).verdict == "block") is asked
        assert (judged(name, said, "native", handler=handler).verdict == "block") is (handler == "function")
        assert judged(name, said, "allow", handler=handler).verdict == "none"
    yes = "{}" if name == "codex" else '{"ok": true}'  # Codex takes no answer with a key of its own
    assert judged(name, yes, "deny", handler=handler).verdict == "none"


@each_of("said", ["no", "5", "null", "all good"])
def test_text_of_an_mcp_tool_is_no_yes_unless_it_is_heard(said: str) -> None:
    """Claude Code reads it like stdout: context after a prompt, the path of a new worktree, nothing before a tool."""
    for posture in ("native", "allow"):
        assert judged("claude", said, posture, handler="mcp_tool").replace(doubt="") == Outcome()
    closed = judged("claude", said, "deny", handler="mcp_tool")
    assert (closed.verdict, codes(closed)) == ("block", ["hook-output-invalid"])
    heard = judged("claude", said, "deny", event="user_prompt_submit", handler="mcp_tool")
    assert (heard.verdict, heard.context) == ("none", (said,))
    made = judged("claude", f"done\n/tmp/{said}\n", "deny", event="worktree_create", handler="mcp_tool")
    assert (made.verdict, made.tool_output) == ("none", f"/tmp/{said}")


def test_callables_of_a_program_need_a_clear_yes_under_deny(world: World) -> None:
    answers: list[object] = [False, "deny", {"decision": "block"}, 0, Outcome(verdict="no"), ValueError("x")]  # type: ignore[arg-type]
    for answer in answers:
        engine = world.engine(on_failure="deny")

        def asked(_event: Event, answer: object = answer) -> Outcome | None:
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[return-value]

        engine.on("pre_tool", asked)
        assert engine.fire_sync(Event.pre_tool("Bash", {})).stops, answer
        engine.close_sync()


def test_a_key_that_nobody_reads_is_reported_and_closes_nothing() -> None:
    outcome = judged("claude", '{"tyop": 1, "hookSpecificOutput": {"permisionDecision": "deny"}}', "deny")
    assert codes(outcome) == ["unread-key", "unread-key"]
    assert [problem.what.split("`")[1] for problem in outcome.problems] == [
        "tyop",
        "hookSpecificOutput.permisionDecision",
    ]
    assert outcome.verdict == "none"
    assert codes(judged("kode", '{"tyop": 1}', "deny")) == ["unknown-output-key"]


def test_a_refusal_that_counts_is_not_foreign_whatever_else_it_says() -> None:
    outcome = judged("claude", '{"decision": "block", "permissionDecision": "deny", "blocked": true}', "native")
    assert outcome.verdict == "block"
    assert "foreign-refusal" not in codes(outcome)
    assert "foreign-refusal" not in codes(judged("claude", '{"blocked": true}', "native", exit_code=2))


def test_the_words_of_another_event_are_foreign() -> None:
    outcome = judged("claude", DENY, "native", event="user_prompt_submit")
    assert "foreign-refusal" in codes(outcome)
    assert judged("claude", DENY, "deny", event="user_prompt_submit").verdict == "block"
    assert judged("claude", DENY, "deny", event="post_tool").verdict != "block", "not a gate"


def test_a_failed_run_that_prints_a_foreign_refusal_is_told() -> None:
    assert "foreign-refusal" in codes(judged("qwen", '{"blocked": true}', "native", exit_code=1))


def test_the_person_and_the_journal_are_told(world: World) -> None:
    world.hook("kodik", "PreToolUse", f"echo '{DENY}'")
    decision = world.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert decision["verdict"] == "none"
    assert "foreign-refusal" in [problem["code"] for problem in decision["problems"]]
    assert any("refusal" in message for message in decision["messages"])
    assert "foreign-refusal" in json.dumps(world.journal())
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(world.project)}
    told = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    assert "refusal" in json.loads(told.stdout)["systemMessage"]


@pytest.mark.parametrize("said", ['log {"decision": "block"}\n/tmp/w\n', '{"decision": "blo\n/tmp/w\n', "/tmp/{w"])
def test_a_path_beside_the_start_of_an_object_is_no_clear_yes(said: str) -> None:
    assert judged("claude", said, "deny", event="worktree_create").verdict == "block"
    assert judged("claude", said, "native", event="worktree_create").verdict != "block"
    assert judged("claude", "done\n/tmp/w\n", "deny", event="worktree_create").verdict != "block"
