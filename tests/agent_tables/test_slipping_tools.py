"""Tools that slip past a matcher: a patch inside a shell call, input for a running shell, an editor that creates a
file, and tool names that a product has but its document does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.engine.receive import receive
from anyhook.tables.registry import dialect, host
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

PATCH = "*** Begin Patch\n*** Add File: new.py\n+x = 1\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch"


def events(agent: str, native: str, payload: dict[str, Json]) -> list[tuple[str, Json]]:
    """Tool and input of each event that hooks are asked about, in our own names."""
    table = host(agent)
    row = table.row(native)
    assert row is not None
    return [
        (event.ours or str(event.data["tool"]), event.data["input"])
        for event in receive(table, row, payload, b"").events
    ]


@each_of(
    ("before", "folder"),
    [
        ("apply_patch <<'EOF'\n", ""),
        ("cd sub && apply_patch <<EOF\n", "sub/"),
        ('applypatch "', ""),
        ("apply_patch '", ""),
    ],
)
def test_a_patch_inside_a_shell_call_is_shown_file_by_file(before: str, folder: str) -> None:
    command = f"{before}{PATCH}\nEOF"
    found = events("codex", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert found == [
        ("shell", {"command": command}),
        ("write_file", {"path": f"{folder}new.py", "content": "x = 1\n"}),
        ("edit_file", {"path": f"{folder}.env", "old_text": "a\n", "new_text": "b\n"}),
    ]


@pytest.mark.parametrize("command", ["ls", "echo apply_patch", "grep '*** Begin Patch' x"])
def test_other_commands_are_one_event(command: str) -> None:
    found = events("codex", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert found == [("shell", {"command": command})]


def test_a_hook_for_writes_refuses_it(world: World) -> None:
    script = 'case "$(cat)" in *.env*) echo "no .env" >&2; exit 2;; esac'
    group: Json = {"matcher": "Edit", "hooks": [{"type": "command", "command": script}]}
    world.declare(world.home / ".claude/settings.json", "PreToolUse", group)
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": f"apply_patch <<EOF\n{PATCH}\nEOF"}}
    done = world.command("bridge", "codex", "PreToolUse", stdin=json.dumps(payload))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_rewrite_around_the_patch_is_made_and_one_of_the_patch_is_not() -> None:
    tool = host("codex").tools["Bash"]
    assert tool.rejoin is not None
    given: dict[str, Json] = {"command": f"apply_patch <<EOF\n{PATCH}\nEOF", "workdir": "/x"}
    nice: dict[str, Json] = {"command": f"nice {given['command']}"}
    assert tool.rejoin(given, 0, nice) == {**given, **nice}
    assert tool.rejoin(given, 0, {"command": "rm -rf /"}) is None, "the hooks for its files have not seen it"
    assert tool.rejoin(given, 1, {"path": "other.py"}) is None


@pytest.mark.parametrize("agent", ["codex", "kolega"])
def test_input_for_a_running_shell_is_a_shell_event_or_a_named_gap(agent: str) -> None:
    payload: dict[str, Json] = {"tool_name": "write_stdin", "tool_input": {"session_id": 1, "chars": "rm -rf /\n"}}
    ((tool, _),) = events(agent, "PreToolUse", payload)
    assert tool == "shell"
    if agent == "codex":  # it is not known to call hooks for this tool
        assert any("write_stdin" in gap for gap in host(agent).gaps)


def test_the_command_of_a_running_shell_is_seen_by_guards(world: World) -> None:
    world.hook("claude", "PreToolUse", 'case "$(cat)" in *"rm -rf"*) echo no >&2; exit 2;; esac', matcher="")
    payload = {"session_id": "s", "tool_name": "write_stdin", "tool_input": {"session_id": 1, "chars": "rm -rf /\n"}}
    done = world.command("bridge", "codex", "PreToolUse", stdin=json.dumps(payload))
    assert "deny" in done.stdout


def editor(**given: Json) -> list[tuple[str, Json]]:
    return events("cline", "PreToolUse", {"preToolUse": {"toolName": "editor", "parameters": given}})


def test_clines_editor_that_creates_a_file_is_a_write() -> None:
    assert editor(path="a.txt", new_text="x") == [("write_file", {"path": "a.txt", "content": "x"})]
    ((tool, _),) = editor(path="a.txt", old_text="a", new_text="b")
    assert tool == "edit_file"
    tools = host("cline").tools["editor"]
    assert tools.rejoin is not None
    given: dict[str, Json] = {"path": "a.txt", "new_text": "x"}
    assert tools.rejoin(given, 0, {"path": "b.txt", "content": "y"}) == {"path": "b.txt", "new_text": "y"}


@pytest.mark.parametrize("name", ["exec_command", "execute_terminal_command"])
def test_kolegas_matchers_may_use_either_name(world: World, name: str) -> None:
    world.kolega("PreToolUse", {"type": "command", "command": "/bin/sh -c 'exit 2'"}, matcher=name)
    call = Event("pre_tool", {"tool": "shell", "input": {"command": "ls"}}, hosted=True)
    assert world.engine().fire_sync(call).verdict == "block"


@each_of(
    ("native", "ours"),
    [("exec_command", "shell"), ("execute_terminal_command", "shell"), ("write", "write_file"), ("edit", "edit_file"),
     ("create_file", "write_file"), ("read", "read_file"), ("dispatch_agent", "delegate_task")],
)  # fmt: skip
def test_kolega_as_a_host_has_both_names(native: str, ours: str) -> None:
    assert host("kolega").tools[native].ours == ours


def test_kolegas_post_compact_is_an_event_of_the_host_and_of_the_dialect(world: World) -> None:
    """The document has nine events; the tenth, which releases since June have, is read and a known difference."""
    row = host("kolega").row("PostCompact")
    assert row is not None
    assert row.canonical == ("post_compact",)
    world.kolega("PostCompact", {"type": "command", "command": "/bin/true"})
    assert world.engine().catalog.problems == []
    assert [hook.events for hook in world.engine().catalog.hooks if hook.dialect == "kolega"] == [("post_compact",)]
    assert any("PostCompact" in each.what for each in dialect("kolega").differences)
