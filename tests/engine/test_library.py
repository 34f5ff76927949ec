"""The library as programs use it: Python hooks, the journal, the switches of `open`, the user's config."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import anyhook
import anyhook.hooks
from anyhook import Decision, Engine, Event
from conftest import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from anyhook.model.json_types import Json

SHELL = Event.pre_tool("Bash", {"command": "ls"})


# -- Python hooks


@pytest.fixture(autouse=True)
def own_modules() -> Iterator[None]:
    """Remove modules and paths that hooks of other tests added to this process, and those of this test afterwards."""
    path = list(sys.path)
    sys.path[:] = [folder for folder in path if not folder.startswith(tempfile.gettempdir())]
    forget_hooks()
    yield
    sys.path[:] = path
    forget_hooks()


def forget_hooks() -> None:
    for name in [name for name in sys.modules if name.startswith(("its_", "kolega_code"))]:
        del sys.modules[name]


def python_hook(world: World, body: str, native: str = "PreToolUse", **more: Json) -> None:
    world.module("its_hook", f"import asyncio, os, sys, time\nfrom kolega_code.hooks import HookOutcome\n{body}\n")
    world.kolega(native, {"type": "python", "callable": "its_hook:hook", **more}, "project")


def fire_python(world: World, body: str, event: Event = SHELL, **more: Json) -> Decision:
    python_hook(world, body, "PreToolUse", **more)
    return world.engine(trust="all").fire_sync(event)


def test_texts_equal_the_lists_that_they_are_in_json(world: World) -> None:
    world.hook("agenthooks", "before_tool", "echo a")
    decision = world.engine().fire_sync(SHELL)
    assert decision.context == ["a"]
    assert decision.context == ["a"]
    assert decision.context == ("a",)
    assert decision.context != ["b"]
    assert decision.context != "a"
    assert not decision.context != ["a"]  # noqa: SIM202 (tests both operators)
    quiet = world.engine().fire_sync(Event.stop())
    assert all(texts == [] for texts in (quiet.context, quiet.messages, quiet.follow_ups))


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_an_outcome_counts(world: World, keyword: str) -> None:
    body = f"{keyword} hook(event):\n    return HookOutcome.deny('no ' + event.payload['tool_name'])"
    decision = fire_python(world, body)
    assert (decision.verdict, decision.reason) == ("block", "no Bash")
    assert [(report.status, report.ending, report.exit_code) for report in decision.hooks] == [("ran", "exited", 0)]


def test_a_dict_counts(world: World) -> None:
    body = "def hook(event):\n    return {'updated_input': {**event.payload['tool_input'], 'by': event.name.value}}"
    decision = fire_python(world, body)
    assert decision.tool_input == {"command": "ls", "by": "PreToolUse"}
    assert decision.verdict == "none"


TRUE = ("True", "1", "-1", "0.5", "'no'", "'False'", "[0]", "{'x': 0}", "{1, 2}", "object()")
FALSE = ("False", "None", "0", "0.0", "''", "[]", "{}", "set()")


@pytest.mark.parametrize("made", ["{{'blocked': {0}, 'reason': 5}}", "HookOutcome(blocked={0}, reason=5)"])
def test_what_python_calls_true_blocks(world: World, made: str) -> None:
    """G-41: the product asks Python, whatever the value is."""
    cases = ", ".join(f"({value!r}, {value})" for value in (*TRUE, *FALSE))
    answers = made.format("dict([" + cases + "])[event.payload['tool_input']['command']]")
    python_hook(world, f"def hook(event):\n    return {answers}")
    engine = world.engine(trust="all")
    for value in (*TRUE, *FALSE):
        decision = engine.fire_sync(Event.pre_tool("Bash", {"command": value}))
        expected = ("block", "5") if value in TRUE else ("none", None)
        assert (decision.verdict, decision.reason) == expected, value


def test_a_value_that_json_cannot_hold_takes_no_refusal_with_it(world: World) -> None:
    decision = fire_python(world, "def hook(event):\n    return {'blocked': True, 'note': object(), 'reason': 'no'}")
    assert (decision.verdict, decision.reason) == ("block", "no")


@pytest.mark.parametrize("result", ["None", "{}", "HookOutcome.empty()", "HookOutcome()"])
def test_no_opinion(world: World, result: str) -> None:
    decision = fire_python(world, f"def hook(event):\n    return {result}")
    assert (decision.verdict, decision.tool_input, decision.problems) == ("none", None, ())


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("return 42", "not int"),
        ("return ['deny']", "not list"),
        ("raise RuntimeError('oh no')", "RuntimeError: oh no"),
        ("sys.exit(2)", "SystemExit: 2"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise TimeoutError('its own')", "TimeoutError: its own"),
    ],
)
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_broken_callable_is_its_own_failure(world: World, keyword: str, statement: str, says: str) -> None:
    python_hook(world, f"{keyword} hook(event):\n    {statement}")
    world.hook("kolega", "PreToolUse", 'echo \'{"systemMessage": "beside it"}\'')
    engine = world.engine(trust="all")
    decision = engine.fire_sync(SHELL)
    assert (decision.verdict, decision.messages) == ("none", ("beside it",))
    assert [says in problem.what for problem in decision.problems] == [True]
    assert {report.ending for report in decision.hooks} == {"exited"}
    assert engine.fire_sync(SHELL, on_failure="deny").verdict == "block"


@pytest.mark.parametrize(
    "body", ["def hook(event):\n    time.sleep(3)", "async def hook(event):\n    await asyncio.sleep(300)"]
)
def test_the_time_limit_holds(world: World, body: str) -> None:
    decision = fire_python(world, body, timeout=0.1)
    assert [report.ending for report in decision.hooks] == ["timed_out"]
    assert (decision.verdict, [problem.code for problem in decision.problems]) == ("none", ["hook-timed-out"])


def test_a_late_answer_does_not_count(world: World) -> None:
    decided, late = world.root / "decided", world.root / "late"
    body = f"""def hook(event):
    while not os.path.exists({str(decided)!r}):
        time.sleep(0.005)
    open({str(late)!r}, "w").close()
    return HookOutcome.deny("late")"""
    python_hook(world, body, timeout=0.05)
    engine = world.engine(trust="all")
    first = engine.fire_sync(SHELL)
    decided.touch()
    while not late.exists():
        time.sleep(0.005)
    assert (first.verdict, first.hooks[0].ending) == ("none", "timed_out")


def test_concurrent_callables_share_no_state(world: World) -> None:
    answer = "{'updated_input': event.payload['tool_input']}"
    python_hook(world, f"async def hook(event):\n    await asyncio.sleep(0.01)\n    return {answer}")
    engine = world.engine(trust="all")

    async def all_of_them() -> list[Decision]:
        return await asyncio.gather(*(engine.fire(Event.pre_tool("Bash", {"n": number})) for number in range(40)))

    assert [decision.tool_input for decision in asyncio.run(all_of_them())] == [{"n": number} for number in range(40)]


def test_what_a_callable_gets(world: World) -> None:
    body = (
        "def hook(event):\n    from kolega_code.hooks import HookEvent, LifecycleEvent\n"
        "    assert isinstance(event, LifecycleEvent) and event.name is HookEvent.PRE_TOOL_USE\n"
        "    return {'updated_input': {'payload': event.payload, 'session': event.session_id, 'cwd': event.cwd,\n"
        "            'mode': event.permission_mode}}"
    )
    event = Event.pre_tool("Bash", {"a": 1}, call_id="c-1", session="s-1", permission_mode="auto")
    decision = fire_python(world, body, event)
    payload = {"tool_name": "Bash", "tool_input": {"a": 1}, "tool_use_id": "c-1"}
    cwd = str(world.project.resolve())
    assert decision.tool_input == {"payload": payload, "session": "s-1", "cwd": cwd, "mode": "auto"}


def test_an_installed_package_is_used_as_it_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = world.root / "site"
    world.write(real / "kolega_code" / "__init__.py", "")
    world.write(
        real / "kolega_code" / "hooks.py",
        "class HookOutcome:\n"
        "    reason = 'the real one'\n    blocked = True\n"
        "    updated_input = updated_output = additional_context = None\n    end_turn = False\n"
        "class LifecycleEvent:\n    def __init__(self, **given):\n        self.__dict__.update(given)\n",
    )
    monkeypatch.syspath_prepend(str(real))
    decision = fire_python(world, "def hook(event):\n    assert event.name == 'PreToolUse'\n    return HookOutcome()")
    assert (decision.verdict, decision.reason) == ("block", "the real one")


def test_another_projects_module_is_refused(tmp_path: Path) -> None:
    first, second, third = (World(tmp_path / name) for name in ("first", "second", "third"))
    for world in (first, second):
        python_hook(world, f"def hook(event):\n    return {{'updated_input': {{'from': {world.root.name!r}}}}}")
    third.kolega("PreToolUse", {"type": "python", "callable": "its_hook:hook"}, "project")
    assert first.engine(trust="all").fire_sync(SHELL).tool_input == {"from": "first"}
    for world in (second, third):
        decision = world.engine(trust="all").fire_sync(SHELL)
        assert decision.tool_input is None
        assert ["another project's" in problem.what for problem in decision.problems] == [True]
    assert first.engine(trust="all").fire_sync(SHELL).tool_input == {"from": "first"}


def test_a_projects_module_does_not_stand_in_for_the_users(world: World) -> None:
    """A user's hook names a module of the user. A project's module of the same name must not replace it."""
    python_hook(world, "def hook(event):\n    return None")
    world.module("its_users", "def hook(event):\n    return {'blocked': True, 'reason': 'the project speaks'}\n")
    world.kolega("PreToolUse", {"type": "python", "callable": "its_users:hook"}, "user")
    engine = world.engine(trust="all")
    engine.fire_sync(SHELL)
    assert engine.fire_sync(SHELL).verdict == "none"


def test_nothing_of_an_untrusted_project_is_imported(world: World) -> None:
    python_hook(world, "open('/nonexistent/imported')\ndef hook(event):\n    return None")
    decision = world.engine().fire_sync(SHELL)
    assert [report.status for report in decision.hooks] == ["untrusted"]
    assert str(world.project.resolve()) not in sys.path
    assert "its_hook" not in sys.modules


def test_an_approved_project_is_importable(world: World) -> None:
    world.module("its_friend", "WORD = 'from a friend'\n")
    python_hook(world, "import its_friend\ndef hook(event):\n    return HookOutcome.deny(its_friend.WORD)")
    world.approve()
    assert world.engine().fire_sync(SHELL).reason == "from a friend"


@pytest.mark.parametrize("body", [
    "def hook(event):\n    return say(engine.fire_sync(again()))",
    "async def hook(event):\n    return say(await engine.fire(again()))",
])  # fmt: skip
def test_a_python_hook_that_fires_reaches_no_hook(world: World, body: str) -> None:
    python_hook(
        world,
        "from anyhook import Event\nengine = None\n"
        "def again():\n    return Event.pre_tool('Bash', {})\n"
        "def say(decision):\n"
        "    said = [problem.code for problem in decision.problems]\n"
        f"    return {{'updated_input': {{'verdict': decision.verdict, 'said': said}}}}\n{body}",
    )
    engine = world.engine(trust="all")
    engine.fire_sync(SHELL)  # imports it; the hook fails because it has no engine yet
    sys.modules["its_hook"].engine = engine  # type: ignore[attr-defined]
    assert engine.fire_sync(SHELL).tool_input == {"verdict": "none", "said": ["nested-event"]}
    assert asyncio.run(engine.fire(SHELL)).tool_input == {"verdict": "none", "said": ["nested-event"]}


# -- the journal


def told(world: World) -> int:
    """The number of events in the journal. One line counts many events in a row that reached no hook."""
    return sum(int(str(line.get("events", 1))) for line in world.journal())


def test_every_event_has_one_line(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo talk >&2; exit 2")
    engine = world.engine(session="s-9")
    for number in range(5):
        engine.fire_sync(Event.stop(turns=number))
    engine.fire_sync(SHELL)
    engine.close_sync()
    lines = world.journal()
    assert sorted(str(line["event"]) for line in lines) == ["pre_tool", *["stop"] * 5]
    assert {line["session"] for line in lines} == {"s-9"}
    fired = next(line for line in lines if line["event"] == "pre_tool")
    assert fired["decision"]["verdict"] == "block"
    assert fired["calls"][0]["run"]["stderr"] == "talk\n"


def test_quiet_events_reach_the_journal_by_themselves(world: World) -> None:
    engine = world.engine()
    for number in (1, 2, 3):
        engine.fire_sync(Event.stop())
        deadline = time.monotonic() + 120
        while len(world.journal()) < number:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    engine.close_sync()
    assert len(world.journal()) == 3


FIRE_MANY = """
import sys
from anyhook import Engine, Event
engine = Engine.open(sys.argv[1])
for number in range(int(sys.argv[3])):
    engine.fire_sync(Event.stop(last_message="x" * 3000, turns=number))
    if number % 25 == 0:
        engine.fire_sync(Event.pre_tool("Bash", {"n": number, "by": sys.argv[2]}))
"""


def test_quiet_events_reach_the_journal_when_the_program_ends(world: World) -> None:
    subprocess.run(
        [sys.executable, "-c", FIRE_MANY, str(world.project), "one", "3"], env=world.env, check=True, timeout=60
    )
    assert len(world.journal()) == 4


def test_no_line_is_torn_or_lost_between_processes(world: World) -> None:
    world.hook("kodik", "PreToolUse", 'echo \'{"additional_context": "c"}\'')
    started = [
        subprocess.Popen(
            [sys.executable, "-c", FIRE_MANY, str(world.project), str(number), "100"],
            env=world.env,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    assert [(process.communicate(timeout=240)[1], process.returncode) for process in started] == [(b"", 0)] * 8
    assert told(world) == 8 * 104
    hooked = [line["data"]["input"] for line in world.journal() if line["event"] == "pre_tool"]
    assert sorted((each["by"], each["n"]) for each in hooked) == sorted(
        (str(by), n) for by in range(8) for n in (0, 25, 50, 75)
    )


def test_no_line_is_lost_between_threads(world: World) -> None:
    engine = world.engine()
    gate = threading.Barrier(8)

    def fire() -> None:
        gate.wait()
        for _ in range(400):
            engine.fire_sync(Event.stop())

    threads = [threading.Thread(target=fire) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close_sync()
    assert told(world) == 3200


def test_an_event_that_is_no_json_loses_no_neighbours(world: World) -> None:
    engine = world.engine()
    for value in ("before", {1, 2}, "after"):
        engine.fire_sync(Event.stop(last_message=value))  # type: ignore[arg-type]
    engine.close_sync()
    assert [line["data"] for line in world.journal()] == [{"last_message": "before"}, {}, {"last_message": "after"}]


CANARIES = ["canary-0123456789", 'can"ary\\with "quotes" and \\n', "canary\nof two lines", "känärie-äöü-123"]


@pytest.mark.parametrize("canary", CANARIES)
def test_no_secret_of_the_environment_is_written_down(world: World, canary: str) -> None:
    world.env["SERVICE_API_TOKEN"] = canary
    shown = 'printf %s "$SERVICE_API_TOKEN"'
    script = 'import os, json; print(json.dumps(dict(reason=os.environ["SERVICE_API_TOKEN"])))'
    dumped = f"'{sys.executable}' -c '{script}'"
    world.hook("kodik", "PreToolUse", f"{shown}; {shown} >&2; exit 2")
    world.hook("kodik", "PermissionRequest", dumped)
    world.hook("agenthooks", "after_tool", f"{shown}; {shown} >&2", async_=True)
    world.hook("agenthooks", "session_end", shown, name="end")
    engine = world.engine()
    decision = engine.fire_sync(SHELL)
    assert canary.strip() in str(decision.reason), "the hook did print it"
    assert engine.fire_sync(Event.permission_request("Bash", {})).hooks[0].exit_code == 0
    engine.fire_sync(Event.session_end("exit"))
    engine.fire_sync(Event.post_tool("Bash", {"note": canary}, canary))
    engine.fire_sync(Event.stop(last_message=f"the token is {canary}"))
    engine.close_sync(30)
    written = (world.state / "journal.jsonl").read_text()
    assert len(world.journal()) == 6
    assert "[SERVICE_API_TOKEN]" in written
    once = json.dumps(canary)[1:-1]
    for spelled in (canary, once, json.dumps(once)[1:-1]):
        assert spelled not in written


def test_an_unwritable_journal_fails_no_event_and_is_said_once(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2")
    world.write(world.state, "a file where the folder should be")
    engine = world.engine()
    decisions = [engine.fire_sync(SHELL) for _ in range(3)]
    decisions += [engine.fire_sync(Event.stop()) for _ in range(2)]
    engine.close_sync()
    assert [decision.verdict for decision in decisions] == ["block", "block", "block", "none", "none"]
    said = [[problem.code for problem in decision.problems] for decision in decisions]
    assert said == [["journal-failed"], [], [], [], []]


def test_an_unwritable_journal_is_said_on_quiet_events_too(world: World) -> None:
    world.write(world.state, "a file where the folder should be")
    engine = world.engine()
    engine.fire_sync(Event.stop())
    engine.flush()
    said = [[problem.code for problem in engine.fire_sync(Event.stop()).problems] for _ in range(3)]
    assert said == [["journal-failed"], [], []]


@pytest.mark.parametrize("hooked", [True, False])
def test_the_command_says_that_the_journal_is_unwritable(world: World, hooked: bool) -> None:
    if hooked:
        world.hook("kodik", "Stop", "true")
    world.write(world.state, "a file where the folder should be")
    problems = world.fire("stop")["problems"]
    assert [problem["code"] for problem in problems] == ["journal-failed"]


# -- the contract's decision object


def comparable(made: dict[str, Any]) -> dict[str, Any]:
    for report in made["hooks"]:
        report.pop("duration_ms")
    return made


@pytest.mark.parametrize("options", [[], ["--mode", "shadow"], ["--on-failure", "deny"], ["--dialect", "kodelet"]])
def test_as_dict_is_what_the_command_prints(world: World, options: list[str]) -> None:
    world.hook("kode", "tool_call_pre", 'echo \'{"annotation": "seen", "strange": 1}\'')
    world.hook("kodik", "PreToolUse", "printf '\\377\\000 garbage'; echo '{\"additional_context\": \"é\"}'")
    world.hook("kolega", "PreToolUse", "exit 9")
    world.hook("kodelet", "before_tool_call", 'echo \'{"blocked": true, "input": {"a": 1}}\'')
    given = dict(zip(options[::2], options[1::2], strict=True))
    engine = world.engine(
        mode=given.get("--mode", "enforce"),
        on_failure=given.get("--on-failure"),
        dialects=[given["--dialect"]] if "--dialect" in given else [],
        session="s-1",
    )
    decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}, session="s-1"))
    words = ["--tool", "Bash", "--input", '{"command": "ls"}', "--session", "s-1", *options]
    printed = world.fire("pre_tool", *words)
    assert comparable(json.loads(json.dumps(decision.as_dict()))) == comparable(printed)
    assert list(decision.as_dict()) == [
        "event", "verdict", "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "context", "messages",
        "follow_ups", "history", "recipe", "end_turn", "enforced", "hooks", "problems",
    ]  # fmt: skip


# -- switches


def test_on_failure_by_engine_and_by_call(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 7")
    world.hook("kode", "tool_call_post", "exit 7")
    assert world.engine().fire_sync(SHELL).verdict == "none"
    assert world.engine(on_failure="deny").fire_sync(SHELL).verdict == "block"
    assert world.engine(on_failure="deny").fire_sync(SHELL, on_failure="native").verdict == "none"
    assert world.engine().fire_sync(SHELL, on_failure="deny").effect == "deny_tool"


def test_shadow_by_engine_and_by_call(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    for decision in (world.engine(mode="shadow").fire_sync(SHELL), world.engine().fire_sync(SHELL, mode="shadow")):
        assert (decision.verdict, decision.reason, decision.enforced, decision.stops) == ("block", "no", False, False)
    assert world.engine(mode="shadow").fire_sync(SHELL, mode="enforce").stops
    quiet = [world.engine(mode="shadow").fire_sync(Event.stop()), world.engine().fire_sync(Event.stop(), mode="shadow")]
    assert [decision.enforced for decision in quiet] == [False, False]


@pytest.mark.parametrize(
    ("trust", "statuses"),
    [
        ("ask", ["untrusted", "untrusted"]),
        ("all", ["ran", "ran"]),
        ("native", ["untrusted", "ran"]),
        ("none", ["untrusted", "untrusted"]),
    ],
)
def test_trust(world: World, trust: str, statuses: list[str]) -> None:
    world.hook("kodik", "PreToolUse", "true", "project")
    world.hook("agenthooks", "before_tool", "true", "project")
    decision = world.engine(trust=trust).fire_sync(SHELL)
    assert [report.status for report in decision.hooks] == statuses
    if trust == "ask":
        assert [problem.code for problem in decision.problems] == ["waiting-for-trust"]
        world.approve()
        assert [report.status for report in world.engine().fire_sync(SHELL).hooks] == ["ran", "ran"]


def test_dialects_limit_the_catalog(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    world.hook("kode", "tool_call_pre", "true")
    decision = world.engine(dialects=["kode"]).fire_sync(SHELL)
    assert [report.dialect for report in decision.hooks] == ["kode"]


# -- config.toml


def only_hook(engine: Engine) -> str:
    (found,) = [hook.id for hook in engine.catalog.hooks if hook.scope != "builtin"]
    return found


def test_config_posture_of_one_hook(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 7")
    world.config(f'[hooks."{only_hook(world.engine())}"]\non_failure = "deny"\n')
    engine = world.engine()
    assert engine.fire_sync(SHELL).verdict == "block"
    assert engine.fire_sync(SHELL, on_failure="allow").verdict == "none", "the call's word is the last"


def test_config_posture_of_all(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 7")
    world.config('on_failure = "deny"\n')
    assert world.engine().fire_sync(SHELL).verdict == "block"
    assert world.engine(on_failure="native").fire_sync(SHELL).verdict == "none"


def test_config_chaining_upstream(world: World) -> None:
    world.hook("kodelet", "before_tool_call", 'echo \'{"input": {"a": 1}}\'', name="a")
    world.hook("kodelet", "before_tool_call", f"cat > '{world.root}/seen'; echo '{{\"blocked\": false}}'", name="b")
    assert world.engine().fire_sync(SHELL).tool_input == {"a": 1}
    assert json.loads((world.root / "seen").read_text())["tool_input"] == {"a": 1}
    world.config('[dialect.kodelet]\nchaining = "upstream"\n')
    assert world.engine().fire_sync(SHELL).tool_input is None
    assert json.loads((world.root / "seen").read_text())["tool_input"] == {"command": "ls"}


def test_config_cwd_of_a_hooks_folder(world: World) -> None:
    world.hook("agenthooks", "before_tool", "pwd")
    assert world.engine().fire_sync(SHELL).context == (str(world.project.resolve()),)
    world.config('[dialect.agenthooks]\ncwd = "hook"\n')
    (found,) = world.engine().fire_sync(SHELL).context
    assert found.endswith("/agents/hooks/it")


def test_config_missing_binary(world: World) -> None:
    kode = world.home / "config" / "kode" / "config.yaml"
    world.write(kode, json.dumps({"hooks": {"tool_call_pre": [{"exec": "/nonexistent/guard"}]}}))
    assert world.engine().fire_sync(SHELL).effect == "deny_tool"
    world.config('[dialect.kode]\nmissing_binary = "pass"\n')
    decision = world.engine().fire_sync(SHELL)
    assert (decision.verdict, [problem.code for problem in decision.problems]) == ("none", ["KODE-HOOK-004"])


def test_config_plugins(world: World) -> None:
    plugin = world.home / "a-plugin"
    handler = {"type": "command", "command": 'echo "{\\"additional_context\\": \\"$KODIK_PLUGIN_ID\\"}"'}
    world.write(plugin / "hooks" / "hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    assert world.engine().fire_sync(Event.stop()).context == ()
    assert world.engine(plugin_dirs=[str(plugin)]).fire_sync(Event.stop()).context == ("a-plugin",)
    world.config('plugins = ["~/a-plugin"]\n')
    decision = world.engine().fire_sync(Event.stop())
    assert decision.context == ("a-plugin",)
    assert [report.scope for report in decision.hooks] == ["plugin"]


@pytest.mark.parametrize(
    "text",
    [
        "on_failure = 3", 'strange = "x"', '[dialect.nobody]\na = "b"', '[dialect.kode]\nchaining = "on"',
        "plugins = 1", "= =",
    ],
)  # fmt: skip
def test_a_setting_that_is_none_is_said(world: World, text: str) -> None:
    world.config(text)
    decision = world.engine().fire_sync(Event.stop())
    assert len(decision.problems) == 1
    assert "config.toml" in decision.problems[0].where


@pytest.mark.parametrize("module", [anyhook, anyhook.hooks])
def test_a_module_shows_its_public_names_only(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
