"""The MCP servers that Claude Code knows by name, for handlers that call a tool of one. A project's file never decides
what a name means in the user's own hooks."""

from __future__ import annotations

import os

from anyhook.documents.files import Files
from anyhook.documents.variables import with_variables
from anyhook.tables.shapes import guess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

PROJECT_FILE = ".mcp.json"


def server_of(hook: Hook, env: Mapping[str, str], project: str, own: Mapping[str, Json]) -> dict[str, Json] | str:
    """The settings of the server that a handler names, with its variables filled in; or why there is none. `own` are
    the servers in our own settings."""
    name = hook.spec.get("server")
    if not isinstance(name, str) or not name:
        return "it names no server: add `server`"
    known = {**own, **_servers(hook, env, project)}
    server = known.get(name)
    if not isinstance(server, dict):
        hint = guess(name, known)
        return f"no MCP server is called {name!r} in {', '.join(_shown(hook)[:-1])} or {_shown(hook)[-1]}.{hint}"
    if not isinstance(server.get("url") or server.get("command"), str):
        return f"the MCP server {name!r} has neither a command nor a URL"
    filled = with_variables(server, env)
    return filled if isinstance(filled, dict) else {}


SERVERS = server_of


def server_words(hook: Hook, home: str, project: str) -> list[str]:
    """The command line that starts the server, for the files it names."""
    server = server_of(hook, {"HOME": home}, project, {})
    if isinstance(server, str):
        return []
    args = server.get("args")
    return [str(server.get("command") or ""), *(str(word) for word in (args if isinstance(args, list) else []))]


def _shown(hook: Hook) -> list[str]:
    near = [PROJECT_FILE] if hook.scope in ("project", "plugin") else []
    return ["~/.claude.json", *near, "[agent.mcp] of anyhook's settings"]


def _servers(hook: Hook, env: Mapping[str, str], project: str) -> dict[str, Json]:
    """By name. What a user keeps for one project comes first, then the project's or plugin's own file, then the user's
    for all projects."""
    files = Files()
    home = env.get("CLAUDE_CONFIG_DIR") or env.get("HOME", "")
    mine = files.document(f"{home}/.claude.json", "json")
    local = _under(_under(mine, "projects"), project)
    near: Json = {}
    if hook.scope in ("project", "plugin"):
        near = files.document(os.path.join(hook.root, PROJECT_FILE), "json")
    return {**_under(mine, "mcpServers"), **_under(near, "mcpServers"), **_under(local, "mcpServers")}


def _under(value: Json, key: str) -> dict[str, Json]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
