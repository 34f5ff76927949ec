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
    first, prompt, call, result, answer, last = lines(world)
    assert (first["type"], first["subtype"], first["cwd"]) == ("system", "init", str(world.project))
    assert "shell" in first["tools"]
    assert prompt["message"] == {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    text, use = call["message"]["content"]
    assert (call["type"], text) == ("assistant", {"type": "text", "text": "Let me look."})
    assert (use["type"], use["name"], use["input"]) == ("tool_use", "shell", {"command": "echo hi"})
    (told,) = result["message"]["content"]
    assert (told["type"], told["tool_use_id"], told["is_error"]) == ("tool_result", use["id"], False)
    assert "hi" in told["content"]
    assert answer["message"]["content"] == [{"type": "text", "text": "Done."}]
    assert (last["type"], last["subtype"], last["result"], last["num_turns"]) == ("result", "success", "Done.", 2)
    assert last["usage"]["output_tokens"] > 0
    assert {line["session_id"] for line in (first, prompt, call, result, answer, last)} == {first["session_id"]}


def test_a_refused_prompt_is_an_error(world: World) -> None:
    world.hook("kodik", "UserPromptSubmit", "echo no >&2; exit 2")
    last = lines(world)[-1]
    assert (last["type"], last["is_error"], last["stop_reason"]) == ("result", True, "refused")


def test_a_price_that_is_not_known_cannot_be_bounded(world: World) -> None:
    last = lines(world, "--max-cost", "0.5")[-1]
    assert last["is_error"] is True
    assert "price of" in last["result"]
    assert world.command("agent", "run", "Go.", "--max-cost", "much").returncode == 3
