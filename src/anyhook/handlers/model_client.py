"""The model client, and the only module here that uses pydantic-ai. Importing it takes seconds, so that happens only
when a handler is about to ask. It returns text or an error message, and never raises for a provider's failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_ai import Agent, ModelSettings, UsageLimits, capture_run_messages
from pydantic_ai.exceptions import ModelHTTPError, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from anyhook.handlers.roles import name_of
from anyhook.tables.rows import Asking

if TYPE_CHECKING:
    from anyhook.handlers.model import Question

    Tool = Callable[..., Awaitable[str]]
    Counted = Callable[[str, ModelResponse], None]
    """The name of a model, and its answer."""

AnyModel: TypeAlias = "str | Model"
"""A name as PROVIDER:NAME, or a model that the embedding program made."""

counts: ContextVar[Counted | None] = ContextVar("anyhook_counts", default=None)
"""Called with every answer to a handler whose event was fired in this context: a host counts what they cost. It is
called in the handler's own thread."""
CONFIGURABLE = {"OpenAIProvider": "OPENAI", "AnthropicProvider": "ANTHROPIC"}
"""The providers that settings can say something about, and how their variables begin."""
KEY, NO_KEY = "_API_KEY", "none"
MAX_REQUESTS = 50
"""Per handler with tools."""
MAX_ERROR = 600
NO_TEMPERATURE = ("thinking_enabled_by_default", "thinking_always_enabled", "anthropic_disallows_sampling_settings")
"""Flags of models that accept no temperature. The client would drop it, with a warning every time."""


class NoModelError(Exception):
    """There is no such model, or its key is missing. Raised before anything is asked."""


class Client:
    """One model, ready to be asked. It belongs to the event loop that asks it first."""

    def __init__(self, model: AnyModel, endpoints: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> None:
        """`endpoints` are the user's settings for providers, which come before the variables in `env`."""
        self.name = name_of(model)

        def make(provider: str) -> Provider[Any]:
            return _provider(provider, endpoints, env)

        try:
            self.model = infer_model(model, make)
        except (UserError, ImportError, ValueError) as error:
            raise NoModelError(f"{self.name} cannot be asked: {words_of(error)}") from error

    async def ask(self, question: Question, asking: Asking | None, tools: Sequence[Tool]) -> tuple[int, str]:
        """0 and the answer, or 1 and what went wrong. Without `asking` the provider's own settings apply."""
        settings = ModelSettings()
        if asking is not None:
            settings = ModelSettings(max_tokens=asking.max_tokens)
            if not any(self.model.profile.get(fact) for fact in NO_TEMPERATURE):
                settings["temperature"] = asking.temperature
        agent = Agent(self.model, instructions=question.system, tools=list(tools), model_settings=settings)
        try:
            with capture_run_messages() as said:
                try:
                    async with agent:
                        limits = UsageLimits(request_limit=MAX_REQUESTS)
                        # Not streamed: the answer is short, and not every compatible endpoint can stream.
                        result = await agent.run(question.text, usage_limits=limits)
                finally:
                    self._count(said)
        except ModelHTTPError as error:
            return 1, f"{self._whom()} answered with HTTP status {error.status_code}: {_clipped(str(error.body))}"
        except Exception as error:  # noqa: BLE001 (a provider's failure is a value, whatever the client raises)
            return 1, f"{self._whom()} gave no answer: {words_of(error)}"
        return (0, result.output) if result.output.strip() else (1, f"{self._whom()} answered with an empty text")

    def _count(self, said: Sequence[ModelMessage]) -> None:
        tell = counts.get()
        for message in said:
            if tell is not None and isinstance(message, ModelResponse):
                tell(self.model.model_name, message)

    def _whom(self) -> str:
        return f"{self.name} at {self.model.base_url}" if self.model.base_url else self.name


def _provider(name: str, endpoints: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> Provider[Any]:
    """The provider, from the user's settings and the environment of this engine, which may differ from the
    process's."""
    try:
        known = infer_provider_class(name).__name__
    except ValueError:
        raise UserError(f"no provider is called {name!r}. Write openai:NAME, anthropic:NAME or another one of "
                        "https://ai.pydantic.dev/models/overview") from None  # fmt: skip
    variable = CONFIGURABLE.get(known)
    if variable is None:
        if name in endpoints:
            raise UserError(f"[providers.{name}] in config.toml has no effect; only openai and anthropic take one")
        return infer_provider(name)
    endpoint = endpoints.get(name) or endpoints.get(variable.lower(), {})
    key_in = endpoint.get("api_key_env", f"{variable}{KEY}")
    key, url = env.get(key_in), endpoint.get("base_url") or env.get(f"{variable}_BASE_URL")
    if not key and ("api_key_env" in endpoint or not url):
        raise UserError(f"its key should be in {key_in}, which is not set")
    key = key or NO_KEY  # a user's own endpoint may need no key, but its client does
    if variable == "OPENAI":
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIProvider(base_url=url or "https://api.openai.com/v1", api_key=key)
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicProvider(base_url=url or "https://api.anthropic.com", api_key=key)


def key_source(model: str, endpoints: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> str:
    """The variable that has the key for a model; NO_KEY if none is known to have it."""
    provider = model.partition(":")[0]
    family = provider.partition("-")[0]
    endpoint = endpoints.get(provider) or endpoints.get(family, {})
    found = endpoint.get("api_key_env", f"{family.upper()}{KEY}")
    return found if env.get(found) else NO_KEY


def words_of(error: BaseException) -> str:
    """The error and its cause: a client says "Connection error.", the cause says that it was refused."""
    said = [str(error) or type(error).__name__]
    cause = error.__cause__ or error.__context__
    while cause is not None and len(said) < 6:
        if str(cause) and str(cause) not in said:
            said.append(str(cause))
        cause = cause.__cause__ or cause.__context__
    return _clipped(": ".join(text.rstrip(".") for text in said))


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_ERROR else f"{text[:MAX_ERROR]}…"
