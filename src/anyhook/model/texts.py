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
