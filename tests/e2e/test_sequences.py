"""Sequences of calls (`tests/data/sequences.txt`) through the real bridge, with the rules that remember: what an
attacker does with patience is stopped, and the same words in innocent work are not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook import Engine
from slices import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

    Step = tuple[str, str]

RULES = 'use = ["flow", "loops", "redact"]\n'
WITH_TEXT = ("$", "$+", "read", "write", "fetch", "mcp", "event", ">", "x", "as", "times")
AGENTS: dict[str, tuple[str, str, str, str, str]] = {
    "claude": ("PreToolUse", "PostToolUse", "Bash", "Read", "file_path"),
    "codex": ("PreToolUse", "PostToolUse", "Bash", "", ""),
    "gemini": ("BeforeTool", "AfterTool", "run_shell_command", "read_file", "file_path"),
    "copilot": ("preToolUse", "postToolUse", "bash", "view", "path"),
    "qwen": ("PreToolUse", "PostToolUse", "run_shell_command", "read_file", "file_path"),
    "goose": ("PreToolUse", "PostToolUse", "shell", "", ""),
    "kimi": ("PreToolUse", "PostToolUse", "Bash", "Read", "path"),
    "opencode": ("tool.execute.before", "tool.execute.after", "bash", "read", "filePath"),
}
"""Agent → its events before and after a call, its tools for the shell and for reading, and where that has its path."""


def sequences() -> Iterator[tuple[str, list[Step]]]:
    text = (Path(__file__).parents[1] / "data" / "sequences.txt").read_text()
    for part in text.split("\n## ")[1:]:
        title, *lines = part.strip().split("\n")
        steps = []
        for line in lines:
            marked = line.startswith("! ")
            verb, _, rest = line.removeprefix("! ").partition(" ")
            assert verb in WITH_TEXT, line
            steps.append((f"!{verb}" if marked else verb, rest))
        yield title, steps


SEQUENCES = dict(sequences())


def test_there_are_enough_of_both() -> None:
    attacks = [title for title in SEQUENCES if title.startswith("attack: ")]
    assert len(attacks) >= 60
    assert len(SEQUENCES) - len(attacks) >= 60
    for title, steps in SEQUENCES.items():
        assert title.startswith(("attack: ", "innocent: "))
        assert [number for number, (verb, _) in enumerate(steps) if verb[0] == "!"] == (
            [len(steps) - 1] if title in attacks else []
        ), title


class Session:
    """Plays one sequence, as the agents would."""

    def __init__(self, world: World) -> None:
        self.world, self.number = world, 0
        self.at = {"agent": "claude", "session": "s", "parent": "", "project": "project", "agent_id": ""}
        self.last: Step = ("", "")
        self.said: Step = ("", "")
        home, project = world.home, world.project
        (world.root / "two").mkdir()
        for path in (
            home / ".aws/credentials", home / ".ssh/id_ed25519", home / ".ssh/config", home / ".netrc",
            project / ".env", project / "analyze.py", project / "settings.ini",
        ):  # fmt: skip
            world.write(path, "x = 1\n")

    def play(self, steps: list[Step]) -> list[str]:
        """The calls that were stopped."""
        found: list[str] = []
        for number, (verb, text) in enumerate(steps):
            said = steps[number + 1] if number + 1 < len(steps) and steps[number + 1][0] in (">", "x") else ("", "")
            match verb.lstrip("!"):
                case "as":
                    self.at |= {name: value for name, _, value in (pair.partition("=") for pair in text.split())}
                case "event":
                    name, _, more = text.partition(" ")
                    self.told(name, json.loads(more))
                case "times":
                    found += [self.last[1] for _ in range(int(text)) if self.call(self.last, self.said)]
                case ">" | "x":
                    pass
                case other:
                    self.last, self.said = (other, text), said
                    if self.call(self.last, said):
                        found.append(text)
        return found

    def told(self, event: str, data: dict[str, Any]) -> dict[str, Any]:
        """Send an event to the bridge, and return the decision that was recorded."""
        agent = self.at["agent"]
        cwd = str(self.world.root / self.at["project"])
        given = {"hook_event_name": event, "session_id": self.at["session"], "cwd": cwd, "transcript_path": "", **data}
        if self.at["parent"]:
            given["parent_session_id"] = self.at["parent"]
        if self.at["agent_id"]:
            given |= {"agent_id": self.at["agent_id"], "agent_type": "general-purpose"}
        if agent == "copilot":
            given = {"sessionId": self.at["session"], "timestamp": self.number, "cwd": cwd, **data}
        elif agent == "opencode":
            given = data
        elif agent == "goose":
            given["event"] = given.pop("hook_event_name")
        engine = Engine.open(cwd, env=self.world.env)
        engine.bridge(agent, event, json.dumps(given).encode())
        engine.close_sync()
        decision: dict[str, Any] = self.world.journal()[-1]["decision"]
        return decision

    def call(self, step: Step, said: Step) -> bool:
        """Make a call; if it may run, tell how it went. Whether it was stopped."""
        self.number += 1
        before, after, shell, reader, key = AGENTS[self.at["agent"]]
        tool, given = self.tool(step, shell, reader, key)
        if self.told(before, self.payload(tool, given))["verdict"] in ("block", "ask"):
            return True
        self.do(step)
        output, failed = said[1].replace("\\n", "\n"), said[0] == "x"
        more: dict[str, Any] = {"tool_response": {"stdout": output, "stderr": "", "interrupted": False}}
        if failed:
            after, more = "PostToolUseFailure", {"error": f"Exit code 1\n{output}"}
        self.told(after, {**self.payload(tool, given, output), **(more if self.at["agent"] == "claude" else {})})
        return False

    def payload(self, tool: str, given: dict[str, Any], output: str | None = None) -> dict[str, Any]:
        call = f"call-{self.number}"
        match self.at["agent"]:
            case "copilot":
                result: Any = {"resultType": "success", "textResultForLlm": output}
                return {"toolName": tool, "toolArgs": given, **({} if output is None else {"toolResult": result})}
            case "opencode":
                ids: dict[str, Any] = {"tool": tool, "sessionID": self.at["session"], "callID": call}
                if output is None:
                    return {"input": ids, "output": {"args": given}}
                return {"input": {**ids, "args": given}, "output": {"title": "", "metadata": {}, "output": output}}
            case "claude":
                return {"tool_name": tool, "tool_input": given, "tool_use_id": call}
            case _:
                ids = {"tool_name": tool, "tool_input": given, "tool_call_id": call, "tool_use_id": call}
                return ids if output is None else {**ids, "tool_response": output}

    def tool(self, step: Step, shell: str, reader: str, key: str) -> tuple[str, dict[str, Any]]:
        verb, text = step
        match verb:
            case "$" | "$+":
                return shell, {"command": text}
            case "read":
                return reader, {key: self.path(text)}
            case "write":
                path, _, content = text.partition(": ")
                return "Write", {"file_path": self.path(path), "content": content.encode().decode("unicode_escape")}
            case "fetch":
                return "WebFetch", {"url": text, "prompt": "what it says"}
            case _:
                name, _, given = text.partition(" ")
                return name, json.loads(given)

    def path(self, text: str) -> str:
        if text.startswith("~/"):
            return str(self.world.home / text[2:])
        return str(self.world.root / self.at["project"] / text)

    def do(self, step: Step) -> None:
        """What the call does to files."""
        verb, text = step
        if verb == "$+":
            subprocess.run(text, shell=True, check=True, cwd=self.world.project, env=self.world.env)
        elif verb == "write":
            path, content = self.path(text.partition(": ")[0]), text.partition(": ")[2]
            self.world.write(Path(path), content.encode().decode("unicode_escape"))


@pytest.mark.parametrize("title", mostly_slow(SEQUENCES, 3))
def test_a_sequence(world: World, title: str) -> None:
    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULES)
    steps = SEQUENCES[title]
    wanted = [text for verb, text in steps if verb[0] == "!"]
    assert Session(world).play(steps) == wanted
