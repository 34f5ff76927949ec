"""Paths as the system resolves them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anyhook.programs.paths import real


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links to a folder, to a link, to nothing and to itself."""
    top = tmp_path_factory.mktemp("tree").resolve()
    (top / "a/b").mkdir(parents=True)
    (top / "a/file").touch()
    for link, target in (("to-a", "a"), ("a/to-link", "../to-a/b"), ("dead", "/nowhere/x"), ("loop", "loop")):
        (top / link).symlink_to(target)
    return top


@pytest.mark.parametrize(
    "path",
    [
        "a/b", "a//b/./new/er", "a/b/../file", "to-a/b", "to-a/../a", "a/to-link/x", "dead", "dead/x", "loop/x",
        "a/file/x", "", "x" * 300,
    ],
)  # fmt: skip
def test_links_are_followed_as_the_system_does(tree: Path, path: str) -> None:
    assert real(f"{tree}/{path}", follow=True) == os.path.realpath(tree / path)


def test_the_last_link_is_followed_only_on_request(tree: Path) -> None:
    assert real(f"{tree}/to-a/to-link", follow=False) == f"{tree}/a/to-link"
