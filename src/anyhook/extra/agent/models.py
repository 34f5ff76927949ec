"""A session's models: `PROVIDER:NAME` through pydantic-ai, or `script:FILE`. Every answer is counted, the cost limit is
kept, and a failure is either worth another try or explained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, TypeVar

from pydantic_ai import RunContext
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    ToolFailed,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from anyhook.extra.agent.script import script_model
from anyhook.extra.agent.settings import BadSetup, Failed
from anyhook.extra.agent.spent import Spent
from anyhook.extra.frameworks.run_state import running
from anyhook.handlers.model_client import Client, NoModelError, words_of
from anyhook.state.agent_table import agent_table

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


# -- failures: which are worth a retry, after how long, and how to explain the rest


TEMPORARY = (
    ModelRateLimitError,
    ModelUnavailableError,
    ModelServerError,
    ModelConnectionError,
    ModelRequestTimeout,
)
WAITS_S = (1.0, 5.0, 15.0, 30.0)
"""How long to wait before each retry, if the provider does not say."""
RETRIES = len(WAITS_S)
MAX_WAIT_S = 120.0
SENTENCES: tuple[tuple[type[ModelAPIError], str, str], ...] = (
    (ModelQuotaExceededError, "the account has no quota left", "Check its plan and billing."),
    (ModelRateLimitError, "the provider limits how often it is asked", "Wait a little, then send the prompt again."),
    (ModelOverloadedError, "the provider is overloaded", "Wait a little, or use another model."),
    (ModelUnavailableError, "the provider is not available", "Wait a little, or use another model."),
    (ModelServerError, "the provider failed", "Send the prompt again, or use another model."),
    (ModelAuthenticationError, "the provider does not accept the key", "Check the variable that holds it."),
    (ModelNotFoundError, "there is no such model", "Check the name and the endpoint."),
    (
        ModelContextWindowExceededError,
        "the conversation is too long for the model",
        "Compact it (/compact), or start a new session.",
    ),
    (ModelRequestTimeout, "the model did not answer in time", "Send the prompt again."),
    (ModelRequestRejectedError, "the provider rejects the request", "Check what was sent, or use another model."),
    (ModelAPIError, "the provider cannot answer", "Send the prompt again, or use another model."),
)
"""The first match counts; general ones come last."""
AGAIN = "Send the prompt again, or use another model."
MAX_SAID = 200
"""The longest message of a provider that is shown, in characters."""


@dataclass(frozen=True)
class Pause:
    """What is waited for before a model is asked again, and how long."""

    error: Exception
    model: Model
    attempt: int
    """How often it was asked again before."""
    wait_s: float

    @property
    def status(self) -> int | None:
        """What the provider answered with; None if it did not."""
        return status_of(self.error)

    @property
    def why(self) -> str:
        if isinstance(self.error, ModelConnectionError):
            broke, where = self.error.in_stream, self.model.base_url
            what = f"the connection to {where} broke" if broke else f"no connection to {where}"
            return f"{what} ({_clipped(words_of(self.error))})"
        return next((what for kind, what, _ in SENTENCES if isinstance(self.error, kind)), "the connection broke")

    def line(self) -> str:
        """What is shown while it waits."""
        again = f"Trying again in {self.wait_s:g} s ({self.attempt + 1} of {RETRIES})."
        return f"{self.why[0].upper()}{self.why[1:]}. {again}"


def pause_for(error: Exception, model: Model, attempt: int, *, in_stream: bool) -> Pause | None:
    """How long to wait before the next try; None if a retry makes no sense. If an answer has started (`in_stream`), its
    reader retries; otherwise the model itself does."""
    if not isinstance(error, TEMPORARY) or error.in_stream is not in_stream or attempt >= RETRIES:
        return None
    asked = error.retry_after
    if asked is None:
        asked = WAITS_S[attempt]
    return Pause(error, model, attempt, asked) if asked <= MAX_WAIT_S else None


def explained(error: Exception, model: Model) -> str:
    """Why a turn failed and what to do about it; never a provider's raw answer."""
    name = error.model_name if isinstance(error, ModelAPIError) else model.model_name
    if isinstance(error, (Failed, BadSetup)):
        return str(error)
    if isinstance(error, ModelConnectionError):  # its own message is "Connection error."
        return f"{name} at {model.base_url}: {words_of(error)}. Check the endpoint and the network."
    if isinstance(error, ContentFilterError):
        return f"{name}: the provider's filter stopped the answer. Say it in another way."
    for kind, what, fix in SENTENCES:
        if isinstance(error, kind):
            return f"{name}: {what}{_said(error)}. {fix}"
    if isinstance(error, UnexpectedModelBehavior):
        return f"{name}: the answer cannot be used ({_clipped(error.message)}). {AGAIN}"
    said = _clipped(str(error)) or "no reason was given"
    if isinstance(error, (AgentRunError, UserError)):
        return f"{said}. {AGAIN}"
    return f"{type(error).__name__}: {said}. Send the prompt again; if that does not help, please report it."


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that a provider answered with; None if it did not."""
    return error.status_code if isinstance(error, ModelHTTPError) else None


def _said(error: ModelAPIError) -> str:
    """The provider's own message, if it has one; never its raw answer."""
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    if not isinstance(said, str) or not said.strip():
        return ""
    return f" ({_clipped(said)})"


def _clipped(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= MAX_SAID else f"{line[:MAX_SAID]}…"


# -- the model of a session, for the agent, a sub-agent or a recipe


T = TypeVar("T")


class SessionModel(WrapperModel):
    """One model of a session. If a stream breaks once it has begun, its reader asks again."""

    def __init__(self, wrapped: Model, spent: Spent, pauses: Callable[[Pause], None]) -> None:
        super().__init__(wrapped)
        self._spent, self._pauses = spent, pauses
        client: Any = getattr(wrapped, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # its own waits are silent

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        answer = await self._tried(lambda: self.wrapped.request(messages, model_settings, model_request_parameters))
        self._spent.add(self.model_name, answer)
        return answer

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with AsyncExitStack() as stack:
            stream = await self._tried(
                lambda: stack.enter_async_context(
                    self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
                )
            )
            began_s = monotonic()
            try:
                yield stream
            except ModelAPIError as error:
                error.in_stream = True  # a client raises it only for the provider's own error
                self._fail_sub_agent(error)
                raise
            finally:
                self._spent.model_s += monotonic() - began_s
                self._spent.add(self.model_name, stream.get())

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T:
        for attempt in count():
            self._spent.check()
            began_s = monotonic()
            try:
                return await ask()
            except Exception as error:
                pause = pause_for(error, self, attempt, in_stream=False)
                if pause is None:
                    self._fail_sub_agent(error)
                    raise
            finally:
                self._spent.model_s += monotonic() - began_s
            self._pauses(pause)
            await asyncio.sleep(pause.wait_s)
        raise AssertionError("the last attempt returns")

    def _fail_sub_agent(self, error: Exception) -> None:
        """A sub-agent that gets no answer is a tool that failed, which the agent around it can do something about."""
        run = running.get()
        if run is not None and run.depth and isinstance(error, ModelAPIError):
            raise ToolFailed(f"The sub-agent got no answer. {explained(error, self)}") from error
