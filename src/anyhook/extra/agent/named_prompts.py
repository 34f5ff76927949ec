"""Prompts with a name: `/NAME` is the recipe or the skill of that name, in a chat and in `agent run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.extra.agent.recipes import recipe_names, recipe_text

if TYPE_CHECKING:
    from anyhook.extra.agent.session import Session


def recipes(session: Session) -> list[str]:
    return recipe_names(session.recipe_folders)


def skills(session: Session) -> list[str]:
    """The skills that a person may ask for, without those that a recipe hides."""
    hidden = recipes(session)
    return [skill.name for skill in session.equipment.skills if skill.user_invocable and skill.name not in hidden]


def expanded(session: Session, prompt: str) -> str:
    """The prompt, or what a name at its start stands for: a recipe with the arguments after it, or a skill, which is in
    use from then on. The rest of the prompt goes below it."""
    first = prompt.split(maxsplit=1)[0] if prompt.strip() else ""
    name, rest = first.removeprefix("/"), prompt.strip()[len(first) :].strip()
    if name == first:
        return prompt
    if name in recipes(session):
        words = rest.split()
        arguments: dict[str, str] = {}
        while words and "=" in words[0]:
            key, _, value = words.pop(0).partition("=")
            arguments[key] = value
        return f"{recipe_text(name, arguments, session.recipe_folders)}\n\n{' '.join(words)}".strip()
    if name in skills(session):
        session.use_skills([name])
        return next(skill for skill in session.equipment.skills if skill.name == name).render(rest)
    return prompt
