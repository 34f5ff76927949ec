"""The state of every gate: each state and its causes, in every dialect and every agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook.engine.catalog import build
from anyhook.engine.settle import is_gate
from anyhook.gates.gate import GateStatus, protected
from anyhook.gates.status import gates
from anyhook.model.outcome import STOPPING
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.model.words import Mode
    from conftest import World
from layer_files import OF_PROJECTS

PASS = "exit 0"


def found(world: World, agent: str | None = None, mode: Mode | None = None) -> list[GateStatus]:
    catalog = build(world.setup(), may_start=True).with_lines()
    return gates(world.setup(), catalog, host(agent) if agent else None, mode)


def states(world: World, agent: str | None = None) -> list[str]:
    return [gate.state for gate in found(world, agent)]


def pre_tool(name: str) -> str:
    row = dialect(name).row_for("pre_tool")
    assert row is not None
    assert row.block in STOPPING
    return row.native


@pytest.mark.parametrize("name", DIALECTS)
def test_a_hook_of_the_user_is_armed(world: World, name: str) -> None:
    world.hook(name, pre_tool(name), PASS)
    (gate,) = found(world)
    assert (gate.state, gate.event, gate.dialect, gate.scope) == ("armed", "pre_tool", name, "user")
    assert protected([gate])


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_a_hook_of_a_project_waits_then_is_armed_then_changed_then_gone(world: World, name: str) -> None:
    world.hook(name, pre_tool(name), PASS, scope="project")
    (gate,) = found(world)
    assert (gate.state, gate.fix) == ("waiting", "anyhook trust")
    assert not protected([gate])
    world.approve()
    assert states(world) == ["armed"]
    files = [path for path in world.project.rglob("*") if path.is_file()]
    (declared,) = [path for path in files if any(word in path.read_text() for word in (PASS, str(world.root)))]
    text = declared.read_text()
    declared.write_text(text.replace(PASS, "exit 1") if PASS in text else text.replace("scripts/", "scripts/./"))
    assert states(world) == ["changed"]
    for path in files:
        path.unlink()
    (gate,) = found(world)
    assert (gate.state, gate.fix) == ("changed", "anyhook trust")
    assert "no longer declared" in gate.why


def test_a_hook_that_its_user_turned_off_leaves_the_project_protected_and_a_project_that_does_so_not(
    world: World,
) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    world.hook("claude", "PreToolUse", PASS)
    (one, other) = found(world)
    assert world.command("disable", one.id).returncode == 0
    assert states(world) == ["disabled", "armed"]
    assert protected(found(world))
    world.write(world.project / ".claude" / "settings.json", json.dumps({"disableAllHooks": True}))
    assert world.command("trust", "--yes").returncode == 0
    assert states(world) == ["disabled", "disabled"]
    assert world.command("enable", one.id).returncode == 0
    assert [gate.state for gate in found(world)] == ["armed", "disabled"]
    assert not protected(found(world))
    assert other.dialect == "claude"


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_file_that_cannot_be_parsed_is_one_entry_named_by_its_path(world: World, scope: str) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    base = world.home if scope == "user" else world.project
    path = world.write(base / ".claude" / "settings.json", '{"hooks": {')
    lost = [gate for gate in found(world) if gate.state == "unreadable"]
    assert [(gate.id, gate.event, gate.dialect, gate.scope) for gate in lost] == [(str(path), None, "claude", scope)]
    assert lost[0].fix
    assert not protected(found(world))


def test_hooks_of_a_file_that_became_unreadable_are_not_counted_twice(world: World) -> None:
    world.hook("claude", "PreToolUse", PASS, scope="project")
    world.approve()
    (world.project / ".claude" / "settings.json").write_text("<<<<<<< HEAD\n")
    assert states(world) == ["unreadable"]


def test_a_project_that_is_too_large_is_unreadable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from anyhook.documents import budget

    world.hook("claude", "PreToolUse", PASS)
    monkeypatch.setitem(budget.LIMITS, budget.BYTES, 10)
    world.hook("claude", "PreToolUse", PASS, scope="project")
    assert states(world) == ["armed", "unreadable"]


def test_a_program_that_is_missing_and_a_declaration_that_cannot_be_used_are_broken(world: World) -> None:
    world.hook("kode", "tool_call_pre", PASS)
    path = world.home / "config" / "kode" / "config.yaml"
    world.write(path, json.dumps({"hooks": {"tool_call_pre": [{"exec": ["/no/such/program"]}, {"exec": 5}, {}]}}))
    assert states(world) == ["broken", "broken", "broken"]
    assert all(gate.why and gate.fix for gate in found(world))


@pytest.mark.parametrize("name", DIALECTS)
def test_markers_of_a_merge_are_broken_in_a_script_and_unreadable_in_a_hook_file(world: World, name: str) -> None:
    script = world.write(world.root / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    world.hook(name, pre_tool(name), str(script))
    assert states(world) == ["armed"]
    texts = {
        path: path.read_text() for path in world.home.rglob("*") if path.is_file() and world.state not in path.parents
    }
    (path,) = [path for path, text in texts.items() if str(script) in text]
    if not texts[path].startswith("#!"):
        path.write_text(f"<<<<<<< HEAD\n{texts[path]}=======\n{texts[path]}>>>>>>> theirs\n")
        (gate,) = found(world)
        assert (gate.state, "merge conflict" in gate.why) == ("unreadable", True), gate
        path.write_text(texts[path])
    program = path if texts[path].startswith("#!") else script
    program.write_text(f"{program.read_text()}<<<<<<< HEAD\nexit 0\n=======\nexit 1\n>>>>>>> theirs\n")
    (gate,) = found(world)
    assert (gate.state, "merge conflict" in gate.why) == ("broken", True), gate


def test_a_matcher_that_is_not_a_pattern_is_broken(world: World) -> None:
    group: Json = {"matcher": "(", "hooks": [{"type": "command", "command": "true"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)
    (gate,) = found(world)
    assert gate.state == "broken"


def test_a_hook_that_asks_a_model_needs_one(world: World) -> None:
    world.kolega("PreToolUse", {"type": "prompt", "prompt": "Is this good?"})
    assert states(world) == ["broken"]
    world.config('[models]\nfast = "openai:some"\n')
    assert states(world) == ["armed"]


MISREAD = (
    ("devin", "claude"), ("vscode", "copilot"), ("copilot", "claude"), ("grok", "claude"), ("cursor", "claude"),
)  # fmt: skip
"""Agents that run another agent's hooks with their own tool names and payloads, or that do not read the hooks'
refusals."""


@pytest.mark.parametrize("name", DIALECTS)
def test_in_an_agent_it_is_native_uncovered_or_armed(world: World, name: str) -> None:
    """Check every gate of a dialect in every agent."""
    for row in dialect(name).events:
        if row.block in STOPPING:
            world.hook(name, row.native, PASS, name=row.native.replace("_", "-").lower())
    catalog = build(world.setup(), may_start=True).with_lines()
    for table in map(host, HOSTS):
        asked = {event for row in table.events if row.installed or row.on_demand for event in row.canonical}
        seen = gates(world.setup(), catalog, table)
        assert seen
        for gate in seen:
            row_of = next(row for row in dialect(name).events if gate.event in row.canonical)
            known = {event for row in table.events for event in row.canonical}
            foreign = name != table.name and ((table.name, name) in MISREAD or not known & set(row_of.canonical))
            reads = "user" in table.reads.get(name, ()) and "" in (table.own_files or ("",))
            native = reads and not foreign
            expected = "native" if native else "armed" if asked & set(row_of.canonical) else "uncovered"
            assert (gate.state, gate.agent) == (expected, table.name), gate


@pytest.mark.parametrize(
    ("path", "runs_it", "other"), [(".kimi", "kimicli", "kimi"), (".kimi-code", "kimi", "kimicli")]
)
def test_a_file_of_the_other_product_with_the_same_hooks_is_ours_to_run(
    world: World, path: str, runs_it: str, other: str
) -> None:
    """Kimi Code does not read the config of Kimi CLI, nor the other way round."""
    row = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell|Bash"\ncommand = "echo no >&2; exit 2"\n'
    world.write(world.home / path / "config.toml", row)
    assert (states(world, runs_it), states(world, other)) == (["native"], ["armed"])
    call = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(world.project),
        "tool_input": {"command": "ls"},
    }
    for name, tool, refused in ((runs_it, "Shell", False), (other, "Bash", True)):
        given = json.dumps({**call, "tool_name": tool})
        done = world.command("bridge", name, "PreToolUse", stdin=given)
        assert ('"permissionDecisionReason": "no"' in done.stdout) is refused, done


def test_tools_that_an_agent_does_not_have_never_match_there(world: World) -> None:
    group: Json = {"matcher": "apply_patch", "hooks": [{"type": "command", "command": "true"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)
    assert states(world, "gemini") == ["unmatched"]
    assert states(world, "codex") == ["armed"]
    assert states(world) == ["armed"]
    assert not protected(found(world, "gemini"))


@pytest.mark.parametrize("pattern", ["mcp__db__drop", "Bash|nobody_knows_it", "apply_.*", "", "*"])
def test_a_matcher_that_might_match_counts_as_armed(world: World, pattern: str) -> None:
    group: Json = {"matcher": pattern, "hooks": [{"type": "command", "command": "true"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)
    assert states(world, "gemini") == ["armed"]


def test_a_matcher_that_can_never_match_anywhere(world: World) -> None:
    group: Json = {"matcher": "Bash, Write", "hooks": [{"type": "command", "command": "true"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)
    assert states(world) == ["unmatched"]


def test_shadow_for_all_and_for_one(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    world.hook("claude", "PreToolUse", PASS)
    one = found(world)[0].id
    world.config(f'[hooks."{one}"]\nmode = "shadow"\n')
    assert states(world) == ["shadow", "armed"]
    assert not protected(found(world))
    world.config(f'mode = "shadow"\n[hooks."{one}"]\nmode = "enforce"\n')
    assert states(world) == ["armed", "shadow"]


def test_the_first_state_that_applies_counts(world: World) -> None:
    """The hook waits for approval, is broken, runs natively and is in shadow mode."""
    world.config('mode = "shadow"\n')
    group: Json = {"hooks": [{"type": "command", "command": "/no/such/program"}]}
    world.declare(world.project / ".claude" / "settings.json", "PreToolUse", group)
    (gate,) = found(world, "claude")
    assert gate.state == "waiting"
    world.approve()
    assert states(world, "claude") == ["broken"]
    world.write(world.project / ".claude" / "settings.json", json.dumps({"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command", "command": "true"}]}]}}))  # fmt: skip
    world.approve()
    assert states(world, "claude") == ["native"]
    assert states(world, "codex") == ["shadow"]
    assert world.command("disable", gate.id.replace("program", "true")).returncode == 0
    assert states(world, "claude") == ["disabled"]


@pytest.mark.parametrize("name", DIALECTS)
def test_only_hooks_that_can_stop_something_are_gates(world: World, name: str) -> None:
    for row in dialect(name).events:
        world.hook(name, row.native, PASS, name=row.native.replace("_", "-").lower())
    for hook in build(world.setup(), may_start=True).hooks:
        declared = dialect(hook.dialect).row(hook.native_event)
        assert declared is not None
        assert is_gate(hook) == (declared.block in STOPPING and hook.scope != "builtin")


def test_without_any_gate_nobody_is_protected(world: World) -> None:
    assert found(world) == []
    assert not protected([])


def test_an_entry_that_waits_too_short(world: World) -> None:
    """What the agent is told is what `status` says: the same guards are off, those that the entry cannot hold."""
    quick, slow = pre_tool("kode"), pre_tool("claude")
    world.hook("kode", quick, PASS, timeout_ms=1000)
    world.hook("kimi", pre_tool("kimi"), PASS, timeout=30)
    world.hook("claude", slow, PASS, timeout=30)
    assert world.command("install", "claude").returncode == 0
    assert {gate.state for gate in found(world)} == {"armed"}
    entry = world.home / ".claude/settings.json"
    written = json.loads(entry.read_text())
    for group in written["hooks"][slow]:
        for handler in group["hooks"]:
            if "anyhook" in handler["command"]:
                handler["timeout"] = 5
    world.write(entry, json.dumps(written))
    off = [gate.id for gate in found(world) if gate.state == "broken"]
    assert off == [gate.id for gate in found(world, "claude") if gate.state == "broken"]
    assert off == [gate.id for gate in found(world) if gate.dialect == "kimi"]
    assert off
    payload = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(world.project), "source": "startup"}
    told = world.command("bridge", "claude", "SessionStart", stdin=json.dumps(payload)).stdout
    assert "anyhook: 1 guard OFF: " in told
    assert "; 1 OFF: " in world.command("status").stdout
