"""Law: what runs is what the gates saw, or a problem says that it is not. Hooks of several dialects block and rewrite
at random. Nothing is started: each hook is a function of the command that it is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anyhook import Event
from anyhook.engine.present import StartedHook, stdin_of
from anyhook.model.call import Call, Run
from conftest import World

if TYPE_CHECKING:
    from pathlib import Path

    from anyhook import Engine
    from anyhook.engine.context import Context
    from anyhook.engine.match import HookStep
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Scene

DIALECTS = {"kode": "tool_call_pre", "agenthooks": "before_tool", "claude": "PreToolUse", "gemini": "BeforeTool"}
EACH = 2
COMMANDS = ("a", "b", "c", "d")
Behaviour = tuple[str, frozenset[str], str]
"""What a hook does (`refuses` or `rewrites`), the commands on which it does so, and what it rewrites them to."""


def answer(table: str, behaviour: Behaviour, command: str) -> tuple[int, str]:
    what, commands, into = behaviour
    if command not in commands:
        return 0, ""
    if what == "refuses":
        return 2, ""
    changed: Json = {"command": into}
    return 0, json.dumps(
        {
            "kode": {"replace_tool_input": changed},
            "agenthooks": {"modified_input": changed},
            "claude": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}},
            "gemini": {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": changed}},
        }[table]
    )


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root: Path = tmp_path_factory.mktemp("law")
    world = World(root / "world")
    for table, native in DIALECTS.items():
        for number in range(EACH):
            world.hook(table, native, f"exit 0 # {table} {number}", name=f"n{number}")
    return world.engine()


behaviours = st.tuples(
    st.sampled_from(("refuses", "rewrites")), st.frozensets(st.sampled_from(COMMANDS)), st.sampled_from(COMMANDS)
)


NOTHING: Behaviour = ("refuses", frozenset(), "a")
BACK: list[Behaviour] = [("rewrites", frozenset("a"), "b"), ("refuses", frozenset("a"), "a")]
"""A gate between two rewrites; the second restores the original call."""


@example([*[NOTHING] * 5, *BACK, ("rewrites", frozenset("ab"), "a")], "native")
@example([*[NOTHING] * 6, ("rewrites", frozenset("a"), "b"), ("refuses", frozenset("b"), "a")], "native")
@example([*[NOTHING] * 6, ("rewrites", frozenset("a"), "b"), ("refuses", frozenset("b"), "a")], "deny")
@given(
    st.lists(behaviours, min_size=EACH * len(DIALECTS), max_size=EACH * len(DIALECTS)),
    st.sampled_from(("native", "deny")),
)
def test_no_gate_lets_a_form_pass_that_it_would_refuse(engine: Engine, chosen: list[Behaviour], posture: str) -> None:
    hooks = engine.catalog.for_event("pre_tool")
    hooks = [hook for hook in hooks if hook.scope != "builtin"]
    does = {hook.id: behaviour for hook, behaviour in zip(hooks, chosen, strict=True)}
    asked: list[tuple[str, str]] = []

    def start(_: Context, step: HookStep, scene: Scene) -> StartedHook:
        stdin = stdin_of(step.dialect, step.row, scene)
        command = next(name for name in COMMANDS if f'"command":"{name}"' in stdin.decode().replace(": ", ":"))
        asked.append((step.hook.id, command))
        status, stdout = answer(step.hook.dialect, does[step.hook.id], command)
        run = Run("exited", status, stdout.encode(), b"no", 0, 0.0)
        return StartedHook(Call((), b"", {}, "/", 1.0, ""), "", run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anyhook.engine.walk.start_hook", start)
        patch.setattr("anyhook.engine.cases.start_hook", start)
        decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "a"}), on_failure=posture)
    times = [hook for hook, _ in asked]
    assert all(times.count(hook) <= 2 for hook in times), "once more, and no more"
    if decision.verdict == "block":
        return
    final = str((decision.tool_input or {"command": "a"})["command"])
    if posture == "deny":
        refusing = [hook.id for hook in hooks if does[hook.id][0] == "refuses" and final in does[hook.id][1]]
        assert refusing == [], "under `deny` nothing runs that a gate has not seen"
        assert "unseen-form" not in [problem.code for problem in decision.problems]
        return
    unseen = " ".join(problem.what for problem in decision.problems if problem.code == "unseen-form")
    for place, hook in enumerate(hooks):
        what, commands, _ = does[hook.id]
        if what == "refuses" and final in commands:
            assert (hook.id, final) not in asked, "a refusal counts"
            assert hook.id in unseen, "what a gate has not seen is said"
            foreign = [other.id for other in hooks[place + 1 :] if other.dialect != hook.dialect]
            assert not any(_rewrote(does[other], asked, other) for other in foreign), "another dialect's is shown"


def _rewrote(behaviour: Behaviour, asked: list[tuple[str, str]], hook: str) -> bool:
    shown = next((command for name, command in asked if name == hook), None)
    return behaviour[0] == "rewrites" and shown in behaviour[1] and shown != behaviour[2]
