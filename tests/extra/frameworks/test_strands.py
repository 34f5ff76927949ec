"""Hooks in a Strands agent with a scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("strands", reason="strands-agents is not installed; `make frameworks` has it")

from framework_contract import Answer, Contract, Desk, Ran, calls, many, played
from strands import Agent, tool
from strands.models import Model

from anyhook.adapters.strands import Hooked

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World


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
    column = "Strands"

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model = Scripted(answers)
        agent = Agent(model, tools=[tool(desk.add, name="add")], hooks=[Hooked(engine)], callback_handler=None)
        for prompt in prompts:
            result = await agent.invoke_async(prompt)
        return Ran(model.told, str(result).strip())


def test_without_an_event_loop(world: World) -> None:
    engine, desk = world.engine(), Desk()
    engine.on("pre_tool", many)
    agent = Agent(
        Scripted([{"a": 9, "b": 2}, "Hm."]),
        tools=[tool(desk.add, name="add")],
        hooks=[Hooked(engine)],
        callback_handler=None,
    )
    assert str(agent("Add.")).strip() == "Hm."
    assert desk.sums == []


def test_agents_that_share_hooks(world: World) -> None:
    """Several agents in parallel: each has its own calls and turns, and the end of each session is fired once."""
    engine, desks, seen = world.engine(), [Desk() for _ in range(4)], []
    engine.on("pre_tool", many)
    engine.on("stop", lambda event: seen.append(event.name))
    engine.on("session_end", lambda event: seen.append(event.name))
    hooked = Hooked(engine)

    async def all_of_them() -> None:
        agents = [
            Agent(
                Scripted([[{"a": 9, "b": 1}, {"a": number, "b": 1}], "Done."]),
                tools=[tool(desk.add, name="add")],
                hooks=[hooked],
                callback_handler=None,
            )
            for number, desk in enumerate(desks)
        ]
        await asyncio.gather(*(agent.invoke_async("Add.") for agent in agents))
        await hooked.lifecycle.end("done")
        await hooked.lifecycle.end("done")

    asyncio.run(all_of_them())
    assert [desk.sums for desk in desks] == [[f"{number}+1"] for number in range(4)]
    assert seen == ["stop"] * 4 + ["session_end"]


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names = played(
        world,
        monkeypatch,
        "strands",
        model=Scripted([{"a": 1, "b": 2}, "Three."]),
        tools=[tool(Desk().add, name="add")],
    )
    assert str(names["result"]).strip() == "Three."
