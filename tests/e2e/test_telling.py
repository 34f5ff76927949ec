"""The agent tells its user once about guards that are off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.gates.gate import GateStatus, off_line
from anyhook.state.plans import TELLING
from anyhook.tables.host_rows import CHANNELS, channel_of, opening, speaks_before_calls
from anyhook.tables.registry import HOSTS, drive, host, sample
from each_of import each_of
from satellite import satellite

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.model.words import GateState
    from conftest import World

PASS = "exit 0"


def call(world: World, event: str = "PreToolUse", session: str = "s", tool: str = "Bash", agent: str = "claude") -> str:
    payload = {"session_id": session, "cwd": str(world.project), "source": "startup"}
    if event != "SessionStart":
        payload |= {"tool_name": tool, "tool_input": {"command": "ls"}}  # type: ignore[dict-item]
    done = world.command("bridge", agent, event, stdin=json.dumps(payload))
    assert done.returncode == 0
    return done.stdout + done.stderr


@pytest.fixture
def waiting(world: World) -> World:
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}
    world.declare(world.project / ".codex" / "hooks.json", "PreToolUse", group)
    world.write(world.project / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    return world


def test_once_per_session_at_its_start(waiting: World) -> None:
    for _ in range(2):  # once from the files, once from the plan
        waiting.fire("notification", "--message", "x")
    said = json.loads(call(waiting, "SessionStart"))["systemMessage"]
    assert "OFF" in said
    assert "guard.sh" in said
    assert "not approved" in said
    assert "anyhook trust" in said
    assert call(waiting) == ""
    assert call(waiting) == ""
    assert call(waiting, "SessionStart") == ""


def test_a_guard_that_cannot_be_started_is_not_said_to_refuse(waiting: World) -> None:
    assert waiting.command("trust", "--yes").returncode == 0
    (waiting.project / "guard.sh").chmod(0o644)
    said = json.loads(call(waiting))["systemMessage"]
    assert "is not executable" in said
    assert "refuse" not in said


def test_a_guard_that_seemed_to_be_on_until_it_was_asked(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true && no_such_program", name="late")
    for session in ("a", "b"):
        said = json.loads(call(world, session=session))["systemMessage"]
        assert "1 guard OFF" in said
        assert "could not start a program" in said
        assert call(world, session=session) == ""


def test_one_that_the_system_does_not_start(world: World) -> None:
    """The program is open for writing, so it cannot start. Nothing looks wrong until it is started."""
    world.hook("kolega", "PreToolUse", "exit 0")
    guard = world.write(world.home / "guard", "", 0o755)
    guard.write_bytes(Path("/bin/true").read_bytes())
    [declared] = world.home.rglob("hooks.json")
    declared.write_text(declared.read_text().replace("/bin/sh -c 'exit 0'", str(guard)))
    assert call(world) == ""
    with guard.open("r+b"):
        assert "1 guard OFF: guard: " in json.loads(call(world, session="b"))["systemMessage"]
        world.write(world.home / "config/anyhook/config.toml", 'off = "deny"\n')
        refused = json.loads(call(world, session="c"))["hookSpecificOutput"]
    assert refused["permissionDecision"] == "deny"
    assert "The guard `guard` is OFF" in refused["permissionDecisionReason"]


def test_else_at_the_first_call_that_it_would_have_been_asked_about(waiting: World) -> None:
    assert call(waiting, tool="Read") == ""
    assert "OFF" in json.loads(call(waiting))["systemMessage"]
    assert call(waiting) == ""
    assert "OFF" in json.loads(call(waiting, session="another"))["systemMessage"]


def test_nothing_is_said_where_nothing_is_off_or_nobody_wants_it(waiting: World) -> None:
    waiting.config('off = "pass"\n')
    assert call(waiting, "SessionStart") == ""
    assert call(waiting) == ""
    waiting.config("")
    assert waiting.command("trust", "--yes").returncode == 0
    assert call(waiting, "SessionStart") == ""
    assert call(waiting) == ""


def test_a_hook_that_is_gone_a_file_that_cannot_be_read_and_a_program_that_is_missing(waiting: World) -> None:
    assert waiting.command("trust", "--yes").returncode == 0
    path = waiting.project / ".codex" / "hooks.json"
    kept = path.read_text()
    path.write_text("{}")
    assert "no longer declared" in json.loads(call(waiting, session="1"))["systemMessage"]
    path.write_text("{")
    assert "hooks.json" in json.loads(call(waiting, session="2"))["systemMessage"]
    path.write_text(kept)
    waiting.declare(waiting.home / ".codex" / "hooks.json", "PreToolUse", {"hooks": [
        {"type": "command", "command": "/no/such/program"}]})  # fmt: skip
    assert "/no/such/program" in json.loads(call(waiting, session="3"))["systemMessage"]


@pytest.mark.parametrize("agent", ["copilot", "reasonix", "pi", "hermes"])
@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_guard_that_is_off_is_told_at_the_start_where_no_call_has_a_channel(
    world: World, agent: str, scope: str
) -> None:
    """Seen in real agents: the guard's program was gone or not approved, and calls in these agents cannot carry a
    message for the user. Two of the agents accept one only with the first prompt, not at the start of a session."""
    world.hook("kode", "tool_call_pre", "/no/such/program", scope=scope, name="guard")
    row = next(row for row in host(agent).events if row.canonical == (opening(host(agent)),))
    start = json.dumps({"sessionId": "s", "session_id": "s", "cwd": str(world.project), "text": "hi"})
    done = world.command("bridge", agent, row.native, "--project", str(world.project), stdin=start)
    assert "1 guard OFF" in done.stdout


def test_several_share_one_line(waiting: World) -> None:
    waiting.hook("kodik", "PreToolUse", PASS, scope="project")
    said = json.loads(call(waiting, "SessionStart"))["systemMessage"]
    assert "2 guards OFF" in said
    assert "\n" not in said


def _off(key: str, name: str, state: GateState, why: str) -> GateStatus:
    return GateStatus(key, name, None, "", "user", "", state, "unusable", {"why": why})


def test_guards_that_are_off_for_one_reason_stand_together() -> None:
    some = [_off(f"id{number}", f"g{number:02}.sh", "waiting", "not approved yet; see `anyhook trust`")
            for number in range(40)]  # fmt: skip
    assert off_line(some[:1]) == "anyhook: 1 guard OFF: g00.sh: not approved yet. Run: anyhook trust"
    other = _off("id", "lint", "broken", "it cannot\nstart")
    assert off_line([*some[:2], other, some[2]]) == (
        "anyhook: 4 guards OFF: g00.sh, g01.sh, g02.sh: not approved yet; lint: it cannot start."
        " Run: anyhook trust, anyhook status"
    )
    assert all(guard.name in off_line(some) for guard in some)
    assert off_line(some).count("not approved yet") == 1
    same = [guard.replace(name="sh") for guard in some[:3]]
    assert off_line(same) == "anyhook: 3 guards OFF: sh (3 times): not approved yet. Run: anyhook trust"
    many = [guard.replace(name=f"{guard.name}{'x' * 40}", facts={"why": "y" * 900 + guard.id}) for guard in some]
    assert len(off_line([*many, *(guard.replace(facts={"why": "z"}) for guard in many)])) < 2_000


def test_a_hook_that_the_agent_runs_itself_is_not_called_off(world: World) -> None:
    world.hook("claude", "PreToolUse", PASS, scope="project")
    assert call(world, "SessionStart") == ""
    assert call(world) == ""


@pytest.mark.parametrize("agent", HOSTS)
def test_every_agent_is_told_through_its_channel(world: World, agent: str) -> None:
    guard = "kode" if agent != "kode" else "kodik"  # an agent runs its own hooks itself
    world.hook(guard, sample(guard).event, PASS, scope="project", name="guard")
    it = sample(agent)
    row = host(agent).row(it.calls)
    assert row is not None
    words = ("bridge", agent, it.calls, "--project", str(world.project))
    done = world.command(*words, stdin=json.dumps(it.payload))
    by_stderr = channel_of(host(agent)) in ("stderr", None) or not host(agent).shows_stderr
    wanted = "message" in row.says or "context" in row.says or by_stderr
    assert ("OFF" in done.stdout + done.stderr) == wanted
    assert done.returncode == 0


def test_a_guard_that_goes_off_later_is_told_after_the_call_where_the_call_itself_has_no_channel(
    world: World,
) -> None:
    world.hook("kode", "tool_call_pre", "./guard.sh", scope="project", name="guard")
    guard = world.write(world.project / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    assert world.command("trust", "--yes").returncode == 0

    def said(native: str) -> str:
        payload = {"sessionId": "s", "cwd": str(world.project), "toolName": "bash", "toolArgs": {"command": "ls"}}
        return world.command("bridge", "copilot", native, stdin=json.dumps(payload)).stdout

    assert "OFF" not in said("sessionStart") + said("preToolUse") + said("postToolUse")
    guard.write_text("#!/bin/sh\n#\nexit 0\n")
    assert "OFF" not in said("preToolUse")
    assert "1 guard OFF" in said("postToolUse")
    assert "OFF" not in said("postToolUse"), "once"


@pytest.mark.parametrize("agent", ["claude", "hermes"])
def test_a_program_that_is_gone_since_the_last_session_is_told_where_the_next_one_opens(
    world: World, agent: str
) -> None:
    script = world.write(world.home / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    world.hook("kode", "tool_call_pre", str(script), scope="user", name="guard")
    row = next(row for row in host(agent).events if row.canonical == (opening(host(agent)),))

    def opened(session: str) -> str:
        payload = json.dumps({"session_id": session, "cwd": str(world.project)})
        return world.command("bridge", agent, row.native, stdin=payload).stdout

    assert "OFF" not in opened("1") + opened("2")
    script.unlink()
    assert "1 guard OFF" in opened("3")


def test_what_an_agent_shows_nobody_is_written_to_the_terminal(waiting: World) -> None:
    satellite("live")
    payload = {"session_id": "s", "working_dir": str(waiting.project), "tool_name": "shell", "tool_input": {}}
    waiting.write(waiting.home / "payload", json.dumps(payload))
    hidden = f"{sys.executable} -m anyhook bridge goose PreToolUse <~/payload >~/out 2>~/err"
    words = [sys.executable, "-m", "anyhook.platform.terminal", "sh", "-c", hidden]
    done = subprocess.run(words, env=waiting.env, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert "1 guard OFF" in done.stdout
    assert "1 guard OFF" in (waiting.home / "err").read_text()
    assert (waiting.home / "out").read_text() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing says which terminal a process has")
def test_an_agent_may_start_hooks_without_its_terminal(waiting: World) -> None:
    satellite("live")
    payload = {"session_id": "s", "working_dir": str(waiting.project), "tool_name": "shell", "tool_input": {}}
    asked = [sys.executable, "-m", "anyhook", "bridge", "goose", "PreToolUse"]
    how = f"input={json.dumps(payload).encode()!r}, capture_output=True, start_new_session=True"
    run = f"import subprocess; subprocess.run({asked!r}, {how})"
    words = [sys.executable, "-m", "anyhook.platform.terminal", sys.executable, "-c", run]
    done = subprocess.run(words, env=waiting.env, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stdout.count("1 guard OFF") == 1


def test_an_agent_that_shows_nothing_is_said_to_be_one(waiting: World) -> None:
    for words in (("install", "goose"), ("status", "goose"), ("doctor", "goose")):
        done = waiting.command(*words)
        assert 'set off = "deny"' in " ".join((done.stdout + done.stderr).split()), words
    assert json.loads(waiting.command("status", "goose", "--json").stdout)["agents"]["goose"]["channel"] is None


@each_of("agent", HOSTS)
def test_every_agent_that_can_tell_something_can_tell_it_within_a_session(agent: str) -> None:
    table = host(agent)
    rows = [row for row in table.events if row.installed and TELLING.intersection(row.canonical)]
    later = [row for row in rows if row.canonical != ("session_start",)]
    assert speaks_before_calls(table) or any(row.says.keys() & set(CHANNELS) for row in later)


@each_of("agent", HOSTS)
def test_a_guard_that_goes_off_between_two_prompts_is_told_somewhere(agent: str) -> None:
    """It is reported before a call, after it, or on the terminal. Agents that we never ran have unknown terminals."""
    table = host(agent)
    after = [row for row in table.events if row.installed and "post_tool" in row.canonical]
    told = speaks_before_calls(table) or any(row.says.keys() & set(CHANNELS) for row in after)
    assert told or not table.shows_stderr or drive(agent) is None


@pytest.mark.parametrize("agent", [name for name in HOSTS if channel_of(host(name)) in CHANNELS])
def test_what_was_told_where_the_session_opens_is_not_told_before_a_call(world: World, agent: str) -> None:
    guard = "kode" if agent != "kode" else "kodik"
    world.hook(guard, sample(guard).event, PASS, scope="project", name="guard")
    it, table = sample(agent), host(agent)
    opens = [row.native for row in table.events if row.installed and opening(table) in row.canonical][:1]
    told = ""
    for event in (*opens, it.calls, it.calls):
        words = ("bridge", agent, event, "--project", str(world.project))
        done = world.command(*words, stdin=json.dumps({**it.payload, "session_id": "s", "sessionId": "s"}))
        told += done.stdout + done.stderr
    assert told.count(" OFF: ") == 1


def test_many_guards_with_many_ways_back_are_one_short_line() -> None:
    """All rules of all packs in shadow: the line named a command for each."""
    guards = [
        GateStatus(f"{n}", f"rule {n}", None, "", "user", "", "shadow", "shadow", {"where": "the settings"})
        for n in range(144)
    ]
    assert off_line(guards).endswith(". Run: anyhook status")
    assert len(off_line(guards)) < 600
    assert off_line(guards[:2]).endswith(". Run: anyhook enforce 0, anyhook enforce 1")
