"""Hooks in an agent of Google's ADK with a scripted model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed; `make frameworks` has it")

from framework_contract import Answer, Contract, Desk, Ran, calls, played
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

from anyhook.adapters.google_adk import Hooked
from anyhook.model.outcome import Outcome

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World


class Scripted(BaseLlm):
    answers: list[Any]
    told: list[str] = []  # noqa: RUF012 (pydantic copies it)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        self.told.append("\n".join(content.model_dump_json(exclude_none=True) for content in llm_request.contents))
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            parts = [Part(text=answer)]
        else:
            ids = (f"c{len(self.told)}-{number}" for number in range(99))
            parts = [Part(function_call=FunctionCall(id=next(ids), name="add", args=given)) for given in calls(answer)]
        yield LlmResponse(content=Content(role="model", parts=parts))


class TestAdk(Contract):
    column = "Google ADK"
    raises_refusals = False
    goes_on = False
    checks_rewrites = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = Scripted(model="scripted", answers=answers)
        agent = LlmAgent(name="adder", model=model, tools=[desk.add])
        runner = InMemoryRunner(app=App(name="test", root_agent=agent, plugins=[Hooked(engine)]))
        session = await runner.session_service.create_session(app_name="test", user_id="me")
        text = ""
        for prompt in prompts:
            message = Content(role="user", parts=[Part(text=prompt)])
            async for event in runner.run_async(user_id="me", session_id=session.id, new_message=message):
                if event.is_final_response() and event.content:
                    text = "".join(part.text or "" for part in event.content.parts)
        return Ran(model.told, text)


def test_sub_agents_have_the_same_hooks(world: World) -> None:
    """One plugin for the runner also serves the agent that the first one hands over to."""
    engine, desk, seen = world.engine(), Desk(), []
    engine.on("pre_tool", lambda event: Outcome.block("too much") if event.get("tool") == "add" else None)
    engine.on("stop", lambda event: seen.append(event.get("last_message")))
    model = Scripted(model="scripted", answers=[{"a": 9, "b": 2}, "Refused."])
    adder = LlmAgent(name="adder", model=model, tools=[desk.add])
    front = LlmAgent(name="front", model=Handing(model="handing"), sub_agents=[adder])
    runner = InMemoryRunner(app=App(name="test", root_agent=front, plugins=[Hooked(engine)]))

    async def talk() -> None:
        session = await runner.session_service.create_session(app_name="test", user_id="me")
        message = Content(role="user", parts=[Part(text="Add.")])
        async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=message):
            pass

    asyncio.run(talk())
    assert desk.sums == []
    assert "too much" in model.told[1]
    assert seen == ["Refused."]


class Handing(BaseLlm):
    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        call = FunctionCall(id="h", name="transfer_to_agent", args={"agent_name": "adder"})
        yield LlmResponse(content=Content(role="model", parts=[Part(function_call=call)]))


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names = played(world, monkeypatch, "google_adk", model=Scripted(model="scripted", answers=[]), tools=[Desk().add])
    assert names["runner"].app_name == "coder"
