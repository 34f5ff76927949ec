"""Hooks search the text of their payload, so it is spaced as their product writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.tables.registry import dialect
from each_of import each_of

if TYPE_CHECKING:
    from conftest import World

DENSE = ("claude", "codex", "gemini", "goose", "copilot", "qwen", "grok", "crush", "cursor", "kodelet")
SPACED = ("agenthooks", "kolega", "hermes", "codepuppy")
"""Products written in Python. The first one's document has a hook that searches for `"command": "`."""
EVENTS = {"claude": "PreToolUse", "gemini": "BeforeTool", "agenthooks": "before_tool", "kolega": "PreToolUse"}


@each_of("name", [*DENSE, *SPACED])
def test_every_table_says_it(name: str) -> None:
    assert dialect(name).dense is (name in DENSE)


@pytest.mark.parametrize("name", EVENTS)
def test_a_hook_that_searches_the_text(world: World, name: str) -> None:
    sought = '"command":"rm x"' if name in DENSE else '"command": "rm x"'
    world.hook(name, EVENTS[name], f"grep -qF '{sought}' && echo no >&2 && exit 2; exit 0")
    decision = world.engine().fire_sync(Event.pre_tool("Bash", {"command": "rm x"}))
    assert decision.verdict == "block"
