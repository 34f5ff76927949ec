"""Tool results of hosts, as text."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.texts import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


def as_text(_response: Json, output: Json) -> Json:
    """A replaced output, for hosts that take text alone."""
    return text_of(output)


def content_text(response: Json) -> Json:
    """The model's text in a result that also holds a text for people."""
    return response["llmContent"] if isinstance(response, dict) and "llmContent" in response else response


def result_text(response: Json) -> Json:
    """The same, for results whose text for the model has another name."""
    found = response.get("textResultForLlm") if isinstance(response, dict) else None
    return response if found is None else found


def parts_text(prompt: Json) -> Json:
    """The text of a prompt that is a list of parts."""
    if not isinstance(prompt, list):
        return prompt
    return "\n".join(
        str(part["text"]) for part in prompt if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def unpacked(value: Json) -> Json:
    """The value of a text that holds JSON."""
    if not isinstance(value, str):
        return value
    try:
        return lean_json.loads(value)
    except (ValueError, RecursionError):
        return value
