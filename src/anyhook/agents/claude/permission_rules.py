"""Permission rules, `Tool` or `Tool(what)`: whether a rule applies to a tool call. A rule that cannot be read applies:
a guard that runs once too often does no harm, one that is skipped does."""

from __future__ import annotations

from anyhook.programs.loose import plain_parts
from anyhook.tables.patterns import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

PATHS = ("file_path", "path", "notebook_path")


def parsed(rule: str) -> tuple[str, str] | None:
    """The tool and the condition on it ("" for none); None if it is not a rule."""
    rule = rule.strip()
    tool, paren, rest = rule.partition("(")
    if not tool.strip() or (paren and not rest.endswith(")")) or any(char in tool for char in " )"):
        return None
    return tool, rest[:-1].strip() if paren else ""


def speaks_of(rule: str, tool: str, given: dict[str, Json], project: str) -> bool:
    """Whether the rule is about this call; `project` is "" if it is not known."""
    found = parsed(rule)
    if found is None:
        return True
    name, what = found
    if name != tool and not (name.startswith("mcp__") and tool.startswith(f"{name.removesuffix('__*')}__")):
        return False
    if what in ("", "*"):
        return True
    if isinstance(given.get("command"), str):
        return _command(what, str(given["command"]))
    path = next((str(given[key]) for key in PATHS if isinstance(given.get(key), str)), None)
    if path is not None:
        return _path(what, path, project)
    if what.startswith("domain:"):
        return _domain(what.removeprefix("domain:"), given.get("url"))
    return True


def _command(what: str, command: str) -> bool:
    """`git push *`, or the older `git push:*`, against each command of a line."""
    parts = plain_parts(command)
    pattern = f"{what[:-2]}*" if what.endswith(":*") else what
    return parts is None or any(_wild(pattern, part) for part in parts)


def _wild(pattern: str, text: str) -> bool:
    """`*` matches anything; a space before a final `*` is optional."""
    if pattern.endswith(" *") and text == pattern[:-2]:
        return True
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    if not text.startswith(first) or len(text) < len(first):
        return False
    position = len(first)
    for part in rest[:-1]:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(rest[-1]) and text.endswith(rest[-1])


def _path(what: str, path: str, project: str) -> bool:
    """`//absolute`, `~/of the home`, `/of the project`, `anywhere/below`, `*.name`; `**` crosses folders."""
    import os.path

    absolute = os.path.normpath(os.path.join(project, path))
    if what.startswith("//"):
        return _glob(what[1:], absolute)
    pattern = what.removeprefix("~/").removeprefix("./").lstrip("/")
    if "/" not in what.removeprefix("./"):
        return any(_glob(pattern, part) for part in absolute.split("/"))
    if what.startswith("/") and project:
        return _glob(f"{project}/{pattern}", absolute)
    return _glob(f"**/{pattern}", absolute)


def _glob(pattern: str, path: str) -> bool:
    """`*` stays inside one name, `**` does not; a folder matches everything in it."""
    made = ""
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position):
            made, position = f"{made}(?:.*/)?", position + 3
        elif pattern.startswith("**", position):
            made, position = f"{made}.*", position + 2
        elif pattern[position] == "*":
            made, position = f"{made}[^/]*", position + 1
        elif pattern[position] == "?":
            made, position = f"{made}[^/]", position + 1
        else:
            char = pattern[position]
            made, position = made + (char if char.isalnum() or char in "/_" else f"\\{char}"), position + 1
    return bool(compile_pattern(f"{made}(?:/.*)?").fullmatch(path))


def _domain(domain: str, url: Json) -> bool:
    if not isinstance(url, str):
        return True
    rest = url.partition("://")[2] or url
    name = rest.partition("/")[0].rpartition("@")[2].partition(":")[0].lower()
    return name == domain.lower() or (domain.startswith("*.") and name.endswith(domain[1:].lower()))
