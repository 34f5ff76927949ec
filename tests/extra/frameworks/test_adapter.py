"""The public capability in a user's pydantic-ai agent, with hooks of the embedding program."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext, UserPromptNode
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from anyhook.adapters.pydantic_ai import Hooked, Refused
from anyhook.extra.frameworks.conversation import HookedConversation
from anyhook.extra.frameworks.lifecycle import GuardOffWarning, Lifecycle
from anyhook.extra.frameworks.messages import plain
from anyhook.model.event import Event
from anyhook.model.outcome import Outcome
from conftest import World


class Model:
    """Gives its answers in turn, and remembers what it was sent."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.told: list[str] = []

    async def __call__(self, messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        self.told.append("\n".join(message["content"] for message in plain(messages[-1:])))
        answer = self.answers.pop(0)
        return ModelResponse(parts=[TextPart(answer) if isinstance(answer, str) else ToolCallPart("add", answer)])


def added(world: World, model: Model, **hooks: Any) -> tuple[Agent[None, str], list[str]]:
    engine = world.engine()
    for name, hook in hooks.items():
        engine.on(name, hook)
    agent = Agent(FunctionModel(model), capabilities=[Hooked(engine)])
    sums: list[str] = []

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        sums.append(f"{a}+{b}")
        return a + b

    return agent, sums


def test_three_lines(world: World) -> None:
    model = Model({"a": 1, "b": 2}, "Three.")
    seen: list[Event] = []
    agent, sums = added(world, model, pre_tool=seen.append)
    assert asyncio.run(agent.run("Add.")).output == "Three."
    assert sums == ["1+2"]
    assert [(event.get("tool"), event.get("input")) for event in seen] == [("add", {"a": 1, "b": 2})]


def test_deny_and_rewrite(world: World) -> None:
    def judge(event: Event) -> Outcome | None:
        given = event.get("input")
        assert isinstance(given, dict)
        return Outcome.block("too much") if given["a"] == 9 else Outcome(tool_input={"a": 5, "b": 5})

    model = Model({"a": 9, "b": 2}, {"a": 1, "b": 2}, "Ten.")
    agent, sums = added(world, model, pre_tool=judge)
    assert asyncio.run(agent.run("Add.")).output == "Ten."
    assert sums == ["5+5"]
    assert "too much" in model.told[1]
    assert "10" in model.told[2]


class Doubling(AbstractCapability[Any]):
    """Wraps the same calls as `Hooked`, and records them."""

    def __init__(self) -> None:
        self.nodes: list[str] = []

    async def wrap_node_run(self, ctx: RunContext[Any], *, node: Any, handler: Any) -> Any:
        self.nodes.append(type(node).__name__)
        return await handler(node)

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        return 2 * await handler(args)


def test_a_capability_inside_does_its_own_work(world: World) -> None:
    model = Model({"a": 9, "b": 2}, {"a": 1, "b": 2}, "Six.")
    engine = world.engine()
    engine.on("pre_tool", lambda event: Outcome.block("no nines") if "9" in str(event.get("input")) else None)
    outputs: list[Event] = []
    engine.on("post_tool", outputs.append)
    doubling = Doubling()
    agent = Agent(FunctionModel(model), capabilities=[Hooked(engine, wrapped=doubling)])
    sums: list[int] = []

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        sums.append(a + b)
        return a + b

    assert asyncio.run(agent.run("Add.")).output == "Six."
    assert (sums, [event.get("output") for event in outputs]) == ([3], ["6"])
    assert "no nines" in model.told[1]
    assert "6" in model.told[2]
    assert doubling.nodes == ["UserPromptNode", *["ModelRequestNode", "CallToolsNode"] * 3]


def test_a_rewrite_is_checked_like_the_models_own(world: World) -> None:
    model = Model({"a": 1, "b": 2}, "Hm.")
    agent, sums = added(world, model, pre_tool=lambda event: Outcome(tool_input={"a": "many", "b": 2}))
    assert asyncio.run(agent.run("Add.")).output == "Hm."
    assert sums == []
    assert "does not take" in model.told[1]


def test_context_and_output(world: World) -> None:
    model = Model({"a": 1, "b": 2}, "Done.")
    agent, _ = added(
        world,
        model,
        session_start=lambda event: Outcome(context=("at the start",)),
        user_prompt_submit=lambda event: Outcome(prompt="Sum.", context=("with the prompt",)),
        post_tool=lambda event: Outcome(tool_output="four", context=("after the tool",)),
    )
    asyncio.run(agent.run("Add."))
    assert model.told[0] == "at the start\n\nSum.\n\nwith the prompt"
    assert model.told[1] == "[add: four\n\nafter the tool]"


def test_a_refused_prompt(world: World) -> None:
    model = Model()
    agent, _ = added(world, model, user_prompt_submit=lambda event: Outcome.block("no"))
    with pytest.raises(Refused, match="no") as caught:
        asyncio.run(agent.run("Add."))
    assert caught.value.decision.event == "user_prompt_submit"
    assert model.told == []


class OtherPromptNode(UserPromptNode[Any, Any]):
    """The prompt node of another version of the framework."""

    def __class_getitem__(cls, _parameters: object) -> type[OtherPromptNode]:
        return cls


def test_a_prompt_of_a_subclass_is_refused_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydantic_ai._agent_graph.UserPromptNode", OtherPromptNode)
    model = Model("never")
    agent, _ = added(world, model, user_prompt_submit=lambda event: Outcome.block("no"))
    with pytest.raises(Refused, match="no"):
        asyncio.run(agent.run("Add."))
    assert model.told == []


def test_sessions(world: World) -> None:
    """The first run starts the session, and later runs belong to it. The host says when it ends."""
    seen: list[str] = []
    engine = world.engine()
    for name in ("session_start", "turn_start", "turn_end", "session_end"):
        engine.on(name, lambda event: seen.append(event.name))
    hooked = Hooked(engine)
    agent = Agent(FunctionModel(Model("One.", "Two.")), capabilities=[hooked])

    async def both() -> None:
        await agent.run("Go.")
        await agent.run("Go.")
        await hooked.lifecycle.end("done")
        await hooked.lifecycle.end("done")

    asyncio.run(both())
    assert seen == ["session_start", "turn_start", "turn_end", "turn_start", "turn_end", "session_end"]


def test_shadow_mode_enforces_nothing(world: World) -> None:
    model = Model({"a": 1, "b": 2}, "Three.")
    engine = world.engine(mode="shadow")
    engine.on("pre_tool", lambda event: Outcome.block("no"))
    agent = Agent(FunctionModel(model), capabilities=[Hooked(engine)])
    sums: list[int] = []

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        sums.append(a + b)
        return a + b

    assert asyncio.run(agent.run("Add.")).output == "Three."
    assert sums == [3]


def test_many_runs_at_once(world: World) -> None:
    """Parallel runs are not sub-agents of each other."""
    kinds: list[object] = []
    engine = world.engine()
    engine.on("stop", lambda event: kinds.append(event.get("invoked_by")))
    agent = Agent(FunctionModel(Model(*["Done."] * 5)), capabilities=[Hooked(engine)])

    async def all_of_them() -> None:
        await asyncio.gather(*[agent.run("Go.") for _ in range(5)])

    asyncio.run(all_of_them())
    assert kinds == ["main"] * 5


EXAMPLE = Path(__file__).resolve().parents[3] / "examples/own-agent"


def test_the_example(world: World) -> None:
    """As its README says: before the approval the tool runs; after that it is denied with the hook's reason."""
    shutil.copytree(EXAMPLE, world.project, dirs_exist_ok=True)
    command = [sys.executable, "agent.py"]
    before = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=True)
    assert ("is gone" in before.stdout, "Nothing is deleted" in before.stdout) == (True, False)
    assert world.command("trust", "--yes").returncode == 0
    after = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=True)
    assert ("is gone" in after.stdout, "Nothing is deleted here." in after.stdout) == (False, True)
    assert '"word_count":1' in after.stdout


def test_the_lines_of_the_page() -> None:
    """The page and the example contain the three lines exactly as they run here."""
    page = (EXAMPLE.parents[1] / "docs/adapter.md").read_text()
    lines = [
        "from anyhook import Engine",
        "from anyhook.adapters.pydantic_ai import Hooked",
        "Hooked(Engine.open(",
    ]
    assert [line for line in lines if line not in page or line not in (EXAMPLE / "agent.py").read_text()] == []


@pytest.mark.parametrize("framework", ["langchain", "strands", "google_adk"])
def test_a_guard_that_is_off_is_warned_about_once(
    world: World, caplog: pytest.LogCaptureFixture, framework: str
) -> None:
    """The warning goes through `warnings` and the framework's logger. There is none if all is well."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HookedConversation(world.engine(), None, framework)
    assert caplog.records == []
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    lifecycle = Lifecycle(world.engine())
    with pytest.warns(GuardOffWarning, match=r"1 guard OFF: .* Run: anyhook trust"):
        HookedConversation(lifecycle.engine, lifecycle, framework)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HookedConversation(lifecycle.engine, lifecycle, framework)
    assert [(record.name, "OFF" in record.message) for record in caplog.records] == [(framework, True)]
    with pytest.warns(GuardOffWarning):
        Hooked(world.engine())
