"""The scripted model: which step it is at, in every wire format, and with the names of the tools that it is offered."""

from __future__ import annotations

import gzip
import json
import urllib.request
from typing import Any

import pytest

from anyhook.extra.live.model_server import ModelRequest, ModelServer
from anyhook.extra.live.script import ASIDE, Step, script
from anyhook.extra.live.wire import ModelCall, ModelReply, whole
from each_of import each_of

STEPS = (
    Step(tool="shell", input={"command": "ls"}),
    Step(tool="write_file", input={"path": "a.txt", "content": "one\ntwo\n"}),
    Step("all done"),
)
NAMES = {"shell": ["Bash", "exec_command", "run_commands"], "write_file": ["Write", "apply_patch"]}


def schema(**kinds: Any) -> dict[str, Any]:
    return {"properties": {name: {"type": kind} for name, kind in kinds.items()}, "required": list(kinds)}


SHELL, WRITE = schema(command="string", description="string"), schema(file_path="string", content="string")
CALL = {"command": "ls", "description": "scripted"}


def request(wire: str, done: int, shell: dict[str, Any] = SHELL) -> dict[str, Any]:
    """A request after this many turns of the model, as clients of that wire format write it."""
    if wire == "messages":
        turn = {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "id": "1", "input": {}}]}
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "RESULT"}]}
        tools = [{"name": "Bash", "input_schema": shell}, {"name": "Write", "input_schema": WRITE}]
        return {"tools": tools, "messages": [{"role": "user", "content": "go"}, *[turn, result] * done]}
    if wire == "chat":
        turn = {"role": "assistant", "content": [], "tool_calls": [{"function": {"name": "Bash"}}]}
        result = {"role": "tool", "content": "RESULT"}
        listed = [("Bash", shell), ("Write", WRITE)]
        tools = [{"type": "function", "function": {"name": name, "parameters": one}} for name, one in listed]
        return {"tools": tools, "messages": [{"role": "user", "content": "go"}, *[turn, result] * done]}
    if wire == "responses":
        turn = [{"type": "reasoning"}, {"type": "function_call", "name": "Bash", "arguments": "{}"}]  # type: ignore[assignment]
        result = {"type": "function_call_output", "output": "RESULT"}
        tools = [{"type": "function", "name": "Bash", "parameters": shell}, {"type": "custom", "name": "apply_patch"}]
        return {"tools": tools, "input": [{"role": "user", "content": "go"}, *[*turn, result] * done]}
    turn = {"role": "model", "parts": [{"functionCall": {"name": "Bash", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "Bash", "response": {"output": "RESULT"}}}]}
    declared = [{"name": "Bash", "parametersJsonSchema": shell}, {"name": "Write", "parametersJsonSchema": WRITE}]
    said = [{"role": "user", "parts": [{"text": "go"}]}, *[turn, result] * done]
    return {"tools": [{"functionDeclarations": declared}], "contents": said}


def answer(wire: str, body: dict[str, Any]) -> ModelReply:
    return script(STEPS, NAMES)(ModelRequest(wire, "", {}, body))


@each_of("wire", ["messages", "chat", "responses", "contents"])
def test_the_step_follows_from_the_conversation(wire: str) -> None:
    assert answer(wire, request(wire, 0)).calls == (ModelCall("Bash", CALL),)
    written = answer(wire, request(wire, 1)).calls[0]
    if wire == "responses":
        assert written == ModelCall("apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n")
    else:
        assert written == ModelCall("Write", {"file_path": "a.txt", "content": "one\ntwo\n"})
    for done in (2, 3):
        assert answer(wire, request(wire, done)) == ModelReply("all done")
    assert "RESULT" in ModelRequest(wire, "", {}, request(wire, 1)).conversation


@each_of(
    ("offered", "expected"),
    [
        (schema(cmd="string"), {"cmd": "ls"}),
        (schema(command=["array", "null"]), {"command": ["bash", "-c", "ls"]}),
        (schema(commands="array"), {"commands": ["ls"]}),
        (schema(command="string", wait="boolean", lines="integer"), {"command": "ls", "wait": False, "lines": 1}),
    ],
)
def test_fields_that_tools_want(offered: dict[str, Any], expected: dict[str, Any]) -> None:
    assert answer("chat", request("chat", 0, offered)).calls == (ModelCall("Bash", expected),)


def test_a_request_without_tools_is_no_step() -> None:
    assert answer("chat", {"messages": [{"role": "user", "content": "a title, please"}]}) == ModelReply(ASIDE)


@each_of("wire", ["messages", "chat", "responses", "contents"])
def test_a_request_for_a_summary_is_no_step(wire: str) -> None:
    body = request(wire, 1)
    told = "Sum it up. DO NOT call any tools."
    said = {"role": "user", "parts": [{"text": told}]} if wire == "contents" else {"role": "user", "content": told}
    body[{"responses": "input", "contents": "contents"}.get(wire, "messages")].append(said)
    assert answer(wire, body) == ModelReply(ASIDE)


@each_of("wire", ["messages", "chat", "responses", "contents"])
def test_a_sub_agent_has_steps_of_its_own(wire: str) -> None:
    steps = (*STEPS, Step("done inside", where="go"), Step("elsewhere", where="away"))
    asked = ModelRequest(wire, "", {}, request(wire, 0))
    assert script(steps, NAMES)(asked) == ModelReply("done inside")
    assert asked.opening == asked.last == "go"
    assert script(steps, NAMES)(ModelRequest(wire, "", {}, request(wire, 2))) == ModelReply("done inside")


def test_a_word_in_a_result_opens_no_conversation() -> None:
    steps = (*STEPS, Step("done inside", where="RESULT"))
    assert answer("chat", request("chat", 1)) == script(steps, NAMES)(ModelRequest("chat", "", {}, request("chat", 1)))


def test_tools_in_a_namespace() -> None:
    inner = {"type": "function", "name": "spawn_agent", "parameters": schema(message="string", task_name="string")}
    body = {"tools": [{"type": "namespace", "name": "team", "tools": [inner]}], "input": []}
    step = Step(tool="delegate_task", input={"task": "look", "agent_name": "helper"})
    found = script((step,), {"delegate_task": ["team.spawn_agent"]})(ModelRequest("responses", "", {}, body))
    assert found.calls == (ModelCall("team.spawn_agent", {"message": "look", "task_name": "helper"}),)
    item = whole("responses", found, body, 1)["output"][0]
    assert (item["namespace"], item["name"]) == ("team", "spawn_agent")


def test_one_tool_for_several_kinds_of_work() -> None:
    kinds = {"type": "string", "enum": ["view", "create"]}
    parameters = {"properties": {"command": kinds, "path": {}, "file_text": {}}, "required": ["command"]}
    body = {
        "tools": [{"type": "function", "function": {"name": "file_editor", "parameters": parameters}}],
        "messages": [],
    }
    model = script(STEPS[1:], {"write_file": ["file_editor"]}, {"write_file": {"command": "create"}})
    written = {"command": "create", "path": "a.txt", "file_text": "one\ntwo\n"}
    assert model(ModelRequest("chat", "", {}, body)).calls == (ModelCall("file_editor", written),)


@each_of("wire", ["messages", "chat", "responses", "contents"])
def test_a_conversation_that_is_said_to_be_long(wire: str) -> None:
    steps = (Step(tool="shell", input={"command": "ls"}, tokens=190_000), Step("all done"))
    found = script(steps, NAMES)(ModelRequest(wire, "", {}, request(wire, 0)))
    assert "190000" in json.dumps(whole(wire, found, {}, 1))


def test_a_tool_that_is_not_offered_is_left_out() -> None:
    body = request("messages", 0)
    body["tools"] = body["tools"][1:]
    assert answer("messages", body).calls[0].tool == "Write"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_over_the_wire_of_contents(streamed: bool) -> None:
    """None of our dependencies has a client for this wire format."""
    with ModelServer(script(STEPS, NAMES)) as server:
        verb = "streamGenerateContent?alt=sse" if streamed else "generateContent"
        found = post(f"{server.url}/v1beta/models/m:{verb}", json.dumps(request("contents", 0)).encode())
    made = json.loads(found.removeprefix("data: ") if streamed else found)
    part = made["candidates"][0]["content"]["parts"][0]
    assert (part["functionCall"]["name"], part["functionCall"]["args"]) == ("Bash", CALL)


def test_packed_requests_and_side_questions() -> None:
    with ModelServer(script(STEPS, NAMES)) as server:
        packed = gzip.compress(json.dumps(request("chat", 2)).encode())
        said = post(f"{server.url}/v1/chat/completions", packed, {"content-encoding": "gzip"})
        assert json.loads(said)["choices"][0]["message"]["content"] == "all done"
        assert json.loads(post(f"{server.url}/v1/messages/count_tokens", b"{}")) == {"input_tokens": 7}
        with urllib.request.urlopen(f"{server.url}/v1/models") as found:
            assert [one["id"] for one in json.load(found)["data"]] == ["scripted-model"]
        assert len(server.asked) == 1, "side questions are no part of the conversation"


def post(url: str, data: bytes, headers: dict[str, str] | None = None) -> str:
    request = urllib.request.Request(url, data, {"content-type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request) as found:
        text: str = found.read().decode()
    return text
