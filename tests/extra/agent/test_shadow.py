"""Shadow mode: all hooks run, none is enforced, and anyhook reports what would have happened."""

from __future__ import annotations

import json
import shlex

import pytest
from agent_box import LS, agent, traces

from anyhook import Event
from anyhook.cli.app import run
from anyhook.cli.view.rows import row_of
from anyhook.journal.read import read_line
from conftest import World

BLOCK = "echo never >&2; exit 2"
PAYLOAD = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})


def everywhere(world: World) -> None:
    for native in ("session_start", "user_prompt_submit", "tool_call_pre", "tool_call_post", "session_end"):
        world.hook("kode", native, BLOCK)
    world.hook("kodik", "Stop", BLOCK)


def test_the_agent_goes_on(world: World) -> None:
    everywhere(world)
    ran = agent(world, {"tools": [LS]}, "Done.", mode="shadow")
    assert (ran.status, ran.stop, ran.text, traces(world)) == (0, "done", "Done.", 1)
    verdicts = {event["event"]: (event["verdict"], event["enforced"]) for event in ran.report["events"]}
    for name in ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "stop", "session_end"):
        assert verdicts[name] == ("block", False), name


def test_the_agent_stops_without_it(world: World) -> None:
    everywhere(world)
    ran = agent(world, {"tools": [LS]}, "Done.")
    assert (ran.status, traces(world)) == (2, 0)


def test_by_the_settings_everywhere(world: World) -> None:
    """One setting turns off enforcement in `fire`, the bridge, the agent and the library. A call can override it."""
    everywhere(world)
    world.config('mode = "shadow"\n')
    assert agent(world, {"tools": [LS]}, "Done.").status == 0
    done = world.command("fire", "pre_tool", "--tool", "Bash")
    assert (done.returncode, "not enforced: shadow mode" in done.stdout) == (0, True)
    assert world.command("fire", "pre_tool", "--tool", "Bash", "--mode", "enforce").returncode == 2
    done = world.command("bridge", "claude", "PreToolUse", stdin=PAYLOAD)
    assert (done.returncode, done.stdout) == (0, "")
    done = world.command("bridge", "claude", "PreToolUse", "--mode", "enforce", stdin=PAYLOAD.replace('"s"', '"t"'))
    assert "deny" in done.stdout
    engine = world.engine(mode=None)
    assert not engine.fire_sync(Event.pre_tool("Bash", {})).stops
    assert engine.fire_sync(Event.pre_tool("Bash", {}), mode="enforce").stops
    engine.close_sync()


def test_an_event_without_hooks_is_of_the_same_mode(world: World) -> None:
    world.config('mode = "shadow"\n')
    for _ in range(3):  # the first call reads the files, later calls read a plan
        assert world.fire("stop")["enforced"] is False
    world.command("bridge", "claude", "Stop", stdin='{"session_id": "s"}')
    assert {record["mode"] for record in world.journal()} == {"shadow"}
    assert world.fire("stop", "--mode", "enforce")["enforced"] is True


def test_a_bridge_that_fails_refuses_nothing(world: World) -> None:
    world.config('mode = "shadow"\non_failure = "deny"\n')
    done = world.command("bridge", "claude", "PreToolUse", stdin="{broken")
    assert (done.returncode, done.stdout) == (0, "")
    assert "could not be judged" in done.stderr
    assert world.journal()[-1]["decision"]["enforced"] is False
    done = world.command("bridge", "claude", "PreToolUse", "--mode", "enforce", stdin="{broken")
    assert "deny" in done.stdout


def test_a_misspelt_setting_is_said(world: World) -> None:
    world.config('mode = "shade"\n')
    world.hook("kode", "tool_call_pre", BLOCK)
    found = world.fire("pre_tool", "--tool", "Bash")
    assert found["enforced"] is True
    assert "`mode` must be one of enforce, shadow" in found["problems"][0]["what"]


def test_what_would_have_been_is_shown(
    world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.hook("kodik", "PreToolUse", BLOCK)
    world.command("fire", "pre_tool", "--tool", "Bash", "--mode", "shadow")
    world.command("fire", "pre_tool", "--tool", "Bash")
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)

    def said(*words: str) -> str:
        capfd.readouterr()
        assert run(words) == 0
        return capfd.readouterr().out

    first, second = said("log").splitlines()
    assert "✗ would block  pre_tool Bash  kodik:" in first
    assert "would" not in second
    assert "  not enforced: shadow mode" in said("explain", "1")
    (hook,) = json.loads(said("stats", "--json"))["hooks"]
    assert (hook["runs"], hook["blocks"], hook["shadow_blocks"]) == (2, 2, 1)
    assert "1 of the blocks stopped nothing, since they were in shadow mode: kodik:" in said("stats")


def test_the_agents_option(world: World) -> None:
    from agent_box import script

    everywhere(world)
    words = ["agent", "run", "Go.", "--model", script(world, {"tools": [LS]}, "Done."), "--permission", "auto"]
    done = world.command(*words, "--mode", "shadow")
    assert (done.returncode, done.stdout, traces(world)) == (0, "Done.\n", 1)


def test_a_hook_that_enforces_does_so_though_all_others_are_shadowed(world: World) -> None:
    """In either order, a hook in shadow mode never keeps an enforcing hook from running."""
    world.hook("kodik", "PreToolUse", "echo never by one >&2; exit 2")
    world.hook("claude", "PreToolUse", "echo never by the other >&2; exit 2")
    one, other = [gate["id"] for gate in json.loads(world.command("list", "--json").stdout)["hooks"]]
    for own, words in ((one, "by one"), (other, "by the other")):
        world.config(f'mode = "shadow"\n[hooks."{own}"]\nmode = "enforce"\n')
        decision = world.fire("pre_tool", "--tool", "Bash")
        assert (decision["verdict"], decision["enforced"], decision["hook"]) == ("block", True, own)
        assert words in decision["reason"]
        assert [report["verdict"] for report in decision["hooks"] if report["id"] == own] == ["block"]
        assert world.fire("pre_tool", "--tool", "Bash", "--mode", "shadow")["enforced"] is False
        answer = world.command("bridge", "codex", "PreToolUse", stdin=PAYLOAD.replace('"s"', f'"{own}"'))
        assert words in answer.stdout
        engine = world.engine(mode=None)
        assert engine.fire_sync(Event.pre_tool("Bash", {})).stops
        assert not engine.fire_sync(Event.pre_tool("Bash", {}), mode="shadow").stops
        engine.close_sync()
        gates = json.loads(world.command("status", "--json").stdout)["gates"]
        assert {gate["id"]: gate["state"] for gate in gates} == {one: "shadow", other: "shadow"} | {own: "armed"}
    world.config('mode = "shadow"\n')
    assert world.fire("pre_tool", "--tool", "Bash")["enforced"] is False


RULE = '[[rule]]\nname = "no"\nwhen = "runs ls"\nthen = "deny"\nbecause = "never"\n'


@pytest.mark.parametrize("other", ["nothing", "asks", "blocks", "lets pass"])
@pytest.mark.parametrize("by", ["its own setting", "the setting", "the call"])
@pytest.mark.parametrize("kind", ["rule", "command"])
def test_a_shadowed_refusal_is_one_everywhere(world: World, kind: str, by: str, other: str) -> None:
    """It is `would block` wherever it is shown, and counts as stopped nowhere, whatever other hooks say."""
    if kind == "rule":
        world.write(world.home / "config/anyhook/hooks.toml", RULE)
    else:
        world.hook("kodik", "PreToolUse", BLOCK)
    mine = next(hook["id"] for hook in json.loads(world.command("list", "--json").stdout)["hooks"]
                if hook["dialect"] in ("anyhook", "kodik"))  # fmt: skip
    if other != "nothing" and by == "its own setting":
        says = {"asks": "ask", "blocks": "deny", "lets pass": "allow"}[other]
        answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": says}}
        world.hook("claude", "PreToolUse", f"echo {shlex.quote(json.dumps(answer))}")
    if by != "the call":
        world.config(f'[hooks."{mine}"]\nmode = "shadow"\n' if by == "its own setting" else 'mode = "shadow"\n')
    words = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    world.command(*words, *(("--mode", "shadow") if by == "the call" else ()))
    enforced = by == "its own setting" and other in ("asks", "blocks")
    (line,) = world.command("log").stdout.splitlines()
    assert ("would block" in line) is not enforced, line
    report = json.loads(world.command("report", mine, "--json").stdout)
    assert (report["stopped"], report["would_have_stopped"]) == (0, 1)
    figures = {each["hook"]: each for each in json.loads(world.command("stats", "--json").stdout)["hooks"]}
    assert (figures[mine]["blocks"], figures[mine]["shadow_blocks"]) == (1, 1)
    row = row_of(read_line((world.state / "journal.jsonl").read_bytes().splitlines()[0]))
    assert row.refused is (enforced and other == "blocks")
    assert enforced or "would block" in str(row.as_dict()["said"]), "the page"
    shown = world.command("explain", "1").stdout
    assert "shadow" in shown
