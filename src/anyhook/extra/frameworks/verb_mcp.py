"""`anyhook mcp`: an MCP server behind our hooks, for agents without hooks."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from anyhook.cli import BAD_CALL, DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import HookOptions, ModeOption, PostureOption, TrustOption, option
from anyhook.cli.ports import bound, port_of
from anyhook.cli.verbs import verb
from anyhook.model.extras import install_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client._transport import TransportStreams


class McpOptions(HookOptions, TrustOption, PostureOption, ModeOption):
    url: str | None = option("--url", "The server's address (streamable HTTP), instead of a command.", "URL")
    http: str | None = option(
        "--http", "Serve the agent at http://127.0.0.1:PORT/mcp instead of stdin and stdout; 0 for a free port.", "PORT"
    )
    name: str | None = option(
        "--name", "The server's name in `mcp__NAME__TOOL`; default: what the server calls itself.", "NAME"
    )


@verb("mcp", McpOptions, "anyhook mcp -- npx some-mcp-server", [click.Argument(["command"], nargs=-1)])
def mcp(command: tuple[str, ...], options: McpOptions) -> int:
    """Run an MCP server behind your hooks: write `anyhook mcp --` before its command in the agent's settings.

    Hooks are asked before and after every call of a tool (`pre_tool`, `post_tool`), under the name
    `mcp__SERVER__TOOL`. A refused call never reaches the server; the agent gets a tool error with the reason. All other
    messages pass unchanged. It works in every agent that speaks MCP, even in those without hooks.

    \b
    Exit status: 0 the agent ended the connection, 1 the server did, 3 bad call.
    """
    if bool(command) == bool(options.url):
        raise BadCall("name the server: either its command after `--`, or its address with --url.")
    try:
        import anyio
        import mcp as _sdk  # noqa: F401 (only whether it is there)
    except ImportError as error:
        raise BadCall(f"MCP support is not installed ({error}): {install_command('mcp')}") from None
    project = project_of(options.project, options.plugin_dir)
    return anyio.run(_serve, command, options, os.path.abspath(project))


LAST_WORDS_S = 0.2
"""Time for the last output to reach the agent."""


async def _serve(command: tuple[str, ...], options: McpOptions, project: str) -> int:
    import anyio
    from mcp.server.stdio import stdio_server

    from anyhook.engine.engine import Engine
    from anyhook.extra.frameworks.mcp_proxy import McpProxy

    session = str(uuid4())

    def open_engine() -> Engine:
        return Engine.open(
            project,
            dialects=options.dialect,
            trust=options.trust or "ask",
            on_failure=options.on_failure,
            mode=options.mode,
            plugin_dirs=options.plugin_dir,
            session=session,
            host="mcp",
        )

    async def connect(agent: TransportStreams) -> int:
        proxy = McpProxy(open_engine, agent, options.name or "", {"session": session})
        status = BAD_CALL
        try:
            async with _upstream(command, options.url) as server:
                status = FINDINGS
                if await proxy.run(server):
                    return DONE
            what = "ended the connection"
        except Exception as error:  # noqa: BLE001 (the agent is told, whatever it is)
            what = f"cannot be reached: {_first(error)}"
        reason = f"the server `{options.url or command[0]}` {what.rstrip('.')}."
        render.say(f"anyhook mcp: {reason}")
        await proxy.fail(reason)
        await anyio.sleep(LAST_WORDS_S)
        return status

    if options.http is not None:
        from anyhook.extra.frameworks import mcp_http

        with bound(port_of(options.http, "--http"), "--http") as at:
            render.say(f"Serving http://127.0.0.1:{at.getsockname()[1]}{mcp_http.PATH}. Ctrl-C stops it.")
            await mcp_http.serve(at, connect)
        return DONE
    async with stdio_server() as agent:
        status = await connect(agent)
        if status != DONE:
            os._exit(status)  # a thread still waits for the agent's next line, and cannot be woken
    return DONE


@asynccontextmanager
async def _upstream(command: tuple[str, ...], url: str | None) -> AsyncIterator[Any]:
    if url:
        from mcp.client.streamable_http import streamable_http_client

        async with streamable_http_client(url) as streams:
            yield streams
        return
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    async with stdio_client(server, errlog=sys.stderr) as streams:
        yield streams


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
