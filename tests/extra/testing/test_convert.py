"""Converting hooks from one dialect to another: what is written, what the new hook decides, and what is reported as
lost."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from conftest import World

GUARD = """#!/bin/sh
case $(cat) in
*'"command":"'*'rm -rf'*) word=deny why='keep it' ;;
*'"command":"'*sudo*) echo 'no sudo' >&2; exit 2 ;;
*'"command":"'*npm*) word=ask why='sure?' ;;
*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse"}}'; exit ;;
esac
printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", '
printf '"permissionDecision": "%s", "permissionDecisionReason": "%s"}}' "$word" "$why"
"""


@pytest.fixture
def guarded(world: World) -> World:
    world.write(world.project / ".claude/hooks/guard.sh", GUARD, 0o755)
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
    groups = [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]
    world.write(world.project / ".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}))
    return world


def converted(world: World, target: str, status: int = 0) -> dict[str, Any]:
    ended = world.command("convert", "--from", "claude", "--to", target, "--out", "new", "--json")
    assert ended.returncode == status, ended.stderr + ended.stdout
    (one,) = json.loads(ended.stdout)["hooks"]
    found: dict[str, Any] = one
    return found


def test_a_hook_decides_the_same_in_the_new_dialect(guarded: World) -> None:
    assert guarded.command("trust", "--yes").returncode == 0
    one = converted(guarded, "agenthooks")
    assert one["id"] == "claude:project:PreToolUse:guard.sh"
    assert one["different"] == 0
    assert one["same"] > 40
    assert one["lost"] == []
    assert all(path.startswith(str(guarded.project / "new/.agents/hooks/guard/")) for path in one["files"])


def test_events_that_a_person_fired_are_compared_in_the_words_of_both(world: World) -> None:
    """With `Bash`, as Claude Code calls the tool; in Cursor it is `Shell`."""
    world.write(
        world.project / ".claude/guard.sh", "#!/bin/sh\ngrep -q TODO && { echo no >&2; exit 2; }; exit 0\n", 0o755
    )
    command = '"$CLAUDE_PROJECT_DIR"/.claude/guard.sh'
    groups = [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]
    world.write(world.project / ".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}))
    assert world.command("trust", "--yes").returncode == 0
    before = converted(world, "cursor")
    assert (before["stopped"], before["different"]) == (0, 0), "no generated event makes it refuse"
    shutil.rmtree(world.project / "new")
    assert world.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "echo TODO"}')["verdict"] == "block"
    one = converted(world, "cursor")
    assert (one["stopped"], one["different"], one["lost"]) == (1, 0, [])


@pytest.mark.parametrize(
    ("command", "verdict", "reason"),
    [("rm -rf build", "block", "keep it"), ("sudo ls", "block", "no sudo"), ("ls", "none", None)],
)
def test_the_new_hook_works_on_its_own(guarded: World, command: str, verdict: str, reason: str | None) -> None:
    converted(guarded, "kodik", status=1)
    given = json.dumps({"command": command})
    words = ("--dialect", "kodik", "--trust", "all", "--tool", "Bash", "--input", given)
    decision = guarded.fire("pre_tool", *words, "--project", "new")
    assert (decision["verdict"], decision["reason"]) == (verdict, reason)


def test_the_old_hook_reads_what_its_own_agent_writes(world: World) -> None:
    """Hooks search the text, so its spacing stays the same and letters are not escaped."""
    world.hook("claude", "PreToolUse", f"cat > '{world.root}/seen'", scope="project")
    converted(world, "kodik", status=1)
    given = json.dumps({"command": "echo grün"})
    words = ("--dialect", "kodik", "--trust", "all", "--tool", "Bash", "--input", given)
    world.fire("pre_tool", *words, "--project", "new")
    assert '{"command":"echo grün"}' in (world.root / "seen").read_text("utf-8")


def test_where_nobody_can_be_asked_a_hook_becomes_stricter(guarded: World) -> None:
    assert guarded.command("trust", "--yes").returncode == 0
    one = converted(guarded, "kodelet", status=1)
    assert one["different"] == 1
    assert one["lost"][0]["what"] == "verdict"
    assert "'ask' became 'block'" in one["lost"][0]["why"]
    given = json.dumps({"command": "npm test"})
    words = ("--dialect", "kodelet", "--trust", "all", "--tool", "bash", "--input", given)
    assert guarded.fire("pre_tool", *words, "--project", "new")["verdict"] == "block"


def test_hooks_that_nobody_approved_are_written_and_not_run(guarded: World) -> None:
    one = converted(guarded, "gemini", status=1)
    assert (one["same"], one["different"]) == (0, 0)
    assert "untrusted" in one["lost"][0]["why"]
    assert (guarded.project / "new/.gemini/settings.json").exists()


def test_an_event_that_the_new_dialect_lacks_is_lost(world: World) -> None:
    world.hook("claude", "UserPromptSubmit", "exit 0", scope="project")
    assert world.command("trust", "--yes").returncode == 0
    one = converted(world, "agenthooks", status=1)
    assert one["files"] == []
    assert one["lost"] == [{"what": "UserPromptSubmit", "why": "Agent Hooks (Kimi) has no such event"}]


@pytest.mark.parametrize("words", [(), ("--from", "claude"), ("--from", "claude", "--to", "claude")])
def test_two_dialects_are_needed(world: World, words: tuple[str, ...]) -> None:
    assert world.command("convert", *words).returncode == 3
