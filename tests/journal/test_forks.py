"""A host that forks: each event is recorded once, by the process that fired it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import World

FORKS = """\
import os, sys, threading
from anyhook import Engine, Event
engine = Engine.open(sys.argv[1])
for number in range(3):
    engine.fire_sync(Event("pre_tool", {"tool": f"parent {number}", "input": {}}))
if sys.argv[2] == "locked":
    engine._context.recorder.flush()
    engine.fire_sync(Event("pre_tool", {"tool": "parent 3", "input": {}}))
    engine._context.recorder._flushing.acquire()
child = os.fork()
if child == 0:
    if sys.argv[2] != "silent":
        engine.fire_sync(Event("pre_tool", {"tool": "child", "input": {}}))
    if sys.argv[2] == "closed":
        engine.close()
    sys.exit()
if sys.argv[2] == "locked":
    engine._context.recorder._flushing.release()
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("how", ["silent", "fires", "closed", "locked"])
def test_every_event_is_recorded_once(how: str, world: World) -> None:
    words = [sys.executable, "-c", FORKS, str(world.project), how]
    subprocess.run(words, env=world.env, check=True, timeout=60)
    tools = sorted(record["data"]["tool"] for record in world.journal())
    parents = ["parent 0", "parent 1", "parent 2", *(["parent 3"] if how == "locked" else [])]
    assert tools == [*([] if how == "silent" else ["child"]), *parents]
    assert json.loads(world.command("verify", "--json").stdout)
