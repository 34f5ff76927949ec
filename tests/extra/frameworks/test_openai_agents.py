"""Hooks in an agent of OpenAI's Agents SDK, with the SDK's own scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed; `make frameworks` has it")

from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    WebSearchTool,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from framework_contract import Answer, Contract, Desk, Ran, calls, many, once, played

from anyhook.adapters.openai_agents import Hooked, UnguardedTools
from anyhook.model.outcome import Outcome

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World

QUIET = RunConfig(tracing_disabled=True)


def scripted(answers: list[Answer], tool: str = "add") -> ScriptedModel:
    steps = []
    for index, answer in enumerate(answers):
        if isinstance(answer, str):
            steps.append(ModelStep(output=[assistant_message(answer)]))
        else:
            wanted = [
                function_call(tool, given, call_id=f"c{index}-{number}") for number, given in enumerate(calls(answer))
            ]
            steps.append(ModelStep(output=wanted))
    return ScriptedModel(steps)


def told(model: ScriptedModel) -> list[str]:
    return [json.dumps(call.input, default=str) for call in model.calls]


class TestAgents(Contract):
    column = "OpenAI Agents"
    ends_turns = False
    sees_failures = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = scripted(answers)
        add = function_tool(desk.add, failure_error_function=lambda context, error: str(error))
        agent = Agent(name="adder", model=model, tools=[add])
        hooked, session = Hooked(engine), SQLiteSession("one")
        for prompt in prompts:
            result = await hooked.run(agent, prompt, run_config=QUIET, session=session)
        return Ran(told(model), result.final_output)


def run(world: World, agent: Any, **hooks: Any) -> Any:
    engine = world.engine()
    for name, hook in hooks.items():
        engine.on(name, hook)
    return asyncio.run(Hooked(engine).run(agent, "Add.", run_config=QUIET))


def test_without_a_session_the_conversation_goes_along(world: World) -> None:
    model = scripted([{"a": 1, "b": 2}, "Done.", "Tested."])
    agent = Agent(name="adder", model=model, tools=[function_tool(Desk().add)])
    result = run(world, agent, stop=once(Outcome.block("run the tests")))
    assert result.final_output == "Tested."
    last = told(model)[2]
    assert [last.count(text) for text in ("Add.", "sum 3", "Done.", "run the tests")] == [1, 1, 1, 1]


def test_an_exception_that_nobody_words(world: World) -> None:
    """If a tool does not catch its exceptions, hooks see a failure, and the run fails as it would without hooks."""
    seen: list[object] = []
    tool = function_tool(Desk().add, failure_error_function=None)
    agent = Agent(name="adder", model=scripted([{"a": 13, "b": 1}]), tools=[tool])
    with pytest.raises(Exception, match="no thirteens"):
        run(world, agent, post_tool_failure=lambda event: seen.append(event.get("tool_error")))
    assert seen == ["no thirteens"]


@pytest.mark.parametrize("wrap", [lambda agent: agent, handoff], ids=["agent", "handoff"])
def test_hooks_follow_a_handoff(world: World, wrap: Any) -> None:
    desk = Desk()
    model = scripted([{"a": 9, "b": 2}, "Hm."])
    adder = Agent(name="adder", model=model, tools=[function_tool(desk.add)])
    door = ScriptedModel([ModelStep(output=[function_call("transfer_to_adder", {}, call_id="h")])])
    front = Agent(name="front", model=door, handoffs=[wrap(adder)])
    adder.handoffs = [front]
    assert run(world, front, pre_tool=many).final_output == "Hm."
    assert desk.sums == []
    assert "too much" in told(model)[1]
    assert adder.handoffs == [front], "the agent that was given is left as it is"


def test_a_guarded_agent_is_a_tool(world: World) -> None:
    desk = Desk()
    inner = scripted([{"a": 9, "b": 2}, "Refused."])
    engine = world.engine()
    engine.on("pre_tool", many_of_add)
    hooked = Hooked(engine)
    adder = hooked.guard(Agent(name="adder", model=inner, tools=[function_tool(desk.add)]))
    outer = ScriptedModel(
        [
            ModelStep(output=[function_call("ask_adder", {"input": "9+2"}, call_id="o")]),
            ModelStep(output=[assistant_message("Hm.")]),
        ]
    )
    boss = Agent(name="boss", model=outer, tools=[adder.as_tool("ask_adder", "Adds.")])
    assert asyncio.run(hooked.run(boss, "Add.", run_config=QUIET)).final_output == "Hm."
    assert desk.sums == []
    assert "Refused." in told(outer)[1]


def many_of_add(event: Any) -> Outcome | None:
    return many(event) if event.get("tool") == "add" else None


def test_streaming_runs_have_hooks_around_tools(world: World) -> None:
    desk, engine = Desk(), world.engine()
    engine.on("pre_tool", many)
    model = scripted([{"a": 9, "b": 2}, "Hm."])
    agent = Hooked(engine).guard(Agent(name="adder", model=model, tools=[function_tool(desk.add)]))

    async def stream() -> Any:
        result = Runner.run_streamed(agent, "Add.", run_config=QUIET)
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(stream()) == "Hm."
    assert desk.sums == []


def test_a_picture_keeps_its_form_beside_a_note(world: World) -> None:
    def add(a: int, b: int) -> ToolOutputImage:
        return ToolOutputImage(image_url="data:,")

    model = scripted([{"a": 1, "b": 2}, "Hm."])
    agent = Agent(name="adder", model=model, tools=[function_tool(add)])
    run(world, agent, post_tool=lambda event: Outcome(context=("a note",)))
    output = json.loads(told(model)[1])[-1]["output"]
    assert [part["type"] for part in output] == ["input_image", "input_text"]


def test_tools_that_hooks_cannot_see_are_named(world: World) -> None:
    agent = Agent(name="adder", model=scripted(["Hm."]), tools=[WebSearchTool()])
    with pytest.warns(UnguardedTools, match="web_search.*runs at the provider"):
        run(world, agent)


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1, 2]", "rm -rf /"])
def test_arguments_that_are_no_object(world: World, arguments: str) -> None:
    """A tool with its own parser may accept arguments that no hook can read, so it is not called."""
    ran: list[str] = []

    async def lenient(context: Any, given: str) -> str:
        ran.append(given)
        return "ran"

    add = FunctionTool(
        name="add", description="", params_json_schema={}, on_invoke_tool=lenient, strict_json_schema=False
    )
    bad = function_call("add", {}, call_id="c").model_copy(update={"arguments": arguments})
    model = ScriptedModel([ModelStep(output=[bad]), ModelStep(output=[assistant_message("Hm.")])])
    assert run(world, Agent(name="adder", model=model, tools=[add])).final_output == "Hm."
    assert ran == []
    assert "not a JSON object" in told(model)[1]


def test_a_call_that_waits_for_approval(world: World) -> None:
    """The hooks are asked when the call is about to run. When the run continues, the prompt does not count as a new
    one."""
    desk, engine, seen = Desk(), world.engine(), []
    for name in ("user_prompt_submit", "pre_tool", "post_tool", "stop"):
        engine.on(name, lambda event: seen.append(event.name))
    model = scripted([{"a": 1, "b": 2}, "Three."])
    agent = Agent(name="adder", model=model, tools=[function_tool(desk.add, needs_approval=True)])
    hooked = Hooked(engine)

    async def both() -> Any:
        waiting = await hooked.run(agent, "Add.", run_config=QUIET)
        assert (desk.sums, seen) == ([], ["user_prompt_submit"])
        state = waiting.to_state()
        state.approve(waiting.interruptions[0])
        return await hooked.run(agent, state, run_config=QUIET)

    assert asyncio.run(both()).final_output == "Three."
    assert (desk.sums, seen) == (["1+2"], ["user_prompt_submit", "pre_tool", "post_tool", "stop"])


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    set_tracing_disabled(True)
    model = scripted([{"a": 1, "b": 2}, "Three."])
    names = played(world, monkeypatch, "openai_agents", model=model, tools=[function_tool(Desk().add)])
    assert names["result"].final_output == "Three."
