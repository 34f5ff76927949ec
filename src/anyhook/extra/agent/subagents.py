"""Types of sub-agents: two built-in ones, and those from files. A type may limit the tools and name another model.
Hooks see its name as the agent's type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic_ai import Agent
from pydantic_ai.capabilities import PrepareTools
from pydantic_ai_harness.subagents import SubAgent

from anyhook.documents.parse import split_front_matter
from anyhook.extra.agent.failure import BadSetup, Failed
from anyhook.tables.registry import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model
    from pydantic_ai.tools import ToolDefinition

    from anyhook.extra.agent.content import Offer

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


class BadType(Exception):  # noqa: N818 (it says what is bad)
    """Why a type's file cannot be used."""


def read_type(offer: Offer, text: str) -> TypeFile:
    """Read a type from its file, with our own tool names."""
    try:
        front = split_front_matter(text)
        document = yaml.safe_load(front[0]) if front is not None else {}
        if not isinstance(document, dict):
            raise BadType(f"{offer.source}: the front matter must be a mapping")
        body = text.split("\n---", 1)[-1].partition("\n")[2] if front is not None else text
        found = TypeFile.model_validate({**document, "body": body.strip()})
    except (yaml.YAMLError, ValidationError, ValueError) as error:
        raise BadType(f"{offer.source}: {' '.join(str(error).split())}") from None
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
