"""Hooks in an agent of OpenAI's Agents SDK with its own scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed; `make frameworks` has it")

from agents import Agent, RunConfig, Runner, SQLiteSession, ToolOutputImage, WebSearchTool, function_tool, handoff
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from anyhook.adapters.openai_agents import Hooked, UnguardedTools
from anyhook.model.outcome import Outcome
from framework_contract import Answer, Contract, Desk, Ran, calls, many, once

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
    ends_turns = False
    sees_failures = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = scripted(answers)
        agent = Agent(name="adder", model=model, tools=[function_tool(desk.add)])
        hooked, session = Hooked(engine), SQLiteSession("one")
        for prompt in prompts:
            result = await hooked.run(agent, prompt, run_config=QUIET, session=session)
        return Ran(told(model), result.final_output)
