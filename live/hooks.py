"""Hooks for trials, in dialects that the tested agent does not read itself: path in the home → text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from anyhook.tables.registry import host

Answers = Mapping[str, Mapping[str, Any]]
"""Event → the answer of its hook."""
BORROWED = {"qwen": ".qwen/settings.json", "claude": ".claude/settings.json"}
"""The most expressive dialects of one shape, and the files of their user's hooks."""


def answering(answer: Mapping[str, Any], *, once: bool = False) -> str:
    """A command that gives this answer; with `once`, only the first time, to avoid an endless loop."""
    said = f"cat >/dev/null; printf '%s' '{json.dumps(answer)}'"
    return f"test -e ~/once || {{ touch ~/once; {said}; }}" if once else said


def answering_about(word: str, answer: Mapping[str, Any]) -> str:
    """A command that gives this answer if the event contains the word, and otherwise none."""
    return f"if grep -q {shlex.quote(word)}; then {answering(answer)}; fi"


def context(word: str) -> str:
    return answering({"additional_context": word})


def _groups(commands: Mapping[str, str]) -> dict[str, Any]:
    return {event: [{"hooks": [{"type": "command", "command": command}]}] for event, command in commands.items()}


def kodik(**commands: str) -> dict[str, str]:
    return {"Documents/Kodik/Hooks/hooks.json": json.dumps({"hooks": _groups(commands)})}


def agenthooks(trigger: str, command: str) -> dict[str, str]:
    folder = ".config/agents/hooks/trial"
    front = f"---\nname: trial\ndescription: A trial.\ntrigger: {trigger}\n---\n"
    return {f"{folder}/HOOK.md": front, f"{folder}/scripts/run": f"#!/bin/sh\n{command}\n"}


def kodelet(event: str, answer: Mapping[str, Any], about: str = "") -> dict[str, str]:
    """An executable that names its event when asked. It answers once, or only if the event contains a pattern."""
    said = answering_about(about, answer) if about else answering(answer, once=True)
    return {".kodelet/hooks/trial": f"#!/bin/sh\ncase $1 in hook) echo {event} ;; run) {said} ;; esac\n"}


def borrowed(agent: str, answers: Answers) -> dict[str, str]:
    """The hooks in one of these dialects, which the agent leaves to us."""
    path = next(path for dialect, path in BORROWED.items() if dialect not in host(agent).reads)
    hooks = _groups({event: answering(answer) for event, answer in answers.items()})
    return {path: json.dumps({"hooks": hooks})} if answers else {}
