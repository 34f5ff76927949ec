"""What hooks can do in every framework, as tests. Each framework's own file says how to run it, and what it lacks."""

from __future__ import annotations

import ast
import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.extra.frameworks.lifecycle import Refused
from anyhook.model.outcome import ASK, Outcome

if TYPE_CHECKING:
    from anyhook import Engine
    from anyhook.model.event import Event
    from conftest import World

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "frameworks.md").read_text(encoding="utf-8")
HEAD, _, *TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")
]
FLAGS = {
    "have the rewrite checked against the tool's types": "checks_rewrites",
    "replace a tool's output": "replaces_output",
    "see that a tool failed": "sees_failures",
    "rewrite a prompt": "rewrites_prompts",
    "end the turn after a tool": "ends_turns",
    "keep the agent working at a stop": "goes_on",
}

Answer = str | dict[str, int] | list[dict[str, int]]
"""What a scripted model says: text, a call of the tool `add`, or several calls at once."""


@dataclass
class Ran:
    """The result of a conversation."""

    told: list[str]
    """All the text that the model was given, call by call."""
    text: str
    """The agent's last answer."""


class Desk:
    """The tool that all tests use; it records every run of its body."""

    def __init__(self) -> None:
        self.sums: list[str] = []

    def add(self, a: int, b: int) -> str:
        """Adds two numbers."""
        self.sums.append(f"{a}+{b}")
        if a == 13:
            raise ValueError("no thirteens")
        return f"sum {a + b}"


def calls(answer: Answer) -> list[dict[str, int]]:
    """The tool calls in a model's answer."""
    return [] if isinstance(answer, str) else [answer] if isinstance(answer, dict) else answer


def many(event: Event) -> Outcome | None:
    given = event.get("input")
    return Outcome.block("too much") if isinstance(given, dict) and given["a"] == 9 else None


def played(world: World, monkeypatch: pytest.MonkeyPatch, module: str, **given: Any) -> dict[str, Any]:
    """Run the page's program that imports this adapter in the test's world; returns the names it defines."""
    monkeypatch.chdir(world.project)
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (program,) = (body for body in programs if f"adapters.{module} " in body)
    made = eval(compile(program, "frameworks.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), given)
    if made is not None:
        asyncio.run(made)
    return given


def once(outcome: Outcome) -> Any:
    """A hook that returns the outcome the first time, and nothing after that."""
    left = [outcome]
    return lambda event: left.pop() if left else None


class Contract:
    column = ""
    """The framework's name on the page about frameworks."""
    raises_refusals = True
    """A refused prompt raises `Refused`; otherwise the refusal is the agent's answer."""
    rewrites_prompts = True
    """A rewritten prompt replaces the user's; otherwise it is added to it."""
    goes_on = True
    """A hook can keep the agent working at the end of a turn."""
    ends_turns = True
    """A hook can end the turn after a tool."""
    sees_failures = True
    """A tool's exception is a `post_tool_failure`; otherwise its text is a result."""
    replaces_output = True
    """A replaced tool output is removed; otherwise the new one is added to it."""
    checks_rewrites = True
    """Rewritten arguments are checked against the tool's types."""

    def test_the_page_says_what_does_not_work(self) -> None:
        rows = {cells[0]: dict(zip(HEAD, cells, strict=True)) for cells in TABLE}
        lacks = {row for row, cells in rows.items() if re.match(r"no(:|$)", cells[self.column])}
        assert lacks == {row for row, flag in FLAGS.items() if not getattr(self, flag)}

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        raise NotImplementedError

    def run(
        self, world: World, answers: list[Answer], *prompts: str, mode: Any = "enforce", **hooks: Any
    ) -> tuple[Ran, Desk]:
        engine, desk = world.engine(mode=mode), Desk()
        for name, hook in hooks.items():
            engine.on(name, hook)
        return asyncio.run(self.converse(engine, desk, answers, *(prompts or ("Add.",)))), desk

    def test_no_hooks(self, world: World) -> None:
        ran, desk = self.run(world, [{"a": 1, "b": 2}, "Three."])
        assert (ran.text, desk.sums, len(ran.told)) == ("Three.", ["1+2"], 2)
        assert "sum 3" in ran.told[1]

    def test_a_process_denies(self, world: World) -> None:
        world.hook("kodik", "PreToolUse", "! grep -q '\"a\": *9' || { echo too much >&2; exit 2; }")
        ran, desk = self.run(world, [{"a": 9, "b": 2}, {"a": 1, "b": 2}, "Hm."])
        assert desk.sums == ["1+2"]
        assert "too much" in ran.told[1]
        assert ran.text == "Hm."

    def test_one_of_two_calls_is_denied(self, world: World) -> None:
        seen: list[object] = []
        ran, desk = self.run(
            world,
            [[{"a": 9, "b": 2}, {"a": 1, "b": 2}], "Hm."],
            pre_tool=many,
            post_tool=lambda event: seen.append(event.get("output")),
        )
        assert (desk.sums, seen) == (["1+2"], ["sum 3"])
        assert "too much" in ran.told[1]
        assert "sum 3" in ran.told[1]

    def test_nobody_confirms(self, world: World) -> None:
        ran, desk = self.run(
            world, [{"a": 1, "b": 2}, "Hm."], pre_tool=lambda event: Outcome(verdict=ASK, reason="really?")
        )
        assert desk.sums == []
        assert "really?" in ran.told[1]

    def test_input_is_rewritten(self, world: World) -> None:
        seen: list[object] = []
        ran, desk = self.run(
            world,
            [{"a": 1, "b": 2}, "Ten."],
            pre_tool=lambda event: Outcome(tool_input={"a": 5, "b": 5}, context=("in fives",)),
            post_tool=lambda event: seen.append(event.get("input")),
        )
        assert (desk.sums, seen) == (["5+5"], [{"a": 5, "b": 5}])
        assert "sum 10" in ran.told[1]
        assert "in fives" in ran.told[1]

    def test_a_rewrite_that_does_not_fit(self, world: World) -> None:
        if not self.checks_rewrites:
            pytest.skip("the framework checks no arguments")
        ran, desk = self.run(
            world, [{"a": 1, "b": 2}, "Hm."], pre_tool=lambda event: Outcome(tool_input={"a": "lots", "b": 2})
        )
        assert desk.sums == []
        assert ran.text == "Hm."

    def test_output_is_replaced(self, world: World) -> None:
        ran, desk = self.run(
            world,
            [{"a": 1, "b": 2}, "Hm."],
            post_tool=lambda event: Outcome(tool_output="four", context=("beside it",)),
        )
        assert desk.sums == ["1+2"]
        assert "four" in ran.told[1]
        assert "beside it" in ran.told[1]
        assert ("sum 3" in ran.told[1]) != self.replaces_output

    def test_an_objection_stands_beside_the_output(self, world: World) -> None:
        ran, _ = self.run(world, [{"a": 1, "b": 2}, "Hm."], post_tool=lambda event: Outcome.block("wrong"))
        assert "sum 3" in ran.told[1]
        assert "A hook objects: wrong" in ran.told[1]

    def test_a_tool_fails(self, world: World) -> None:
        seen: list[object] = []
        event = "post_tool_failure" if self.sees_failures else "post_tool"
        field = "tool_error" if self.sees_failures else "output"

        def failed(event: Event) -> Outcome:
            seen.append(event.get(field))
            return Outcome(context=("try twelve",))

        ran, desk = self.run(world, [{"a": 13, "b": 2}, "Hm."], **{event: failed})
        assert desk.sums == ["13+2"]
        assert len(seen) == 1
        assert "no thirteens" in str(seen[0])
        assert "no thirteens" in ran.told[1]
        assert "try twelve" in ran.told[1]

    def test_prompt_and_context(self, world: World) -> None:
        ran, _ = self.run(
            world,
            ["Two.", "Three."],
            "Add.",
            "Again.",
            session_start=lambda event: Outcome(context=("at the start",)),
            user_prompt_submit=once(Outcome(prompt="Sum.", context=("with the prompt",))),
        )
        first, second = ran.told
        assert [first.count(text) for text in ("at the start", "Sum.", "with the prompt")] == [1, 1, 1]
        assert ("Add." in first) != self.rewrites_prompts
        assert "Again." in second
        assert second.count("at the start") == 1

    def test_a_refused_prompt(self, world: World) -> None:
        def refuse(event: Event) -> Outcome | None:
            return Outcome.block("not today") if event.get("prompt") == "Add." else None

        if self.raises_refusals:
            with pytest.raises(Refused, match="not today"):
                self.run(world, ["Two."], user_prompt_submit=refuse)
        ran, _ = self.run(
            world, ["Two."], *(() if self.raises_refusals else ("Add.",)), "Go.", user_prompt_submit=refuse
        )
        assert len(ran.told) == 1
        assert "Go." in ran.told[0]
        assert "Add." not in ran.told[0]

    def test_a_stop_keeps_the_agent_working(self, world: World) -> None:
        prompts: list[object] = []
        ran, _ = self.run(
            world,
            ["Done.", "Tested."],
            *(("Add.",) if self.goes_on else ("Add.", "Next.")),
            stop=once(Outcome.block("run the tests")),
            user_prompt_submit=lambda event: prompts.append(event.get("prompt")),
        )
        assert (ran.text, len(ran.told)) == ("Tested.", 2)
        assert "run the tests" not in ran.told[0]
        assert "run the tests" in ran.told[1]
        assert prompts == (["Add."] if self.goes_on else ["Add.", "Next."])

    def test_a_dialects_bound_is_kept(self, world: World) -> None:
        """A hook that always objects to the end of a turn is eventually ignored."""
        if not self.goes_on:
            pytest.skip("hooks cannot keep this agent working")
        world.hook("agenthooks", "before_stop", "echo more >&2; exit 2")
        ran, _ = self.run(world, ["One.", "Two.", "Three.", "Four.", "Five.", "Six."])
        assert 1 < len(ran.told) < 6

    def test_a_hook_ends_the_turn(self, world: World) -> None:
        if not self.ends_turns:
            pytest.skip("hooks cannot end a turn of this agent")
        ran, desk = self.run(
            world, [{"a": 1, "b": 2}, "Three."], post_tool=lambda event: Outcome(end_turn=True, reason="enough")
        )
        assert (desk.sums, len(ran.told)) == (["1+2"], 1)

    def test_events_in_order(self, world: World) -> None:
        seen: list[str] = []
        names = ("session_start", "user_prompt_submit", "turn_start", "pre_tool", "post_tool", "stop", "turn_end")
        self.run(
            world,
            [{"a": 1, "b": 2}, "Three.", "Four."],
            "Add.",
            "Again.",
            **{name: lambda event: seen.append(event.name) for name in names},
        )
        assert seen == [*names, "user_prompt_submit", "turn_start", "stop", "turn_end"]

    def test_shadow_mode_enforces_nothing(self, world: World) -> None:
        block = Outcome.block("no")
        ran, desk = self.run(
            world,
            [{"a": 1, "b": 2}, "Three."],
            mode="shadow",
            **dict.fromkeys(("user_prompt_submit", "pre_tool", "post_tool", "stop"), lambda event: block),
        )
        assert (ran.text, desk.sums, len(ran.told)) == ("Three.", ["1+2"], 2)
