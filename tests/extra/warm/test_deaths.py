"""Whichever process dies, a call is answered, and no hook runs twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.extra.warm.messages import ACCEPTED, ENDED, NUMBER, ON_DUTY, READY, receive_request, receive_streams
from warm_box import LIMIT_S, PARENT, eventually, interpreters_of, lives, servers_of, socket_of

if TYPE_CHECKING:
    from conftest import World
    from warm_box import Door

PRE_TOOL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
BRIDGE = ("bridge", "claude", "PreToolUse")
UNHOOKED = ("bridge", "claude", "PostToolUse")
FAULTS = int(os.environ.get("FAULT_CALLS", "400"))
"""The minimum number of calls in a fault run. It continues until enough processes were killed."""


def payload(number: int) -> bytes:
    sent = {
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": f"ls {number}"},
        "tool_use_id": f"t{number}",
    }
    return json.dumps(sent).encode()


def test_a_worker_that_dies_beside_its_hook_is_answered_by_the_posture(door: Door, world: World) -> None:
    ran = world.root / "ran"
    world.hook("kodik", "PreToolUse", f"echo x >> {ran}; kill -9 $PPID; sleep 0.1")
    door.start()
    done = door.call(*BRIDGE, "--on-failure", "deny", stdin=payload(1))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert b"killed" in done.stdout
    done = door.call(*BRIDGE, "--on-failure", "allow", stdin=payload(2))
    assert done.returncode == 0
    assert b"deny" not in done.stdout
    assert b"killed" in done.stdout + done.stderr
    done = door.call(*PRE_TOOL)
    assert done.returncode == 1, "as whenever the command itself fails"
    assert b"killed" in done.stderr
    assert ran.read_text() == "x\n" * 3, "a hook ran twice"
    told = [record for record in world.journal() if "killed" in json.dumps(record)]
    assert len(told) == 2, "the journal says what happened"


def test_a_server_that_dies_before_it_accepts_leaves_the_call_to_the_caller(door: Door, world: World) -> None:
    parents = world.root / "parents"
    world.hook("kodik", "PreToolUse", f"{PARENT} >> {parents}; exit 2")
    server = door.start()
    os.kill(server, signal.SIGSTOP)
    eventually(lambda: Path(f"/proc/{server}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"T", "it goes on")
    everyone = servers_of(door.runtime)  # no new process is added now
    for pid in everyone:
        os.kill(pid, signal.SIGSTOP)
    with door.popen(*BRIDGE) as call:
        assert call.stdin is not None
        call.stdin.write(payload(1))
        call.stdin.close()
        call.stdin = None
        time.sleep(0.05)
        for pid in everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        out, _ = call.communicate(timeout=LIMIT_S)
    assert b'"deny"' in out, "stdin was read twice"
    assert str(server) not in parents.read_text().split()
    assert len(parents.read_text().split()) == 1


def test_a_call_outlives_its_server(door: Door, world: World) -> None:
    world.hook("kodik", "PreToolUse", f"echo > {world.root}/begun; while [ ! -e {world.root}/go ]; do :; done; exit 2")
    server = door.start()
    with door.popen(*PRE_TOOL) as call:
        eventually((world.root / "begun").exists, "the hook never ran")
        os.kill(server, signal.SIGKILL)
        eventually(lambda: not lives(server), "it lives")
        (world.root / "go").touch()
        call.communicate(timeout=LIMIT_S)
    assert call.returncode == 2
    eventually(lambda: servers_of(door.runtime) == set(), "workers outlived their server")
    assert door.state()["running"] is False
    assert door.call(*PRE_TOOL).returncode == 2, "a socket is left, and nobody listens"
    eventually(lambda: bool(door.state()["running"]), "that call started no server")


def fake_server(door: Door) -> socket.socket:
    """A socket at the server's path. The test acts as the worker."""
    Path(door.runtime, "anyhook").mkdir(mode=0o700)
    server = socket.socket(socket.AF_UNIX)
    server.bind(socket_of(door.launcher, door.env))
    server.listen()
    return server


@pytest.mark.parametrize("warm", ["auto", "on"])
def test_a_worker_that_is_gone_before_its_caller_reads_on_has_served_the_call(
    door: Door, world: World, warm: str
) -> None:
    """On a busy machine a worker can answer, exit and be reaped before its caller reads that it accepted the call. A
    process that has ended stands in for it here. With "on" and no launcher, the caller is the Python client."""
    ran = world.root / "ran"
    world.hook("kodik", "PreToolUse", f"echo x >> {ran}; exit 2")
    gone = subprocess.Popen(["true"])
    gone.wait()
    with fake_server(door) as server:
        script = {"auto": door.launcher, "on": door.launcher.with_name("anyhook-python")}[warm]
        with door.popen(args=[str(script), *PRE_TOOL], env={"ANYHOOK_WARM": warm}, start_new_session=True) as call:
            connection, _ = server.accept()
            with connection:
                receive_request(connection)
                connection.sendall(READY)
                for descriptor in receive_streams(connection):
                    os.close(descriptor)
                connection.sendall(ACCEPTED + NUMBER.pack(gone.pid) + ON_DUTY + ENDED + NUMBER.pack(42))
                call.communicate(timeout=LIMIT_S)
    assert call.returncode == 42
    assert not ran.exists(), "the call was made a second time"


IMPATIENT = """
import sys
from anyhook import entry
from anyhook.extra.warm import client
client.ACCEPT_S = 0.2
sys.argv[0] = {launcher!r}
entry.main()
"""


@pytest.mark.parametrize("warm", ["auto", "on"])
def test_a_call_is_made_without_a_server_that_hangs_and_its_streams_are_closed(
    door: Door, world: World, warm: str
) -> None:
    """`call` waits until stdout is closed, as agents do."""
    ran = world.root / "ran"
    world.hook("kodik", "PreToolUse", f"echo x >> {ran}; exit 2")
    impatient = [sys.executable, "-c", IMPATIENT.format(launcher=str(door.launcher))]
    command = {"auto": [str(door.launcher)], "on": impatient}[warm]
    with fake_server(door):
        done = door.call(args=[*command, *PRE_TOOL], env={"ANYHOOK_WARM": warm}, start_new_session=True)
    assert done.returncode == 2, done.stderr
    assert ran.read_text() == "x\n"


SHELL = "sent=$(cat); printf '%s\\n' \"$sent\" >> {ran}; exit 2"
SCRIPT = """
import json, sys
sent = json.load(sys.stdin)
with open({ran!r}, "a") as file:
    file.write(json.dumps(sent) + "\\n")
sys.exit(2)
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["shell", "Python"])
def test_every_call_is_answered_whoever_is_killed(door: Door, world: World, kind: str) -> None:
    """A fault run: while calls are made, a random process is killed at a random time: the server, a worker, the
    interpreter of a Python hook, one of its run processes, or the launcher. Every other call is for an
    event without hooks."""
    ran = world.root / "ran"
    if kind == "shell":
        world.hook("kodik", "PreToolUse", SHELL.format(ran=ran))
    else:
        script = world.write(world.home / "hook.py", SCRIPT.format(ran=str(ran)))
        world.hook("kodik", "PreToolUse", f"{sys.executable} {script}")
    chance, stop = random.Random(16), threading.Event()
    deaths = {"server": 0, "interpreter": 0}

    def kill() -> None:
        while not stop.wait(chance.uniform(0.02, 0.5)):
            found = {"server": sorted(servers_of(door.runtime)), "interpreter": sorted(interpreters_of(door.runtime))}
            who = chance.choice(["server", "interpreter"] if found["interpreter"] else ["server"])
            if len(found["server"]) > 1:  # a server that is starting may be about to serve
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(found[who]), signal.SIGKILL)
                    deaths[who] += 1
            folder = Path(door.runtime, "anyhook")
            for lock in (*folder.glob("*.lock"), *folder.glob("python/*.lock")):
                with contextlib.suppress(OSError):
                    os.utime(lock, (0, 0))  # as if a minute had passed, so that the next one is started

    def is_enough(number: int) -> bool:
        kinds = ("server",) if kind == "shell" else ("server", "interpreter")
        return number >= FAULTS and all(deaths[each] > FAULTS // 50 for each in kinds)

    killer = threading.Thread(target=kill)
    killer.start()
    made = lost = killed = 0
    try:
        for number in takewhile(lambda number: not is_enough(number), count()):
            made = number + 1
            words, wanted = (UNHOOKED, b"") if number % 2 else ((*BRIDGE, "--on-failure", "deny"), b'"deny"')
            with door.popen(*words) as call:
                gone = chance.random() < 0.1
                if gone:
                    threading.Timer(chance.uniform(0, 0.05), call.kill).start()
                with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                    out, err = call.communicate(payload(number), timeout=LIMIT_S)
            if call.returncode == -signal.SIGKILL and gone:
                killed += 1
                continue
            assert call.returncode == 0, (number, err)
            assert wanted in out, (number, out, err)
            assert number % 2 == 0 or not out, (number, out)
            lost += b"killed" in out
    finally:
        stop.set()
        killer.join()
    calls = [json.loads(line)["tool_input"]["command"] for line in ran.read_text().splitlines() if line]
    assert len(calls) == len(set(calls)), "a hook ran twice"
    assert len(calls) > made // 2 - killed - lost - made // 20

    def is_over() -> bool:
        door.call("warm", "--stop")  # a server that was starting may be up by now
        return not servers_of(door.runtime)

    eventually(is_over, "a process is left")
    eventually(lambda: interpreters_of(door.runtime) == set(), "an interpreter is left")
    assert world.command("verify").returncode == 0, "the journal's chain is broken"
