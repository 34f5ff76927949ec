"""Context that is longer than a host accepts is cut, marked as cut, and stored in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook import Outcome
from anyhook.platform.store import KINDS
from anyhook.tables.registry import HOSTS, host

if TYPE_CHECKING:
    from anyhook.model.firing import Answer
    from conftest import World


def asked(world: World, text: str) -> Answer:
    engine = world.engine()
    engine.on("session_start", lambda _: Outcome(context=(text,)))
    return engine.bridge("claude", "SessionStart", {"session_id": text[:4], "cwd": str(world.project)})


def context_of(answer: Answer) -> str:
    return str(json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("letter", ["x", "é", "漢"])
def test_it_is_cut_and_kept(world: World, letter: str) -> None:
    text = letter * 20_000
    said = context_of(asked(world, text))
    limit = host("claude").max_context
    assert limit - 4 <= len(said.encode()) <= limit
    assert said.startswith(letter * 3_000)
    (kept,) = (world.state / "context").glob("*.txt")
    assert str(kept) in said
    assert kept.read_text() == text
    assert kept.stat().st_mode & 0o077 == 0
    (problem,) = world.journal()[-1]["decision"]["problems"]
    assert problem["code"] == "context-cut"
    assert str(kept) in problem["fix"]


def test_what_fits_stays_as_it_is(world: World) -> None:
    assert context_of(asked(world, "y" * 10_000)) == "y" * 10_000
    assert not (world.state / "context").exists()


def test_few_files_stay(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "context", (3_600.0, 2, 1 << 20, ""))
    for letter in "abcd":
        asked(world, letter * 20_000)
    kept = sorted(path.read_text()[0] for path in (world.state / "context").glob("*.txt"))
    assert len(kept) <= 2
    assert kept[-1] == "d"


def test_a_folder_that_cannot_be_written(world: World) -> None:
    world.state.mkdir(parents=True, exist_ok=True)
    Path(world.state / "context").write_text("in the way")
    assert "could not be kept" in context_of(asked(world, "z" * 20_000))


def test_limits_are_facts_of_each_host() -> None:
    assert {name for name in HOSTS if host(name).max_context} >= {"claude", "codex", "copilot", "cursor", "cline"}
