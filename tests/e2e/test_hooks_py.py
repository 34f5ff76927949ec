"""`hooks.py`: decorated functions as hooks. anyhook reads the file without running it, and calls each function in a
separate process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from satellite import satellite

if TYPE_CHECKING:
    from conftest import World

HEAD = "from anyhook.hooks import Call, after, ask, before, context, deny, on, rewrite, warn\n"


def functions(world: World, text: str, scope: str = "user") -> None:
    folder = world.home / "config/anyhook" if scope == "user" else world.project / ".anyhook"
    world.write(folder / "hooks.py", HEAD + text)


def bash(world: World, line: str, event: str = "pre_tool") -> dict[str, Any]:
    return world.fire(event, "--tool", "Bash", "--input", json.dumps({"command": line}), "--session", "s1")


def test_a_function_refuses_what_its_decorator_is_about(world: World) -> None:
    text = """
@before.write("migrations/**")
def generated(call: Call) -> None:
    deny(f"{call.tool} {call.path.rpartition('/')[2]} {call.facts.runs}")
"""
    functions(world, text)
    made = bash(world, "echo x > migrations/1.py")
    assert (made["verdict"], made["effect"]) == ("block", "deny_tool")
    assert made["reason"] == "Bash 1.py (('echo', 'x'),)"
    quiet = bash(world, "echo x > other/1.py")
    assert quiet["verdict"] == "none"
    assert [hook["status"] for hook in quiet["hooks"]] == ["unmatched"]


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ("ask('sure?')", "reason", "sure?"),
        ("context('note')", "context", ["note"]),
        ("warn('mind')", "messages", ["mind"]),
        ("rewrite(call.command + ' --dry-run')", "tool_input", {"command": "deploy now --dry-run"}),
        ("rewrite(timeout=5)", "tool_input", {"command": "deploy now", "timeout": 5}),
        ("return context('returned')", "context", ["returned"]),
    ],
)
def test_what_a_function_can_ask_for(body: str, field: str, value: object, world: World) -> None:
    functions(world, f'@before.run("deploy")\ndef it(call):\n    {body}\n')
    assert bash(world, "deploy now")[field] == value


@pytest.mark.parametrize(
    ("decorator", "event", "line"),
    [
        ('@before("runs make and not runs ls")', "pre_tool", "make all"),
        ('@before.run("git push --force", "make")', "pre_tool", "sudo make all"),
        ('@after.delete("build/**")', "post_tool", "rm -r build/x"),
        ("@before.delete()", "pre_tool", "rm x"),
        ('@before.tool("Bash")', "pre_tool", "ls"),
        ('@before.run("ls", unless="runs rm", tools=["Bash"], agents=("fire",))', "pre_tool", "ls"),
    ],
)
def test_ways_to_say_when(decorator: str, event: str, line: str, world: World) -> None:
    functions(world, f"{decorator}\ndef it(call):\n    context(call.event)\n")
    assert bash(world, line, event)["context"] == [event]


def test_other_events_and_other_ways_to_import(world: World) -> None:
    text = 'import anyhook.hooks as h\n@h.on("session_start")\ndef hello(call):\n    h.context("welcome")\n'
    functions(world, text)
    assert world.fire("session_start")["context"] == ["welcome"]


def test_a_session_keeps_what_functions_store(world: World) -> None:
    text = """
@before.run("make")
def count(call: Call) -> None:
    call.session.store["n"] = call.session.store.get("n", 0) + 1
    deny(f"{call.session.id}: {call.session.store['n']}")
"""
    functions(world, text)
    assert [bash(world, "make")["reason"] for _ in range(2)] == ["s1: 1", "s1: 2"]
    other = world.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "make"}', "--session", "s2")
    assert other["reason"] == "s2: 1"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise ValueError('oops')", "ValueError: oops"),
        ("raise SystemExit(0)", "SystemExit"),
        ("return True", "returned bool"),
        ("call.session.store['x'] = {1}", "TypeError"),
        ("import time; time.sleep(60)", "did not end within its limit"),
        ("import os; os._exit(0)", "it ended before it answered"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_a_function_that_fails_refuses(body: str, says: str, world: World) -> None:
    functions(world, f'@before.run("make", timeout=1)\ndef it(call):\n    {body}\n')
    made = bash(world, "make")
    assert made["verdict"] == "block"
    assert says in made["reason"]
    world.config('on_failure = "allow"\n')
    assert bash(world, "make")["verdict"] == "none"


def test_nothing_of_a_project_runs_before_it_is_approved(world: World) -> None:
    mark = world.project / "ran"
    text = f'open({str(mark)!r}, "w")\nimport beside\n@before.run("make")\ndef it(call):\n    deny(beside.WHY)\n'
    functions(world, text, "project")
    world.write(world.project / ".anyhook/beside.py", 'WHY = "because"\n')
    assert [hook["status"] for hook in bash(world, "make")["hooks"]] == ["untrusted"]
    for verb in (["list"], ["check"], ["status"], ["explain", "pre_tool", "--tool", "Bash"]):
        world.command(*verb)
    assert not mark.exists()
    assert world.command("trust", "--yes").returncode == 0
    assert bash(world, "make")["reason"] == "because"
    assert mark.exists()
    world.write(world.project / ".anyhook/beside.py", 'WHY = "another"\n')
    made = bash(world, "make")
    assert (made["verdict"], made["hooks"][0]["status"]) == ("none", "untrusted"), "what it imports is approved with it"


def test_what_its_source_does_not_name_cannot_be_imported_from_its_folder(world: World) -> None:
    text = '@before.run("make")\ndef it(call):\n    __import__("hid" + "den")\n'
    functions(world, text, "project")
    world.write(world.project / ".anyhook/hidden.py", "WHY = 1\n")
    world.command("trust", "--yes")
    assert "No module named 'hidden'" in bash(world, "make")["reason"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('X = "ls"\n@before.run(X)\ndef it(call): ...\n', "`X` is not a plain text"),
        ('@before.ran("ls")\ndef it(call): ...\n', "there is no `before.ran`"),
        ("@before.write\ndef it(call): ...\n", "call the decorator"),
        ('@before.run("ls")\nasync def it(call): ...\n', "asynchronous"),
        ('class A:\n    @before.run("ls")\n    def it(self, call): ...\n', "only functions at the top"),
        ('@before("rans ls")\ndef it(call): ...\n', "`rans` is not a condition"),
        ('@before.run("ls", sometimes=True)\ndef it(call): ...\n', "`sometimes` is not one of"),
    ],
)
def test_a_hook_that_cannot_be_read_is_a_gate_that_is_off(text: str, says: str, world: World) -> None:
    functions(world, text)
    checked = world.command("check")
    assert checked.returncode == 1
    assert says in checked.stdout
    (gate,) = json.loads(world.command("status", "--json").stdout)["gates"]
    assert gate["state"] == "broken"


def test_a_file_that_is_not_python_is_unreadable(world: World) -> None:
    functions(world, "def it(:\n")
    (gate,) = json.loads(world.command("status", "--json").stdout)["gates"]
    assert gate["state"] == "unreadable"
    assert gate["source"].endswith("hooks.py:2")


def test_new_writes_one_and_what_it_did_becomes_its_cases(world: World) -> None:
    satellite("testing")
    words = ("--dialect", "anyhook", "--event", "pre_tool", "--lang", "python")
    done = world.command("new", "my-guard", *words)
    assert done.returncode == 0, done.stderr
    assert world.command("trust", "--yes").returncode == 0
    assert bash(world, "echo anyhook-demo-block")["verdict"] == "block"
    assert bash(world, "echo hello")["verdict"] == "none"
    assert world.command("record", "--last", "2", "-o", "my-guard.hooktest.yaml").returncode == 0
    assert world.command("trust", "--yes").returncode == 0
    tested = world.command("test")
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout
    again = world.command("new", "second", *words)
    assert again.returncode == 0, again.stderr
    assert (world.project / ".anyhook/hooks.py").read_text().count("import Call, before, deny") == 1
