"""Other guards for the same call of Claude Code, installed as their projects say, in a separate home."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN = {"nah": ("_claude-hook",), "cc-safety-net": ("hook", "--coding-cli")}
"""Those that are one command: its arguments."""
WITH_SERVER = "hol-guard"
"""It keeps a server, and `install` writes the hook that asks it."""

Peers = dict[str, tuple[list[str], dict[str, str]]]
"""Name with version → the command of its hook, and the environment."""


def peers_in(home: Path) -> Peers:
    """Those that are on the PATH, ready to be called."""
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    found: Peers = {}
    for name, words in PLAIN.items():
        if program := shutil.which(name):
            found[f"{name} {_version(program, env)}".strip()] = [program, *words], env
    if program := shutil.which(WITH_SERVER):
        subprocess.run(
            [program, "install", "claude-code"], env=env, cwd=home, check=False, capture_output=True, timeout=60
        )
        if argv := _installed(home / ".claude/settings.json"):
            found[f"{WITH_SERVER} {_version(program, env)}".strip()] = argv, env
    return found


def _version(program: str, env: dict[str, str]) -> str:
    done = subprocess.run([program, "--version"], env=env, check=False, capture_output=True, text=True, timeout=60)
    words = (done.stdout + done.stderr).split()
    return next((word for word in words if word[:1].isdigit()), "")


def _installed(settings: Path) -> list[str]:
    """The command that these settings run before a shell call."""
    if not settings.exists():
        return []
    groups: list[dict[str, Any]] = json.loads(settings.read_text())["hooks"].get("PreToolUse", [])
    for group in groups:
        if "Bash" in group.get("matcher", "Bash").split("|"):
            hook = group["hooks"][0]
            return [hook["command"], *hook["args"]] if "args" in hook else ["/bin/sh", "-c", hook["command"]]
    return []


def end_peers(home: Path) -> None:
    """End the servers that they have started: the processes with this home."""
    for pid in _processes(f"HOME={home}".encode()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def _processes(mark: bytes) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                yield int(folder.name)
        except OSError:
            continue
