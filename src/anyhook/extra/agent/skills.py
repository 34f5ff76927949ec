"""Skills: folders with a `SKILL.md`. The model loads one when it needs it, or a person by its name. They are read once,
when the session starts, so that what was approved is what is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import Capability
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.workspaces import LocalWorkspaceBackend
from pydantic_ai_harness.skills import Skills

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai_harness.skills import SkillDefinition

    from anyhook.extra.agent.content import Offer

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


def capabilities(skills: Sequence[SkillDefinition]) -> list[Capability[Any]]:
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
