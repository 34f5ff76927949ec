"""`anyhook import --propose`: exceptions and rules from one's own past, and nothing written without a yes."""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from person_box import at_a_terminal

if TYPE_CHECKING:
    from conftest import World

RULES = """use = ["secrets"]

[[rule]]
name = "logs"
when = "deletes *.log"

[[rule]]
name = "keys"
when = "deletes *.key"
"""
NO = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def past(world: World, *calls: tuple[str, str | None]) -> None:
    """A transcript of Claude Code: lines, and why each failed, if it did."""
    lines = []
    for number, (command, failed) in enumerate(calls):
        common = {"sessionId": "s", "cwd": str(world.project), "timestamp": f"2026-11-19T10:00:{number:02}Z"}
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        said = {"type": "tool_result", "tool_use_id": f"t{number}", "content": failed or "", "is_error": bool(failed)}
        lines += [
            {**common, "type": "assistant", "message": {"content": [block]}},
            {**common, "type": "user", "message": {"content": [said]}},
        ]
    path = world.home / ".claude" / "projects" / "p" / "s.jsonl"
    world.write(path, "".join(f"{json.dumps(line)}\n" for line in lines))
    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULES)


def proposed(world: World, *words: str) -> list[dict[str, Any]]:
    done = world.command("import", "claude", "--propose", "--json", *words)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["proposals"])


def written(world: World) -> dict[str, Any]:
    return tomllib.loads((world.home / "config" / "anyhook" / "hooks.toml").read_text())


def test_an_exception_for_calls_that_ran_in_one_folder(world: World) -> None:
    past(world, *((f"rm out/{name}.log", None) for name in "abc"), ("ls", None), ("rm /srv/x.key", None))
    (found,) = proposed(world)
    assert found == {
        "kind": "relax", "table": {"rule": "logs", "except": [f"{world.project}/out/**"]}, "changes": 3, "of": 5,
        "why": found["why"], "undo": found["undo"], "written": False,
    }  # fmt: skip
    assert written(world) == tomllib.loads(RULES)
    assert [each["written"] for each in proposed(world, "--yes")] == [True]
    assert written(world)["relax"] == [found["table"]]
    assert proposed(world, "--yes") == []
    line = json.dumps({"command": "rm out/d.log"})
    assert world.fire("pre_tool", "--tool", "Bash", "--input", line)["verdict"] == "none"
    line = json.dumps({"command": "rm d.log"})
    assert world.fire("pre_tool", "--tool", "Bash", "--input", line)["verdict"] == "block"
    assert world.command(*shlex.split(found["undo"])[1:]).returncode == 0
    assert written(world) == tomllib.loads(RULES), "the undo line takes it back"


@pytest.mark.parametrize(
    "calls",
    [
        [("rm out/a.log", None)] * 2,  # too few
        [("rm out/a.log", "rm: no such file"), ("rm out/b.log", None), ("rm out/c.log", NO)],  # the person said no
        [("cat .env", None)] * 5,  # about secrets
        [("rm a.log", None), ("rm ~/b/b.log", None), ("rm /srv/c.log", None)],  # all over the place
        [("rm $A.log", None)] * 3,  # a path that is not known
    ],
)
def test_nothing_is_proposed(world: World, calls: list[tuple[str, str | None]]) -> None:
    past(world, *calls)
    assert proposed(world) == []


def test_a_rule_from_what_the_person_refused(world: World) -> None:
    past(world, ("npm publish --tag a", NO), ("npm publish", NO), ("npm publish --dry-run", None), ("npm test", NO))
    (found,) = proposed(world)
    assert (found["kind"], found["table"]["when"], found["table"]["then"]) == ("rule", "runs npm publish", "ask")
    assert (found["changes"], found["of"]) == (3, 4)
    assert "you refused `npm publish` 2 times" in found["why"]
    status, said = at_a_terminal(world, b"n\n", ("import", "claude", "--propose"))
    assert (status, "It would change 3 of 4 past calls" in said, 'when = "runs npm publish"' in said) == (0, True, True)
    assert "rule" in written(world)
    assert len(written(world)["rule"]) == 2
    status, told = at_a_terminal(world, b"y\n", ("import", "claude", "--propose"))
    assert status == 0
    assert written(world)["rule"][-1] == found["table"]
    line = json.dumps({"command": "npm publish"})
    assert world.fire("pre_tool", "--tool", "Bash", "--input", line)["verdict"] == "ask"
    assert f"Undo it:  {found['undo']}" in told
    assert world.command(*shlex.split(found["undo"])[1:]).returncode == 0
    assert world.fire("pre_tool", "--tool", "Bash", "--input", line)["verdict"] == "none"


def test_calls_whose_text_was_cut_are_left_out_and_counted(world: World) -> None:
    cut = f"cat > x <<E\n{'y' * 100_000}\nE\nrm out/d.log"
    past(world, *((f"rm out/{name}.log", None) for name in "abc"), (cut, None))
    done = world.command("import", "claude", "--propose")
    assert "It would change 3 of 3 past calls" in done.stdout
    why = "left out: a text in it was too long to be kept whole"
    assert f"1 past call(s) {why}" in done.stderr
    assert f"2 event(s) {why}" in world.command("backtest", "logs").stderr, "the call, and its result"
    report = world.command("report", "logs")
    assert ("would have stopped 3 of 3 calls" in report.stdout, f"1 call {why}" in report.stderr) == (True, True)
