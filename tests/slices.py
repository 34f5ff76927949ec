"""Long rows of similar cases: some run in `make test`, all of them in `make test-all`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def mostly_slow(values: Iterable[object], of: int) -> list[object]:
    """One case in `of`, from the first on; the others are marked as slow."""
    return [
        value if number % of == 0 else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
