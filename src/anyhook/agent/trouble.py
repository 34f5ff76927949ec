"""Trouble with a model: which failures are worth another try, after how long, and how the rest is explained."""

from __future__ import annotations

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
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UserError,
)

from anyhook.agent.failure import BadSetup, Failed
from anyhook.handlers.model_client import words_of

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
)


def wait_s(error: Exception, attempt: int) -> float | None:
    """How long to wait before the next try; None where another one is not worth it."""
    if not isinstance(error, TEMPORARY) or attempt >= len(WAITS_S):
        return None
    asked = error.retry_after
    if asked is None:
        return WAITS_S[attempt]
    return None if asked > LONGEST_WAIT_S else asked


def retry_line(error: Exception, attempt: int, wait_s: float) -> str:
    """What is shown while it waits."""
    why = next((what for kind, what, _ in SENTENCES if isinstance(error, kind)), "the connection broke")
    return f"{why[0].upper()}{why[1:]}. Trying again in {wait_s:g} s ({attempt + 1} of {len(WAITS_S)})."


def sentence(error: Exception, model: str, endpoint: str | None) -> str:
    """A failure of a model's in one sentence, with what to do about it; "" where this is not one."""
    for kind, what, fix in SENTENCES:
        if isinstance(error, kind):
            return f"{model}: {what}{_said(error)}. {fix}"
    if isinstance(error, ModelConnectionError):  # whose own words are "Connection error."
        return f"{model} at {endpoint}: {words_of(error)}. Check the endpoint and the network."
    if isinstance(error, ContentFilterError):
        return f"{model}: the provider's filter stopped the answer. Say it in another way."
    return ""


def _said(error: ModelAPIError) -> str:
    """The provider's own message, if it has one; never its raw answer."""
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    if not isinstance(said, str) or not said.strip():
        return ""
    line = " ".join(said.split()).rstrip(".")
    return f" ({line if len(line) <= 200 else line[:200] + '…'})"


def told(error: Exception) -> str:
    """An error as text; errors that are not meant for people include the name of their type."""
    meant = isinstance(error, (AgentRunError, UserError, Failed, BadSetup))
    return str(error) if meant and str(error) else f"{type(error).__name__}: {error}"
