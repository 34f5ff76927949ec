"""Recipes: prompts in files, with arguments, and the built-in `compact`. A recipe that a hook calls runs outside the
conversation, without tools and hooks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_ai import Agent

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.extra.agent.content import folders_of
from anyhook.extra.agent.failure import BadSetup
from anyhook.extra.agent.script import RECIPE, asked_apart
from anyhook.extra.frameworks.messages import transcript
from anyhook.platform.places import config_file
from anyhook.tables.registry import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

    from anyhook.model.json_types import Json

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
