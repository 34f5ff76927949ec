"""Hooks around an MCP server's tools: messages between an agent and a server, in memory, and once with real
processes."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.mcp_proxy import McpProxy
from anyhook.model.event import Event
from anyhook.model.outcome import Outcome
from conftest import World

if TYPE_CHECKING:
    from anyhook.model.words import Verdict

SERVER = '''
from pathlib import Path
from mcp.server.mcpserver import MCPServer

server = MCPServer("Notes")

@server.tool()
def remove(path: str) -> str:
    """Remove a note."""
    Path("removed").write_text(path)
    return f"removed {path}"

server.run()
'''
GREETING = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    },
}  # fmt: skip
GREETED = {"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": "Notes", "version": "1"}}}


def call(number: int, tool: str = "remove", **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}


def result(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}], **more}}


def talk(
    engine: Engine, said: list[dict[str, Any]], replies: dict[int, Any], fails: bool = False
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages that the agent and the server received after the agent sent these."""
    got: list[dict[str, Any]] = []
    reached: list[dict[str, Any]] = []

    def opened() -> Engine:
        if fails:
            raise OSError("the disk is gone")
        return engine

    async def run() -> None:
        to_proxy, from_agent = anyio.create_memory_object_stream[Any](10)
        to_agent, agent_hears = anyio.create_memory_object_stream[Any](10)
        to_server, server_hears = anyio.create_memory_object_stream[Any](10)
        server_says, from_server = anyio.create_memory_object_stream[Any](10)

        async def serve() -> None:
            async for message in server_hears:
                reached.append(plain(message))
                if isinstance(message.message, JSONRPCRequest) and message.message.id in replies:
                    await server_says.send(wrapped(replies[int(message.message.id)]))

        async def hear() -> None:
            async for message in agent_hears:
                got.append(plain(message))

        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            group.start_soon(hear)
            for message in said:
                await to_proxy.send(wrapped(message))
            to_proxy.close()
            assert await McpProxy(opened, (from_agent, to_agent)).run((from_server, to_server))
        for stream in (from_agent, agent_hears, server_hears, server_says, from_server):
            stream.close()

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(run)
    return got, reached


def wrapped(message: dict[str, Any]) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python(message))


def plain(message: SessionMessage) -> dict[str, Any]:
    found: dict[str, Any] = message.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return found


def test_a_refused_call_never_reaches_the_server(world: World) -> None:
    engine = world.engine()
    seen: list[Any] = []

    def refuse(event: Event) -> Outcome:
        seen.append((event.get("tool"), event.get("input")))
        return Outcome(verdict="block", reason="notes stay")

    engine.on("pre_tool", refuse)
    got, reached = talk(engine, [GREETING, call(2, path="a")], {1: GREETED})
    assert seen == [("mcp__Notes__remove", {"path": "a"})]
    assert [message["method"] for message in reached] == ["initialize"]
    assert got[0] == GREETED
    assert got[1]["id"] == 2
    assert got[1]["result"]["isError"] is True
    assert got[1]["result"]["content"][0]["text"].endswith("notes stay")


@pytest.mark.parametrize("verdict", ["ask", "block"])
def test_a_call_that_is_sent_before_the_name_is_known_waits_for_it(world: World, verdict: Verdict) -> None:
    engine = world.engine()
    engine.on("pre_tool", lambda event: Outcome(verdict=verdict) if event.get("tool") == "mcp__Notes__remove" else None)
    got, reached = talk(engine, [GREETING, call(2)], {1: GREETED, 2: result(2, "removed")})
    assert [message["id"] for message in reached] == [1]
    assert got[-1]["result"]["isError"] is True


def test_calls_that_hooks_let_pass_are_passed_on_unchanged(world: World) -> None:
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "x"}}
    tools = {"jsonrpc": "2.0", "id": 2, "result": {"tools": [], "extra": {"kept": [1, None]}}}
    noted = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    said: list[dict[str, Any]] = [GREETING, listed, noted, call(3, path="a", deep={"list": [1.5, None]})]
    got, reached = talk(world.engine(), said, {1: GREETED, 2: tools, 3: result(3, "removed", isError=False)})
    assert reached == said
    assert got == [GREETED, tools, result(3, "removed", isError=False)]


def test_rewrites_and_notes(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", lambda event: Outcome(tool_input={"path": "b"}))
    engine.on("post_tool", lambda event: Outcome(tool_output="hidden", context=("see the log",)))
    answer = result(2, "secret", structuredContent={"result": "secret"})
    got, reached = talk(engine, [call(2, path="a")], {2: answer})
    assert reached[0]["params"] == {"name": "remove", "arguments": {"path": "b"}}
    texts = [part["text"] for part in got[0]["result"]["content"]]
    assert texts == ["hidden", "see the log"]
    assert "structuredContent" not in got[0]["result"]


def test_failures_are_events_too(world: World) -> None:
    engine = world.engine()
    seen: list[Any] = []
    engine.on("post_tool_failure", lambda event: seen.append(event.get("tool_error")))
    error = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": "no such note"}}
    got, _ = talk(engine, [call(2), call(3)], {2: result(2, "it is locked", isError=True), 3: error})
    assert sorted(seen) == ["it is locked", "no such note"]
    assert error in got


def test_where_hooks_cannot_be_asked_nothing_runs(world: World) -> None:
    got, reached = talk(world.engine(), [call(2)], {2: result(2, "removed")}, fails=True)
    assert reached == []
    assert "the disk is gone" in got[0]["result"]["content"][0]["text"]
    assert got[0]["result"]["isError"] is True


def test_the_command_between_an_agent_and_a_real_server(world: World, tmp_path: Path) -> None:
    world.hook("kodik", "PreToolUse", "echo 'notes stay' >&2; exit 2")
    server = world.write(tmp_path / "server.py", SERVER)
    lines = [GREETING, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call(2, path="a")]
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("anyhook")), "mcp", "--", sys.executable, str(server)],
        input="".join(f"{json.dumps(line)}\n" for line in lines), capture_output=True, text=True, timeout=200,
        cwd=world.project, env={**world.env, "ANYHOOK_WARM": "off"}, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert answers[0]["result"]["serverInfo"]["name"] == "Notes"
    assert answers[1]["result"]["isError"] is True
    assert "notes stay" in answers[1]["result"]["content"][0]["text"]
    assert not (world.project / "removed").exists()
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("server", "status"), [(["--", "no-such-program"], 3), (["--url", "http://127.0.0.1:9/mcp"], 1)]
)
def test_a_server_that_cannot_be_reached_is_told_to_the_agent(world: World, server: list[str], status: int) -> None:
    """The process also ends, although the agent's side is still open."""
    with subprocess.Popen(
        [str(Path(sys.executable).with_name("anyhook")), "mcp", *server],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=world.project, env={**world.env, "ANYHOOK_WARM": "off"},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(f"{json.dumps(GREETING)}\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert process.wait() == status
        said = process.stderr.read()
    assert answer["id"] == 1
    assert answer["error"]["message"].startswith(f"anyhook: the server `{server[1]}` cannot be reached: ")
    assert said.startswith(f"anyhook mcp: the server `{server[1]}` cannot be reached: ")
    assert len(said.splitlines()) == 1


def test_over_http_a_session_without_a_server_gets_an_answer(world: World) -> None:
    with subprocess.Popen(
        [str(Path(sys.executable).with_name("anyhook")), "mcp", "--http", "0", "--", "no-such-program"],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        cwd=world.project, env={**world.env, "ANYHOOK_WARM": "off"},
    ) as process:  # fmt: skip
        assert process.stderr is not None
        url = process.stderr.readline().split()[1].rstrip(".")
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        for _ in range(2):  # the end of one session does not end the others
            request = urllib.request.Request(url, json.dumps(GREETING).encode(), headers)
            with urllib.request.urlopen(request) as response:
                answer = response.read().decode()
            assert "the server `no-such-program` cannot be reached" in answer
        process.terminate()
        said = process.stderr.read()
    assert said.splitlines() == [line for line in said.splitlines() if line.startswith("anyhook mcp: the server")]
