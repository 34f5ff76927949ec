"""Proof from the past: an agent's transcripts against the journal (contract, §12)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.tables.past import MAX_FILE

if TYPE_CHECKING:
    from conftest import World

FORCED = "git push --force"


class Session:
    """A session of Claude Code: what its transcript says, and which calls it asks about."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name, self.lines, self.calls = world, name, list[dict[str, Any]](), 0

    def call(self, command: str, *, asks: bool = True, obeys: bool = True, ago: timedelta = timedelta()) -> str:
        """One call; the reason of its refusal, or ""."""
        self.calls += 1
        call = f"toolu_{self.name}_{self.calls}"
        reason = self._ask(call, command) if asks else ""
        at = (datetime.now(UTC) - ago).isoformat()
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self._line("assistant", used, at)
        refused = bool(reason) and obeys
        result = {"type": "tool_result", "tool_use_id": call, "content": reason if refused else "done"}
        self._line("user", {**result, "is_error": refused}, at)
        return reason

    def _line(self, kind: str, block: dict[str, Any], at: str) -> None:
        self.lines.append(
            {
                "type": kind, "timestamp": at, "sessionId": self.name, "cwd": str(self.world.project),
                "message": {"role": kind, "content": [block]},
            }
        )  # fmt: skip

    def _ask(self, call: str, command: str) -> str:
        payload = {
            "session_id": self.name, "cwd": str(self.world.project), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": command},
        }  # fmt: skip
        done = self.world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
        said = json.loads(done.stdout) if done.stdout.strip() else {}
        reason: str = said.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")
        return reason

    def write(self) -> str:
        path = self.world.home / f".claude/projects/p/{self.name}.jsonl"
        self.world.write(path, "".join(f"{json.dumps(line)}\n" for line in self.lines))
        return str(path)


@pytest.fixture
def guarded(world: World) -> World:
    for words in (("add", "guard", "--yes"), ("install", "claude")):
        assert world.command(*words).returncode == 0
    return world


def past(world: World, *words: str) -> tuple[int, dict[str, Any]]:
    done = world.command("doctor", "claude", "--past", "--json", *words)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["claude"]["past"]
    return done.returncode, found


def test_every_call_was_asked_about(guarded: World) -> None:
    session = Session(guarded, "one")
    session.call("ls")
    assert session.call(FORCED), "this one is refused"
    session.write()
    status, found = past(guarded)
    assert (status, found["sessions"], found["calls"], found["asked"]) == (0, 1, 2, 2)
    assert found["missed"] == found["disobeyed"] == []


def test_a_call_that_nobody_asked_about_is_named(guarded: World) -> None:
    session = Session(guarded, "one")
    session.call("ls")
    session.call("make build", asks=False)
    session.write()
    other = Session(guarded, "two")
    other.call("touch a", asks=False)
    other.write()
    status, found = past(guarded)
    assert (status, found["sessions"], found["calls"], found["asked"]) == (1, 2, 3, 1)
    assert [(each["session"], each["tool"], each["what"]) for each in found["missed"]] == [
        ("one", "Bash", "make build"),
        ("two", "Bash", "touch a"),
    ]
    assert found["disobeyed"] == []
    line = "3 calls, 1 asked; 2 never asked about (Bash 2×)"
    assert line in guarded.command("doctor", "claude", "--past").stdout
    assert line in guarded.command("status").stdout, "the last result is shown"


def test_a_call_that_ran_although_it_was_refused(guarded: World) -> None:
    session = Session(guarded, "one")
    assert session.call(FORCED, obeys=False)
    session.write()
    status, found = past(guarded)
    assert (status, found["asked"], found["missed"]) == (1, 1, [])
    (each,) = found["disobeyed"]
    assert (each["session"], each["tool"], each["what"]) == ("one", "Bash", FORCED)
    assert guarded.journal()[-1]["n"] == each["record"]


def test_a_shadowed_refusal_may_run(guarded: World) -> None:
    guarded.config('mode = "shadow"\n')
    session = Session(guarded, "one")
    session.call(FORCED, obeys=False)
    session.write()
    assert past(guarded)[1]["disobeyed"] == []


def test_calls_before_the_entry_was_written_do_not_count(guarded: World) -> None:
    session = Session(guarded, "one")
    session.call("ls", asks=False, ago=timedelta(days=2))
    session.write()
    status, found = past(guarded)
    assert (status, found["calls"]) == (0, 0)


def test_since(guarded: World) -> None:
    index = guarded.state / "installs/index.json"
    known = json.loads(index.read_text())
    index.write_text(json.dumps({path: {**row, "at": 1} for path, row in known.items()}))
    session = Session(guarded, "one")
    session.call("ls", asks=False, ago=timedelta(days=3))
    session.call("pwd", asks=False, ago=timedelta(days=30))
    session.write()
    assert past(guarded)[1]["calls"] == 1
    assert past(guarded, "--since", "60d")[1]["calls"] == 2
    assert guarded.command("doctor", "--past", "--since", "soon").returncode == 3
    assert guarded.command("doctor", "--since", "1d").returncode == 3


def test_an_agent_without_our_entry(world: World) -> None:
    session = Session(world, "one")
    session.call("ls", asks=False)
    session.write()
    assert past(world) == (0, {"sessions": 0, "calls": 0, "asked": 0, "missed": [], "disobeyed": [], "unread": []})


def test_damaged_transcripts(guarded: World) -> None:
    session = Session(guarded, "one")
    session.call("ls")
    path = session.write()
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": 3}]}}\n[]\nnull\n{"half')
    guarded.write(guarded.home / ".claude/projects/p/binary.jsonl", "\0\0\0")
    os.symlink("nowhere", guarded.home / ".claude/projects/p/gone.jsonl")
    status, found = past(guarded)
    assert (status, found["calls"], found["asked"]) == (0, 1, 1)
    assert [each.partition(": ")[2] for each in found["unread"]] == ["No such file or directory"]


def test_a_transcript_that_is_too_large_is_named(guarded: World) -> None:
    path = guarded.home / ".claude/projects/p/huge.jsonl"
    guarded.write(path, "{}\n")
    os.truncate(path, MAX_FILE + 1)
    assert [each.partition(": ")[2] for each in past(guarded)[1]["unread"]] == ["it is larger than 512 MB"]
