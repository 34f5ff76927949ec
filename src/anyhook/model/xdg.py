"""The user's base directories. Relative values are ignored, as the XDG specification asks: they would let the current
folder, which may be a cloned project, stand in for the user's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def home_of(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    return home if home.startswith("/") else "/"


def base_of(env: Mapping[str, str], variable: str, fallback: str) -> str:
    value = env.get(variable, "")
    return value if value.startswith("/") else f"{home_of(env).rstrip('/')}/{fallback}"
