"""Where protected paths really are: as `os.path.realpath` says, with one look at each folder."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from anyhook.guard.protected import Protected, _package, hit, protected
from anyhook.platform.places import RealPaths
from anyhook.programs.paths import real
from examples import examples

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NAMES = ("a", "b", "link", "loop", "file", "gone", "..", ".", "")


def made(folder: Path) -> Path:
    for name in ("a/b/a", "b/a"):
        (folder / name).mkdir(parents=True)
    for place in (folder, folder / "a", folder / "a/b"):
        (place / "file").touch()
        (place / "link").symlink_to(folder / "b")
        (place / "loop").symlink_to("loop")
    return folder


def test_the_same_as_the_library(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = made(tmp_path_factory.mktemp("real"))

    @examples(500)
    @given(st.lists(st.lists(st.sampled_from(NAMES), max_size=5), min_size=1, max_size=6))
    def check(paths: list[list[str]]) -> None:
        real = RealPaths()
        for parts in paths:
            path = "/".join([str(folder), *parts])
            assert real.of(path) == os.path.realpath(path)

    check()


def test_folders_that_are_known_lead_to_the_same_paths(tmp_path: Path) -> None:
    folder, known = made(tmp_path), dict[str, str]()
    rng = random.Random(3)
    for _ in range(600):
        path = "/".join([str(folder), *rng.choices(NAMES, k=rng.randint(0, 5))])
        for follow in (True, False):
            assert real(path, follow=follow, known=known) == real(path, follow=follow), path
        if "loop" not in path:
            assert real(path, follow=True, known=known) == os.path.realpath(path), path


def test_a_path_is_looked_up_as_if_it_were_compared_with_each_protected_one(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project / ".claude/hooks"):
        folder.mkdir(parents=True)
    (project / ".claude/settings.json").touch()
    held = protected({"HOME": str(home), "PATH": "/bin"}, str(project), [f"{project}/.claude/hooks"], ())
    found = 0
    for own in held.all():
        names = own.split("/")
        paths = [own, f"{own}/x/y", f"{own}x", *("/".join(names[:place]) for place in range(1, len(names)))]
        for path in paths:
            for deletes in (True, False):
                wanted = {
                    each
                    for each in held.all()
                    if path == each
                    or (held.is_folder(each) and path.startswith(f"{each}/"))
                    or (deletes and each.startswith(f"{path}/") and os.path.lexists(each))
                }
                said = hit(path, held, deletes=deletes)
                assert (said in wanted) if wanted else said in ("", path), (path, deletes)
                found += bool(wanted)
        assert own in held.package or len(names) < 4 or hit(f"$X/{'/'.join(names[-2:])}", held)
        assert not hit(f"$X/{names[-1]}", held)
    assert found > 50


def test_a_users_packages_are_those_of_the_caller(tmp_path: Path) -> None:
    """A warm worker serves callers with different homes, one after the other."""
    for name in ("one", "two"):
        assert any(path.startswith(f"{tmp_path}/{name}/") for path in _package({"HOME": f"{tmp_path}/{name}"}, "/"))


def test_what_is_protected_is_looked_up_again_when_a_file_is_another(tmp_path: Path) -> None:
    """A worker keeps the last answer."""
    home, project, other = (tmp_path / name for name in ("home", "project", "other"))
    for folder in (home, project / ".claude/hooks", other / "hooks"):
        folder.mkdir(parents=True)
    env, places = {"HOME": str(home), "PATH": "/bin"}, [f"{project}/.claude/hooks", f"{project}/.claude/run"]

    def held() -> Protected:
        return protected(env, str(project), places, ())

    first = held()
    assert held() is first
    assert f"{project}/.claude/run" in first.folders
    (project / ".claude/run").touch()
    assert f"{project}/.claude/run" in held().files
    (project / ".claude/run").unlink()
    assert held().folders == first.folders
    (project / ".claude").rename(project / "was")
    (project / ".claude").symlink_to(other)
    assert f"{other}/hooks" in held().folders
    (project / ".claude").unlink()
    (project / ".claude").symlink_to(project / "was")
    assert f"{project}/was/hooks" in held().folders
    assert f"{other}/hooks" not in held().folders
