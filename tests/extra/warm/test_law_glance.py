"""The launcher's check of a tool's input never trusts more than Python's: self-protection's own first check allows
every call that the launcher answers by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from anyhook.engine.bridge import named, read
from anyhook.guard import calls
from anyhook.guard.guard import refusal
from anyhook.model import lean_json
from anyhook.tables.registry import host
from conftest import World
from examples import examples
from warm_box import Desk, eventually, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL = ("claude", "PreToolUse")
DATA = Path(__file__).parents[2] / "data"
TOOLS = ("Bash", "Write", "Read", "Task", "mcp__a__b", "Unknown", "")
KEYS = st.sampled_from(["command", "cmd", "description", "file_path", "content", "x"])
PIECES = st.sampled_from([
    " ", " ", " ", "\n", "\t", "\r", "\x0b", "\x1c", "\x00", "\u00a0", "\u2003", "\u00e9", ";", "&&", "|", ">", ">>",
    "(", ")", "'", '"', "\\", "\\\n", "$", "`", "*", "~", "..", ".", "/", "//", "./", "=", "{", "[", "?", "a",
    "x" * 300,
    "rm", "rm -rf", "mv", "find", "/usr/bin/rm", "cd", "ls", "echo", "mytool", "sed -i", "git", "make",
    "hook", "ho'ok", "anyhook", "any", "trust.json", "settings.json", ".claude", ".codex", "HOME=", "_DIR=",
    "link", "link/x", "plain", "plain/x", "entry", "/tmp", "/proc/self", "src/a.py",
    "ROOT", "ROOT/", "ROOT/project", "ROOT/project/.", "ROOT/home", "ROOT/project/entry",
])  # fmt: skip
lines = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=12)
inputs = st.dictionaries(
    KEYS, lines | st.lists(lines, max_size=2) | st.dictionaries(KEYS, lines, max_size=2), max_size=3
)


class Ground:
    """A table for a project that has a link, and a folder with an agent's settings that contain our entry."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.world = desk, desk.world
        project = self.world.project
        (project / "plain").mkdir()
        (project / "link").symlink_to(self.world.state)
        entries = [self.world.home / ".claude/settings.json", project / "entry/deep/settings.toml"]
        self.world.write(self.world.state / "installs/index.json", json.dumps({str(path): {} for path in entries}))
        self.places = tuple(settle(self.world).stamps)
        eventually(self.has_table, "no table is kept")

    def has_table(self) -> bool:
        self.desk.keep(*CALL, self.payload("Bash", {"command": "ls"}))
        return self.is_answered(self.payload("Bash", {"command": "mytool a"}))

    def payload(self, tool: str, value: Any, ascii_only: bool = False) -> bytes:
        text = json.dumps({"session_id": "s", "tool_name": tool, "tool_input": value}, ensure_ascii=ascii_only)
        return text.replace("ROOT", str(self.world.root)).encode("utf-8", "surrogatepass")

    def is_answered(self, sent: bytes) -> bool:
        return self.desk.ask(*CALL, sent) is not None

    def is_passed(self, sent: bytes) -> bool:
        """Whether Python's first check allows the call."""
        table, row = named(*CALL)
        incoming = read(table, row, sent, 0.0, self.desk.env)
        with mock.patch.object(calls, "refused", side_effect=SecondLook):
            try:
                found = [
                    refusal(each, self.desk.env, str(self.world.project), self.places, host(CALL[0]))
                    for each in incoming.received.events
                ]
            except SecondLook:
                return False
        return not incoming.doubts and found == [None]


class SecondLook(Exception):  # noqa: N818 (it names what happens)
    """Raised when self-protection has to read the call itself."""


@pytest.fixture(scope="module")
def ground(launcher: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    desk = Desk(launcher, World(tmp_path_factory.mktemp("glance")))
    yield Ground(desk)
    desk.close()


@examples(400)
@example(tool="Bash", value={"command": [], "description": "*"}, ascii_only=False)
@example(tool="Bash", value={"file_path": [], "command": "/"}, ascii_only=False)
@example(tool="", value={"command": "ls"}, ascii_only=False)
@given(tool=st.sampled_from(TOOLS), value=inputs, ascii_only=st.booleans())
def test_the_launcher_passes_no_call_that_python_looks_at(
    ground: Ground, tool: str, value: dict[str, Any], ascii_only: bool
) -> None:
    sent = ground.payload(tool, value, ascii_only)
    if ground.is_answered(sent):
        assert ground.is_passed(sent)
        event("answered")
    else:
        event("left to Python")


def known_lines() -> Iterator[str]:
    for name in ("attacks", "innocent"):
        for line in (DATA / "protection" / f"{name}.txt").read_text().splitlines():
            if not line.startswith("## "):
                yield line.replace("§", "\n")
    for row in json.loads((DATA / "protection.json").read_text()):
        yield row["command"]


def test_no_known_attack_gets_past(ground: Ground) -> None:
    """Also, the launcher answers many everyday calls without Python."""
    answered = 0
    for line in known_lines():
        command = line.replace("{home}", str(ground.world.home)).replace("{project}", str(ground.world.project))
        sent = ground.payload("Bash", {"command": command})
        if ground.is_answered(sent):
            answered += 1
            assert ground.is_passed(sent), command
    assert answered > 50


def test_the_texts_are_the_same() -> None:
    """The launcher need not check what `every_text` leaves out: key names and numbers."""
    assert list(lean_json.every_text({"anyhook": [1, {"trust.json": "a"}], "b": "c"})) == ["a", "c"]
