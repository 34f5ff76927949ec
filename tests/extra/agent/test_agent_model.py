"""Handlers that ask a model inside a running agent: which model answers, what it sees, what it may do, and what is
recorded. Also covers the agent's web tool and the environment variables that its commands get."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from agent_box import LS, agent, record, recorded, script, times, traces
from live.troubled import ModelReply, ModelServer, system_of, text_of

from anyhook.extra.agent.models import open_model
from anyhook.extra.agent.settings import BadSetup
from anyhook.extra.live.model_server import ModelRequest
from anyhook.extra.live.wire import ModelCall
from conftest import World

OK, NOT_OK = json.dumps({"ok": True}), json.dumps({"ok": False, "reason": "no tests yet"})
STREAMING = ["openai-chat:m", "openai-responses:m", "anthropic:m"]


def judge(world: World, kind: str = "prompt", event: str = "Stop", **more: Any) -> None:
    world.kolega(event, {"type": kind, "prompt": "Is it tested? $EVENT", **more})


# -- which model answers


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_the_agents_own_model_where_none_is_configured(world: World, kind: str) -> None:
    """G-44, G-46, G-47: the answer decides, and its reason becomes the next instruction."""
    judge(world, kind)
    ran = agent(
        world,
        "Finished.",
        {"by": "hook", "expect": ["Is it tested?", "Finished."], "text": NOT_OK},
        {"expect": "no tests yet", "text": "Now it is."},
        {"by": "hook", "text": f"Well then: {OK}"},
    )
    assert (ran.stop, ran.text, ran.report["turns"]) == ("done", "Now it is.", 2), ran.why
    calls = [call for line in world.journal() if line["event"] == "stop" for call in line["calls"]]
    assert [call["model"] for call in calls] == ["function:script"] * 2


def test_a_model_of_its_own_comes_first(world: World) -> None:
    """G-45: a handler's role selects the model that the user configured for that role."""
    with ModelServer([ModelReply(OK)]) as server:
        world.env.update(server.env)
        world.config('[models]\nfast = "openai-chat:quick"\nthinking = "anthropic:deep"\n')
        judge(world, model="thinking")
        judge(world)
        ran = agent(world, "Finished.")
    assert ran.stop == "done", ran.why
    assert [(asked.wire, asked.body["model"]) for asked in server.asked] == [("messages", "deep"), ("chat", "quick")]


def test_tools_of_a_handler_fire_no_event(world: World) -> None:
    """G-49."""
    judge(world, "agent")
    world.hook("kodik", "PreToolUse", record("pre"))
    ran = agent(
        world,
        "Finished.",
        {"by": "hook", "tools": [{"shell": {"command": "echo ran >> ran.txt"}}]},
        {"by": "hook", "text": OK},
    )
    assert (ran.stop, traces(world), times(world, "pre")) == ("done", 1, 0), ran.why


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_an_agent_handler_is_not_for_tools(world: World, event: str) -> None:
    """G-48."""
    judge(world, "agent", event)
    ran = agent(world, {"tools": [LS]}, "Done.")
    assert (ran.stop, traces(world)) == ("done", 1), ran.why
    told = {problem["code"] for it in ran.report["events"] for problem in it["problems"]}
    assert told, "it is dropped with a word about it"


def test_a_model_that_says_nothing_useful_stops_nothing(world: World) -> None:
    """G-46, G-53."""
    judge(world)
    ran = agent(world, "Finished.", {"by": "hook", "text": "I like it."})
    assert (ran.stop, ran.text) == ("done", "Finished.")
    assert ran.event("stop")["problems"]


# -- over the wire, as streams


def answers(asked: ModelRequest) -> ModelReply:
    """The agent calls a tool, then finishes. The judge says no once, then yes."""
    if "one decision about one event" in system_of(asked):
        return ModelReply(OK if "Now it is." in text_of(asked) else NOT_OK)
    if "no tests yet" in text_of(asked):
        return ModelReply("Now it is.")
    if "ran.txt" in json.dumps(asked.body["messages" if "messages" in asked.body else "input"]):
        return ModelReply("Finished.")
    return ModelReply(calls=(ModelCall("shell", {"command": "echo ran >> ran.txt"}),))


@pytest.mark.parametrize("model", STREAMING)
@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_agent_and_judge_over_the_wire(world: World, model: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(world, kind)
    with ModelServer(answers) as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
            world.env[name] = value
        ran = agent_with(world, model)
    assert (ran["stop"], ran["text"], traces(world)) == ("done", "Now it is.", 1)
    mine = [asked for asked in server.asked if "one decision about one event" not in system_of(asked)]
    theirs = [asked for asked in server.asked if asked not in mine]
    assert (len(mine), len(theirs)) == (3, 2)
    assert not any(asked.body.get("stream") for asked in theirs)
    assert {asked.wire for asked in mine} == {asked.wire for asked in theirs}
    assert all(bool(asked.tools) == (kind == "agent") for asked in theirs)


def agent_with(world: World, model: str) -> dict[str, Any]:
    import asyncio

    from anyhook.extra.agent.headless import Headless
    from anyhook.extra.agent.settings import SessionOptions
    from anyhook.extra.agent.status_line import StatusLine

    options = SessionOptions(project=str(world.project), env=world.env, model=model, permission="auto", trust="all")
    headless = Headless(options, lambda text: None, StatusLine(None, {}))
    return headless.report(asyncio.run(headless.run("Go.")))


# -- what the model is shown


def test_a_large_event_is_shortened_and_that_is_told(world: World) -> None:
    world.write(world.project / "large.txt", "x" * 400 + "\n" + "needle\n" * 200_000)
    judge(world, event="PostToolUse")
    call = {"read_file": {"path": "large.txt", "limit": 200_000}}
    ran = agent(
        world,
        {"tools": [{"write_file": {"path": "b.txt", "content": "y" * 900_000}}, call]},
        {"by": "hook", "text": OK, "times": 2},
        "Done.",
    )
    assert ran.stop == "done", ran.why
    notes = [hook["stderr"] for it in ran.report["events"] if it["event"] == "post_tool" for hook in it["hooks"]]
    assert any("shortened from" in note for note in notes)


# -- what is recorded


def test_explain_names_the_model(world: World) -> None:
    judge(world)
    shown = world.command("explain", "stop", "--model", "openai:judge")
    assert "asks   openai:judge" in shown.stdout
    nobody = json.loads(world.command("explain", "stop", "--json").stdout)
    assert nobody["hooks"][0]["model"] is None


# -- the web


@contextmanager
def page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><title>A page</title><body><h1>Seven</h1></body></html>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_web_is_off_by_default(world: World) -> None:
    ran = agent(world, {"tools": [{"web_fetch": {"url": "http://127.0.0.1:9/"}}]}, "Done.")
    assert "web_fetch" not in [call["tool"] for call in ran.calls]


def test_a_page(world: World) -> None:
    world.config('[agent]\nweb_fetch = "local"\n')
    world.hook("agenthooks", "before_tool", record("pre"), matcher={"tool": "FetchURL"})
    with page() as url:
        ran = agent(world, {"tools": [{"web_fetch": {"url": url}}]}, {"expect": "Seven", "text": "Done."})
    assert ran.text == "Done.", ran.why
    assert recorded(world, "pre")[0]["tool_input"] == {"url": url}


def test_pages_of_this_machine_need_a_word_more(world: World) -> None:
    with page() as url:
        steps = [{"tools": [{"web_fetch": {"url": url}}]}, {"expect_not": "Seven", "text": "Done."}]
        ran = agent(world, *steps, web_fetch=True)
    assert (ran.text, [call["tool"] for call in ran.calls]) == ("Done.", ["web_fetch"]), ran.why


def test_fetching_needs_permission(world: World) -> None:
    world.config('[agent]\nweb_fetch = "local"\n')
    steps = [{"tools": [{"web_fetch": {"url": "http://127.0.0.1:9/"}}]}, {"expect": "Permission denied", "text": "No."}]
    assert agent(world, *steps, permission="ask").text == "No."


# -- keys and settings


def test_commands_get_no_key_unless_told(world: World) -> None:
    keys = {"OPENAI_API_KEY": "k1", "MISTRAL_API_KEY": "k2", "MY_MODEL_KEY": "k3", "SHOP_API_KEY": "k4"}
    world.env.update(keys, EDITOR="vi")
    world.config('[agent]\npass_env = ["SHOP_*"]\n[providers.openai]\napi_key_env = "MY_MODEL_KEY"\n')
    ran = agent(world, {"tools": [{"shell": {"command": "env"}}]}, "Done.")
    output = ran.calls[0]["output"]
    assert "EDITOR=vi" in output
    assert [name for name in keys if name in output] == ["SHOP_API_KEY"]


def test_a_handlers_commands_get_no_key(world: World) -> None:
    judge(world, "agent")
    world.env.update(OPENAI_API_KEY="k1", EDITOR="vi")
    look = {"by": "hook", "tools": [{"shell": {"command": "env"}}]}
    answer = {"by": "hook", "expect": "EDITOR=vi", "expect_not": "OPENAI_API_KEY", "text": OK}
    ran = agent(world, "Finished.", look, answer)
    assert (ran.stop, ran.event("stop")["problems"]) == ("done", [])


@pytest.mark.parametrize(
    "line", ["auto_compact = 8", "auto_compact = true", 'web_fetch = "yes"', 'pass_env = "A"', "colour = 1"]
)
def test_settings_that_are_none(world: World, line: str) -> None:
    world.config(f"[agent]\n{line}\n")
    with pytest.raises(BadSetup, match=line.split(maxsplit=1)[0]):
        agent(world, "Never said.")


def test_bad_settings_are_a_bad_call(world: World) -> None:
    world.config("[agent]\nauto_compact = 8\n")
    done = world.command("agent", "run", "Go.", "--model", script(world, "Said."))
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (3, "", False)
    assert "auto_compact" in done.stderr


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("- text: x", "a mapping"), ("steps: []", "steps"), ("step: 1", "step"), ("steps: [{txt: x}]", "txt"),
        ("steps: [{text: x, times: often}]", "times"), ("steps: [{text: x, usage: 5}]", "usage"),
        ("steps: [{text: x, by: you}]", "by"), ("steps: [{}]", "`text` or `tools`"), ("steps: [", "YAML"),
        ("steps: [{tools: [shell]}]", "tools"), ("context_window: big\nsteps: [{text: x}]", "context_window"),
    ],
)  # fmt: skip
def test_a_script_with_a_mistake(world: World, text: str, wrong: str) -> None:
    path = world.write(world.root / "bad.yaml", text)
    with pytest.raises(BadSetup, match=wrong) as found:
        open_model(f"script:{path}", {}, {})
    assert str(found.value).startswith(str(path))


def test_a_hook_that_asks_the_sessions_model_is_not_off(world: World) -> None:
    """It needs no model in the settings, so there is no warning about a guard that is off, and no call is refused."""
    world.config('off = "deny"\n')
    world.kolega("PreToolUse", {"type": "prompt", "prompt": "May it?", "timeout": 30})
    ran = agent(world, {"tools": [LS]}, {"by": "hook", "text": '{"ok": true}'}, "Done.")
    assert (ran.stop, traces(world), ran.event("pre_tool")["hooks"][0]["status"]) == ("done", 1, "ran")
    assert [line for line in ran.said if "OFF" in line] == []
