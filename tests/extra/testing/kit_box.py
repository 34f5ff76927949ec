"""A project with a guard to test, and the command as people call it there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command import as_text, run
from conftest import World

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

GUARD = """given=$(cat)
case "$given" in
  *"rm -rf"*) echo "rm -rf is not for agents" >&2; exit 2 ;;
  *crash*) exit 7 ;;
  *write*) echo touched > left.txt ;;
esac
"""


class Box:
    """A world whose project has one guard."""

    def __init__(self, world: World) -> None:
        self.world = world
        group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": GUARD}]}
        world.declare(world.project / ".kodik" / "hooks" / "hooks.json", "PreToolUse", group)
        self.project = world.project

    def cases(self, text: str, name: str = "guard.hooktest.yaml") -> Path:
        return self.world.write(self.project / ".kodik" / "hooks" / name, text)

    def call(self, *words: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return as_text(run(words, env={**self.world.env, **env}, cwd=cwd or self.project, safe=True))

    def run(self, text: str, *words: str) -> dict[str, Any]:
        """Run the cases in this text; returns the result of `--json`."""
        self.cases(text)
        done = self.call("test", "--trust", "all", "--json", *words)
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (1 if found["failed"] else 0)
        return found

    def tree(self) -> dict[str, tuple[float, bytes]]:
        """Every file in the home and the project."""
        files = [Path(folder) / name for folder, _, names in os.walk(self.world.root) for name in names]
        return {str(path): (path.stat().st_mtime, path.read_bytes()) for path in files}
