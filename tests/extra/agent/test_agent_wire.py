"""Tests the agent's model client against a loopback server that streams the wire formats of two providers."""

from __future__ import annotations

import json

import pytest
from agent_box import traces
from live.troubled import ModelReply, ModelServer, text_of
from wire_server import ANSWER, Provider, provider

from anyhook.extra.live.wire import ModelCall
from conftest import World

MODELS = ["openai:m", "openai-chat:m", "anthropic:m"]


def to(world: World, server: Provider) -> None:
    world.env.update(
        OPENAI_BASE_URL=f"{server.url}/v1", OPENAI_API_KEY="key", ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="key"
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_tool_and_an_answer(world: World, model: str) -> None:
    with provider() as server:
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["text"], report["turns"], traces(world)) == (0, ANSWER, 2, 1), done.stderr
    assert all(request["stream"] for request in server.requests)


@pytest.mark.parametrize("model", MODELS)
def test_the_reason_goes_over_the_wire(world: World, model: str) -> None:
    world.hook("agenthooks", "before_tool", "echo not on Fridays >&2; exit 2")
    with provider() as server:
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto")
    assert (done.returncode, done.stdout, traces(world)) == (0, f"{ANSWER}\n", 0), done.stderr
    assert "not on Fridays" in json.dumps(server.requests[1])


@pytest.mark.parametrize("model", MODELS)
def test_a_provider_that_refuses(world: World, model: str) -> None:
    with provider() as server:
        server.broken = True
        to(world, server)
        done = world.command("agent", "run", "Go.", "--model", model)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_tools_do_not_see_the_key(world: World) -> None:
    with provider() as server:
        to(world, server)
        world.hook("kode", "tool_call_pre", """echo '{"replace_tool_input": {"command": "env"}}'""")
        done = world.command("agent", "run", "Go.", "--model", "openai:m", "--permission", "auto", "--json")
    [call] = json.loads(done.stdout)["tool_calls"]
    assert "PATH=" in call["output"]
    assert "API_KEY" not in call["output"]


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_an_endpoint_of_the_settings(world: World, name: str) -> None:
    """It takes precedence over the variables, and commands do not get its key, even with hooks off."""
    call = ModelCall("shell", {"command": 'echo "[$MY_KEY]"'})
    with ModelServer([ModelReply(calls=(call,)), ModelReply("Done.")]) as server:
        url = f"{server.url}/v1" if name == "openai" else server.url
        world.config(f'[agent]\nmodel = "{name}:m"\n[providers.{name}]\nbase_url = "{url}"\napi_key_env = "MY_KEY"\n')
        world.env.update(
            MY_KEY="of-my-own", OPENAI_BASE_URL="http://127.0.0.1:9/v1", ANTHROPIC_BASE_URL="http://x.test"
        )
        done = world.command("agent", "run", "Go.", "--permission", "auto", "--no-hooks", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["text"]) == (0, "Done."), done.stderr
    assert {asked.wire for asked in server.asked} == {"chat" if name == "openai" else "messages"}
    assert all("of-my-own" in json.dumps(asked.headers) for asked in server.asked)
    assert "[]" in report["tool_calls"][0]["output"]


@pytest.mark.parametrize("kind", ["prompt", "agent"])
@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_a_handler_asks_the_agents_own_provider(world: World, model: str, kind: str) -> None:
    """The agent's answers are streamed. A handler's answers are not: they are short, and an endpoint that cannot stream
    would need a second request."""
    world.kolega("Stop", {"type": kind, "prompt": "Is it done?"})
    no, yes = ModelReply('{"ok": false, "reason": "two tests fail"}'), ModelReply('{"ok": true}')
    with ModelServer([ModelReply("One."), no, ModelReply("Two."), yes]) as server:
        world.env.update(server.env)
        done = world.command("agent", "run", "Go.", "--model", model, "--trust", "all", "--json")
    assert (done.returncode, json.loads(done.stdout)["text"]) == (0, "Two."), done.stderr
    assert [bool(asked.body.get("stream")) for asked in server.asked] == [True, False, True, False]
    assert "two tests fail" in text_of(server.asked[2])


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_what_is_missing_is_named(world: World, model: str) -> None:
    key = f"{model.partition(':')[0].upper()}_API_KEY"
    done = world.command("agent", "run", "Go.", "--model", model)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{model} cannot be asked: its key should be in {key}, which is not set\n"


def test_an_endpoint_that_is_not_there(world: World) -> None:
    world.env.update(OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="key")
    done = world.command("agent", "run", "Go.", "--model", "openai:m")
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (1, "", False)
    assert "m at http://127.0.0.1:9/v1" in done.stderr
    assert "failed" in done.stderr


@pytest.mark.parametrize(("model", "kind"), [("openai-chat:m", "image_url"), ("anthropic:m", "image")])
def test_an_image_goes_with_the_prompt(world: World, model: str, kind: str) -> None:
    """An image that the prompt names is sent along. Text files are not: the model reads them itself."""
    (world.project / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    world.write(world.project / "notes.txt", "Not sent.\n")
    with provider() as server:
        to(world, server)
        prompt = "See @shot.png, @gone.png and @notes.txt."
        done = world.command("agent", "run", prompt, "--model", model, "--permission", "auto")
    assert done.returncode == 0, done.stderr
    assert "gone.png is not sent: there is no such file." in done.stderr
    assert "notes.txt" not in done.stderr
    sent = json.dumps(server.requests[0]["messages"])
    assert f'"type": "{kind}"' in sent
    assert "Not sent." not in sent
