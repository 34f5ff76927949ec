"""Prompts, stops, sub-agents and permissions in a running agent, for every dialect that supports them."""

from __future__ import annotations

import json

import pytest
from agent_box import LS, agent, kodik, record, recorded, times, traces

from conftest import World

# -- sessions and prompts


@pytest.mark.parametrize(("dialect", "status"), [("kode", 1), ("agenthooks", 2)])
def test_a_hook_refuses_the_session(world: World, dialect: str, status: int) -> None:
    world.hook(dialect, "session_start", f"echo closed >&2; exit {status}")
    world.hook(dialect, "session_end", record("end"), name="end")
    ran = agent(world, "Never said.")
    assert (ran.stop, ran.status, ran.why) == ("refused", 2, "closed")
    assert ran.events == ["session_start", "session_end"]
    assert times(world, "end") == 1


@pytest.mark.parametrize("dialect", ["kodik", "kolega"])
def test_a_block_that_is_only_advice(world: World, dialect: str) -> None:
    world.hook(dialect, "SessionStart", "echo closed >&2; exit 2")
    assert agent(world, "Said.").text == "Said."


REFUSE = {
    "kode": ("user_prompt_submit", "echo no >&2; exit 1"),
    "kodik": ("UserPromptSubmit", "echo no >&2; exit 2"),
    "kolega": ("UserPromptSubmit", "echo no >&2; exit 2"),
    "kodelet": ("user_message_send", """echo '{"blocked": true, "reason": "no"}'"""),
    "agenthooks": ("before_agent", "echo no >&2; exit 2"),
}


@pytest.mark.parametrize("dialect", REFUSE)
def test_a_hook_refuses_the_prompt(world: World, dialect: str) -> None:
    world.hook(dialect, *REFUSE[dialect])
    ran = agent(world, "Never said.", prompt="Do it.")
    assert (ran.stop, ran.status, ran.why, ran.text) == ("refused", 2, "no", "")
    assert ran.events[-1] == "session_end"


def test_a_turn_that_ends_without_a_block(world: World) -> None:
    """Ge: `continue: false` ends the turn and refuses nothing."""
    world.hook("kolega", "UserPromptSubmit", """echo '{"continue": false}'""")
    ran = agent(world, "Never said.")
    assert (ran.stop, ran.status, ran.report["turns"]) == ("blocked", 0, 0)


@pytest.mark.parametrize(
    ("dialect", "native", "answer"),
    [
        ("kode", "user_prompt_submit", {"replace_prompt": "Do that."}),
        ("kodik", "UserPromptSubmit", {"modified_prompt": "Do that."}),
    ],
)
def test_a_rewritten_prompt(world: World, dialect: str, native: str, answer: dict[str, str]) -> None:
    world.hook(dialect, native, f"echo '{json.dumps(answer)}'")
    ran = agent(world, {"expect": "Do that.", "expect_not": "Do this.", "text": "Done."}, prompt="Do this.")
    assert ran.text == "Done.", ran.why


def test_context_at_start_and_prompt(world: World) -> None:
    answer = {"hookSpecificOutput": {"additionalContext": "on Mondays"}}
    world.hook("kolega", "UserPromptSubmit", f"echo '{json.dumps(answer)}'")
    world.hook("kodik", "SessionStart", """echo '{"additional_context": "branch main"}'""")
    world.hook("agenthooks", "session_start", "echo plain words")
    expected = ["branch main", "plain words", "Go.", "on Mondays"]
    ran = agent(world, {"expect": expected, "text": "Done."})
    assert ran.text == "Done.", ran.why


def test_the_source_of_a_session(world: World) -> None:
    kodik(world, "SessionStart", record("first"), "startup")
    kodik(world, "SessionStart", record("again"), "resume")
    world.hook("kode", "session_start", record("kode"))
    ran = agent(world, "One.")
    assert (times(world, "first"), times(world, "again")) == (1, 0)
    more = agent(world, {"expect": "Go.", "text": "Two."}, resume=ran.report["session"])
    assert (times(world, "first"), times(world, "again")) == (1, 1)
    assert more.report["session"] == ran.report["session"]
    first = recorded(world, "kode")[0]
    assert (first["provider"], first["session_id"]) == ("script", ran.report["session"])


def test_the_end_of_a_session(world: World) -> None:
    world.hook("kode", "session_end", record("kode"))
    world.hook("kolega", "SessionEnd", record("kolega"))
    world.hook("agenthooks", "session_end", record("kimi"))
    agent(world, {"tools": [LS]}, "Done.")
    assert [(it["reason"], it["turns"]) for it in recorded(world, "kode")] == [("user_exit", 2)]
    assert [it["reason"] for it in recorded(world, "kolega")] == ["ask_complete"]
    assert [(it["exit_reason"], it["total_steps"]) for it in recorded(world, "kimi")] == [("user_exit", 2)]


def test_a_turns_last_word_waits_for_the_next_prompt(world: World) -> None:
    world.hook("agenthooks", "after_agent", "echo too long >&2; exit 2")
    assert agent(world, "One.").stop == "done"
    ran = agent(world, {"expect": ["too long", "Go."], "text": "Two."}, follow=True)
    assert ran.text == "Two.", ran.why


# -- stops

STOP = {
    "kodik": ("Stop", "echo 'not yet' >&2; exit 2", 5),
    "agenthooks": ("before_stop", "echo 'not yet' >&2; exit 2", 3),
    "kolega": ("Stop", "echo 'not yet' >&2; exit 2", 5),
}


@pytest.mark.parametrize("dialect", STOP)
def test_a_stop_is_kept_off_as_often_as_the_dialect_allows(world: World, dialect: str) -> None:
    """A-38, Ar, G-25, Dn: after the limit, the hook runs once more. Its verdict is ignored, and that is reported."""
    native, command, bound = STOP[dialect]
    world.hook(dialect, native, f"{record('stops')}; {command}")
    again = {"expect": "not yet", "text": "Again.", "times": bound}
    ran = agent(world, "First.", again, "Never said.")
    assert (ran.stop, ran.text, ran.report["turns"]) == ("done", "Again.", bound + 1)
    assert times(world, "stops") == bound + 1
    last = [event for event in ran.report["events"] if event["event"] == "stop"][-1]
    assert "bound-reached" in [problem["code"] for problem in last["problems"]]
    assert last["verdict"] == "none"


def test_the_notice_of_a_blocked_stop(world: World) -> None:
    """A-37."""
    script = """if [ -e ../told ]; then exit 0; fi; touch ../told; echo 'Tests must pass' >&2; exit 2"""
    world.hook("agenthooks", "before_stop", script)
    ran = agent(world, "First.", {"expect": "[Hook blocked stop: Tests must pass]", "text": "They do."})
    assert ran.text == "They do.", ran.why


def test_each_dialect_has_its_own_count(world: World) -> None:
    """When one dialect reaches its limit, hooks of the others still count."""
    for dialect, (native, command, _) in STOP.items():
        world.hook(dialect, native, f"{record(dialect)}; {command}")
    ran = agent(world, "First.", {"text": "Again.", "times": 13}, "Never said.")
    assert (ran.stop, ran.report["turns"]) == ("done", 1 + 5 + 3 + 5)


def test_follow_ups_are_bound_by_the_turns(world: World) -> None:
    """L-31, Lk."""
    world.hook("kodelet", "agent_stop", f"""{record("stops")}; echo '{{"follow_up_messages": ["More!"]}}'""")
    ran = agent(world, "First.", {"expect": "More!", "text": "Again.", "times": 9}, max_turns=4)
    assert (ran.stop, ran.status, ran.report["turns"], times(world, "stops")) == ("max_turns", 1, 4, 4)
    assert recorded(world, "stops")[0]["messages"] == [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "First."},
    ]


def test_agent_stop_comes_after_an_answer_without_tools(world: World) -> None:
    """L-20, L-26."""
    world.hook("kodelet", "agent_stop", record("stops"), name="stops")
    world.hook("kodelet", "after_turn", record("turns"), name="turns")
    agent(world, {"tools": [LS]}, {"tools": [LS]}, "Done.")
    assert times(world, "stops") == 1
    seen = [(it["turn_number"], it["tools_used"], it["invoked_by"]) for it in recorded(world, "turns")]
    assert seen == [(1, True, "main"), (2, True, "main"), (3, False, "main")]


def test_max_turns(world: World) -> None:
    ran = agent(world, {"tools": [LS], "times": 9}, max_turns=2)
    assert (ran.stop, ran.status, ran.report["turns"], traces(world)) == ("max_turns", 1, 2, 2)
    again = agent(world, {"expect": "Go.", "text": "Done."}, follow=True)
    assert again.text == "Done."


# -- permission


def test_permission_without_anybody_to_ask(world: World) -> None:
    """G-17: PreToolUse fires after the permission check, and not at all if the check refuses. G-27."""
    world.hook("kolega", "PreToolUse", record("pre"))
    world.hook("kolega", "Notification", record("notes"))
    ran = agent(world, {"tools": [LS]}, {"expect": "Permission denied", "text": "Done."}, permission="ask")
    assert (ran.calls[0]["denied"], traces(world), times(world, "pre")) == (True, 0, 0)
    [note] = recorded(world, "notes")
    assert (note["notification_type"], note["tool_name"]) == ("permission_prompt", "execute_terminal_command")
    assert note["permission_mode"] == "ask"


def test_a_hook_grants_permission(world: World) -> None:
    kodik(world, "PermissionRequest", """echo '{"decision": "approve"}'""", "Bash")
    world.hook("kolega", "PreToolUse", record("pre"))
    world.hook("kolega", "Notification", record("notes"))
    ran = agent(world, {"tools": [LS]}, "Done.", permission="ask")
    assert (ran.calls[0]["denied"], traces(world), times(world, "pre"), times(world, "notes")) == (False, 1, 1, 0)


def test_a_hook_denies_permission(world: World) -> None:
    kodik(world, "PermissionRequest", "echo never >&2; exit 2", "Bash")
    ran = agent(world, {"tools": [LS]}, {"expect": "never", "text": "Done."}, permission="ask")
    assert (ran.calls[0]["denied"], traces(world)) == (True, 0)


@pytest.mark.parametrize(("mode", "asked"), [("auto", 0), ("deny", 0)])
def test_modes_that_ask_nobody(world: World, mode: str, asked: int) -> None:
    kodik(world, "PermissionRequest", record("asked"), ".*")
    ran = agent(world, {"tools": [LS]}, "Done.", permission=mode)
    assert times(world, "asked") == asked
    assert ran.calls[0]["denied"] is (mode == "deny")


def test_reading_needs_no_permission(world: World) -> None:
    world.write(world.project / "a.txt", "inside")
    ran = agent(
        world, {"tools": [{"read_file": {"path": "a.txt"}}]}, {"expect": "inside", "text": "Done."}, permission="deny"
    )
    assert ran.stop == "done", ran.why


# -- sub-agents

DELEGATE = {"delegate_task": {"agent_name": "self", "task": "Count."}}


def test_a_sub_agents_events(world: World) -> None:
    """A-45, G-55, Gn, L-44: tool hooks cover a sub-agent, Stop does not, and its end has its own event."""
    world.hook("kolega", "PreToolUse", record("pre"))
    world.hook("kolega", "Stop", record("stop"))
    world.hook("kolega", "SubagentStop", record("kolega-sub"))
    world.hook("kolega", "UserPromptSubmit", record("prompt"))
    world.hook("agenthooks", "subagent_start", record("start"), name="start")
    world.hook("kodelet", "user_message_send", record("messages"), name="messages")
    world.hook("kodelet", "agent_stop", record("kodelet-stop"), name="stop")
    ran = agent(
        world,
        {"tools": [DELEGATE]},
        {"by": "subagent", "expect": "Count.", "tools": [LS]},
        {"by": "subagent", "text": "Three."},
        {"expect": "Three.", "text": "It is three."},
    )
    assert (ran.text, traces(world)) == ("It is three.", 1), ran.why
    assert [it["tool_name"] for it in recorded(world, "pre")] == ["dispatch_general_agent", "execute_terminal_command"]
    assert (times(world, "stop"), times(world, "prompt")) == (1, 1)
    [ended] = recorded(world, "kolega-sub")
    assert (ended["agent_name"], ended["result"]) == ("self", "Three.")
    [started] = recorded(world, "start")
    assert (started["subagent_name"], started["task_description"]) == ("self", "Count.")
    assert [(it["invoked_by"], it["message"]) for it in recorded(world, "messages")] == [
        ("main", "Go."),
        ("subagent", "Count."),
    ]
    assert [it["invoked_by"] for it in recorded(world, "kodelet-stop")] == ["subagent", "main"]


@pytest.mark.parametrize(("dialect", "native"), [("kodik", "SubagentStart"), ("agenthooks", "subagent_start")])
def test_a_sub_agent_that_is_not_started(world: World, dialect: str, native: str) -> None:
    world.hook(dialect, native, "echo alone >&2; exit 2")
    ran = agent(world, {"tools": [DELEGATE]}, {"expect": "alone", "text": "Myself then."})
    assert ran.text == "Myself then.", ran.why


@pytest.mark.parametrize(
    ("dialect", "native", "bound"), [("kodik", "SubagentStop", 5), ("agenthooks", "subagent_stop", 3)]
)
def test_a_sub_agent_that_has_to_go_on(world: World, dialect: str, native: str, bound: int) -> None:
    world.hook(dialect, native, f"{record('stops')}; echo more >&2; exit 2")
    ran = agent(
        world,
        {"tools": [DELEGATE]},
        {"by": "subagent", "text": "Some."},
        {"by": "subagent", "expect": "more", "text": "All.", "times": bound},
        {"expect": "All.", "text": "Done."},
    )
    assert (ran.text, times(world, "stops")) == ("Done.", bound + 1), ran.why


def test_kolega_annotates_a_sub_agents_result(world: World) -> None:
    """G-26."""
    world.hook("kolega", "SubagentStop", "echo unchecked >&2; exit 2")
    ran = agent(
        world,
        {"tools": [DELEGATE]},
        {"by": "subagent", "text": "Some."},
        {"expect": ["Some.", "[SubagentStop hook: unchecked]"], "text": "Done."},
    )
    assert ran.text == "Done.", ran.why


def test_guards_that_are_off_are_told_when_the_session_starts(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    told = [line for line in agent(world, "Done.", trust="ask").said if "OFF" in line]
    assert len(told) == 1
    assert "anyhook trust" in told[0]
    world.approve()
    assert not [line for line in agent(world, "Done.", trust="ask").said if "OFF" in line]
