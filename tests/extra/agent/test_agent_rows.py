"""Every event fires at the right time. Also covers rows that only a running agent can show.
agent_rows.json lists which test covers which row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_box import LS, UNTIL_TOLD, agent, appears, record, recorded, times, traces

from conftest import World

DELEGATE = {"delegate_task": {"agent_name": "self", "task": "Count."}}
WINDOW: dict[str, Any] = {"context_window": 1000}

ASYNC: dict[str, Any] = {"async": True}

MOMENTS = {
    "kode": {"session_start": 1, "user_prompt_submit": 1, "tool_call_pre": 5, "tool_call_post": 5, "session_end": 1},
    "kodik": {
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 5, "PostToolUse": 5, "PermissionRequest": 3,
        "SubagentStart": 1, "SubagentStop": 1, "PreCompact": 1, "PostCompact": 1, "Stop": 1,
    },
    "agenthooks": {
        "session_start": 1, "session_end": 1, "before_agent": 1, "after_agent": 1, "before_tool": 5, "after_tool": 4,
        "after_tool_failure": 1, "subagent_start": 1, "subagent_stop": 1, "pre_compact": 1, "before_stop": 1,
    },
    "kolega": {
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 5, "PostToolUse": 5, "PreCompact": 1, "Stop": 1,
        "SubagentStop": 1, "Notification": 1, "SessionEnd": 1, "PostCompact": 1,
    },
    "kodelet": {
        "before_tool_call": 5, "after_tool_call": 5, "user_message_send": 2, "agent_stop": 2,
        "after_turn": 7,  # of eight answers: when the built-in trigger compacts, other hooks do not run
    },
    "claude": {
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 5, "PermissionRequest": 3, "PostToolUse": 4,
        "PostToolUseFailure": 1, "Notification": 1, "SubagentStart": 1, "SubagentStop": 1, "PreCompact": 1,
        "PostCompact": 1, "Stop": 1, "SessionEnd": 1,
    },
    "codex": {
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 5, "PermissionRequest": 3, "PostToolUse": 4,
        "SubagentStart": 1, "SubagentStop": 1, "PreCompact": 1, "PostCompact": 1, "Stop": 1, "SessionEnd": 1,
    },
    "gemini": {
        "SessionStart": 1, "BeforeAgent": 1, "BeforeTool": 5, "AfterTool": 5, "AfterAgent": 1, "Notification": 1,
        "PreCompress": 1, "SessionEnd": 1,
    },
    "copilot": {
        "sessionStart": 1, "userPromptSubmitted": 1, "preToolUse": 5, "permissionRequest": 3, "postToolUse": 4,
        "postToolUseFailure": 1, "notification": 1, "subagentStart": 1, "subagentStop": 1, "preCompact": 1,
        "agentStop": 1, "sessionEnd": 1,
    },
    "goose": {
        "SessionStart": 1, "UserPromptSubmit": 1, "PreToolUse": 5, "BeforeShellExecution": 2, "PostToolUse": 4,
        "PostToolUseFailure": 1, "AfterShellExecution": 1, "Stop": 1, "SessionEnd": 1,
    },
}  # fmt: skip
ORDER = [
    "session_start", "user_prompt_submit", "turn_start",
    "permission_request", "pre_tool", "post_tool", "step_end",
    "permission_request", "pre_tool", "post_tool_failure", "step_end",
    "permission_request", "notification", "step_end",
    "pre_tool", "subagent_start", "user_prompt_submit", "pre_tool", "post_tool", "step_end", "step_end",
    "subagent_stop", "stop", "post_tool", "step_end",
    "pre_tool", "post_tool", "step_end", "pre_compact", "post_compact",
    "step_end", "stop", "turn_end", "session_end",
]  # fmt: skip


def whole_story(world: World) -> Any:
    """Run a session with an allowed, a failing and a denied command, a sub-agent that uses a tool, and a compaction."""
    return agent(
        world,
        {"tools": [{"shell": {"command": "true"}}]},
        {"tools": [{"shell": {"command": "exit 3"}}]},
        {"tools": [{"shell": {"command": "echo forbidden"}}]},
        {"tools": [DELEGATE]},
        {"by": "subagent", "tools": [{"list_files": {}}]},
        {"by": "subagent", "text": "Three."},
        {"tools": [{"list_files": {}}], "usage": {"input_tokens": 790, "output_tokens": 10}},
        {"by": "recipe", "text": "We went."},
        {"text": "Done.", "usage": {"input_tokens": 10}},
        permission="ask",
        top=WINDOW,
    )


def test_every_event_happens_at_its_moment(world: World) -> None:
    """Ten dialects in one project, with a hook for every event above: each hook runs exactly as often as it should."""
    for dialect, moments in MOMENTS.items():
        for native in moments:
            script = record(f"{dialect}.{native}")
            if (dialect, native) == ("kodik", "PermissionRequest"):
                script = (
                    f"""{script}; tail -n 1 ../kodik.{native} | grep -q forbidden || echo '{{"decision": "approve"}}'"""
                )
            world.hook(dialect, native, script, scope="project", name=native.replace("_", "-"))
    ran = whole_story(world)
    assert (ran.stop, ran.text) == ("done", "Done."), ran.why
    assert ran.events == ORDER
    seen = {
        dialect: {native: times(world, f"{dialect}.{native}") for native in moments}
        for dialect, moments in MOMENTS.items()
    }
    assert seen == MOMENTS
    problems = {problem["code"] for it in ran.report["events"] for problem in it["problems"]}
    assert problems == set()


def test_the_moments_need_no_hook(world: World) -> None:
    """K-1, D-9, A-16, G-13: the agent fires its events whether or not a dialect has hooks for them."""
    world.hook("kodik", "PermissionRequest", """grep -q forbidden || echo '{"decision": "approve"}'""")
    assert whole_story(world).events == ORDER


def test_every_event_of_every_dialect_is_in_the_table() -> None:
    from anyhook.tables.registry import dialect

    for name in ("agenthooks", "kode", "kodelet", "kodik", "kolega"):
        assert set(MOMENTS[name]) == {row.native for row in dialect(name).events}


# -- kode


def test_what_kode_is_told(world: World) -> None:
    """K-22 to K-26."""
    for native in MOMENTS["kode"]:
        world.hook("kode", native, record(native))
    ran = agent(world, {"tools": [{"shell": {"command": "echo out; exit 4"}}]}, "Done.")
    session = ran.report["session"]
    [start] = recorded(world, "session_start")
    assert start == {
        "event": "session_start", "session_id": session, "work_dir": str(world.project), "provider": "script",
        "model": start["model"],
    }  # fmt: skip
    assert recorded(world, "user_prompt_submit") == [
        {"event": "user_prompt_submit", "session_id": session, "prompt": "Go.", "attachments": []}
    ]
    [before] = recorded(world, "tool_call_pre")
    assert before == {
        "event": "tool_call_pre", "session_id": session, "tool": "shell", "input": {"command": "echo out; exit 4"},
        "auto_approve": True,
    }  # fmt: skip
    [after] = recorded(world, "tool_call_post")
    assert (after["exit_code"], "out" in after["output"], type(after["duration_ms"])) == (4, True, int)
    assert recorded(world, "session_end") == [
        {"event": "session_end", "session_id": session, "reason": "user_exit", "turns": 2}
    ]


def test_what_kode_is_told_of_files(world: World) -> None:
    """K-23: every file that the prompt names, an image as well; a folder and a name without a file are none."""
    world.hook("kode", "user_prompt_submit", record("prompts"))
    (world.project / "src").mkdir()
    world.write(world.project / "src/notes.txt", "text")
    (world.project / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    prompt = "Look at @src/notes.txt, @shot.png and @src/notes.txt. Not at @none.txt, @src or me@shot.png!"
    assert agent(world, "Done.", prompt=prompt).text == "Done."
    [told] = recorded(world, "prompts")
    paths = [str(world.project / name) for name in ("src/notes.txt", "shot.png")]
    assert told["attachments"] == [{"path": path, "kind": "file"} for path in paths]


@pytest.mark.parametrize(("dialect", "native"), [("kode", "session_end"), ("agenthooks", "session_end")])
def test_nothing_keeps_a_session_from_ending(world: World, dialect: str, native: str) -> None:
    """Kk, Ag: the agent reports the error and ends normally."""
    world.hook(dialect, native, "echo stay >&2; exit 2")
    ran = agent(world, "Done.")
    assert (ran.stop, ran.status) == ("done", 0)
    assert ran.event("session_end")["reason"] == "stay"


def test_an_unknown_key_is_warned_about_once(world: World) -> None:
    """K-19, Ko: once per hook and key in a session, not at each event."""
    world.hook("kode", "tool_call_pre", """echo '{"colour": "red"}'""")
    ran = agent(world, {"tools": [LS]}, {"tools": [LS]}, {"tools": [LS]}, "Done.")
    codes = [problem["code"] for it in ran.report["events"] for problem in it["problems"]]
    assert (codes, traces(world)) == (["unknown-output-key"], 3)


# -- problems of files


def test_a_warning_about_a_file_is_in_one_record(world: World) -> None:
    """`check` gives it at any time, and `fire` whenever it is asked; a session says it at its start."""
    world.write(world.project / ".kodelet/hooks/forgotten", "#!/bin/sh\nexit 0\n")
    world.hook("kodik", "PreToolUse", "true")
    ran = agent(world, {"tools": [LS]}, {"tools": [LS]}, "Done.")
    with_it = [it["event"] for it in ran.report["events"] if any(p["code"] == "not-executable" for p in it["problems"])]
    assert with_it == ["session_start"]
    asked = world.fire("pre_tool", "--tool", "Bash", "--trust", "all")
    assert [p["code"] for p in asked["problems"]] == ["not-executable"]
    assert "not-executable" in world.command("check").stdout


def test_an_error_in_a_file_is_in_every_record(world: World) -> None:
    """It may be a gate that is off."""
    world.write(world.home / "Documents/Kodik/Hooks/hooks.json", "{")
    ran = agent(world, {"tools": [LS]}, "Done.")
    codes = [[p["code"] for p in it["problems"]] for it in ran.report["events"]]
    assert codes == [codes[0]] * len(codes)
    assert codes[0]


# -- kodik


def test_a_hook_takes_effect_in_a_new_session(world: World) -> None:
    """D-8, A-43: a session keeps the hooks that it started with."""
    world.hook("kodik", "PreToolUse", "echo closed >&2; exit 2")
    place = world.home / "Documents/Kodik/Hooks/hooks.json"
    written = place.read_text()
    place.unlink()
    write = {"shell": {"command": f"mkdir -p {place.parent}; echo '{written}' > {place}"}}
    assert agent(world, {"tools": [write]}, {"tools": [LS]}, "Done.").stop == "done"
    assert traces(world) == 1
    assert agent(world, {"tools": [LS]}, {"expect": "closed", "text": "No."}).text == "No."


@pytest.mark.parametrize("native", ["SessionStart", "PostCompact"])
def test_a_block_that_stops_nothing(world: World, native: str) -> None:
    """Do: a block is only advice on events that cannot be stopped."""
    world.hook("kodik", native, "echo careful >&2; exit 2")
    ran = agent(
        world,
        {"tools": [LS], "usage": {"input_tokens": 900}},
        {"by": "recipe", "text": "We went."},
        {"text": "Done.", "usage": {"input_tokens": 10}},
        top=WINDOW,
    )
    assert (ran.stop, ran.text) == ("done", "Done.")


# -- agenthooks


@pytest.mark.parametrize("native", ["after_tool", "session_end"])
def test_nobody_waits_for_background_hooks(world: World, native: str) -> None:
    """A-34, A-35: neither the agent nor the end of the session waits. The hooks run up to their own timeouts."""
    world.hook("agenthooks", native, UNTIL_TOLD, **ASYNC)
    ran = agent(world, {"tools": [LS]}, "Done.")
    assert (ran.stop, (world.root / "went-on").exists()) == ("done", False)
    (world.root / "go").touch()
    assert appears(world.root / "went-on")
    event = "post_tool" if native == "after_tool" else native
    assert ran.event(event)["hooks"][0]["status"] == "background"


def test_a_hook_that_takes_too_long_is_let_go(world: World) -> None:
    """A-36: at its timeout, the hook's whole process tree is ended, and the hook fails open."""
    world.hook("agenthooks", "before_tool", "sleep 30", timeout=200)
    ran = agent(world, {"tools": [LS]}, "Done.")
    assert (ran.stop, traces(world)) == ("done", 1)
    assert ran.event("pre_tool")["hooks"][0]["ending"] == "timed_out"


# -- kolega


def test_a_failure_cannot_be_masked(world: World) -> None:
    """G-22: after a failed tool, only added context takes effect."""
    answer = {"hookSpecificOutput": {"updatedToolOutput": "all fine", "additionalContext": "look at the log"}}
    world.hook("kolega", "PostToolUse", f"echo '{json.dumps(answer)}'")
    ran = agent(
        world,
        {"tools": [{"shell": {"command": "echo oops; exit 3"}}]},
        {"expect": ["oops", "look at the log"], "expect_not": "all fine", "text": "Done."},
    )
    assert ran.text == "Done.", ran.why


def test_a_block_after_a_failure_ends_the_turn(world: World) -> None:
    """Gc."""
    world.hook("kolega", "PostToolUse", "echo enough >&2; exit 2")
    ran = agent(world, {"tools": [{"shell": {"command": "exit 3"}}]}, "Never said.")
    assert (ran.stop, ran.why) == ("blocked", "enough")


def test_continue_false_after_a_tool_ends_the_turn(world: World) -> None:
    """G-40, Ge: on other events, it blocks nothing."""
    for native in ("PreToolUse", "Stop", "SessionStart"):
        world.hook("kolega", native, """echo '{"continue": false}'""")
    assert agent(world, {"tools": [LS]}, "Done.").text == "Done."
    world.hook("kolega", "PostToolUse", """echo '{"continue": false}'""")
    ran = agent(world, {"tools": [LS]}, "Never said.")
    assert (ran.stop, traces(world)) == ("blocked", 2)


def test_a_message_for_the_user(world: World) -> None:
    """Gd: the user sees it, the model does not."""
    world.hook("kolega", "UserPromptSubmit", """echo '{"systemMessage": "for your eyes"}'""")
    ran = agent(world, {"expect_not": "for your eyes", "text": "Done."})
    assert (ran.text, ran.event("user_prompt_submit")["messages"]) == ("Done.", ["for your eyes"])


# -- kodelet


def test_the_threshold_is_reached_when_it_is_equal(world: World) -> None:
    """L-35, Lf, Lh."""
    summary = {"by": "recipe", "text": "We went."}
    rest = {"text": "Done.", "usage": {"input_tokens": 10}}
    below = agent(world, {"tools": [LS], "usage": {"input_tokens": 799}}, rest, top=WINDOW)
    equal = agent(world, {"tools": [LS], "usage": {"input_tokens": 800}}, summary, rest, top=WINDOW)
    assert ("pre_compact" in below.events, "pre_compact" in equal.events) == (False, True)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"result": "continue", "follow_up_messages": []}, "First."),
        ({"result": "continue"}, "First."),
        ({"result": "nonsense", "follow_up_messages": ["More!"]}, "Second."),
        ({"result": "mutate", "messages": [], "follow_up_messages": ["More!"]}, "First."),
        ({"blocked": True, "reason": "no"}, "First."),
    ],
)
def test_what_agent_stop_may_say(world: World, answer: dict[str, Any], said: str) -> None:
    """L-24, L-27, L-30, Lt."""
    script = f"""if [ -e ../told ]; then exit 0; fi; touch ../told; echo '{json.dumps(answer)}'"""
    world.hook("kodelet", "agent_stop", script)
    assert agent(world, "First.", {"expect": "More!", "text": "Second."}).text == said


def test_follow_ups_give_way_to_another_history(world: World) -> None:
    """L-28, Li: they are dropped if any hook replaces the conversation."""
    world.hook("kodelet", "agent_stop", """echo '{"follow_up_messages": ["More!"]}'""", name="a")
    answer = {"result": "mutate", "messages": [{"role": "user", "content": "Only this."}]}
    world.hook("kodelet", "agent_stop", f"echo '{json.dumps(answer)}'", name="b")
    ran = agent(world, "First.", "Never said.")
    assert (ran.text, ran.report["turns"]) == ("First.", 1)


def test_continue_means_nothing_after_a_turn(world: World) -> None:
    """Ll, L-23."""
    world.hook("kodelet", "after_turn", """echo '{"result": "continue", "follow_up_messages": ["More!"]}'""")
    assert agent(world, {"tools": [LS]}, {"expect_not": "More!", "text": "Done."}).text == "Done."


def test_the_first_action_wins(world: World) -> None:
    """L-23."""
    for name, text in (("a", "First wins."), ("b", "Second loses.")):
        answer = {"result": "mutate", "messages": [{"role": "user", "content": text}]}
        script = (
            f"""{record(name)}; tail -n 1 ../{name} | grep -q '"turn_number":1' && echo '{json.dumps(answer)}'; true"""
        )
        world.hook("kodelet", "after_turn", script, name=name)
    expected = {"expect": "First wins.", "expect_not": "Second loses.", "text": "Done."}
    ran = agent(world, {"tools": [LS]}, expected)
    assert (ran.text, times(world, "b")) == ("Done.", 2), ran.why


def test_a_sub_agents_task_may_be_refused(world: World) -> None:
    """L-18: the hook sees a sub-agent's task as a message, and the model gets the reason for the refusal."""
    world.hook(
        "kodelet", "user_message_send", """grep -q Count && echo '{"blocked": true, "reason": "no sums"}'; true"""
    )
    ran = agent(world, {"tools": [DELEGATE]}, {"expect": "no sums", "text": "Myself then."})
    assert ran.text == "Myself then.", ran.why


def test_a_sub_agent_has_a_conversation_of_its_own(world: World) -> None:
    """L-9, L-44: the same hooks run, but each sub-agent has its own conversation id."""
    world.hook("kodelet", "user_message_send", record("messages"))
    ran = agent(
        world,
        {"tools": [DELEGATE]},
        {"by": "subagent", "text": "Three.", "times": 2},
        {"tools": [DELEGATE]},
        "Done.",
    )
    assert ran.stop == "done", ran.why
    main, first, second = recorded(world, "messages")
    assert main["conv_id"] == ran.report["session"]
    assert len({main["conv_id"], first["conv_id"], second["conv_id"]}) == 3
    assert [it["invoked_by"] for it in (main, first, second)] == ["main", "subagent", "subagent"]


def test_a_sub_agents_follow_ups_are_bound_as_well(world: World) -> None:
    """L-31, Lk: at the limit, the sub-agent returns what it has, and the agent continues."""
    more = """echo '{"follow_up_messages": ["More!"]}'"""
    script = f"{record('stops')}; tail -n 1 ../stops | grep -q subagent && {more}; true"
    world.hook("kodelet", "agent_stop", script)
    ran = agent(
        world,
        {"tools": [DELEGATE]},
        {"by": "subagent", "text": "Some.", "times": 99},
        {"expect": ["Some.", "answered 4 times"], "text": "Good enough."},
        max_turns=4,
    )
    assert (ran.stop, ran.text) == ("done", "Good enough."), ran.why
