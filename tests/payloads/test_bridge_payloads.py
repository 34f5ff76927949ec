"""Every payload that real agents sent: what it means, and the answer that the agent gets. Nothing is started here."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator

from anyhook.engine.express import completed, express
from anyhook.engine.receive import receive
from anyhook.engine.settle import INSTEAD_OF, settle
from anyhook.model.decision import Decision, Texts
from anyhook.model.event import EVENTS, FIELDS
from anyhook.model.firing import NO_OPINION, Answer
from anyhook.tables.host_rows import EFFECTS
from anyhook.tables.registry import HOSTS, dialect, host, sample
from anyhook.tables.sample_rows import COMMAND, REASON
from anyhook.tables.translate import restored, to_native
from captured import AGENTS, BY_FOLDER, DATA, PAYLOADS, each_folder, received, table_of
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import HostEffect

ENOUGH = 149
"""The number of payloads when there were ten agents; there are more now."""


def test_all_payloads_are_here() -> None:
    assert len(PAYLOADS) >= ENOUGH
    assert {AGENTS.get(path.parent.name, path.parent.name) for path in PAYLOADS} <= set(HOSTS)


@each_folder
def test_a_payload_becomes_events(folder: str) -> None:
    for path in BY_FOLDER[folder]:
        _, row, payload, raw, found = received(path)
        assert [event.name for event in found.events] == [] or row.canonical, path
        for event in found.events:
            assert event.name in row.canonical, path
            assert event.raw == raw, f"{path}: the agent's bytes survive"
            assert event.hosted, path
            assert set(event.data) <= set(FIELDS), path
            assert isinstance(event.data["session"], str), path
            assert event.data["session"] in raw.decode(), path
            for field in ("prompt", "tool", "source", "trigger", "reason", "call_id", "message"):
                assert isinstance(event.data.get(field, ""), str), (path, field)
            if "tool" in EVENTS[event.name]:
                assert event.data["tool"], path
                assert isinstance(event.data["input"], dict), path
        if not row.canonical:
            assert row.why_not, f"{path}: an event that goes nowhere says why"
            assert not row.installed, path
        assert json.loads(raw) == payload, f"{path}: nothing in it was changed"


def test_a_new_session_is_called_so_everywhere() -> None:
    """Matchers of published hooks say `startup`. All of these sessions were new."""
    starts = [path for path in PAYLOADS if path.stem.lower() == "sessionstart"]
    assert len(starts) >= len(BY_FOLDER) // 2
    for path in starts:
        assert [event.data["source"] for event in received(path)[4].events] == ["startup"], path


@each_folder
def test_no_opinion_is_what_the_agent_takes_for_none(folder: str) -> None:
    for row, event in ((found[1], event) for found in map(received, BY_FOLDER[folder]) for event in found[4].events):
        settled = settle(Decision(event.name), row.says, "here")
        assert (settled.effects, settled.problems) == ({}, ())
        assert express(settled.effects, row.says) == NO_OPINION == Answer("", "", 0)
        if row.silence is not None:
            assert json.loads(completed(NO_OPINION, row.silence).stdout) == dict(row.silence)
            assert not {"deny", "block"} & set(map(str, row.silence.values()))


def test_the_refusals_beside_their_payloads() -> None:
    """Every captured tool call is refused with the exact text of its agent's sample."""
    calls = [path for path in PAYLOADS if "pre_tool" in table_of(path)[1].canonical]
    assert len(calls) > ENOUGH // 4
    for path in calls:
        table, row, _, _, found = received(path)
        shown = sample(table.name)
        wanted = json.loads(json.dumps(dict(shown.stdout)).replace(f"{COMMAND}: ", ""))  # prefix for a part of a call
        decision = Decision("pre_tool", verdict="block", effect="deny_tool", reason=REASON, hook="h")
        for event in found.events:
            said = express(settle(decision.replace(event=event.name), row.says, "here").effects, row.says)
            told = json.loads(said.stdout) if said.stdout else {}
            assert (told, said.stderr, said.status) == (wanted, shown.stderr, shown.status), path


@each_folder
def test_hooks_see_their_own_names_for_tools(folder: str) -> None:
    """A command guard written for one dialect sees the command in every host."""
    of_tools = [path for path in BY_FOLDER[folder] if "tool" in path.stem.lower()]
    for event in (event for path in of_tools for event in received(path)[4].events):
        if "tool" not in event.data or not event.name.startswith(("pre_", "post_", "permission")):
            continue
        native = to_native(event, dialect("kodik")).data
        if native["tool"] == "Bash":
            assert native["input"]["command"], native  # type: ignore[index, call-overload]
        elif native["tool"] in ("Write", "Edit"):
            assert "file_path" in native["input"], native  # type: ignore[operator]
        else:
            assert event.ours == "" or native["tool"] in ("rg", "sub_agent", event.data["tool"])


@each_of("agent", HOSTS)
def test_shell_calls_are_known_as_such(agent: str) -> None:
    shown, table = sample(agent), host(agent)
    row = table.row(shown.calls)
    assert row is not None
    (event,) = receive(table, row, dict(shown.payload), b"").events
    assert "shell" in (event.ours, event.data["tool"])
    given = event.data["input"]
    assert isinstance(given, dict)
    assert restored(given, event.inputs or {})["command"] == COMMAND


SPECIFIC = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}
CLAUDE_DENY = {"hookSpecificOutput": {**SPECIFIC["hookSpecificOutput"], "permissionDecisionReason": "no"}}
BLOCK, DENY = {"decision": "block", "reason": "no"}, {"decision": "deny", "reason": "no"}
EXIT_2 = Answer("", "no", 2)


def specific(event: str, keys: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **keys}}


# Answers that each agent was seen to honour: (agent, event) → stdout as an object, or the whole answer.
REFUSALS: dict[tuple[str, str], dict[str, Any] | Answer] = {
    ("claude", "PreToolUse"): CLAUDE_DENY,
    ("codex", "PreToolUse"): CLAUDE_DENY,
    ("gemini", "BeforeTool"): DENY,
    ("qwen", "PreToolUse"): CLAUDE_DENY,
    ("copilot", "preToolUse"): {"permissionDecision": "deny", "permissionDecisionReason": "no"},
    ("goose", "PreToolUse"): BLOCK,
    ("kimi", "PreToolUse"): CLAUDE_DENY,
    ("vibe", "pre_tool"): DENY,
    ("cline", "PreToolUse"): {"cancel": True, "errorMessage": "no"},
    ("opencode", "tool.execute.before"): EXIT_2,
    ("kolega", "PreToolUse"): CLAUDE_DENY,
    ("copilot", "permissionRequest"): {"behavior": "deny", "message": "no"},
    ("claude", "UserPromptSubmit"): BLOCK,
    ("codex", "UserPromptSubmit"): BLOCK,
    ("gemini", "BeforeAgent"): DENY,
    ("qwen", "UserPromptSubmit"): BLOCK,
    ("kimi", "UserPromptSubmit"): EXIT_2,
    ("kolega", "UserPromptSubmit"): EXIT_2,
    ("claude", "Stop"): BLOCK,
    ("codex", "Stop"): BLOCK,
    ("qwen", "Stop"): BLOCK,
    ("goose", "Stop"): BLOCK,
    ("copilot", "agentStop"): BLOCK,
    ("gemini", "AfterAgent"): DENY,
    ("vibe", "post_agent"): DENY,
    ("kimi", "Stop"): EXIT_2,
    ("claude", "PostToolUse"): BLOCK,
    ("codex", "PostToolUse"): BLOCK,
    ("gemini", "AfterTool"): DENY,
    ("vibe", "post_tool"): DENY,
    # From documents, and from tests of twelve more agents.
    **dict.fromkeys(
        product(("droid", "deepagents", "codebuddy", "augment", "kimicli", "muse"), ["PreToolUse"]), CLAUDE_DENY
    ),
    **dict.fromkeys(product(("antigravity", "grok", "openhands"), ["PreToolUse"]), DENY),
    **dict.fromkeys(product(("devin", "codepuppy"), ["PreToolUse"]), BLOCK),
    **dict.fromkeys(product(("kiro", "junie", "reasonix", "letta", "mastra"), ["PreToolUse"]), EXIT_2),
    **dict.fromkeys(product(("kiro", "junie", "reasonix", "letta", "grok", "muse"), ["UserPromptSubmit"]), EXIT_2),
    **dict.fromkeys(product(("devin", "droid", "deepagents", "codebuddy"), ["UserPromptSubmit", "Stop"]), BLOCK),
    **dict.fromkeys(product(("junie", "letta", "muse"), ["Stop", "PermissionRequest"]), EXIT_2),
    ("openhands", "UserPromptSubmit"): DENY,
    ("openhands", "Stop"): DENY,
    ("grok", "Stop"): BLOCK,
    ("grok", "SubagentStop"): BLOCK,
    ("devin", "PermissionRequest"): BLOCK,
    ("hermes", "pre_tool_call"): BLOCK,
    ("hermes", "pre_verify"): BLOCK,
    ("crush", "PreToolUse"): {"version": 1, **DENY},
    ("cursor", "preToolUse"): {"permission": "deny", "user_message": "no", "agent_message": "no"},
    ("cursor", "beforeSubmitPrompt"): {"continue": False, "user_message": "no"},
    ("cursor", "subagentStart"): {"permission": "deny", "user_message": "no"},
    ("cursor", "stop"): {"followup_message": "no"},
    ("cursor", "subagentStop"): {"followup_message": "no"},
    ("antigravity", "Stop"): {"decision": "continue", "reason": "no"},
    ("augment", "PostToolUse"): specific("PostToolUse", BLOCK),
    ("augment", "Stop"): specific("Stop", BLOCK),
    # One entry serves two harnesses: one reads the keys at the top level, the other reads them inside.
    ("vscode", "PreToolUse"): {**CLAUDE_DENY, "permissionDecision": "deny", "permissionDecisionReason": "no"},
    ("vscode", "UserPromptSubmit"): {**BLOCK, "continue": False, "stopReason": "no"},
    ("vscode", "Stop"): {**BLOCK, **specific("Stop", BLOCK)},
    ("vscode", "SubagentStop"): {**BLOCK, **specific("SubagentStop", BLOCK)},
}


@each_of(("agent", "native"), REFUSALS, ids="-".join)
def test_a_refusal_is_what_the_agent_honours(agent: str, native: str) -> None:
    row = host(agent).row(native)
    assert row is not None
    decision = Decision(row.canonical[0], verdict="block", effect="deny_tool", reason="no", hook="h")
    settled = settle(decision, row.says, "here")
    said = express(settled.effects, row.says)
    expected = REFUSALS[agent, native]
    assert settled.problems == ()
    if isinstance(expected, Answer):
        assert said == expected
    else:
        assert (json.loads(said.stdout), said.stderr, said.status) == (expected, "", 0)


@pytest.mark.parametrize("event", ["stop", "subagent_stop"])
def test_an_end_where_the_agent_ends_sends_nobody_on(event: str) -> None:
    for row in (row for agent in HOSTS for row in host(agent).events if event in row.canonical):
        settled = settle(Decision(event, end_turn=True, reason="enough"), row.says, "here")
        assert (settled.effects, settled.problems) == ({}, ())


@each_of("agent", HOSTS)
def test_every_agent_can_refuse_a_tool_call(agent: str) -> None:
    rows = [row for row in host(agent).events if row.canonical[:1] == ("pre_tool",)]
    assert len(rows) == 1
    assert rows[0].native == sample(agent).calls


FULL = Decision(
    "pre_tool",
    verdict="ask",
    reason="sure?",
    tool_input={"command": "new"},
    tool_output="out",
    prompt="other",
    context=Texts(["ctx"]),
    messages=Texts(["note"]),
    follow_ups=Texts(["more"]),
    end_turn=True,
)
DECISIONS = [
    FULL,
    FULL.replace(verdict="allow"),
    FULL.replace(verdict="block", effect="deny_tool", hook="h"),
    FULL.replace(verdict="block", effect="end_turn", hook="h"),
    FULL.replace(verdict="block", effect="advisory", hook="h"),
    Decision("stop", follow_ups=Texts(["more"])),
    Decision("pre_tool", tool_input={"command": "new"}),
]


@each_of("agent", HOSTS)
def test_nothing_is_lost_in_silence(agent: str) -> None:
    """Every effect of a decision is in the answer, or a problem names it."""
    for row, decision in product((row for row in host(agent).events if row.canonical), DECISIONS):
        settled = settle(decision.replace(event=row.canonical[0]), row.says, f"{agent} {row.native}")
        answer = express(settled.effects, row.says)
        told = answer.stdout + answer.stderr
        named_losses = " ".join(problem.what for problem in settled.problems)
        assert set(settled.effects) <= set(row.says)
        for effect, text in (("context", "ctx"), ("message", "note"), ("follow_up", "more")):
            if text in decision.context + decision.messages + decision.follow_ups:
                assert text in told or f"`{effect}`" in named_losses, (row.native, effect, told)
        if decision.stops:
            assert "sure?" in told or "`block`" in named_losses or "`end_turn`" in named_losses, row.native
            assert '"allow"' not in told
            assert "new" not in told.replace("renew", ""), "a refused call is not rewritten as well"


@each_of("agent", HOSTS)
def test_asking_is_never_letting_through(agent: str) -> None:
    row = next(row for row in host(agent).events if row.canonical[:1] == ("pre_tool",))
    settled = settle(Decision("pre_tool", verdict="ask", reason="sure?"), row.says, "here")
    assert set(settled.effects) in ({"ask"}, {"block"})
    assert bool(settled.problems) == ("block" in settled.effects)


@each_of("agent", HOSTS)
def test_a_rewrite_that_cannot_be_done_is_a_refusal(agent: str) -> None:
    row = next(row for row in host(agent).events if row.canonical[:1] == ("pre_tool",))
    settled = settle(Decision("pre_tool", tool_input={"command": "safe"}), row.says, "here")
    answer = express(settled.effects, row.says)
    assert set(settled.effects) in ({"input"}, {"block"})
    assert "safe" in answer.stdout + answer.stderr
    if agent != "codex":  # codex accepts a rewrite only with this word, which grants nothing
        assert '"allow"' not in answer.stdout, "a rewrite grants nothing"


def test_codex_is_told_nothing_that_its_schemas_do_not_have() -> None:
    """In Codex, an unknown key is a failed hook, and a failed hook lets the tool run."""
    schemas = json.loads((DATA / "codex-output-schemas.json").read_text())
    checked = 0
    for row in host("codex").events:
        name = "".join(f"-{char.lower()}" if char.isupper() else char for char in row.native).lstrip("-")
        schema = schemas.get(f"{name}.command.output")
        if schema is None:
            assert row.says == {}, row.native
            continue
        for effects in [*([effect] for effect in row.says), list(row.says)]:
            values: dict[HostEffect, Any] = {effect: "text" for effect in effects if effect in row.says}
            if "input" in values:
                values["input"] = {"command": "ls"}
            if "block" in values:
                values.pop("input", None)
            if values:
                said = json.loads(express(values, row.says).stdout)
                Draft7Validator(schema).validate(said)
                checked += 1
    assert checked > 20


def test_tables_are_sound() -> None:
    assert set(INSTEAD_OF) == set(EFFECTS)
    for agent in HOSTS:
        table = host(agent)
        assert table.name == agent
        names = [row.native for row in table.events]
        assert len(names) == len(set(names))
        for row in table.events:
            assert set(row.says) <= set(EFFECTS), (agent, row.native)
            assert set(row.canonical) <= set(EVENTS), (agent, row.native)
            assert {taken.field for taken in (*table.base, *row.takes)} <= {*FIELDS, "response"}
            assert row.limit_s >= 1
            assert row.installed <= bool(row.canonical)
