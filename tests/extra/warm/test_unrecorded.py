"""Events that the launcher answered alone are in the journal, or known to be missing."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from typing import TYPE_CHECKING

from anyhook.extra.warm.notes import IDLE_MS
from anyhook.extra.warm.place import unrecorded
from warm_box import eventually, settle

if TYPE_CHECKING:
    from warm_box import Door

CALL = ("bridge", "claude", "PostToolUse")
SENT = json.dumps({"session_id": "s", "tool_name": "Bash"}).encode()


def quiet(door: Door) -> int:
    """A server, and a table with which the launcher answers alone."""
    settle(door.world)
    server = door.start()

    def is_counted() -> bool:
        before = counted(door)
        door.call(*CALL, stdin=SENT)
        return counted(door) > before

    eventually(is_counted, "the launcher never answers alone")
    eventually(lambda: unrecorded(door.env) == 0, "notes are not written")
    return server


def counted(door: Door) -> int:
    folder = f"{door.runtime}/anyhook"
    return sum(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith(".sent"))


def test_what_is_recorded_is_not_missing(door: Door) -> None:
    quiet(door)
    before = len(door.world.journal())
    for _ in range(5):
        door.call(*CALL, stdin=SENT)
    eventually(lambda: len(door.world.journal()) == before + 5, "events are not recorded")
    eventually(lambda: unrecorded(door.env) == 0, "recorded events count as missing")
    assert "not in the journal" not in door.cold("verify").stderr.decode()


def test_what_a_killed_server_has_lost_is_said(door: Door) -> None:
    server = quiet(door)
    before = len(door.world.journal())
    time.sleep(IDLE_MS / 1000 + 0.5)  # until the process that writes them has ended
    os.kill(server, signal.SIGSTOP)
    for _ in range(5):
        assert door.call(*CALL, stdin=SENT).returncode == 0
    os.kill(server, signal.SIGKILL)
    time.sleep(0.2)
    lost = 5 - (len(door.world.journal()) - before)
    assert lost > 0
    assert unrecorded(door.env) == lost
    assert f"{lost} event(s)" in door.cold("verify").stderr.decode()
    assert json.loads(door.cold("verify", "--json").stdout)["unrecorded"] == lost
    door.start()  # the next server does not forget them
    assert unrecorded(door.env) >= lost


def test_with_a_limit_on_files_the_call_is_answered(door: Door) -> None:
    """A tool call can set the limit for the agent, and with it for every later call."""
    quiet(door)
    cold = door.cold(*CALL, stdin=SENT)
    limited = door.call(*CALL, stdin=SENT, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert (limited.returncode, limited.stdout) == (cold.returncode, cold.stdout)
