"""Some agents use only one entry per name, and a project's entry overrides the user's. So our entry has a name that no
project can guess."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

NAME = re.compile(r"anyhook-[0-9a-f]{8}")


def hooks(path: Path) -> list[str]:
    return [hook["name"] for hook in tomllib.loads(path.read_text())["hooks"]]


def test_a_name_of_handlers(world: World) -> None:
    path = world.home / ".vibe/hooks.toml"
    world.command("install", "vibe")
    first = path.read_text()
    assert all(NAME.fullmatch(name.rpartition("-")[0]) for name in hooks(path))
    world.command("install", "vibe")
    assert path.read_text() == first
    world.command("uninstall", "vibe")
    assert not path.exists()


def test_a_name_of_a_folder(world: World) -> None:
    plugins = world.home / ".agents/plugins"
    for _ in range(2):
        world.command("install", "goose")
        (folder,) = plugins.iterdir()
        assert NAME.fullmatch(folder.name)
        assert json.loads(world.command("status", "goose", "--json").stdout)["agents"]["goose"]["installed"]
    world.command("uninstall", "goose")
    assert not plugins.exists()


def test_a_project_has_the_plain_one(world: World) -> None:
    """Others share the file, so the name is not secret there. Both entries are ours."""
    world.command("install", "vibe", "--scope", "project")
    assert hooks(world.project / ".vibe/hooks.toml")[0] == "anyhook-pre_tool"
    world.command("install", "goose", "--scope", "project")
    assert [path.name for path in (world.project / ".agents/plugins").iterdir()] == ["anyhook"]


def test_each_user_has_another(world: World) -> None:
    world.command("install", "vibe")
    first = hooks(world.home / ".vibe/hooks.toml")
    next(world.root.rglob("installs/name")).unlink()
    world.command("install", "vibe")
    assert not set(first) & set(hooks(world.home / ".vibe/hooks.toml"))
