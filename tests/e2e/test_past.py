"""Proof from the past: an agent's transcripts against the journal (contract, §12)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.cli.standing import standing_of
from anyhook.replay import past as replay
from anyhook.replay.past import MAX_DAILY
from anyhook.tables import past as readers
from anyhook.tables.past import MAX_JSON_LINE, Past, json_lines
from anyhook.tables.rows import Roots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyhook.journal.read import JournalLine
    from anyhook.journal.search import Wanted
    from anyhook.tables.past import PastEvent
    from conftest import World

FORCED = "git push --force"


class Session:
    """A session of Claude Code: what its transcript says, and which calls it asks about."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name, self.lines, self.calls = world, name, list[dict[str, Any]](), 0

    def permission(self, command: str) -> None:
        """The question for permission about the call that comes next."""
        self._ask(f"toolu_{self.name}_{self.calls + 1}", command, "PermissionRequest")

    def call(
        self, command: str, *, asks: bool = True, obeys: bool = True, ago: timedelta = timedelta(), reason: str = ""
    ) -> str:
        """One call; the reason of its refusal, or "". `reason` is why something else refused it."""
        self.calls += 1
        call = f"toolu_{self.name}_{self.calls}"
        reason = self._ask(call, command) if asks else reason
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

    def _ask(self, call: str, command: str, event: str = "PreToolUse") -> str:
        payload = {
            "session_id": self.name, "cwd": str(self.world.project), "hook_event_name": event,
            "tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": command},
        }  # fmt: skip
        done = self.world.command("bridge", "claude", event, stdin=json.dumps(payload))
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


def test_a_question_for_permission_is_not_yet_a_guard(guarded: World) -> None:
    """Rules are asked before a call: an entry that lost that event lets calls through that they would refuse."""
    session = Session(guarded, "one")
    session.permission(FORCED)
    session.call(FORCED, asks=False)
    session.write()
    status, found = past(guarded)
    assert (status, found["calls"], found["asked"]) == (1, 1, 0)
    assert [each["what"] for each in found["missed"]] == [FORCED]


def test_a_refused_permission_is_an_answer(guarded: World) -> None:
    guarded.hook("kodik", "PermissionRequest", "echo no >&2; exit 2")
    session = Session(guarded, "one")
    for obeys in (True, False):
        session.permission("make")
        session.call("make", asks=False, obeys=obeys, reason="no")
    session.write()
    status, found = past(guarded)
    assert (status, found["asked"], found["missed"]) == (1, 2, [])
    assert len(found["disobeyed"]) == 1


def test_an_agent_whose_hooks_get_other_ids(world: World) -> None:
    """Qwen Code makes up an id for each hook. A call that nobody asked about takes no other call's record."""
    for words in (("add", "guard", "--yes"), ("install", "qwen")):
        assert world.command(*words).returncode == 0
    lines: list[dict[str, Any]] = []
    for number, (command, asks) in enumerate((("ls", True), ("make build", False), (FORCED, True))):
        call = {"id": f"call_{number}", "name": "run_shell_command", "args": {"command": command}}
        payload = {
            "session_id": "s", "cwd": str(world.project), "hook_event_name": "PreToolUse",
            "tool_name": call["name"], "tool_use_id": f"toolu_{number}_made_up", "tool_input": call["args"],
        }  # fmt: skip
        if asks:
            world.command("bridge", "qwen", "PreToolUse", stdin=json.dumps(payload))
        base = {"sessionId": "s", "timestamp": datetime.now(UTC).isoformat(), "cwd": str(world.project)}
        result = {"functionResponse": {"id": call["id"], "response": {"output": "done"}}}
        lines.append({**base, "type": "assistant", "message": {"role": "model", "parts": [{"functionCall": call}]}})
        lines.append({**base, "type": "tool_result", "message": {"role": "user", "parts": [result]}})
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    world.write(world.home / ".qwen/projects/p/chats/s.jsonl", text)
    done = world.command("doctor", "qwen", "--past", "--json")
    found = json.loads(done.stdout)["qwen"]["past"]
    assert (done.returncode, found["calls"], found["asked"]) == (1, 3, 2)
    assert [each["what"] for each in found["missed"]] == ["make build"]
    assert [each["what"] for each in found["disobeyed"]] == [FORCED]


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


def test_transcripts_have_no_largest_size(guarded: World) -> None:
    """More than a gigabyte: a line that is too long is told, and what is before and after it counts."""
    session = Session(guarded, "one")
    session.call("ls")
    path = session.write()
    os.truncate(path, (1 << 30) + 1)  # a hole: one line of zeros
    session.lines.clear()
    session.call("make", asks=False)
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n" + "".join(f"{json.dumps(line)}\n" for line in session.lines))
    status, found = past(guarded)
    assert (status, found["calls"], found["asked"]) == (1, 2, 1)
    assert [each["what"] for each in found["missed"]] == ["make"]
    assert [each.partition(": ")[2] for each in found["unread"]] == ["1 of its lines, each longer than 64 MB, left out"]


def test_a_long_line_and_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "MAX_JSON_LINE", 8)
    path = tmp_path / "t.jsonl"
    for text, expected in (
        ('{"a":1}\n', [{"a": 1}]),  # exactly as long as a line may be
        ('{"a":1}', [{"a": 1}]),
        ('{"a": 1}\n{}\n', None),
        ('{}\n{"a": 1234567890}', None),
        ('{}\n{"a": 12345678}\n{"b":2}\n', None),
    ):
        path.write_text(text)
        found: list[dict[str, Any]] = []
        lines = json_lines(str(path))
        if expected is None:
            with pytest.raises(OSError, match="1 of its lines"):
                found += lines
            assert found == [json.loads(line) for line in text.splitlines() if len(line) < 8]
        else:
            assert list(lines) == expected


def test_a_transcript_that_is_kept_whole_and_is_too_large_is_named(world: World) -> None:
    for words in (("add", "guard", "--yes"), ("install", "gemini")):
        assert world.command(*words).returncode == 0
    path = world.home / ".gemini/tmp/p/chats/session-1.json"
    world.write(path, "{}\n")
    os.truncate(path, MAX_JSON_LINE + 1)
    found = json.loads(world.command("doctor", "gemini", "--past", "--json").stdout)["gemini"]["past"]
    assert [each.partition(": ")[2] for each in found["unread"]] == ["it is larger than 64 MB"]


def shown(world: World) -> str:
    lines = world.command("status").stdout.splitlines()
    return next((line.strip() for line in lines if line.strip().startswith("transcripts: ")), "")


def test_status_looks_at_the_last_day(guarded: World) -> None:
    assert shown(guarded) == ""
    session = Session(guarded, "one")
    session.call("ls")
    session.write()
    assert shown(guarded) == "transcripts: 1 call, 1 asked in the last day"
    assert standing_of(str(guarded.project), guarded.env)()[0], "and the page says it in green"
    session.call("make", asks=False)
    assert session.call(FORCED, obeys=False)
    session.write()
    line = "transcripts: 3 calls, 2 asked; 1 never asked about (Bash 1×); 1 ran although refused in the last day"
    assert shown(guarded) == line
    assert shown(guarded) == line, "what is kept says the same"
    well, banner = standing_of(str(guarded.project), guarded.env)()
    assert (well, banner.startswith("On now, but not always. ")) == (False, True)
    assert banner.endswith(line.replace("transcripts", "claude"))


def test_the_last_day_costs_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `status` reads at every call: a transcript again if it has changed, the journal if any has."""
    read: list[str] = []
    searched: list[str] = []

    def events(path: str) -> Iterator[PastEvent]:
        read.append(path)
        return iter(())

    def search(folder: str, wanted: Wanted) -> Iterator[JournalLine]:
        searched.append(str(wanted.event))
        return iter(())

    monkeypatch.setattr(replay, "search", search)
    paths = [tmp_path / f"{n}.jsonl" for n in range(20)]
    past = Past(lambda roots: [str(path) for path in paths if path.exists()], events)

    def read_again() -> tuple[int, int]:
        read.clear()
        searched.clear()
        replay.last_day("claude", past, Roots(str(tmp_path), {}), str(tmp_path), 0, time_ns())
        return len(read), len(searched)

    for path in paths[:19]:
        path.write_text("{}\n")
    assert read_again() == (19, 2)
    assert read_again() == (0, 0)
    paths[3].write_text("{}\n{}\n")
    paths[19].write_text("")
    assert read_again() == (2, 2)
    assert read_again() == (0, 0)
    paths[0].unlink()
    assert read_again() == (0, 0)


def test_status_also_says_what_was_wrong_earlier(guarded: World) -> None:
    index = guarded.state / "installs/index.json"
    known = json.loads(index.read_text())
    index.write_text(json.dumps({path: {**row, "at": 1} for path, row in known.items()}))
    session = Session(guarded, "one")
    session.call("pwd", asks=False, ago=timedelta(days=3))
    session.call("ls")
    session.write()
    assert past(guarded)[0] == 1
    assert shown(guarded).startswith("transcripts: 1 call, 1 asked in the last day; 2 calls, 1 asked; 1 never asked")


def test_status_leaves_large_transcripts_to_doctor(guarded: World) -> None:
    session = Session(guarded, "one")
    session.call("ls", asks=False)
    path = session.write()
    os.truncate(path, MAX_DAILY + 1)
    assert shown(guarded) == "transcripts: 1 transcript left to `anyhook doctor --past`"
    assert past(guarded)[1]["calls"] == 1
