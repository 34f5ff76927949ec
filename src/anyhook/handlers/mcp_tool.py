"""Handlers that are a tool of an MCP server: the tool is called with the declared input, and the text of its result
counts as the output of a process. A separate process has the connection, so that the hook's time limit also ends the
server."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from time import time_ns
from typing import TYPE_CHECKING, Any

from anyhook.model.call import Call, Run
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.texts import install_command
from anyhook.model.words import RUN_VARIABLE
from anyhook.platform.launched import own_python
from anyhook.platform.run import start
from anyhook.state.agent_table import own_servers
from anyhook.state.entry_places import own_env
from anyhook.tables.registry import special
from anyhook.tables.rows import Dialect, Scene

if TYPE_CHECKING:
    from anyhook.handlers import Waitable

    FindServer = Callable[[Hook, Mapping[str, str], str, Mapping[str, Json]], dict[str, Json] | str]
    """Hook, environment, project, our own servers → the server whose tool the hook calls, or why there is none."""

PLACEHOLDER = re.compile(r"\$\{([^}]+)\}")
MISSING = f"the client for MCP servers is not installed: {install_command('mcp')}"


def no_call(hook: Hook, dialect: Dialect, env: Mapping[str, str], project: str) -> str:
    """Why the tool cannot be called, if that can be seen without calling it; "" if it can."""
    if find_spec("mcp") is None:
        return MISSING
    server = _server(hook, dialect, env, project)
    return server if isinstance(server, str) else ""


def _server(hook: Hook, dialect: Dialect, env: Mapping[str, str], project: str) -> dict[str, Json] | str:
    find: FindServer | None = special(dialect.name, "SERVERS")
    return find(hook, env, project, own_servers(env)) if find else "this dialect names no MCP servers"


def start_tool(hook: Hook, dialect: Dialect, call: Call, scene: Scene) -> Waitable | Run:
    """Call the tool; a Run that says why if there is no server to call."""
    server = MISSING if find_spec("mcp") is None else _server(hook, dialect, own_env(scene.env), scene.project)
    if isinstance(server, str):
        return Run("not_started", None, b"", b"", time_ns(), 0.0, server)
    task = {"server": server, "tool": hook.spec["tool"], "input": _filled(hook.spec.get("input"), call.stdin)}
    run_id = os.urandom(8).hex()
    env = {**scene.env, RUN_VARIABLE: run_id}
    argv = (*own_python(), "-m", "anyhook.handlers.mcp_tool")
    mark = f"{RUN_VARIABLE}={run_id}"
    return start(Call(argv, json.dumps(task).encode(), env, scene.project, call.limit_s, mark))


def _filled(given: Json, payload: bytes) -> dict[str, Json]:
    """What the tool gets: in every text, `${a.b}` is replaced by that value of the payload, or by nothing."""
    event: Json = json.loads(payload)

    def value(found: re.Match[str]) -> str:
        there: Json = event
        for key in found.group(1).split("."):
            there = there.get(key) if isinstance(there, dict) else None
        return "" if there is None else there if isinstance(there, str) else json.dumps(there, ensure_ascii=False)

    def fill(part: Json) -> Json:
        if isinstance(part, dict):
            return {key: fill(item) for key, item in part.items()}
        if isinstance(part, list):
            return [fill(item) for item in part]
        return PLACEHOLDER.sub(value, part) if isinstance(part, str) else part

    return {key: fill(item) for key, item in given.items()} if isinstance(given, dict) else {}


# -- in the process


async def _called(task: dict[str, Any]) -> tuple[int, str]:
    """Exit status, and what the tool says."""
    from mcp import Client

    async with Client(_transport(task["server"])) as client:
        result = await client.call_tool(task["tool"], task["input"])
    said = "\n".join(block.text for block in result.content if block.type == "text")
    return int(bool(result.is_error)), said


def _transport(server: dict[str, Any]) -> Any:
    """The transport to the server that its settings name."""
    if "url" not in server:
        from mcp import StdioServerParameters

        env = {**os.environ, **server.get("env", {})}
        return StdioServerParameters(
            command=server["command"], args=server.get("args", []), env=env, cwd=server.get("cwd")
        )
    if server.get("type") == "sse":
        from mcp.client.sse import sse_client

        return sse_client(server["url"], headers=server.get("headers"))
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    @asynccontextmanager
    async def connected() -> AsyncIterator[Any]:
        async with (
            create_mcp_http_client(headers=server.get("headers")) as http,
            streamable_http_client(server["url"], http_client=http) as streams,
        ):
            yield streams

    return connected()


def main() -> int:
    import anyio

    task = json.loads(sys.stdin.buffer.read())
    try:
        status, said = anyio.run(_called, task)
    except BaseException as error:  # noqa: BLE001 (whatever goes wrong on the way is this hook's failure)
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        sys.stderr.write(f"the tool {task['tool']} could not be called: {str(error) or type(error).__name__}\n")
        return 1
    (sys.stderr if status else sys.stdout).write(said)
    return status


if __name__ == "__main__":
    sys.exit(main())
