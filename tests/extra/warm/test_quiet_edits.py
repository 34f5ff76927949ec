"""The worst possible bug: the launcher says that nothing is hooked, but something is. Whatever is edited after a table
was written, either the launcher leaves the call to Python, or Python finds that no hook applies."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from conftest import World
from examples import examples
from warm_box import Desk, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    Edit = Callable[[World], None]

CALL = ("claude", "PostToolUse")
DECLARED = {
    "kode": "tool_call_post", "kodik": "PostToolUse", "agenthooks": "after_tool", "kolega": "PostToolUse",
    "kodelet": "after_tool_call", "gemini": "AfterTool", "cline": "PostToolUse", "anyhook": "post_tool",
}  # fmt: skip
SETTINGS = (
    'mode = "shadow"',
    'off = "deny"',
    "protect = false",
    'warm = "off"',
    "not toml [",
    'plugins = ["/tmp/none"]',
    "",
)
VARIABLES = (
    "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR", "KODELET_HOOKS_DIR", "ANYHOOK_MANAGED_DIR",
    "PYTHONPATH", "LANG", "ANYHOOK_RECORD",
)  # fmt: skip


def payload() -> bytes:
    return json.dumps({"session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "a"}}).encode()


def declares(table: str, scope: str, number: int) -> Edit:
    return lambda world: world.hook(table, DECLARED[table], f"echo {number}", scope, f"it{number}")


def elsewhere(world: World, name: str) -> None:
    """Set a variable to a folder that contains a hook."""
    there = World(Path(tempfile.mkdtemp(dir=world.root)) / "other")
    there.hook("kodik", "PostToolUse", "echo other")
    there.hook("kode", "tool_call_post", "echo other")
    folders = {"XDG_CONFIG_HOME": there.home / "config", "XDG_STATE_HOME": there.home / "state"}
    world.env[name] = str(folders.get(name, there.home))


def same_size(world: World) -> None:
    """Change the event in a hook file, but not its size or modification time."""
    for path in world.root.rglob("hooks.json"):
        before, text = path.stat(), path.read_text()
        path.write_text(text.replace("PreCompact ", "PostToolUse") if "PreCompact " in text else text)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def linked(world: World) -> None:
    """Replace the project's hooks folder with a link to another one."""
    there = World(Path(tempfile.mkdtemp(dir=world.root)) / "linked")
    there.hook("kodik", "PostToolUse", "echo linked", "project")
    target = world.project / ".kodik"
    if target.is_symlink():
        target.unlink()
    shutil.rmtree(target, ignore_errors=True)
    target.symlink_to(there.project / ".kodik")


EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(declares, st.sampled_from(sorted(DECLARED)), st.sampled_from(["user", "project"]), st.integers(0, 9)),
    st.sampled_from(SETTINGS).map(lambda text: lambda world: world.config(text)),
    st.sampled_from(VARIABLES).map(lambda name: lambda world: elsewhere(world, name)),
    st.sampled_from([
        lambda world: world.approve(),
        lambda world: (world.project / ".git").mkdir(exist_ok=True),
        lambda world: (world.project / ".claude").mkdir(exist_ok=True),
        lambda world: shutil.rmtree(world.home / "state", ignore_errors=True),
        lambda world: world.command("trust", "--yes"),
        same_size,
        linked,
    ]),
)  # fmt: skip


@examples(60)
@given(before=st.lists(EDITS, max_size=2), after=st.lists(EDITS, min_size=1, max_size=3))
def test_a_wrong_nothing_is_never_said(launcher: Path, before: list[Edit], after: list[Edit]) -> None:
    root = Path(tempfile.mkdtemp(prefix="ah-"))
    world = World(root)
    padded = {"PreCompact ": [{"hooks": [{"type": "command", "command": "echo"}]}]}  # not the name of an event
    world.write(world.home / "Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": padded}))
    desk = Desk(launcher, world)
    try:
        for edit in before:
            edit(world)
        settle(world)
        desk.env = {**world.env, "XDG_RUNTIME_DIR": str(desk.folder)}
        desk.keep(*CALL, payload())
        for edit in after:
            edit(world)
        desk.env = {**world.env, "XDG_RUNTIME_DIR": str(desk.folder)}
        answer = desk.ask(*CALL, payload())
        if answer is not None:
            done = world.command("bridge", *CALL, stdin=payload().decode())
            assert (done.returncode, done.stdout, done.stderr) == (0, answer[0].decode(), "")
            hooks = world.journal()[-1]["decision"].get("hooks", [])
            assert [hook for hook in hooks if hook["status"] in ("ran", "untrusted", "broken")] == []
    finally:
        desk.close()
        shutil.rmtree(root)


def test_these_edits_can_be_missed(launcher: Path, tmp_path: Path) -> None:
    """An unchecked table would give a wrong answer, so these edits matter."""
    world = World(tmp_path)
    desk = Desk(launcher, world)
    try:
        settle(world)
        desk.keep(*CALL, payload())
        assert desk.ask(*CALL, payload()) is not None
        world.hook("kodik", "PostToolUse", "echo no; exit 2")
        assert desk.ask(*CALL, payload()) is None
        assert world.journal() == []
        world.command("bridge", *CALL, stdin=payload().decode())
        assert [hook["status"] for hook in world.journal()[-1]["decision"]["hooks"]] == ["ran"]
    finally:
        desk.close()
