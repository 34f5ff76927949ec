"""One built launcher for all of these tests, and a door of its own for each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from warm_box import Door, built

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import World


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux":
        pytest.skip("the launcher is for Linux")
    return built(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def door(launcher: Path, world: World) -> Iterator[Door]:
    found = Door(launcher, world)
    yield found
    found.stop()
