"""What the agent uses besides its own tools: MCP servers, types of sub-agents, skills. Only the user's and the approved
ones of the project."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability, Capability, PrepareTools, Toolset
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.workspaces import LocalWorkspaceBackend
from pydantic_ai_harness.skills import SkillDefinition, Skills
from pydantic_ai_harness.subagents import SubAgent, SubAgents

from anyhook.documents.files import Files
from anyhook.documents.parse import split_front_matter
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.engine.catalog import open_ledger
from anyhook.extra.agent.content import Offer, find_offers, trusted
from anyhook.extra.agent.settings import AgentSettings, BadSetup, Failed
from anyhook.extra.agent.tools import TOOLS
from anyhook.extra.frameworks.plain_values import mistakes
from anyhook.model.texts import install_command
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect

if TYPE_CHECKING:
    from anyhook.extra.agent.mcp_servers import McpServer, McpServers


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
        all_ = [*shared, *map(Toolset, self.all_servers), *capabilities_of(self.skills)]
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
        except (OSError, ValueError, yaml.YAMLError, Unreadable) as error:
            why = mistakes(error) if isinstance(error, ValidationError) else " ".join(str(error).split())
            tell(f"The sub-agent `{offer.name}` cannot be used: {offer.source}: {why}")
    return found


# -- skills: folders with a `SKILL.md`. The model loads one when it needs it, or a person by its name. They are read
# once, when the session starts, so that what was approved is what is used


LOAD = "load_capability"
"""The framework's tool that loads a skill; its field `id` is the skill's name."""


async def load_skills(offers: Sequence[Offer], project: str) -> tuple[list[SkillDefinition], list[str]]:
    """The skills of these folders, and why others cannot be used."""
    wanted = {os.path.realpath(offer.source) for offer in offers}
    skills: dict[str, SkillDefinition] = {}
    skipped: list[str] = []
    for library in dict.fromkeys(os.path.dirname(os.path.dirname(offer.source)) for offer in offers):
        reader: Skills[Any] = Skills(library, missing_directories="skip", duplicate_names="keep_first")
        catalog = await reader.load(LocalWorkspaceBackend(project))
        for skill in catalog.skills:  # one that is not approved must not hide another of its name
            if os.path.realpath(skill.path) in wanted:
                skills.setdefault(skill.name, skill)
        skipped += [each.message for each in catalog.skipped if os.path.realpath(each.path) in wanted]
    return list(skills.values()), skipped


def capabilities_of(skills: Sequence[SkillDefinition]) -> list[Capability[Any]]:
    """What the model is offered."""
    return [
        Capability(id=skill.name, description=skill.description, instructions=skill.render(), defer_loading=True)
        for skill in skills
        if skill.model_invocable
    ]


def loaded_in(history: Sequence[ModelMessage]) -> list[str]:
    """The skills that a conversation has loaded."""
    calls = (part for message in history if isinstance(message, ModelResponse) for part in message.parts)
    loads = (part for part in calls if isinstance(part, ToolCallPart) and part.tool_name == LOAD)
    return list(dict.fromkeys(str(part.args_as_dict().get("id")) for part in loads))


# -- types of sub-agents: two built-in ones, and those from files. A type may limit the tools and name another model.
# Hooks see its name as the agent's type


READING = ("read_file", "list_files", "grep")
INHERIT = "inherit"


class TypeFile(BaseModel):
    """The front matter of a type's file, and the text below it."""

    name: str = ""
    description: str = ""
    tools: list[str] | None = Field(default=None)
    """None for all of them."""
    model: str = INHERIT
    body: str = ""

    @field_validator("tools", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


SELF = TypeFile(name="self", description="This agent once more, with all its tools, in its own conversation.")
"""By the framework's name for the running agent as a sub-agent."""
EXPLORE = TypeFile(
    name="explore",
    description="Looks around in the project and reports what it found, without changing anything.",
    tools=[*READING],
    body="You explore a project for another agent. Read only what you need, and report what you found with paths and "
    "line numbers. You cannot change anything.",
)
GENERAL = TypeFile(
    name="general",
    description="Carries out a self-contained task with all tools.",
    body="You carry out one task for another agent. Do what was asked and no more, check it, and report briefly what "
    "you did and what is open. A tool that was denied stays denied.",
)


def read_type(offer: Offer, text: str) -> TypeFile:
    """Read a type from its file, with our own tool names; raises ValueError or YAMLError for a mistake."""
    front = split_front_matter(text)
    document = yaml.safe_load(front[0]) if front is not None else {}
    if not isinstance(document, dict):
        raise ValueError("the front matter must be a mapping")
    body = text.split("\n---", 1)[-1].partition("\n")[2] if front is not None else text
    found = TypeFile.model_validate({**document, "body": body.strip()})
    ours = _our_names(offer.dialect)
    tools = None if found.tools is None else [ours.get(_bare(tool), tool) for tool in found.tools]
    return found.model_copy(update={"name": found.name or offer.name, "tools": tools})


def _bare(tool: str) -> str:
    """A tool's name without a rule about its input: `Bash(git:*)` is `Bash` here."""
    return tool.partition("(")[0].strip()


def _our_names(name: str) -> Mapping[str, str]:
    rows = dialect(name).tools.items() if name else ()
    return {native: ours for ours, row in rows for native in (row.native, *row.also)}


def build(
    types: Sequence[TypeFile],
    capabilities: Sequence[AbstractCapability[Any]],
    model: Callable[[str], Model],
    tell: Callable[[str], None],
) -> list[SubAgent[Any]]:
    """Agents of these types, each with the capabilities that its tools allow. The first of a name counts."""
    made: dict[str, SubAgent[Any]] = {}
    for each in types:
        if each.name in made:
            continue
        if each.name == SELF.name:
            tell("The sub-agent `self` is the agent itself. Of a file with this name, only the hooks count.")
            continue
        chosen: Model | None = None
        if ":" in each.model:
            try:
                chosen = model(each.model)
            except (BadSetup, Failed) as error:
                tell(f"The sub-agent `{each.name}` uses the session's model: {error}")
        limits = [] if each.tools is None else [PrepareTools(_only(frozenset(each.tools)))]
        agent: Agent[Any, str] = Agent(
            chosen,
            name=each.name,
            description=each.description or f"The sub-agent {each.name}.",
            instructions=each.body or None,
            capabilities=[*capabilities, *limits],
        )
        made[each.name] = SubAgent(agent)
    return list(made.values())


def _only(names: frozenset[str]) -> Any:
    async def prepare(_ctx: RunContext[Any], tools: list[ToolDefinition]) -> list[ToolDefinition]:
        return [tool for tool in tools if _allowed(tool.name, names)]

    return prepare


def _allowed(tool: str, names: frozenset[str]) -> bool:
    """By its name, or by the name of its MCP server."""
    server = "__".join(tool.split("__")[:2])
    return tool in names or (tool.startswith("mcp__") and server in names)
