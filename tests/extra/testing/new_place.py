"""A home and a project for tests of `anyhook new`, with paths that need quoting. Runs the command in this process."""

from __future__ import annotations

import json
import os
import py_compile
import shlex
import subprocess
from typing import TYPE_CHECKING

from anyhook.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from anyhook.model.json_types import Json


class Place:
    """A home and a project whose paths need quoting."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.home, self.project = root / "a user's home", root / "the project's folder"
        self.home.mkdir()
        self.project.mkdir()
        self.capfd = capfd
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(self.home / "cfg"))
        monkeypatch.setenv("XDG_STATE_HOME", str(self.home / "state"))
        monkeypatch.delenv("KOLEGA_CODE_STATE_DIR", raising=False)
        monkeypatch.chdir(self.project)

    def call(self, *words: str) -> tuple[int, str, str]:
        """Run the command. Returns its exit status, stdout and stderr."""
        self.capfd.readouterr()
        status = run(words)
        captured = self.capfd.readouterr()
        return status, captured.out, captured.err

    def json(self, *words: str) -> tuple[int, dict[str, Json]]:
        status, out, err = self.call(*words)
        assert out, err
        found: dict[str, Json] = json.loads(out)
        return status, found

    def new(self, *words: str) -> dict[str, Json]:
        status, found = self.json("new", *words, "--json")
        assert status == 0
        return found

    def refused(self, *words: str) -> str:
        """Check that a call fails and changes no files. Returns its message."""
        before = self.files()
        status, out, err = self.call("new", *words)
        assert (status, out) == (3, ""), (status, out, err)
        assert self.files() == before
        assert "Traceback" not in err
        return err

    def files(self) -> dict[str, bytes]:
        roots = (self.home, self.project)
        return {str(path): path.read_bytes() if path.is_file() else b"" for root in roots for path in root.rglob("*")}

    def fire(self, line: str, *more: str) -> tuple[int, dict[str, Json]]:
        """Run a command line that `new` printed."""
        program, *words = shlex.split(line)
        assert program == "anyhook"
        return self.json(*words, "--json", *more)


def texts(value: Json) -> list[str]:
    assert isinstance(value, list)
    return [str(each) for each in value]


def the_hook(decision: dict[str, Json], hook_id: Json) -> dict[str, Json]:
    hooks = decision["hooks"]
    assert isinstance(hooks, list)
    (found,) = [hook for hook in hooks if isinstance(hook, dict) and hook["id"] == hook_id]
    return found


def check_syntax(path: str, lang: str) -> None:
    if lang == "python":
        py_compile.compile(path, cfile=f"{os.environ['HOME']}/compiled", doraise=True)
        return
    for shell in ("bash", "sh"):
        done = subprocess.run([shell, "-n", path], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), shell
