"""The launcher never answers `nothing` if an ordinary call answers something: under any edits of hook files, settings,
approvals, switches, variables and payloads, with the launcher itself and the command itself."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import event, given
from hypothesis import strategies as st

from anyhook.state.switches import Switches
from anyhook.tables.registry import host
from command import run
from conftest import World
from examples import examples
from warm_box import Desk

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[Desk], object]

CALLS = [
    ("claude", "PreToolUse"),
    ("claude", "PostToolUse"),
    ("claude", "SessionStart"),
    ("claude", "Stop"),
    ("goose", "PreToolUse"),
    ("cursor", "beforeShellExecution"),
]
HOOKED = [
    ("kodik", "PreToolUse"), ("kodik", "PostToolUse"), ("claude", "PostToolUse"), ("claude", "SessionStart"),
    ("claude", "Stop"), ("kode", "tool_call_pre"), ("codex", "PreToolUse"), ("agenthooks", "before_tool"),
    ("anyhook", "post_tool"), ("kolega", "Stop"), ("copilot", "preToolUse"),
]  # fmt: skip
BLOCK = "echo no >&2; exit 2"


def declare(table: str, native: str, scope: str) -> Step:
    return lambda desk: desk.world.hook(table, native, BLOCK, scope)


def rewrite(old: bytes, new: bytes) -> Step:
    """Other bytes, as many as before, in every file of the project and the home, with the old modification time."""

    def do(desk: Desk) -> None:
        for path in sorted(desk.world.root.rglob("*")):
            if path.is_file() and not path.is_relative_to(desk.world.state) and old in (data := path.read_bytes()):
                seen = path.stat()
                path.write_bytes(data.replace(old, new))
                os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    return do


def remove(desk: Desk) -> None:
    """All hooks, the user's and the project's."""
    world = desk.world
    for folder in (world.project, world.home):
        for path in folder.iterdir():
            if path != world.state.parent and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
    world._lists.clear()


def move_project(desk: Desk) -> None:
    """Another folder has the project's name."""
    project = desk.world.project
    other = project.with_name("other")
    if other.exists():
        shutil.rmtree(other)
    project.rename(other)
    project.mkdir()


def link_home(desk: Desk) -> None:
    """The user's settings are elsewhere, behind a link."""
    place = desk.world.home / ".claude"
    if place.is_dir() and not place.is_symlink():
        moved = desk.world.root / f"moved-{len(os.listdir(desk.world.root))}"
        place.rename(moved)
        place.symlink_to(moved)


def switch_off(desk: Desk) -> None:
    hooks = desk.world.engine().catalog.hooks
    if hooks:
        Switches(str(desk.world.state)).turn("", hooks[0].id, on=False)


def write(path: str, text: str) -> Step:
    return lambda desk: desk.world.write(desk.world.root / path, text)


def variable(name: str, value: str) -> Step:
    return lambda desk: desk.env.update({name: value.format(root=desk.world.root)})


def forget(desk: Desk) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "ANYHOOK_MANAGED_DIR", "CODEX_HOME"):
        desk.env.pop(name, None)


STEPS: dict[str, Step] = {
    **{f"{hook} {scope}": declare(*hook, scope) for hook in HOOKED for scope in ("user", "project")},
    "approve": lambda desk: desk.world.approve(),
    "remove": remove,
    "move": move_project,
    "link": link_home,
    "switch off": switch_off,
    "an event of the same length": rewrite(b"PreToolUse", b"PreToolUsx"),
    "and back": rewrite(b"PreToolUsx", b"PreToolUse"),
    "another verdict": rewrite(b"exit 2", b"exit 0"),
    "broken": write("project/.codex/hooks.json", "{"),
    "broken, the user's": write("home/config/kode/config.yaml", "hooks: ["),
    "no protection": write("home/config/anyhook/config.toml", "protect = false\n"),
    "shadow": write("home/config/anyhook/config.toml", 'mode = "shadow"\n'),
    "a plugin": write("home/config/anyhook/config.toml", 'plugins = ["/nowhere"]\n'),
    "bad settings": write("home/config/anyhook/config.toml", "mode = 3\n"),
    "guards that are off": write("home/config/anyhook/config.toml", 'off = "deny"\n'),
    "a repository above": lambda desk: (desk.world.root / ".git").mkdir(exist_ok=True),
    "hooks of the folder above": write(
        ".claude/settings.json",
        json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": BLOCK}]}]}}),
    ),
    "managed": variable("ANYHOOK_MANAGED_DIR", "{root}/managed"),
    "managed rules": write("managed/hooks.toml", '[[rule]]\nname = "m"\nwhen = "event post_tool"\nthen = "deny"\n'),
    "elsewhere": variable("CLAUDE_CONFIG_DIR", "{root}/home/.claude"),
    "a project by name": variable("CLAUDE_PROJECT_DIR", "{root}/project"),
    "another by name": variable("CLAUDE_PROJECT_DIR", "{root}/home"),
    "codex elsewhere": variable("CODEX_HOME", "{root}/home/.codex"),
    "forget variables": forget,
}  # fmt: skip
PAYLOADS = [
    '{"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "ROOT/project"}',
    '{"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": "ls src"}, "cwd": "ROOT/nowhere"}',
    '{"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": "rm -rf ROOT/home/state/anyhook"}}',
    '{"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": "ls; anyhook off"}}',
    '{"session_id": "SESSION", "tool_name": "Read", "tool_input": {"file_path": "ROOT/home/state/anyhook/trust.json"}}',
    '{"session_id": "SESSION", "tool_name": "Write", "tool_input": {"file_path": "ROOT/home/.claude/settings.json"}}',
    '{"session_id": "SESSION", "cwd": "ROOT/home", "workspace_roots": ["ROOT/home"], "working_dir": "ROOT/home"}',
    '{"session_id": "SESSION", "cwd": "ROOT/project", "cwd": "ROOT/home", "stop_hook_active": false}',
    '{"session_id": "SESSION", "tool_name": "Bash", "tool_response": {"error": "x"}, "is_error": true}',
    '{"session_id": "SESSION", "command": "ls", "tool_input": "{\\"command\\": \\"ls\\"}"',
    '{"session_id": "SESSION", "hook_event_name": "x", "timestamp": "2026", "cwd": "ROOT/project"}',
    '{"session_id": "SESSION", "hook_event_name": "x", "cwd": "ROOT/project", "tool_name": "Read"}',
    "{}",
    "",
]  # fmt: skip
KEYS = st.sampled_from(["cwd", "command", "tool_name", "a"])
texts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
).map(lambda value: json.dumps({"tool_name": "Bash", "session_id": "SESSION", "tool_input": value}))  # fmt: skip
moves = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), max_size=4)
asked = st.lists(st.sampled_from(PAYLOADS) | texts, min_size=1, max_size=3)


class Scene:
    """One example: a world, the launcher, and the command."""

    def __init__(self, launcher: Path, folder: str) -> None:
        self.world = World(Path(folder))
        self.desk = Desk(launcher, self.world)
        self.sessions = 0

    def ordinary(self, call: tuple[str, str], sent: bytes) -> tuple[int, bytes, bytes]:
        done = run(("bridge", *call), env=self.desk.env, cwd=self.desk.cwd, stdin=sent)
        return done.returncode, done.stdout, done.stderr

    def sent(self, text: str) -> bytes:
        """A new session each time, because a repeated question gets a repeated answer."""
        self.sessions += 1
        filled = text.replace("ROOT", str(self.world.root)).replace("SESSION", f"s{self.sessions}")
        return filled.encode("utf-8", "surrogatepass")

    def keep(self, call: tuple[str, str]) -> None:
        """A call that a worker answers in the ordinary way."""
        time.sleep(0.06)  # a plan is kept of files that are a moment old
        self.ordinary(call, self.sent(PAYLOADS[0]))
        self.desk.keep(*call, self.sent(PAYLOADS[0]))

    def look(self, call: tuple[str, str], text: str) -> bool:
        """Ask both; whether the launcher answered by itself."""
        answer = self.desk.ask(*call, self.sent(text))
        if answer is None:
            return False
        lines = len(self.world.journal())
        shutil.rmtree(self.world.state / "plans", ignore_errors=True)  # from the files themselves
        assert self.ordinary(call, self.sent(text)) == (0, answer[0], b"")
        assert all(not line["decision"]["hooks"] for line in self.world.journal()[lines:]), "a hook was passed over"
        return True


def kept_and_asked(call: tuple[str, str]) -> st.SearchStrategy[tuple[tuple[str, str], tuple[str, str]]]:
    """A call in the ordinary way, and one for the launcher: the same, or another event of the same agent."""
    agent, native = call
    others = st.sampled_from([row.native for row in host(agent).events])
    return st.tuples(st.just(call), st.tuples(st.just(agent), st.just(native) | others))


@examples(100)
@given(st.sampled_from(CALLS).flatmap(kept_and_asked), moves, moves, asked)
def test_nothing_is_said_only_where_nothing_is(
    launcher: Path,
    calls: tuple[tuple[str, str], tuple[str, str]],
    before: list[tuple[str, bool]],
    after: list[tuple[str, bool]],
    sent: list[str],
) -> None:
    kept, call = calls
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(launcher, folder)
        try:
            for name, _ in before:
                STEPS[name](scene.desk)
            scene.keep(kept)
            quiet = [scene.look(call, text) for text in sent]
            for name, again in after:
                STEPS[name](scene.desk)
                if again:
                    scene.keep(kept)
                quiet += [scene.look(call, text) for text in sent]
            event("quiet" if any(quiet) else "never quiet")
        finally:
            scene.desk.close()
