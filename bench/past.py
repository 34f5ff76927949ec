"""Makes a journal of any length out of lines that a real engine wrote about real hooks. Times, sessions, commands and
durations differ from record to record; the real writer makes the chain."""

from __future__ import annotations

import json
import os
import random
import re
from typing import TYPE_CHECKING

from anyhook import Event
from anyhook.journal.files import number_of, open_all
from anyhook.journal.writer import Bounds, JournalWriter, full_paths, lines_backwards

if TYPE_CHECKING:
    from pathlib import Path

    from bench.promises import Place

MARK = "what-it-is-about"
SESSION = "whose-session"
GUARD = """import json, sys
command = json.load(sys.stdin)["tool_input"]["command"]
if "rm -rf" in command:
    print(f"not this: {command}", file=sys.stderr)
    sys.exit(2)
if command.startswith("pip install"):
    print(json.dumps({"modified_input": {"command": command.replace("pip", "uv pip")}}))
"""
WORDS = (
    "src", "tests", "docs", "build", "parser", "lexer", "server", "client", "index", "journal", "hooks", "model", "api",
    "cache", "queue", "worker",
)  # fmt: skip
SPAN_DAYS = 30
BATCH = 500
"""Records in one write; the chain is the same as with one."""
KEEP = Bounds(keep_days=3_650, keep_mb=64_000)
DEALT = ("ls", "ls", "ls", "ls", "rm", "pip", "edited", "edited", "prompt", "stop")
"""How often each kind of event occurs, out of ten."""


def hooks(place: Place) -> None:
    """Hooks of three dialects, in the user's own places."""
    place.write("guard.py", GUARD)
    entry = {"type": "command", "command": f"python3 {place.home}/guard.py"}
    declared = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}
    place.write("Documents/Kodik/Hooks/hooks.json", json.dumps(declared))
    place.write(".config/kode/config.yaml", "hooks:\n  tool_call_post:\n    - exec: /bin/true\n")
    front = "---\nname: note\ndescription: Says what day it is.\ntrigger: before_agent\n---\n"
    place.write(".config/agents/hooks/note/HOOK.md", front)
    place.write(".config/agents/hooks/note/scripts/run", "#!/bin/sh\necho 'Today is a good day.'\n", 0o755)


def templates(place: Place) -> dict[str, bytes]:
    """One line of each kind, as an engine wrote it, with placeholders where records differ."""
    events = {
        "ls": Event.pre_tool("Bash", {"command": f"ls {MARK}"}),
        "rm": Event.pre_tool("Bash", {"command": f"rm -rf {MARK}"}),
        "pip": Event.pre_tool("Bash", {"command": f"pip install {MARK}"}),
        "edited": Event.of("post_tool", tool="Edit", input={"path": MARK}, output="done"),
        "prompt": Event.of("turn_start", prompt=f"Have a look at {MARK}, please."),
        "stop": Event.stop(),
    }
    engine = place.engine()
    for event in events.values():
        decision = engine.fire_sync(event.replace(data={**event.data, "session": SESSION}))
        if decision.problems:
            raise SystemExit(f"bench: a hook did not run as it should: {decision}")
    engine.close_sync()
    ((_, file),) = open_all(str(state_of(place)))
    with file:
        lines = dict(zip(events, file, strict=True))
    return {kind: _template(line) for kind, line in lines.items()}


def state_of(place: Place) -> Path:
    return place.home / ".local/state/anyhook"


def _template(line: bytes) -> bytes:
    unsealed = re.sub(rb', "n": \d+, "hash": "[0-9a-f]{64}"}\n$', b"}\n", line).replace(b"%", b"%%")
    for pattern, blank in (
        (rb'"at": \d+', b'"at": %(at)d'),
        (rb'"started_ns": \d+', b'"started_ns": %(at)d'),
        (rb'"duration_s": [\d.e-]+', b'"duration_s": %(took).6f'),
        (SESSION.encode(), b"%(session)b"),
        (MARK.encode(), b"%(mark)b"),
    ):
        unsealed = re.sub(pattern, blank, unsealed)
    return unsealed


def write(place: Place, count: int, now_ns: int, distinct: int = 0) -> None:
    """Write `count` records over the last thirty days, with at most `distinct` different commands, if given."""
    kinds = templates(place)
    (state_of(place) / "journal.jsonl").unlink()
    write_of(kinds, str(state_of(place)), count, now_ns, distinct)


def write_of(kinds: dict[str, bytes], folder: str, count: int, now_ns: int, distinct: int = 0) -> None:
    """The same into any folder, from these lines."""
    deal = random.Random(count)
    writer = JournalWriter(folder, KEEP)
    step = SPAN_DAYS * 86_400 * 1_000_000_000 // count
    for start in range(0, count, BATCH):
        lines: list[bytes] = []
        for number in range(start, min(start + BATCH, count)):
            which = number % distinct if distinct else number
            mark = f"{WORDS[which % 16]}/{WORDS[which // 16 % 16]}-{which}"
            blanks: dict[bytes, object] = {
                b"at": now_ns - (count - number) * step,
                b"session": b"session-%d" % (number // 200),
                b"took": deal.lognormvariate(-4.5, 0.6),
                b"mark": mark.encode(),
            }
            lines.append(kinds[DEALT[int(deal.random() * len(DEALT))]] % blanks)
        writer.append(lines)
    writer.close()
    for path in full_paths(folder):  # a full file's time is that of its last record
        with open(path, "rb") as file:
            at = number_of(next(lines_backwards(file)), b"at") or now_ns
        os.utime(path, ns=(at, at))
