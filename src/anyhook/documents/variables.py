"""Variables in other people's files: `${NAME}` and `${NAME:-default}` in every text of a value."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anyhook.model.json_types import Json

VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def with_variables(value: Json, env: Mapping[str, str]) -> Json:
    """The value with variables replaced by their values, or by the default in the text."""
    if isinstance(value, dict):
        return {key: with_variables(item, env) for key, item in value.items()}
    if isinstance(value, list):
        return [with_variables(item, env) for item in value]
    if not isinstance(value, str):
        return value
    return VARIABLE.sub(lambda found: env.get(found.group(1), found.group(2) or ""), value)
