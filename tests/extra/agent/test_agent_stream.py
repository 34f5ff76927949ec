"""`agent run --output-format stream-json`: prints one line per message, in the format that scripts expect."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_agent_wire import to
from wire_server import ANSWER as SAID
from wire_server import Provider, Trouble, provider

from conftest import World

SCRIPT = """
steps:
  - text: Let me look.
    tools: [{shell: {command: echo hi}}]
  - text: Done.
"""


def lines(world: World, *words: str, script: str = SCRIPT) -> list[dict[str, Any]]:
    path = world.write(world.project / "script.yaml", script)
    model = ("--model", f"script:{path}", "--permission", "auto", "--output-format", "stream-json")
    done = world.command("agent", "run", "Go.", *model, *words)
    assert done.stdout, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_lines_of_a_run(world: World) -> None:
    world.write(world.project / ".anyhook/recipes/greet.md", "Greet.\n")
    all_lines = lines(world)
    first, said, call, result, answer, last = all_lines
    assert (first["type"], first["subtype"], first["cwd"]) == ("system", "init", str(world.project))
    assert "shell" in first["tools"]
    assert (first["apiKeySource"], first["slash_commands"]) == ("none", ["greet"])
    assert (said["type"], said["message"]["content"]) == ("assistant", [{"type": "text", "text": "Let me look."}])
    (use,) = call["message"]["content"]
    assert (use["type"], use["name"], use["input"]) == ("tool_use", "shell", {"command": "echo hi"})
    (told,) = result["message"]["content"]
    assert (told["type"], told["tool_use_id"], told["is_error"]) == ("tool_result", use["id"], False)
    assert "hi" in told["content"]
    streams = {"stdout": "hi\n", "stderr": "", "interrupted": False, "isImage": False}
    assert result["tool_use_result"] == streams
    assert answer["message"]["content"] == [{"type": "text", "text": "Done."}]
    assert (last["type"], last["subtype"], last["result"], last["num_turns"]) == ("result", "success", "Done.", 2)
    assert (last["terminal_reason"], last["permission_denials"]) == ("completed", [])
    assert last["usage"]["output_tokens"] > 0
    assert {line["session_id"] for line in all_lines} == {first["session_id"]}
    assert said["message"]["id"] == call["message"]["id"] != answer["message"]["id"]


CLAUDE = {
    "system": {
        "subtype", "cwd", "tools", "mcp_servers", "model", "permissionMode", "agents", "skills", "slash_commands",
        "output_style", "plugins", "apiKeySource",
    },
    "assistant": {"message", "parent_tool_use_id"},
    "user": {"message", "parent_tool_use_id", "tool_use_result"},
    "result": {
        "subtype", "is_error", "result", "stop_reason", "terminal_reason", "num_turns", "duration_ms",
        "duration_api_ms", "total_cost_usd", "usage", "modelUsage", "permission_denials", "api_error_status",
    },
}  # fmt: skip
"""For each line type, the fields of Claude Code 2.1 that scripts and its SDK's parser need."""
ANSWER = {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}
MODEL_USAGE = {"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "costUSD"}
USAGE = {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}


def test_the_fields_are_those_of_claude_code(world: World) -> None:
    for line in lines(world):
        assert CLAUDE[line["type"]] | {"type", "session_id", "uuid"} <= set(line), line
        if line["type"] == "assistant":
            assert set(line["message"]) == ANSWER
            assert set(line["message"]["usage"]) == USAGE
            assert len(line["message"]["content"]) == 1
    assert set(line["usage"]) == USAGE
    assert set(line["modelUsage"]["script"]) == MODEL_USAGE


def test_a_denied_call_is_named_at_the_end(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    *_, use, result, _, last = lines(world)
    (told,) = use["message"]["content"]
    assert result["message"]["content"][0]["is_error"] is True
    assert result["tool_use_result"] == "Error: A hook denied shell: no"
    (denied,) = last["permission_denials"]
    assert denied == {"tool_name": "shell", "tool_use_id": told["id"], "tool_input": {"command": "echo hi"}}


def test_a_call_without_permission_has_a_line_of_its_own(world: World) -> None:
    *_, use, line, _, _, last = lines(world, "--permission", "deny")
    (told,) = use["message"]["content"]
    assert (line["type"], line["subtype"]) == ("system", "permission_denied")
    assert (line["tool_name"], line["tool_use_id"]) == ("shell", told["id"])
    assert line["message"] == "Permission denied for shell: the permission mode is `deny`"
    assert len(last["permission_denials"]) == 1


def test_a_command_that_fails_is_an_error(world: World) -> None:
    *_, result, _, _ = lines(world, script=SCRIPT.replace("echo hi", "echo hi; exit 3"))
    assert result["message"]["content"][0]["is_error"] is True
    assert result["tool_use_result"].startswith("Error: ")
    assert "[exit code: 3]" in result["tool_use_result"]


def test_a_refused_prompt_is_an_error(world: World) -> None:
    world.hook("kodik", "UserPromptSubmit", "echo no >&2; exit 2")
    last = lines(world)[-1]
    assert (last["type"], last["is_error"], last["stop"]) == ("result", True, "refused")


def test_a_price_that_is_not_known_cannot_be_bounded(world: World) -> None:
    last = lines(world, "--max-cost", "0.5")[-1]
    assert (last["is_error"], last["subtype"]) == (True, "error_during_execution")
    assert "price of" in last["errors"][0]
    assert world.command("agent", "run", "Go.", "--max-cost", "much").returncode == 3


MODELS = {"openai-chat:gpt-4o": 47.5, "anthropic:claude-sonnet-4-5": 66.0}
"""Each model, and the cost of one server answer (7 tokens in, 3 out) in millionths of a dollar."""


def asked(world: World, server: Provider, model: str, *words: str) -> list[dict[str, Any]]:
    to(world, server)
    form = ("--model", model, "--permission", "auto", "--output-format", "stream-json")
    done = world.command("agent", "run", "Go.", *form, *words)
    assert done.stdout, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("model", MODELS)
def test_a_sub_agents_messages_name_the_call_that_started_it(world: World, model: str) -> None:
    with provider() as server:
        server.delegates = True
        first, call, inner, result, answer, last = asked(world, server, model)
    assert first["agents"] == ["explore", "general", "self"]
    assert first["apiKeySource"] == f"{model.partition(':')[0].partition('-')[0].upper()}_API_KEY"
    (use,) = call["message"]["content"]
    assert (inner["parent_tool_use_id"], inner["subagent_type"]) == (use["id"], "general")
    assert inner["message"]["content"] == [{"type": "text", "text": SAID}]
    assert result["tool_use_result"] == SAID
    assert (result["parent_tool_use_id"], result["message"]["content"][0]["tool_use_id"]) == (None, use["id"])
    assert answer["parent_tool_use_id"] is None
    assert last["num_turns"] == 2
    # `usage` counts the agent's own answers, `modelUsage` every request to the model.
    assert (last["usage"]["input_tokens"], last["usage"]["output_tokens"]) == (14, 6)
    (used,) = last["modelUsage"].values()
    assert (used["inputTokens"], used["outputTokens"]) == (21, 9)
    assert last["total_cost_usd"] == used["costUSD"] == pytest.approx(3 * MODELS[model] / 1_000_000)


@pytest.mark.parametrize("model", MODELS)
def test_what_a_sub_agent_costs_counts_for_the_limit(world: World, model: str) -> None:
    with provider() as server:
        server.delegates = True
        last = asked(world, server, model, "--max-cost", "0.00008")[-1]
    assert (last["subtype"], last["terminal_reason"]) == ("error_max_budget_usd", "budget_exhausted")
    assert "more than --max-cost" in last["errors"][0]
    assert len(server.requests) == 2, "the agent is not asked once more"


@pytest.mark.parametrize("model", MODELS)
def test_trouble_has_lines_of_its_own_and_repeats_nothing(world: World, model: str) -> None:
    overloaded: Trouble = (529, {"type": "overloaded_error", "message": "Overloaded"})
    with provider() as server:
        server.trouble = [overloaded, (200, {})]
        _, retry, broken, *rest = asked(world, server, model)
    assert (retry["subtype"], retry["attempt"], retry["error_status"]) == ("api_retry", 1, 529)
    assert (broken["subtype"], broken["error_status"]) == ("api_retry", None)
    assert [line["type"] for line in rest] == ["assistant", "user", "assistant", "result"]


@pytest.mark.parametrize("model", MODELS)
def test_a_provider_that_refuses_is_told_as_claude_code_tells_it(world: World, model: str) -> None:
    with provider() as server:
        server.trouble = [(401, {"type": "authentication_error", "message": "invalid key"})]
        last = asked(world, server, model)[-1]
    assert (last["subtype"], last["is_error"], last["api_error_status"]) == ("success", True, 401)
    assert (last["terminal_reason"], last["stop"]) == ("api_error", "error")
    assert "does not accept the key" in last["result"]


def test_what_hooks_ask_a_model_is_part_of_the_cost(world: World) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "Is it done?", "timeout": 30})
    with provider() as server:
        last = asked(world, server, "anthropic:claude-sonnet-4-5")[-1]
    assert len(server.requests) == 3, "two of the agent, one of the hook"
    assert last["usage"]["output_tokens"] == 6, "the agent's own"
    (used,) = last["modelUsage"].values()
    assert (used["inputTokens"], used["outputTokens"]) == (21, 7)


DELEGATED = """
steps:
  - tools: [{delegate_task: {agent_name: general, task: Look.}}]
  - {by: subagent, tools: [{shell: {command: echo inside}}]}
  - {by: subagent, text: Looked.}
  - text: Done.
"""


def test_a_sub_agents_tools_have_lines_too(world: World) -> None:
    _, call, use, inner, said, *_ = lines(world, script=DELEGATED)
    (started,) = call["message"]["content"]
    assert use["message"]["content"][0]["name"] == "shell"
    assert {line["parent_tool_use_id"] for line in (use, inner, said)} == {started["id"]}
    assert "tool_use_result" not in inner, "as in Claude Code"
