"""How a test of the core uses a satellite (a folder of `extra/`): it asks when it runs, and is skipped where that is
missing. Tests of the satellites themselves are in `tests/extra`."""

from __future__ import annotations

from typing import Any

import pytest

from anyhook.satellites import part


def has(name: str) -> bool:
    return part(name) is not None


def satellite(name: str) -> Any:
    """A module of a satellite, such as `testing.kit.events`."""
    found = part(name)
    if found is None:
        pytest.skip(f"without extra/{name.partition('.')[0]}")
    return found
