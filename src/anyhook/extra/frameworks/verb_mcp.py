"""`anyhook mcp`: an MCP server behind our hooks, for agents without hooks."""

from __future__ import annotations

import os

import click

from anyhook.cli import BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.options import HookOptions, ModeOption, PostureOption, TrustOption, option
from anyhook.cli.verbs import of_extra, verb


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
    proxy = of_extra("anyhook.extra.frameworks.mcp_proxy", "mcp", "MCP support is not installed")
    project = project_of(options.project, options.plugin_dir)
    status: int = proxy.anyio.run(proxy.serve, command, options, os.path.abspath(project))
    return status
