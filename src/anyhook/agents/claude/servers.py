"""The MCP servers that Claude Code knows by name."""

from __future__ import annotations

import os

from anyhook.agents._mcp_servers import chosen, table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Hook, Json, Mapping

PROJECT_FILE = ".mcp.json"


def server_of(hook: Hook, env: Mapping[str, str], project: str, own: Mapping[str, Json]) -> dict[str, Json] | str:
    """The settings of the server that a handler names, with its variables filled in; or why there is none. `own` are
    the servers in our own settings."""
    near = [PROJECT_FILE] if hook.scope in ("project", "plugin") else []
    server = chosen(hook, {**own, **_servers(hook, env, project)}, "~/.claude.json", *near)
    if isinstance(server, str):
        return server
    from anyhook.documents.variables import with_variables

    filled = with_variables(server, env)
    return filled if isinstance(filled, dict) else {}


SERVERS = server_of


def _servers(hook: Hook, env: Mapping[str, str], project: str) -> dict[str, Json]:
    """By name. What a user keeps for one project comes first, then the project's or plugin's own file, then the user's
    for all projects."""
    from anyhook.documents.files import Files

    files = Files()
    home = env.get("CLAUDE_CONFIG_DIR") or env.get("HOME", "")
    mine = files.document(f"{home}/.claude.json", "json")
    local = table_of(table_of(mine, "projects"), project)
    near: Json = {}
    if hook.scope in ("project", "plugin"):
        near = files.document(os.path.join(hook.root, PROJECT_FILE), "json")
    return {**table_of(mine, "mcpServers"), **table_of(near, "mcpServers"), **table_of(local, "mcpServers")}
