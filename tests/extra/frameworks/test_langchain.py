"""Hooks in a LangChain agent with a scripted model, with an event loop and without."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain", reason="langchain is not installed; `make frameworks` has it")

from framework_contract import Answer, Contract, Desk, Ran, calls, many, played
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from anyhook.adapters.langchain import Hooked
from anyhook.model.outcome import Outcome

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World


class Scripted(BaseChatModel):
    answers: list[Any]
    told: list[str] = []  # noqa: RUF012 (pydantic copies it)
    tool: str = "add"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_more: Any) -> Scripted:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_more: Any) -> ChatResult:
        self.told.append("\n".join(f"{message.type}: {message.content}" for message in messages))
        answer = self.answers.pop(0)
        wanted = [
            {"name": self.tool, "args": given, "id": f"c{len(self.told)}-{number}"}
            for number, given in enumerate(calls(answer))
        ]
        message = AIMessage(answer if isinstance(answer, str) else "", tool_calls=wanted)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent_of(engine: Engine, tool: Any, model: Scripted) -> Any:
    return create_agent(model, [tool], middleware=[Hooked(engine)], checkpointer=InMemorySaver())


CONFIG: Any = {"configurable": {"thread_id": "one"}}


class TestAsync(Contract):
    column = "LangChain"

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = Scripted(answers=answers)
        agent = agent_of(engine, StructuredTool.from_function(desk.add), model)
        for prompt in prompts:
            state = await agent.ainvoke({"messages": [("user", prompt)]}, CONFIG)
        return Ran(model.told, state["messages"][-1].text)


class TestSync(Contract):
    column = "LangChain"

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = Scripted(answers=answers)
        agent = agent_of(engine, StructuredTool.from_function(desk.add), model)

        def talk() -> Any:
            for prompt in prompts:
                state = agent.invoke({"messages": [("user", prompt)]}, CONFIG)
            return state

        state = await asyncio.to_thread(talk)
        return Ran(model.told, state["messages"][-1].text)


def test_pictures_stay(world: World) -> None:
    engine = world.engine()
    engine.on("user_prompt_submit", lambda event: Outcome(prompt="What is it?"))
    model = Scripted(answers=["A cat."])
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    prompt = HumanMessage([{"type": "text", "text": "Look."}, picture])
    state = agent_of(engine, StructuredTool.from_function(Desk().add), model).invoke({"messages": [prompt]}, CONFIG)
    assert state["messages"][0].content == [{"type": "text", "text": "What is it?"}, picture]


def test_a_tool_that_answers_with_a_command(world: World) -> None:
    @tool
    def add(a: int, b: int) -> Any:
        """Adds."""
        return Command(update={"messages": [ToolMessage(f"sum {a + b}", tool_call_id="c1-0")]})

    engine = world.engine()
    seen: list[object] = []

    def see(event: Any) -> Outcome:
        seen.append(event.get("output"))
        return Outcome(tool_output="four")

    engine.on("post_tool", see)
    model = Scripted(answers=[{"a": 1, "b": 2}, "Hm."])
    agent_of(engine, add, model).invoke({"messages": [("user", "Add.")]}, CONFIG)
    assert seen == ["sum 3"]
    assert "four" in model.told[1]
    assert "sum 3" not in model.told[1]


def test_an_interruption_is_no_failure(world: World) -> None:
    """A tool that waits for a person is asked about again when it resumes, and only then has a result."""

    @tool
    def add(a: int, b: int) -> str:
        """Adds."""
        return f"sum {a + b} {interrupt('sure?')}"

    engine = world.engine()
    seen: list[str] = []
    for name in ("user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "stop"):
        engine.on(name, lambda event: seen.append(event.name))
    model = Scripted(answers=[{"a": 1, "b": 2}, "Hm."])
    agent = agent_of(engine, add, model)
    agent.invoke({"messages": [("user", "Add.")]}, CONFIG)
    assert seen == ["user_prompt_submit", "pre_tool"]
    agent.invoke(Command(resume="yes"), CONFIG)
    assert seen == ["user_prompt_submit", "pre_tool", "pre_tool", "post_tool", "stop"]
    assert "sum 3 yes" in model.told[1]


@pytest.mark.parametrize("listed", [False, True], ids=["state", "list"])
def test_the_tools_of_a_graph_of_ones_own(world: World, listed: bool) -> None:
    engine, desk = world.engine(), Desk()
    engine.on("pre_tool", many)
    hooked = Hooked(engine)
    node = ToolNode(
        [StructuredTool.from_function(desk.add)],
        wrap_tool_call=hooked.wrap_tool_call,
        awrap_tool_call=hooked.awrap_tool_call,
    )
    wanted = [
        {"name": "add", "args": {"a": 9, "b": 2}, "id": "one", "type": "tool_call"},
        {"name": "add", "args": {"a": 1, "b": 2}, "id": "two", "type": "tool_call"},
    ]
    asked = [AIMessage("", tool_calls=wanted)]
    graph = StateGraph(MessagesState)
    graph.add_node("tools", (lambda state: {"messages": node.invoke(state["messages"])}) if listed else node)
    graph.add_edge(START, "tools")
    said = graph.compile().invoke({"messages": asked})["messages"][1:]
    assert desk.sums == ["1+2"]
    assert [message.status for message in said] == ["error", "success"]
    assert "too much" in said[0].content


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted(answers=[{"a": 1, "b": 2}, "Three."])
    names = played(world, monkeypatch, "langchain", model=model, tools=[StructuredTool.from_function(Desk().add)])
    assert names["result"]["messages"][-1].text == "Three."
