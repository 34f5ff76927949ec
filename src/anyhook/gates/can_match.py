"""Can match: whether a hook's matcher can match at all, in any agent or in one. It says no only if that is certain: an
agent has more tools than its table knows, such as those of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from anyhook.engine.match import known
from anyhook.engine.receive import recalled
from anyhook.gates.inspect import inspect
from anyhook.model.event import EVENTS, Event
from anyhook.model.hook import ARMED, Hook
from anyhook.state.plans import Setup
from anyhook.tables.host_rows import Host
from anyhook.tables.patterns import names_only
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host, special
from anyhook.tables.rows import EventRow

NEVER = "matcher-never-matches"
NEAR = 0.75
"""How similar two names must be, from 0 to 1."""
TOO_SHORT = 2
"""Letters of a name that is too short to be compared. An abbreviation in capitals is not compared either."""
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
PLAIN_TOOL = re.compile(r"\w+(?:-\w+)*")
"""A name that no dialect reads as a list, a pattern or a negated pattern."""


def never_matches(hook: Hook, setup: Setup, table: Host | None) -> str:
    """Why a hook can never match, in this agent if one is given; "" if it may."""
    for problem in inspect(hook, setup):
        if problem.code == NEVER:
            return problem.why or problem.what
    return _not_here(hook, table) if table is not None else ""


def _not_here(hook: Hook, table: Host) -> str:
    """The same, if it names only tools that are known, but not in this agent."""
    event = next((each for each in hook.events if EVENTS[each] == ("tool",)), None)
    found = _named(hook)
    if event is None or found is None:
        return ""
    names, row = found
    for seen in _calls(event, table):
        if not known(hook.replace(status=ARMED), dialect(hook.dialect), row, seen):
            return ""
    own = dialect(table.name).tools.values() if table.name in DIALECTS else ()
    return _no_such_tool(names, {*table.tools, *(tool.native for tool in own)}, table.title, table.name)


def _no_such_tool(names: frozenset[str], own: Collection[str], title: str, agent: str) -> str:
    """That an agent has none of these tools, if all of them are known elsewhere; "" if it has one."""
    if not names.isdisjoint(own) or not names <= _all_names():
        return ""
    return f"{title} has no tool {', '.join(sorted(names))}{_right_names(names, agent)}"


def tools_wanted(hook: Hook, event: str, table: Host) -> frozenset[str] | None:
    """The tools of an agent that a hook can match at an event. None means every tool, or that it is not certain: its
    matcher is more than plain names, or has a name that the agent's table does not know."""
    found = _named(hook)
    if found is None or EVENTS[event] != ("tool",):
        return None
    names, row = found
    if not all(PLAIN_TOOL.fullmatch(name) for name in names):
        return None

    def wants(some: Hook, tool: str) -> bool:
        call = recalled(table, Event(event, {"tool": tool, "input": {}}, hosted=True))
        return not known(some, dialect(hook.dialect), row, call)

    hook = hook.replace(status=ARMED)
    for name in names:
        only = hook.replace(matcher={**hook.matcher, "tool": name} if isinstance(hook.matcher, dict) else name)
        is_loose = any(wants(only, other) for other in (f"x{name}", f"{name}x", name.swapcase()))
        if is_loose or not any(wants(only, tool) for tool in table.tools):
            return None
    return frozenset(tool for tool, row in table.tools.items() if row.split is not None or wants(hook, tool))


def _named(hook: Hook) -> tuple[frozenset[str], EventRow] | None:
    """The tools that a hook's matcher names, and its row; None if its event has no tools, or it has another pattern."""
    row, pattern = dialect(hook.dialect).row(hook.native_event), _tool_pattern(hook)
    names = names_only(pattern) if pattern else None
    return (names, row) if names and row is not None and row.target == "tool" else None


def _tool_pattern(hook: Hook) -> str:
    """The tools that a hook's matcher names; "" if it accepts all tools, or names none."""
    pattern = hook.matcher.get("tool") if isinstance(hook.matcher, dict) else hook.matcher
    return pattern if isinstance(pattern, str) and pattern.strip() not in ("", "*") else ""


def not_in_its_own(hook: Hook) -> str:
    """Why a hook never runs in the agent that it is written for: it names only other agents' tools. "" if it may
    run."""
    table, found = dialect(hook.dialect), _named(hook)
    if found is None or found[0] <= (special(table.name, "FOREIGN_TOOLS") or frozenset()):
        return ""
    if hook.dialect in HOSTS:
        return _not_here(hook, host(hook.dialect))
    own = _spelled(hook)
    return _no_such_tool(found[0], own, table.title, table.name) if own else ""


def _spelled(hook: Hook) -> list[str]:
    """The names of the tools of a hook's own agent."""
    tools = dialect(hook.dialect).tools
    return [*tools, *(tool.native for tool in tools.values())]


def misspelt(hook: Hook) -> str:
    """What a matcher probably means by a tool that no known agent has; "" if no name is similar. (It may be a custom
    tool, so this is only a hint.)"""
    found, own = _named(hook), _spelled(hook)
    if found is None or found[0].issubset(own):
        return ""
    names = found[0]
    everywhere = _all_names()
    for name in sorted(names - everywhere):
        near = _similar(name, own) or _similar(name, sorted(everywhere))
        if near and PLAIN_TOOL.fullmatch(name) and not name.startswith("mcp__"):
            return f"no agent that anyhook knows has a tool `{name}`; did you mean `{near}`?"
    return ""


def _similar(name: str, names: list[str]) -> str:
    """The most similar name with as many words. `TaskCreate` is not a slip for `Create`."""
    words = len(WORDS.findall(name))
    alike = [each for each in names if len(WORDS.findall(each)) == words]
    compared = len(name) > TOO_SHORT and not name.isupper()
    return next(iter(get_close_matches(name, alike, 1, NEAR)), "") if compared else ""


def _right_names(names: frozenset[str], agent: str) -> str:
    """The names of those tools in this agent, if the tables know them."""
    ours = _ours(names)
    own = dialect(agent).tools if agent in DIALECTS else {}
    right = [own[key].native for key in sorted(ours) if key in own]
    if not right and agent in HOSTS:
        right = [native for native, tool in host(agent).tools.items() if tool.ours in ours]
    return f"; there it is {', '.join(f'`{name}`' for name in dict.fromkeys(right))}" if right else ""


def _ours(names: frozenset[str]) -> set[str]:
    """Our names for these tools of any agent."""
    ours = {tool.ours for name in HOSTS for native, tool in host(name).tools.items() if native in names}
    return ours | {key for name in DIALECTS for key, row in dialect(name).tools.items() if row.native in names}


def _calls(event: str, table: Host) -> Iterator[Event]:
    """One event for every tool of the agent that its table knows, and for every part of a call that is split."""
    ours = {tool.ours for tool in table.tools.values()}
    if any(tool.split is not None for tool in table.tools.values()):
        ours |= {"write_file", "edit_file"}
    for name in (*table.tools, *sorted(ours)):
        yield recalled(table, Event(event, {"tool": name, "input": {}}, hosted=True))


def _all_names() -> set[str]:
    """Every name that a tool has in some agent."""
    found: set[str] = set()
    for name in HOSTS:
        tools = host(name).tools
        found.update(tools, (tool.ours for tool in tools.values()))
    for name in DIALECTS:
        tools_of = dialect(name).tools
        found.update(tools_of, (row.native for row in tools_of.values()))
    return found
