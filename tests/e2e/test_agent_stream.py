"""`agent run --output-format stream-json`: a line for each message, in the form that scripts know."""

from __future__ import annotations

import json
from typing import Any

from conftest import World

SCRIPT = """
steps:
  - text: Let me look.
    tools: [{shell: {command: echo hi}}]
  - text: Done.
"""


def lines(world: World, *words: str) -> list[dict[str, Any]]:
    script = world.write(world.project / "script.yaml", SCRIPT)
    model = ("--model", f"script:{script}", "--permission", "auto", "--output-format", "stream-json")
    done = world.command("agent", "run", "Go.", *model, *words)
    assert done.stdout, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_lines_of_a_run(world: World) -> None:
    all_lines = lines(world)
    first, said, call, result, answer, last = all_lines
    assert (first["type"], first["subtype"], first["cwd"]) == ("system", "init", str(world.project))
    assert "shell" in first["tools"]
    assert (said["type"], said["message"]["content"]) == ("assistant", [{"type": "text", "text": "Let me look."}])
    (use,) = call["message"]["content"]
    assert (use["type"], use["name"], use["input"]) == ("tool_use", "shell", {"command": "echo hi"})
    (told,) = result["message"]["content"]
    assert (told["type"], told["tool_use_id"], told["is_error"]) == ("tool_result", use["id"], False)
    assert "hi" in told["content"]
    assert answer["message"]["content"] == [{"type": "text", "text": "Done."}]
    assert (last["type"], last["subtype"], last["result"], last["num_turns"]) == ("result", "success", "Done.", 2)
    assert (last["stop_reason"], last["permission_denials"]) == ("end_turn", [])
    assert last["usage"]["output_tokens"] > 0
    assert {line["session_id"] for line in all_lines} == {first["session_id"]}
    assert said["message"]["id"] == call["message"]["id"] != answer["message"]["id"]


CLAUDE = {
    "system": {"subtype", "cwd", "tools", "mcp_servers", "model", "permissionMode", "agents", "skills"},
    "assistant": {"message", "parent_tool_use_id"},
    "user": {"message", "parent_tool_use_id"},
    "result": {
        "subtype", "is_error", "result", "stop_reason", "num_turns", "duration_ms", "duration_api_ms",
        "total_cost_usd", "usage", "permission_denials",
    },
}  # fmt: skip
"""By type of line, what Claude Code 2.1 prints of it, as far as scripts and its SDK's parser need it."""
ANSWER = {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}
USAGE = {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}


def test_the_fields_are_those_of_claude_code(world: World) -> None:
    for line in lines(world):
        assert CLAUDE[line["type"]] | {"type", "session_id", "uuid"} <= set(line), line
        if line["type"] == "assistant":
            assert set(line["message"]) == ANSWER
            assert set(line["message"]["usage"]) == USAGE
            assert len(line["message"]["content"]) == 1
    assert set(line["usage"]) == USAGE


def test_a_denied_call_is_named_at_the_end(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    *_, use, result, _, last = lines(world)
    (told,) = use["message"]["content"]
    assert result["message"]["content"][0]["is_error"] is True
    (denied,) = last["permission_denials"]
    assert denied == {"tool_name": "shell", "tool_use_id": told["id"], "tool_input": {"command": "echo hi"}}


def test_a_refused_prompt_is_an_error(world: World) -> None:
    world.hook("kodik", "UserPromptSubmit", "echo no >&2; exit 2")
    last = lines(world)[-1]
    assert (last["type"], last["is_error"], last["stop"]) == ("result", True, "refused")


def test_a_price_that_is_not_known_cannot_be_bounded(world: World) -> None:
    last = lines(world, "--max-cost", "0.5")[-1]
    assert last["is_error"] is True
    assert "price of" in last["result"]
    assert world.command("agent", "run", "Go.", "--max-cost", "much").returncode == 3
