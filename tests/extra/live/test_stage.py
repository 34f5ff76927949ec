"""The stage: copies of the files that decide about the user's entry, connected to a scripted model, and none of the
user's other files."""

from __future__ import annotations

import json
import os
import tomllib

import pytest

from anyhook.agents._probe import PROBE_HOOK
from anyhook.extra.live.stage import Stage, fill, prepare
from anyhook.platform.network import leave
from anyhook.tables.drive_rows import Drive
from anyhook.tables.host_rows import Entry
from anyhook.tables.registry import HOSTS, drive, host
from conftest import World


def entry(agent: str) -> Entry:
    found = host(agent).entry
    assert found is not None
    return found


def driven(agent: str) -> Drive:
    found = drive(agent)
    assert found is not None
    return found


def staged(world: World, agent: str, scope: str = "user") -> tuple[Stage, list[str]]:
    assert world.command("install", agent, "--scope", scope).returncode == 0
    stage = Stage(str(world.root / "stage"))
    stage.build()
    return stage, stage.bring(host(agent), entry(agent), driven(agent), str(world.project), world.env)


@pytest.mark.parametrize("agent", [name for name in HOSTS if drive(name) is not None])
def test_the_entry_comes_along(world: World, agent: str) -> None:
    stage, copied = staged(world, agent)
    assert copied
    for path in copied:
        assert path.startswith(str(world.home))
    held = [
        name for folder, _, names in os.walk(stage.home) for name in names if "anyhook bridge" in text(folder, name)
    ]
    direct = any("LAUNCHER" in text(folder, name) for folder, _, names in os.walk(stage.home) for name in names)
    assert held or direct


def text(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), errors="replace") as file:
        return file.read().replace("-m anyhook bridge", "anyhook bridge")


def test_trust_that_is_kept_by_path(world: World) -> None:
    trusted, project = f"{world.home}/.codex/hooks.json", str(world.project)
    world.write(
        world.home / ".codex/config.toml",
        f'model = "mine"\n[hooks.state."{trusted}:pre_tool_use:0:0"]\ntrusted_hash = "abc"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n[other]\nfolder = "{project}/below"\n',
    )
    stage, _ = staged(world, "codex")
    with open(f"{stage.home}/.codex/config.toml", "rb") as file:
        found = tomllib.load(file)
    assert list(found["hooks"]["state"]) == [f"{stage.home}/.codex/hooks.json:pre_tool_use:0:0"]
    assert list(found["projects"]) == [stage.project]
    assert (found["model"], found["other"]["folder"]) == ("mine", f"{project}/below")


def test_credentials_stay_where_they_are(world: World) -> None:
    for path in (".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json"):
        world.write(world.home / path, '{"key": "SECRET"}')
    for agent in ("codex", "claude", "gemini"):
        assert world.command("install", agent).returncode == 0
        stage = Stage(str(world.root / f"stage-{agent}"))
        stage.build()
        stage.bring(host(agent), entry(agent), driven(agent), str(world.project), world.env)
        prepare(stage, driven(agent), {**stage.roots(entry(agent)), "url": "http://x", "model": "m"})
        assert not [
            path for path in world.root.glob(f"stage-{agent}/**/*") if path.is_file() and b"SECRET" in path.read_bytes()
        ]


def test_a_projects_entry(world: World) -> None:
    stage, copied = staged(world, "claude", "project")
    assert copied == [f"{world.project}/.claude/settings.json"]
    assert os.path.exists(f"{stage.project}/.claude/settings.json")


def test_settings_of_the_user_stay_beside_ours(world: World) -> None:
    world.write(world.home / ".gemini/settings.json", '{"security": {"auth": {"selectedType": "oauth"}}, "theme": "x"}')
    stage, _ = staged(world, "gemini")
    prepare(stage, driven("gemini"), stage.roots(entry("gemini")))
    with open(f"{stage.home}/.gemini/settings.json") as file:
        found = json.load(file)
    assert (found["security"]["auth"]["selectedType"], found["theme"]) == ("gemini-api-key", "x")
    assert "BeforeTool" in found["hooks"]


def test_toml_of_the_user_is_led_to_our_model(world: World) -> None:
    world.write(world.home / ".kimi-code/config.toml", 'default_model = "mine"\nx = 1\n[models.mine]\nprovider = "p"\n')
    stage, _ = staged(world, "kimi")
    known = {**stage.roots(entry("kimi")), "url": "http://127.0.0.1:1", "model": "m"}
    prepare(stage, driven("kimi"), known)
    with open(f"{stage.home}/.kimi-code/config.toml", "rb") as file:
        found = tomllib.load(file)
    assert (found["default_model"], found["x"], found["models"]["mine"]["provider"]) == ("anyhook_live", 1, "p")
    assert found["providers"]["anyhook_live"]["base_url"] == "http://127.0.0.1:1/v1"
    assert "PreToolUse" in [hook["event"] for hook in found["hooks"]]


def test_keys_stay_out_of_the_environment(world: World) -> None:
    stage = Stage(str(world.root / "stage"))
    env = stage.env({**world.env, "ANTHROPIC_API_KEY": "SECRET", "CODEX_HOME": "/theirs"})
    assert "SECRET" not in env.values()
    assert "CODEX_HOME" not in env
    assert env["HOME"] == stage.home
    assert env["PATH"] == world.env["PATH"]


def test_no_agent_that_is_driven_reads_the_probe_by_itself() -> None:
    """Otherwise it would be refused whether or not the entry is called."""
    for table in (host(name) for name in HOSTS if drive(name) is not None):
        paths = [fill(path, {"home": ""}) for path in (table.entry.files.values() if table.entry else ())]
        assert fill(PROBE_HOOK, {"home": ""}) not in paths
        assert "kodik" not in table.reads


def test_leaving_the_network() -> None:
    """In a separate process, because it cannot be undone."""
    child = os.fork()
    if not child:
        why = leave()
        with open("/proc/net/dev") as file:
            devices = [line.partition(":")[0].strip() for line in file if ":" in line]
        os._exit(0 if why or devices == ["lo"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
