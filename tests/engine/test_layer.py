"""Layer, as a table: how several sources of one dialect are combined, by that dialect's rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from anyhook.documents.files import Files
from anyhook.engine.catalog import layer
from anyhook.model.hook import DISABLED, UNTRUSTED, Hook, Layer, Source
from anyhook.tables.registry import dialect
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import HookScope, HookState


def hook(
    name: str, scope: HookScope, event: str = "E", status: HookState = "armed", priority: int | None = None
) -> Hook:
    return Hook(
        id=f"{scope}:{name}", name=name, dialect="d", scope=scope, source=f"/{scope}", place=(), root="", label="",
        native_event=event, events=("pre_tool",), matcher=None, handler="command", spec={}, limit_s=1.0,
        priority=priority, status=status,
    )  # fmt: skip


def source(scope: HookScope, *hooks: Hook, replaces: tuple[str, ...] = (), all_off: bool | None = None) -> Layer:
    return Layer(Source("d", scope, f"/{scope}", "/"), hooks, replaces, all_off)


USER, PROJECT = hook("a", "user"), hook("a", "project")
OTHER = hook("b", "user", "F")
LAYERINGS = [
    ("kodik", [source("project", PROJECT), source("user", USER)], ["project:a", "user:a"],
     "all are loaded, none replaces another"),
    ("kode", [source("user", USER, OTHER), source("project", PROJECT, replaces=("E",))], ["user:b", "project:a"],
     "the workspace's list for an event replaces the user's, and no other event's"),
    ("kode", [source("user", USER), source("project", replaces=("E",))], [],
     "even by an empty list"),
    ("agenthooks", [source("user", USER, OTHER), source("project", PROJECT)], ["project:a", "user:b"],
     "a later hook of the same name replaces the earlier"),
    ("agenthooks", [source("user", USER), source("project", hook("a", "project", status=UNTRUSTED))],
     ["user:a", "project:a"], "what is not trusted replaces nothing of the user's"),
    ("agenthooks", [source("user", USER), source("project", hook("a", "project", status=DISABLED))],
     ["user:a", "project:a"], "nor what is switched off"),
    ("agenthooks", [source("user", hook("low", "user", priority=1), hook("high", "user", priority=900))],
     ["user:high", "user:low"], "a higher priority runs first"),
    ("gemini", [source("user", USER), source("project", PROJECT)], ["project:a", "user:a"],
     "the project's hooks come first, then the user's"),
    ("claude", [source("user", USER), source("project", PROJECT)], ["user:a", "project:a"],
     "in the order of the settings files"),
    ("kodelet", [source("project", PROJECT), source("user", USER, OTHER)], ["project:a", "user:b"],
     "a project file hides the user's file of the same name"),
    ("kodelet", [source("project", hook("a", "project", status=UNTRUSTED)), source("user", USER)],
     ["project:a", "user:a"], "but not before it is trusted"),
]  # fmt: skip


@each_of(("name", "layers", "ids", "why"), LAYERINGS, ids=[row[3] for row in LAYERINGS])
def test_which_hooks_in_which_order(name: str, layers: list[Layer], ids: list[str], why: str) -> None:
    found = [each.id for each in layer(dialect(name), layers, Files())]
    if name == "agenthooks" and len({each.priority for one in layers for each in one.hooks}) == 1:
        assert sorted(found) == sorted(ids), why  # equal priorities: another row tests the order
    else:
        assert found == ids, why


SWITCHES = [
    ([None, None], "armed", "nobody says anything"),
    ([True, None], DISABLED, "one file turns all hooks off, wherever they are declared"),
    ([None, True], DISABLED, "the last one too"),
    ([True, False], "armed", "the most local file that says anything decides"),
    ([False, True], DISABLED, "in either direction"),
]


@each_of(("said", "status", "why"), SWITCHES, ids=[row[2] for row in SWITCHES])
def test_all_hooks_off(said: list[bool | None], status: str, why: str) -> None:
    layers = [source("user", USER, all_off=said[0]), source("project", PROJECT, all_off=said[1])]
    found = layer(dialect("claude"), layers, Files())
    assert [each.status for each in found] == [status, status], why
    if status == DISABLED:
        by = "/project" if said[1] else "/user"
        assert all(by in each.why for each in found), "and it says which file did"


@pytest.mark.parametrize("name", ["kode", "agenthooks", "kodelet"])
def test_nothing_is_overridden_in_silence(name: str) -> None:
    files = Files()
    first, second = (PROJECT, USER) if name == "kodelet" else (USER, PROJECT)
    layer(dialect(name), [source(first.scope, first), source(second.scope, second, replaces=("E",))], files)
    loser = USER
    assert [(each.code, each.where) for each in files.problems] == [("overridden", loser.source)]
