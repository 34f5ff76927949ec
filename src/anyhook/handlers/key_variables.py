"""Variables with keys of model providers. Commands from a model do not get them; otherwise one sentence on a web page
could have them sent away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from anyhook.state.settings import Settings

PATTERNS = (
    "*_API_KEY", "*_API_TOKEN", "*_AUTH_TOKEN", "*_OAUTH_TOKEN", "ANTHROPIC_*", "AWS_BEARER_TOKEN_BEDROCK", "GATEWAY_*",
    "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "OPENAI_*", "OPENROUTER_*",
)  # fmt: skip
"""Variables that providers' clients read. Names from the user's config are added."""


def key_names(settings: Settings) -> list[str]:
    """The variables in which the user's settings keep providers' keys."""
    return [place["api_key_env"] for place in settings.providers.values() if "api_key_env" in place]


def without_keys(env: Mapping[str, str], more: Iterable[str] = (), kept: Iterable[str] = ()) -> dict[str, str]:
    """The environment without providers' keys. `more` are further names, `kept` are patterns that the user wants
    passed on."""
    dropped, wanted = (*PATTERNS, *more), tuple(kept)
    return {name: value for name, value in env.items() if _any(name, wanted) or not _any(name, dropped)}


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
