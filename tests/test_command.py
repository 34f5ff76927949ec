"""The forked command behaves like the real one: its hooks see the same, and its output is the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import CORE, Servers, call_of_a_vector, run, servers
from conftest import World

LOOK = """import json, os, signal, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "env": dict(os.environ), "cwd": os.getcwd(), "fds": sorted(os.listdir("/proc/self/fd")), "stdin": sys.stdin.read(),
    "ignored": status["SigIgn"], "blocked": status["SigBlk"], "umask": status["Umask"],
}), file=open("seen", "w"))
"""
CALLS: dict[str, tuple[list[str], bytes]] = {
    "a decision": (["fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}', "--json"], b""),
    "a payload": (["bridge", "claude", "PreToolUse"], b'{"tool_name": "Bash", "tool_input": {"command": "ls"}}'),
    "a verb": (["list", "--json"], b""),
    "a bad call": (["fire", "--no-such-option"], b""),
    "no call": ([], b""),
    "letters": (["fire", "PreToolUse", "--tool", "Bäsh", "--input", '{"command": "ü"}'], b""),
}


WAYS = (True, False, False)
"""A real start, then two workers. The second worker may have served a call before."""


def each_way(
    monkeypatch: pytest.MonkeyPatch, world: World, words: list[str], stdin: bytes
) -> list[tuple[int, bytes, bytes]]:
    found = []
    for is_cold in WAYS:
        monkeypatch.setattr(servers, "is_cold", is_cold)
        done = run(words, env=world.env, cwd=world.project, stdin=stdin)
        found.append((done.returncode, done.stdout, done.stderr))
    return found


def steady(out: bytes) -> Any:
    """An answer without its timings."""
    try:
        answer = json.loads(out)
    except ValueError:
        return re.sub(rb"\d+ ms", b"", out)
    for hook in answer.get("hooks", ()):
        hook.pop("duration_ms", None)
    return answer


@pytest.mark.parametrize("name", CALLS)
def test_it_answers_the_same(world: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    world.hook("kodik", "PreToolUse", "cat >/dev/null; echo no >&2; exit 2")
    cold, *forked = each_way(monkeypatch, world, *CALLS[name])
    for one in forked:
        assert (cold[0], steady(cold[1]), cold[2]) == (one[0], steady(one[1]), one[2])


def test_its_hooks_see_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment, directory, descriptors, signals: everything that a child inherits."""
    world.write(world.project / "look.py", LOOK)
    world.hook("kodik", "PreToolUse", f"{sys.executable} look.py", scope="project")
    seen = []
    for is_cold in WAYS:
        monkeypatch.setattr(servers, "is_cold", is_cold)
        done = run([*CALLS["a decision"][0], "--trust", "all", "--session", "s"], env=world.env, cwd=world.project)
        assert done.returncode == 0, done.stderr
        seen.append(json.loads((world.project / "seen").read_text()))
        (world.project / "seen").unlink()
    for made in seen:
        for name in [name for name in made["env"] if name.startswith(("ANYHOOK", "TRACEPARENT"))]:
            made["env"][name] = "new for every call"
    assert seen[1:] == [seen[0]] * 2


def test_much_goes_in_and_out(world: World) -> None:
    payload = {"tool_name": "Bash", "tool_input": {"command": "x" * 300_000}}
    world.hook("claude", "PreToolUse", "wc -c >&2; exit 2")
    done = run(["fire", "PreToolUse", "--data", "-", "--json"], env=world.env, cwd=world.project,
               stdin=json.dumps(payload).encode())  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert int(json.loads(done.stdout)["reason"]) > 300_000


def test_at_the_limit_it_is_killed(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exec sleep 10", timeout=500)
    with pytest.raises(subprocess.TimeoutExpired):
        run(CALLS["a decision"][0], env=world.env, cwd=world.project, limit_s=1.0)
    ended = call_of_a_vector(CORE)([sys.executable, "-P", "-m", "anyhook", *CALLS["a decision"][0]], None, world.env,
                                   world.project, 1.0)  # fmt: skip
    assert ended.exit_code is None


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONWARNINGS", "LC_ALL", "LD_PRELOAD"])
def test_what_python_reads_as_it_starts_has_it_started(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was forked")

    monkeypatch.setattr(Servers, "of", never)
    done = run(["--version"], env={**world.env, name: ""}, cwd=world.project)
    assert done.returncode == 0, done.stderr


def test_a_python_that_is_too_old_is_said_in_one_sentence() -> None:
    script = Path(__file__).parents[1] / "scripts/anyhook"
    old = f"import runpy, sys; sys.version_info = (3, 10, 0); runpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "older than Python 3.11" in done.stderr
