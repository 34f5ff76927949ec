"""Durations: how long very many runs took, counted by four digits, so that the memory for it does not grow with their
number. It measures nothing."""

from __future__ import annotations

from collections import Counter


class Durations:
    """In seconds. `counts` may be added to directly by who has rounded already."""

    def __init__(self) -> None:
        self.counts: Counter[float] = Counter()

    def add(self, seconds: float) -> None:
        self.counts[rounded(seconds)] += 1

    def mean(self) -> float:
        total = sum(seconds * count for seconds, count in self.counts.items())
        return total / self.counts.total() if self.counts else 0.0

    def percentile_ms(self, part: float) -> float | None:
        """The nearest rank: the smallest duration that this share of all durations did not exceed, or None."""
        rank = max(1, -int(-self.counts.total() * part // 1))
        for seconds in sorted(self.counts):
            rank -= self.counts[seconds]
            if rank <= 0:
                return round(seconds * 1000, 3)
        return None


def rounded(seconds: float) -> float:
    """By four digits."""
    return round(seconds, 2 + (seconds < 0.01) + (seconds < 0.1) + (seconds < 1) + (seconds < 10))
