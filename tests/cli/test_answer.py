"""`anyhook get`, `deny`, `ask`, `context`: shell-script hooks with the answers of every dialect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook.cli.verb_answer import CallingHook, calling_hook
from anyhook.engine.interpret import interpret
from anyhook.engine.present import payload
from anyhook.model.call import Run
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.outcome import BLOCK
from anyhook.tables import spoken
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.rows import Scene
from anyhook.tables.translate import to_native
from command import SCRIPT
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.tables.rows import Dialect, EventRow
    from conftest import World

ROWS = [
    pytest.param(name, row.native, id=f"{name}-{row.native}")
    for name in DIALECTS
    for row in dialect(name).events
    if "command" in dialect(name).replies and row.canonical
]


def heard(table: Dialect, row: EventRow, said: spoken.Spoken, status: int) -> Outcome:
    """What the dialect reads from the output."""
    hook = Hook(
        "x:y:z", "z", table.name, "user", "/f", (), "/", "", row.native, row.canonical, None, "command", {}, 9.0
    )
    run = Run("exited", status, said.stdout.encode(), said.stderr.encode(), 0, 0.0)
    return interpret(hook, table.replies["command"], row.canonical[0], run)


def row_of(name: str, native: str) -> tuple[Dialect, EventRow, str]:
    row = dialect(name).row(native)
    assert row is not None
    return dialect(name), row, row.canonical[0]


@each_of(("name", "native"), ROWS)
def test_a_refusal_is_one_in_every_dialect_and_event(name: str, native: str) -> None:
    table, row, canonical = row_of(name, native)
    said = spoken.verdict(table, row, canonical, BLOCK, "because of this")
    if said is None:
        assert row.block in (None, "advisory", "feedback")
        return
    read = heard(table, row, said, said.status)
    assert (read.verdict, read.reason) == (BLOCK, "because of this")
    assert not read.failure
    if said.stdout and row.block:
        read = heard(table, row, said, 0)  # the script continued and exited with 0
        assert read.verdict == BLOCK
        assert "because of this" in (read.reason or "")


@each_of(("name", "native"), ROWS)
def test_context_reaches_the_model_where_a_hook_can_give_any(name: str, native: str) -> None:
    table, row, canonical = row_of(name, native)
    said = spoken.context(table, row, canonical, "mind the gap")
    if said is not None:
        assert heard(table, row, said, said.status).context == ("mind the gap",)


def test_context_can_be_given_in_the_larger_dialects() -> None:
    able = {
        name
        for name in DIALECTS
        for row in dialect(name).events
        if row.canonical and spoken.context(dialect(name), row, row.canonical[0], "x")
    }
    assert {"claude", "codex", "gemini", "copilot", "cline", "kodik"} <= able


@each_of("name", [name for name in DIALECTS if "command" in dialect(name).replies])
def test_the_fields_of_a_call_have_one_name_in_every_dialect(name: str) -> None:
    table = dialect(name)
    row = table.row_for("pre_tool")
    assert row is not None
    data: dict[str, Json] = {"tool": "shell", "input": {"command": "ls -l"}, "session": "s1"}
    event = to_native(Event("pre_tool", data, hosted=True), table)
    made = payload(table, row, Scene(event, row.native, "/p", "s1", {}, {}))
    found = CallingHook(table, row, made).canonical_fields()
    given = found["input"]
    assert isinstance(given, dict)
    assert given.get("command") == "ls -l"


@pytest.mark.parametrize("name", ["kode", "kolega", "kodelet"])
def test_where_no_variable_is_allowed_the_payload_tells_who_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = dialect(name)
    row = table.row_for("pre_tool")
    assert row is not None
    event = to_native(Event("pre_tool", {"tool": "shell", "input": {"command": "ls"}}, hosted=True), table)
    made = payload(table, row, Scene(event, row.native, "/p", "s1", {}, {}))
    monkeypatch.setattr("anyhook.cli.verb_answer._stdin", lambda _env: made)
    found = calling_hook({})
    assert found is not None
    assert (found.dialect.name, found.canonical) == (name, "pre_tool")


SHELL_HOOK = """\
tool=$({anyhook} get tool)
command=$({anyhook} get command)
case $command in
  *--force*) {anyhook} deny "$tool: no force: $command"; exit ;;
  *nobody*) {anyhook} ask "sure?"; exit ;;
esac
{anyhook} context "seen: $(cat)"
"""


@pytest.mark.parametrize(
    ("name", "limit"), [("claude", {"timeout": 60}), ("kode", {"timeout_ms": 60_000}), ("copilot", {"timeoutSec": 60})]
)
def test_a_shell_hook_reads_and_answers_with_them(name: str, limit: dict[str, Json], world: World) -> None:
    """It starts the command three times, which may take long on a busy machine."""
    row = dialect(name).row_for("pre_tool")
    assert row is not None
    world.hook(name, row.native, SHELL_HOOK.replace("{anyhook}", SCRIPT), "user", "it", **limit)
    given = json.dumps({"command": "git push --force"})
    assert world.fire("pre_tool", "--tool", "Bash", "--input", given)["reason"] == "Bash: no force: git push --force"


def test_what_get_has_read_can_be_read_again(world: World) -> None:
    world.hook("claude", "PreToolUse", SHELL_HOOK.replace("{anyhook}", SCRIPT))
    seen = world.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert seen["verdict"] == "none"
    assert '"tool_name":"Bash"' in seen["context"][0]


@pytest.mark.parametrize(("words", "status"), [(["get", "command"], 3), (["context", "x"], 3), (["deny", "no"], 2)])
def test_outside_of_a_hook_they_say_so(words: list[str], status: int, world: World) -> None:
    done = world.command(*words)
    assert done.returncode == status
    assert "no hook that anyhook knows called this" in done.stderr
    assert not done.stdout


def test_a_hook_that_an_agent_runs_itself_is_known_by_its_payload(world: World) -> None:
    given = {
        "session_id": "s", "transcript_path": "", "cwd": "/p", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "1",
    }  # fmt: skip
    done = world.command("deny", "not now", stdin=json.dumps(given))
    assert done.returncode == 2
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    done = world.command("get", "command", "runs", "session", stdin=json.dumps(given))
    assert done.stdout == 'ls\n["ls"]\ns\n'
    assert world.command("get", "prompt", stdin=json.dumps(given)).returncode == 1
    assert "Did you mean `command`" in world.command("get", "comand", stdin=json.dumps(given)).stderr
