"""Events that nobody hooked, answered by the launcher alone: which they are, and what makes it doubt."""

from __future__ import annotations

import json
import mmap
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.state.plans import SETTLED_NS
from anyhook.tables.registry import HOSTS, host
from warm_box import eventually, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import World
    from warm_box import Desk, Door

POST = ("claude", "PostToolUse")
PRE = ("claude", "PreToolUse")


def payload(tool: str = "Bash", **given: Any) -> bytes:
    return json.dumps({"session_id": "s", "tool_name": tool, "tool_input": given or {"command": "ls -la src"}}).encode()


def kept(desk: Desk, call: tuple[str, str] = POST, sent: bytes = b"") -> Desk:
    settle(desk.world)
    desk.keep(*call, sent or payload())
    return desk


def test_nothing_is_hooked(desk: Desk) -> None:
    assert desk.ask(*POST, payload()) is None, "there is no table"
    answer = kept(desk).ask(*POST, payload())
    assert answer is not None
    out, note = answer
    assert out == b""
    assert note.words == [str(desk.launcher), "bridge", *POST]
    assert note.payload == payload()
    assert note.folder == os.fsencode(desk.cwd)
    assert note.env == {os.fsencode(name): os.fsencode(value) for name, value in desk.env.items()}
    assert desk.ask("codex", "PostToolUse", payload()) is None, "another agent"


def test_the_first_quiet_call_speaks_for_the_agents_other_events(desk: Desk) -> None:
    desk.world.hook("claude", "SessionEnd", "exit 0")
    kept(desk)
    assert desk.ask("claude", "PreCompact", payload()) is not None
    assert desk.ask(*PRE, payload()) is not None
    assert desk.ask("claude", "SessionEnd", payload()) is None, "it is hooked"


def test_an_agent_gets_its_own_nothing(desk: Desk) -> None:
    """For one, silence is not a consent."""
    rows = [(name, row) for name in HOSTS for row in host(name).events if row.silence is not None]
    assert rows
    for name, row in rows:
        sent = json.dumps({"workspacePaths": [str(desk.cwd)], "toolCall": {"name": "view_file", "args": {}}}).encode()
        kept(desk, (name, row.native), sent)
        answer = desk.ask(name, row.native, sent)
        ordinary = desk.world.command("bridge", name, row.native, stdin=sent.decode())
        # A tool's input that has to be made of what is sent is left to Python.
        made = any(each.field == "input" and each.make for each in (*host(name).base, *row.takes))
        if "pre_tool" not in row.canonical and not made:
            assert answer is not None
            assert answer[0].decode() == ordinary.stdout


def test_every_event_of_every_agent_may_be_quiet(desk: Desk) -> None:
    """But for those that self-protection looks at."""
    sent, quiet = b'{"session_id": "s"}', 0
    for name in HOSTS:
        row = next((row for row in host(name).events if row.canonical and "pre_tool" not in row.canonical), None)
        if row is not None:
            quiet += 1
            assert kept(desk, (name, row.native), sent).ask(name, row.native, sent) is not None, (name, row.native)
    assert quiet > 20


@pytest.mark.parametrize(
    ("sent", "quiet"),
    [
        (b'{"a": [1, -2.50, true, null, {"b": "\\u00e9 \xc3\xa9 \\n"}]}', True),
        (b' \n{"a": {}, "b": []} ', True),
        (b"", False),
        (b"[]", False),
        (b"{}x", False),
        (b'{"a": 1,}', False),
        (b'{"a" 1}', False),
        (b'{"a": 01}', False),
        (b'{"a": 1e999}', False),
        (b'{"a": NaN}', False),
        (b'{"a": ' + b"9" * 5000 + b"}", False),
        (b'{"a": "\xff"}', False),
        (b'{"a": "\xed\xa0\x80"}', False),
        (b'{"a": "\xc0\xaf"}', False),
        (b'{"a": "\\ud800"}', False),
        (b'{"a": "\n"}', False),
        (b'{"a": "', False),
        (b'\xef\xbb\xbf{"a": 1}', False),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", False),
        (b'{"cwd": "/", "cwd": "."}', False),
        (b'{"cw\\u0064": "/"}', False),
        (b'{"cwd": "\\/"}', False),
        (b'{"x": {"cwd": "/"}}', True),
        (b'{"timestamp": 1}', False),  # as another agent sends it, through this one's entry
        (b'{"x": {"timestamp": 1}}', True),
        (b'{"hook_event_name": "PostToolUse"}', False),
        (b'{"hook_event_name": "PostToolUse", "cwd": null}', True),
        (b'{"cwd": {"cwd": "/"}}', True),
    ],
)
def test_only_a_plain_payload(desk: Desk, sent: bytes, quiet: bool) -> None:
    assert (kept(desk).ask(*POST, sent) is not None) == quiet


LOOKS = [
    (payload(command="ls -la src"), True),
    (payload(command="ls", description="List the files, all of them"), True),
    (payload("Read", file_path="/etc/hosts"), True),
    (payload(command="rm -rf build"), True),
    (payload(command="echo 'make test' > call.txt"), False),  # Python reads what a makefile runs
    (payload(command='git commit -m "A line\nand another\tone"'), True),
    (payload(command="mytool x/../y"), False),
    (payload("Write", file_path="x", content="def f(x):\n    return {x: [1]}  # ~ * ? $"), True),
    (payload("Write", file_path="x/../y"), False),
    (payload("mcp__x__y", path="x", deep={"list": ["a", 1, None]}), True),
    (payload(command="grep hook x"), True),
    (payload(command="sed -n 1p anyhook.txt"), False),
    (payload(command='sed -n 1p a"ny"hook.txt'), False),
    (payload(command="sed -n 1p trust\\.json"), False),
    (payload(description="hooks", command="mytool"), False),
    (payload(command="mytool settings.json"), False),
    (payload(command="rm $HOME"), False),
    (payload(command="rm *"), False),
    (payload(command="HOME=x mytool"), False),
    (payload(command="rm -rf /"), False),
    (payload(command="rm -rf ."), False),
    (payload(command="mytool //x"), False),
    (payload(command="cd . && make"), False),
    (payload(command="cd .; /usr/bin/rm x"), False),
    (payload(command="mytool link"), False),
    (payload(command="mytool link/x/y"), False),
    (payload(command="mytool plain/x/y"), True),
    (payload(command="mytool plain;link"), True),
    (payload(command="mytool (link)"), False),
    (payload(command="mytool \u00e9"), False),
    (payload(command="mytool \u00a0link"), False),
    (payload(command="mytool \x1clink"), False),
    (payload(command="mytool \x7f"), False),
    (payload(command="a/" * 511 + "b"), True),
    (payload(command="a/" * 511 + "bc"), False),
    (payload(command="a" * 256), False),
    (payload(command="x " * 40_000), False),
    (payload(command="ls", script="rm *"), False),
    (b'{"tool_name": "Bash", "tool_input": {"command": "my\\u0074ool \\u0022a\\/b"}}', True),
    (b'{"tool_name": "Bash", "tool_input": {"command": "mytool any\\u0068ook"}}', False),
    (b'{"tool_name": "Bash", "tool_input": {"command": "mytool (\\u2028link"}}', False),
    (b'{"tool_name": "Bash", "tool_input": {"comm\\u0061nd": "mytool *"}}', False),
    (b'{"tool_name": "Bash", "tool_input": {"x": {"comm\\u0061nd": "mytool"}}}', False),
    (b'{"tool_name": "Bash", "tool_input": ["ls"]}', False),
    (b'{"tool_name": "Bash", "tool_input": "ls"}', False),
    (b'{"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_input": {"x": "ls"}}', False),
    (b'{"tool_name": "Read", "tool_name": "Write", "tool_input": {}}', False),
    (b'{"tool_input": {"command": "ls"}}', False),
    (b'{"tool_name": "Read"}', False),
    (b'{"tool_name": "Read", "tool_input": null}', False),
    (b'{"tool_name": "Bash"}', False),
]


@pytest.mark.parametrize(("sent", "quiet"), LOOKS, ids=lambda each: str(each)[:60])
def test_self_protection_looks_at_every_call_that_may_mean_us(desk: Desk, sent: bytes, quiet: bool) -> None:
    (desk.world.project / "link").symlink_to(desk.world.root)
    (desk.world.project / "plain").mkdir()
    assert (kept(desk, PRE).ask(*PRE, sent) is not None) == quiet


def test_what_self_protection_holds_may_change(desk: Desk) -> None:
    """The files that have our entry, links, and the folders in which commands are looked for."""
    sent = payload(command="rm -rf tools")
    assert kept(desk, PRE).ask(*PRE, sent) is not None
    index = desk.world.state / "installs/index.json"
    desk.world.write(index, json.dumps({str(desk.world.project / "tools/settings"): {}}))
    assert desk.ask(*PRE, sent) is None
    os.utime(index, (0, 0))
    eventually(lambda: time.time_ns() - index.stat().st_ctime_ns > 2 * SETTLED_NS, "time stands still")
    assert kept(desk, PRE, sent).ask(*PRE, sent) is None
    index.unlink()
    assert kept(desk, PRE, sent).ask(*PRE, sent) is not None
    desk.env["PATH"] = desk.world.env["PATH"] = f"{desk.world.project}/tools:/usr/bin"
    assert desk.ask(*PRE, sent) is None
    assert kept(desk, PRE, sent).ask(*PRE, sent) is None
    assert desk.ask(*PRE, payload(command="rm -rf other")) is not None
    (desk.world.project / "other").symlink_to(desk.world.home)
    assert desk.ask(*PRE, payload(command="rm -rf other")) is None


CHANGES: dict[str, Callable[[Desk], object]] = {
    "a hook": lambda desk: desk.world.hook("kodik", "PostToolUse", "exit 2"),
    "a hook of the project": lambda desk: desk.world.hook("claude", "PostToolUse", "exit 2", "project"),
    "a rule": lambda desk: desk.world.hook("anyhook", "post_tool", "exit 2"),
    "a repository around it": lambda desk: (desk.world.root / ".git").mkdir(),
    "settings": lambda desk: desk.world.config('warm = "off"\n'),
    "another home": lambda desk: desk.env.update(HOME=str(desk.world.project)),
    "a variable of an agent": lambda desk: desk.env.update(CLAUDE_CONFIG_DIR=str(desk.world.root)),
    "a variable that names the project": lambda desk: desk.env.update(CLAUDE_PROJECT_DIR=str(desk.world.home)),
    "a locale": lambda desk: desk.env.update(LC_ALL="C"),
    "a language": lambda desk: desk.env.update(LANG="C"),
    "a recording": lambda desk: desk.env.update(ANYHOOK_RECORD="/nowhere"),
    "no server wanted": lambda desk: desk.env.update(ANYHOOK_WARM="off"),
    "steps to show": lambda desk: desk.env.update(ANYHOOK_DEBUG="1"),
    "another folder": lambda desk: setattr(desk, "cwd", desk.world.home),
    "another server": lambda desk: os.chmod(desk.socket, 0o700),
    "others may enter": lambda desk: (desk.folder / "anyhook").chmod(0o755),
    "nobody takes notes": lambda desk: os.unlink(f"{desk.socket}.notes"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_a_doubt(desk: Desk, change: str) -> None:
    kept(desk)
    assert desk.ask(*POST, payload()) is not None
    CHANGES[change](desk)
    assert desk.ask(*POST, payload()) is None


def test_variables_of_python_change_nothing(desk: Desk) -> None:
    """Our Python is isolated from them."""
    kept(desk)
    desk.env.update(PYTHONPATH="/nowhere", PYTHONHOME="/nowhere")
    assert desk.ask(*POST, payload()) is not None


def test_an_entry_that_fixes_its_home(desk: Desk) -> None:
    """What it fixes is part of the call: a table for one home says nothing about another or the environment's."""
    home = ("--home", desk.env["HOME"])
    assert kept(desk).ask(*POST, payload(), *home) is None
    desk.keep(*POST, payload(), *home)
    assert desk.ask(*POST, payload(), *home) is not None
    assert desk.ask(*POST, payload()) is None
    assert desk.ask(*POST, payload(), "--home", str(desk.world.project)) is None
    assert desk.ask(*POST, payload(), *home, "--place", "CODEX_HOME=/x") is None
    assert desk.ask(*POST, payload(), *home, "--mode", "shadow") is None
    desk.env["HOME"] = str(desk.world.project)
    assert desk.ask(*POST, payload(), *home) is None


def no_new_privileges() -> None:
    import ctypes

    assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0


def test_a_sandbox_is_a_doubt(desk: Desk) -> None:
    assert kept(desk).ask(*POST, payload(), preexec_fn=no_new_privileges) is None


def test_a_link_that_leads_elsewhere(desk: Desk) -> None:
    """The payload names the project by a link, which is turned to a project with a hook."""
    world = desk.world
    (world.root / "link").symlink_to(world.project)
    sent = json.dumps({"cwd": str(world.root / "link")}).encode()
    desk.cwd = world.home
    assert kept(desk, POST, sent).ask(*POST, sent) is not None
    (world.root / "link").unlink()
    (world.root / "link").symlink_to(world.root)
    assert desk.ask(*POST, sent) is None


@pytest.mark.parametrize("change", ["cut", "other"])
def test_a_damaged_table(desk: Desk, change: str) -> None:
    kept(desk)
    tables = (desk.folder / "anyhook" / "quiet").iterdir()
    (path,) = [path for path in tables if b"\0EPostToolUse\0" in b"\0" + path.read_bytes()]
    data = path.read_bytes()
    for size in range(0, len(data) - 1, 97):
        path.write_bytes(data[:size] if change == "cut" else b"\0" * size)
        assert desk.ask(*POST, payload()) is None, size


def test_a_turn_in_which_hooks_count_is_not_left_to_later(desk: Desk) -> None:
    prompt = ("claude", "UserPromptSubmit")
    assert kept(desk, prompt).ask(*prompt, payload()) is not None
    desk.world.hook("claude", "Stop", "exit 2")
    kept(desk, prompt)
    assert desk.ask(*prompt, payload()) is None


def test_a_quiet_call_is_written_down(door: Door, world: World) -> None:
    """With a real server: the first call is an ordinary one, the next are the launcher's own."""
    door.start()
    settle(world)
    calls = 0

    def call() -> bool:
        nonlocal calls
        calls += 1
        sent = {"session_id": "s", "tool_name": "Bash", "tool_use_id": f"t{calls}"}
        done = door.call("bridge", *POST, stdin=json.dumps(sent).encode(), env={"TRACEPARENT": ""})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        return bool(os.listdir(f"{door.runtime}/anyhook/quiet"))

    os.makedirs(f"{door.runtime}/anyhook/quiet", 0o700)
    eventually(call, "no table is kept")
    for _ in range(3):
        call()
    eventually(lambda: len(world.journal()) >= calls + 1, "a line is missing")
    lines = [line for line in world.journal() if line["event"] == "post_tool"]
    assert sorted(line["data"]["call_id"] for line in lines) == sorted(f"t{number + 1}" for number in range(calls))
    for line in lines:
        for name in ("at", "n", "hash", "data"):
            line.pop(name)
    assert all(line == lines[0] for line in lines), "the launcher's way is told from the ordinary one"
    world.hook("kodik", "PostToolUse", "exit 2")
    assert b"block" in door.call("bridge", *POST, stdin=payload()).stdout


def test_a_journal_that_fails_is_told_again(door: Door, world: World) -> None:
    server = door.start()
    settle(world)
    journal = world.state / "journal.jsonl"
    tables = f"{door.runtime}/anyhook/quiet"
    os.makedirs(tables, 0o700)
    eventually(lambda: door.call("bridge", *POST, stdin=payload()).returncode == 0 and bool(os.listdir(tables)), "none")
    journal.unlink()
    journal.mkdir()
    eventually(lambda: b"not recorded" in door.call("bridge", *POST, stdin=payload()).stderr, "nobody is told")
    eventually(lambda: not os.listdir(tables), "a worker may still write some, and deletes them")
    assert door.state()["pid"] == server


def test_after_a_refusal_calls_are_compared_with_it(desk: Desk) -> None:
    """A call that ran although it was refused is noticed, also where nothing is hooked after calls."""
    rule = '[[rule]]\nname = "no"\nwhen = "runs forbidden"\nthen = "deny"\nbecause = "no"\n'
    desk.world.write(desk.world.home / "config/anyhook/hooks.toml", rule)
    refused = payload(command="forbidden")
    assert kept(desk).ask(*POST, refused) is not None, "nothing was refused yet"
    done = desk.world.command("bridge", *PRE, stdin=refused.decode())
    assert "deny" in done.stdout
    assert desk.ask(*POST, refused) is None, "Python looks whether it ran"
    assert "that was refused" in desk.world.command("bridge", *POST, stdin=refused.decode()).stdout


def test_contents_decide_and_not_stamps(desk: Desk) -> None:
    """A file that the table depends on, rewritten through a memory map, and back."""
    desk.world.config('on_failure = "native"\n# a comment of some length, more than eight bytes\n')
    desk.world.hook("claude", "SessionEnd", "exit 0")
    kept(desk)
    assert desk.ask(*POST, payload()) is not None
    paths = [path for name in ("config.toml", "settings.json") for path in desk.world.home.rglob(name)]
    assert len(paths) > 1
    for path in paths:
        with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[0:1] = mapped[0:1]
            settle(desk.world)
            desk.keep(*POST, payload())
            assert desk.ask(*POST, payload()) is not None, path
            for place in (0, len(mapped) // 2, len(mapped) - 1):
                before = mapped[place]
                mapped[place] = before ^ 1
                assert desk.ask(*POST, payload()) is None, (path, place)
                mapped[place] = before
            assert desk.ask(*POST, payload()) is not None, path
