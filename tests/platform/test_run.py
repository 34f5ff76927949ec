"""The spawn core against real processes: how they end, what they read and print, and what they leave behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.model.call import Call, Run
from anyhook.platform import child as child_module
from anyhook.platform import spawn
from anyhook.platform.child import OUTPUT_LIMIT, Child
from anyhook.platform.run import end_all, run, start
from anyhook.platform.tree import Process, Tree, processes
from examples import examples
from living import kill, lives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOUND = 60.0
"""A limit that no test should reach."""
SHORT = 0.4


def make_call(
    *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None, cwd: str = "/", limit_s: float = BOUND
) -> Call:
    number = f"{os.getpid()}.{time.monotonic_ns()}.{threading.get_ident()}"
    env = {"PATH": os.environ["PATH"]} if env is None else env
    return Call(argv, stdin, {**env, "ANYHOOK_TEST": number}, cwd, limit_s, f"ANYHOOK_TEST={number}")


def sh(script: str, stdin: bytes = b"", limit_s: float = BOUND) -> Call:
    return make_call("/bin/sh", "-c", script, stdin=stdin, limit_s=limit_s)


def started(call: Call) -> Child:
    child = start(call)
    assert isinstance(child, Child), child
    return child


def wait_for(path: Path, lines: int = 1) -> list[str]:
    """Wait until a process has written this many lines to a file. The test's own timeout limits the wait."""
    while True:
        if path.exists() and len(found := path.read_text().split()) >= lines:
            return found
        time.sleep(0.005)


def run_to_the_limit(call: Call, got_so_far: Callable[[Run], bool]) -> Run:
    """Run with a short limit, and with longer ones if a busy machine was too slow for it."""
    limit_s = SHORT
    while not got_so_far(got := run(call.replace(limit_s=limit_s))):
        limit_s *= 2
    return got


def open_fds() -> int:
    return len(os.listdir("/proc/self/fd"))


def living_children() -> set[int]:
    """Live children. Zombies do not count: an earlier test may have made this process adopt orphans, and their zombies
    end up here."""
    found: set[int] = set()
    for row in processes():
        if row.parent == os.getpid():
            found.add(row.pid)
    return found


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """After every test: no new descriptor, no child, no zombie."""
    before, children = open_fds(), living_children()
    yield
    deadline = time.monotonic() + 20  # a thread of an earlier test may still hold some
    while open_fds() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert open_fds() <= before  # what an earlier test left may be closed by now
    assert not spawn.here.alive
    assert living_children() <= children


@pytest.fixture(params=["pidfd", "clock"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The portable way to detect an exit must give the same result as the pidfd."""
    if request.param == "clock":
        monkeypatch.setattr(child_module, "_pidfd_open", None)


both_ways = pytest.mark.usefixtures("_both_ways")


@both_ways
@pytest.mark.parametrize(
    ("script", "ending", "exit_code"),
    [
        ("exit 0", "exited", 0),
        ("exit 1", "exited", 1),
        ("exit 2", "exited", 2),
        ("exit 127", "exited", 127),
        ("exit 255", "exited", 255),
        ("kill -TERM $$", "signalled", -15),
        ("kill -KILL $$", "signalled", -9),
        ("kill -SEGV $$", "signalled", -11),
        ("exec 0<&- 1>&- 2>&-; exit 7", "exited", 7),
        ("exec 1>&- 2>&-; sleep 0.1; exit 8", "exited", 8),
        ("sleep 0.05; exit 9", "exited", 9),
    ],
)
def test_how_it_ends(script: str, ending: str, exit_code: int) -> None:
    got = run(sh(script))
    assert (got.ending, got.exit_code, got.stdout, got.error) == (ending, exit_code, b"", None)


def _changed(*_: object) -> int:
    raise TypeError("fork_exec() takes other arguments here")


@both_ways
@pytest.mark.parametrize("door", [None, _changed])
def test_it_starts_all_the_same_where_the_private_door_is_shut(
    door: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "fork_exec", door)
    got = run(make_call("/bin/sh", "-c", "pwd; cat; echo no >&2; exit 3", stdin=b"in", cwd=str(tmp_path)))
    assert (got.exit_code, got.stdout, got.stderr) == (3, f"{tmp_path}\nin".encode(), b"no\n")


def test_streams_are_kept_apart_and_byte_for_byte() -> None:
    got = run(sh(r"printf 'a\000\377\r\n'; printf '\200err' >&2"))
    assert (got.stdout, got.stderr) == (b"a\x00\xff\r\n", b"\x80err")


def test_times_are_those_of_the_run() -> None:
    before = time.time_ns()
    got = run(sh("sleep 0.05"))
    assert before <= got.started_ns <= time.time_ns()
    assert got.duration_s >= 0.05


def test_environment_is_exactly_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_HOST", "1")
    call = make_call("/usr/bin/env", "-0", env={"A": "1", "B": "zwei=2\n", "C": "\udcff"})
    entries = run(call).stdout.split(b"\0")
    assert set(entries) - {b""} == {b"A=1", b"B=zwei=2\n", b"C=\xff", call.mark.encode()}


def test_arguments_arrive_as_they_are() -> None:
    argv = ("/usr/bin/printf", "%s|", "", "a b", "$HOME", "\n", "ü", "\udcff", "-n")
    assert run(make_call(*argv)).stdout == b"|a b|$HOME|\n|\xc3\xbc|\xff|-n|"


def test_directory_is_the_calls(tmp_path: Path) -> None:
    assert run(make_call("/bin/pwd", cwd=str(tmp_path))).stdout.decode().strip() == str(tmp_path)


def script_at(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("name", "path", "answer"),
    [
        ("tool", "{}/one:{}/two", b"one"),
        ("tool", "{}/two:{}/one", b"two"),
        ("tool", "/nonexistent:{}/flat:{}/folder:{}/two", b"two"),
        ("tool", "two", b"two"),
        ("tool", "", b"here"),
        ("tool", "/nonexistent::{}/one", b"here"),
        ("./tool", "/nonexistent", b"here"),
        ("one/tool", "/nonexistent", b"one"),
    ],
)
def test_a_bare_name_is_found_on_the_calls_path(tmp_path: Path, name: str, path: str, answer: bytes) -> None:
    for folder in ("one", "two"):
        script_at(tmp_path / folder / "tool", f"#!/bin/sh\necho {folder}\n")
    script_at(tmp_path / "flat" / "tool", "#!/bin/sh\necho flat\n", 0o644)
    (tmp_path / "folder" / "tool").mkdir(parents=True)
    script_at(tmp_path / "tool", "#!/bin/sh\necho here\n")
    call = make_call(name, env={"PATH": path.replace("{}", str(tmp_path))}, cwd=str(tmp_path))
    assert run(call).stdout.strip() == answer


def test_without_a_path_the_systems_own_is_searched() -> None:
    assert run(make_call("echo", "x", env={})).stdout == b"x\n"


EDGES = [0, 1, 511, 4095, 4096, 4097, 65535, 65536, 65537, 131072, 1048575, 1048577]


@both_ways
@pytest.mark.parametrize("size", EDGES)
def test_what_goes_in_comes_out(size: int) -> None:
    data = os.urandom(size)
    got = run(make_call("/bin/cat", stdin=data))
    assert (got.ending, got.stdout == data) == ("exited", True)


@examples(25)
@given(
    fed=st.sampled_from(EDGES).flatmap(lambda size: st.integers(max(0, size - 3), size + 3)),
    out=st.integers(0, 200_000),
    err=st.integers(0, 200_000),
    first=st.booleans(),
)
def test_no_size_and_no_order_deadlocks(fed: int, out: int, err: int, first: bool) -> None:
    prints = f"head -c {out} /dev/zero; head -c {err} /dev/zero >&2"
    script = f"{prints}; wc -c" if first else f"wc -c; {prints}"
    got = run(sh(script, stdin=b"x" * fed))
    assert got.ending == "exited"
    assert (len(got.stderr), got.stdout.count(b"\0")) == (err, out)
    assert int(got.stdout.strip(b"\0")) == fed


@both_ways
@pytest.mark.parametrize(
    ("script", "exit_code", "stdout"),
    [
        ("exit 3", 3, b""),
        ("exec <&-; sleep 0.1; echo late; exit 4", 4, b"late\n"),
        ("head -c 10 >/dev/null; exec <&-; sleep 0.1; echo some", 0, b"some\n"),
        ("sleep 0.1; exit 5", 5, b""),
        ("wc -c", 0, b"16777216\n"),
    ],
)
def test_sixteen_megabytes_for_whoever_wants_them(script: str, exit_code: int, stdout: bytes) -> None:
    got = run(sh(script, stdin=b"y" * (16 << 20)))
    assert (got.ending, got.exit_code, got.stdout, got.stderr) == ("exited", exit_code, stdout, b"")


def test_it_prints_megabytes_before_it_reads() -> None:
    got = run(sh("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; wc -c >&2", stdin=b"z" * 3_000_000))
    assert (len(got.stdout), got.stderr[3_000_000:]) == (3_000_000, b"3000000\n")


@pytest.mark.parametrize("size", [0, 1, 4096, 4097, 300_000])
def test_its_input_may_be_made_when_it_is_started(size: int) -> None:
    child = start(make_call("cat"), lambda: b"x" * size)
    assert isinstance(child, Child)
    got = child.wait()
    assert got is not None
    assert (got.exit_code, got.stdout) == (0, b"x" * size)


@pytest.mark.parametrize("error", [TypeError("a set is no JSON"), OSError(5, "no"), KeyboardInterrupt()], ids=repr)
def test_an_input_that_cannot_be_made_leaves_nothing(error: BaseException, tmp_path: Path) -> None:
    def fails() -> bytes:
        wait_for(tmp_path / "pid")
        raise error

    call = sh(f"sleep 60 & echo $! > {tmp_path}/pid; cat")
    if isinstance(error, OSError):
        ended = start(call, fails)
        assert isinstance(ended, Run)
        assert (ended.ending, ended.error) == ("not_started", f"its input could not be made: {error}")
    else:
        with pytest.raises(type(error)):
            start(call, fails)
    assert not lives(int((tmp_path / "pid").read_text()))


def test_its_stdin_is_a_pipe_even_where_it_is_empty() -> None:
    got = run(sh("test -p /dev/stdin && echo pipe; cat; echo end"))
    assert got.stdout == b"pipe\nend\n"


def test_it_inherits_three_descriptors_and_no_more() -> None:
    leak, other = os.pipe()
    try:
        os.set_inheritable(leak, True)
        got = run(make_call("/bin/ls", "/proc/self/fd"))
    finally:
        os.close(leak)
        os.close(other)
    assert got.stdout.split() == [b"0", b"1", b"2", b"3"]  # the last is the listing itself


def test_it_has_a_group_of_its_own_in_our_session() -> None:
    got = run(sh("cut -d' ' -f1,5,6 /proc/$$/stat"))
    pid, group, session = map(int, got.stdout.split())
    assert (group == pid, session) == (True, os.getsid(0))


def test_signals_that_python_ignores_are_not_ignored_in_it() -> None:
    got = run(make_call("/bin/grep", "SigIgn", "/proc/self/status"))
    ignored = int(got.stdout.split()[1], 16)
    assert not ignored >> (signal.SIGPIPE - 1) & 1
    assert not ignored >> (signal.SIGXFSZ - 1) & 1


# --- what it leaves behind on a normal exit


@both_ways
def test_a_background_child_that_holds_the_pipes_is_not_waited_for() -> None:
    got = run(sh("sleep 100 & echo $!; echo answer; exit 6"))
    pid, answer = got.stdout.split()
    try:
        assert (got.ending, got.exit_code, answer) == ("exited", 6, b"answer")
        assert lives(int(pid))
    finally:
        kill(int(pid))


@both_ways
def test_a_background_child_that_goes_on_writing_is_left_to_it() -> None:
    got = run(sh("trap '' PIPE; while :; do echo y; done 2>/dev/null & echo $! >&2; exit 0"))
    pid = int(got.stderr)
    try:
        assert (got.ending, lives(pid)) == ("exited", True)
        assert set(got.stdout) <= set(b"y\n")
    finally:
        kill(pid)


def test_draining_ends_with_what_a_pipe_can_hold() -> None:
    """It ends even if another process keeps writing."""
    with open("/dev/zero", "rb", buffering=0) as endless:
        got = child_module._Stream(endless.fileno()).drain(b"")
        assert got == b""
        got = child_module._Stream(endless.fileno()).drain(bytes(65536))
    assert len(got) == child_module._MAX_PIPE


def ended_before_it_was_read(size: int) -> Run:
    """Run a process that enlarges its pipe, writes to it and exits before anything is read."""
    script = f"import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, b'q' * {size}); os._exit(0)"
    child = started(make_call(sys.executable, "-I", "-S", "-c", script))
    while lives(child.pid):
        time.sleep(0.005)
    got = child.wait()
    assert got is not None
    return got


def test_output_larger_than_the_usual_pipe_is_drained_after_the_end() -> None:
    got = ended_before_it_was_read(900_000)
    assert (got.ending, got.stdout) == ("exited", b"q" * 900_000)


def test_more_than_the_bound_is_found_even_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "OUTPUT_LIMIT", 200_000)
    assert ended_before_it_was_read(200_000).ending == "exited"
    got = ended_before_it_was_read(200_001)
    assert (got.ending, got.exit_code, len(got.stdout)) == ("overflowed", 0, 200_000)


def test_streams_that_are_closed_early_do_not_keep_us_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = []
    move = Child._poll_once

    def counted(child: Child, pause_s: float) -> bool:
        moves.append(pause_s)
        return move(child, pause_s)

    monkeypatch.setattr(Child, "_poll_once", counted)
    assert run(sh("exec 1>&- 2>&-; sleep 0.3")).ending == "exited"
    assert len(moves) <= 5


# --- limit, output bound, cancellation: nothing is left


SURVIVORS = {
    "itself": ("", "exec sleep 100"),
    "a child": ("", "sleep 100"),
    "deaf to signals": ("trap '' TERM INT HUP", "sleep 100; sleep 100"),
    "a pipeline": ("", "sleep 100 | sleep 100"),
    "a background child": ("sleep 100 & echo $! >>pids", "wait"),
    "a child of an ended child": ("(sleep 100 & echo $! >>pids)", "sleep 100"),
    "a new session": ("setsid sleep 100 & echo $! >>pids", "sleep 100"),
    "a new session whose parent ended": ("(setsid sh -c 'echo $$ >>pids; exec sleep 100' &)", "sleep 100"),
    "a daemon": ("(setsid sh -c 'sleep 100 & echo $! >>pids' >/dev/null 2>&1 </dev/null &)", "sleep 100"),
    "an emptied environment": ("env -i setsid sleep 100 & echo $! >>pids", "sleep 100"),
    "its own environment emptied": ("", "exec env -i sleep 100"),
    "stopped": ("sleep 100 & kill -STOP $!; echo $! >>pids", "kill -STOP $$"),
    "respawning": ("", "while :; do sleep 0.01 & wait $!; done"),
    "a daemon that respawns": (
        "echo 'echo $$ >>pids; while :; do sleep 0.01 & wait; done' >loop; (setsid sh loop >&2 &)",
        "sleep 100",
    ),
    "one that hands over and leaves, again and again": (
        "echo 'test $1 -lt 2000 && setsid sh hop $(($1 + 1)) >&2 & exit' >hop; setsid sh hop 0 >&2 &",
        "sleep 100",
    ),
}


def assert_nothing_is_left(call: Call, folder: Path) -> None:
    assert [pid for pid in (folder / "pids").read_text().split() if lives(int(pid))] == []
    assert carriers(call.mark) == []


@pytest.mark.parametrize(("setup", "hold"), SURVIVORS.values(), ids=list(SURVIVORS))
def test_when_it_is_ended_nothing_is_left(setup: str, hold: str, tmp_path: Path) -> None:
    script = f"echo $$ >>pids; echo so far\n{setup}\necho 1 >ready\n{hold}"
    child = started(make_call("/bin/sh", "-c", script, cwd=str(tmp_path)))
    wait_for(tmp_path / "ready")
    child.end("timed_out")
    got = child.wait()
    assert got is not None
    assert (got.ending, got.exit_code, got.stdout) == ("timed_out", -9, b"so far\n")
    assert_nothing_is_left(child.call, tmp_path)


@both_ways
@pytest.mark.parametrize("name", ["itself", "a daemon"])
def test_after_the_limit_nothing_is_left(name: str, tmp_path: Path) -> None:
    setup, hold = SURVIVORS[name]
    script = f"echo $$ >>pids; echo so far\n{setup}\necho 1 >ready\n{hold}"
    call = make_call("/bin/sh", "-c", script, cwd=str(tmp_path))
    got = run_to_the_limit(call, lambda _: (tmp_path / "ready").exists())
    assert (got.ending, got.exit_code, got.stdout) == ("timed_out", -9, b"so far\n")
    assert_nothing_is_left(call, tmp_path)


def carriers(mark: str) -> list[int]:
    """Every live process with the mark, found without the code under test."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0") and lives(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_what_is_not_the_hooks_is_left_alone() -> None:
    """Leave alone a younger process with a similar mark, and a process in our own group."""
    child = started(sh("sleep 100"))
    similar = {"ANYHOOK_TEST": child.call.env["ANYHOOK_TEST"] + "0"}
    neighbour = started(Call(("/bin/sleep", "100"), b"", similar, "/", BOUND, ""))
    own_group = os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
    try:
        child.end()
        child.wait()
        assert (lives(neighbour.pid), lives(own_group)) == (True, True)
    finally:
        kill(own_group)
        os.waitpid(own_group, 0)
        neighbour.end()
        neighbour.wait()


@pytest.mark.parametrize(("before", "later", "asked"), [(0, 0, True), (1, 0, False), (0, 1, True), (1, 1, True)])
def test_an_orphan_older_than_the_run_is_not_asked_about(before: int, later: int, asked: bool) -> None:
    """The system counts start times in ticks of 10 ms. Within a tick, pids increase."""
    child = started(sh("sleep 100"))
    tree = Tree(child.pid, "", lambda pid, _: pid > 0)
    number = child.pid - 1 if before else child.pid + 1
    row = Process(pid=number, parent=os.getpid(), group=1, session=1, born=tree.eldest + later, zombie=False)
    assert tree._is_known(row, os.getpid()) is asked
    child.end()
    child.wait()


def test_a_run_inside_the_run_belongs_to_it() -> None:
    call = make_call("/bin/sh", "-c", "ANYHOOK_TEST=$ANYHOOK_TEST/inner setsid sleep 100 & sleep 100", limit_s=SHORT)
    assert run(call).ending == "timed_out"
    assert carriers(f"{call.mark}/inner") == []


def test_without_a_mark_group_and_descendants_are_ended(tmp_path: Path) -> None:
    script = "sleep 100 & echo $! >pids; setsid sleep 100 & echo $! >>pids; echo 1 >ready; sleep 100"
    call = make_call("/bin/sh", "-c", script, cwd=str(tmp_path)).replace(mark="", env={"PATH": os.environ["PATH"]})
    assert run_to_the_limit(call, lambda _: (tmp_path / "ready").exists()).ending == "timed_out"
    pids = (tmp_path / "pids").read_text().split()
    assert (len(pids), [pid for pid in pids if lives(int(pid))]) == (2, [])


@both_ways
@pytest.mark.parametrize("limit_s", [0.0, 0.001, -1.0])
def test_a_limit_of_nothing_ends_it_at_once(limit_s: float) -> None:
    assert run(sh("sleep 100", limit_s=limit_s)).ending == "timed_out"


def test_no_limit_is_a_limit() -> None:
    assert run(sh("exit 3", limit_s=float("inf"))).exit_code == 3


@both_ways
@pytest.mark.parametrize("redirect", ["", " >&2"])
def test_a_flood_is_cut_at_the_bound(redirect: str) -> None:
    got = run(sh(f"setsid sleep 100 & echo $! >/dev/null; yes{redirect}"))
    flooded, other = (got.stderr, got.stdout) if redirect else (got.stdout, got.stderr)
    assert (got.ending, len(flooded), other) == ("overflowed", OUTPUT_LIMIT, b"")
    assert got.exit_code is not None


@pytest.mark.parametrize(
    ("extra", "ending"), [(-1, "exited"), (0, "exited"), (1, "overflowed"), (40_000, "overflowed")]
)
def test_the_bound_is_exact(extra: int, ending: str) -> None:
    got = run(make_call("/usr/bin/head", "-c", str(OUTPUT_LIMIT + extra), "/dev/zero"))
    assert (got.ending, len(got.stdout)) == (ending, min(OUTPUT_LIMIT, OUTPUT_LIMIT + extra))


@both_ways
def test_end_from_another_thread(tmp_path: Path) -> None:
    call = make_call("/bin/sh", "-c", "echo before; setsid sleep 100 & echo $! >ready; sleep 100", cwd=str(tmp_path))
    child = started(call)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(child.wait)
        (pid,) = wait_for(tmp_path / "ready")
        child.end()
        got = waiting.result()
    assert got is not None
    assert (got.ending, got.exit_code, got.stdout) == ("cancelled", -9, b"before\n")
    assert not lives(int(pid))


def test_end_before_anyone_waits_and_again_afterwards() -> None:
    child = started(sh("sleep 100"))
    child.end("timed_out")
    child.end("cancelled")
    got = child.wait()
    assert got is not None
    assert (got.ending, got.exit_code) == ("timed_out", -9)
    child.end()
    assert child.wait() is got


def test_end_after_it_ended_by_itself_does_not_change_the_run() -> None:
    child = started(sh("exit 5"))
    got = child.wait()
    child.end()
    assert got is not None
    assert (got.ending, got.exit_code, child.wait() is got) == ("exited", 5, True)


@both_ways
def test_a_short_grace_and_then_another_thread() -> None:
    child = started(sh("cat; sleep 0.2; echo done", stdin=b"x" * 200_000))
    assert child.wait(0.001) is None
    assert child.wait(0) is None
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(child.wait).result()
    assert got is not None
    assert (got.ending, got.stdout) == ("exited", b"x" * 200_000 + b"done\n")


def test_a_grace_longer_than_the_limit_does_not_extend_it() -> None:
    got = started(sh("sleep 100", limit_s=0.1)).wait(BOUND)
    assert isinstance(got, Run)
    assert got.ending == "timed_out"


def test_end_all_ends_all_and_only_those_that_run() -> None:
    children = [started(sh("setsid sleep 100 & sleep 100")) for _ in range(5)]
    done = run(sh("exit 1"))
    end_all()
    assert [(got.ending, got.exit_code) for child in children if (got := child.wait())] == [("cancelled", -9)] * 5
    assert [carriers(child.call.mark) for child in children] == [[]] * 5
    assert done.ending == "exited"


# --- what cannot be started


def refused(call: Call) -> str:
    got = run(call)
    assert (got.ending, got.exit_code, got.stdout, got.stderr) == ("not_started", None, b"", b"")
    assert got.error is not None
    return got.error


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (b"#!/bin/sh\n", 0o644, "has no execute permission"),
        (
            b"#!/no/such/shell -e\n",
            0o755,
            "names the interpreter /no/such/shell in its first line, which does not exist",
        ),
        (b"#!/bin/sh\r\nexit 0\r\n", 0o755, "carriage return"),
        (
            b"#!/dev/null\n",
            0o755,
            "the interpreter /dev/null in its first line, which has no execute permission",
        ),
        (b"echo hi\n", 0o755, "has no first line that names its interpreter (#!"),
        (b"", 0o755, "is empty"),
        (b"#!./hook\n", 0o755, "the interpreter ./hook in its first line, which is not a program itself"),
        (b"\x7fELF\x00\x00\x00\x00", 0o755, "is not a program for this kind of machine"),
    ],
)
@pytest.mark.parametrize("name", ["./hook", "hook"])
def test_a_file_that_is_no_program(tmp_path: Path, name: str, text: bytes, mode: int, words: str) -> None:
    path = tmp_path / "hook"
    path.write_bytes(text)
    path.chmod(mode)
    error = refused(make_call(name, cwd=str(tmp_path), env={"PATH": str(tmp_path)}))
    assert words in error
    assert "hook" in error


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").write_text("")
    here = str(tmp_path)
    assert refused(make_call("./none", cwd=here)) == f"{here}/./none does not exist"
    assert refused(make_call("/no/such", cwd=here)) == "/no/such does not exist"
    assert (
        refused(make_call("./link", cwd=here)) == f"{here}/./link is a symbolic link to nowhere, which does not exist"
    )
    assert "a part of its path is a file" in refused(make_call("./file/x", cwd=here))
    assert "is a directory" in refused(make_call("../", cwd=here))
    assert refused(make_call("nosuch", env={"PATH": "/bin:/tmp"})) == (
        "the command nosuch was not found on the PATH (/bin:/tmp)"
    )
    assert refused(make_call()) == refused(make_call("")) == "the command is empty"


def test_a_directory_that_cannot_be_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for argv in (("/bin/true",), ("true",), ("./true",)):
        assert refused(make_call(*argv, cwd=f"{tmp_path}/none")) in (
            f"the working directory {tmp_path}/none does not exist",
        )
        assert (
            refused(make_call(*argv, cwd=f"{tmp_path}/file"))
            == f"the working directory {tmp_path}/file is not a directory"
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"argv": ("/bin/echo", "a\0b")}, "argument 1 contains a NUL character"),
        ({"argv": ("/bin/ec\0ho",)}, "argument 0 contains a NUL character"),
        ({"argv": ("ec\0ho",)}, "argument 0 contains a NUL character"),
        ({"env": {"A": "b\0"}}, "the environment variable 'A' contains a NUL character"),
        ({"env": {"A=B": "c"}}, "the environment variable name 'A=B' contains an equals sign"),
        ({"cwd": "/\0"}, "the working directory's name contains a NUL character"),
        ({"argv": ("/bin/echo", "\ud800")}, "argument 1 contains a character that cannot be written"),
        ({"argv": ("/bin/true", *(["x" * 100_000] * 100))}, "longer than the system allows"),
        ({"argv": ("/bin/true", "x" * 200_000)}, "longer than the system allows"),
        ({"env": {"A": "x" * 200_000}}, "longer than the system allows"),
    ],
)
def test_what_no_process_can_be_given(change: dict[str, object], words: str) -> None:
    assert words in refused(make_call("/bin/true").replace(**change))


def test_a_program_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "busy"
    shutil.copy("/bin/true", path)
    with path.open("ab"):
        assert "still open for writing" in refused(make_call(str(path)))
    assert run(make_call(str(path))).exit_code == 0


# --- many at once


def test_two_hundred_runs_from_sixteen_threads() -> None:
    """Each gets its own answer, and no run holds another's pipe (a leaked end would keep `cat` waiting)."""

    def one(number: int) -> bool:
        data = f"{number}:".encode() * (1 + number * 37 % 30_000)
        got = run(sh("cat; echo $0 >&2; exit 3", stdin=data))
        return (got.ending, got.exit_code, got.stdout == data, got.stderr) == ("exited", 3, True, b"/bin/sh\n")

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(200)))


def test_some_time_out_while_others_do_not() -> None:
    def one(number: int) -> tuple[str, bytes]:
        if number % 4 == 0:
            got = run_to_the_limit(sh("echo $0; exec sleep 100"), lambda got: bool(got.stdout))
        else:
            got = run(sh("sleep 0.2; echo $0"))
        return got.ending, got.stdout

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(24)))
    assert results == [("timed_out" if number % 4 == 0 else "exited", b"/bin/sh\n") for number in range(24)]
