"""Replacing, compacting, saving and resuming conversations in a running agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_box import LS, Ran, agent, kodik, record, recorded, times

from anyhook.extra.agent.settings import BadSetup
from conftest import World

FULL: dict[str, Any] = {"input_tokens": 900, "output_tokens": 10}
WINDOW: dict[str, Any] = {"context_window": 1000}


def compacting(world: World, **options: Any) -> Ran:
    """Run the agent with a first answer that fills the context past the threshold."""
    return agent(
        world,
        {"tools": [LS], "usage": FULL},
        {"by": "recipe", "expect": ["Summarise", "Go."], "text": "We went."},
        {"expect": "We went.", "expect_not": "Go.", "text": "Done.", "usage": {"input_tokens": 10}},
        top=WINDOW,
        **options,
    )


def test_compaction_at_the_threshold(world: World) -> None:
    kodik(world, "PreCompact", record("pre"), "auto")
    kodik(world, "PostCompact", record("post"), "auto")
    kodik(world, "PreCompact", record("manual"), "manual")
    world.hook("kolega", "PreCompact", record("kolega"))
    world.hook("agenthooks", "pre_compact", record("kimi"))
    ran = compacting(world)
    assert ran.text == "Done.", ran.why
    assert [times(world, name) for name in ("pre", "post", "manual", "kimi")] == [1, 1, 0, 1]
    [payload] = recorded(world, "kolega")
    assert (payload["trigger"], payload["input_tokens"], payload["model_context_length"]) == ("auto", 910, 1000)
    again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", follow=True)
    assert again.text == "Fine."


def test_context_of_a_compaction(world: World) -> None:
    """Context that hooks add while the model works is sent with the next request."""
    kodik(world, "PostCompact", """echo '{"additional_context": "mind the tests"}'""", "auto")
    ran = agent(
        world,
        {"tools": [LS], "usage": FULL},
        {"by": "recipe", "text": "We went."},
        {"expect": ["We went.", "mind the tests"], "text": "Done.", "usage": {"input_tokens": 10}},
        top=WINDOW,
    )
    assert ran.text == "Done.", ran.why


@pytest.mark.parametrize("options", [{"hooks": False}, {"dialects": ("kode",)}, {}], ids=["no hooks", "kode", "all"])
def test_compaction_needs_no_hook(world: World, options: dict[str, Any]) -> None:
    assert compacting(world, **options).text == "Done."


@pytest.mark.parametrize(("dialect", "native"), [("kodik", "PreCompact"), ("agenthooks", "pre_compact")])
def test_a_compaction_that_is_skipped(world: World, dialect: str, native: str) -> None:
    world.hook(dialect, native, "echo not now >&2; exit 2")
    ran = agent(world, {"tools": [LS], "usage": FULL}, {"expect": "shell", "text": "Done."}, top=WINDOW)
    assert (ran.text, "post_compact" in ran.events) == ("Done.", False), ran.why


def test_hooks_are_off_while_a_summary_is_made(world: World) -> None:
    """L-45."""
    world.hook("kodelet", "user_message_send", record("messages"), name="messages")
    world.hook("kodelet", "agent_stop", record("stops"), name="stops")
    compacting(world)
    assert (times(world, "messages"), times(world, "stops")) == (1, 1)


def test_what_after_turn_is_told(world: World) -> None:
    """L-21, L-36: the flags come from the configured threshold. A sub-agent has none (L-44)."""
    world.hook("kodelet", "after_turn", record("turns"))
    agent(
        world,
        {"tools": [{"delegate_task": {"agent_name": "self", "task": "Count."}}], "usage": {"input_tokens": 100}},
        {"by": "subagent", "text": "Three."},
        "Done.",
        top=WINDOW,
    )
    child, first, _ = recorded(world, "turns")
    assert (child["invoked_by"], child["auto_compact_enabled"]) == ("subagent", False)
    assert "auto_compact_threshold" not in child
    assert (first["auto_compact_enabled"], first["auto_compact_threshold"]) == (True, 0.8)
    assert first["usage"]["max_context_window"] == 1000
    assert first["usage"]["current_context_window"] == 100


def test_auto_compaction_can_be_turned_off(world: World) -> None:
    world.config("[agent]\nauto_compact = 0\n")
    world.hook("kodelet", "after_turn", record("turns"))
    ran = agent(world, {"tools": [LS], "usage": FULL}, "Done.", top=WINDOW)
    assert (ran.text, recorded(world, "turns")[0]["auto_compact_enabled"]) == ("Done.", False), ran.why


def test_the_built_in_trigger_comes_first(world: World) -> None:
    """L-34: if it compacts, other after_turn hooks do not run."""
    world.hook("kodelet", "after_turn", record("turns"))
    compacting(world)
    assert [it["turn_number"] for it in recorded(world, "turns")] == [2]


def test_mutate_in_the_middle(world: World) -> None:
    """L-24."""
    answer = {"result": "mutate", "messages": [{"role": "user", "content": "Only this."}]}
    script = f"""grep -q '"turn_number":1' && echo '{json.dumps(answer)}' || true"""
    world.hook("kodelet", "after_turn", script)
    ran = agent(world, {"tools": [LS]}, {"expect": "Only this.", "expect_not": "Go.", "text": "Done."})
    assert ran.text == "Done.", ran.why


def test_mutate_at_the_end_stops(world: World) -> None:
    """L-29, Lj: the new history is saved, and the agent stops."""
    answer = {"result": "mutate", "messages": [{"role": "user", "content": "Only this."}]}
    world.hook("kodelet", "agent_stop", f"{record('stops')}; echo '{json.dumps(answer)}'")
    ran = agent(world, "Done.")
    assert (ran.stop, ran.text) == ("done", "Done.")
    agent(world, "Fine.", prompt="And?", follow=True)
    assert [it["content"] for it in recorded(world, "stops")[1]["messages"]] == ["Only this.", "And?", "Fine."]


def test_a_callback_with_arguments(world: World) -> None:
    """L-32, L-33."""
    world.write(world.project / ".kodelet/recipes/note.md", "---\nname: note\n---\nWrite about {{ .topic }} now.\n")
    answer = {"result": "callback", "callback": "note", "callback_args": {"topic": "tea"}}
    script = f"""grep -q '"turn_number":1' && echo '{json.dumps(answer)}' || true"""
    world.hook("kodelet", "after_turn", script)
    ran = agent(
        world,
        {"tools": [LS]},
        {"by": "recipe", "expect": "Write about tea now.", "expect_not": "name: note", "text": "A note."},
        {"expect": "A note.", "text": "Done."},
    )
    assert (ran.text, "pre_compact" in ran.events) == ("Done.", False), ran.why


def test_a_recipe_that_is_not_there(world: World) -> None:
    """Ln: the agent reports it and leaves the conversation unchanged."""
    answer = {"result": "callback", "callback": "nothing"}
    script = f"""grep -q '"turn_number":1' && echo '{json.dumps(answer)}' || true"""
    world.hook("kodelet", "after_turn", script)
    ran = agent(world, {"tools": [LS]}, {"expect": "shell", "text": "Done."})
    assert ran.text == "Done.", ran.why
    assert any("there is no recipe `nothing`" in line for line in ran.said)


def test_compaction_by_hand(world: World) -> None:
    """L-37."""
    kodik(world, "PreCompact", record("pre"), "manual")
    kodik(world, "PostCompact", record("post"), "manual")
    agent(world, "First.")
    ran = agent(world, {"by": "recipe", "expect": ["Go.", "First."], "text": "We met."}, recipe="compact", follow=True)
    assert (ran.stop, ran.text, times(world, "pre"), times(world, "post")) == ("done", "We met.", 1, 1)
    again = agent(world, {"expect": ["We met.", "And?"], "text": "Fine."}, prompt="And?", follow=True)
    assert again.text == "Fine.", again.why


def test_a_recipe_as_the_prompt(world: World) -> None:
    world.write(world.project / ".anyhook/recipes/greet.md", "Greet {{ name }}.")
    world.hook("kodelet", "agent_stop", record("stops"))
    step = {"expect": "Greet Ada.", "text": "Hello, Ada."}
    ran = agent(world, step, prompt="", recipe="greet", arguments={"name": "Ada"})
    assert (ran.text, recorded(world, "stops")[0]["invoked_recipe"]) == ("Hello, Ada.", "greet"), ran.why
    assert agent(world, step, prompt="", recipe="greet").why == "recipe `greet` needs --arg name=…"
    assert agent(world, step, prompt="", recipe="../greet").stop == "error"


def test_no_hooks(world: World) -> None:
    """L-42: no hooks run, not even the built-in ones."""
    world.hook("kodelet", "after_turn", record("turns"))
    world.hook("kode", "session_start", "exit 1")
    ran = agent(world, {"tools": [LS]}, "Done.", hooks=False)
    assert (ran.text, times(world, "turns")) == ("Done.", 0)
    assert [event["hooks"] for event in ran.report["events"] if event["hooks"]] == []


def test_only_what_is_approved_runs(world: World) -> None:
    world.hook("kode", "session_start", "echo closed >&2; exit 1", scope="project")
    ran = agent(world, "Said.", trust="ask")
    assert ran.text == "Said."
    assert "waiting-for-trust" in [problem["code"] for problem in ran.event("session_start")["problems"]]
    world.approve()
    assert agent(world, "Never said.", trust="ask").stop == "refused"


def test_sessions_that_are_not_there(world: World) -> None:
    with pytest.raises(BadSetup, match="no earlier session"):
        agent(world, "Said.", follow=True)
    for name in ("none", "../../etc/passwd"):
        with pytest.raises(BadSetup, match="no such session"):
            agent(world, "Said.", resume=name)


def test_a_script_that_ends_too_soon(world: World) -> None:
    ran = agent(world, {"tools": [LS]})
    assert (ran.stop, ran.status) == ("error", 1)
    assert "no further step" in ran.why
    assert ran.events[-1] == "session_end"


def test_all_five_at_once(world: World) -> None:
    """With hooks of all five dialects in one project, each one takes effect."""
    world.hook("kode", "user_prompt_submit", """echo '{"replace_prompt": "Do that."}'""", scope="project")
    world.hook("kodik", "SessionStart", """echo '{"additional_context": "branch main"}'""", scope="project")
    rewrite = {"hookSpecificOutput": {"updatedInput": {"command": "echo other"}}}
    world.hook("kolega", "PreToolUse", f"echo '{json.dumps(rewrite)}'", scope="project")
    world.hook("kodelet", "before_tool_call", record("seen"), scope="project")
    script = "if [ -e ../told ]; then exit 0; fi; touch ../told; echo 'Test it' >&2; exit 2"
    world.hook("agenthooks", "before_stop", script, scope="project")
    ran = agent(
        world,
        {"expect": ["branch main", "Do that."], "tools": [LS]},
        {"expect": "other", "text": "First."},
        {"expect": "Test it", "text": "Tested."},
    )
    assert ran.text == "Tested.", ran.why
    [payload] = recorded(world, "seen")
    assert (payload["tool_name"], payload["tool_input"]) == ("bash", {"command": "echo other"})
