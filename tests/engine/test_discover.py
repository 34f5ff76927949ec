"""Discover, as a table: where each agent's documentation says that hooks are declared, in order. Nothing is on disk: a
place is listed whether or not it exists."""

from __future__ import annotations

import pytest

from anyhook.engine.catalog import discover
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Roots
from each_of import each_of

HOME = {"HOME": "/h"}
PLACES = [
    ("kode", {}, [("user", "/h/.config/kode/config.yaml"), ("project", "/p/.kode/config.yaml")],
     "the user's file first, because the workspace's lists replace its"),
    ("kode", {"XDG_CONFIG_HOME": "/c"}, [("user", "/c/kode/config.yaml"), ("project", "/p/.kode/config.yaml")],
     "a variable moves the user's folder"),
    ("kodik", {}, [("project", "/p/.kodik/hooks"), ("user", "/h/Documents/Kodik/Hooks"), ("plugin", "/x/hooks")],
     "project, user, plugin; hooks.json or hooks.toml in each"),
    ("agenthooks", {}, [("user", "/h/.config/agents/hooks"), ("project", "/p/.agents/hooks")],
     "user before project, without walking up"),
    ("agenthooks", {"XDG_CONFIG_HOME": "/c"}, [("user", "/c/agents/hooks"), ("project", "/p/.agents/hooks")],
     "under the XDG config directory"),
    ("kolega", {}, [("user", "/h/.local/state/kolega-code/hooks.json"), ("project", "/p/.kolega/hooks.json")],
     "per event the global list comes first"),
    ("kolega", {"KOLEGA_CODE_STATE_DIR": "/s"}, [("user", "/s/hooks.json"), ("project", "/p/.kolega/hooks.json")],
     "a variable replaces the state directory"),
    ("kodelet", {}, [("project", "/p/.kodelet/hooks"), ("user", "/h/.kodelet/hooks")],
     "the project's folder comes before the user's"),
    ("gemini", {}, [("user", "/h/.gemini/settings.json"), ("project", "/p/.gemini/settings.json")],
     "settings files of the user and the project"),
    ("qwen", {}, [("user", "/h/.qwen/settings.json"), ("project", "/p/.qwen/settings.json")],
     "settings files of the user and the project"),
]  # fmt: skip


@each_of(("name", "env", "places", "why"), PLACES, ids=lambda value: str(value)[:60])
def test_where(name: str, env: dict[str, str], places: list[tuple[str, str]], why: str) -> None:
    roots = Roots("/p", {**HOME, **env}, ("/x",) if name == "kodik" else ())
    found = [(source.scope, source.path) for source in discover(dialect(name), roots)]
    assert found == places, why


def test_settings_before_all_else() -> None:
    """Claude's hooks are in its settings, in this order: the user's, the project's, the project's local ones. Then come
    the files of plugins, agents and skills."""
    found = [(source.scope, source.path) for source in discover(dialect("claude"), Roots("/p", HOME))]
    assert found[:3] == [
        ("user", "/h/.claude/settings.json"),
        ("project", "/p/.claude/settings.json"),
        ("project", "/p/.claude/settings.local.json"),
    ]


def test_a_place_that_two_scopes_share_counts_once() -> None:
    """If the project is the home directory, the folder counts once, in the scope that comes first."""
    found = discover(dialect("kodelet"), Roots("/h", HOME))
    assert [(source.scope, source.path) for source in found] == [("project", "/h/.kodelet/hooks")]


@pytest.mark.parametrize("name", ["kode", "kodik", "kolega"])
def test_a_source_knows_whose_it_is(name: str) -> None:
    assert {source.dialect for source in discover(dialect(name), Roots("/p", HOME))} == {name}
