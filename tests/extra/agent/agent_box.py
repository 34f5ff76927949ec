"""Runs the agent once in a test's world, with a scripted model and real hook processes, and returns the result."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from anyhook.extra.agent.headless import STATUS, Headless
from anyhook.extra.agent.settings import SessionOptions
from anyhook.extra.agent.status_line import StatusLine

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

LS: dict[str, Any] = {"shell": {"command": "echo ran >> ran.txt"}}
"""A tool call that adds a line to ran.txt each time it runs."""
UNTIL_TOLD = "cat >/dev/null; touch ../begun; while ! test -e ../go; do sleep 0.05; done; touch ../went-on"
"""A hook that runs until the file `go` appears."""


@dataclass
class Ran:
    """The report of a run."""

    status: int
    report: dict[str, Any]
    why: str
    said: list[str]

    @property
    def stop(self) -> str:
        return str(self.report["stop"])

    @property
    def text(self) -> str:
        return str(self.report["text"])

    @property
    def events(self) -> list[str]:
        return [event["event"] for event in self.report["events"]]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return list(self.report["tool_calls"])

    def event(self, name: str) -> dict[str, Any]:
        return next(event for event in self.report["events"] if event["event"] == name)


def script(world: World, *steps: Any, **top: Any) -> str:
    """Write a script for the model. A plain string is an answer without tool calls."""
    made = [{"text": step} if isinstance(step, str) else step for step in steps]
    path = world.write(world.root / "script.yaml", yaml.safe_dump({**top, "steps": made}))
    return f"script:{path}"


def agent(world: World, *steps: Any, prompt: str = "Go.", top: dict[str, Any] | None = None, **options: Any) -> Ran:
    """Run one prompt with a model that follows these steps."""
    values = {"permission": "auto", "trust": "all", **options}
    said: list[str] = []
    model = script(world, *steps, **(top or {}))
    headless = Headless(
        SessionOptions(project=str(world.project), env=world.env, model=model, **values),
        said.append,
        StatusLine(None, {}),
    )
    turn = asyncio.run(headless.run(prompt))
    return Ran(STATUS[turn.stop], headless.report(turn), turn.why, said)


def record(name: str) -> str:
    """A shell line that appends a hook's payload to a file, one payload per line."""
    return f"cat | tr -d '\\n' >> ../{name}; echo >> ../{name}"


def recorded(world: World, name: str) -> list[dict[str, Any]]:
    path = world.root / name
    return [json.loads(line) for line in path.read_text().splitlines() if line] if path.exists() else []


def times(world: World, name: str) -> int:
    return len(recorded(world, name))


def kodik(world: World, native: str, command: str, matcher: str) -> None:
    path = world.home / "Documents/Kodik/Hooks/hooks.json"
    entry: Json = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    world.declare(path, native, entry, {})


def traces(world: World) -> int:
    """How often the tool call `LS` actually ran."""
    path = Path(world.project / "ran.txt")
    return len(path.read_text().splitlines()) if path.exists() else 0


def appears(path: Path) -> bool:
    """Whether another process creates the file within 60 seconds."""
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return path.exists()
