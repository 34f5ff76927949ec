"""Background hooks: started and not waited for. A long-running program watches them from a thread; the one-shot command
leaves them to a separate process, which enforces the limit and records their results."""

from __future__ import annotations

import marshal
import os
import sys
import time
from typing import TYPE_CHECKING

from anyhook.journal.journal import Journal
from anyhook.journal.record import JournalPolicy, clean, run_fields, secrets_of
from anyhook.model.call import Call, Run
from anyhook.model.json_types import Json
from anyhook.platform.launched import own_python
from anyhook.platform.other_programs import outlive
from anyhook.platform.run import adopt_orphans, run, start
from anyhook.platform.spawn import here
from anyhook.platform.watcher import Watched

if TYPE_CHECKING:
    from anyhook.handlers import Waitable


def line_of(hook: str, call: Call, run: Run, bodies: str) -> bytes:
    """The journal line of a background run."""
    made: dict[str, Json] = {"v": 1, "at": time.time_ns(), "background": hook, "argv": [*call.argv], "cwd": call.cwd}
    if call.trace:
        made["trace"] = call.trace
    policy = JournalPolicy(secrets_of(call.env), bodies)
    made["run"] = run_fields(run, policy)
    return clean(made, policy).encode() + b"\n"


def watch(hook: str, call: Call, journal: Journal | None, bodies: str) -> Waitable | None:
    """Start it here, and let a thread wait for it."""
    started = start(call)
    if isinstance(started, Run):
        if journal is not None:
            journal.put(line_of(hook, call, started, bodies))
        return None

    def write(run: Run) -> None:
        if journal is not None:
            journal.put(line_of(hook, call, run, bodies))

    return Watched(started, write)


def hand_over(hook: str, call: Call, own_dir: str, bodies: str) -> None:
    """Give it to a process that outlives us. The payload goes through a pipe, so nothing is left on disk."""
    here.begin()
    task = marshal.dumps((hook, own_dir, bodies, tuple(getattr(call, field) for field in call.fields)))
    child = outlive((*own_python(), "-m", "anyhook.handlers.background"), cwd="/", is_told=True)
    assert child.stdin is not None  # noqa: S101 (asked for above)
    try:
        child.stdin.write(task)
        child.stdin.close()
    except BrokenPipeError:
        pass


def main() -> None:
    """The process that runs one background hook."""
    hook, own_dir, bodies, values = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 (from the process that started us)
    call = Call(*values)
    adopt_orphans()
    Journal(own_dir).put(line_of(hook, call, run(call), bodies))
    os._exit(0)


if __name__ == "__main__":
    main()
