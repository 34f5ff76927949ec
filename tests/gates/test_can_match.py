"""Which names in a matcher are called misspelt: slips, and no tool that a product documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

DOCUMENTED = """
Agent AskUserQuestion Bash BashOutput CronCreate Edit EnterPlanMode EnterWorktree ExitPlanMode Glob Grep KillShell
ListMcpResourcesTool LSP Monitor MultiEdit NotebookEdit NotebookRead PowerShell Read ReadMcpResourceTool SendMessage
Skill SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate TodoRead TodoWrite
ToolSearch WebFetch WebSearch Write
"""
"""Claude Code's tools, as its documents name them, with those of its earlier versions."""
SLIPS = {"Bahs": "Bash", "Wirte": "Write", "Raed": "Read", "WebFecth": "WebFetch", "WebSeach": "WebSearch"}


def said(world: World, matcher: str) -> str:
    group: Json = {"matcher": matcher, "hooks": [{"type": "command", "command": "exit 0"}]}
    world.declare(world.home / ".claude/settings.json", "PreToolUse", group)
    return world.command("check").stdout


def test_a_documented_tool_is_not_called_misspelt(world: World) -> None:
    assert "misspelt" not in said(world, "|".join(DOCUMENTED.split()))


@each_of("slip", SLIPS)
def test_a_slip_is(world: World, slip: str) -> None:
    assert f"did you mean `{SLIPS[slip]}`?" in said(world, slip)
