"""Whether a path is inside a folder, with any links and dots on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anyhook.platform.places import lies_in

PATHS = [
    ("project", True, "the folder itself"),
    ("project/", True, "a slash at the end"),
    ("project/sub/missing/file", True, "nothing is there yet"),
    ("project/sub/..", True, "dots that stay inside"),
    ("project/../home/file", False, "dots that lead out"),
    ("project-2/file", False, "a longer name"),
    ("missing/project", False, "the same name elsewhere"),
    ("home/file", False, "outside"),
    ("home/in/file", True, "a link into it"),
    ("home/in/../file", True, "the parent of a link's target"),
    ("home/again/file", True, "a link to a link"),
    ("project/out/file", False, "a link out of it"),
    ("project/out/../file", False, "the parent of such a link's target"),
    ("home/dangling/file", True, "a link to what will be inside"),
    ("home/loop/file", False, "a link to itself, outside"),
    ("project/loop/file", True, "a link to itself, inside"),
    ("home/./in/./file", True, "single dots"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("project/sub", "project-2", "home"):
        (tmp_path / name).mkdir(parents=True)
    for link, target in {
        "home/in": "../project/sub",
        "home/again": "in",
        "home/dangling": "../project/later",
        "home/loop": "loop",
        "project/loop": "loop",
        "project/out": str(tmp_path / "home"),
    }.items():
        (tmp_path / link).symlink_to(target)
    return tmp_path


def test_by_identity(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, known = str(tree / "project"), dict[str, bool]()
    for path, inside, why in [*PATHS, *reversed(PATHS)]:
        assert lies_in(f"{tree}/{path}", project) == inside, why
        assert lies_in(f"{tree}/{path}", project, known) == inside, f"{why}, after others"
    monkeypatch.chdir(tree / "home")
    assert lies_in("in", project)
    assert not lies_in("file", project)
    assert not lies_in("/", project)
    assert lies_in("/nowhere", os.sep)
    assert not lies_in(project, f"{tree}/missing"), "nothing lies in a folder that is not there"
