"""Every file that a warm call reads, replaced by something else: the answer is the cold one, and it comes before the
call is given up (`warm_box.LIMIT_S`)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warm_box import plain

if TYPE_CHECKING:
    from conftest import World
    from warm_box import Done, Door

SHORT_MS, LONG_MS = 8000, 50000
"""The limit of a hook whose own file is replaced, which some of the replacements use up, and that of the others."""
KINDS = ("fifo", "folder", "device", "sparse", "dangling")
CALL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")
FILES = {
    "script": "home/hooks/run.py",
    "module": "home/hooks/by_name.py",
    "hook file": "home/config/kode/config.yaml",
    "rules": "home/config/anyhook/hooks.toml",
    "settings": "home/config/anyhook/config.toml",
    "approvals": "home/state/anyhook/trust.json",
    "switches": "home/state/anyhook/switches.json",
    "installs": "home/state/anyhook/installs/index.json",
    "plans": "home/state/anyhook/plans/*",
    "agents": "home/state/anyhook/agents/*",
}


def replaced(path: Path, kind: str) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path, 0o700)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "sparse":
        with path.open("wb") as file:
            file.write(b"\0\n")  # an interpreter refuses the first line: otherwise how far it reads is a matter of time
            file.truncate(100 << 20)
        path.chmod(0o700)
    else:
        path.symlink_to("/nonexistent/x")


@pytest.fixture
def hooked(world: World, name: str) -> World:
    """A user's Python script by its first line, one by its interpreter, rules and settings; all may run warm."""
    text = '#!/usr/bin/env python3\nprint("{}")\n'
    script = world.write(world.home / "hooks/run.py", text, 0o755)
    module = world.write(world.home / "hooks/by_name.py", text, 0o755)
    words = {"script": [str(script)], "module": ["python3", str(module)]}
    entries = [{"exec": words[of], "timeout_ms": SHORT_MS if of == name else LONG_MS} for of in words]
    world.write(world.home / "config/kode/config.yaml", json.dumps({"hooks": {"tool_call_pre": entries}}))
    world.write(world.home / "config/anyhook/hooks.toml", '[[rule]]\nname = "mine"\nwhen = "runs xx"\n')
    world.config('warm_python = "all"\n')
    return world


def answers(done: Done) -> list[str]:
    return [report["status"] for report in json.loads(done.stdout)["hooks"]]


def said(done: Done, kind: str) -> str:
    """The answer; of a device only the verdict, because how far an interpreter reads it is a matter of time."""
    return str(json.loads(done.stdout)["verdict"]) if kind == "device" else plain(done.stdout)


@pytest.mark.parametrize("name", FILES)
def test_the_answer_is_the_cold_one_in_time(name: str, door: Door, hooked: World) -> None:
    door.start()
    for _ in range(2):
        assert answers(door.call(*CALL)).count("ran") == 2
    base = hooked.root
    for kind in KINDS:
        places = [*base.glob(FILES[name])] if "*" in FILES[name] else [base / FILES[name]]
        for place in places:
            replaced(place, kind)
        warm = [door.call(*CALL) for _ in range(2)]
        for place in places:
            replaced(place, kind)
        cold = door.cold(*CALL)
        assert [each.returncode for each in warm] == [cold.returncode] * 2, kind
        assert [said(each, kind) for each in warm] == [said(cold, kind)] * 2, kind
