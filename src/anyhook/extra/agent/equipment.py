"""What the agent uses besides its own tools: MCP servers, types of sub-agents, skills. Only the user's and the approved
ones of the project."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import Toolset
from pydantic_ai_harness.subagents import SubAgents

from anyhook.documents.files import Files
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.engine.catalog import open_ledger
from anyhook.extra.agent.content import find_offers, trusted
from anyhook.extra.agent.skills import LOAD, load_skills
from anyhook.extra.agent.skills import capabilities as skill_capabilities
from anyhook.extra.agent.subagents import EXPLORE, GENERAL, SELF, BadType, build, read_type
from anyhook.extra.agent.tools import TOOLS
from anyhook.model.extras import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model
    from pydantic_ai_harness.skills import SkillDefinition

    from anyhook.extra.agent.content import Offer
    from anyhook.extra.agent.mcp_servers import McpServer, McpServers
    from anyhook.extra.agent.settings import AgentSettings
    from anyhook.extra.agent.subagents import TypeFile
    from anyhook.state.plans import Setup


@dataclass
class Equipment:
    """What was found and may be used."""

    skills: list[SkillDefinition] = field(default_factory=list)
    types: list[TypeFile] = field(default_factory=list)
    servers: McpServers | None = None
    waiting: list[Offer] = field(default_factory=list)
    """The project's that are not approved yet."""
    web_fetch: bool = False

    @property
    def all_servers(self) -> list[McpServer]:
        return self.servers.all if self.servers is not None else []

    @property
    def tool_names(self) -> list[str]:
        more = ["web_fetch"] if self.web_fetch else []
        more += [LOAD] if any(skill.model_invocable for skill in self.skills) else []
        return [*TOOLS, *more, *(tool for server in self.all_servers for tool in server.tools)]

    @property
    def all_types(self) -> list[TypeFile]:
        """The types of sub-agents that can be asked for: the first of each name, and the agent itself."""
        found: dict[str, TypeFile] = {}
        for each in self.types:
            found.setdefault(each.name, each)
        return [*found.values()] if SELF.name in found else [*found.values(), SELF]

    def capabilities(
        self,
        shared: Sequence[AbstractCapability[Any]],
        model: Callable[[str], Model],
        tell: Callable[[str], None],
    ) -> list[AbstractCapability[Any]]:
        """The agent's capabilities: those that it shares with its sub-agents, and the sub-agents."""
        all_ = [*shared, *map(Toolset, self.all_servers), *skill_capabilities(self.skills)]
        agents = build(self.types, all_, model, tell)
        return [*all_, SubAgents(agents, include_self=True, forward_usage=False)]

    async def check_servers(self) -> None:
        """Notice it if one has ended."""
        await asyncio.gather(*(server.check() for server in self.all_servers))

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.close()


async def equip(
    setup: Setup, settings: AgentSettings, env: Mapping[str, str], tell: Callable[[str], None]
) -> Equipment:
    """Find everything, leave out what is not approved, connect the servers. `env` is their environment."""
    offers, problems = find_offers(setup, settings.mcp)
    usable, waiting = trusted(offers, setup, open_ledger(setup, Files()))
    for problem in problems:
        tell(problem.sentence())
    if waiting:
        tell(f"Not approved yet, so not used: {', '.join(offer.id for offer in waiting)}. See `anyhook trust`.")
    skills, left_out = await load_skills([offer for offer in usable if offer.kind == "skill"], setup.project)
    for line in left_out:
        tell(line)
    types = [*_types([offer for offer in usable if offer.kind == "subagent"], tell), EXPLORE, GENERAL]
    made = Equipment(skills, types, None, waiting, settings.web_fetch)
    servers = list({offer.name: offer for offer in reversed(usable) if offer.kind == "mcp"}.values())
    if servers:
        made.servers = await _connected(servers[::-1], env, tell)
    return made


async def _connected(offers: list[Offer], env: Mapping[str, str], tell: Callable[[str], None]) -> McpServers | None:
    try:  # in a thread: the client may take seconds to load, and Ctrl-C should work
        module = await asyncio.to_thread(import_module, "anyhook.extra.agent.mcp_servers")
    except ImportError as error:
        tell(f"MCP servers cannot be used ({error}). Install their client: {install_command('agent')}")
        return None
    servers: McpServers = module.McpServers(offers, env, tell)
    await servers.open()
    return servers


def _types(offers: Sequence[Offer], tell: Callable[[str], None]) -> list[TypeFile]:
    found: list[TypeFile] = []
    for offer in offers:
        try:
            found.append(read_type(offer, read_bytes(offer.source).decode("utf-8")))
        except (OSError, UnicodeDecodeError, Unreadable, BadType) as error:
            tell(f"The sub-agent `{offer.name}` cannot be used: {error}")
    return found
