"""What a prompt names: `@path` is a file of the project, and `/NAME` at its start a recipe or a skill. Recipes are
prompts in files, with arguments, and the built-in `compact`."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_ai import Agent
from pydantic_ai.messages import BinaryContent, ModelMessage, UserContent
from pydantic_ai.models import Model

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.extra.agent.content import folders_of
from anyhook.extra.agent.script import RECIPE, asked_apart
from anyhook.extra.agent.settings import BadSetup
from anyhook.extra.frameworks.messages import transcript
from anyhook.model.json_types import Json
from anyhook.platform.places import config_file
from anyhook.tables.registry import DIALECTS

if TYPE_CHECKING:
    from anyhook.extra.agent.session import Session

# -- `@path`: an image is sent with the prompt if the model accepts images; the model reads any other file itself


NAMED = re.compile(r"(?<!\S)@(\S+)")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MAX_BYTES = 5_000_000
"""The largest image that providers accept."""


def _named(prompt: str, project: str) -> list[tuple[str, str]]:
    """Each name in the prompt, and its path without the punctuation of a sentence."""
    found = []
    for name in NAMED.findall(prompt):
        path = os.path.join(project, name)
        found.append((name, path if os.path.isfile(path) else os.path.join(project, name.rstrip(".,;:!?)"))))
    return found


def attachments(prompt: str, project: str) -> list[Json]:
    """The files that a prompt names, for hooks."""
    paths = [os.path.normpath(path) for _, path in _named(prompt, project) if os.path.isfile(path)]
    return [{"path": path, "kind": "file"} for path in dict.fromkeys(paths)]


def with_images(prompt: str, project: str, model: Model, tell: Callable[[str], None]) -> str | Sequence[UserContent]:
    """The prompt, and the images that it names."""
    images: list[UserContent] = []
    for name, path in _named(prompt, project):
        kind = mimetypes.guess_type(path)[0]
        if kind not in IMAGES:
            continue
        if not os.path.isfile(path):
            tell(f"{name} is not sent: there is no such file. Paths begin at the project's folder.")
        elif not model.profile.get("supports_image_input", True):
            tell(f"{name} is not sent: {model.model_name} does not take images. Use another model (/model).")
        elif os.path.getsize(path) > MAX_BYTES:
            tell(f"{name} is not sent: it is larger than {MAX_BYTES // 1_000_000} MB. Send a smaller image.")
        else:
            with open(path, "rb") as file:
                images.append(BinaryContent(file.read(), media_type=kind))
    return [prompt, *images] if images else prompt


# -- recipes. One that a hook calls runs outside the conversation, without tools and hooks


COMPACT = "compact"
BUILTIN = {
    COMPACT: (
        "Summarise the conversation below so that the work can go on from your summary alone: the task and the user's "
        "wishes, what was done and found out, files and commands that matter, open problems, and the next step. "
        "Answer with the summary only."
    )
}
NAME = re.compile(r"[\w][\w.-]*\Z")
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
HOLE = re.compile(r"\{\{\s*\.?([\w-]+)\s*\}\}")


def folders(project: str, env: Mapping[str, str]) -> list[str]:
    """The folders with recipes: the project's first, our own before the dialects'."""
    home = env.get("HOME") or "/"
    own = [f"{project}/.anyhook/recipes", str(Path(config_file(env)).parent / "recipes")]
    rows = [row for name in DIALECTS for row in folders_of(name, "recipe")]
    return own + [row.format(project=project, home=home) for row in rows]


def recipe_names(places: Sequence[str]) -> list[str]:
    """The names of the recipes in these folders."""
    found = {path.stem for place in places for path in Path(place).glob("*.md") if NAME.match(path.stem)}
    return sorted(found)


def recipe_text(name: str, arguments: Mapping[str, Json], places: Sequence[str]) -> str:
    """The prompt of a recipe with its arguments filled in."""
    if not NAME.match(name):
        raise BadSetup(f"recipe {name!r}: a recipe's name has letters, digits, `.`, `-` and `_` only")
    text = next((found for place in places if (found := _read(Path(place) / f"{name}.md")) is not None), None)
    text = BUILTIN.get(name) if text is None else text
    if text is None:
        raise BadSetup(f"there is no recipe `{name}`; looked in {', '.join(places)}")
    missing = [key for key in HOLE.findall(text) if key not in arguments]
    if missing:
        raise BadSetup(f"recipe `{name}` needs --arg {missing[0]}=…")
    return HOLE.sub(lambda hole: str(arguments[hole[1]]), FRONT.sub("", text)).strip()


def _read(path: Path) -> str | None:
    try:
        return read_bytes(str(path)).decode("utf-8")
    except (OSError, UnicodeDecodeError, Unreadable):
        return None


async def cook(text: str, said: Sequence[ModelMessage], model: Model) -> str:
    """Ask the model once about the conversation, without tools or hooks."""
    token = asked_apart.set(RECIPE)
    try:
        result = await Agent(model).run(f"{text}\n\n<conversation>\n{transcript(said)}\n</conversation>")
    finally:
        asked_apart.reset(token)
    return str(result.output).strip()


# -- `/NAME`, in a chat and in `agent run`


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
