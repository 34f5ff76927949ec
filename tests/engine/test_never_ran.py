"""A hook that cannot have run is a failure, handled by the posture, and never an accidental refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import World

CALL = ("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
MISSING = ("python3 missing.py", "python3 -u ./missing.py", "sh ./missing.sh")


@pytest.mark.parametrize("line", MISSING)
@pytest.mark.parametrize("table", ["claude", "kodik", "qwen"])
def test_a_missing_script_is_a_failure_under_the_posture(world: World, table: str, line: str) -> None:
    path = world.home / {"claude": ".claude", "kodik": "Documents/Kodik/Hooks", "qwen": ".qwen"}[table]
    name = "hooks.json" if table == "kodik" else "settings.json"
    world.declare(path / name, "PreToolUse", {"hooks": [{"type": "command", "command": line}]})
    for posture, verdict in (("allow", "none"), ("native", "none"), ("deny", "block")):
        decision = world.fire(*CALL, "--on-failure", posture)
        assert decision["verdict"] == verdict, posture
        codes = [problem["code"] for problem in decision["problems"]]
        assert set(codes) & {"hook-not-started", "hook-failed"}, posture


def test_a_dialect_that_refuses_whatever_goes_wrong_still_does(world: World) -> None:
    world.hook("copilot", "preToolUse", "python3 missing.py")
    assert world.fire(*CALL)["verdict"] == "block"
    assert world.fire(*CALL, "--on-failure", "allow")["verdict"] == "none"
    assert world.fire(*CALL, "--on-failure", "deny")["verdict"] == "block"


def test_a_program_that_the_shell_does_not_find_is_a_failure(world: World) -> None:
    world.hook("copilot", "preToolUse", "cd . && no-such-program-here")
    assert world.fire(*CALL)["verdict"] == "block"
    assert world.fire(*CALL, "--on-failure", "allow")["verdict"] == "none"


@pytest.mark.parametrize(
    "line", ["./missing.sh || exit 2", "echo 'file not found' >&2; exit 2", "python3 missing.py; exit 2"]
)
def test_a_line_that_refuses_on_purpose_refuses(world: World, line: str) -> None:
    world.hook("claude", "PreToolUse", line)
    assert world.fire(*CALL, "--on-failure", "allow")["verdict"] == "block"


def test_a_script_that_refuses_with_such_words_refuses(world: World) -> None:
    script = world.write(world.project / "guard.py", "import sys\nsys.exit(print('not found', file=sys.stderr) or 2)\n")
    world.hook("claude", "PreToolUse", f"python3 {script}")
    assert world.fire(*CALL, "--on-failure", "allow")["verdict"] == "block"
