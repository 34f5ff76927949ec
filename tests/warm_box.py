"""A separate installation for the tests of the warm server: the launcher, the script next to it, a runtime folder, and
the servers that were started there, which end with the test."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.state.plans import read_plan
from satellite import satellite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyhook.state.plans import CatalogPlan
    from conftest import World

ROOT = Path(__file__).parents[1]
NATIVE = sorted(map(str, (ROOT / "native").glob("*.c")))
SCRIPT = ROOT / "scripts" / "anyhook"
LIMIT_S = 60.0
"""A safety net; no test depends on it."""
PARENT = "cut -d' ' -f4 /proc/$PPID/stat"
"""What a hook runs to print the process that started the command: the server, if it served the call."""
VOLATILE = re.compile(
    r'("(?:at|duration_ms|duration_s|limit_s|started_ns|n|hash|trace)": )(?:"[^"]*"|[0-9.]+)|session-\w{16}|\d+ ms'
)
"""Times, what is left of a limit, traces, the number and the hash of a record, and the ids of sessions without one."""
Done = subprocess.CompletedProcess[bytes]


def built(folder: Path) -> Path:
    """The command as a platform wheel installs it."""
    if sys.platform != "linux":
        pytest.skip("the launcher is for Linux")
    script = folder / "anyhook-python"
    script.write_text(SCRIPT.read_text().replace("#!python", f"#!{sys.executable}"))
    script.chmod(0o755)
    launcher = folder / "anyhook"
    for compiler in ("musl-gcc", "cc"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            command = [compiler, "-static", "-Os", "-Wall", "-Wextra", "-Werror", "-o", str(launcher), *NATIVE]
            subprocess.run(command, check=True, capture_output=True)
            return launcher
        with contextlib.suppress(OSError):  # a compiler that cannot link is missing; a mistake in the code is a failure
            checked = subprocess.run(
                [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *NATIVE], capture_output=True, check=False
            )
            assert checked.returncode == 0, checked.stderr.decode()
    pytest.skip("no C compiler that links statically")


def socket_of(launcher: Path, env: Mapping[str, str]) -> str:
    """Where the server of calls with these variables and without a terminal listens."""
    given = {name.encode(): value.encode() for name, value in env.items()}
    place = satellite("warm.place")
    name = f"{place.checksum(str(launcher.parent.resolve()))}-{place.surroundings(given)}"
    return f"{env['XDG_RUNTIME_DIR']}/anyhook/{name}"


class Door:
    """One installation and one runtime folder."""

    def __init__(self, launcher: Path, world: World) -> None:
        self.launcher, self.world = launcher, world
        self.runtime = tempfile.mkdtemp(prefix="ah-")  # short: a socket's path has 107 bytes
        self.env = {**world.env, "XDG_RUNTIME_DIR": self.runtime}

    def popen(self, *words: str, env: Mapping[str, str] | None = None, **more: Any) -> subprocess.Popen[bytes]:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        more.setdefault("args", [str(self.launcher), *words])
        return subprocess.Popen(env={**self.env, **(env or {})}, cwd=self.world.project, **{**streams, **more})

    def call(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, **more: Any) -> Done:
        with self.popen(*words, env=env, **more) as process:
            out, err = process.communicate(stdin, timeout=LIMIT_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def cold(self, *words: str, stdin: bytes = b"", **more: Any) -> Done:
        return self.call(*words, stdin=stdin, env={"ANYHOOK_WARM": "off"}, **more)

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.call("warm", "--json").stdout)
        return found

    def start(self) -> int:
        """Have a server, and wait for it; its process."""
        satellite("warm")
        deadline = time.monotonic() + LIMIT_S
        while not (state := self.state())["running"]:  # a busy machine may need more than one try
            assert time.monotonic() < deadline, "no server was started"
            self.call("fire", "turn_end", env={"ANYHOOK_WARM": "on"})
        return int(state["pid"])

    def stop(self) -> None:
        self.call("warm", "--stop")
        shutil.rmtree(self.runtime, ignore_errors=True)


def plain(text: bytes | str) -> str:
    """What two equal calls have in common."""
    return VOLATILE.sub("0", text.decode() if isinstance(text, bytes) else text)


def eventually(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def settle(world: World) -> CatalogPlan:
    """Make a plan; its files must not be brand new."""
    deadline = time.monotonic() + LIMIT_S
    while (plan := read_plan(world.setup())) is None:
        assert time.monotonic() < deadline, "no plan is kept"
        world.engine()
        time.sleep(0.02)
    return plan


def lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return False


def servers_of(runtime: str) -> set[int]:
    """Every process of servers in a runtime folder, workers included."""
    return _processes_of(runtime, lambda words: b"--warm-serve" in words)


def interpreters_of(runtime: str) -> set[int]:
    """Every process of warm interpreters in a runtime folder, and of the scripts that they run."""
    return _processes_of(runtime, lambda words: any(word.endswith(b"/zygote.py") for word in words))


def _processes_of(runtime: str, is_wanted: Callable[[list[bytes]], bool]) -> set[int]:
    found = set()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
                if is_wanted(words) and any(word.startswith(os.fsencode(runtime)) for word in words):
                    found.add(int(name))
    return found
