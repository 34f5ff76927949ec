"""Where a server runs and when it ends, and unit tests of its parts."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pexpect
import pytest

from anyhook.extra.warm import place, server
from anyhook.extra.warm.place import is_wanted, socket_path
from anyhook.extra.warm.server import PRELOADED, Pool
from anyhook.platform.places import NoPlace, private_dir
from warm_box import LIMIT_S, PARENT, eventually, servers_of

if TYPE_CHECKING:
    from typing import NoReturn

    from conftest import World
    from warm_box import Door

PRE_TOOL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')


def test_only_a_folder_that_nobody_else_enters_is_used(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    folder = tmp_path / "anyhook"
    assert private_dir(env) == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o750)
    with pytest.raises(NoPlace, match="only this user"):
        private_dir(env)
    folder.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(0o700)
    folder.symlink_to(elsewhere)
    with pytest.raises(NoPlace, match="only this user"):
        private_dir(env)
    with pytest.raises(NoPlace, match="too long"):
        socket_path({"XDG_RUNTIME_DIR": f"/{'x' * 100}"})


def test_a_folder_of_somebody_else_is_not_used_by_the_launcher(door: Door, world: World) -> None:
    parents = world.root / "parents"
    world.hook("kodik", "PreToolUse", f"{PARENT} >> {parents}; exit 2")
    server = door.start()
    Path(door.runtime, "anyhook").chmod(0o755)
    assert door.call(*PRE_TOOL).returncode == 2
    assert str(server) not in parents.read_text().split()
    Path(door.runtime, "anyhook").chmod(0o700)


@pytest.mark.parametrize(
    ("variable", "settings", "wanted"),
    [
        ("", "", True),
        ("", 'warm = "off"\n', False),
        ("", 'warm = "auto"\n', True),
        ("on", 'warm = "off"\n', True),
        ("off", 'warm = "auto"\n', False),
        ("", "warm = [\n", True),
    ],
)
def test_who_decides(tmp_path: Path, variable: str, settings: str, wanted: bool) -> None:
    (tmp_path / "anyhook").mkdir()
    (tmp_path / "anyhook" / "config.toml").write_text(settings)
    assert is_wanted({"XDG_CONFIG_HOME": str(tmp_path), place.VARIABLE: variable}) is wanted


def test_a_wrong_value_is_a_finding(world: World) -> None:
    world.config('warm = "hot"\n')
    assert "`warm` must be one of auto, off" in world.command("check").stdout


def test_what_is_preloaded_is_there() -> None:
    assert [name for name in PRELOADED if find_spec(name) is None] == []


@pytest.mark.parametrize(("idle", "busy", "forked"), [(2, 0, 0), (1, 1, 0), (1, 0, 1), (0, 0, 2)])
def test_a_worker_is_not_replaced_while_it_answers(
    monkeypatch: pytest.MonkeyPatch, idle: int, busy: int, forked: int
) -> None:
    """One that is forked for the time of a slow call would be the one too many afterwards, and the one that exits is
    that which has just answered: its memory is its own by then, and the new one has to copy all of that again."""
    wanted: list[int] = []
    pool = Pool.__new__(Pool)
    pool._state = SimpleNamespace(count={server.IDLE: idle, server.BUSY: busy}.__getitem__, calls=7)  # type: ignore[assignment]
    pool._workers, pool._begun, pool._settled_s = dict.fromkeys(range(idle + busy), 0), 7, 0.0
    monkeypatch.setattr(pool, "_fork", wanted.append)
    pool._fill()
    assert [max(0, each) for each in wanted] == [forked]


def test_a_server_that_cannot_start_is_not_tried_with_every_call(door: Door) -> None:
    folder = Path(private_dir(door.env))
    door.start()
    (lock,) = folder.glob("*.lock")
    door.call("warm", "--stop")
    lock.write_text("starting")
    for _ in range(2):
        assert door.call(*PRE_TOOL).returncode == 0
    assert servers_of(door.runtime) == set()
    os.utime(lock, (0, 0))
    door.call(*PRE_TOOL)
    eventually(lambda: bool(door.state()["running"]), "it is never tried again")


def test_a_server_that_cannot_be_started_changes_no_answer(door: Door, world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2")
    Path(door.runtime).chmod(0o500)
    Path(door.runtime, "anyhook").write_text("no folder") if os.geteuid() == 0 else None
    done = door.call(*PRE_TOOL)
    assert (done.returncode, done.stderr) == (2, b"")
    assert servers_of(door.runtime) == set()


IDLE = """
import os, sys
sys.argv = ["anyhook-python"]
from anyhook.extra.warm import server
server.TICK_S = 0.02
{change}
folder = sys.orig_argv[-1]
lock = os.open(folder + "/lock", os.O_RDWR | os.O_CREAT)
os.write(lock, b"starting")
server.serve(lambda caller: None, folder + "/socket", lock)
"""


@pytest.mark.parametrize("change", ["server.UNUSED_S = 0.0", "", "server.MAX_WORKERS = 0"])
def test_it_ends_by_itself(tmp_path: Path, change: str) -> None:
    """It ends when it has been idle for long, and when its socket is gone."""
    command = [sys.executable, "-c", IDLE.format(change=change), str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        if "UNUSED" not in change:
            socket, lock = tmp_path / "socket", tmp_path / "lock"
            eventually(lambda: socket.exists() and not lock.stat().st_size, "it has never started")
            socket.unlink()
        _, err = server.communicate(timeout=LIMIT_S)
    assert server.returncode == 0, err
    assert not (tmp_path / "socket").exists()


CHANGES = """
import os, sys
sys.path.insert(1, sys.argv[1])
import loaded
from anyhook.extra.warm.changes import Installation
seen = Installation()
assert seen.is_same()
os.stat(loaded.__file__), open(loaded.__file__).read()
assert seen.is_same(), "reading is no change"
with open(loaded.__file__, "a") as file:
    file.write("# more")
assert not seen.is_same()
"""


def test_an_edited_module_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "loaded.py").write_text("")
    subprocess.run([sys.executable, "-c", CHANGES, str(tmp_path)], check=True)


def test_a_terminal_has_a_server_of_its_own(door: Door, world: World) -> None:
    """A hook may open its agent's terminal, and a terminal cannot be lent to another session."""
    world.hook("kodik", "PreToolUse", f"{PARENT} > {world.root}/parent; echo through > /dev/tty; exit 2")
    door.start()
    call = f"{door.launcher} {' '.join(PRE_TOOL[:4])} </dev/null"
    script = f"{call}; ANYHOOK_WARM=on {call}; {call}; cat {world.root}/parent; {door.launcher} warm --json; exit"
    shell = pexpect.spawn(
        "/bin/sh", ["-c", script], encoding="utf-8", env=door.env, cwd=str(world.project), timeout=LIMIT_S
    )
    shell.expect(pexpect.EOF)
    shown = str(shell.before).replace("\r\n", "\n")
    shell.close()
    assert shown.count("through\n") == 3, shown
    parent = (world.root / "parent").read_text().strip()
    assert f'"pid": {parent}' in shown, "its own server served the last call"
    assert parent not in [str(pid) for pid in servers_of(door.runtime) if os.getsid(pid) == pid]
    assert b"Stopped" in door.call("warm", "--stop").stdout  # the terminal's server may have ended with it
    eventually(lambda: servers_of(door.runtime) == set(), "a server is left")


def test_a_system_without_proc_has_a_place_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """On such a system, `anyhook warm` says that no server runs."""

    def missing(*_: object, **__: object) -> NoReturn:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", missing)
    monkeypatch.setattr(os, "readlink", missing)
    assert socket_path({"XDG_RUNTIME_DIR": "/run"}).startswith("/run/anyhook/")


def test_a_network_namespace_has_a_server_of_its_own(door: Door, world: World) -> None:
    """An agent in a sandbox calls often. It must not be turned away each time by a server outside."""
    world.hook("kodik", "PreToolUse", f"{PARENT} > {world.root}/parent; readlink /proc/self/ns/net >&2; exit 2")
    outside = door.start()
    call = f"{door.launcher} {' '.join(PRE_TOOL[:4])} </dev/null"
    script = f"{call}; ANYHOOK_WARM=on {call}; {call}; {door.launcher} warm --json; readlink /proc/self/ns/net"
    inside = subprocess.run(
        ["unshare", "--net", "--map-root-user", "/bin/sh", "-c", script],
        env=door.env, cwd=world.project, capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    if "unshare" in inside.stderr:
        pytest.skip("namespaces cannot be made here")
    parent = (world.root / "parent").read_text().strip()
    assert f'"pid": {parent}' in inside.stdout, (inside, "its own server served the last call")
    assert int(parent) != outside
    assert inside.stdout.count(inside.stdout.splitlines()[-1]) == 4, "every hook ran inside"
    assert door.call("warm", "--stop").stdout.count(b"Stopped") == 2
    eventually(lambda: servers_of(door.runtime) == set(), "a server is left")


def test_other_surroundings_have_a_server_from_their_second_call_on(door: Door) -> None:
    """An agent may use a new sandbox for each call. It must not start a server each time."""
    door.start()
    other = {"LC_TELEPHONE": "1", "ANYHOOK_WARM": "auto"}

    def running() -> int:
        return door.call("warm").stdout.count(b"The warm server runs")

    door.call("fire", "turn_end", env={**other, "LC_TELEPHONE": "2"})
    door.call("fire", "turn_end", env=other)
    assert running() == 1
    assert len([*Path(door.runtime, "anyhook").glob("*.seen")]) == 2
    door.call("fire", "turn_end", env=other)
    eventually(lambda: running() == 2, "its second call started no server")
    assert len([*Path(door.runtime, "anyhook").glob("*.seen")]) == 1
