"""A lean entry covers every gate, plus the events and tools that some hook wants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.engine.catalog import build
from anyhook.gates.can_match import tools_wanted
from anyhook.install.lean import lean, must_stay
from anyhook.model.event import AFTER_CALL, EVENTS, GATES
from anyhook.tables.host_rows import speaks_before_calls
from anyhook.tables.registry import INSTALLABLE, host
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World


def called(world: World) -> set[str]:
    """The events for which Claude Code would call us."""
    settings = json.loads((world.home / ".claude/settings.json").read_text())
    return {name for name, groups in settings["hooks"].items() if "bridge claude" in json.dumps(groups)}


def have_claude(world: World) -> None:
    """Put a program named `claude` on PATH."""
    program = world.write(world.root / "bin" / "claude", "#!/bin/sh\necho 2.1.325\n", 0o755)
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"


def diagnosed(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.command("doctor", "claude", "--json").stdout)["claude"]
    return found


def status(world: World, agent: str = "claude") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.command("status", agent, "--json").stdout)
    return found


@each_of("agent", INSTALLABLE)
def test_no_gate_is_ever_left_out_or_narrowed(agent: str) -> None:
    table = host(agent)
    for row in lean(table, {}).events:
        given = table.row(row.native)
        assert given is not None
        if not GATES.isdisjoint(row.canonical) and "block" in row.says:
            assert row == given
        assert row in (given, given.replace(installed=False)), "without a hook, no tool is named"
    few = lean(table, dict.fromkeys(EVENTS, frozenset({"Edit"})))
    for row in few.events:
        given = table.row(row.native)
        assert given is not None
        assert row.installed == (given.installed and (bool(row.canonical) or must_stay(table, given)))
        if row.tools:
            assert set(row.canonical) <= set(AFTER_CALL)
            assert speaks_before_calls(table), "elsewhere a person is told after a call which gates are off"


def test_what_a_hook_wants_is_installed_and_doctor_says_when_it_is_not(world: World) -> None:
    have_claude(world)
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "claude").returncode == 0
    full = called(world)
    assert world.command("install", "claude", "--lean").returncode == 0
    left = full - called(world)
    assert "PreToolUse" in called(world)
    assert "SessionEnd" in left, "nobody wants it, and it refuses nothing"
    assert "which no hook here wants" in diagnosed(world)["reason"]

    world.hook("codex", "SessionEnd", "exit 0")
    found = diagnosed(world)
    assert found["status"] == "UNKNOWN"
    assert "the entry leaves out" in found["reason"]
    assert "install it again" in found["reason"]

    assert world.command("install", "claude", "--lean").returncode == 0
    assert "SessionEnd" in called(world)
    assert "which no hook here wants" in diagnosed(world)["reason"]
    assert world.command("install", "claude").returncode == 0
    assert called(world) == full


def test_an_agent_with_a_script_per_event(world: World) -> None:
    assert world.command("install", "cline").returncode == 0
    scripts = {path.name for path in world.home.rglob("PreToolUse")} and {
        path.name for path in next(world.home.rglob("PreToolUse")).parent.iterdir()
    }
    assert world.command("install", "cline", "--lean").returncode == 0
    left = {path.name for path in next(world.home.rglob("PreToolUse")).parent.iterdir()}
    gates = {row.native for row in host("cline").events if row.installed and must_stay(host("cline"), row)}
    assert left == gates
    assert left <= scripts
    assert world.command("uninstall", "cline").returncode == 0
    assert not list(world.home.rglob("PreToolUse"))


def declare(world: World, event: str, matcher: str) -> None:
    """Declare a Kodik hook with this matcher."""
    group: Json = {"matcher": matcher, "hooks": [{"type": "command", "command": "exit 0"}]}
    world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", event, group)


def matcher(world: World, event: str) -> str | None:
    settings = json.loads((world.home / ".claude/settings.json").read_text())
    groups = settings["hooks"].get(event)
    return str(groups[0].get("matcher", "every tool")) if groups else None


def test_an_event_after_a_call_is_narrowed_to_the_tools_of_its_hooks(world: World) -> None:
    """A refusal after a call comes too late to prevent it. Only in Kolega does it do something: it ends the turn."""
    have_claude(world)
    declare(world, "PreToolUse", "shell")
    assert world.command("install", "claude", "--lean").returncode == 0
    assert (matcher(world, "PreToolUse"), matcher(world, "PostToolUse")) == ("every tool", None)
    assert status(world)["protected"]

    declare(world, "PostToolUse", "Edit|Write")
    assert "the entry leaves out PostToolUse, but a hook here wants that" in diagnosed(world)["reason"]
    assert world.command("install", "claude", "--lean").returncode == 0
    assert (matcher(world, "PreToolUse"), matcher(world, "PostToolUse")) == ("every tool", "Edit|Write")
    assert "it leaves out PostToolUse for all tools but Edit, Write" in diagnosed(world)["reason"]

    world.kolega("PostToolUse", {"type": "command", "command": "/bin/true"}, matcher="Bash")
    found = status(world)
    late = [gate for gate in found["gates"] if gate["dialect"] == "kolega"]
    assert [(gate["state"], gate["fix"]) for gate in late] == [("uncovered", "anyhook install claude --lean")]
    assert late[0]["why"] == "the entry leaves out PostToolUse for all tools but Edit, Write"
    assert not found["protected"]
    doctor = diagnosed(world)
    assert "but a hook here wants that; install it again: anyhook install claude --lean" in doctor["reason"]
    assert "uncovered" in doctor["guards"]

    assert world.command("install", "claude", "--lean").returncode == 0
    assert matcher(world, "PostToolUse") == "Bash|Edit|Write"
    assert status(world)["protected"]
    assert world.command("install", "claude").returncode == 0
    assert matcher(world, "PostToolUse") == "every tool"


WANTED: dict[str, tuple[str, str | None, set[str] | None]] = {
    "names": ("kodik", "Edit|Write", {"Edit", "Write"}),
    "a name of its own agent": ("kodik", "shell", {"Bash"}),
    "no matcher": ("kodik", None, None),
    "all": ("kodik", "*", None),
    "a pattern": ("kodik", "Edit.*", None),
    "a tool that the table does not know": ("kodik", "Edit|NotebookEdit", None),
    "a tool of a server": ("kodik", "mcp__files__write", None),
    "two names with a comma": ("claude", "Edit,NotebookEdit", None),
    "a part of a name": ("kimi", "Write", None),
    "letters of either case": ("vibe", "bash", None),
}


@pytest.mark.parametrize("what", WANTED)
def test_in_doubt_a_hook_wants_every_tool(world: World, what: str) -> None:
    dialect, matcher, tools = WANTED[what]
    world.hook(dialect, "post_tool" if dialect == "vibe" else "PostToolUse", "exit 0")
    (hook,) = [hook for hook in build(world.setup(), may_start=False).hooks if hook.dialect == dialect]
    assert tools_wanted(hook.replace(matcher=matcher), "post_tool", host("claude")) == tools


RULE = '[[rule]]\nname = "no-tasks"\nwhen = "event task_created and matches /secret/"\nbecause = "not here"\n'


def test_an_event_that_few_versions_know_is_hooked_up_where_a_hook_wants_it(world: World) -> None:
    """Claude Code has had the event since 2.1. Hooks that Claude runs itself do not need our entry."""
    world.declare(
        world.home / ".claude/settings.json", "Elicitation", {"hooks": [{"type": "command", "command": "true"}]}
    )
    assert world.command("install", "claude").returncode == 0
    assert {"TaskCreated", "Elicitation"}.isdisjoint(called(world))

    world.hook("kodik", "PreToolUse", "exit 0")
    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULE)
    assert "there is no entry for TaskCreated" in diagnosed(world)["reason"]
    status = json.loads(world.command("status", "claude", "--json").stdout)
    assert (status["protected"], status["agents"]["claude"]["state"]) == (False, "off")

    assert world.command("install", "claude").returncode == 0
    assert called(world) & {"TaskCreated", "Elicitation"} == {"TaskCreated"}
    status = json.loads(world.command("status", "claude", "--json").stdout)
    assert (status["protected"], status["agents"]["claude"]["state"]) == (True, "on")
    payload = {"session_id": "s", "task_id": "1", "task_subject": "print the secret"}
    done = world.command("bridge", "claude", "TaskCreated", stdin=json.dumps(payload))
    assert (done.returncode, done.stdout, "not here" in done.stderr) == (2, "", True)

    (world.home / "config" / "anyhook" / "hooks.toml").unlink()
    assert world.command("install", "claude").returncode == 0
    assert "TaskCreated" in called(world), "the hook may be another project's"
