"""Every file that rulesync generates for its agents from one source is either read or reported."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.agents._rulesync import rulesync_hooks
from anyhook.documents.files import Files
from anyhook.gates.check import unread_files
from satellite import satellite

if TYPE_CHECKING:
    from conftest import World

VERSION = "17.0.0"
SOURCE = {
    "sessionStart": ("start", None),
    "preToolUse": ("guard", "Bash"),
    "postToolUse": ("after", "Write|Edit"),
    "beforeSubmitPrompt": ("prompt", None),
    "stop": ("stop", None),
}
CANONICAL = {
    "start": "session_start", "guard": "pre_tool", "after": "post_tool", "prompt": "user_prompt_submit", "stop": "stop",
}  # fmt: skip
FEWER = {
    ".agents/hooks.json": {"guard", "after", "stop"},
    ".clinerules/hooks/": {"start", "guard", "after", "prompt"},
    ".github/hooks/copilot-hooks.json": {"start", "prompt", "stop"},
    "crush.json": {"guard"},
    ".vibe/hooks.toml": {"guard", "after", "stop"},
}
"""Files for which rulesync cannot write all five hooks, and the hooks that it does write."""
FILES = 37
AGENTS = 17


def write_source(world: World) -> None:
    hooks = {}
    for event, (name, matcher) in SOURCE.items():
        command = f".rulesync/hooks/{name}.sh"
        hooks[event] = [{"type": "command", "command": command, **({"matcher": matcher} if matcher else {})}]
        world.write(world.project / command, f'#!/bin/sh\necho {name} >> "$(dirname "$0")/log"\n', 0o755)
    world.write(world.project / ".rulesync/hooks.json", json.dumps({"version": 1, "hooks": hooks}))


def test_its_source_is_read(world: World) -> None:
    write_source(world)
    files = Files()
    found = rulesync_hooks(str(world.project), files)
    assert [(hook.events, hook.name, hook.matcher) for hook in found] == [
        ((CANONICAL[name],), f"{name}.sh", matcher) for name, matcher in SOURCE.values()
    ]
    assert files.problems == []


def test_convert_from_its_source(world: World, tmp_path: Path) -> None:
    satellite("testing")
    write_source(world)
    out = tmp_path / "out"
    done = world.command("convert", "--from", "rulesync", "--to", "crush", "--out", str(out), "--json")
    made = json.loads(done.stdout)["hooks"]
    assert done.returncode == 1, "four events that this agent lacks, and a hook that nobody approved"
    assert [bool(hook["files"]) for hook in made] == [False, True, False, False, False]
    assert (out / "crush.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_every_file_that_it_writes_is_read_or_named(world: World, tmp_path: Path) -> None:
    write_source(world)
    own = {*world.project.rglob("*")}
    tool = tmp_path / "tool"
    tool.mkdir()
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"rulesync@{VERSION}"]
    subprocess.run(npm, cwd=tool, check=True, capture_output=True)
    generate = [str(tool / "node_modules/.bin/rulesync"), "generate", "--targets", "*", "--features", "hooks"]
    subprocess.run(generate, cwd=world.project, check=True, capture_output=True, env=world.env)
    written = sorted(path for path in world.project.rglob("*") if path.is_file() and path not in own)
    assert len(written) == FILES

    engine = world.engine(trust="all")
    read: dict[str, set[str]] = {}
    hooks = [hook for hook in engine.catalog.hooks if hook.scope == "project"]
    for hook in hooks:
        text = json.dumps(hook.spec)
        text = text if ".sh" in text else Path(hook.source).read_text()
        mine = [name for name, event in CANONICAL.items() if event in hook.events and f"{name}.sh" in text]
        assert len(mine) == 1, hook.id
        read.setdefault(hook.source, set()).update(mine)
    by_place: dict[str, set[str]] = {}
    for path, names in read.items():
        place = path.removeprefix(f"{world.project}/")
        folder = place.rpartition("/")[0] + "/"
        by_place.setdefault(folder if folder in FEWER else place, set()).update(names)
    assert len({hook.dialect for hook in hooks}) >= AGENTS
    for place, names in by_place.items():
        assert names == FEWER.get(place, set(CANONICAL)), place

    named = {problem.where for problem in unread_files(world.setup())}
    assert [path for path in map(str, written) if path not in read and path not in named] == []
    assert not named & set(read)

    decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    ran = [report.dialect for report in decision.hooks if report.status == "ran"]
    assert ran == ["claude", "cline"], "one program for all, and the script that is a program of its own"
