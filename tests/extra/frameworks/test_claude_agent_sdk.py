"""Hooks in an agent of the Claude Agent SDK: the agent that comes with the SDK, with a model on the loopback
interface."""

from __future__ import annotations

import asyncio
import json
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
from framework_contract import Answer, Contract, Desk, Ran, calls, played

from anyhook.adapters.claude_agent_sdk import Hooked
from anyhook.extra.frameworks.claude_agent_sdk import reshaped, shown
from anyhook.extra.live.model_server import ModelRequest, ModelServer
from anyhook.extra.live.wire import ModelCall, ModelReply
from anyhook.model.outcome import ALLOW, Outcome

if TYPE_CHECKING:
    from anyhook import Engine
    from conftest import World

ADD = "mcp__desk__add"
NOWHERE = "http://127.0.0.1:9"
"""A proxy that nothing listens on: the agent can reach only its model."""


class Model:
    """Answers requests that have tools, in turn. Requests for titles and the like have none."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = list(answers)
        self.told: list[str] = []

    def __call__(self, asked: ModelRequest) -> ModelReply:
        if not asked.tools:
            return ModelReply("A title")
        self.told.append(json.dumps(asked.body["messages"]))
        answer = self.answers.pop(0)
        if isinstance(answer, ModelCall):
            return ModelReply(calls=(answer,))
        return (
            ModelReply(answer)
            if isinstance(answer, str)
            else ModelReply(calls=tuple(ModelCall(ADD, given) for given in calls(answer)))
        )


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
    column = "Claude Agent SDK"
    raises_refusals = False
    rewrites_prompts = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        @tool("add", "Adds two numbers.", {"a": int, "b": int})
        async def add(given: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": desk.add(given["a"], given["b"])}]}

        model = Model(answers)
        with ModelServer(model) as server:
            desks = {"desk": create_sdk_mcp_server("desk", tools=[add])}
            text = await talk(options(engine, server.url, mcp_servers=desks, allowed_tools=[ADD]), *prompts)
        return Ran(model.told, text)


def bash(world: World, command: str, allowed: bool = True, **hooks: Any) -> str:
    """What the model receives after it asked the agent's own shell to run a command."""
    engine = world.engine()
    for name, hook in hooks.items():
        engine.on(name, hook)
    model = Model([ModelCall("Bash", {"command": command}), "Done."])
    with ModelServer(model) as server:
        asyncio.run(talk(options(engine, server.url, allowed_tools=["Bash"] if allowed else []), "Go."))
    return str(model.told[1])


def test_the_output_of_a_tool_of_its_own(world: World) -> None:
    seen: list[object] = []

    def replace(event: Any) -> Outcome:
        seen.append(event.get("output"))
        return Outcome(tool_output="nothing to see")

    told = bash(world, "echo a-secret-$((40+2))", post_tool=replace)
    assert seen == ["a-secret-42"]
    assert "nothing to see" in told
    assert "a-secret-42" not in told


def test_hooks_of_other_agents_know_its_tools(world: World) -> None:
    """A hook for another agent's shell sees this agent's shell, with the fields that the hook knows."""
    answer = '{"decision": "deny", "reason": "stop it"}'
    world.hook("antigravity", "PreToolUse", f"! grep -q '\"CommandLine\": *\"touch no\"' || echo '{answer}'")
    assert "stop it" in bash(world, "touch no")
    bash(world, "touch yes")
    assert [path.name for path in world.project.iterdir()] == ["yes"]


def test_a_rewrite_grants_nothing(world: World) -> None:
    rewrite = Outcome(tool_input={"command": "touch rewritten"})
    bash(world, "touch given", allowed=False, pre_tool=lambda event: rewrite)
    assert list(world.project.iterdir()) == []
    bash(world, "touch given", allowed=False, pre_tool=lambda event: rewrite.replace(verdict=ALLOW))
    assert [path.name for path in world.project.iterdir()] == ["rewritten"]


def test_a_crash_of_ours_lets_nothing_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(*_given: Any, **_more: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Hooked, "_before_tool", crash)
    bash(world, "touch given")
    assert list(world.project.iterdir()) == []


SHAPES: dict[str, tuple[Any, str, Any]] = {
    "shell": (
        {"stdout": "out", "stderr": "err", "interrupted": False},
        "out\nerr",
        {"stdout": "new", "stderr": "", "interrupted": False},
    ),
    "file": (
        {"type": "text", "file": {"filePath": "a", "content": "body", "numLines": 1}},
        "body",
        {"type": "text", "file": {"filePath": "a", "content": "new", "numLines": 1}},
    ),
    "blocks": (
        [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        "one\ntwo",
        [{"type": "text", "text": "new"}],
    ),
    "nested blocks": (
        {"content": [{"type": "text", "text": "one"}], "agentId": "x"},
        "one",
        {"content": [{"type": "text", "text": "new"}], "agentId": "x"},
    ),
    "text": ("plain", "plain", "new"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_results_keep_their_shape(name: str) -> None:
    response, text, new = SHAPES[name]
    before = json.dumps(response)
    assert shown(response) == text
    assert reshaped(response, "new") == new
    assert json.dumps(response) == before


@pytest.mark.parametrize("response", [{"isAsync": True}, {"stdout": None}, {"file": 3}, 7, None, {}])
def test_a_shape_that_is_not_known(response: Any) -> None:
    assert shown(response) == response
    assert reshaped(response, "new") is None


def answer(hooked: Hooked, event: str, **data: Any) -> dict[str, Any]:
    """A callback's answer when it is called as the SDK calls it."""
    given = {"session_id": "s", "transcript_path": "t", "cwd": "/", "hook_event_name": event, **data}
    made: dict[str, Any] = asyncio.run(hooked.matchers()[event][0].hooks[0](given, None, {"signal": None}))
    return made


def test_sub_agents_compaction_and_permission(world: World) -> None:
    engine = world.engine()
    for name in ("subagent_stop", "pre_compact", "permission_request"):
        engine.on(name, lambda event: Outcome.block("no"))
    engine.on("subagent_start", lambda event: Outcome(context=("be brief",)))
    hooked, sub = Hooked(engine), {"agent_id": "a1", "agent_type": "reader"}
    assert answer(hooked, "SubagentStart", **sub) == {
        "hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "be brief"}
    }
    assert answer(hooked, "SubagentStop", stop_hook_active=False, **sub) == {"decision": "block", "reason": "no"}
    assert answer(hooked, "PreCompact", trigger="auto", custom_instructions=None) == {
        "decision": "block",
        "reason": "no",
    }
    assert answer(hooked, "PermissionRequest", tool_name="Bash", tool_input={"command": "ls"}) == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "A hook denied Bash: no"},
        }
    }


def test_silence_is_no_opinion(world: World) -> None:
    hooked = Hooked(world.engine())
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}
    sub = {"agent_id": "a1", "agent_type": "reader"}
    silent: dict[str, dict[str, Any]] = {
        "UserPromptSubmit": {"prompt": "Go."},
        "PreToolUse": tool,
        "PermissionRequest": tool,
        "PostToolUse": {**tool, "tool_response": {"stdout": "x", "stderr": ""}, "duration_ms": 3},
        "PostToolUseFailure": {**tool, "error": "exit 1"},
        "SubagentStart": sub,
        "SubagentStop": {**sub, "stop_hook_active": False},
        "PreCompact": {"trigger": "auto"},
        "Notification": {"message": "hello", "notification_type": "idle"},
        "Stop": {"stop_hook_active": False},
    }
    for event, data in silent.items():
        assert answer(hooked, event, **data) == {}, event
    assert set(silent) == set(hooked.matchers())


def test_hooks_that_take_too_long_let_nothing_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.hook("kodik", "PreToolUse", "sleep 4")
    made = Hooked.matchers
    monkeypatch.setattr(Hooked, "matchers", lambda self: made(Hooked(self.lifecycle.engine, patience_s=1.0)))
    bash(world, "touch given")
    assert list(world.project.iterdir()) == []


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PreToolUse" in played(world, monkeypatch, "claude_agent_sdk")["options"].hooks
