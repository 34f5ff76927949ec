"""Every tool of the agent, every way in which it can fail, and what the hooks of the five dialects are told then."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_box import agent, record, recorded

from conftest import World

LARGE = 64 << 20
"""The largest file that the tool reads."""
FAILURES: dict[str, dict[str, Any]] = {
    "read nothing": {"read_file": {"path": "none.txt"}},
    "read below a file": {"read_file": {"path": "a.txt/b.txt"}},
    "read a folder": {"read_file": {"path": "folder"}},
    "read a broken link": {"read_file": {"path": "broken"}},
    "read a loop": {"read_file": {"path": "loop"}},
    "read elsewhere": {"read_file": {"path": "../elsewhere.txt"}},
    "read past the end": {"read_file": {"path": "a.txt", "offset": 99}},
    "read no lines": {"read_file": {"path": "a.txt", "limit": 0}},
    "read a pipe": {"read_file": {"path": "pipe"}},
    "read a socket": {"read_file": {"path": "socket"}},
    "read too much": {"read_file": {"path": "large.txt"}},
    "look at too large a picture": {"read_file": {"path": "large.png"}},
    "read a name that is too long": {"read_file": {"path": "n" * 300}},
    "write on a folder": {"write_file": {"path": "folder", "content": "x"}},
    "write below a file": {"write_file": {"path": "a.txt/b.txt", "content": "x"}},
    "write elsewhere": {"write_file": {"path": "../b.txt", "content": "x"}},
    "write a name that is too long": {"write_file": {"path": "n" * 300, "content": "x"}},
    "edit nothing": {"edit_file": {"path": "none.txt", "old_text": "a", "new_text": "b"}},
    "edit a folder": {"edit_file": {"path": "folder", "old_text": "a", "new_text": "b"}},
    "edit no text": {"edit_file": {"path": "binary", "old_text": "a", "new_text": "b"}},
    "edit what is not there": {"edit_file": {"path": "a.txt", "old_text": "none", "new_text": "b"}},
    "edit what is there twice": {"edit_file": {"path": "a.txt", "old_text": "same", "new_text": "b"}},
    "list nothing": {"list_files": {"path": "none"}},
    "list a file": {"list_files": {"path": "a.txt"}},
    "list elsewhere": {"list_files": {"path": ".."}},
    "search nothing": {"grep": {"pattern": "x", "path": "none"}},
    "search for no pattern": {"grep": {"pattern": "(", "path": "."}},
    "search elsewhere": {"grep": {"pattern": "x", "path": ".."}},
    "a status": {"shell": {"command": "exit 3"}},
    "no such program": {"shell": {"command": "no-such-program-here"}},
    "a signal": {"shell": {"command": "kill -9 $$"}},
    "too long": {"shell": {"command": "sleep 5", "timeout_seconds": 0.1}},
    "a zero byte": {"shell": {"command": "echo \0"}},
    "no such agent": {"delegate_task": {"agent_name": "nobody", "task": "Count."}},
    "a server's error": {"mcp__echo__echo": {"text": "fail"}},
}  # fmt: skip
SUCCESSES: dict[str, dict[str, Any]] = {
    "read": {"read_file": {"path": "a.txt"}},
    "read an empty file": {"read_file": {"path": "empty.txt"}},
    "read what looks like a failure": {"read_file": {"path": "failure.txt"}},
    "read no text": {"read_file": {"path": "binary"}},
    "write": {"write_file": {"path": "b.txt", "content": "x"}},
    "edit": {"edit_file": {"path": "a.txt", "old_text": "only", "new_text": "b"}},
    "list": {"list_files": {}},
    "search in vain": {"grep": {"pattern": "nowhere", "path": "a.txt"}},
    "run": {"shell": {"command": "true"}},
    "a server": {"mcp__echo__echo": {"text": "hello"}},
}


def furnished(world: World) -> None:
    """Everything that the calls above name, and a hook of each dialect."""
    project = world.project
    world.write(project / "a.txt", "only\nsame\nsame\n")
    world.write(project / "empty.txt", "")
    world.write(project / "failure.txt", "Path not found: none.txt\nToo large to read: the limit is 1 byte\n")
    world.write(world.root / "elsewhere.txt", "x")
    (project / "binary").write_bytes(b"\0\1\2" * 50)
    (project / "folder").mkdir()
    (project / "broken").symlink_to("nowhere")
    (project / "loop").symlink_to("loop")
    os.mkfifo(project / "pipe")
    for name, head, size in (("large.txt", b"text", LARGE), ("large.png", b"\x89PNG\r\n\x1a\n", LARGE - 100)):
        with (project / name).open("wb") as file:
            file.write(head)
            file.truncate(size + 1)
    shutil.copy(Path(__file__).with_name("mcp_echo.py"), project / "echo.py")
    servers = {"echo": {"command": sys.executable, "args": ["echo.py"]}}
    world.write(project / ".mcp.json", json.dumps({"mcpServers": servers}))
    for native in ("after_tool", "after_tool_failure"):
        world.hook("agenthooks", native, record(native), name=native.replace("_", "-"))
    for dialect, native in (
        ("kode", "tool_call_post"), ("kodik", "PostToolUse"), ("kolega", "PostToolUse"), ("kodelet", "after_tool_call"),
    ):  # fmt: skip
        world.hook(dialect, native, record(dialect))


def told(world: World, call: dict[str, Any]) -> dict[str, Any]:
    """Run one call; what each dialect's hook says about it."""
    furnished(world)
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(world.project)  # the name of a socket is short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        ran = agent(world, {"tools": [call]}, "Done.")
    assert ran.text == "Done.", ran.why
    [kode], [kodik], [kolega], [kodelet] = (recorded(world, name) for name in ("kode", "kodik", "kolega", "kodelet"))
    return {
        "agenthooks": [name for name in ("after_tool", "after_tool_failure") if recorded(world, name)],
        "kode": kode["exit_code"] != 0,
        "kodik": bool(kodik.get("error")),
        "kolega": kolega["is_error"],
        "kodelet": not kodelet["tool_output"]["success"],
    }


@pytest.mark.parametrize("way", FAILURES)
def test_a_failure_is_a_failure(world: World, way: str) -> None:
    """A-16, Ah, G-22, K-25, L-14: one event of the agent, in the words of each document."""
    assert told(world, FAILURES[way]) == {
        "agenthooks": ["after_tool_failure"], "kode": True, "kodik": True, "kolega": True, "kodelet": True,
    }  # fmt: skip


@pytest.mark.parametrize("way", SUCCESSES)
def test_a_success_is_none(world: World, way: str) -> None:
    assert told(world, SUCCESSES[way]) == {
        "agenthooks": ["after_tool"], "kode": False, "kodik": False, "kolega": False, "kodelet": False,
    }  # fmt: skip


def test_every_tool_is_tried() -> None:
    from anyhook.extra.agent.tools import TOOLS

    for table in (FAILURES, SUCCESSES):
        assert set(TOOLS) - {"delegate_task"} <= {name for call in table.values() for name in call}
