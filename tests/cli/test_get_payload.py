"""`anyhook get` does not depend on how much a pipe holds, nor on /proc: every call in a hook reads the same payload."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.tables.registry import dialect
from command import SCRIPT

if TYPE_CHECKING:
    from conftest import World

SIZES = (10, 65_400, 65_600, 1_048_400, 1_048_700, 1_200_000, 10_000_000)
"""Around what a pipe holds: 64 KiB, and 1 MiB for an ordinary user who asks for more."""
READ = """\
import fcntl, os, sys
from anyhook.cli import verb_answer as calling_hook
from anyhook.platform.places import private_dir
if sys.argv[1] == "nobody" and os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
for _ in range(3):
    print(len(calling_hook._stdin(os.environ).get("tool_input", {}).get("command", "")))
"""
WITHOUT_PROC = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")


def sizes_read(folder: Path, size: int, user: str, before: tuple[str, ...] = ()) -> list[int]:
    folder.chmod(0o755)
    runtime = folder / "run"
    runtime.mkdir(exist_ok=True)
    runtime.chmod(0o777)  # as the folder above a user's own may be
    payload = json.dumps({"hook_event_name": "PreToolUse", "tool_input": {"command": "x" * size}})
    env = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime)}
    ran = subprocess.run(
        [*before, sys.executable, "-c", READ, user],
        input=payload.encode(), env=env, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    return [*map(int, ran.stdout.split())]


@pytest.mark.parametrize("user", ["nobody", "root"])
@pytest.mark.parametrize("size", SIZES)
def test_every_call_reads_the_same(size: int, user: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # another user cannot enter the folders of tests
        assert sizes_read(Path(folder), size, user) == [size] * 3


@pytest.mark.parametrize("size", SIZES)
def test_the_same_without_proc(size: int, tmp_path: Path) -> None:
    allowed = subprocess.run([*WITHOUT_PROC, "true"], capture_output=True, check=False).returncode == 0
    if not allowed:
        pytest.skip("no mount namespaces here")
    assert sizes_read(tmp_path, size, "root", WITHOUT_PROC) == [size] * 3


def test_a_writer_that_does_not_close_its_end_is_not_waited_for(tmp_path: Path) -> None:
    begun = time.monotonic()
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    started = subprocess.Popen(
        [sys.executable, "-c", READ, "root"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    )
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.write(b'{"tool_input": {"command": "ls"}}')
    started.stdin.flush()
    assert started.stdout.read() == b"2\n2\n2\n"
    started.communicate()
    assert time.monotonic() - begun < 30


def test_what_is_kept_is_for_its_owner_only_and_another_pipe_does_not_get_it(tmp_path: Path) -> None:
    assert sizes_read(tmp_path, 2_000_000, "root") == [2_000_000] * 3
    kept = [path for path in (tmp_path / "run/anyhook/payloads").iterdir() if path.name != ".tidied"]
    assert [path.stat().st_mode & 0o777 for path in kept] == [0o600]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    ran = subprocess.run([sys.executable, "-c", READ, "root"], input=b"", env=env, capture_output=True, check=True)
    assert ran.stdout == b"0\n0\n0\n"


HOOK = """\
tool=$({anyhook} get tool)
case $({anyhook} get command) in *--force*) {anyhook} deny "$tool: no force"; exit ;; esac
"""


def test_a_shell_guard_refuses_a_padded_call(world: World) -> None:
    row = dialect("kode").row_for("pre_tool")
    assert row is not None
    world.hook("kode", row.native, HOOK.replace("{anyhook}", SCRIPT), "user", "it", timeout_ms=60_000)
    given = world.write(world.project / "in.json", json.dumps({"command": f"git push --force # {'x' * 1_200_000}"}))
    payload = json.dumps({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(world.project), "tool_name": "Bash",
        "tool_input": json.loads(given.read_text()),
    })  # fmt: skip
    done = world.command("bridge", "claude", "PreToolUse", stdin=payload)
    assert "no force" in done.stdout
