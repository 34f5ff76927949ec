"""What a session is called with: the options of the call, and the table `[agent]` of the user's config, which a project
cannot set. Mistakes are reported before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anyhook.model.json_types import Json
from anyhook.model.words import Mode, Trust
from anyhook.state.agent_table import agent_table

MAX_TURNS = 50
THRESHOLD = 0.80
CONTEXT_WINDOW = 128_000
"""For models that do not say how large it is."""


@dataclass(frozen=True)
class SessionOptions:
    """The checked options of the call."""

    project: str
    env: Mapping[str, str]
    model: str | None = None
    permission: str = "ask"
    resume: str | None = None
    follow: bool = False
    recipe: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    max_turns: int = MAX_TURNS
    hooks: bool = True
    trust: Trust = "ask"
    dialects: tuple[str, ...] = ()
    plugin_dirs: tuple[str, ...] = ()
    state_dir: str | None = None
    web_fetch: bool = False
    max_cost: float | None = None
    """In US dollars."""
    mode: Mode | None = None
    """None if the user's settings decide."""


# -- the table

LOCAL = "local"
KEYS = ("model", "auto_compact", "web_fetch", "pass_env", "mcp")


@dataclass(frozen=True)
class AgentSettings:
    """The values of the table, or the defaults."""

    auto_compact: float = THRESHOLD
    web_fetch: bool = False
    web_fetch_local: bool = False
    """Whether pages on this machine and its network may be fetched too."""
    pass_env: tuple[str, ...] = ()
    """Variables that the agent's commands get although they look like providers' keys; patterns."""
    mcp: dict[str, dict[str, Json]] = field(default_factory=dict)
    """The user's MCP servers, by name."""


def read_agent_settings(env: Mapping[str, str]) -> AgentSettings:
    table = agent_table(env)
    for key in table:
        if key not in KEYS:
            raise _wrong(key, f"is not a setting. Settings: {', '.join(KEYS)}")
    threshold = table.get("auto_compact", THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise _wrong("auto_compact", "must be a number from 0 (never) to 1")
    fetch = table.get("web_fetch", False)
    if fetch not in (True, False, LOCAL):
        raise _wrong("web_fetch", f'must be true, false or "{LOCAL}"')
    passed = table.get("pass_env", [])
    if not isinstance(passed, list) or not all(isinstance(name, str) and name for name in passed):
        raise _wrong("pass_env", 'must be a list of names, such as ["STRIPE_API_KEY"]')
    return AgentSettings(float(threshold), bool(fetch), fetch == LOCAL, tuple(passed), _servers(table.get("mcp", {})))


def _servers(value: object) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for name, spec in value.items() if isinstance(value, dict) else [("NAME", None)]:
        if not isinstance(spec, dict) or not isinstance(spec.get("command") or spec.get("url"), str):
            raise _wrong(f"mcp.{name}", "must be a table with `command` or `url`")
        found[str(name)] = spec
    return found


def _wrong(key: str, what: str) -> BadSetup:
    return BadSetup(f"`{key}` under [agent] in config.toml {what}")


# -- errors that keep the agent from starting or finishing a run


class BadSetup(Exception):  # noqa: N818 (it says what is bad)
    """The call cannot be carried out."""


class Failed(Exception):  # noqa: N818
    """The run failed."""
