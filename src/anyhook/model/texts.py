"""A JSON value as text for people and models."""

from __future__ import annotations

from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


def text_of(value: Json) -> str:
    """Texts as they are, an error by its message, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        return str(value["message"])
    return "" if value is None else lean_json.dumps(value, ensure_ascii=False)


def install_command(extra: str) -> str:
    """The command that installs an extra, for each tool that may have installed anyhook."""
    name = f"'anyhook[{extra}]'"
    return f"pip install {name} (or: pipx install --force {name}, uv tool install {name})"
