"""`@path` in a prompt names a file of the project. An image is sent with the prompt if the model accepts images; the
model reads any other file itself."""

from __future__ import annotations

import mimetypes
import os
import re
from typing import TYPE_CHECKING

from pydantic_ai.messages import BinaryContent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_ai.messages import UserContent
    from pydantic_ai.models import Model

    from anyhook.model.json_types import Json

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
