"""The kept code of modules: it is used while their sources are as they were, and never decides what a module does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.platform import kept_code

if TYPE_CHECKING:
    from collections.abc import Callable

MAIN = """
import sys
from anyhook.platform import kept_code
from anyhook.platform.kept_code import BRIDGE, keep, load
load(BRIDGE, "pi")
kept = not kept_code.missed
import anyhook.cli.bridge as bridge, anyhook.agents.pi
keep()
right = bridge.__spec__.origin == bridge.__file__ and sys.modules["anyhook.cli"].bridge is bridge
print(kept, bridge.ANSWER, bridge.words.__name__, right)
"""
SOURCES = {
    "anyhook/__init__.py": "",
    "anyhook/cli/__init__.py": "",
    "anyhook/agents/__init__.py": "",
    "anyhook/agents/pi.py": "",
    "anyhook/cli/options.py": "",
    "anyhook/engine/__init__.py": "",
    "anyhook/engine/disobeyed.py": "",
    "anyhook/cli/bridge.py": "from anyhook.model import words\nANSWER = words.ANSWER\n",
    "anyhook/journal/__init__.py": "",
    "anyhook/journal/journal.py": "",
    "anyhook/model/__init__.py": "",
    "anyhook/model/words.py": "ANSWER = 'no'\n",
}
PART = "anyhook.bridge-pi"


class Package:
    """A small package in place of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in SOURCES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        (folder / "anyhook/platform").mkdir()
        (folder / "anyhook/platform/__init__.py").touch()
        shutil.copy(kept_code.__file__, folder / "anyhook/platform")

    def call(self, *options: str, then: str = "") -> str:
        lines = f"import sys; sys.path[:0] = ['{self.folder}']\n{MAIN}{then}"
        command = [sys.executable, "-I", *options, "-c", lines]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    @property
    def file(self) -> Path:
        return next((self.folder / "anyhook/__pycache__").glob(f"{PART}.*"))


@pytest.fixture
def package(tmp_path: Path) -> Package:
    made = Package(tmp_path)
    assert made.call() == "False no anyhook.model.words True"
    assert made.call() == "True no anyhook.model.words True"
    return made


def test_every_part_begins_with_modules_that_are_there() -> None:
    """A part with a missing one is imported as usual, and never kept."""
    for names in kept_code.BEGINS_WITH.values():
        for name in names:
            assert find_spec(name) is not None, name


def test_a_changed_source_counts(package: Package) -> None:
    source = package.folder / "anyhook/model/words.py"
    source.write_text("ANSWER = 'on'\n")  # of the same size
    os.utime(source, (1, 1))
    assert package.call().startswith("False on ")
    assert package.call().startswith("True on ")


def test_a_copy_of_the_package_counts_for_itself(package: Package, tmp_path: Path) -> None:
    shutil.copytree(package.folder / "anyhook", tmp_path / "copy" / "anyhook")
    package.folder = tmp_path / "copy"
    (package.folder / "anyhook/model/words.py").write_text("ANSWER = 'other'\n")
    assert package.call().startswith("False other ")
    assert package.call().startswith("True other ")


def test_where_nothing_can_be_put_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(kept_code, "file_of", lambda part: f"/proc/none/{part}")
    monkeypatch.setattr(kept_code, "missed", {kept_code.BRIDGE})
    monkeypatch.setitem(sys.modules, kept_code.USUAL, kept_code)
    for name in kept_code.NOT_USUAL:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(kept_code, "_write", lambda *_: pytest.fail("it was prepared"))
    kept_code.keep()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _other(file: Path) -> None:
    file.write_bytes(b"i\x01\x00\x00\x00")  # a number


@pytest.mark.parametrize("damage", [_cut, _empty, _other])
def test_a_damaged_file_does_not_count(package: Package, damage: Callable[[Path], None]) -> None:
    damage(package.file)
    assert package.call() == "False no anyhook.model.words True"
    assert package.call().startswith("True ")


def test_a_missing_source_is_missing(package: Package) -> None:
    (package.folder / "anyhook/model/words.py").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        package.call()


def test_where_python_keeps_nothing_nothing_is_kept(tmp_path: Path) -> None:
    package = Package(tmp_path)
    for _ in range(2):
        assert package.call("-B").startswith("False ")
    assert not (package.folder / "anyhook/__pycache__").exists()


def test_what_is_forgotten_leaves_nothing(package: Package) -> None:
    assert package.file.exists()
    package.call(then="from anyhook.platform.kept_code import forget; forget()")
    assert [*(package.folder / "anyhook/__pycache__").glob("anyhook.*")] == []


def test_what_cannot_be_put_there_leaves_nothing(package: Package) -> None:
    place = package.file
    place.unlink()
    place.mkdir()
    assert package.call().startswith("False no")
    assert [*place.parent.glob(f"{place.name}.*")] == []
