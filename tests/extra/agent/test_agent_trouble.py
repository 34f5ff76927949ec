"""If the model fails, the agent retries where that can help. Otherwise it reports the error in one sentence."""

from __future__ import annotations

import json

import pytest
from agent_box import traces
from test_agent_wire import to
from wire_server import ANSWER, Trouble, provider

from conftest import World

MODELS = ["openai-chat:m", "anthropic:m"]
LIMITED: Trouble = (429, {"type": "rate_limit_error", "message": "too fast"})
FAILED: Trouble = (500, {"type": "api_error", "message": "internal"})
OVERLOADED: Trouble = (529, {"type": "overloaded_error", "message": "Overloaded"})
BROKEN: Trouble = (200, {})
TOO_LONG: Trouble = (
    400,
    {
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "message": "prompt is too long: 250000 tokens > 200000 maximum",
    },
)
KEY: Trouble = (401, {"type": "authentication_error", "message": "invalid x-api-key"})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("trouble", [LIMITED, FAILED, OVERLOADED, BROKEN])
def test_trouble_that_passes(world: World, model: str, trouble: Trouble) -> None:
    world.hook("kodik", "UserPromptSubmit", "echo x >> prompts.txt")
    with provider() as server:
        server.trouble = [trouble]
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["text"], report["turns"], traces(world)) == (0, ANSWER, 2, 1), done.stderr
    assert "Trying again in" in done.stderr
    assert "(1 of 4)" in done.stderr
    assert (world.project / "prompts.txt").read_text() == "x\n"  # the prompt's hooks ran once


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_between_two_troubles_starts_the_count_again(world: World, model: str) -> None:
    with provider() as server:
        server.trouble = [BROKEN, None, BROKEN]
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto")
    assert (done.returncode, done.stderr.count("(1 of 4)")) == (0, 2), done.stderr
    assert f"The connection to {server.url}" in done.stderr


@pytest.mark.parametrize("model", MODELS)
def test_a_conversation_that_is_too_long_is_compacted(world: World, model: str) -> None:
    world.hook("kodik", "PreCompact", "echo compacting >> compactions.txt")
    with provider() as server:
        to(world, server)
        words = ("agent", "run", "Go.", "--model", model, "--permission", "auto", "--json")
        first = json.loads(world.command(*words).stdout)
        server.trouble = [TOO_LONG]
        done = world.command(*words, "--resume", first["session"])
    report = json.loads(done.stdout)
    assert (done.returncode, report["text"]) == (0, ANSWER), done.stderr
    assert "compacted" in done.stderr
    assert (world.project / "compactions.txt").read_text() == "compacting\n"
    refused, after = [request["messages"] for request in server.requests if request.get("stream")][2:4]
    assert len(after) < len(refused)
    assert ANSWER in json.dumps(after)  # the summary was sent to the model


@pytest.mark.parametrize("model", MODELS)
def test_a_hook_that_keeps_a_conversation_keeps_one_that_is_too_long(world: World, model: str) -> None:
    world.hook("kodik", "PreCompact", "echo keep it >&2; exit 2")
    with provider() as server:
        to(world, server)
        words = ("agent", "run", "Go.", "--model", model, "--permission", "auto", "--json")
        first = json.loads(world.command(*words).stdout)
        server.trouble, before = [TOO_LONG], len(server.requests)
        done = world.command(*words, "--resume", first["session"])
    assert (done.returncode, json.loads(done.stdout)["stop"]) == (1, "error"), done.stderr
    assert "the conversation is too long for the model" in done.stderr
    assert len(server.requests) == before + 1, "nobody is asked for a summary"


@pytest.mark.parametrize("model", MODELS)
def test_a_sub_agents_trouble_is_its_own(world: World, model: str) -> None:
    """The agent retries a temporary error. A permanent one is a failed tool call. Neither compacts the conversation."""
    world.hook("kodik", "PreCompact", "echo compacting >> compactions.txt")
    for trouble, said in ((LIMITED, ANSWER), (TOO_LONG, "The sub-agent got no answer. m: the conversation is too")):
        with provider() as server:
            server.delegates, server.trouble = True, [None, trouble]
            to(world, server)
            done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto", "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["text"]) == (0, ANSWER), done.stderr
        (call,) = report["tool_calls"]
        assert call["output"].startswith(said)
        assert ("Trying again in" in done.stderr) is (trouble is LIMITED)
    assert not (world.project / "compactions.txt").exists()


STAYS: dict[str, tuple[Trouble, str]] = {
    "key": (KEY, "m: the provider does not accept the key (invalid x-api-key). Check the variable that holds it."),
    "no such model": (
        (404, {"type": "not_found_error", "message": "model: m"}),
        "m: there is no such model (model: m).",
    ),
    "bad request": (
        (400, {"type": "invalid_request_error", "message": "tools.0: no"}),
        "m: the provider rejects the request (tools.0: no). Check what was sent, or use another model.",
    ),
    "a teapot": ((418, {"type": "odd", "message": "short and stout"}), "(short and stout)."),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", STAYS)
def test_trouble_that_stays_is_told_in_a_sentence(world: World, model: str, case: str) -> None:
    trouble, sentence = STAYS[case]
    with provider() as server:
        server.trouble = [trouble]
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model)
    assert done.returncode == 1
    assert done.stderr.startswith("error: m: ")
    assert sentence in done.stderr
    assert "{" not in done.stderr
