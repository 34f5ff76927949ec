"""Self-protection, command by command: a table of what agents might run, and whether the guard refuses it. Nothing is
run; only the links are real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anyhook.model.event import Event
from anyhook.protection import refusal

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "protection.json").read_text())


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
    return {"HOME": str(home), "XDG_STATE_HOME": str(home / ".local/state")}, project


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["command"])
def test_a_command(place: tuple[dict[str, str], Path], row: dict[str, Any]) -> None:
    env, project = place
    command = row["command"].replace("{home}", env["HOME"]).replace("{project}", str(project))
    why = refusal(Event.pre_tool("shell", {"command": command}).replace(ours="shell"), env, str(project))
    assert (why is not None) is row["refused"], why


def test_the_table_is_worth_its_name() -> None:
    commands = [row["command"] for row in TABLE]
    assert len(set(commands)) == len(commands) >= 60
    assert 20 <= sum(row["refused"] for row in TABLE) <= len(TABLE) - 20


@pytest.mark.parametrize(
    "command", ["'", '"', "$(", "`", "${", "<<", "a <<EOF", "\\", ">", "2>", "(((", "$", "~", "x" * 100_000]
)
def test_half_a_line(place: tuple[dict[str, str], Path], command: str) -> None:
    """What no shell would take is looked at all the same, and nothing breaks."""
    env, project = place
    for text in (command, f"rm -rf ~/.local/state/anyhook; {command}"):
        why = refusal(Event.pre_tool("shell", {"command": text}).replace(ours="shell"), env, str(project))
        assert (why is not None) is (text != command)
