"""`anyhook agent chat` in a pseudo-terminal: what the user sees, types and interrupts, and how a session ends."""

from __future__ import annotations

import json
import os
import signal
import sys

import pexpect
import pytest
from agent_box import LS, kodik, record, recorded, script, traces
from chat_box import READY, Terminal, chat
from test_agent_command import left_behind
from test_agent_wire import to
from wire_server import ANSWER, provider

from conftest import World


def test_a_conversation(world: World) -> None:
    """The chat shows text, tools and hooks live, and asks for permission. The session_end hook runs (K-6, K-26)."""
    world.hook("kode", "session_end", record("end"))
    world.hook("agenthooks", "before_agent", "while ! test -e ../go; do sleep 0.1; done", name="slow")
    world.hook("kodik", "SessionStart", """echo '{"additional_context": "It is Monday."}'""")
    kodik(world, "PreToolUse", "grep -q force && { echo Not for agents. >&2; exit 2; } || exit 0", "Bash")
    terminal = chat(
        world,
        {"expect": "It is Monday.", "text": "I look.\nI push.", "tools": [{"shell": {"command": "push --force"}}]},
        {"expect": "Not for agents.", "text": "Denied.", "tools": [LS]},
        {"tools": [LS]},
        {"expect": "the user said no", "text": "Well then."},
        {"tools": [LS, LS]},
        "Twice.",
        {"tools": [LS]},
        "Thrice.",
    )
    terminal.sees("added context (session_start)")
    terminal.types("Push it.")
    terminal.sees("waiting for a hook of turn_start …")
    (world.root / "go").touch()
    terminal.sees("I push.")
    terminal.sees("● shell  push --force")
    terminal.answers("Allow it? [y]es, [a]lways in this session, [N]o:", "y")
    terminal.sees("denied the tool (pre_tool): Not for agents.")
    terminal.sees("Denied.")
    terminal.answers("Allow it?", "y")
    terminal.answers("Allow it?", "")  # Enter means no
    terminal.sees("Well then.")
    assert traces(world) == 1
    terminal.types("Again, and again.")
    terminal.answers("Allow it?", "a")
    assert "needs permission" not in terminal.sees("Twice.")
    terminal.types("Once more.")
    assert "needs permission" not in terminal.sees("Thrice.")
    assert traces(world) == 4
    terminal.types("/exit")
    status, said = terminal.ends()
    assert (status, "--resume session-" in said) == (0, True)
    assert [it["reason"] for it in recorded(world, "end")] == ["user_exit"]


def test_commands(world: World) -> None:
    world.hook("kodik", "PreCompact", "test -e ../open || { echo Not now. >&2; exit 2; }")
    world.write(world.project / ".anyhook/recipes/greet.md", "Greet {{ who }}.")
    terminal = chat(
        world,
        {"expect": "Hello.", "text": "Good day."},
        {"by": "recipe", "expect": "Good day.", "text": "They greeted."},
        {"expect": ["They greeted.", "/etc/hosts is broken"], "text": "I see."},
        {"expect": "Greet me.\n\nKindly, please.", "text": "Greetings."},
        words=("--dialect", "kodik"),
    )
    terminal.types("/hook")
    terminal.sees("There is no command /hook. Did you mean `/hooks`?")
    terminal.types("/hooks")
    terminal.sees("armed     kodik:user:PreCompact")
    terminal.sees("~/Documents/Kodik/Hooks/hooks.json:1")
    terminal.types("/compact")
    terminal.sees("Not compacted: there is nothing to compact.")
    terminal.types("/resume")
    terminal.sees("There is no other session of this project.")
    terminal.types("Hello.")
    terminal.sees("Good day.")
    terminal.types("/compact")
    terminal.sees("skipped it (pre_compact): Not now.")
    terminal.sees("Not compacted")
    (world.root / "open").touch()
    terminal.types("/compact")
    terminal.sees("Compacted: 2 messages have become a summary of 13 characters.")
    terminal.types("/help")
    terminal.sees("/greet [K=V]… [TEXT]")
    terminal.types("/greet")
    terminal.sees("needs --arg who=…")
    terminal.types("/etc/hosts is broken")  # a path, not a command
    terminal.sees("I see.")
    terminal.types("/greet who=me Kindly, please.")
    terminal.sees("Greetings.")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


@pytest.mark.slow
def test_a_sign_of_life(world: World) -> None:
    """The chat shows what it is waiting for, with the elapsed seconds, and removes it afterwards."""
    terminal = chat(
        world,
        {"text": "One.\nTwo.", "pause_s": 4, "tools": [{"shell": {"command": "sleep 4"}}]},
        "Three.",
        words=("--permission", "auto"),
    )
    terminal.types("Count.")
    terminal.sees("One.")
    terminal.sees("waiting for the model …  2 s")
    terminal.sees("Two.")
    terminal.sees("● shell  sleep 4")
    terminal.sees("waiting for shell …  2 s")
    terminal.sees("Three.")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


@pytest.mark.slow
def test_a_sign_of_life_of_a_single_run(world: World) -> None:
    """Shown only on a terminal, and not with --json."""
    steps = [{"tools": [{"shell": {"command": "sleep 4"}}]}, "Done."]
    words = ["-m", "anyhook", "agent", "run", "Go.", "--permission", "auto", "--model", script(world, *steps)]
    for more, seen in (([], True), (["--json"], False)):
        child = pexpect.spawn(
            sys.executable, [*words, *more], cwd=str(world.project), env={**world.env, "TERM": "xterm"}, timeout=60
        )
        child.expect(pexpect.EOF)
        assert (b"waiting for shell" in (child.before or b"")) is seen
        child.close()
        assert child.exitstatus == 0
    piped = world.command(*words[2:])
    assert (piped.stdout, piped.stderr) == ("Done.\n", "shell(command=sleep 4)\n")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_stops_the_turn_only(world: World) -> None:
    """Ctrl-C during an answer, a tool call and a question stops the turn. The session continues."""
    mark = f"{world.root.name}-{os.getpid()}"
    world.hook("kode", "session_end", record("end"))
    terminal = chat(
        world,
        {"text": "first\nsecond", "pause_s": 300},
        {"tools": [{"shell": {"command": f"touch ../busy; sleep 55; echo {mark}"}}]},
        {"tools": [LS]},
        {"expect": "Still there?", "text": "Yes."},
    )
    terminal.types("Count.")
    terminal.sees("first")
    terminal.presses("c")
    assert "second" not in terminal.sees("Stopped.")
    terminal.types("Sleep.")
    terminal.answers("Allow it?", "y")
    terminal.until(world.root / "busy")
    terminal.presses("c")
    terminal.sees("Stopped.")
    assert left_behind(mark) == []
    terminal.types("Ask.")
    terminal.sees("Allow it?")
    terminal.presses("c")
    terminal.sees("Stopped.")
    assert traces(world) == 0
    terminal.sees(READY)
    terminal.presses("c")
    terminal.sees("Ctrl-D or /exit ends the session.")
    terminal.types("Still there?")
    terminal.sees("Yes.")
    terminal.sees(READY)
    terminal.presses("d")
    assert terminal.ends()[0] == 0
    assert [it["reason"] for it in recorded(world, "end")] == ["user_exit"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("phase", ["prompt", "tool", "question"])
def test_told_to_end(world: World, phase: str) -> None:
    """K-6: the session_end hooks run, and no process is left. With NO_COLOR, the output has no colours."""
    mark = f"{world.root.name}-{os.getpid()}"
    world.hook("kode", "session_end", record("end"))
    wait = {"shell": {"command": f"touch ../busy; sleep 55; echo {mark}"}}
    mode = "ask" if phase == "question" else "auto"
    terminal = chat(world, {"tools": [wait]}, words=("--permission", mode), NO_COLOR="1")
    terminal.sees(READY)
    if phase != "prompt":
        terminal.child.send("Go.\r")
        terminal.sees("Allow it?" if phase == "question" else "● shell")
    if phase == "tool":
        terminal.until(world.root / "busy")
    terminal.kills(signal.SIGTERM)
    assert terminal.ends()[0] == 130
    assert [it["reason"] for it in recorded(world, "end")] == ["sigterm"]
    assert left_behind(mark) == []
    assert not any(f"\x1b[{colour}m" in terminal.raw for colour in (1, 2, 31, 32, 33))


@pytest.mark.parametrize("phase", ["prompt", "tool"])
def test_a_terminal_that_goes_away(world: World, phase: str) -> None:
    world.hook("kode", "session_end", record("end"))
    terminal = chat(
        world, {"tools": [{"shell": {"command": "touch ../busy; sleep 55"}}]}, words=("--permission", "auto")
    )
    terminal.sees(READY)
    if phase == "tool":
        terminal.child.send("Go.\r")
        terminal.until(world.root / "busy")
    assert terminal.goes_away() == 130
    assert [it["reason"] for it in recorded(world, "end")] == ["sigterm"]


def test_ctrl_c_before_the_first_prompt(world: World) -> None:
    """With no turn to stop, Ctrl-C ends the session. The session_end hooks still run."""
    world.hook("agenthooks", "session_start", "sleep 100")
    world.hook("kode", "session_end", record("end"))
    terminal = chat(world, "unreached")
    terminal.sees("waiting for a hook of session_start …")
    terminal.presses("c")
    assert terminal.ends()[0] == 130
    assert [it["reason"] for it in recorded(world, "end")] == ["user_exit"]


def test_resumed_after_a_kill(world: World) -> None:
    """The conversation is saved even if the process is killed. /resume and --follow find it."""
    world.hook("kodik", "SessionStart", record("starts"))
    first = chat(world, "Noted.")
    first.types("Remember the number 7.")
    first.sees("Noted.")
    first.sees(READY)
    first.kills(signal.SIGKILL)
    first.ends()
    second = chat(world, "Hm.", {"expect": "And?", "text": "Seven."})
    second.types("Something else.")
    second.sees("Hm.")
    second.types("/resume nothing")
    second.sees("nothing: there is no such session.")
    second.types("/resume")
    second.sees("Remember the number 7.")
    second.types("1")
    second.sees("goes on")
    second.sees("the last answer was:")
    second.sees("Noted.")
    second.types("Go.")
    second.sees("Hm.")
    second.types("/exit")
    assert second.ends()[0] == 0
    assert [it["source"] for it in recorded(world, "starts")] == ["startup", "startup", "resume"]
    [kept] = [path for path in (world.state / "conversations").glob("*.json") if "number 7" in path.read_text()]
    assert "Something else" not in kept.read_text()
    assert len(json.loads(kept.read_text())["messages"]) == 4

    third = chat(world, {"by": "recipe", "text": "Seven."}, "Right.", words=("--follow", "-r", "compact"))
    third.sees("Compacted: 4 messages have become a summary of 6 characters.")
    third.types("Right?")
    third.sees("Right.")
    third.types("/exit")
    assert third.ends()[0] == 0


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_over_the_wire(world: World, model: str) -> None:
    """The chat shows a provider's stream. A provider failure ends only the turn."""
    with provider() as server:
        to(world, server)
        terminal = Terminal(world, model)
        terminal.types("Go.")
        terminal.answers("Allow it?", "y")
        terminal.sees(ANSWER)
        server.broken = True
        terminal.types("Again.")
        terminal.sees("error: ")
        server.broken = False
        terminal.types("And again.")
        terminal.sees(ANSWER)
        terminal.types("/exit")
        assert terminal.ends()[0] == 0
    assert traces(world) == 1


def test_a_refused_session(world: World) -> None:
    world.hook("kode", "session_start", "echo Closed on Mondays. >&2; exit 2")
    terminal = chat(world, "unreached")
    terminal.sees("The session was refused: ")
    assert terminal.ends()[0] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-",), "stdin is the terminal"),
        (("--resume", "none"), "--resume none: no such session in this project. `/resume` in a chat lists them."),
        (("--follow",), "no earlier session in this project. Leave the option out."),
    ],
    ids=["stdin", "resume", "follow"],
)
def test_bad_calls_at_a_terminal(world: World, words: tuple[str, ...], said: str) -> None:
    """They are reported before the chat asks about hooks."""
    world.hook("kodik", "Stop", "true", "project")
    status, last = chat(world, "unreached", words=words).ends()
    assert (status, said in last, "wants to run" in last) == (3, True, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chat"], "needs a terminal"),
        (["chat", "--json"], "is for people"),
        (["run", "/create-hook refuse force pushes"], "needs a person"),
    ],
    ids=["no terminal", "json", "create-hook without a person"],
)
def test_bad_calls(world: World, words: list[str], said: str) -> None:
    done = world.command("agent", *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert said in done.stderr
