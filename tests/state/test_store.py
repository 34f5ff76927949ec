"""Small files: each kind has a lifetime and a bound, and changes at the same time lose nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

import anyhook
from anyhook.engine.routes import made_catalog
from anyhook.model.json_types import Json
from anyhook.model.lean_json import short_digest
from anyhook.platform.places import write_private
from anyhook.platform.store import BLOCK, CLAIM_SLOTS, DAY_S, KINDS, MB, NAMED, SLOTS, Store
from anyhook.state import approvals
from anyhook.state.conversations import Conversations
from anyhook.state.installs import Installs
from anyhook.state.ledger import Approval, Item, Ledger
from anyhook.state.plans import Setup, keep_plan, read_plan
from anyhook.state.told import ToldGates
from anyhook.state.turns import Turn
from conftest import RECORDS, World

OTHERS = ("fifo", "folder", "device", "sparse", "dangling")


def other(path: Path, kind: str) -> None:
    """Something else than a small regular file."""
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.symlink_to("/nonexistent/x")


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_has_more_files_than_its_bound(kind: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path), kind)
    for count in range(store.bound + 60):
        assert store.write(f"key {count}", b"{}")
        assert len(os.listdir(store.folder)) <= store.bound + 2
    assert store.read(f"key {store.bound + 59}") == b"{}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_too_old_is_not_read_and_goes(kind: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path), kind)
    store.write("old", b"{}")
    then = time.time() - store.lifetime_s - 5
    os.utime(store.path("old"), (then, then))
    assert store.read("old") is None
    os.utime(f"{store.folder}/.tidied", (0, 0))
    store.write("new", b"{}")
    assert not os.path.exists(store.path("old"))


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_a_small_file_is_nothing(kind: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path), "told")
    store.write("a", b"{}")
    other(Path(store.path("a")), kind)
    assert store.read("a") is None
    assert store.read_object("a") == {}
    store.change("a", lambda found: {**found, "x": 1})
    store.delete("a")


def test_processes_that_count_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from anyhook.state.turns import Turn; from anyhook.state.told import ToldGates\n"
        "for each in range(25):\n"
        "    Turn(sys.argv[1], 'a', 's').count('claude')\n"
        "    ToldGates(sys.argv[1], 'a', 's').keep({f'{sys.argv[2]} {each}': 'off'})\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(each)]) for each in range(4)]
    assert [each.wait(timeout=60) for each in started] == [0] * 4
    assert Turn(str(tmp_path), "a", "s").counts() == {"claude": 100}
    assert len(ToldGates(str(tmp_path), "a", "s").known()) == 100


def test_a_process_that_stopped_with_the_lock_stops_no_other(tmp_path: Path) -> None:
    code = (
        "import sys, time; from anyhook.platform.locks import locked\n"
        "with locked(sys.argv[1]): print('has it', flush=True); time.sleep(60)\n"
    )
    store = Store(str(tmp_path), "turns")
    store.write("x", b"{}")
    holder = subprocess.Popen([sys.executable, "-c", code, store.folder], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        begun = time.monotonic()
        Turn(str(tmp_path), "a", "s").count("claude")
        assert time.monotonic() - begun < 10
        assert Turn(str(tmp_path), "a", "s").counts() == {"claude": 1}
    finally:
        holder.kill()
        holder.communicate()


def test_500_projects_and_many_paths_stay_in_a_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "plans", (KINDS["plans"][0], 60, 1 << 30, ""))
    monkeypatch.setattr("anyhook.state.plans.SETTLED_NS", -(1 << 62))
    plan = None
    for count in range(40):
        env = {**world.env, "PATH": f"/venv/{count}/bin:/usr/bin"}
        setup = Setup.of(str(world.project), env)
        made_catalog(setup)
        plan = read_plan(setup)
        assert plan is not None
        assert plan.key == setup.key()
    own, given = {**world.env, "CODEX_HOME": "/own"}, {**world.env, "CODEX_HOME": "/moved"}
    moved = Setup.of(str(world.project), own).replace(given=given)
    made_catalog(moved)
    kept_plan = read_plan(moved)
    assert kept_plan is not None, "an agent's own environment is a part of the key"
    assert kept_plan.key == moved.key() != Setup.of(str(world.project), own).key()
    folder = world.state / "plans"
    assert plan is not None
    assert len([name for name in os.listdir(folder) if not name.startswith(".")]) <= SLOTS + 1
    for count in range(500):
        project = f"/projects/{count}"
        key = (plan.key[0], project, project, *plan.key[3:])
        keep_plan(Setup(project, world.env), plan.replace(key=key), time.time_ns())
        assert len(os.listdir(folder)) <= 62


# -- a year of work


START_S = 1_700_000_000.0
YEAR, PROJECTS = 365, 500
SIZES = {
    "plans": 40_000, "told": 400, "turns": 60, "refused": 90, "payloads": 60_000, "versions": 60, "firings": 9_000,
    "allowed": 60, "context": 120_000, "types": 40, "past": 200, "agents": 3_000, "sessions": 5_000, "failures": 12_000,
    "conversations": 150_000, "memory": 3_000, "asked": 2_000, "granted": 100, "page": 60,
    "indexes": 100_000,
}  # fmt: skip
"""Bytes of one file of each kind: not the smallest."""


class Clock:
    """The time, for a store whose files carry it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START_S

        def write(path: str, data: bytes) -> None:
            write_private(path, data)
            os.utime(path, (self.now, self.now))

        monkeypatch.setattr("anyhook.platform.store.write_private", write)
        monkeypatch.setattr("anyhook.platform.store.time", SimpleNamespace(time=lambda: self.now))


def on_disk(folder: Path) -> int:
    """Bytes in whole blocks."""
    return sum(-(-path.lstat().st_size // 4096) * 4096 for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_year_in_500_projects_stays_under_50_mb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind is used in eight projects a day, and every project has an approval and a copy of an approved script; a
    hundred have our entry. Files for /undo are not in it: they end with their chat. Nor are results of backtests."""
    clock, state, most = Clock(monkeypatch), str(tmp_path), 0
    for day in range(YEAR):
        for visit in range(8):
            clock.now += 86_400 / 8
            project = (day * 8 + visit) % PROJECTS
            for kind, size in SIZES.items():
                Store(state, kind).write(f"{project:016x}-{day}" if kind in NAMED else f"{project} {day}", b"x" * size)
        if day % 30 == 29:
            most = max(most, on_disk(tmp_path))
    for project in range(PROJECTS):
        script = f"#!/bin/sh\n# {project}\n".encode() + b"x" * 2_000
        digest = sha256(script).hexdigest()
        (tmp_path / "approved").mkdir(exist_ok=True)
        (tmp_path / "approved" / digest).write_bytes(script)
    item = Item("kodik:project:PreToolUse:it", "d" * 64, {"/work/projects/number/.kodik/hooks/it.sh": "e" * 64})
    ledger = Ledger(state)
    ledger.approvals = {
        f"/p/{each}": Approval(f"/p/{each}", "2026-01-01T00:00:00Z", {item.id: item}) for each in range(PROJECTS)
    }
    ledger._write()
    with Installs.changing(state) as installs:
        for project in range(100):
            installs.keep(f"/p/{project}/.claude/settings.json", "claude", "project", b"x" * 3_000, b"y", ())
    most = max(most, on_disk(tmp_path))
    assert most < 50 * MB
    assert on_disk(tmp_path / "plans") > MB, "the year was simulated"
    assert sum(each[2] for each in KINDS.values()) < 45 * MB, "and no other year needs more"


def test_every_kind_says_how_long_how_many_and_why() -> None:
    assert set(SIZES) == set(KINDS)
    for kind, (lifetime_s, files, size, why) in KINDS.items():
        assert 0 < lifetime_s <= 365 * DAY_S, kind
        assert 0 < files <= size // BLOCK, kind
        assert len(why) > 20, kind
    assert set(NAMED) <= set(KINDS)
    assert not set(RECORDS) & set(KINDS)


def test_no_source_names_a_place_in_the_state_folder_that_is_not_listed() -> None:
    named = re.compile(r"\{(?:self\.)?_?state(?:_dir)?(?:\([^{}]*\))?\}/([\w.-]+)")
    found = {
        (path.name, name)
        for path in (Path(anyhook.__file__).parent).rglob("*.py")
        for name in named.findall(path.read_text())
        if "agents" not in path.parts  # other products' folders
    }
    assert len(found) > 5
    assert {each for each in found if each[1] not in KINDS and not each[1].startswith(tuple(RECORDS))} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_have_a_bound(kind: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path), kind)
    store.max_bytes = min(store.max_bytes, 4 << 20)  # an index of many machines may be larger than a test should write
    size = store.max_bytes // 5
    for count in range(12):
        store.write(f"key {count}", b"x" * size)
        assert on_disk(Path(store.folder)) <= store.max_bytes
    assert store.read("key 11") == b"x" * size
    store.write("whole", b"x" * (store.max_bytes + 1))
    assert len(store.read("whole") or b"") == store.max_bytes + 1, "what was just written stays"


def test_one_of_many_takes_it(tmp_path: Path) -> None:
    code = (
        "import sys; from anyhook.platform.store import Store\n"
        "print(sum(bool(Store(sys.argv[1], 'allowed').take(str(each))) for each in range(40)))\n"
    )
    for each in range(40):
        Store(str(tmp_path), "allowed").write(str(each), b'{"a": 1}')
    command = [sys.executable, "-c", code, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(each.communicate(timeout=60)[0]) for each in started) == 40
    assert not (tmp_path / "allowed").exists(), "where there is nothing, nothing is asked"


def test_one_of_many_claims_it(tmp_path: Path) -> None:
    code = (
        "import sys; from anyhook.platform.store import Store\n"
        "store = Store(sys.argv[1], 'firings')\n"
        "print(sum(store.claim(each, {'at': 1}, lambda said: said or None) is None for each in sys.argv[2:]))\n"
    )
    keys = {int(short_digest(str(each)), 16) % CLAIM_SLOTS: str(each) for each in range(200)}  # one for each slot
    command = [sys.executable, "-c", code, str(tmp_path), *keys.values()]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(each.communicate(timeout=60)[0]) for each in started) == len(keys)


# -- a store that is damaged, cannot be written, or is full


RUBBISH = (
    b"",
    b"{",
    b"[]",
    b'{"until": "never"}',
    b'{"until": 99999999999}',
    b"\xff\xfe",
    b'{"at": 1, "decision": {}}',
)
REFUSE = "echo no >&2; exit 2"


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_a_damaged_permission_is_none(rubbish: bytes, tmp_path: Path) -> None:
    Store(str(tmp_path), "allowed").write("a" * 64, rubbish)
    assert not approvals.use(str(tmp_path), "a" * 64)


def test_a_permission_of_the_version_before_counts(tmp_path: Path) -> None:
    path = tmp_path / "allowed" / ("a" * 64)
    path.parent.mkdir(mode=0o700)
    path.write_text(f'{{"until":{int(time.time()) + 500},"record":7}}')
    path.chmod(0o600)
    assert [approvals.use(str(tmp_path), "a" * 64) for _ in range(2)] == [True, False]


def test_conversations_of_the_version_before_move(tmp_path: Path) -> None:
    """All of them, also those of projects that are not opened now."""
    for project in ("/p", "/q"):
        old = tmp_path / "agent" / sha256(project.encode()).hexdigest()[:16]
        old.mkdir(parents=True)
        (old / "one.json").write_text(
            json.dumps({"id": "one", "project": project, "model": "m", "turns": 1, "waiting": [], "messages": []})
        )
        (old / "one.json").chmod(0o600)
    (tmp_path / "agent" / "history").write_text("")
    found = [Conversations(str(tmp_path), project) for project in ("/p", "/q")]
    assert [each.latest() for each in found] == ["one", "one"]
    loaded = [each.load("one") for each in found]
    assert [each.project for each in loaded if each] == ["/p", "/q"]
    assert os.listdir(tmp_path / "agent") == ["history"]


@pytest.mark.parametrize("sabotage", ["rubbish", "file", "full", "fifo"])
def test_no_state_of_the_store_opens_a_gate(world: World, sabotage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world.hook("kodik", "PreToolUse", REFUSE)
    engine = world.engine()
    payload: dict[str, Json] = {
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "cwd": str(world.project),
    }

    def asked() -> str:
        return str(engine.bridge("claude", "PreToolUse", {**payload, "tool_use_id": "same"}).stdout)

    assert '"deny"' in asked()
    for kind in KINDS:
        folder = world.state / kind
        if sabotage == "rubbish":
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                path.write_bytes(b'{"at": 99999999999, "decision": {}, "until": 99999999999}')
        elif sabotage in ("file", "fifo"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.write_text("in the way") if sabotage == "file" else os.mkfifo(folder)
    if sabotage == "full":

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("anyhook.platform.store.write_private", full)
    engine = world.engine()
    assert '"deny"' in asked()
    assert '"deny"' in asked()


def test_what_is_overwritten_stays_its_file_and_follows_no_link(tmp_path: Path) -> None:
    store = Store(str(tmp_path), "memory")
    store.put("key", b"one")
    before = os.stat(store.path("key")).st_ino
    store.overwrite("key", b"two")
    assert (store.read("key"), os.stat(store.path("key")).st_ino) == (b"two", before)
    other = tmp_path / "other"
    other.write_bytes(b"six")
    os.unlink(store.path("key"))
    os.symlink(other, store.path("key"))
    with pytest.raises(OSError, match="symbolic links"):
        store.overwrite("key", b"ten")
    assert other.read_bytes() == b"six"
