"""A call cannot evade the hooks by being unreadable. Valid JSON is read, and hooks run. For anything else, the
configured posture decides, and the user is told."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from anyhook.cli.options import BridgeOptions, parse
from command import run
from conftest import World

REFUSE = "cat > seen; echo 'not here' >&2; exit 2"
LONG = "7" * 5_000


def nested(depth: int) -> str:
    return '{"a": ' * depth + "1" + "}" * depth


INPUTS = {
    "1,000 deep": f'{{"command": "ls", "x": {nested(1_000)}}}',
    "9,000 deep": f'{{"command": "ls", "x": {nested(9_000)}}}',
    "a list 2,000 deep": f'{{"command": "ls", "x": {"[" * 2_000}{"]" * 2_000}}}',
    "5,000 digits": f'{{"command": "ls", "x": {LONG}}}',
    "negative, 5,000 digits": f'{{"command": "ls", "x": -{LONG}}}',
    "1e999": '{"command": "ls", "x": 1e999}',
    "deep and long": f'{{"command": "{"l" * 70_000}", "x": {nested(2_000)}}}',
    "a NUL in a path": '{"command": "ls", "file_path": "~/anyhook/\\u0000x"}',
    "half a character": '{"command": "cat ~/.config/anyhook/\\ud800"}',
}  # fmt: skip


def payload(world: World, given: str, tool: str = "Bash") -> str:
    head = json.dumps({"session_id": "s", "cwd": str(world.project), "tool_name": tool})
    return f'{head[:-1]}, "tool_input": {given}}}'


def bridge(world: World, stdin: bytes, *words: str, agent: str = "claude", event: str = "PreToolUse") -> Any:
    done = run(["bridge", agent, event, *words], env=world.env, cwd=world.project, stdin=stdin)
    assert b"Traceback" not in done.stderr
    said = json.loads(done.stdout) if done.stdout.startswith(b"{") else done.stdout.decode()
    return SimpleNamespace(status=done.returncode, said=said, talk=done.stderr.decode())


def is_refused(answer: Any) -> bool:
    said = answer.said.get("hookSpecificOutput", {}) if isinstance(answer.said, dict) else {}
    return said.get("permissionDecision") == "deny"


@pytest.mark.parametrize("dialect", ["kodik", "kode", "kolega"])
@pytest.mark.parametrize("what", INPUTS)
def test_hooks_are_asked_about_valid_json(world: World, dialect: str, what: str) -> None:
    native = {"kodik": "PreToolUse", "kode": "tool_call_pre", "kolega": "PreToolUse"}[dialect]
    world.hook(dialect, native, REFUSE)
    answer = bridge(world, payload(world, INPUTS[what]).encode())
    assert is_refused(answer), answer
    assert "not here" in answer.said["hookSpecificOutput"]["permissionDecisionReason"]
    (line,) = world.journal()
    assert line["decision"]["verdict"] == "block"


@pytest.mark.parametrize(("what", "text"), [("1,000 deep", nested(1_000)), ("5,000 digits", LONG), ("1e999", "1e999")])
def test_a_hook_gets_what_the_host_gave(world: World, what: str, text: str) -> None:
    world.hook("kodik", "PreToolUse", REFUSE)
    bridge(world, payload(world, INPUTS[what]).encode())
    assert f'"x": {text}' in (world.project / "seen").read_text()


@pytest.mark.parametrize("what", INPUTS)
def test_a_pattern_finds_its_text_beside_it(world: World, what: str) -> None:
    """The matcher searches the input."""
    world.hook("agenthooks", "before_tool", REFUSE, matcher={"pattern": "^l"})
    given = INPUTS[what].replace('"cat ', '"ls; cat ')
    assert is_refused(bridge(world, payload(world, given).encode()))


@pytest.mark.parametrize("what", INPUTS)
def test_fire_takes_it_as_well(world: World, what: str) -> None:
    world.hook("kodik", "PreToolUse", REFUSE)
    done = world.command("fire", "pre_tool", "--tool", "Bash", "--input", "-", "--json", stdin=INPUTS[what])
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["reason"] == "not here"


@pytest.mark.parametrize("what", ["1,000 deep", "5,000 digits"])
def test_a_rewrite_keeps_the_rest(world: World, what: str) -> None:
    world.hook(
        "claude",
        "PreToolUse",
        """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "safe"}}}'""",
    )
    answer = bridge(world, payload(world, INPUTS[what]).encode(), agent="codex")
    assert "safe" in json.dumps(answer.said)


@pytest.mark.parametrize("what", ["1,000 deep", "5,000 digits"])
def test_self_protection_looks_into_it(world: World, what: str) -> None:
    rm = json.dumps(f"rm -rf {world.state}")
    answer = bridge(world, payload(world, INPUTS[what].replace('"ls"', rm)).encode())
    assert is_refused(answer)


@pytest.mark.parametrize("sign", ["\\u0000", "\\ud800"])
def test_a_sign_that_no_path_has_does_not_switch_self_protection_off(world: World, sign: str) -> None:
    given = f'{{"file_path": "{world.state}/trust.json{sign}", "content": ""}}'
    assert is_refused(bridge(world, payload(world, given, "Write").encode()))
    given = f'{{"command": "rm {world.state}/trust.json{sign}"}}'
    assert is_refused(bridge(world, payload(world, given).encode()))


UNREADABLE = {
    "truncated": b'{"tool_name": "Bash", "tool_input": {"comm', "a list": b"[]", "a number": b"7", "nothing": b"",
    "blanks": b" \n", "not UTF-8": b'{"tool_name": "Bash", "tool_input": {"command": "\xff"}}',
    "100,000 deep": b'{"tool_name": "Bash", "tool_input": ' + nested(100_000).encode() + b"}",
    "never closed": b"[" * 100_000, "NaN": b'{"tool_name": "Bash", "tool_input": {"x": NaN}}',
    "UTF-16": '{"tool_name": "Bash"}'.encode("utf-16"),
    "input null": b'{"tool_name": "Bash", "tool_input": null}', "no input": b'{"tool_name": "Write"}',
}  # fmt: skip
TELLS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "vibe": "pre_tool"}
"""Agents that show their user a message before a tool runs."""


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_told(world: World, what: str) -> None:
    answer = bridge(world, UNREADABLE[what])
    assert answer.status == 0
    assert list(answer.said) == ["systemMessage"]
    assert "could not be judged" in answer.said["systemMessage"]
    codes = [problem["code"] for line in world.journal() for problem in line["decision"]["problems"]]
    assert codes == ["bridge-failed"]


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_refused_under_deny(world: World, what: str) -> None:
    world.config('on_failure = "deny"\n')
    assert is_refused(bridge(world, UNREADABLE[what]))
    assert [line["decision"]["verdict"] for line in world.journal()] == ["block"]


@pytest.mark.parametrize("agent", TELLS)
def test_every_agent_that_has_a_channel_tells(world: World, agent: str) -> None:
    answer = bridge(world, b"{", agent=agent, event=TELLS[agent])
    assert "could not be judged" in json.dumps(answer.said)


def test_an_agent_without_messages_tells_its_model(world: World) -> None:
    answer = bridge(world, b"{", agent="cline")
    assert "Tell the user" in answer.said["contextModification"]


def test_a_tool_that_may_have_no_input_is_not_doubted(world: World) -> None:
    answer = bridge(world, b'{"tool_name": "mcp__clock__now", "tool_input": null}', "--on-failure", "deny")
    assert (answer.said, answer.talk) == ("", "")


def test_bytes_that_are_not_text_hide_nothing_from_hooks(world: World) -> None:
    world.hook("kodik", "PreToolUse", "grep -q secret && { echo no >&2; exit 2; }; exit 0")
    answer = bridge(world, b'{"tool_name": "Bash", "session_id": "s", "tool_input": {"command": "secret \xff"}}')
    assert is_refused(answer)


# -- our own errors


def in_process(world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any, stdin: str, *words: str) -> Any:
    from anyhook.cli.bridge import bridge as answer

    monkeypatch.setattr("anyhook.platform.run.expect_hooks", lambda: None)  # this process is not only ours
    parsed = parse(["claude", "PreToolUse", *words], BridgeOptions, 2)
    assert parsed is not None
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    capfd.readouterr()
    status = answer("claude", "PreToolUse", parsed[1])
    said = capfd.readouterr()
    return SimpleNamespace(status=status, said=json.loads(said.out) if said.out else "", talk=said.err)


@pytest.mark.parametrize("error", [RecursionError("deep"), MemoryError(), KeyError("x"), OSError(24, "too many files")])
def test_a_fault_of_ours_is_told_or_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any, error: Exception
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("anyhook.engine.routes.made_catalog", fails)
    stdin = payload(world, '{"command": "ls"}')
    answer = in_process(world, monkeypatch, capfd, stdin)
    assert list(answer.said) == ["systemMessage"]
    assert type(error).__name__ in answer.said["systemMessage"]
    assert is_refused(in_process(world, monkeypatch, capfd, stdin, "--on-failure", "deny"))
    own = payload(world, json.dumps({"command": f"rm -rf {world.state}"}))
    assert is_refused(in_process(world, monkeypatch, capfd, own)), "self-protection needs no catalog"
    world.config("protect = false\n")
    assert not is_refused(in_process(world, monkeypatch, capfd, own))


def test_a_fault_of_self_protection_leaves_the_hooks(world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def fails(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("anyhook.engine.bridge.refusal", fails)
    stdin = payload(world, '{"command": "ls"}')
    assert "self-protection" in in_process(world, monkeypatch, capfd, stdin).said["systemMessage"]
    assert is_refused(in_process(world, monkeypatch, capfd, stdin, "--on-failure", "deny"))
    world.hook("kodik", "PreToolUse", REFUSE)
    assert "not here" in json.dumps(in_process(world, monkeypatch, capfd, stdin).said)


@pytest.mark.parametrize("where", ["call_of", "judge", "call_text", "stdin_of", "match"])
def test_a_fault_with_one_hook_is_no_neighbours(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any, where: str
) -> None:
    import anyhook.engine.present
    import anyhook.engine.walk

    module = anyhook.engine.present if where in ("call_of", "stdin_of") else anyhook.engine.walk
    world.hook("kode", "tool_call_pre", "sleep 100")
    world.hook("kolega", "PreToolUse", REFUSE)
    real, calls = getattr(module, where), []

    def fails(*given: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError("ours")
        return real(*given, **more)

    monkeypatch.setattr(module, where, fails)
    if where == "judge":
        world.hook("kode", "tool_call_pre", "exit 0", name="other")
        (world.home / "config/kode/config.yaml").write_text('{"hooks": {"tool_call_pre": [{"exec": ["true"]}]}}')
    if where == "match":
        world.hook("agenthooks", "before_tool", "exit 0", matcher={"pattern": "ls"})
        (world.home / "config/kode/config.yaml").unlink()
    answer = in_process(world, monkeypatch, capfd, payload(world, '{"command": "ls"}'), "--on-failure", "allow")
    assert is_refused(answer), answer
    assert "not here" in json.dumps(answer.said)


def test_a_decision_that_cannot_be_recorded_counts(world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RecursionError("record")

    world.hook("kodik", "PreToolUse", REFUSE)
    monkeypatch.setattr("anyhook.journal.journal.record", fails)
    assert is_refused(in_process(world, monkeypatch, capfd, payload(world, '{"command": "ls"}')))


@pytest.mark.parametrize(
    "given",
    ['{"toolName": "Bash", "toolArgs": {"command": "ls"}}', '{"tool_name": 7, "tool_input": {"command": "ls"}}',
     '{"tool_name": "", "tool_input": {"command": "ls"}}', '{"agent_action_name": "pre_run_command", "tool_info": {}}'],
)  # fmt: skip
def test_a_call_that_names_no_tool(world: World, given: str) -> None:
    """It may be another agent's call, with unknown field names. No matcher can find its tool."""
    world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", "PreToolUse", {
        "matcher": "Bash", "hooks": [{"type": "command", "command": REFUSE}]})  # fmt: skip
    told = bridge(world, given.encode())
    assert "could not be judged" in told.said["systemMessage"]
    assert not is_refused(told)
    assert is_refused(bridge(world, given.encode(), "--on-failure", "deny"))
