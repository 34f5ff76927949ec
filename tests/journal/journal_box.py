"""A journal for tests: call verbs in this process, and make records as an engine would have written them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from anyhook.cli.app import run
from anyhook.journal.journal import Journal
from conftest import World

SECOND = 1_000_000_000


class Box:
    """A world, and calls of the command that read its journal."""

    def __init__(self, world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self._capfd = world, capfd
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, world.env[name])
        monkeypatch.chdir(world.project)

    def call(self, *words: str) -> tuple[int, str, str]:
        self._capfd.readouterr()
        status = run(words)
        said = self._capfd.readouterr()
        return status, said.out, said.err

    def json(self, *words: str) -> Any:
        status, out, err = self.call(*words, "--json")
        assert status in (0, 1), err
        return json.loads(out)

    def lines(self, *words: str) -> list[dict[str, Any]]:
        status, out, err = self.call("log", *words, "--json")
        assert status == 0, err
        return [json.loads(line) for line in out.splitlines()]

    def write(self, *records: dict[str, Any]) -> None:
        journal = Journal(str(self.world.state))
        for record in records:
            assert journal.put(json.dumps(record).encode() + b"\n")
        journal.close()


def made(ago_s: float = 1.0, **more: Any) -> dict[str, Any]:
    """Make a record. `hooks` has (id, verdict, seconds, ending) tuples; `data` and the rest are used unchanged."""
    hooks: list[tuple[str, str, float, str]] = more.pop("hooks", [])
    calls = [
        {
            "hook": hook,
            "argv": ["x"],
            "cwd": "/",
            "run": {"ending": ending, "exit_code": 0, "stdout": "", "stderr": "", "duration_s": seconds},
        }
        for hook, _, seconds, ending in hooks
    ]
    rows = [{"id": hook, "status": "ran", "why": "", "verdict": verdict} for hook, verdict, _, _ in hooks]
    verdict = "block" if any(row["verdict"] == "block" for row in rows) else "none"
    record = {
        "v": 1, "at": time.time_ns() - int(ago_s * SECOND), "host": "fire", "project": "/p", "session": "s",
        "mode": "enforce", "event": "pre_tool", "data": {"tool": "Bash"}, "calls": calls,
        "decision": {"verdict": verdict, "enforced": True, "hooks": rows},
    }  # fmt: skip
    return {**record, **more}
