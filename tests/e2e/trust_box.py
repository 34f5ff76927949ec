"""A user with a home folder and one project, for tests of trust. It runs the installed command and checks its exit
status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from command import run

COMMAND = [str(Path(sys.executable).with_name("anyhook"))]
Done = subprocess.CompletedProcess[bytes]
PRE_TOOL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")


class Box:
    """A user with a home folder and one project."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.project = root, root / "home", root / "project"
        self.log = root / "log"
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "ANYHOOK_WARM": "off"}
        for folder in (self.home, self.project):
            folder.mkdir()

    def write(self, name: str, text: str, mode: int = 0o644, base: Path | None = None) -> Path:
        path = (base or self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def script(self, name: str, word: str, base: Path | None = None) -> Path:
        return self.write(name, f"#!/bin/sh\necho {word} >> '{self.log}'\n", 0o755, base)

    def kodik(self, *commands: str, event: str = "PreToolUse") -> None:
        hooks = [{"type": "command", "command": command} for command in commands]
        self.write(".kodik/hooks/hooks.json", json.dumps({"hooks": {event: [{"hooks": hooks}]}}))

    def run(self, *words: str, status: int | None = 0, project: Path | None = None) -> Done:
        argv = [*words, "--project", str(project or self.project)]
        done = run(argv, env=self.env, cwd=self.root, as_script=True)
        assert status is None or done.returncode == status, (done.stdout, done.stderr)
        assert b"Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *words: str, status: int | None = 0, project: Path | None = None) -> Any:
        return json.loads(self.run(*words, status=status, project=project).stdout)

    def fire(self) -> list[str]:
        """Fire one pre_tool event. Returns the statuses of its hooks."""
        return [hook["status"] for hook in self.json(*PRE_TOOL, status=None)["hooks"] if hook["scope"] != "builtin"]

    def listed(self) -> list[str]:
        return [hook["status"] for hook in self.json("list", "--json")["hooks"] if hook["scope"] != "builtin"]

    def logged(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    @property
    def state(self) -> Path:
        return self.home / ".local/state/anyhook"


def five(box: Box) -> None:
    """Create hooks of every kind. Each writes a word to the log when it is started or imported."""
    box.script("tools/kode.sh", "kode")
    box.write(".kode/config.yaml", "hooks:\n  tool_call_pre:\n    - exec: ./tools/kode.sh\n")
    box.kodik("./tools/kodik.sh")
    box.script("tools/kodik.sh", "kodik")
    box.write(".agents/hooks/gate/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    box.script(".agents/hooks/gate/scripts/run.sh", "agenthooks")
    box.write("guard.py", f"open({str(box.log)!r}, 'a').write('python\\n')\n\ndef check(event):\n    return None\n")
    handlers = [{"type": "command", "command": "./tools/kolega.sh"}, {"type": "python", "callable": "guard:check"}]
    box.script("tools/kolega.sh", "kolega")
    box.write(".kolega/hooks.json", json.dumps({"schema_version": 1, "hooks": {"PreToolUse": [{"hooks": handlers}]}}))
    answer = 'if [ "$1" = hook ]; then echo before_tool_call; fi\n'
    box.write(".kodelet/hooks/asked", f"#!/bin/sh\necho kodelet-$1 >> '{box.log}'\n{answer}", 0o755)


def approved(box: Box) -> None:
    """Create one hook and approve it."""
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
