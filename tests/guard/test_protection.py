"""Self-protection, command by command: a table of what agents might run, and whether the guard refuses it. Nothing is
run; only the links are real."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from anyhook.guard.calls import refused
from anyhook.guard.guard import refusal
from anyhook.model.event import Event
from anyhook.tables.registry import host

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "protection.json").read_text())


@pytest.fixture
def place(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """A home with our files, an entry in two agents' configs, and links to both from the project."""
    home, project = tmp_path / "home", tmp_path / "project"
    own = home / ".local/state/anyhook"
    (own / "installs").mkdir(parents=True)
    (home / ".config/anyhook").mkdir(parents=True)
    (home / ".claude").mkdir()
    (project / ".codex").mkdir(parents=True)
    entries = [home / ".claude/settings.json", project / ".codex/hooks.json"]
    (own / "installs/index.json").write_text(json.dumps({str(path): {} for path in entries}))
    (project / "link").symlink_to(own)
    (project / "cfg").symlink_to(home / ".claude")
    bases = {"XDG_STATE_HOME": str(home / ".local/state"), "XDG_RUNTIME_DIR": str(home / "run")}
    return {"HOME": str(home), **bases}, project


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["command"])
def test_a_command(place: tuple[dict[str, str], Path], row: dict[str, Any]) -> None:
    env, project = place
    command = row["command"].replace("{home}", env["HOME"]).replace("{project}", str(project))
    why = refusal(Event.pre_tool("shell", {"command": command}).replace(ours="shell"), env, str(project))
    assert (why is not None) is row["refused"], why


@pytest.mark.parametrize("before", [{}, {"description": "ls"}, {"description": "cat it"}])
@pytest.mark.parametrize(
    "line",
    [
        "mytool {home}/.claude/settings.json", "ls; mytool {home}/.claude/settings.json",
        "cd . && mytool {home}/.claude/settings.json", "ls\nmytool {home}/.claude/settings.json",
        "cat x | mytool {home}/.claude/settings.json",
    ],
)  # fmt: skip
def test_what_comes_first_hides_nothing(place: tuple[dict[str, str], Path], before: dict[str, str], line: str) -> None:
    """Neither a description nor a harmless command before it hides an attack."""
    env, project = place
    given: dict[str, Any] = {**before, "command": line.replace("{home}", env["HOME"])}
    assert refusal(Event.pre_tool("shell", given).replace(ours="shell"), env, str(project)) is not None


def test_a_quick_look_misses_nothing(place: tuple[dict[str, str], Path]) -> None:
    """Most lines are let through after a look at their texts, and at those of the scripts that they run. The whole look
    would not refuse them either."""
    env, project = place
    entries = [f"{env['HOME']}/.claude/settings.json", f"{project}/.codex/hooks.json"]
    (project / "sub").mkdir()
    for name, there in (("link", f"{env['HOME']}/.local/state/anyhook"), ("cfg", f"{env['HOME']}/.claude")):
        (project / "sub" / name).symlink_to(there)
    script, found, missed = project / "sub/run", 0, []
    script.touch(0o755)
    for row in filter(lambda row: row["refused"], TABLE):
        command = row["command"].replace("{home}", env["HOME"]).replace("{project}", str(project))
        script.write_text(f"#!/bin/sh\n{command}\n")
        (project / "package.json").write_text(json.dumps({"scripts": {"x": command}}))
        for line in (f"cd sub && {command}", "sh sub/run", "cd sub && ./run", "npm run x"):
            event = Event.pre_tool("shell", {"command": line}).replace(ours="shell")
            if refusal(event, env, str(project)) is not None:
                found += 1
            elif why := refused(event, env, str(project), (), entries):
                missed.append((line, command, why))
    assert not missed
    assert found > 250


def test_the_table_is_worth_its_name() -> None:
    commands = [row["command"] for row in TABLE]
    assert len(set(commands)) == len(commands) >= 60
    assert 20 <= sum(row["refused"] for row in TABLE) <= len(TABLE) - 20


@pytest.mark.parametrize(
    "command", ["'", '"', "$(", "`", "${", "<<", "a <<EOF", "\\", ">", "2>", "(((", "$", "~", "x" * 100_000]
)
def test_half_a_line(place: tuple[dict[str, str], Path], command: str) -> None:
    """A line that no shell would accept is still checked, without an exception."""
    env, project = place
    for text in (command, f"rm -rf ~/.local/state/anyhook; {command}"):
        why = refusal(Event.pre_tool("shell", {"command": text}).replace(ours="shell"), env, str(project))
        assert (why is not None) is (text != command)


ENTRY = {"hooks": [{"type": "command", "command": "anyhook bridge claude Stop"}]}
SETTINGS = json.dumps({"model": "x", "hooks": {"Stop": [ENTRY]}}, indent=2)
EDITS = {
    "another setting": ('"model": "x"', '"model": "y"', False), "the command": ("anyhook bridge", "true", True),
    "a part of it": ("anyhook", "", True), "the event": ('"Stop"', '"Stopp"', True),
    "all hooks": ('"hooks": {', '"off": {', True), "the syntax": ('"model": "x"', '"model"', True),
    "the agent's switch": ('"model": "x"', '"disableAllHooks": true', True),
    "where anyhook looks": ('"model": "x"', '"env": {"XDG_STATE_HOME": "/tmp"}', True),
    "which anyhook runs": ('"model": "x"', '"env": {"PATH": "/tmp"}', True),
    "another variable": ('"model": "x"', '"env": {"NODE_ENV": "test"}', False),
    "text that is not there": ("nothing", "else", False),
}  # fmt: skip


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_of_a_file_with_our_entry(place: tuple[dict[str, str], Path], what: str) -> None:
    env, project = place
    old, new, refused = EDITS[what]
    path = Path(env["HOME"], ".claude/settings.json")
    path.write_text(SETTINGS)
    edit: dict[str, Any] = {"path": str(path), "old_text": old, "new_text": new}
    assert (refusal(Event.pre_tool("edit_file", edit), env, str(project)) is not None) is refused
    whole: dict[str, Any] = {"path": str(path), "content": SETTINGS.replace(old, new)}
    assert (refusal(Event.pre_tool("write_file", whole), env, str(project)) is not None) is refused


def test_an_edit_of_a_program_of_ours(place: tuple[dict[str, str], Path]) -> None:
    env, project = place
    path = project / "anyhook.js"
    path.write_text("// ours\ncall(['anyhook'])\n")
    Path(env["HOME"], ".local/state/anyhook/installs/index.json").write_text(json.dumps({str(path): {}}))
    edit: dict[str, Any] = {"path": str(path), "old_text": "call(", "new_text": "skip("}
    assert refusal(Event.pre_tool("edit_file", edit), env, str(project))


@pytest.mark.parametrize(
    ("tool", "given", "refused"),
    [
        ("mcp__fs__write_file", {"path": "~/.config/anyhook/config.toml", "content": "x"}, True),
        ("mcp__fs__move_file", {"source": "{home}/.claude/settings.json", "destination": "/tmp/x"}, True),
        ("mcp__fs__delete", {"paths": ["a", "{home}/.local/state/anyhook"]}, True),
        ("mcp__fs__write_file", {"path": "{home}/run/anyhook/quiet/x", "content": "Wclaude"}, True),
        ("MultiEdit", {"file_path": "link/trust.json", "edits": []}, True),
        ("mcp__fs__read_file", {"path": "~/.config/anyhook/config.toml"}, False),
        ("mcp__fs__write_file", {"path": "notes.md", "content": "~/.config/anyhook/config.toml\nis where"}, False),
        ("mcp__term__send_keys", {"text": "anyhook trust --yes\n"}, True),
        ("mcp__terminal__type", {"text": "ls ~/.config/anyhook"}, False),
        ("mcp__chat__post", {"text": "anyhook trust --yes"}, False),
        ("mcp__x__shell", {"cmdline": "rm ~/.config/anyhook/config.toml"}, True),
        ("mcp__x__batch", {"calls": [{"command": "ls"}, {"command": "anyhook uninstall claude"}]}, True),
        ("mcp__git__checkout", {"repo": "x", "files": ["{home}/.config/anyhook/config.toml"]}, True),
        ("mcp__fs__delete", {"uri": "file://{home}/%2Econfig/anyhook/config.toml"}, True),
        ("mcp__fs__create_symlink", {"target": "/bin/true", "link": "{home}/.config/anyhook/config.toml"}, True),
        ("mcp__fs__write", {"path": f"{sysconfig.get_path('purelib')}/a.pth", "content": "import os"}, True),
        ("mcp__fs__read", {"path": f"{sysconfig.get_path('purelib')}/a.pth"}, False),
        ("mcp__tracker__create_issue", {"title": "anyhook: ~/.config/anyhook is not read"}, False),
    ],
)
def test_a_tool_that_we_do_not_know(
    place: tuple[dict[str, str], Path], tool: str, given: dict[str, Any], refused: bool
) -> None:
    env, project = place
    given = json.loads(json.dumps(given).replace("{home}", env["HOME"]))
    assert (refusal(Event.pre_tool(tool, given), env, str(project)) is not None) is refused


def test_however_deep_a_path_stands(place: tuple[dict[str, str], Path]) -> None:
    env, project = place
    value: Any = f"{env['HOME']}/.claude/settings.json"
    for _ in range(5_000):
        value = [value]
    assert refusal(Event.pre_tool("mcp__files__write", {"paths": value}), env, str(project)) is not None


@pytest.mark.parametrize(
    ("agent", "tool", "given", "refused"),
    [
        ("qwen", "shell", {"command": "echo QWEN_CODE_SAFE_MODE=1 >> .env"}, True),
        ("qwen", "shell", {"command": "printf 'QWEN_CODE_SIMPLE=1' | tee ~/.qwen/.env"}, True),
        ("qwen", "shell", {"command": "QWEN_CODE_SAFE_MODE=1 qwen -p 'rm -rf x'"}, True),
        ("qwen", "shell", {"command": "qwen --bare -p hello"}, True),
        ("claude", "shell", {"command": "claude --bare -p hello"}, True),
        ("opencode", "shell", {"command": "opencode --pure run hello"}, True),
        ("qwen", "shell", {"command": "echo DEBUG=1 >> .env"}, False),
        ("qwen", "shell", {"command": "grep QWEN_CODE_SAFE_MODE .env"}, False),
        ("qwen", "shell", {"command": "echo 'QWEN_CODE_SAFE_MODE turns hooks off' >> notes.md"}, False),
        ("qwen", "shell", {"command": "qwen -p 'what does --bare do?'"}, False),
        ("qwen", "write_file", {"path": ".env", "content": "A=1\nQWEN_CODE_SAFE_MODE=true\n"}, True),
        ("qwen", "write_file", {"path": ".qwen/.env", "content": "QWEN_CODE_SIMPLE=1"}, True),
        ("qwen", "edit_file", {"path": ".env", "old_text": "", "new_text": "QWEN_CODE_SIMPLE=1"}, True),
        ("qwen", "write_file", {"path": ".qwen/settings.json", "content": '{"env": {"QWEN_CODE_SIMPLE": "1"}}'}, True),
        ("qwen", "write_file", {"path": ".env", "content": "A=1\n"}, False),
        ("qwen", "write_file", {"path": ".env", "content": "QWEN_CODE_SAFE_MODE=0\n"}, False),
        ("qwen", "write_file", {"path": "README.md", "content": "QWEN_CODE_SAFE_MODE=1\n"}, False),
        (
            "claude",
            "write_file",
            {"path": "~/.claude/settings.json", "content": '{"env":{"CLAUDE_CODE_SIMPLE":"1"}}'},
            True,
        ),
        ("claude", "write_file", {"path": ".env", "content": "QWEN_CODE_SIMPLE=1"}, False),
        ("cline", "write_file", {"path": ".env.local", "content": "CLINE_DIR=/tmp/x"}, True),
        ("cline", "shell", {"command": "CLINE_DIR=/tmp/x cline hello"}, True),
        ("cline", "shell", {"command": "cline --yolo hello"}, True),
    ],
)
def test_what_turns_hooks_off_the_next_time(
    place: tuple[dict[str, str], Path], agent: str, tool: str, given: dict[str, Any], refused: bool
) -> None:
    env, project = place
    event = Event.pre_tool(tool, given).replace(ours=tool)
    assert (refusal(event, env, str(project), (), host(agent)) is not None) is refused
