"""Hooks in a Strands agent with a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("strands", reason="strands-agents is not installed; `make frameworks` has it")

from framework_contract import Answer, Contract, Desk, Ran, calls
from strands import Agent, tool
from strands.models import Model

from anyhook.adapters.strands import Hooked

if TYPE_CHECKING:
    from anyhook import Engine


class Scripted(Model):
    def __init__(self, answers: list[Answer]) -> None:
        self.answers = list(answers)
        self.told: list[str] = []

    def update_config(self, **_config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_given: Any, **_more: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_given: Any, **_more: Any) -> Any:
        self.told.append(json.dumps(messages))
        answer = self.answers.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for number, given in enumerate(calls(answer)):
            start = {"toolUse": {"name": "add", "toolUseId": f"c{len(self.told)}-{number}"}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        if isinstance(answer, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(answer, str) else "tool_use"}}


class TestStrands(Contract):
    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = Scripted(answers)
        agent = Agent(model, tools=[tool(desk.add, name="add")], hooks=[Hooked(engine)], callback_handler=None)
        for prompt in prompts:
            result = await agent.invoke_async(prompt)
        return Ran(model.told, str(result).strip())
