"""Hooks in an agent of the Claude Agent SDK: the agent that the SDK brings along, against a model on the loopback."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed; `make frameworks` has it")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)

from anyhook.adapters.claude_agent_sdk import Hooked, reshaped, shown
from anyhook.model.outcome import ALLOW, Outcome
from fakes.model_server import Asked, ModelServer
from fakes.wire import Answer as Said
from fakes.wire import Call
from framework_contract import Answer, Contract, Desk, Ran, calls

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World

ADD = "mcp__desk__add"
NOWHERE = "http://127.0.0.1:9"
"""A proxy at which nobody listens: whatever the agent wants besides its model, it does not get."""


class Model:
    """Answers in turn what has tools, which leaves out titles and the like."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.told = list(answers), []

    def __call__(self, asked: Asked) -> Said:
        if not asked.tools:
            return Said("A title")
        self.told.append(asked.text)
        answer = self.answers.pop(0)
        if isinstance(answer, Call):
            return Said(calls=(answer,))
        return Said(answer) if isinstance(answer, str) else Said(calls=tuple(Call(ADD, given) for given in calls(answer)))


def options(engine: Engine, url: str, **more: Any) -> ClaudeAgentOptions:
    home = Path(engine.setup.env["HOME"])
    return ClaudeAgentOptions(
        cwd=engine.setup.project,
        setting_sources=[],
        hooks=Hooked(engine).matchers(),
        env={
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "HTTPS_PROXY": NOWHERE,
            "HTTP_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
        **more,
    )


async def talk(options: ClaudeAgentOptions, *prompts: str) -> str:
    text = ""
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    text = message.result or ""
    return text


class TestSdk(Contract):
    raises_refusals = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        @tool("add", "Adds two numbers.", {"a": int, "b": int})
        async def add(given: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": desk.add(given["a"], given["b"])}]}

        model = Model(answers)
        with ModelServer(model) as server:
            desks = {"desk": create_sdk_mcp_server("desk", tools=[add])}
            text = await talk(options(engine, server.url, mcp_servers=desks, allowed_tools=[ADD]), *prompts)
        return Ran(model.told, text)
