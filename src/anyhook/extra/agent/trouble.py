"""Model failures: which are worth a retry, after how long, and how to explain the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    UnexpectedModelBehavior,
    UserError,
)

from anyhook.extra.agent.failure import BadSetup, Failed
from anyhook.handlers.model_client import words_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model

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
