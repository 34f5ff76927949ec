"""Trouble with a model: which failures are worth another try, after how long, and how the rest is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
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

from anyhook.agent.failure import BadSetup, Failed
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
"""How long to wait before each further try, where the provider does not say."""
LONGEST_WAIT_S = 120.0
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
"""The first that fits; the general ones come last."""
AGAIN = "Send the prompt again, or use another model."
MAX_SAID = 200
"""Characters of what a provider says."""


def wait_s(error: Exception, attempt: int) -> float | None:
    """How long to wait before the next try; None where another one is not worth it."""
    if not isinstance(error, TEMPORARY) or attempt >= len(WAITS_S):
        return None
    asked = error.retry_after
    if asked is None:
        return WAITS_S[attempt]
    return None if asked > LONGEST_WAIT_S else asked


def retry_line(error: Exception, model: Model, attempt: int, wait_s: float) -> str:
    """What is shown while it waits."""
    why = next((what for kind, what, _ in SENTENCES if isinstance(error, kind)), "the connection broke")
    if isinstance(error, ModelConnectionError):
        why = f"no connection to {model.base_url} ({_clipped(words_of(error))})"
    return f"{why[0].upper()}{why[1:]}. Trying again in {wait_s:g} s ({attempt + 1} of {len(WAITS_S)})."


def told(error: Exception, model: Model) -> str:
    """Why a turn failed, in one sentence with what to do about it; never a provider's raw answer."""
    name = model.model_name
    if isinstance(error, (Failed, BadSetup)):
        return str(error)
    if isinstance(error, ModelConnectionError):  # whose own words are "Connection error."
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
