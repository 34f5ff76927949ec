"""Compiled plans: they give the same catalog as the files, never a stale one, and the quick answer is the engine's
answer."""

from __future__ import annotations

import json
import marshal
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import TABLES

from anyhook.cli import fire as cli_fire
from anyhook.cli.options import FireOptions, parse
from anyhook.engine.catalog import build
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.match import Catalog
from anyhook.engine.routes import fingerprint, from_plan, made_catalog, to_plan
from anyhook.engine.rule_calls import condition_of
from anyhook.model.event import EVENTS, Event
from anyhook.state.plans import TELLING, CatalogPlan, Setup, read_plan
from anyhook.state.switches import Switches
from conftest import World
from examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.model.words import Trust

SCOPES = ("user", "project")
PLACES = [
    ((name, row.native), scope)
    for name, table in TABLES.items()
    for row in table.events
    for scope in SCOPES
    if scope in dict(table.files)
]
BROKEN = {
    "home/config/kode/config.yaml": "hooks: [",
    "project/.kodik/hooks/hooks.toml": "a = ",
    "project/.agents/hooks/bad/HOOK.md": "---\nname: bad\n---\n",
    "home/.kodelet/hooks/plain": "#!/bin/sh\n",
    "project/.kolega/hooks.json": '{"schema_version": 2}',
}

declared = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from("abc")).map(lambda drawn: (*drawn[0], drawn[1])), max_size=6
)
spoilt = st.lists(st.sampled_from(sorted(BROKEN)), unique=True, max_size=2)


def populate(world: World, hooks: list[tuple[tuple[str, str], str, str]], broken: list[str]) -> None:
    for path in broken:
        world.write(world.root / path, BROKEN[path])
    for (table, native), scope, name in hooks:
        world.hook(table, native, "true", scope, name)


def unpacked(catalog: Catalog | None) -> Catalog | None:
    """With the conditions of its rules as they are read from the files."""
    if catalog is None:
        return None
    hooks = [hook.replace(condition=condition_of(hook)) if hook.condition else hook for hook in catalog.hooks]
    return catalog.replace(hooks=hooks)


def fresh(world: World, trust: Trust = "ask") -> Catalog:
    """From the files."""
    catalog = build(world.setup(trust), may_start=True).with_lines()
    return catalog.replace(known_by=fingerprint(catalog))


@examples(30)
@given(declared, spoilt, st.sampled_from(["ask", "all", "none"]))
def test_there_and_back(hooks: list[tuple[tuple[str, str], str, str]], broken: list[str], trust: Trust) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        populate(world, hooks, broken)
        catalog = fresh(world, trust)
        plan = to_plan(world.setup(trust), catalog)
        stored = CatalogPlan(*marshal.loads(marshal.dumps(tuple(getattr(plan, field) for field in plan.fields))))
        assert unpacked(from_plan(stored)) == catalog
        assert stored.events == catalog.by_event()
        for event in EVENTS:
            assert [catalog.hooks[place] for place in stored.events.get(event, ())] == catalog.for_event(event)
            tells = event in TELLING and stored.off  # the user is told which guards are off
            quiet = not catalog.for_event(event) and not catalog.problems and not catalog.gone and not tells
            assert stored.is_quiet(event) == quiet


# -- staleness


def keep_a_plan(world: World) -> None:
    """Open engines until a plan is stored. Files that are too new are not cached in a plan."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        world.engine()
        if read_plan(world.setup()) is not None:
            return
        time.sleep(0.02)
    pytest.fail("no plan was kept")


def everything(world: World) -> None:
    for table, native in (
        ("kode", "tool_call_pre"), ("kodik", "PreToolUse"), ("kolega", "Stop"),
        ("agenthooks", "before_tool"), ("kodelet", "agent_stop"),
    ):  # fmt: skip
        for scope in SCOPES:
            world.hook(table, native, "true", scope, name=f"{scope}-one")
    script = world.write(world.project / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    world.hook("kodik", "Stop", f"sh {script}", "project")
    world.config('on_failure = "native"\n')
    world.approve()


def declarations(world: World) -> list[Path]:
    """Every file and folder that hooks are declared in."""
    roots = [
        world.home / "config", world.home / "Documents", world.home / ".kodelet", world.home / "state/kolega-code",
        *(path for path in world.project.iterdir()),
    ]  # fmt: skip
    return [path for root in roots for path in (root, *sorted(root.rglob("*")))]


def same_size(path: Path) -> None:
    """Change the bytes, but not the size or the modification time."""
    seen = path.stat()
    path.write_bytes(path.read_bytes().replace(b"true", b"fals").replace(b"exit 0", b"exit 1"))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def swapped_for_link(path: Path) -> None:
    moved = path.with_name(f"{path.name}.moved")
    path.rename(moved)
    path.symlink_to(moved)


def renamed(path: Path) -> None:
    path.rename(path.with_name(f"{path.name}-renamed"))


def filled(path: Path) -> None:
    """Add new files to a folder: hooks, if the folder holds hooks."""
    (path / "newcomer").mkdir()
    (path / "newcomer" / "HOOK.md").write_text("---\nname: new\ndescription: d\ntrigger: before_tool\n---\n")
    script = path / "newcomer.sh"
    script.write_text("#!/bin/sh\necho agent_stop\n")
    script.chmod(0o755)


FILE_CHANGES: dict[str, Callable[[Path], object]] = {
    "appended": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "same size": same_size,
    "emptied": lambda path: path.write_bytes(b""),
    "removed": Path.unlink,
    "mode": lambda path: path.chmod(0o600),
    "link": swapped_for_link,
    "renamed": renamed,
}
FOLDER_CHANGES: dict[str, Callable[[Path], object]] = {"renamed": renamed, "filled": filled, "link": swapped_for_link}


def changes(world: World) -> Iterator[tuple[Path, str]]:
    for path in declarations(world):
        for kind in FOLDER_CHANGES if path.is_dir() else FILE_CHANGES:
            yield path.relative_to(world.root), kind


@pytest.mark.parametrize("kind", sorted({*FILE_CHANGES, *FOLDER_CHANGES}))
def test_any_change_of_the_tree_is_noticed(tmp_path: Path, kind: str) -> None:
    model = World(tmp_path / "model")
    everything(model)
    paths = [path for path, change in changes(model) if change == kind]
    worlds = [World(tmp_path / f"w{number}") for number in range(len(paths))]
    for world in worlds:
        everything(world)  # write all of them first, so that each is old enough for a plan by its turn
    noticed = 0
    for path, world in zip(paths, worlds, strict=True):
        keep_a_plan(world)
        before = world.engine().catalog
        target = world.root / path
        (FOLDER_CHANGES if target.is_dir() else FILE_CHANGES)[kind](target)
        after = world.engine().catalog
        assert unpacked(after) == fresh(world), f"{path} {kind}"
        noticed += (after.hooks, after.problems) != (before.hooks, before.problems)
    assert len(paths) > 3
    assert noticed > 1, "these changes change no catalog, so they show nothing"


@pytest.mark.parametrize("change", ["same size", "longer", "emptied"])
def test_contents_decide_for_every_file_of_a_plan_whatever_its_stamp_says(
    world: World, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """As after a write through a memory map, which need not change any stamp."""
    everything(world)
    keep_a_plan(world)
    plan = read_plan(world.setup())
    assert plan is not None
    monkeypatch.setattr("anyhook.state.plans.stamp", dict(plan.stamps).get)
    assert read_plan(world.setup()) is not None, "nothing has changed"
    held = [Path(path) for path in plan.contents if Path(path).is_file() and Path(path).is_relative_to(world.root)]
    told = {path.name for path in held}
    assert {"guard.sh", "trust.json", "config.toml", "hooks.json", "config.yaml", "HOOK.md"} <= told, told
    for path in held:
        before = path.read_bytes()
        other = bytes([before[0] ^ 1]) + before[1:]
        path.write_bytes({"same size": other, "longer": before + b" ", "emptied": b""}[change])
        assert read_plan(world.setup()) is None, path
        path.write_bytes(before)
        assert read_plan(world.setup()) is not None, path


def test_a_name_in_a_listed_folder_is_noticed_whatever_its_stamp_says(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(world)
    keep_a_plan(world)
    plan = read_plan(world.setup())
    assert plan is not None
    monkeypatch.setattr("anyhook.state.plans.stamp", dict(plan.stamps).get)
    folders = [Path(path) for path in plan.contents if Path(path).is_dir() and path.startswith(str(world.root))]
    assert folders
    for folder in folders:
        (folder / "newcomer").touch()
        assert read_plan(world.setup()) is None, folder
        (folder / "newcomer").unlink()
        assert read_plan(world.setup()) is not None, folder


def approve_nothing(world: World) -> None:
    (world.state / "trust.json").unlink()


def turn_off(world: World) -> None:
    Switches(str(world.state)).turn("", world.engine().catalog.hooks[0].id, on=False)


def config_changed(world: World) -> None:
    world.config('on_failure = "deny"\n')


def kode_renamed(world: World) -> None:
    (world.project / ".kode").rename(world.project / ".kode-off")


def variable_changed(world: World) -> None:
    world.env["XDG_CONFIG_HOME"] = str(world.home / "elsewhere")


@pytest.mark.parametrize("change", [approve_nothing, turn_off, config_changed, kode_renamed, variable_changed])
def test_what_the_user_says_is_noticed(world: World, change: Callable[[World], None]) -> None:
    everything(world)
    keep_a_plan(world)
    before = world.engine().catalog
    change(world)
    after = world.engine().catalog
    assert unpacked(after) == fresh(world)
    assert (after.hooks, after.config) != (before.hooks, before.config)


PARTS: list[dict[str, int] | list[int]] = [{}, [1], {"key": 1}, {"key": 1, "stamps": 2}]
DAMAGED = [b"", b"garbage", b"\x00", *(marshal.dumps(part) for part in PARTS)]


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_plan_is_made_anew(world: World, damage: bytes) -> None:
    everything(world)
    keep_a_plan(world)
    for path in (world.state / "plans").iterdir():
        path.write_bytes(damage)
    assert unpacked(world.engine().catalog) == fresh(world)


# -- the quick answer


OPTION_SETS = [
    [], ["--mode", "shadow"], ["--trust", "none"], ["--trust", "all", "--mode", "shadow"], ["--on-failure", "deny"],
    ["--dialect", "kode"], ["--dialect", "kodik", "--dialect", "kodelet"], ["--session", "s-1", "--tool", "T"],
]  # fmt: skip


@pytest.mark.parametrize("options", OPTION_SETS, ids=" ".join)
def test_the_quick_answer_is_the_engines(
    world: World, options: list[str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    world.hook("kode", "tool_call_pre", "true")
    world.hook("kodik", "PreToolUse", "true")
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ANYHOOK_RUN", raising=False)
    monkeypatch.setattr("anyhook.platform.run.expect_hooks", lambda: None)  # this process is not only ours
    quick = 0

    def opened(*_: object) -> None:
        raise AssertionError("the engine was opened")

    for event in EVENTS:
        parsed = parse([event, "--project", str(world.project), "--json", *options], FireOptions, 1)
        assert parsed is not None
        values = parsed[1]
        setup = Setup.of(str(world.project), dict(os.environ), values.dialect, values.trust or "ask")
        own = EngineOptions(setup, values.on_failure, values.mode, values.session, "fire", one_shot=True)
        engine = open_engine(own, made_catalog(setup))
        expected = engine.fire_sync(Event(event, {}))
        engine.close_sync(0.0)
        if engine.context.routes.steps(Event(event, {})):
            continue
        quick += 1
        until = time.monotonic() + 120
        while read_plan(setup) is None and time.monotonic() < until:
            time.sleep(0.02)
            made_catalog(setup)
        with monkeypatch.context() as patch:
            patch.setattr("anyhook.engine.engine.open_engine", opened)
            status = cli_fire.fire(event, values)
        said = json.loads(capfdbinary.readouterr().out)
        assert said == expected.as_dict()
        assert status == 0
        slow, fast = world.journal()[-2:]
        for line in (slow, fast):
            line.pop("at")
            assert line.pop("n")
            assert len(line.pop("hash")) == 64
        if "--session" not in options:
            assert slow.pop("session") != fast.pop("session")
        if "--tool" in options:
            assert fast.pop("data") == {"tool": "T", "session": "s-1"}
            slow.pop("data")
        assert slow == fast
    assert quick >= 14
