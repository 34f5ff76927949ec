"""The doctor's live check, with a small agent that is a real process, talks to the scripted model and calls the entry
that `install` wrote. Real agents are tested by `make live`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from anyhook.extra.live.check import judge, refusals
from anyhook.extra.live.drive import DriveResult, Request
from anyhook.extra.live.stage import Stage
from anyhook.tables.registry import host
from command import run
from conftest import World

FAKE = Path(__file__).parent / "fake_agent.py"
AGENT = "goose"  # the agent whose entry and variables the fake knows


@pytest.fixture
def staged(world: World) -> World:
    """The fake agent on the PATH, with our entry in its config."""
    folder = world.root / "bin"
    folder.mkdir()
    (world.root / "tmp").mkdir()
    world.env["TMPDIR"] = str(world.root / "tmp")
    shutil.copy(FAKE, folder / "fake.py")
    world.write(folder / AGENT, f'#!/bin/sh\nexec "{sys.executable}" "{folder}/fake.py" "$@"\n', 0o755)
    world.env["PATH"] = f"{folder}:{world.env['PATH']}"
    manners(world, "")
    # A real start also stores what it found out about installed packages; a forked one has found that out already.
    assert run(["install", AGENT], env=world.env, cwd=world.project, cold=True).returncode == 0
    world.hook("kodik", "PreToolUse", f"touch {world.root}/a-hook-of-the-user")
    return world


def manners(world: World, words: str) -> None:
    (world.root / "bin/FAKE_AGENT").write_text(words)


def live(world: World, *words: str, status: int = 0) -> dict[str, Any]:
    done = world.command("doctor", AGENT, "--live", "--json", *words)
    assert done.returncode == status, done.stdout + done.stderr
    row: dict[str, Any] = json.loads(done.stdout)[AGENT]
    return row


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files except what every call stores about installed packages."""
    ours = folder / "state" / "anyhook"
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
        if path != ours and not path.is_relative_to(ours / "agents")
    }


def test_an_agent_that_obeys_is_armed(staged: World) -> None:
    row = live(staged)
    assert (row["status"], row["version"]) == ("ARMED", "1.0"), row["reason"]
    assert row["live"]["copied"] == row["installed"]


def test_nothing_of_the_users_is_touched(staged: World) -> None:
    live(staged)  # the version that the program prints is kept
    before = everything(staged.home), everything(staged.project)
    assert live(staged)["status"] == "ARMED"
    assert (everything(staged.home), everything(staged.project)) == before
    assert not (staged.root / "a-hook-of-the-user").exists()


@pytest.mark.parametrize(
    ("how", "status", "why"),
    [
        ("deaf", "INERT", "without calling the entry"),
        ("rude", "INERT", "still ran"),
        ("mute", "UNKNOWN", "did not get as far as asking its model (exit 1): fake agent: no licence"),
        ("bare", "UNKNOWN", "did not get as far as asking its model"),
        ("odd", "UNKNOWN", "offers no tool for commands; its tools: ponder"),
        ("deaf shy", "UNKNOWN", "neither ran the command nor called the entry"),
    ],
)
def test_other_agents(staged: World, how: str, status: str, why: str) -> None:
    manners(staged, how)
    row = live(staged, status=1 if status == "INERT" else 0)
    assert (row["status"], why in row["reason"]) == (status, True), row["reason"]


def test_an_agent_that_never_ends(staged: World) -> None:
    manners(staged, "stuck")
    row = live(staged, "--limit", "2")
    assert (row["status"], "not done after 2 s" in row["reason"]) == ("UNKNOWN", True)


def test_nothing_stays(staged: World) -> None:
    manners(staged, "litter")
    assert live(staged)["status"] == "ARMED"
    assert running(b"977") == []
    assert [name for name in os.listdir(staged.root / "tmp") if name.startswith("anyhook-live-")] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_being_told_to_end(staged: World, number: signal.Signals) -> None:
    manners(staged, "stuck")
    words = [sys.executable, "-m", "anyhook", "doctor", AGENT, "--live"]
    with subprocess.Popen(words, env=staged.env, cwd=staged.project, stderr=subprocess.PIPE) as asked:
        fake = str(staged.root / "bin/fake.py").encode()
        while not running(fake):
            time.sleep(0.05)
        asked.send_signal(number)
        asked.communicate()
    while running(fake):  # the test's own timeout ends this
        time.sleep(0.05)
    assert os.listdir(staged.root / "tmp") == []


def running(word: bytes) -> list[int]:
    """Processes started with this word, except those that only ask for the version."""
    pids = map(int, filter(str.isdigit, os.listdir("/proc")))
    return [pid for pid in pids if word in program_words(pid) and b"--version" not in program_words(pid)]


def program_words(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def test_an_entry_whose_launcher_is_gone(staged: World) -> None:
    """The static check is enough: nothing is started."""
    path = next(staged.home.glob(".agents/plugins/*/hooks/hooks.json"))
    entry = {"type": "command", "command": f"/gone/anyhook bridge {AGENT} PreToolUse"}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    row = live(staged, status=1)
    assert (row["status"], "live" in row) == ("INERT", False)


def test_armed_means_that_the_users_own_guards_are_on(staged: World) -> None:
    staged.config('mode = "shadow"\n')
    row = live(staged, status=1)
    assert (row["status"], "shadow" in row["reason"]) == ("INERT", True), row["reason"]
    staged.config("")
    staged.hook("kode", "tool_call_pre", "exit 0", scope="project")
    row = live(staged, status=1)
    assert (row["status"], "anyhook trust" in row["reason"]) == ("INERT", True), row["reason"]


def test_where_there_is_no_guard_nothing_is_armed(staged: World) -> None:
    (staged.home / "Documents/Kodik/Hooks/hooks.json").unlink()
    row = live(staged)
    assert (row["status"], "no guard" in row["reason"]) == ("UNKNOWN", True), row["reason"]


def test_a_closed_entry_whose_launcher_is_gone_refuses(staged: World) -> None:
    assert staged.command("install", AGENT, "--closed").returncode == 0
    assert live(staged)["status"] == "ARMED"
    path = next(staged.home.glob(".agents/plugins/*/hooks/hooks.json"))
    words = json.loads(path.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"].split()
    launcher = words[words.index("anyhook-closed") + 1]
    path.write_text(path.read_text().replace(launcher, "/gone/anyhook"))
    row = live(staged, status=1)
    assert (row["status"], "/gone/anyhook" in row["reason"], "live" in row) == ("REFUSING", True, True), row["reason"]
    manners(staged, "rude")
    assert live(staged, status=1)["status"] == "INERT", "it runs what is refused"


def test_an_agent_that_asks_only_afterwards_did_not_ask(staged: World) -> None:
    seen = DriveResult("", "exited", 0, "", "", 1.0, (Request("", "shell"),), ())
    assert judge(host(AGENT), seen, [], 5.0, ran=True)[1].startswith("it ran a command without calling the entry")
    stage = Stage(str(staged.root / "stage"))
    line = {"event": "post_tool", "decision": {"verdict": "none"}, "word": "w"}
    stage.write(f"{stage.home}/.local/state/anyhook/journal.jsonl", json.dumps(line))
    assert refusals(stage, "w") == []


def test_escape_codes_of_an_agent_are_not_repeated() -> None:
    seen = DriveResult("", "exited", 1, "", "\x1b[31mno \x1b]0;title\x07licence\x1b[0m\x07", 1.0, (), ())
    assert judge(host(AGENT), seen, [], 5.0, ran=False)[1].endswith("(exit 1): no licence")


def test_an_agent_without_our_entry_is_not_started(staged: World) -> None:
    manners(staged, "stuck")
    staged.command("uninstall", AGENT)
    row = live(staged, "--limit", "2")
    assert (row["status"], "live" in row) == ("NOT_INSTALLED", False)


def test_for_people(staged: World) -> None:
    done = staged.command("doctor", AGENT, "--live")
    assert (done.returncode, "✓ goose: ARMED (1.0)" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize("limit", ["soon", "0", "-1", "nan", "1e9"])
def test_a_limit_that_is_none(staged: World, limit: str) -> None:
    done = staged.command("doctor", AGENT, "--live", "--limit", limit)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"--limit {limit}" in done.stderr
