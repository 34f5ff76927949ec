"""`anyhook facts`, facts in `explain`, and facts passed to hooks, tested with the whole command."""

from __future__ import annotations

import json

from conftest import World

LINE = json.dumps({"command": "sudo rm -r build && git push -f; cat x | tee $OUT"})


def test_facts_as_json(world: World) -> None:
    done = world.command("facts", "--tool", "Bash", "--input", LINE, "--json")
    found = json.loads(done.stdout)
    assert found["runs"] == [["rm", "-r", "build"], ["git", "push", "-f"], ["cat", "x"], ["tee", "$OUT"]]
    assert found["deletes"] == [f"{world.project}/build"]
    assert found["unknown"] == ["path from $OUT"]
    assert {"reads", "writes", "connects"} <= found.keys()


def test_facts_for_a_person(world: World) -> None:
    said = world.command("facts", "--input", LINE).stdout
    assert "rm -r build  (through sudo)" in said
    assert f"deletes     {world.project}/build" in said
    assert world.command("facts", "--agent", "claud").returncode == 3
    assert "nothing that can be seen" in world.command("facts").stdout


def test_explain_shows_facts(world: World) -> None:
    said = world.command("explain", "pre_tool", "--tool", "Bash", "--input", LINE).stdout
    assert f"deletes     {world.project}/build" in said


def test_hooks_are_handed_facts_where_the_user_wants_it(world: World) -> None:
    world.hook("kodik", "PreToolUse", 'cat > payload; printf %s "$ANYHOOK_FACTS" > variable')
    payload, variable = world.project / "payload", world.project / "variable"
    world.command("fire", "pre_tool", "--tool", "Bash", "--input", LINE)
    assert "facts" not in json.loads(payload.read_text())
    assert variable.read_text() == ""
    world.config("facts = true\n")
    world.command("fire", "pre_tool", "--tool", "Bash", "--input", LINE)
    assert json.loads(payload.read_text())["facts"]["deletes"] == [f"{world.project}/build"]
    assert json.loads(variable.read_text()) == json.loads(payload.read_text())["facts"]
