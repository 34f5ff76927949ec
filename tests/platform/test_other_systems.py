"""The core on systems that are not this one, where this one can stand in for them: without what only POSIX has,
with an empty /proc, without pidfd and subreaper, and on a folder that ignores case."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import World
from satellite import satellite

STAND_IN = str(Path(__file__).with_name("other_system.py"))
PUSH = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}, "hook_event_name": "PreToolUse"}
FIRE = ("fire", "pre_tool", "--tool", "Bash", "--json", "--input")


def run(world: World, *words: str, before: tuple[str, ...] = (), stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {**world.env, "ANYHOOK_WARM": "off", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*before, *words],
        env=env,
        cwd=world.project,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "could not go on" not in done.stderr, done.stderr
    return done


def elsewhere(world: World, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run(world, *words, before=(sys.executable, STAND_IN, "-m", "anyhook"), stdin=stdin)


def without(*names: str, more: str = "pass") -> tuple[str, ...]:
    """The command in a Python that lacks these."""
    start = "runpy.run_module('anyhook', run_name='__main__')"
    return (sys.executable, "-c", f"import os, runpy, select, sys; del {', '.join(names)}; {more}; {start}")


def test_the_core_judges_without_posix(world: World) -> None:
    assert elsewhere(world, "add", "guard", "--yes").returncode == 0
    for words in (("list",), ("check",), ("try", "ls"), ("log",), ("verify",), ("doctor",)):
        assert elsewhere(world, *words).returncode == 0, words
    refused = elsewhere(world, *FIRE, '{"command": "git push --force"}')
    assert (refused.returncode, json.loads(refused.stdout)["verdict"]) == (2, "block")
    passed = elsewhere(world, *FIRE, '{"command": "ls"}')
    assert (passed.returncode, json.loads(passed.stdout)["verdict"]) == (0, "none")
    call = json.dumps({**PUSH, "session_id": "s", "cwd": str(world.project)})
    answered = elsewhere(world, "bridge", "claude", "PreToolUse", stdin=call)
    assert json.loads(answered.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_needs_posix_says_so(world: World) -> None:
    satellite("warm")
    done = elsewhere(world, "warm")
    assert (done.returncode, done.stdout) == (3, "")
    assert "this system cannot run it" in done.stderr


def test_a_hook_that_cannot_be_started_there_says_so(world: World) -> None:
    world.hook("kode", "tool_call_pre", "exit 0")
    done = elsewhere(world, *FIRE, '{"command": "ls"}')
    (report,) = json.loads(done.stdout)["hooks"]
    assert (report["status"], report["ending"]) == ("broken", "not_started")
    assert "could not be started" in report["why"] or "another way" in report["why"], report
    assert done.returncode == 2, "in this dialect, a gate that cannot be asked refuses"


@pytest.mark.parametrize(
    ("script", "status", "ending"),
    [("cat > /dev/null; echo no >&2; exit 2", 2, "exited"), ("exit 0", 0, "exited"), ("kill -9 $$", 0, "signalled")],
)
def test_hooks_run_where_nothing_can_be_polled(world: World, script: str, status: int, ending: str) -> None:
    world.hook("kodik", "PreToolUse", script)
    done = run(world, *FIRE, '{"command": "ls"}', before=without("select.poll", "os.posix_spawn"))
    (report,) = json.loads(done.stdout)["hooks"]
    assert (done.returncode, report["ending"]) == (status, ending), done


def test_a_late_hook_is_killed_where_nothing_can_be_polled(world: World) -> None:
    world.hook("kolega", "PreToolUse", "exec sleep 600", timeout=1)
    done = run(world, *FIRE, '{"command": "ls"}', before=without("select.poll", "os.posix_spawn"))
    (report,) = json.loads(done.stdout)["hooks"]
    assert report["ending"] == "timed_out"


def test_without_pidfd_and_subreaper(world: World) -> None:
    world.hook("kodik", "PreToolUse", "cat > /dev/null; echo no >&2; exit 2")
    done = run(world, *FIRE, '{"command": "ls"}', before=without("os.pidfd_open", more="sys.platform = 'darwin'"))
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (2, "no")


NAMESPACE = ("unshare", "--mount", "--map-root-user") if os.geteuid() else ("unshare", "--mount")


@pytest.fixture
def without_proc() -> tuple[str, ...]:
    """What to put before a command, so that it sees an empty /proc."""
    words = (*NAMESPACE, "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")
    return words


def test_with_an_empty_proc(world: World, without_proc: tuple[str, ...]) -> None:
    world.hook("kodik", "PreToolUse", "cat > /dev/null; echo no >&2; exit 2")
    python = (*without_proc, sys.executable, "-m", "anyhook")
    listing = (*without_proc, "ls", "/proc")
    assert subprocess.run(listing, capture_output=True, text=True, check=True).stdout == ""
    assert run(world, "add", "guard", "--yes", before=python).returncode == 0
    for words in (("list",), ("check",), ("log",), ("verify",)):
        assert run(world, *words, before=python).returncode == 0, words
    fired = run(world, *FIRE, '{"command": "ls"}', before=python)
    assert (fired.returncode, json.loads(fired.stdout)["reason"]) == (2, "no")
    call = json.dumps({**PUSH, "session_id": "s", "cwd": str(world.project)})
    answered = run(world, "bridge", "claude", "PreToolUse", before=python, stdin=call)
    assert json.loads(answered.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.fixture
def ignores_case(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system that ignores case: vfat in a file."""
    image, folder = tmp_path / "image", tmp_path / "Disk"
    folder.mkdir()
    image.write_bytes(b"")
    os.truncate(image, 16 << 20)
    for words in (["mkfs.vfat", str(image)], ["mount", "-o", "loop,umask=077", str(image), str(folder)]):
        if shutil.which(words[0]) is None or subprocess.run(words, check=False, capture_output=True).returncode:
            pytest.skip("a file system that ignores case cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_on_a_folder_that_ignores_case(world: World, ignores_case: Path) -> None:
    home = ignores_case / "home"
    home.mkdir()
    own = {name: str(home) for name in ("HOME",)}
    world.env.update(own)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        world.env.pop(name, None)
    python = (sys.executable, "-m", "anyhook")
    assert run(world, "add", "guard", "--yes", before=python).returncode == 0
    for place in (".config/anyhook/config.toml", ".CONFIG/Anyhook/config.toml"):
        line = f"echo 'protect = false' > {home}/{place}"
        call = json.dumps({**PUSH, "tool_input": {"command": line}, "session_id": "s", "cwd": str(world.project)})
        answered = run(world, "bridge", "claude", "PreToolUse", before=python, stdin=call)
        assert json.loads(answered.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", place
