"""How many examples a property is tried on."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> settings:
    """`number` of them in `make test-all`, which looks for new ones; a fifth of them, always the same, in `make test`,
    which judges a change."""
    is_searching = settings.default is not None and not settings.default.derandomize
    return settings(max_examples=number if is_searching else max(number // 5, 10))
