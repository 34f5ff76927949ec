"""What a session has used: tokens, and money if the prices of its models are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from anyhook.extra.agent.settings import Failed

_adding = Lock()


class TooExpensive(Failed):
    """The run has cost more than it may."""


@dataclass
class Used:
    """Sums over the answers of one model."""

    tokens: RequestUsage = field(default_factory=RequestUsage)
    cost: float | None = 0.0
    """In US dollars; None if the price of one answer is not known."""

    def add(self, answer: ModelResponse) -> None:
        self.tokens += answer.usage
        try:
            price = float(answer.cost().total_price)
        except (LookupError, ValueError, AssertionError):
            self.cost = None
        else:
            self.cost = self.cost + price if self.cost is not None else None


@dataclass
class Spent:
    """All answers of a session's models: to the agent, to its sub-agents, to recipes and to hooks that ask a model."""

    max_cost: float | None = None
    """What the session may cost, in US dollars; None for any amount."""
    models: dict[str, Used] = field(default_factory=dict)
    model_s: float = 0.0
    """How long the models were waited for."""

    def add(self, model: str, answer: ModelResponse) -> None:
        """From any thread: a hook asks in its own."""
        with _adding:
            self.models.setdefault(model, Used()).add(answer)

    @property
    def input_tokens(self) -> int:
        return sum(used.tokens.input_tokens for used in self.models.values())

    @property
    def output_tokens(self) -> int:
        return sum(used.tokens.output_tokens for used in self.models.values())

    @property
    def cost(self) -> float | None:
        """In US dollars; None if a price is not known."""
        total = 0.0
        for used in [*self.models.values()]:
            if used.cost is None:
                return None
            total += used.cost
        return total

    def check(self) -> None:
        """Nothing more is asked once the limit is passed."""
        if self.max_cost is None:
            return
        cost = self.cost
        if cost is None:
            unknown = next(name for name, used in self.models.items() if used.cost is None)
            raise Failed(f"--max-cost: the price of {unknown} is not known. Leave the option out.")
        if cost > self.max_cost:
            raise TooExpensive(f"the run has cost ${cost:.4f}, more than --max-cost {self.max_cost:g}")

    def line(self) -> str:
        """For people."""
        cost = self.cost
        tokens = f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        return f"{tokens}, {f'${cost:.4f}' if cost is not None else 'price not known'}"

    def brief(self) -> str:
        """The same, short, with the price if it is known."""
        cost = f", ${self.cost:.4f}" if self.cost else ""
        return f"{_short(self.input_tokens)} in, {_short(self.output_tokens)} out{cost}"


def _short(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"
