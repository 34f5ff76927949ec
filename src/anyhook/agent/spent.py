"""What a session has used: tokens, and money if the price of the model is known."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from pydantic_ai.messages import ModelResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage


@dataclass
class Spent:
    """Sums over the answers of a model."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input, what a provider's cache had."""
    written_tokens: int = 0
    """Of the input, what a provider's cache took in."""
    cost: float | None = 0.0
    """In US dollars; None where the price of one answer is not known."""

    model_s: float = 0.0
    """How long the model was waited for."""
    _asked_s: float | None = None

    def asks(self, asks: bool) -> None:
        """The next step begins: the model is asked, or something else is done."""
        now_s = monotonic()
        if self._asked_s is not None:
            self.model_s += now_s - self._asked_s
        self._asked_s = now_s if asks else None

    def add(self, messages: Sequence[ModelMessage]) -> None:
        for message in messages:
            if not isinstance(message, ModelResponse):
                continue
            self.input_tokens += message.usage.input_tokens
            self.output_tokens += message.usage.output_tokens
            self.cached_tokens += message.usage.cache_read_tokens
            self.written_tokens += message.usage.cache_write_tokens
            try:
                price = float(message.cost().total_price)
            except (LookupError, ValueError, AssertionError):
                self.cost = None
            else:
                self.cost = self.cost + price if self.cost is not None else None

    def line(self) -> str:
        """For people."""
        tokens = f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        return f"{tokens}, {f'${self.cost:.4f}' if self.cost is not None else 'price not known'}"

    def brief(self) -> str:
        """The same in a few letters, with the price where it is known."""
        cost = f", ${self.cost:.4f}" if self.cost else ""
        return f"{_short(self.input_tokens)} in, {_short(self.output_tokens)} out{cost}"


def _short(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"
