"""MCP servers, sub-agent types and skills that a project provides. The agent uses none of them until they are approved,
and hooks see every use."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_box import LS, agent, record, recorded, script, traces
from chat_box import chat

from anyhook.extra.agent.content import Offer
from conftest import World

ECHO = Path(__file__).with_name("mcp_echo.py")
CALL: dict[str, Any] = {"mcp__my_echo__echo": {"text": "hi"}}


def server(world: World) -> None:
    """Declare a server in the project, with its program inside the project."""
    world.write(world.project / "tools/echo.py", ECHO.read_text())
    spec = {"command": sys.executable, "args": ["tools/echo.py"]}
    world.write(world.project / ".mcp.json", json.dumps({"mcpServers": {"my echo": spec}}))


def called(world: World) -> list[dict[str, Any]]:
    path = world.project / "tools/called.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_server_that_nobody_approved_is_not_started(world: World) -> None:
    server(world)
    model = script(world, {"tools": [CALL]}, "Done.")
    words = ("agent", "run", "Go.", "--permission", "auto", "--json", "--model", model)
    done = world.command(*words)
    assert "Not approved yet, so not used: mcp:my echo. See `anyhook trust`." in done.stderr
    assert called(world) == []
    assert json.loads(done.stdout)["tool_calls"] == []

    shown = json.loads(world.command("trust", "--json").stdout)["items"]
    assert [(item["id"], item["status"]) for item in shown] == [("mcp:my echo", "new")]
    assert str(world.project / "tools/echo.py") in shown[0]["files"]
    assert world.command("trust", "--yes").returncode == 0
    done = world.command(*words)
    assert json.loads(done.stdout)["tool_calls"] == [
        {"tool": "mcp__my_echo__echo", "input": {"text": "hi"}, "output": "echo: hi", "denied": False}
    ], done.stderr

    world.write(world.project / "tools/echo.py", ECHO.read_text() + "\n# changed\n")
    assert "Not approved yet" in world.command(*words).stderr
    assert len(called(world)) == 1
    assert world.command("status").returncode == 1, "an approved server is not a guard"


HOOKS = {
    "kode": ("tool_call_pre", "tool", "mcp__my_echo__echo"),
    "kodik": ("PreToolUse", "tool_name", "mcp__my_echo__echo"),
    "agenthooks": ("before_tool", "tool_name", "mcp__my_echo__echo"),
    "kolega": ("PreToolUse", "tool_name", "mcp__my_echo__echo"),
    "kodelet": ("before_tool_call", "tool_name", "mcp__my_echo__echo"),
    "gemini": ("BeforeTool", "tool_name", "mcp_my_echo_echo"),
}


def test_hooks_of_all_dialects_see_the_tool_in_their_own_spelling(world: World) -> None:
    server(world)
    for name, (native, _, _) in HOOKS.items():
        world.hook(name, native, record(name))
    ran = agent(world, {"tools": [CALL]}, {"expect": "echo: hi", "text": "Done."})
    assert (ran.stop, called(world)) == ("done", [{"text": "hi"}])
    for name, (_, field, spelled) in HOOKS.items():
        assert [payload[field] for payload in recorded(world, name)] == [spelled], name


@pytest.mark.parametrize("matcher", ["mcp__my_echo__echo", "mcp__my_echo__.*"])
def test_a_hook_denies_a_servers_tool(world: World, matcher: str) -> None:
    server(world)
    entry: Any = {"matcher": matcher, "hooks": [{"type": "command", "command": "echo not that >&2; exit 2"}]}
    world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", "PreToolUse", entry, {})
    ran = agent(world, {"tools": [CALL]}, {"expect": "not that", "text": "No."})
    assert (ran.calls[0]["denied"], called(world)) == (True, [])


def test_a_servers_tool_that_fails(world: World) -> None:
    server(world)
    world.hook("agenthooks", "after_tool_failure", record("failed"))
    ran = agent(world, {"tools": [{"mcp__my_echo__echo": {"text": "fail"}}]}, {"expect": "echo: fail", "text": "Done."})
    assert (ran.stop, [it["tool_name"] for it in recorded(world, "failed")]) == ("done", ["mcp__my_echo__echo"])


def test_a_server_that_dies_takes_only_its_own_tools_with_it(world: World) -> None:
    server(world)
    die = {"tools": [{"mcp__my_echo__echo": {"text": "die"}}]}
    why = "The MCP server `my_echo` cannot be used any more: out of memory."
    ran = agent(world, die, {"expect": why, "tools": [CALL]}, {"expect": "Unknown tool", "text": "Done."})
    assert (ran.stop, len(called(world))) == ("done", 1), ran.why


def test_servers_need_permission_and_may_be_the_users(world: World) -> None:
    world.write(world.root / "mine/echo.py", ECHO.read_text())
    path = world.root / "mine/echo.py"
    world.write(
        world.home / "config/anyhook/config.toml",
        f'[agent.mcp.mine]\ncommand = "{sys.executable}"\nargs = ["{path}"]\n'
        '[agent.mcp.gone]\ncommand = "/no/such/it"\n',
    )
    ran = agent(world, {"tools": [{"mcp__mine__echo": {"text": "hi"}}]}, "Done.", permission="ask", trust="ask")
    assert ran.calls[0]["denied"]
    config = world.home / "config/anyhook/config.toml"
    why = f"No such file or directory: /no/such/it. Check its entry in {config}."
    assert f"The MCP server `gone` cannot be used: {why}" in ran.said


def test_servers_are_connected_at_once(world: World) -> None:
    """Each of the two servers answers only after the other has started."""
    world.write(world.project / "tools/echo.py", ECHO.read_text())
    wait = "touch {}; while ! test -e {}; do sleep 0.02; done; exec {} tools/echo.py"
    specs = {one: {"command": "sh", "args": ["-c", wait.format(one, other, sys.executable)]}
             for one, other in (("first", "second"), ("second", "first"))}  # fmt: skip
    world.write(world.project / ".mcp.json", json.dumps({"mcpServers": specs}))
    calls = [{f"mcp__{name}__echo": {"text": name}} for name in specs]
    ran = agent(world, {"tools": calls}, {"expect": ["echo: first", "echo: second"], "text": "Done."})
    assert (ran.stop, len(called(world))) == ("done", 2), ran.why


def test_a_hook_that_is_a_servers_tool(world: World) -> None:
    server(world)
    said = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "the server says no",
    }
    asks = {
        "type": "mcp_tool",
        "server": "my echo",
        "tool": "echo",
        "input": {"text": json.dumps({"hookSpecificOutput": said})},
    }
    entry: Any = {"matcher": "Bash", "hooks": [asks]}
    world.declare(world.project / ".claude/settings.json", "PreToolUse", entry, {})
    ran = agent(world, {"tools": [LS]}, {"expect": "the server says no", "text": "No."})
    assert (ran.calls[0]["denied"], traces(world)) == (True, 0)


@pytest.mark.slow
def test_a_real_server(world: World) -> None:
    """Runs the whole command with one of the MCP reference servers from PyPI."""
    spec = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "Europe/Berlin"]}
    world.write(world.project / ".mcp.json", json.dumps({"mcpServers": {"time": spec}}))
    world.hook("kodik", "PostToolUse", record("after"))
    given = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    model = script(world, {"tools": [{"mcp__time__convert_time": given}]}, {"expect": "Asia/Tokyo", "text": "Done."})
    words = ("agent", "run", "Go.", "--permission", "auto", "--output-format", "stream-json", "--model", model)
    done = world.command(*words, "--trust", "all")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["mcp_servers"] == [{"name": "time", "status": "connected"}], done.stderr
    assert "mcp__time__get_current_time" in lines[0]["tools"]
    assert (lines[-1]["subtype"], lines[-1]["result"]) == ("success", "Done.")
    assert [it["tool_name"] for it in recorded(world, "after")] == ["mcp__time__convert_time"]


# -- sub-agent types

REVIEWER = """---
name: reviewer
description: Reviews a change.
tools: Read, Grep
---
You review.
"""


def delegate(name: str) -> dict[str, Any]:
    return {"tools": [{"delegate_task": {"agent_name": name, "task": "Look."}}]}


@pytest.mark.parametrize("name", ["explore", "reviewer"])
def test_a_type_of_sub_agent_limits_its_tools_and_fires_its_hooks(world: World, name: str) -> None:
    world.write(world.project / ".claude/agents/reviewer.md", REVIEWER)
    for each in ("general", name):
        entry: Any = {"matcher": each, "hooks": [{"type": "command", "command": record(each)}]}
        world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", "SubagentStart", entry, {})
    world.hook("agenthooks", "subagent_start", record("kimi"))
    world.hook("claude", "SubagentStop", record("claude"))
    reads = {"by": "subagent", "tools": [{"read_file": {"path": "it.txt"}}]}
    world.write(world.project / "it.txt", "found me\n")
    ran = agent(
        world,
        delegate(name),
        reads,
        {"by": "subagent", "expect": "found me", "tools": [LS]},
        {"by": "subagent", "expect": "shell", "text": "Looked."},
        {"expect": "Looked.", "text": "Done."},
    )
    assert (ran.stop, traces(world)) == ("done", 0), ran.why
    assert [it["agent_type"] for it in recorded(world, name)] == [name]
    assert recorded(world, "general") == []
    assert [it["subagent_type"] for it in recorded(world, "kimi")] == [name]
    assert [it["agent_type"] for it in recorded(world, "claude")] == [name]


@pytest.mark.parametrize("name", ["explore", "reviewer", "self"])
def test_the_five_dialects_know_a_sub_agents_type(world: World, name: str) -> None:
    """kodik (D-10) and kolega (G-12, Ga) match the type. A matcher in agenthooks applies to tools only (A-13).
    kode (K-34) and kodelet have no matcher for it: their hooks read the type from the call that starts the
    sub-agent."""
    world.write(world.project / ".claude/agents/reviewer.md", REVIEWER)
    for each in ("general", name):
        for native in ("SubagentStart", "SubagentStop"):
            entry: Any = {"matcher": each, "hooks": [{"type": "command", "command": record(f"kodik-{each}")}]}
            world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", native, entry, {})
        program = shlex.join(["/bin/sh", "-c", record(f"kolega-{each}")])
        world.kolega("SubagentStop", {"type": "command", "command": program}, matcher=each)
    world.hook("agenthooks", "subagent_stop", record("kimi"))
    world.hook("agenthooks", "subagent_stop", record("kimi-matched"), name="matched", matcher={"tool": name})
    world.hook("kode", "tool_call_pre", record("kode"))
    world.hook("kodelet", "before_tool_call", record("kodelet"))
    world.write(world.project / "it.txt", "found me\n")
    reads = {"by": "subagent", "tools": [{"read_file": {"path": "it.txt"}}]}
    ran = agent(world, delegate(name), reads, {"by": "subagent", "text": "Looked."}, "Done.")
    assert ran.stop == "done", ran.why

    events = [(it["hook_event_name"], it["agent_type"]) for it in recorded(world, f"kodik-{name}")]
    assert events == [("SubagentStart", name), ("SubagentStop", name)]
    assert [(it["agent_name"], it["result"]) for it in recorded(world, f"kolega-{name}")] == [(name, "Looked.")]
    assert recorded(world, "kodik-general") == recorded(world, "kolega-general") == []
    assert [it["subagent_type"] for it in recorded(world, "kimi")] == [name]
    assert recorded(world, "kimi-matched") == []
    call, inner = recorded(world, "kode")
    assert (call["tool"], call["input"]["agent_name"], inner["tool"]) == ("delegate_task", name, "read_file")
    call, inner = recorded(world, "kodelet")
    assert (call["tool_input"]["agent_name"], call["invoked_by"]) == (name, "main")
    assert (inner["tool_name"], inner["invoked_by"]) == ("file_read", "subagent")


def test_a_type_of_the_project_needs_approval(world: World) -> None:
    world.write(world.project / ".anyhook/agents/reviewer.md", REVIEWER)
    ran = agent(world, delegate("reviewer"), {"expect": "reviewer", "text": "Done."}, trust="ask")
    assert "Not approved yet, so not used: subagent:reviewer. See `anyhook trust`." in ran.said
    assert "subagent_start" not in ran.events


def test_the_chat_asks_about_all_of_it(world: World) -> None:
    """After a yes to /trust, the chat uses all of it at once."""
    server(world)
    world.write(world.project / ".anyhook/agents/reviewer.md", REVIEWER)
    terminal = chat(world, {"tools": [CALL]}, "Done.", words=("--permission=auto",))
    shown = terminal.answers("Approve exactly this?", "n")
    assert "This project wants to run 2 things of its own" in shown
    assert "an MCP server: the agent starts or calls it" in shown
    terminal.sees("Not approved yet, so not used: mcp:my echo, subagent:reviewer")
    terminal.types("/trust")
    terminal.answers("Approve exactly this?", "y")
    terminal.types("/mcp")
    terminal.sees("my_echo  connected, 1 tool")
    terminal.types("Go.")
    terminal.sees("Done.")
    assert called(world) == [{"text": "hi"}]
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


# -- skills

SKILL = """---
name: greet
description: How to greet.
---
Always greet in Latin.
"""
HOOKED_SKILL = SKILL.replace(
    "---\nAlways",
    'hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: "cat >> ../greeted"\n---\nAlways',
)
LOAD: dict[str, Any] = {"load_capability": {"id": "greet"}}


def test_a_skill_is_loaded_and_its_hooks_run_from_then_on(world: World) -> None:
    world.write(world.home / ".claude/skills/greet/SKILL.md", HOOKED_SKILL)
    ran = agent(world, {"tools": [LS]}, {"tools": [LOAD]}, {"expect": "loaded", "tools": [LS]}, "Salve.")
    assert (ran.stop, traces(world)) == ("done", 2), ran.why
    assert (world.root / "greeted").read_text().count('"hook_event_name"') == 1


def test_a_skill_of_the_project_needs_approval_of_every_file(world: World) -> None:
    world.write(world.project / ".anyhook/skills/greet/SKILL.md", SKILL)
    world.write(world.project / ".anyhook/skills/greet/scripts/run.sh", "echo salve\n")
    assert world.command("trust", "--yes").returncode == 0
    assert agent(world, {"tools": [LOAD]}, {"expect": "loaded", "text": "Salve."}, trust="ask").stop == "done"
    world.write(world.project / ".anyhook/skills/greet/scripts/run.sh", "echo something else\n")
    ran = agent(world, {"tools": [LS]}, "Done.", trust="ask")
    assert "Not approved yet, so not used: skill:greet. See `anyhook trust`." in ran.said


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("one\ntwo.\n", "one two"),
        ("first " + "x" * 290 + "\nNameError: it is gone\n", "NameError: it is gone"),
        ("y" * 290 + "\n\nlast\n", "y" * 290 + " last"),
        ("begins here " + "z" * 400, "begins here " + "z" * 288 + "…"),
        ("", ""),
    ],
)
def test_what_a_server_said_begins_at_its_beginning(said: str, told: str) -> None:
    from anyhook.extra.agent.mcp_servers import McpServer

    offer = Offer("mcp", "it", "user", "/", "/config.toml", spec={"command": "true"})
    server = McpServer(offer, {})
    with server._stderr as file:
        file.write(said)
        assert server._said() == told
