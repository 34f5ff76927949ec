"""What `doctor` reports: agents, our entries in their files, and entries that cannot work."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from anyhook.tables.registry import HOSTS, INSTALLABLE, host
from conftest import World
from satellite import satellite

AGENTS = [name for name in HOSTS if host(name).entry is not None]
KEYS = {"found", "version", "installed", "status", "reason", "covers", "gaps"}


def doctor(world: World, *words: str, status: int = 0) -> dict[str, Any]:
    done = world.command("doctor", *words, "--json")
    assert done.returncode == status, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def bare(world: World) -> World:
    """A world with no agents on its PATH."""
    world.env["PATH"] = str(world.root / "bin")
    (world.root / "bin").mkdir()
    return world


def test_nothing_anywhere(bare: World) -> None:
    found = doctor(bare)
    assert list(found) == AGENTS
    for name, row in found.items():
        assert row.keys() >= KEYS, name
        assert (row["found"], row["version"], row["installed"], row["status"]) == (False, None, [], "NOT_INSTALLED")
        assert "pre_tool" in row["covers"]


def installed(world: World, *words: str) -> None:
    for agent in AGENTS:
        assert world.command("install", agent, *words).returncode == 0, agent


def test_entries_in_place(bare: World) -> None:
    installed(bare)
    for agent, row in doctor(bare).items():
        assert (row["status"], bool(row["installed"])) == ("UNKNOWN", True), (agent, row["reason"])
        assert all(os.path.exists(path) for path in row["installed"]), agent
    satellite("live.check")
    for agent, row in doctor(bare, "--live").items():
        assert row["status"] == "UNKNOWN", f"{agent}: never armed without proof"


def test_a_program_and_its_version(bare: World) -> None:
    bare.write(bare.root / "bin/codex", "#!/bin/sh\nprintf '\\033[1mcodex-cli\\033[0m 9.9\\n'\n", 0o755)
    row = doctor(bare, "codex")["codex"]
    assert (row["found"], row["version"]) == (True, "codex-cli 9.9")


def test_a_launcher_that_is_gone(bare: World) -> None:
    bare.command("install", "gemini")
    path = bare.home / ".gemini/settings.json"
    entry = {"type": "command", "command": "/gone/bin/anyhook bridge gemini BeforeTool"}
    path.write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [entry]}]}}))
    row = doctor(bare, "gemini", status=1)["gemini"]
    assert (row["status"], row["without_us"]) == ("REFUSING", "refuses"), "as it was seen to"
    assert "/gone/bin/anyhook" in row["reason"]


@pytest.mark.parametrize("words", [(), ("--closed",)])
def test_entries_whose_launcher_is_gone_are_inert_or_refuse(bare: World, words: tuple[str, ...]) -> None:
    """It depends on what the agent does without us. A closed entry always refuses."""
    installed(bare, *words)
    rows = doctor(bare)
    for agent, row in rows.items():
        assert (row["status"], row["without_us"] == "closed") == ("UNKNOWN", bool(words)), (agent, row["reason"])
    for path in {Path(path) for row in rows.values() for path in row["installed"]}:
        path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    for agent, row in doctor(bare, status=1).items():
        state = "REFUSING" if words or host(agent).without_us == "refuses" else "INERT"
        assert (row["status"], "/gone/python" in row["reason"]) == (state, True), (agent, row)
    for agent in AGENTS:
        assert bare.command("uninstall", agent).returncode == 0, agent
    assert {agent: row["installed"] for agent, row in doctor(bare).items()} == {agent: [] for agent in AGENTS}


def test_a_file_that_is_not_json(bare: World) -> None:
    bare.command("install", "claude")
    path = bare.home / ".claude/settings.json"
    path.write_text(path.read_text()[:-4])
    row = doctor(bare, "claude", status=1)["claude"]
    assert (row["status"], "is not valid JSON" in row["reason"]) == ("INERT", True), row["reason"]


def test_a_project_entry_needs_anyhook_on_the_path(bare: World) -> None:
    bare.command("install", "claude", "--scope", "project")
    assert doctor(bare, "claude", status=1)["claude"]["status"] == "INERT"
    bare.write(bare.root / "bin/anyhook", "#!/bin/sh\n", 0o755)
    assert doctor(bare, "claude")["claude"]["status"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("agent", "path", "switch", "why"),
    [
        ("claude", ".claude/settings.json", {"disableAllHooks": True}, "runs no hooks; remove it"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "runs no hooks; remove it"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"disabled": ["anyhook"]}}, "take the name out"),
        ("letta", ".letta/settings.json", {"hooks": {"disabled": True}}, "runs no hooks; remove it"),
        ("grok", ".grok/disabled-hooks", "global/anyhook:pre_tool_use[0].hooks[0]\n", "take those lines out"),
        ("grok", ".grok/requirements.toml", "allow_managed_hooks_only = true\n", "runs no hooks; remove it"),
        ("qwen", ".env", "# mine\nexport QWEN_CODE_SAFE_MODE = 'True'\n", "runs no hooks; remove it"),
        ("qwen", ".qwen/.env", "QWEN_CODE_SIMPLE=1", "runs no hooks; remove it"),
        ("qwen", ".qwen/settings.json", {"env": {"QWEN_CODE_SIMPLE": "yes"}}, "sets QWEN_CODE_SIMPLE"),
        ("qwen", "../project/.env", "QWEN_CODE_SIMPLE=1", "runs no hooks; remove it"),
        ("qwen", "../.env", "QWEN_CODE_SIMPLE=1", "runs no hooks; remove it"),
        ("qwen", "../project/.qwen/settings.json", {"env": {"QWEN_CODE_SAFE_MODE": "1"}}, "sets QWEN_CODE_SAFE_MODE"),
        ("claude", ".claude/settings.json", {"env": {"CLAUDE_CODE_SIMPLE": "1"}}, "sets CLAUDE_CODE_SIMPLE"),
        ("cline", "../project/.env", "CLINE_DIR=./mine\n", "looks for its hooks elsewhere"),
    ],
)
def test_hooks_turned_off(bare: World, agent: str, path: str, switch: dict[str, Any] | str, why: str) -> None:
    bare.write(bare.home / path, switch if isinstance(switch, str) else json.dumps(switch))
    bare.command("install", agent)
    row = doctor(bare, agent, status=1)[agent]
    assert (row["status"], why in row["reason"]) == ("INERT", True), row["reason"]


@pytest.mark.parametrize(
    ("agent", "files"),
    [
        ("qwen", {"../project/.env": "QWEN_CODE_SAFE_MODE=0\nOTHER=1\n"}),
        ("qwen", {"../project/.env": "NOT_QWEN_CODE_SIMPLE=1\n#QWEN_CODE_SIMPLE=1\n"}),
        ("qwen", {"../project/.env": "A=1\n", "../.env": "QWEN_CODE_SAFE_MODE=1\n"}),  # the nearest file counts
        ("claude", {"../project/.claude/settings.json": '{"env": {"CLAUDE_CODE_SIMPLE": "1"}}'}),  # read too late
        ("claude", {"../project/.env": "CLAUDE_CODE_SIMPLE=1\n"}),  # not read
        ("opencode", {"../project/.env": "OPENCODE_PURE=1\n"}),
    ],
)
def test_variables_that_turn_nothing_off(bare: World, agent: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        bare.write(bare.home / path, text)
    bare.command("install", agent)
    assert doctor(bare, agent)[agent]["status"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("agent", "name"), [("qwen", "QWEN_CODE_SIMPLE"), ("claude", "CLAUDE_CODE_SIMPLE"), ("opencode", "OPENCODE_PURE")]
)
def test_a_variable_of_the_shell(bare: World, agent: str, name: str) -> None:
    bare.command("install", agent)
    for value, status in (("1", "INERT"), ("0", "UNKNOWN")):
        bare.env[name] = value
        assert doctor(bare, agent, status=int(status == "INERT"))[agent]["status"] == status


def test_a_list_of_other_hooks_that_are_off(bare: World) -> None:
    bare.write(bare.home / ".gemini/settings.json", json.dumps({"hooksConfig": {"disabled": ["theirs"]}}))
    bare.command("install", "gemini")
    assert doctor(bare, "gemini")["gemini"]["status"] == "UNKNOWN"


def test_hooks_that_never_match(bare: World) -> None:
    bare.hook("kodik", "PermissionRequest", "true")
    bare.hook("kodik", "PreToolUse", "true")
    found = doctor(bare, "vibe", "claude")
    assert [name.split(":")[2] for name in found["vibe"]["never"]] == ["PermissionRequest"]
    assert found["claude"]["never"] == []


def test_for_people(bare: World) -> None:
    bare.command("install", "goose")
    done = bare.command("doctor", "goose", "vibe")
    assert done.returncode == 0
    assert "? goose: UNKNOWN (not found)" in done.stdout
    assert "- Mistral Vibe: NOT_INSTALLED" in done.stdout


def test_a_bad_call(bare: World) -> None:
    done = bare.command("doctor", "claud")
    assert (done.returncode, done.stdout) == (3, "")
    assert "Did you mean `claude`?" in done.stderr


def test_an_agent_that_runs_anothers_entry(bare: World) -> None:
    """It does not count as installed: its own settings decide whether it runs that entry."""
    bare.command("install", "claude")
    row = doctor(bare, "cursor")["cursor"]
    assert row["status"] == "NOT_INSTALLED"
    (through,) = row["through"]
    assert through == f"the entry of Claude Code ({bare.home}/.claude/settings.json)"
    assert "may also run the entry of Claude Code" in " ".join(bare.command("doctor", "cursor").stdout.split())
    shown = json.loads(bare.command("status", "cursor", "--json").stdout)["agents"]["cursor"]
    assert (shown["installed"], shown["state"]) == (False, "unknown")
    assert "may run the entry of Claude Code" in shown["why"]
    assert doctor(bare, "copilot")["copilot"]["through"] == [], "it reads the project's file only"


def test_agents_that_are_not_here_are_counted_in_one_line(world: World) -> None:
    """A person reads about the agents that they have."""
    world.env["PATH"] = f"{world.home / 'bin'}:/usr/bin:/bin"
    world.write(world.home / "bin/claude", "#!/bin/sh\necho 2.1.325\n", 0o755)
    assert world.command("install", "goose").returncode == 0
    said = world.command("doctor").stdout
    named = [line for line in said.splitlines() if line[:2] in ("- ", "? ", "✓ ", "✗ ")]
    assert [line[2:].partition(":")[0] for line in named] == ["Claude Code", "goose"]
    assert f"{len(INSTALLABLE) - 2} others not found; `anyhook doctor --all` shows them." in said
    assert "Cursor: NOT_INSTALLED" in world.command("doctor", "--all").stdout
    assert "Cursor: NOT_INSTALLED" in world.command("doctor", "cursor").stdout
    assert len(json.loads(world.command("doctor", "--json").stdout)) == len(INSTALLABLE)
