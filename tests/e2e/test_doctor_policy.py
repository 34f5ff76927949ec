"""What doctor says about an organisation's managed files, and about plugin code that runs inside an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook.install.organisation import decided
from anyhook.tables.registry import host

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

GROUP = [{"hooks": [{"type": "command", "command": "/usr/bin/anyhook bridge claude PreToolUse"}]}]
OTHER = [{"command": "/opt/audit"}]
FILES = {
    "claude": ("claude-code/managed-settings.d/10.json", json.dumps({"hooks": {"PreToolUse": GROUP}})),
    "codex": ("codex/requirements.toml", 'allow_managed_hooks_only = true\n[[hooks.Stop]]\ncommand = "/opt/audit"\n'),
    "copilot": ("github-copilot/policy.d/a.json", json.dumps({"version": 1, "hooks": {"preToolUse": OTHER}})),
    "cursor": ("cursor/hooks.json", json.dumps({"version": 1, "hooks": {"beforeShellExecution": OTHER}})),
}
SAID = {
    "claude": "hooks of the organisation run first on PreToolUse; one of them calls anyhook",
    "codex": "hooks of the organisation run first on Stop; none of them calls anyhook; `allow_managed_hooks_only`: no"
    " other hooks run, so an entry in your own files is not called",
    "copilot": "hooks of the organisation run first on preToolUse; none of them calls anyhook",
    "cursor": "hooks of the organisation run first on beforeShellExecution; none of them calls anyhook",
}


@pytest.mark.parametrize("agent", FILES)
def test_what_managed_files_decide(agent: str, tmp_path: Path) -> None:
    assert decided(host(agent), str(tmp_path)) == []
    path = tmp_path / FILES[agent][0]
    path.parent.mkdir(parents=True)
    path.write_text(FILES[agent][1])
    assert decided(host(agent), str(tmp_path)) == [f"{path}: {SAID[agent]}"]
    path.write_text("{")
    assert decided(host(agent), str(tmp_path)) == [f"{path}: it cannot be read"]


def test_modules_of_plugins_are_told(world: World) -> None:
    plugin = world.home / "plugins" / "shiny"
    world.write(plugin / ".claude-plugin/plugin.json", '{"name": "shiny"}')
    world.write(plugin / "hooks/hooks.json", '{"modules": ["./register.js"]}')
    installed = {"plugins": {"shiny@market": [{"scope": "user", "installPath": str(plugin)}]}}
    world.write(world.home / ".claude/plugins/installed_plugins.json", json.dumps(installed))
    world.write(world.home / ".claude/settings.json", '{"enabledPlugins": {"shiny@market": true}}')
    checked = json.loads(world.command("check", "--format", "json").stdout)
    told = [problem for problem in checked["problems"] if problem["code"] == "agent-mod"]
    assert [(problem["severity"], "shiny" in problem["what"]) for problem in told] == [("warning", True)]
    seen = json.loads(world.command("doctor", "claude", "cursor", "--json").stdout)
    assert "allow one that a hook refused" in seen["claude"]["mods"][0]
    assert seen["cursor"]["mods"] == []
