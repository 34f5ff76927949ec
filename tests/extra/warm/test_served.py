"""Calls that a warm server answers: the answers are the same, from a process like the one the caller would have
been."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.extra.warm import client
from anyhook.state.plans import read_plan
from warm_box import PARENT, eventually, lives, plain, servers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import World
    from warm_box import Door

PRE_TOOL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
PAYLOAD = b'{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t%d"}'
CALLS: dict[str, tuple[tuple[str, ...], bytes]] = {
    "a hook that allows": ((*PRE_TOOL, "--json"), b""),
    "words for a person": (PRE_TOOL, b""),
    "nothing is hooked": (("fire", "turn_end", "--json"), b""),
    "data from stdin": (("fire", "prompt", "--data", "-", "--json"), b'{"prompt": "\xc3\xa9"}'),
    "no such event": (("fire", "nonsense"), b""),
    "no such option": (("fire", "pre_tool", "--nonsense"), b""),
    "an agent": (("bridge", "claude", "PreToolUse"), PAYLOAD),
    "an agent, not hooked": (("bridge", "claude", "PostToolUse"), PAYLOAD),
    "an agent, not JSON": (("bridge", "claude", "PreToolUse", "--on-failure", "deny"), b"{"),
    "an agent that sends nothing": (("bridge", "claude", "PreToolUse"), b""),
    "no such agent": (("bridge", "nobody", "PreToolUse"), b"{}"),
}


def from_server(world: World) -> list[int]:
    """The process that started the command that ran the hook, for each call."""
    return [int(line) for line in (world.root / "parents").read_text().split()]


@pytest.fixture
def noted(world: World) -> World:
    """A project whose hook records which process started the command."""
    world.hook("kodik", "PreToolUse", f"{PARENT} >> {world.root}/parents; echo note >&2; exit 2")
    return world


def test_answers_and_records_are_the_same(door: Door, noted: World) -> None:
    server = door.start()
    before = len(noted.journal())
    numbered = 0
    for name, (words, stdin) in CALLS.items():
        answers, records = [], []
        for way in (door.cold, door.call):
            numbered += 1  # a call repeated within seconds would get the first call's answer
            done = way(*words, stdin=stdin.replace(b"t%d", b"turn-%d-" % numbered))
            answers.append((done.returncode, plain(done.stdout), plain(done.stderr)))
            lines = noted.journal()[before:]
            records.append([plain(json.dumps(line)).replace(f"turn-{numbered}-", "t") for line in lines])
            before += len(lines)
        assert answers[0] == answers[1], name
        assert records[0] == records[1], name
    parents = from_server(noted)
    assert [pid == server for pid in parents] == [False, True] * (len(parents) // 2)
    assert len(parents) >= 6


SHOW = (
    "exec > {out}; umask; ulimit -a; nice; pwd; env | grep -v ANYHOOK | grep -v ^_= | grep -v ^TRACE | sort; date +%Z; "
    "grep -E '^(SigBlk|SigIgn|Groups|Cap|Seccomp|NoNew)' /proc/self/status; ls /proc/$$/fd; "
    "cat /proc/self/oom_score_adj"
)


def unusual() -> None:
    os.umask(0o027)
    os.nice(3)
    resource.setrlimit(resource.RLIMIT_NOFILE, (333, 444))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])


def test_a_hook_runs_as_the_caller_would_have_run_it(door: Door, world: World) -> None:
    shown = world.root / "shown"
    world.hook("kodik", "PreToolUse", f"{PARENT} >> {world.root}/parents; {SHOW.format(out=shown)}")
    server = door.start()
    seen = []
    for warm in ("off", "auto"):
        env = {"ANYHOOK_WARM": warm, "TZ": "Asia/Tokyo", "SECRET": "a\nb"}
        door.call(*PRE_TOOL, env=env, preexec_fn=unusual)
        seen.append(shown.read_text())
    assert [pid == server for pid in from_server(world)] == [False, True]
    assert "JST" in seen[0]
    assert "0027" in seen[0]
    assert seen[0] == seen[1]


def confined() -> None:
    import ctypes

    assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS, as every sandbox sets it


def batch() -> None:
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def first_to_go() -> None:
    Path("/proc/self/oom_score_adj").write_text("500")


def without_capability() -> None:
    import ctypes

    if os.geteuid() == 0:
        assert ctypes.CDLL(None).prctl(24, 21, 0, 0, 0) == 0  # PR_CAPBSET_DROP, CAP_SYS_ADMIN
    else:
        confined()


def in_namespace(kind: int) -> Callable[[], None]:
    """Enter a new namespace, as `unshare` does, if that is allowed; otherwise a sandbox."""

    def enter() -> None:
        import ctypes

        if ctypes.CDLL(None).unshare(kind) != 0:
            confined()

    return enter


UNLIKE: dict[str, dict[str, Any]] = {
    "a mount namespace": {"preexec_fn": in_namespace(0x20000)},
    "a network namespace": {"preexec_fn": in_namespace(0x40000000)},
    "a user namespace": {"preexec_fn": in_namespace(0x10000000)},
    "a name of its own": {"preexec_fn": in_namespace(0x4000000)},
    "another scheduler": {"preexec_fn": batch},
    "another score": {"preexec_fn": first_to_go},
    "fewer capabilities": {"preexec_fn": without_capability},
    "another locale": {"env": {"LC_ALL": "C"}},
    "another loader": {"env": {"LD_LIBRARY_PATH": "/nowhere"}},
    "a sandbox": {"preexec_fn": confined},
    "turned off": {"env": {"ANYHOOK_WARM": "off"}},
    "steps to show": {"env": {"ANYHOOK_DEBUG": "1"}},
}
if len(os.sched_getaffinity(0)) > 1:
    UNLIKE["fewer processors"] = {"preexec_fn": one_processor}


@pytest.mark.parametrize("why", UNLIKE)
def test_a_call_that_differs_goes_cold(door: Door, noted: World, why: str) -> None:
    server = door.start()
    done = door.call(*PRE_TOOL, **UNLIKE[why])
    assert done.returncode == 2
    assert server not in from_server(noted)
    door.call(*PRE_TOOL)
    assert from_server(noted)[-1] == server


def test_no_secret_touches_a_disk(door: Door, noted: World) -> None:
    """Neither the socket nor the launcher's tables write a secret to disk."""
    door.start()
    secret = {"MY_TOKEN": "Zebra7Canary-5f1c9a"}
    for number in range(3):
        sent = PAYLOAD.replace(b"%d", b"%d" % number)
        for event in ("PreToolUse", "PostToolUse"):
            door.call("bridge", "claude", event, stdin=sent, env=secret)
    eventually(lambda: len(noted.journal()) >= 7, "a line is missing")
    held = [path for root in (noted.root, Path(door.runtime)) for path in root.rglob("*") if path.is_file()]
    assert len(held) > 3
    assert [path for path in held if b"Zebra7Canary" in path.read_bytes()] == []


def test_the_settings_turn_it_off(door: Door, noted: World) -> None:
    server = door.start()
    noted.config('warm = "off"\n')
    assert door.call(*PRE_TOOL).returncode == 2
    assert from_server(noted)[-1] != server
    door.stop()
    door.call(*PRE_TOOL)
    assert servers_of(door.runtime) == set()


def test_a_first_call_starts_one_server_and_does_not_wait(door: Door, noted: World) -> None:
    calls = [door.popen(*PRE_TOOL) for _ in range(6)]
    for call in calls:
        call.communicate(timeout=60)
        assert call.returncode == 2
    eventually(lambda: bool(door.state()["running"]), "no server was started")
    server = door.state()["pid"]
    door.call(*PRE_TOOL)
    assert from_server(noted)[-1] == server
    door.call("warm", "--stop")
    eventually(lambda: servers_of(door.runtime) == set(), "a second server was started")
    assert door.state() == {"running": False, "pid": None, "idle_s": None, "workers": 0}


def test_a_server_holds_nothing_of_the_call_that_started_it(door: Door, noted: World) -> None:
    """An agent may wait for EOF on a pipe that its children inherited."""
    words = ("fire", "turn_end")
    eventually(lambda: door.cold(*words).returncode == 0 and read_plan(noted.setup()) is not None, "no plan is kept")
    reading, writing = os.pipe()
    door.call(*words, pass_fds=[writing])
    os.close(writing)
    eventually(lambda: bool(door.state()["running"]), "no server was started")
    assert select.select([reading], [], [], 0)[0], "the pipe is still open"
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_calls_at_once_are_all_answered(door: Door, noted: World) -> None:
    server = door.start()
    calls = [door.popen("bridge", "claude", "PreToolUse") for _ in range(12)]
    for number, call in enumerate(calls):
        out, _ = call.communicate(PAYLOAD.replace(b"%d", b"%d" % number), timeout=60)
        assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert from_server(noted) == [server] * 12


def test_a_worker_answers_the_next_call_unless_its_hook_has_left_a_process(door: Door, world: World) -> None:
    seen, leaves = world.root / "workers", world.root / "leaves"
    left = f"if [ -e {leaves} ]; then sleep 5 > /dev/null 2>&1 < /dev/null & fi"
    world.hook("kodik", "PreToolUse", f"echo $PPID >> {seen}; {left}")
    door.start()
    for turn in range(2):
        seen.write_text("")
        for number in range(12):
            stdin = PAYLOAD.replace(b"%d", b"%d-%d" % (turn, number))
            assert door.call("bridge", "claude", "PreToolUse", stdin=stdin).returncode == 0
        workers = seen.read_text().split()
        assert len(workers) == 12
        assert (len(set(workers)) < 12) == (turn == 0)
        leaves.touch()


def test_without_a_launcher_the_variable_asks_for_a_server(door: Door, noted: World) -> None:
    """The pure wheel has only the script."""
    script = str(door.launcher.with_name("anyhook-python"))
    words = [script, "bridge", "claude", "PreToolUse"]
    for turn in range(2):
        done = door.call(env={"ANYHOOK_WARM": "on"}, stdin=PAYLOAD.replace(b"%d", b"p%d" % turn), args=words)
        assert b'"deny"' in done.stdout
    assert from_server(noted) == [door.state()["pid"]] * 2


def test_a_killed_caller_ends_its_hooks(door: Door, world: World) -> None:
    pid_file = world.root / "pid"
    world.hook("claude", "PreToolUse", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 300")
    door.start()
    for number in (signal.SIGKILL, signal.SIGTERM):
        pid_file.unlink(missing_ok=True)
        call = door.popen(*PRE_TOOL)
        eventually(pid_file.exists, "the hook never ran")
        hook = int(pid_file.read_text())
        assert lives(hook)
        call.send_signal(number)
        call.communicate(timeout=60)
        assert call.returncode == (-9 if number == signal.SIGKILL else 143), "as the command itself does"
        eventually(lambda hook=hook: not lives(hook), "the hook outlived its caller")  # type: ignore[misc]


def test_stdin_that_nobody_closes_is_left_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has a watchdog that answers in time; a server has none for input that never arrives. No input that
    was already read is lost."""
    monkeypatch.setattr(client, "STDIN_S", 0.0)
    before, (end, start) = os.dup(0), os.pipe()
    try:
        os.dup2(end, 0)
        os.close(end)
        os.write(start, b"half")
        assert client._keep_stdin() is False
        os.write(start, b" and half")
        os.close(start)
        with open(0, "rb", closefd=False) as stdin:
            assert stdin.read() == b"half and half"
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize("size", [0, 1, 40, len(PAYLOAD)])
def test_what_the_launcher_has_read_of_stdin_comes_first(door: Door, noted: World, size: int) -> None:
    kept = os.memfd_create("kept", 0)
    os.write(kept, PAYLOAD[:size])  # its position is the end, as the launcher may leave it
    script = str(door.launcher.with_name("anyhook-python"))
    args = [script, f"--rest={kept}", "bridge", "claude", "PreToolUse"]
    done = door.call(args=args, pass_fds=[kept], stdin=PAYLOAD[size:])
    os.close(kept)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(from_server(noted)) == 1


def test_a_payload_that_takes_long_to_arrive_is_whole_and_not_served(door: Door, noted: World) -> None:
    server = door.start()
    with door.popen("bridge", "claude", "PreToolUse") as call:
        assert call.stdin is not None
        call.stdin.write(PAYLOAD[:40])
        call.stdin.flush()
        children = Path(f"/proc/{call.pid}/task/{call.pid}/children")
        eventually(lambda: bool(children.read_text()), "the launcher waits for ever")
        out, _ = call.communicate(PAYLOAD[40:], timeout=60)
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(from_server(noted)) == 1
    assert server not in from_server(noted)


def test_two_entries_of_one_agent_run_hooks_once(door: Door, world: World) -> None:
    """One entry gets its answer before the answer is stored for the other entry, which waits for it."""
    world.hook("kodik", "PreToolUse", f"cat > /dev/null; echo ran >> {world.root}/ran; exit 2")
    door.start()
    words = ("bridge", "claude", "PreToolUse")
    first = door.call(*words, stdin=PAYLOAD % 1)
    assert b'"deny"' in first.stdout
    assert door.call(*words, stdin=PAYLOAD % 1).stdout == first.stdout
    with door.popen(*words) as one, door.popen(*words) as other:
        answers = [each.communicate(PAYLOAD % 2)[0] for each in (one, other)]
    assert answers == [first.stdout] * 2
    assert (world.root / "ran").read_text() == "ran\n" * 2
