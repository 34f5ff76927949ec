"""The permission gate: which tools need permission, and who gives it. A hook may grant or deny it. If there is nobody
to ask, the tool is denied."""

from __future__ import annotations

import asyncio
from typing import Protocol

from anyhook.extra.frameworks.pydantic_ai import Hooked
from anyhook.model.json_types import Json


class Ask(Protocol):
    """Why a tool may not run yet, and whether a yes may last → a person's answer: ONCE, ALWAYS or NO."""

    async def __call__(self, tool: str, given: dict[str, Json], reason: str, *, lasting: bool) -> str: ...


ONCE, ALWAYS, NO = "once", "always", "no"
NEEDS = frozenset({"shell", "write_file", "edit_file", "web_fetch"})
"""Tools that change something or send something away. A sub-agent's own tools pass the same gate."""
MCP = "mcp__"
"""The prefix of MCP tools, whose effects are unknown."""


def needs(tool: str) -> bool:
    """Whether a tool may change something, or send something away."""
    return tool in NEEDS or tool.startswith(MCP)


class Permission:
    """One session's gate."""

    def __init__(self, mode: str, ask: Ask | None = None) -> None:
        self.mode, self.ask = mode, ask
        self.granted: set[str] = set()
        """Tools that a person has allowed for the rest of the session. If a hook asks, the person is still asked."""
        self._asking = asyncio.Lock()

    async def refuses(self, hooked: Hooked, tool: str, given: dict[str, Json], call_id: str) -> str | None:
        if self.mode == "auto" or not needs(tool):
            return None
        if self.mode == "deny":
            return "the permission mode is `deny`"
        decision = await hooked.fire("permission_request", tool=tool, input=given, call_id=call_id)
        hooked.lifecycle.waiting.extend(decision.context)
        if decision.stops:
            return decision.reason or "a hook denied it"
        if decision.verdict == "allow":
            return None
        async with self._asking:  # tools of one step run in parallel, and one answer may be for all of them
            if tool in self.granted:
                return None
            answer = await self._answer(hooked, tool, given, f"{tool} needs permission", lasting=True)
            if answer == ALWAYS:
                self.granted.add(tool)
        if answer != NO:
            return None
        return "there is no one to ask" if self.ask is None else "the user said no"

    async def confirms(self, hooked: Hooked, tool: str, given: dict[str, Json], reason: str) -> bool:
        async with self._asking:
            return await self._answer(hooked, tool, given, reason, lasting=False) != NO

    async def _answer(self, hooked: Hooked, tool: str, given: dict[str, Json], reason: str, lasting: bool) -> str:
        await hooked.fire("notification", notification_type="permission_prompt", message=reason, tool=tool)
        return NO if self.ask is None else await self.ask(tool, given, reason, lasting=lasting)
