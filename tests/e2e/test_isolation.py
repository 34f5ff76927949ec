"""A bad hook, file or stream never suppresses the answer of another hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from anyhook import Engine, Event, Outcome
from conftest import World

ANYHOOK = [sys.executable, "-P", "-m", "anyhook"]
DENY = "#!/bin/sh\necho no >&2\nexit 2\n"
DEEP = '{"a":' * 600 + "1" + "}" * 600


def deep_answer(decision: str) -> str:
    return f'#!/bin/sh\ncat <<\'E\'\n{{"decision": "{decision}", "reason": "own", "modified_input": {DEEP}}}\nE\n'


def test_a_deeply_nested_answer_keeps_its_own_block(world: World) -> None:
    world.hook("kodik", "PreToolUse", deep_answer("block"))
    decision = world.fire("PreToolUse", "--tool", "Bash", "--input", "{}")
    assert (decision["verdict"], decision["reason"]) == ("block", "own")


def test_a_deeply_nested_answer_costs_no_neighbour_its_block(world: World) -> None:
    world.hook("kodik", "PreToolUse", deep_answer("approve"))
    world.hook("kolega", "PreToolUse", DENY)
    decision = world.fire("PreToolUse", "--tool", "Bash", "--input", "{}")
    assert (decision["verdict"], decision["reason"]) == ("block", "no")
    assert any("64 levels" in problem["what"] for problem in decision["problems"])


@pytest.mark.parametrize("table", ["kode", "kodik", "agenthooks", "kolega"])
def test_an_orphan_of_a_hook_is_gone_after_the_limit(world: World, table: str) -> None:
    native = {"kode": "tool_call_pre", "agenthooks": "before_tool"}.get(table, "PreToolUse")
    mark = f"31{os.getpid()}"
    limit: dict[str, Any] = {"kode": {"timeout_ms": 1000}, "agenthooks": {"timeout": 1000}}.get(table, {"timeout": 1})
    script = f"#!/bin/sh\n(setsid sleep {mark} >/dev/null 2>&1 </dev/null &)\nsleep 60\n"
    world.hook(table, native, script, **limit)
    decision = world.fire(native, "--tool", "Bash", "--input", "{}")
    assert decision["hooks"][0]["ending"] == "timed_out"
    assert _sleepers(mark) == []


def _sleepers(mark: str) -> list[int]:
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(int(name))
    return found


def test_a_hook_broken_on_loading_obeys_the_posture(world: World) -> None:
    entry = {"matcher": "(", "hooks": [{"type": "command", "command": "true"}]}
    world.write(world.home / "Documents/Kodik/Hooks/hooks.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
    call = ("PreToolUse", "--tool", "Bash", "--input", "{}")
    native, strict = world.fire(*call), world.fire(*call, "--on-failure", "deny")
    assert (native["verdict"], native["hooks"][0]["status"]) == ("none", "broken")
    assert (strict["verdict"], strict["hooks"][0]["status"]) == ("block", "broken")


@pytest.mark.parametrize("end", ["", "raise ValueError('no')"])
def test_what_a_callable_prints_is_kept(world: World, end: str) -> None:
    world.module("rules", f"import sys\ndef talk(event):\n    print('said', end='')\n    {end or 'return None'}\n")
    world.kolega("PreToolUse", {"type": "python", "callable": "rules:talk"}, scope="project")
    (hook,) = world.fire("PreToolUse", "--tool", "Bash", "--dialect", "kolega", "--trust", "all")["hooks"]
    assert (hook["stdout"], hook["stderr"]) == ("", "saidValueError: no\n" if end else "said")


def test_callables_are_checked_when_they_are_registered_and_when_they_answer(world: World) -> None:
    engine = Engine.open(world.project, env=world.env)

    async def later(_: Event) -> None: ...

    with pytest.raises(ValueError, match="coroutine"):
        engine.on("pre_tool", later)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pattern"):
        engine.on("pre_tool", lambda _: None, matcher="(")
    engine.on("pre_tool", lambda _: Outcome(verdict="deny"), name="odd")  # type: ignore[arg-type]
    engine.on("pre_tool", lambda _: Outcome(verdict="block", reason="held", tool_input={"x": object()}), name="gate")  # type: ignore[dict-item]
    decision = engine.fire_sync(Event.pre_tool("T", {}))
    assert (decision.verdict, decision.reason) == ("block", "held")
    assert any("'deny'" in problem.what for problem in decision.problems)


def test_a_relative_plugin_of_the_settings_is_refused(world: World) -> None:
    world.config('plugins = ["plug"]\n')
    world.write(
        world.project / "plug/hooks/hooks.json",
        json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch ran; exit 2"}]}]}}),
    )
    decision = world.fire("PreToolUse", "--tool", "Bash", "--input", "{}")
    assert (decision["verdict"], decision["hooks"]) == ("none", [])
    assert any("plugins" in problem["what"] for problem in decision["problems"])


def run(world: World, words: list[str], **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*ANYHOOK, *words], env=world.env, cwd=world.project, check=False, timeout=240, **more)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_block_is_a_block_though_nobody_reads_why(world: World, as_json: list[str]) -> None:
    world.hook("kodik", "PreToolUse", DENY)
    words = ["fire", "PreToolUse", "--tool", "Bash", *as_json]
    with open("/dev/full", "wb") as full:
        done = run(world, words, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)
    reader, writer = os.pipe()
    os.close(reader)
    done = run(world, words, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)
    closed = f"exec {' '.join(ANYHOOK)} {' '.join(words)} >&-"
    done = subprocess.run(["sh", "-c", closed], env=world.env, cwd=world.project, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("verb", [["list"], ["dialects", "--json"], ["--help"]])
def test_a_full_disk_under_stdout_is_said_in_a_sentence(world: World, verb: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = run(world, verb, stdout=full, stderr=subprocess.PIPE)
    said = done.stderr.decode()
    assert (done.returncode, said.count("\n"), "could not be written" in said, "report" in said) == (1, 1, True, False)


def test_a_directory_that_is_gone_and_a_closed_stdin_are_bad_calls(world: World) -> None:
    gone = "mkdir gone && cd gone && rmdir ../gone && exec " + " ".join(ANYHOOK) + " fire stop"
    done = subprocess.run(["sh", "-c", gone], env=world.env, cwd=world.project, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr, b"directory" in done.stderr) == (3, False, True)
    closed = f"exec {' '.join(ANYHOOK)} fire stop --data - <&-"
    done = subprocess.run(["sh", "-c", closed], env=world.env, cwd=world.project, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (3, False)


@pytest.mark.parametrize(
    ("event", "data", "said"),
    [
        ("pre_tool", "[1]", "--data must be a JSON object"),
        ("pre_tool", '{"tool": "Shell"', "not valid JSON"),
        ("pre_tool", '{"tool": 5}', "`tool` must be a text"),
        ("PreToolUse", '{"tool_name": null}', "`tool_name` must be a text"),
        ("session_start", '{"source": ["x"]}', "`source` must be a text"),
        ("pre_tool", '{"tool_input": "ls"}', "`tool_input` must be a JSON object"),
    ],
)
def test_fields_by_which_hooks_are_chosen_have_their_type(world: World, event: str, data: str, said: str) -> None:
    done = run(world, ["fire", event, "--data", data], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout, said in done.stderr.decode()) == (3, b"", True)


def test_names_are_taken_as_they_are_and_texts_from_files(world: World) -> None:
    (world.project / "p.txt").write_text("from a file")
    world.hook("kodik", "UserPromptSubmit", "#!/bin/sh\ncat > seen.json\n")
    world.fire("UserPromptSubmit", "--prompt", "@p.txt", "--session", "@p.txt")
    seen = json.loads((world.project / "seen.json").read_text())
    assert (seen["prompt"], seen["context"]["session_id"]) == ("from a file", "@p.txt")


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--message", "hi"], "hi"),
        (["--message", "hi", "--data", '{"prompt": "no"}'], "hi"),
        (["--message", "no", "--prompt", "hi"], "hi"),
    ],
)
def test_a_message_is_the_prompt_where_a_dialect_calls_it_so(world: World, words: list[str], seen: str) -> None:
    world.hook("kodelet", "user_message_send", "cat > seen.json")
    world.fire("user_message_send", *words)
    assert json.loads((world.project / "seen.json").read_text())["message"] == seen


def test_a_message_of_its_own_stays_one(world: World) -> None:
    world.kolega("Notification", {"type": "command", "command": "sh -c 'cat > seen.json'"}, "user")
    world.fire("notification", "--message", "hi")
    assert json.loads((world.project / "seen.json").read_text())["message"] == "hi"


def test_a_session_named_with_an_event_is_the_journals(world: World) -> None:
    engine = Engine.open(world.project, env=world.env)
    world.hook("kodik", "Stop", "#!/bin/sh\n")
    for number in range(3):
        Engine.open(world.project, env=world.env).fire_sync(Event.stop(), session=f"s-{number}")
    engine.close_sync()
    deadline = time.monotonic() + 120
    while len(world.journal()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert {line["session"] for line in world.journal()} == {"s-0", "s-1", "s-2"}


def test_an_answer_that_is_nearly_json_is_text_and_said_to_be(world: World) -> None:
    world.hook("agenthooks", "before_tool", """echo '{"decision": "deny"'""")
    made = world.fire("before_tool", "--tool", "Shell")
    assert (made["verdict"], made["context"]) == ("none", ['{"decision": "deny"'])
    assert [problem["code"] for problem in made["problems"]] == ["output-ignored"]


LOADING = """
import os, signal, sys

module = sys.argv.pop(1)

class Impatient:
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from anyhook.entry import main

main()
"""


@pytest.mark.parametrize(
    ("module", "words"), [("anyhook.cli.app", ["list"]), ("anyhook.cli.fire", ["fire", "Stop"]), ("click", ["--help"])]
)
def test_interrupted_while_it_loads(world: World, module: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", LOADING, module, *words],
        env=world.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
