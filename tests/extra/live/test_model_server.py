"""The fake model server speaks the providers' wire formats. Otherwise the tests that use it would prove nothing."""

from __future__ import annotations

import asyncio

import pytest
from live.troubled import ModelReply, ModelServer, text_of
from pydantic_ai import Agent
from pydantic_ai.models import Model

from anyhook.extra.live.wire import ModelCall
from anyhook.handlers.model_client import Client

WIRES = {"openai:m": "responses", "openai-chat:m": "chat", "anthropic:m": "messages"}


async def talk(model: Model, streamed: bool) -> tuple[str, list[str]]:
    """Run an agent with one tool. Returns its last text, and the arguments of the tool calls."""
    agent = Agent(model)
    called: list[str] = []

    @agent.tool_plain
    def look(place: str) -> str:
        """Look somewhere."""
        called.append(place)
        return f"nothing at {place}"

    async with agent:
        if not streamed:
            return (await agent.run("Look around.")).output, called
        async with agent.run_stream("Look around.") as result:
            return await result.get_output(), called


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", WIRES)
def test_text_and_tools(name: str, streamed: bool) -> None:
    script = [ModelReply(calls=(ModelCall("look", {"place": "über"}),)), ModelReply("Nothing to be seen, anywhere.")]
    with ModelServer(script) as server:
        model = Client(name, {}, server.env).model
        text, called = asyncio.run(talk(model, streamed))
    assert (text, called) == ("Nothing to be seen, anywhere.", ["über"])
    assert [asked.wire for asked in server.asked] == [WIRES[name]] * 2
    assert [asked.tools for asked in server.asked] == [["look"]] * 2
    assert "Look around." in text_of(server.asked[0])
    assert "nothing at über" in text_of(server.asked[1])
    assert bool(server.asked[0].body.get("stream")) is streamed
