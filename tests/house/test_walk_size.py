"""How long the walk of one event is: functions and files of the package that a call passes, which needs no clock.

Counted is every `def` of `src/anyhook` that is entered at least once between the first line of `main` and the exit
status, by `sys.setprofile`: nested functions and methods count, module bodies and comprehensions do not. The call is
made twice in one process, and the second is counted, so that the plan is kept and every module is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import anyhook
from anyhook.state.plans import read_plan

if TYPE_CHECKING:
    from conftest import World

MAX_SIZES = {"fire": (120, 26), "bridge": (163, 33)}
"""Functions and files. These may only become smaller."""
WORDS = {
    "fire": ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json"),
    "bridge": ("bridge", "claude", "PreToolUse"),
}
PAYLOAD = '{"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
PROBE = """
import io, json, os, sys
source, report, *words = sys.argv[1:]
sys.path.insert(0, source)
package = os.path.join(source, "anyhook") + os.sep
given = sys.stdin.buffer.read()
passed = set()

class Left(BaseException):
    pass

def leave(status):
    sys.setprofile(None)
    raise Left

def count(frame, kind, _):
    code = frame.f_code
    if kind == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
        passed.add((code.co_filename[len(package):], code.co_qualname, code.co_firstlineno))

class Input:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)

exit, os._exit = os._exit, leave
from anyhook.entry import main
for turn in (0, 1):
    sys.argv = ["anyhook", *words]
    sys.stdin = Input(given.replace(b"SESSION", b"s%d-%d" % (turn, os.getpid())))
    if turn:
        sys.setprofile(count)
    try:
        main()
    except Left:
        pass
with open(report, "w") as file:
    json.dump(sorted(passed), file)
exit(0)
"""


@pytest.mark.parametrize("verb", WORDS)
def test_functions_and_files_that_one_event_passes(world: World, verb: str) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    report = world.root / "passed.json"
    source = str(Path(anyhook.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", PROBE, source, str(report), *WORDS[verb]]
    for _ in range(100):  # a plan is kept once the files are a moment old
        subprocess.run(command, input=PAYLOAD, env=world.env, cwd=world.project, text=True, check=True)
        if read_plan(world.setup()) is not None:
            break
    sizes: list[tuple[int, int]] = []
    for _ in range(3):  # a busy machine makes a call wait in more ways; the shortest way is the one that is counted
        subprocess.run(command, input=PAYLOAD, env=world.env, cwd=world.project, text=True, check=True)
        passed = [tuple(row) for row in json.loads(report.read_text())]
        assert ("walk/walk.py", "Walk.run") in {row[:2] for row in passed}, "the hook ran"
        assert ("walk/build.py", "build") not in {row[:2] for row in passed}, "out of its plan"
        sizes.append((len(passed), len({row[0] for row in passed})))
    assert min(functions for functions, _ in sizes) <= MAX_SIZES[verb][0]
    assert min(files for _, files in sizes) <= MAX_SIZES[verb][1]
