"""The MCP servers that Codex knows by name: `[mcp_servers.NAME]` of its `config.toml`, the user's and a project's
(developers.openai.com/codex/mcp, 2026-10)."""

from __future__ import annotations

from anyhook.agents._mcp_servers import chosen, table_of
from anyhook.documents.files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Hook, Json, Mapping

PROJECT_CONFIG = ".codex/config.toml"


def server_of(hook: Hook, env: Mapping[str, str], _project: str, own: Mapping[str, Json]) -> dict[str, Json] | str:
    """The settings of the server that a handler names, or why there is none. `own` are the servers in our settings."""
    files, home = Files(), env.get("CODEX_HOME") or f"{env.get('HOME', '')}/.codex"
    known = {**own, **table_of(files.document(f"{home}/config.toml", "toml"), "mcp_servers")}
    near = [PROJECT_CONFIG] if hook.scope == "project" else []
    for path in near:
        known |= table_of(files.document(f"{hook.root}/{path}", "toml"), "mcp_servers")
    server = chosen(hook, known, "~/.codex/config.toml", *near)
    if isinstance(server, dict) and server.get("enabled") is False:
        return f"the MCP server {hook.spec['server']!r} is turned off: `enabled = false`"
    return server if isinstance(server, str) else {**server, "headers": _headers(server, env)}


SERVERS = server_of


def _headers(server: dict[str, Json], env: Mapping[str, str]) -> dict[str, Json]:
    token = env.get(str(server.get("bearer_token_env_var") or ""))
    filled = {name: env.get(str(variable)) for name, variable in table_of(server, "env_http_headers").items()}
    headers = {**table_of(server, "http_headers"), **({"Authorization": f"Bearer {token}"} if token else {})}
    return {**headers, **{name: value for name, value in filled.items() if value is not None}}
