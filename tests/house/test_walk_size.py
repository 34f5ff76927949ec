"""The size of the walk of one event: the functions and files of the package that a call enters. No timing needed.

With `sys.setprofile`, the test counts every `def` in `src/anyhook` that is entered at least once between the first line
of `main` and the exit status. Nested functions and methods count; module bodies and comprehensions do not. The call is
made twice in one process and the second one is counted, so that the plan is stored and every module is loaded. The
table in `docs/house.md` lists them; a failure shows the correct table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyhook
from anyhook.state.plans import read_plan

if TYPE_CHECKING:
    from conftest import World

MAX_SIZES = {"fire": (100, 25), "bridge": (130, 30)}
"""Functions and files. These may only become smaller."""
HOUSE = Path(__file__).parents[2] / "docs" / "house.md"
WAITING = "process/child.py"
"""Which functions of this file a call enters depends on how busy the machine is, so its row of the table is not
compared."""
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


def passed(world: World, verb: str) -> set[tuple[str, str]]:
    """(file, function) pairs of the call that entered the fewest, out of a few calls."""
    report = world.root / "passed.json"
    source = str(Path(anyhook.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", PROBE, source, str(report), *WORDS[verb]]
    for _ in range(100):  # a plan is stored once the files are old enough
        subprocess.run(command, input=PAYLOAD, env=world.env, cwd=world.project, text=True, check=True)
        if read_plan(world.setup()) is not None:
            break
    found: list[set[tuple[str, str]]] = []
    for _ in range(3):
        subprocess.run(command, input=PAYLOAD, env=world.env, cwd=world.project, text=True, check=True)
        rows = json.loads(report.read_text())
        names = {(file, name) for file, name, _ in rows}
        assert len(names) == len(rows), "no two functions of one name in a file"
        assert ("walk/walk.py", "Walk.run") in names, "the hook ran"
        assert ("walk/build.py", "build") not in names, "out of its plan"
        found.append(names)
    return min(found, key=len)


def table(fire: set[tuple[str, str]], bridge: set[tuple[str, str]]) -> str:
    """The table of `docs/house.md`: functions by file."""
    rows = ["| file | `fire` and `bridge` | only `fire` | only `bridge` |", "| --- | --- | --- | --- |"]
    for file in sorted({file for file, _ in fire | bridge}):
        cells = [
            ", ".join(f"`{name.replace('.<locals>', '')}`" for place, name in sorted(found) if place == file)
            for found in (fire & bridge, fire - bridge, bridge - fire)
        ]
        rows.append(f"| `{file}` | {' | '.join(cells)} |".replace("  ", " "))
    return "\n".join(rows)


def test_functions_and_files_that_one_event_passes(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    found = {verb: passed(world, verb) for verb in WORDS}
    for verb, (functions, files) in MAX_SIZES.items():
        assert len(found[verb]) <= functions
        assert len({file for file, _ in found[verb]}) <= files
    text, made = HOUSE.read_text(), table(found["fire"], found["bridge"])
    apart = [line for line in made.splitlines() if WAITING not in line]
    assert [line for line in apart if line not in text] == [], f"docs/house.md should have\n{made}"
    start = text.index(apart[0])
    listed = text[start : text.index("\n\n", start)].splitlines()
    assert [line for line in listed if WAITING not in line] == apart, f"docs/house.md should have\n{made}"
