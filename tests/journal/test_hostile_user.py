"""The journal in the hands of a hostile user: files that cannot be read, words that mean nothing, places that are none.
Every verb says so in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from journal_box import Box, made

from conftest import World


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_loop(path: Path) -> None:
    path.symlink_to(path)


VERBS = (
    "log", "log --json", "log -n 3", "log -f", "log --search x", "stats", "verify", "explain last", "explain 1",
    "replay", "export", "export -o there", "record",
)  # fmt: skip


@pytest.mark.parametrize("name", ["journal.jsonl", "journal-000000000007.jsonl"])
@pytest.mark.parametrize("what", [a_folder, a_pipe, a_device, a_loop])
def test_something_else_in_the_place_of_a_file(world: World, what: Callable[[Path], None], name: str) -> None:
    world.state.mkdir(parents=True)
    what(world.state / name)
    for verb in VERBS:
        done = world.command(*verb.split())
        assert (done.returncode, done.stdout) == (3, ""), (verb, done.stderr)
        assert done.stderr.startswith(f"anyhook {verb.split()[0]}: the journal cannot be read: {world.state / name} (")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(world: World) -> None:
    world.command("fire", "stop")
    (world.state / "journal.jsonl").chmod(0)
    assert "(Permission denied)" in world.command("verify").stderr


# -- what a person may type


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--head", ""),
        ("verify", "--export-head", ""),
        ("export", "-o", ""),
        ("export", "--endpoint", "http://localhost:1"),
        ("explain", "9" * 5000),
    ],
)
def test_words_that_mean_nothing_are_not_passed_over(box: Box, words: tuple[str, ...]) -> None:
    box.write(made())
    status, out, err = box.call(*words)
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"anyhook {words[0]}: ")


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_a_day_far_away(box: Box, option: str) -> None:
    box.write(made(hooks=[("h", "none", 0.1, "exited")]))
    far = [hook["runs"] for hook in box.json("stats", option, "9999-12-31")["hooks"]]
    assert far == ([] if option == "--since" else [1])


@pytest.mark.parametrize("words", ["export -o", "export --format parquet -o", "verify --export-head"])
def test_the_journal_is_not_written_over(box: Box, words: str) -> None:
    box.write(made())
    path = box.world.state / "journal.jsonl"
    (box.world.project / "link").symlink_to(path)
    before = path.read_bytes()
    for name in (str(path), "link"):
        status, _, err = box.call(*words.split(), name)
        assert (status, err.endswith("this is a file of the journal. Name another one.\n")) == (3, True)
    assert path.read_bytes() == before


def test_an_export_says_what_it_leaves_out(box: Box, tmp_path: Path) -> None:
    box.write(made(), made())
    path = box.world.state / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    for words in (["export"], ["export", "-o", str(tmp_path / "x")]):
        status, _, err = box.call(*words)
        assert status == 0
        assert "a line of the journal is damaged: 'rubbish" in err


def test_decisions_for_a_second_entry_are_forgotten_by_the_next_event(world: World) -> None:
    """They stand there as they are, with what hooks said, so they may not stay."""
    world.hook("kodik", "PreToolUse", "echo password=Zebra7Canary >&2; exit 2")
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(world.project)}
    folder = world.state / "firings"
    for call in ("a", "b", "c"):
        world.command("bridge", "claude", "PreToolUse", stdin=json.dumps({**payload, "tool_use_id": call}))
        (kept,) = folder.iterdir()
        assert b"Zebra7Canary" in kept.read_bytes()
        os.utime(kept, (1, 1))
        payload = {**payload, "tool_input": {"command": call}}


def test_json_for_people_does_not_steer_a_terminal(box: Box) -> None:
    evil = "ä \x1b[2J \x9b31m \u202e \u2028 \x7f \U000e0041 日本"
    box.write(made(data={"prompt": evil}))
    _, out, _ = box.call("explain", "1", "--json")
    assert [char for char in out if char != "\n" and not char.isprintable()] == []
    assert "日本" in out
    assert json.loads(out)["data"]["prompt"] == evil
