"""Self-protection, measured on sets of attacks and of innocent lines, by category. Half of each set, chosen by the hash
of the line, is held out: the guard is not tuned to it. Nothing is run; only the files and links are real."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from anyhook.guard.guard import refusal
from anyhook.model.event import Event

DATA = Path(__file__).parents[1] / "data" / "protection"
HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": ".claude/hooks/guard.sh"}]}]}}
ENTRY = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "anyhook bridge claude Stop"}]}]}}
FOLDERS = ("scripts", "src/hooks", "evil", "other", "config", ".vscode", "bin")
FILES = {
    ".claude/settings.json": json.dumps(HOOKS), ".codex/hooks.json": json.dumps(HOOKS),
    ".claude/hooks/guard.sh": "#!/bin/sh\nexit 2\n",
    "scripts/check.py": "",
}  # fmt: skip
HOME_FILES = {
    ".local/state/anyhook/trust.json": '{"projects": {}}', ".local/state/anyhook/switches.json": "{}",
    ".local/state/anyhook/journal.jsonl": "",
    ".config/anyhook/config.toml": "protect = true\n", ".claude/settings.json": json.dumps(ENTRY),
    ".codex/config.toml": "",
}  # fmt: skip
PLACES = (
    ".claude/settings.json", ".claude/settings.local.json", ".claude/agents", ".claude/skills", ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json", ".github/hooks", ".kodelet/hooks", ".kodik/hooks/hooks.json", ".qwen/settings.json",
    ".agents/hooks",
    ".claude/hooks/guard.sh", "scripts/check.py",
)  # fmt: skip
HOME_PLACES = (
    ".claude/settings.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".kodelet/hooks",
    ".config/anyhook/config.toml",
)


class Ground:
    """A home and a project with hooks, approvals and links."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        for base, files in ((self.home, HOME_FILES), (self.project, FILES)):
            for name, text in files.items():
                (base / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                (base / name).write_text(text)
                (base / name).chmod(0o600)
        for name in FOLDERS:
            (self.project / name).mkdir(parents=True, exist_ok=True)
        state = self.home / ".local/state/anyhook"
        (state / "installs").mkdir()
        (state / "installs/index.json").write_text(json.dumps({str(self.home / ".claude/settings.json"): {}}))
        (self.project / "link").symlink_to(state)
        (self.project / "cfg").symlink_to(self.home / ".claude")
        (self.project / "alias.sh").symlink_to(".claude/hooks/guard.sh")
        self.places = [*(f"{self.home}/{name}" for name in HOME_PLACES), *(f"{self.project}/{name}" for name in PLACES)]
        self.env = {"HOME": str(self.home), "XDG_STATE_HOME": f"{self.home}/.local/state", "PATH": os.environ["PATH"]}

    def refuses(self, line: str) -> bool:
        line = line.replace("{home}", str(self.home)).replace("{project}", str(self.project))
        event = Event.pre_tool("shell", {"command": line}).replace(ours="shell")
        return refusal(event, self.env, str(self.project), self.places) is not None


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground"))


def lines(name: str, aside: bool) -> Iterator[str]:
    """The lines of a set; `§` stands for a line break inside a line."""
    for line in (DATA / f"{name}.txt").read_text().splitlines():
        if not line.startswith("## ") and (hashlib.sha256(line.encode()).digest()[0] % 2 == 0) is aside:
            yield line.replace("§", "\n")


@pytest.mark.parametrize("aside", [False, True], ids=["tuned", "aside"])
def test_attacks_are_refused(ground: Ground, aside: bool) -> None:
    given = list(lines("attacks", aside))
    missed = [line for line in given if not ground.refuses(line)]
    assert len(missed) <= len(given) * 0.05, missed


@pytest.mark.parametrize("aside", [False, True], ids=["tuned", "aside"])
def test_innocent_lines_pass(ground: Ground, aside: bool) -> None:
    given = list(lines("innocent", aside))
    wrong = [line for line in given if ground.refuses(line)]
    assert len(wrong) <= len(given) * 0.02, wrong


def test_later_sets(ground: Ground) -> None:
    """Written after the guard was tuned to the other sets. In its first runs it refused 124 of 137 attacks, then 63 of
    67, and 2 of 95 innocent lines. Then it was corrected."""
    given = {name: [*lines(name, True), *lines(name, False)] for name in ("more-attacks", "more-innocent")}
    assert [line for line in given["more-attacks"] if not ground.refuses(line)] == []
    assert [line for line in given["more-innocent"] if ground.refuses(line)] == []


def test_the_sets_are_worth_their_name() -> None:
    for name in ("attacks", "innocent"):
        given = [*lines(name, True), *lines(name, False)]
        assert len(set(given)) == len(given) >= 200
