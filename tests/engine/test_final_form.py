"""Gates judge the final form: a call that a hook of one dialect rewrites is shown again to the gates of other dialects
that had already answered. Inside one dialect, its own rule applies, and a form that a gate has not seen is reported."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

import pytest

from anyhook import Event, Outcome

if TYPE_CHECKING:
    from anyhook import Decision
    from anyhook.model.json_types import Json
    from conftest import World

LS = Event.pre_tool("Bash", {"command": "ls"})
NO_RM = """payload=$(cat); echo "$payload" >> {seen}; case "$payload" in *"rm "*) echo "no rm" >&2; exit 2;; esac"""
SPECIFIC = {"hookEventName": "PreToolUse"}


def no_rm(seen: str) -> str:
    """A gate that writes down what it is shown, and blocks `rm`."""
    return NO_RM.format(seen=seen)


def prints(answer: Json) -> str:
    return f"cat > /dev/null; echo '{json.dumps(answer)}'"


def claude_rewrites(**given: Json) -> str:
    return prints({"hookSpecificOutput": {**SPECIFIC, "updatedInput": given}})


def kode_rewrites(**given: Json) -> str:
    return prints({"replace_tool_input": given})


def shown(world: World, name: str) -> list[str]:
    """The commands that a gate was shown."""
    path = world.project / name
    return re.findall(r'"command": ?"([^"]*)"', path.read_text()) if path.exists() else []


def codes(decision: Decision) -> list[str]:
    return [problem.code for problem in decision.problems]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_gate_of_another_dialect_sees_what_will_run(world: World, way: str) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    world.hook("claude", "PreToolUse", f"echo >> rewrites; {claude_rewrites(command='rm -rf /')}")
    engine = world.engine()
    decision = engine.fire_sync(LS) if way == "sync" else asyncio.run(engine.fire(LS))
    assert shown(world, "seen") == ["ls", "rm -rf /"]
    assert (decision.verdict, decision.effect) == ("block", "deny_tool")
    assert "no rm" in str(decision.reason)
    gate, rewriter = decision.hooks
    assert (decision.hook, gate.verdict, gate.exit_code, gate.status) == (gate.id, "block", 2, "ran")
    assert (rewriter.status, rewriter.verdict) == ("ran", "none")
    assert (world.project / "rewrites").read_text() == "\n", "those who rewrite are not asked again"


def test_a_form_that_the_gate_accepts_runs(world: World) -> None:
    world.hook("kodik", "PreToolUse", no_rm("seen"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="ls -l"))
    decision = world.engine().fire_sync(LS)
    assert shown(world, "seen") == ["ls", "ls -l"]
    assert (decision.verdict, decision.tool_input, codes(decision)) == ("none", {"command": "ls -l"}, [])
    assert [(report.status, report.why) for report in decision.hooks] == [
        ("ran", "asked again about the final form"),
        ("ran", ""),
    ]


@pytest.mark.parametrize(
    ("table", "native", "told"), [("agenthooks", "before_tool", "1"), ("kode", "tool_call_pre", "")]
)
def test_it_is_told_where_the_dialect_allows_our_variables(world: World, table: str, native: str, told: str) -> None:
    world.hook(table, native, 'echo "$ANYHOOK_ASKED_AGAIN" >> told')
    world.hook("claude", "PreToolUse", claude_rewrites(command="ls -l"))
    world.engine().fire_sync(LS)
    assert (world.project / "told").read_text() == f"\n{told}\n"


def test_once_per_event_however_many_rewrite(world: World) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    world.hook("kodik", "PreToolUse", prints({"modified_input": {"command": "a"}}))
    world.hook("agenthooks", "before_tool", prints({"modified_input": {"command": "b"}}))
    world.hook("claude", "PreToolUse", claude_rewrites(command="c"))
    world.hook("codex", "PreToolUse", no_rm("later"))
    decision = world.engine().fire_sync(LS)
    assert decision.tool_input == {"command": "c"}
    assert shown(world, "seen") == ["ls", "c"]
    assert shown(world, "later") == ["c"], "who has seen it is not asked again"


def test_a_second_rewrite_is_not_taken(world: World) -> None:
    """A hook that rewrites everything is overruled by a hook of another dialect."""
    world.hook("kode", "tool_call_pre", kode_rewrites(command="from kode"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="from claude"))
    decision = world.engine().fire_sync(LS)
    assert decision.tool_input == {"command": "from claude"}
    (problem,) = [problem for problem in decision.problems if problem.code == "rewrite-conflict"]
    first, second = decision.hooks
    for named in (first.id, second.id, "command"):
        assert named in f"{problem.what} {problem.why}"


def test_a_gate_that_agrees_with_the_final_form_is_no_conflict(world: World) -> None:
    """Both rewrite to the same result."""
    world.hook("kode", "tool_call_pre", kode_rewrites(command="same"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="same"))
    assert codes(world.engine().fire_sync(LS)) == []


def test_what_builds_on_another_rewrite_is_no_conflict(world: World) -> None:
    world.hook("kode", "tool_call_pre", prints({"replace_tool_input": {"command": "nice ls"}}))
    world.hook("kode", "tool_call_pre", prints({"replace_tool_input": {"command": "timeout 5 nice ls"}}))
    assert "rewrite-conflict" not in codes(world.engine().fire_sync(LS))


@pytest.mark.parametrize(
    ("table", "native", "rewrites"),
    [("kode", "tool_call_pre", kode_rewrites(command="x")), ("claude", "PreToolUse", claude_rewrites(command="x"))],
)
def test_inside_one_dialect_its_own_rule_holds(world: World, table: str, native: str, rewrites: str) -> None:
    world.hook(table, native, no_rm("seen"))
    world.hook(table, native, rewrites)
    decision = world.engine().fire_sync(LS)
    assert shown(world, "seen") == ["ls"], "nobody is asked again"
    assert decision.tool_input == {"command": "x"}
    (problem,) = decision.problems
    assert (problem.code, problem.severity) == ("unseen-form", "warning")
    assert decision.hooks[0].id in problem.what
    closed = world.engine(on_failure="deny").fire_sync(LS)
    assert (closed.verdict, closed.effect, closed.hook) == ("block", "deny_tool", decision.hooks[0].id)
    assert "has not judged the form" in str(closed.reason)
    assert [report.verdict for report in closed.hooks] == ["block", "none"]
    world.config(f'[hooks."{decision.hooks[0].id}"]\nmode = "shadow"\n')
    assert world.engine(on_failure="deny").fire_sync(LS).verdict == "none", "a gate in shadow refuses nothing"


def test_a_gate_after_the_rewrite_of_a_chain_has_seen_it(world: World) -> None:
    world.hook("kode", "tool_call_pre", kode_rewrites(command="x"))
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    decision = world.engine().fire_sync(LS)
    assert shown(world, "seen") == ["x"]
    assert codes(decision) == []


@pytest.mark.parametrize("table", ["claude", "codex", "kode"])
def test_two_rewrites_of_one_field(world: World, table: str) -> None:
    """If two hooks want different values, the dialect's own rule picks one, and the problem names both hooks."""
    for value in ("one", "two"):
        rewrites = kode_rewrites(command=value) if table == "kode" else claude_rewrites(command=value)
        world.hook(table, "tool_call_pre" if table == "kode" else "PreToolUse", rewrites)
    decision = world.engine().fire_sync(LS)
    assert decision.tool_input == {"command": "two"}
    (problem,) = [problem for problem in decision.problems if problem.code == "rewrite-conflict"]
    first, second = decision.hooks
    assert first.id in problem.what
    assert f"{second.id} won" in problem.why


def test_a_lost_rewrite_of_another_field_is_a_conflict_too(world: World) -> None:
    """Claude's last rewrite replaces the whole input, so the first hook's change is lost."""
    world.hook("claude", "PreToolUse", claude_rewrites(command="safe"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="ls", timeout=5))
    decision = world.engine().fire_sync(LS)
    assert decision.tool_input == {"command": "ls", "timeout": 5}
    assert "rewrite-conflict" in codes(decision)


def test_a_matcher_that_looks_at_the_content_sees_the_final_form(world: World) -> None:
    world.hook("agenthooks", "before_tool", no_rm("seen"), matcher={"tool": "Bash", "pattern": "rm"})
    world.hook("claude", "PreToolUse", claude_rewrites(command="rm -rf /"))
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, decision.hooks[0].status) == ("block", "ran")
    assert shown(world, "seen") == ["rm -rf /"]


def test_in_the_same_dialect_such_a_gate_is_reported(world: World) -> None:
    world.hook("agenthooks", "before_tool", no_rm("seen"), name="a", matcher={"tool": "Bash", "pattern": "rm"})
    world.hook("agenthooks", "before_tool", prints({"modified_input": {"command": "rm x"}}), name="b")
    decision = world.engine().fire_sync(LS)
    assert shown(world, "seen") == []
    assert codes(decision) == ["unseen-form"]


def test_a_grant_for_another_form_is_no_grant(world: World) -> None:
    allowed = prints({"hookSpecificOutput": {**SPECIFIC, "permissionDecision": "allow"}})
    script = f'payload=$(cat); case "$payload" in *"rm -rf"*) ;; *) echo "$payload" | {{ {allowed}; }};; esac'
    world.hook("claude", "PreToolUse", script)
    assert world.engine().fire_sync(LS).verdict == "allow"
    world.hook("codex", "PreToolUse", claude_rewrites(command="rm -rf /"))
    decision = world.engine().fire_sync(LS)
    assert (decision.verdict, decision.tool_input) == ("none", {"command": "rm -rf /"})


def test_a_prompt_is_judged_in_its_final_form(world: World) -> None:
    script = 'payload=$(cat); case "$payload" in *secret*) echo no >&2; exit 2;; esac'
    world.hook("kode", "user_prompt_submit", script)
    world.hook("kodik", "UserPromptSubmit", prints({"modified_prompt": "a secret"}))
    decision = world.engine().fire_sync(Event.user_prompt_submit("hello"))
    assert (decision.prompt, decision.verdict, decision.effect) == ("a secret", "block", "abort")


def test_what_has_happened_is_not_asked_about_again(world: World) -> None:
    world.hook("kolega", "PostToolUse", "cat >> seen")
    rewrites: Json = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "other"}}
    world.hook("claude", "PostToolUse", prints(rewrites))
    world.engine().fire_sync(Event.post_tool("Bash", {"command": "ls"}, "files"))
    assert (world.project / "seen").read_text().count("tool_name") == 1


def test_callables_of_the_program_are_asked_too(world: World) -> None:
    def gate(event: Event) -> Outcome | None:
        given = event.data["input"]
        return Outcome.block("no rm") if isinstance(given, dict) and "rm" in str(given["command"]) else None

    world.hook("claude", "PreToolUse", claude_rewrites(command="rm x"))
    engine = world.engine()
    engine.on("pre_tool", gate)
    assert engine.fire_sync(LS).reason == "no rm"


def test_a_gate_that_breaks_on_the_final_form_has_not_seen_it(world: World) -> None:
    """Its dialect lets a broken hook pass, so no gate has judged what will run."""
    world.hook("kodik", "PreToolUse", 'payload=$(cat); case "$payload" in *"rm x"*) kill -9 $$;; esac')
    world.hook("claude", "PreToolUse", claude_rewrites(command="rm x"))
    assert "unseen-form" in codes(world.engine().fire_sync(LS))
    assert world.engine(on_failure="deny").fire_sync(LS).verdict == "block"


def test_a_hook_in_shadow_refuses_nothing_the_second_time_either(world: World) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    (hook,) = world.engine().catalog.hooks[:1]
    world.config(f'[hooks."{hook.id}"]\nmode = "shadow"\n')
    world.hook("claude", "PreToolUse", claude_rewrites(command="rm x"))
    assert world.engine().fire_sync(LS).verdict == "none"


# -- what the journal records, and what is read from it


def test_the_journal_has_both_answers(world: World) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="rm x"))
    world.engine().fire_sync(LS)
    (line,) = world.journal()
    assert [call.get("again", False) for call in line["calls"]] == [False, False, True]
    assert line["calls"][0]["hook"] == line["calls"][2]["hook"] == line["decision"]["hook"]
    replayed = json.loads(world.command("replay", "--json").stdout)
    assert (replayed["judged"], replayed["changed"]) == (1, 0)


def test_the_bridge_answers_with_the_refusal(world: World) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    world.hook("codex", "PreToolUse", claude_rewrites(command="rm x"))
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    done = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    assert "no rm" in done.stdout + done.stderr
    assert "deny" in done.stdout or done.returncode == 2
    assert "asked again" in world.command("log").stdout + world.command("explain", "1").stdout


def test_one_refusal_in_two_runs_is_counted_once(world: World) -> None:
    world.hook("kode", "tool_call_pre", no_rm("seen"))
    world.hook("claude", "PreToolUse", claude_rewrites(command="rm x"))
    world.engine().fire_sync(LS)
    gate = next(row for row in json.loads(world.command("stats", "--json").stdout)["hooks"] if "kode" in row["hook"])
    assert (gate["runs"], gate["blocks"]) == (2, 1)
    page = world.command("explain", "1").stdout
    assert page.count("      run  ") == 2
    assert page.count("      again ") == 1
