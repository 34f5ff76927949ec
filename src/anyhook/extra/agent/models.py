"""Which model answers: `PROVIDER:NAME` through pydantic-ai, or `script:FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.extra.agent.failure import BadSetup, Failed
from anyhook.extra.agent.script import script_model
from anyhook.handlers.model_client import Client, NoModelError
from anyhook.state.agent_table import agent_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

SCRIPT = "script:"
COMPATIBLE = ("openai:", "openai-chat:")
"""The prefix that people use for any compatible endpoint, and the one for the protocol that most of them support."""


def model_name(given: str | None, env: Mapping[str, str]) -> str:
    """The model: by flag, by variable, by config."""
    found = given or env.get("ANYHOOK_MODEL") or agent_table(env).get("model")
    if not isinstance(found, str) or not found:
        raise BadSetup("no model: give --model PROVIDER:NAME or --model script:FILE, or set ANYHOOK_MODEL")
    return found


def spoken_name(name: str, providers: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> str:
    """The name with the protocol that its endpoint most likely supports."""
    plain, chat = COMPATIBLE
    if name.startswith(plain) and (providers.get("openai", {}).get("base_url") or env.get("OPENAI_BASE_URL")):
        # Endpoints other than the provider's own rarely support its newest protocol.
        return chat + name.removeprefix(plain)
    return name


def open_model(name: str, providers: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> Model:
    """The model of that name, with endpoint and key from the user's settings or the provider's usual variables."""
    if name.startswith(SCRIPT) and name != SCRIPT:
        return script_model(name.removeprefix(SCRIPT))
    if not all(name.partition(":")):
        raise BadSetup(f"--model {name}: must be PROVIDER:NAME or script:FILE")
    try:
        return Client(spoken_name(name, providers, env), providers, env).model
    except NoModelError as error:
        raise Failed(str(error)) from None
