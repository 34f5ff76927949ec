"""Hooks that call a tool of an MCP server: a real stdio server, started for the call, answers in the format of a
hook."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from anyhook import Engine, Event
from anyhook.gates.inspect import inspect
from anyhook.handlers.mcp_tool import start_tool
from anyhook.model.call import Call, Run
from anyhook.tables.registry import dialect, special
from anyhook.tables.rows import Scene
from living import lives

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

SERVER = '''
import json, os, time
from pathlib import Path
from mcp.server.mcpserver import MCPServer

server = MCPServer("Guard")

@server.tool()
def judge(command: str, whole: str = "") -> str:
    """Refuse what is about secrets."""
    Path("asked").write_text(json.dumps([command, whole, os.environ.get("TOKEN", "")]))
    if "secret" in command:
        specific = {"permissionDecision": "deny", "permissionDecisionReason": "not these"}
        return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **specific}})
    return ""

@server.tool()
def fail() -> str:
    """Never works."""
    raise ValueError("broken inside")

@server.tool()
def sleep() -> str:
    """Never answers."""
    Path("pid.new").write_text(str(os.getpid()))
    os.rename("pid.new", "pid")
    time.sleep(600)
    return ""

server.run()
'''


def settings(tool: str, **more: Json) -> str:
    handler: dict[str, Json] = {"type": "mcp_tool", "server": "guard", "tool": tool, **more}
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}})


def known(world: World, **more: Any) -> str:
    script = world.write(world.root / "server.py", SERVER)
    server = {"command": sys.executable, "args": ["-P", str(script)], "env": {"TOKEN": "${A_TOKEN:-none}"}, **more}
    return json.dumps({"mcpServers": {"guard": server}})


def user_hook(world: World, tool: str, **more: Json) -> None:
    world.write(world.home / ".claude/settings.json", settings(tool, **more))
    world.write(world.home / ".claude.json", known(world))


def opened(world: World, **more: Any) -> Engine:
    return Engine.open(world.project, dialects=["claude"], env={**world.env, "A_TOKEN": "t0"}, **more)


ASK: dict[str, Json] = {"command": "${tool_input.command}", "whole": "${tool_name}: ${tool_input}"}


@pytest.mark.slow
def test_a_servers_tool_refuses_a_call(world: World) -> None:
    user_hook(world, "judge", input=ASK)
    engine = opened(world)
    decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "cat secret"}))
    assert (decision.verdict, decision.effect, decision.reason) == ("block", "deny_tool", "not these")
    asked = json.loads((world.project / "asked").read_text())
    assert asked == ["cat secret", 'Bash: {"command": "cat secret"}', "t0"]
    assert engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"})).verdict == "none"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "word"), [("fail", "broken inside"), ("nothing", "nothing")], ids=["raises", "unknown"]
)
def test_a_tool_that_fails_is_a_failure_of_the_hook(world: World, tool: str, word: str) -> None:
    user_hook(world, tool)
    event = Event.pre_tool("Bash", {"command": "ls"})
    decision = opened(world).fire_sync(event)
    assert (decision.verdict, decision.problems[0].code) == ("none", "hook-failed")
    assert word in decision.problems[0].what
    assert opened(world, on_failure="deny").fire_sync(event).verdict == "block"


@pytest.mark.slow
def test_the_server_ends_with_the_hook(world: World) -> None:
    user_hook(world, "sleep")
    engine = opened(world)
    hook, table = engine.catalog.hooks[0], dialect("claude")
    scene = Scene(Event.stop(), "PreToolUse", str(world.project), "s", world.env, {})
    started = start_tool(hook, table, Call((), b"{}", {}, str(world.project), 600.0, ""), scene)
    assert not isinstance(started, Run)
    while not (world.project / "pid").exists():
        time.sleep(0.05)
    started.end("timed_out")
    run = started.wait()
    assert run is not None
    assert run.ending == "timed_out"
    assert not lives(int((world.project / "pid").read_text()))


def test_a_server_that_nobody_knows(world: World) -> None:
    world.write(world.home / ".claude/settings.json", settings("judge"))
    decision = opened(world).fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    assert (decision.verdict, decision.hooks[0].status) == ("none", "broken")
    assert "no MCP server is called 'guard' in ~/.claude.json or [agent.mcp] of" in decision.hooks[0].why


@pytest.mark.slow
def test_a_server_of_our_own_settings_refuses_a_call(world: World) -> None:
    """The server starts in the folder that its entry names. A server in the agent's own file takes precedence."""
    world.write(world.home / ".claude/settings.json", settings("judge", input=ASK))
    script = world.write(world.home / "apart/server.py", SERVER)
    own = f'[agent.mcp.guard]\ncommand = "{sys.executable}"\nargs = ["-P", "server.py"]\ncwd = "{script.parent}"\n'
    world.write(world.home / "config/anyhook/config.toml", own)
    engine, event = opened(world), Event.pre_tool("Bash", {"command": "cat secret"})
    assert engine.fire_sync(event).reason == "not these"
    assert (world.home / "apart/asked").exists()
    world.write(world.home / ".claude.json", json.dumps({"mcpServers": {"guard": {"command": "/no/such/it"}}}))
    assert engine.fire_sync(event).problems[0].code == "hook-failed"


def test_a_project_does_not_say_what_the_users_server_is(world: World) -> None:
    world.write(world.home / ".claude/settings.json", settings("judge"))
    world.write(world.project / ".mcp.json", known(world))
    decision = opened(world, trust="all").fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    assert decision.hooks[0].status == "broken"


def test_an_approval_pins_the_projects_server(world: World) -> None:
    world.write(world.project / ".claude/settings.json", settings("judge"))
    world.write(world.project / "guard.py", SERVER)
    servers = {"mcpServers": {"guard": {"command": "python3", "args": ["guard.py"]}}}
    world.write(world.project / ".mcp.json", json.dumps(servers))
    world.approve()
    assert [hook.status for hook in opened(world).catalog.hooks] == ["armed"]
    world.write(world.project / "guard.py", f"{SERVER}\n")
    assert [hook.status for hook in opened(world).catalog.hooks] == ["changed"]
    world.approve()
    world.write(world.project / ".mcp.json", json.dumps(servers, indent=1))
    assert [hook.status for hook in opened(world).catalog.hooks] == ["changed"]


def test_check_says_what_is_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write(world.home / ".claude/settings.json", settings("judge"))
    engine = opened(world)
    (problem,) = inspect(engine.catalog.hooks[0], engine.context.setup)
    assert (problem.code, "'guard'" in (problem.why or "")) == ("server-missing", True)
    world.write(world.home / ".claude.json", known(world))
    assert inspect(engine.catalog.hooks[0], engine.context.setup) == []
    monkeypatch.setattr("anyhook.handlers.mcp_tool.find_spec", lambda _name: None)
    (problem,) = inspect(engine.catalog.hooks[0], engine.context.setup)
    assert "anyhook[mcp]" in (problem.why or "")


# -- Codex: servers in config.toml


def codex_hook(world: World, servers: str) -> Engine:
    world.write(world.home / ".codex/hooks.json", settings("judge", input=ASK))
    world.write(world.home / ".codex/config.toml", servers)
    return Engine.open(world.project, dialects=["codex"], env={**world.env, "TOKEN": "t0", "KEY": "k0"})


@pytest.mark.slow
def test_a_tool_refuses_a_call_for_codex(world: World) -> None:
    script = world.write(world.root / "server.py", SERVER)
    engine = codex_hook(world, f"[mcp_servers.guard]\ncommand = '{sys.executable}'\nargs = ['-P', '{script}']\n")
    decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "cat secret"}))
    assert (decision.verdict, decision.reason) == ("block", "not these")
    assert engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"})).verdict == "none"


def found(world: World, engine: Engine) -> dict[str, Json] | str:
    (hook,) = engine.catalog.hooks
    server: dict[str, Json] | str = special("codex", "SERVERS")(
        hook, {**world.env, "KEY": "k0"}, str(world.project), {}
    )
    return server


def test_the_servers_of_codex(world: World) -> None:
    url = "[mcp_servers.guard]\nurl = 'https://x.test/mcp'\nbearer_token_env_var = 'KEY'\n"
    engine = codex_hook(world, f"{url}[mcp_servers.guard.http_headers]\nA = 'b'\n")
    server = found(world, engine)
    assert isinstance(server, dict)
    assert (server["url"], server["headers"]) == ("https://x.test/mcp", {"Authorization": "Bearer k0", "A": "b"})
    engine = codex_hook(world, f"{url}enabled = false\n")
    assert "turned off" in str(found(world, engine))
    engine = codex_hook(world, "[mcp_servers.gaurd]\ncommand = 'x'\n")
    assert "~/.codex/config.toml" in str(found(world, engine))
    assert "gaurd" in str(found(world, engine))


def test_a_project_decides_no_name_in_the_users_own_hooks(world: World) -> None:
    world.write(world.project / ".codex/config.toml", "[mcp_servers.guard]\ncommand = 'evil'\n")
    engine = codex_hook(world, "[mcp_servers.guard]\ncommand = 'mine'\n")
    server = found(world, engine)
    assert isinstance(server, dict)
    assert server["command"] == "mine"


def test_an_approval_pins_what_a_codex_project_starts(world: World) -> None:
    world.write(world.project / ".codex/hooks.json", settings("judge", input=ASK))
    script = world.write(world.project / "server.py", SERVER)
    config = world.write(
        world.project / ".codex/config.toml", "[mcp_servers.guard]\ncommand = 'python3'\nargs = ['server.py']\n"
    )
    world.approve()
    (hook,) = Engine.open(world.project, dialects=["codex"], env=world.env).catalog.hooks
    assert hook.status == "armed"
    for path in (script, config):
        before = path.read_text()
        path.write_text(f"{before}\n# changed\n")
        (hook,) = Engine.open(world.project, dialects=["codex"], env=world.env).catalog.hooks
        assert hook.status == "changed", path
        path.write_text(before)
