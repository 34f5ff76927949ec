"""The budget for reading a project: what is counted, what is too much, and what happens then. No test measures time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.documents import budget as rules
from anyhook.documents.budget import BYTES, HASHED, HOOKS, LIMITS, LOOKS, NAMES, PROBLEMS, VALUES, Budget, TooLarge
from anyhook.documents.files import MAX_LOCATED_BYTES, Files
from anyhook.engine.catalog import Loaded, build, within_budget
from anyhook.engine.match import Catalog
from anyhook.platform.places import MAX_HASHED_BYTES
from conftest import World
from each_of import each_of

if TYPE_CHECKING:
    from collections.abc import Callable


def still() -> float:
    return 0.0


def budget(**limits: int) -> Budget:
    return Budget(None, {**LIMITS, **limits}, still, still)


def test_what_the_contract_promises_is_within_the_limits() -> None:
    assert LIMITS[BYTES] >= 16 * 1024 * 1024
    assert min(LIMITS[kind] for kind in (HOOKS, NAMES, LOOKS, PROBLEMS)) >= 3 * 3000


@each_of("kind", LIMITS)
def test_up_to_the_limit_and_not_one_more(kind: str) -> None:
    made = budget(**{kind: 10})
    made.place = "there"
    made.charge(kind, 10)
    assert made.exceeded is None
    with pytest.raises(TooLarge) as first:
        made.charge(kind)
    assert (first.value.where, first.value.lasting) == ("there", True)
    assert rules.UNITS[kind] in first.value.problem().why
    with pytest.raises(TooLarge) as second:  # a caller that swallowed the first error gets it again
        made.charge(BYTES, 0)
    assert second.value is first.value is made.exceeded


def test_the_largest_place_is_named_not_the_last() -> None:
    made = budget(bytes=10)
    for place, amount in (("small", 2), ("large", 7), ("last", 1)):
        made.place = place
        made.charge(BYTES, amount)
    with pytest.raises(TooLarge) as error:
        made.charge(BYTES)
    assert error.value.where == "large"


@pytest.mark.parametrize(("cpu_s", "clock_s", "lasting"), [(rules.MAX_CPU_S + 1, 0.0, True), (0.0, 8.0, False)])
def test_time_is_the_net_below(cpu_s: float, clock_s: float, lasting: bool) -> None:
    """Exceeding the CPU time is permanent. Exceeding the agent's time limit only affects this call."""
    now = [0.0, 0.0]
    made = Budget(7.0, LIMITS, lambda: now[0], lambda: now[1])
    made.charge(LOOKS)
    now[:] = [cpu_s, clock_s]
    with pytest.raises(TooLarge) as error:
        made.charge(LOOKS)
    assert error.value.lasting is lasting


def folder_of_names(folder: Path) -> None:
    for number in range(30):
        (folder / f"{number}").touch()


COSTS: dict[str, tuple[str, Callable[[Files, str], object], int]] = {
    "text": (BYTES, lambda files, place: files.text(f"{place}/text"), 25),
    "text twice": (BYTES, lambda files, place: [files.text(f"{place}/text"), files.text(f"{place}/text")], 25),
    "digest": (HASHED, lambda files, place: files.digest(f"{place}/text"), 25),
    "digest twice": (HASHED, lambda files, place: [files.digest(f"{place}/text") for _ in "ab"], 25),
    "names": (NAMES, lambda files, place: files.names(place), 3),
    "look": (LOOKS, lambda files, place: [files.look(f"{place}/{name}") for name in ("x", "x", "y")], 2),
    "yaml": (VALUES, lambda files, place: files.document(f"{place}/text", "yaml"), 7),
    "bad yaml": (VALUES, lambda files, _: files.parse("bad", "a: [1, 2", "yaml"), 5),
    "hook": (HOOKS, lambda files, _: files.made_hook(), 1),
    "problem": (PROBLEMS, lambda files, _: files.problem("unreadable", "it", "there"), 1),
    "large file": (HASHED, lambda files, place: files.digest(f"{place}/sparse"), 0),
    "pipe": (HASHED, lambda files, place: files.digest(f"{place}/pipe"), 0),
    "head of a pipe": (BYTES, lambda files, place: files.head(f"{place}/pipe"), 0),
}


@pytest.mark.parametrize("cost", COSTS)
def test_what_is_counted(tmp_path: Path, cost: str) -> None:
    kind, work, amount = COSTS[cost]
    (tmp_path / "text").write_text("a: 1\nb: [x, y]\n# comment\n")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(MAX_HASHED_BYTES + 1)
    os.mkfifo(tmp_path / "pipe")
    files = Files()
    work(files, str(tmp_path))  # without a budget, nothing is charged
    files = Files()
    files.budget = budget()
    work(files, str(tmp_path))
    assert files.budget.spent[kind] == amount


def test_a_folder_is_not_listed_to_its_end(tmp_path: Path) -> None:
    folder_of_names(tmp_path)
    files = Files()
    files.budget = budget(names=10)
    with pytest.raises(TooLarge):
        files.names(str(tmp_path))
    assert files.budget.spent[NAMES] == 11


def test_lines_are_looked_up_within_a_bound(tmp_path: Path) -> None:
    """Problems beyond the limit name their file, but no line."""
    text = '{"a":\n1, "pad": "' + "x" * 1_000_000 + '"}'
    paths = [str(tmp_path / f"{number}.json") for number in range(MAX_LOCATED_BYTES // len(text) + 2)]
    for path in paths:
        Path(path).write_text(text)
    files = Files()
    found = [files.line(path, ("a",)) for path in paths]
    assert found[0] == 1
    assert found[-1] is None


def declared(world: World) -> None:
    """Declare one user hook and one project hook in each of three dialects, and approve the project's."""
    for table, native in (("kodik", "PreToolUse"), ("agenthooks", "before_tool"), ("copilot", "preToolUse")):
        world.hook(table, native, "exit 2", "user", "mine")
        world.hook(table, native, "exit 2", "project", "theirs")
    world.approve()


def seen(catalog: Catalog) -> list[tuple[str, str, str]]:
    return [(hook.id, hook.scope, hook.status) for hook in catalog.hooks]


@pytest.mark.parametrize("kind", [BYTES, HASHED, VALUES, HOOKS, NAMES, LOOKS])
def test_a_project_is_dropped_as_a_whole(world: World, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Whichever limit was exceeded: the hooks that remain are those of an empty project, with one problem."""
    declared(world)
    whole = build(world.setup(), may_start=False)
    monkeypatch.setitem(rules.LIMITS, kind, 1)
    dropped = build(world.setup(), may_start=False)
    monkeypatch.undo()
    for path in (".kodik", ".agents", ".github"):
        (world.project / path).rename(world.root / path)
    empty = build(world.setup(), may_start=False)
    assert {hook.scope for hook in whole.hooks} > {hook.scope for hook in empty.hooks}
    assert seen(dropped) == seen(empty)
    assert [problem.code for problem in empty.problems] == []
    (problem,) = dropped.problems
    assert (problem.code, problem.severity) == ("project-too-large", "error")
    assert problem.where.startswith(str(world.project))


def test_the_user_pays_for_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files the user has, an empty project is not too large."""
    for number in range(20):
        world.hook("agenthooks", "before_tool", "exit 2", "user", f"mine{number}")
        world.hook("kodelet", "before_tool_call", "exit 0", "user", f"mine{number}")
    for kind in (BYTES, HASHED, VALUES, HOOKS, NAMES):
        monkeypatch.setitem(rules.LIMITS, kind, 0)
    catalog = build(world.setup(), may_start=False)
    assert len([hook for hook in catalog.hooks if hook.scope == "user"]) == 40
    assert catalog.problems == []


def test_swallowing_the_exception_does_not_help(world: World) -> None:
    declared(world)

    def work(loaded: Loaded) -> bool:
        if loaded.budget is not None:
            with pytest.raises(TooLarge):
                loaded.budget.charge(BYTES, LIMITS[BYTES] + 1)
        return loaded.too_large is not None

    assert within_budget(world.setup(), work)


def test_too_little_time_is_not_remembered(world: World) -> None:
    """Another call may have more time, so no plan is stored. A project that is always too large is remembered."""
    declared(world)
    catalog = build(world.setup().replace(read_by_s=0.0), may_start=False)
    assert [problem.code for problem in catalog.problems] == ["project-too-large"]
    assert not catalog.complete
