"""A program that several dialects declare for one event runs once. Each of these dialects reads its answer, and the
strictest reading counts. A declaration that does not run hides no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook import Event

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

LS = Event.pre_tool("Bash", {"command": "ls"})
NATIVE = {"kode": "tool_call_pre", "kolega": "PreToolUse", "kodik": "PreToolUse", "claude": "PreToolUse"}


def guard(world: World, text: str = "") -> str:
    """Write a script outside every dialect's folder; it records that it ran and what it was given."""
    body = f"#!/bin/sh\necho >> {world.project}/ran\ncat > {world.project}/given\n{text}\n"
    return str(world.write(world.root / "tools" / "guard.sh", body, 0o755))


def declare(world: World, table: str, command: str, native: str = "", **group: str) -> None:
    native = native or NATIVE.get(table, "PreToolUse")
    if table == "kode":
        words: Json = [*command.split()]
        world.declare(world.home / "config/kode/config.yaml", native, {"exec": words, **group})
    elif table == "kolega":
        world.kolega(native, {"type": "command", "command": command}, matcher=group.get("matcher"))
    else:
        folder = {"kodik": "Documents/Kodik/Hooks/hooks.json", "claude": ".claude/settings.json"}
        path = world.home / folder.get(table, f".{table}/hooks.json")
        world.declare(path, native, {**group, "hooks": [{"type": "command", "command": command}]})


def runs(world: World) -> int:
    path = world.project / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_it_runs_once_and_the_others_name_it(world: World) -> None:
    program = guard(world)
    for table in ("kode", "kodik", "kolega", "claude", "codex"):
        declare(world, table, program)
    decision = world.engine().fire_sync(LS)
    assert runs(world) == 1
    first, *others = decision.hooks
    assert (first.dialect, first.status) == ("kode", "ran")
    assert [report.status for report in others] == ["skipped"] * 4
    assert all(first.id in report.why for report in others)
    given = (world.project / "given").read_text()
    assert '"event": "tool_call_pre"' in given, "the first declaration determines the input"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{program}", "{tools}/../tools/guard.sh"),
        ("{program} -v", "{program}   -v"),
        ("{link}", "{program}"),
    ],
)
def test_however_it_is_written(world: World, one: str, other: str) -> None:
    program = guard(world)
    link = world.root / "link.sh"
    link.symlink_to(program)
    names = {"program": program, "tools": Path(program).parent, "link": link}
    declare(world, "kode", one.format(**names))
    declare(world, "claude", other.format(**names))
    world.engine().fire_sync(LS)
    assert runs(world) == 1


def test_variables_of_the_dialect_are_resolved(world: World) -> None:
    text = f"#!/bin/sh\necho >> {world.project}/ran\n"
    world.write(world.project / "tools" / "guard.sh", text, 0o755)
    declare(world, "kode", str(world.project / "tools/guard.sh"))
    declare(world, "claude", '"$CLAUDE_PROJECT_DIR"/tools/guard.sh')
    world.engine().fire_sync(LS)
    assert runs(world) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("{0} -v", "{0}"), ("{0} -v", "{0} -w"), ("{0}", "{0}; true"), ("{0}", "{0} | cat")]
)
def test_what_is_not_the_same_runs(world: World, one: str, other: str) -> None:
    program = guard(world)
    declare(world, "kodik", one.format(program))
    declare(world, "claude", other.format(program))
    world.engine().fire_sync(LS)
    assert runs(world) == 2


def test_inside_one_dialect_its_own_rule_holds(world: World) -> None:
    """Kode runs a command as often as it is declared. Claude runs the same command once."""
    program = guard(world)
    for table in ("kode", "kode", "claude"):
        declare(world, table, program)
    decision = world.engine().fire_sync(LS)
    assert runs(world) == 2
    assert [report.status for report in decision.hooks] == ["ran", "ran", "skipped"]


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ("exit 2", "block"),
        # Kodik ignores it; Claude reads a refusal.
        ("""echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'""", "block"),
        # The other way round.
        ("""echo '{"decision": "block", "reason": "no"}'""", "block"),
        ("""echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'""", "ask"),
        ("exit 0", "none"),
    ],
)
def test_the_strictest_reading_counts(world: World, says: str, verdict: str) -> None:
    program = guard(world, says)
    declare(world, "kodik", program)
    declare(world, "claude", program)
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, runs(world)) == (verdict, 1)
    assert (decision.hooks[0].status, decision.hooks[0].verdict) == ("ran", verdict)
    assert "foreign-refusal" not in [problem.code for problem in decision.problems], "one of them reads it"


def test_what_only_a_later_dialect_rewrites_is_rewritten(world: World) -> None:
    says = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "x"}}}'"""
    program = guard(world, says)
    declare(world, "kodik", program)
    declare(world, "claude", program)
    assert world.engine().fire_sync(LS).tool_input == {"command": "x"}


def test_context_is_given_once(world: World) -> None:
    says = """echo '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "hello"}}'"""
    program = guard(world, says)
    declare(world, "claude", program, "SessionStart")
    declare(world, "codex", program, "SessionStart")
    decision = world.engine().fire_sync(Event.session_start())
    assert (runs(world), list(decision.context)) == (1, ["hello"])


def test_a_declaration_that_does_not_match_hides_no_other(world: World) -> None:
    program = guard(world, "exit 2")
    declare(world, "kodik", program, matcher="Write")
    declare(world, "claude", program)
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, [report.status for report in decision.hooks]) == ("block", ["unmatched", "ran"])


def test_a_declaration_that_is_not_armed_hides_no_other(world: World) -> None:
    program = guard(world, "exit 2")
    group: Json = {"hooks": [{"type": "command", "command": program}]}
    world.declare(world.project / ".kodik/hooks/hooks.json", "PreToolUse", group)
    declare(world, "claude", program)
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, [report.status for report in decision.hooks]) == ("block", ["untrusted", "ran"])


def test_nor_does_one_in_the_background(world: World) -> None:
    program = guard(world, "echo no >&2; exit 2")
    group: Json = {"hooks": [{"type": "command", "command": program, "async": True}]}
    world.declare(world.home / ".claude/settings.json", "PreToolUse", group)
    declare(world, "codex", program)
    assert world.engine().fire_sync(LS).verdict == "block"


def test_the_rules_of_every_dialect_that_declares_it_hold_for_a_failure(world: World) -> None:
    """Kode blocks on any status other than 0. Kodik calls it a failure and goes on."""
    program = guard(world, "exit 1")
    declare(world, "kodik", program)
    assert world.engine().fire_sync(LS).verdict == "none"
    declare(world, "kode", program)
    assert world.engine().fire_sync(LS).verdict == "block"


def test_the_final_form_is_shown_to_it_again(world: World) -> None:
    program = guard(world, f'grep -q "rm " {world.project}/given && exit 2; exit 0')
    for table in ("kode", "claude"):
        declare(world, table, program)
    says = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "rm x"}}}
    world.hook("codex", "PreToolUse", f"cat >/dev/null; echo '{json.dumps(says)}'")
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, runs(world)) == ("block", 2)


def test_a_rewrite_of_the_dialect_that_ran_it_is_shown_for_the_others(world: World) -> None:
    """Kode does not ask its own gates again. Claude's declaration of the same gate does."""
    program = guard(world, f'grep -q "rm " {world.project}/given && exit 2; exit 0')
    declare(world, "kode", program)
    world.hook("kode", "tool_call_pre", """cat >/dev/null; echo '{"replace_tool_input": {"command": "rm x"}}'""")
    declare(world, "claude", program)
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, runs(world)) == ("block", 2)


def test_explain_and_replay_say_the_same(world: World) -> None:
    says = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'"""
    program = guard(world, says)
    declare(world, "kodik", program)
    declare(world, "claude", program)
    explained = world.engine().explain(LS)
    assert [row["would_run"] for row in explained] == [True, False]
    assert str(explained[0]["id"]) in str(explained[1]["why"])
    assert explained[1]["status"] == "skipped"
    world.engine().fire_sync(LS)
    replayed = json.loads(world.command("replay", "--json").stdout)
    assert (replayed["judged"], replayed["changed"]) == (1, 0)
