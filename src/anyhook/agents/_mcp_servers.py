"""MCP servers that agents know by name, for handlers that call a tool of one. A project's file never decides what a
name means in the user's own hooks."""

from __future__ import annotations

from anyhook.programs.named import named_files
from anyhook.tables.shapes import guess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Files, Hook, Json, Mapping

OWN_SERVERS = "[agent.mcp] of anyhook's settings"


def chosen(hook: Hook, known: Mapping[str, Json], *shown: str) -> dict[str, Json] | str:
    """The server that a handler names, or why there is none; `shown` says where it was looked for."""
    name = hook.spec.get("server")
    if not isinstance(name, str) or not name:
        return "it names no server: add `server`"
    server = known.get(name)
    if not isinstance(server, dict):
        return f"no MCP server is called {name!r} in {', '.join(shown)} or {OWN_SERVERS}.{guess(name, known)}"
    if not isinstance(server.get("url") or server.get("command"), str):
        return f"the MCP server {name!r} has neither a command nor a URL"
    return server


def pinned(server: dict[str, Json] | str, where: str, project: str, home: str, files: Files) -> tuple[str, ...]:
    """For an approval: the project's file that says what a name means, and the files that start the server."""
    words: list[str] = []
    if isinstance(server, dict):
        args = server.get("args")
        words = [str(server.get("command") or ""), *map(str, args if isinstance(args, list) else [])]
    return (*((where,) if files.is_file(where) else ()), *named_files(words, project, home, {}, files))


def table_of(value: Json, key: str) -> dict[str, Json]:
    """A table by its key; {} if there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
