"""The table `[agent]` of the user's config, as it is written; a project has no say."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from anyhook.model.json_types import Json
from anyhook.platform.places import config_file


def agent_table(env: Mapping[str, str]) -> dict[str, object]:
    """Empty if it is missing or the file cannot be read."""
    try:
        document = tomllib.loads(Path(config_file(env)).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    table = document.get("agent")
    return table if isinstance(table, dict) else {}


def own_servers(env: Mapping[str, str]) -> dict[str, Json]:
    """The user's MCP servers, by name."""
    found = agent_table(env).get("mcp")
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}
