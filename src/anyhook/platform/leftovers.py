"""Find the processes that a host's hooks and commands left running, by the marks they inherit, and kill them.

There are two marks. An environment variable names the session whose command it was. A harmless resource limit names the
process that started it. Everything that a hook or a command starts inherits the limit, even a process that has left its
group, its session, its parents, its streams and its environment. Hooks whose dialect allows no extra variables inherit
it too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from anyhook.platform.spawn import OwnMark
from anyhook.platform.tree import Tree, process_ids

VARIABLE = "ANYHOOK_AGENT"
"""Not the variable that marks hook runs: an event fired by one of the agent's commands is an ordinary event."""
HUGE_US = 1 << 60
"""The limit is how long a process with real-time priority may run without a pause, in microseconds. This is more than
30,000 years."""


def mark_of(name: str) -> str:
    return f"{VARIABLE}={name}"


def mark_this_process(mark: str) -> None:
    """From now on every process started here inherits the mark (hexadecimal digits)."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_RTTIME)
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (_limit(mark), limits[1]))
    except (OSError, ValueError):
        return  # the system's own limit is lower, so only the variable marks them
    OwnMark.mark = mark


def end_marked(mark: str) -> None:
    """Kill every process started by the one with this mark, and everything that these started."""
    Tree(0, "", limit=_limit(mark)).end()


def end_leftovers(name: str) -> None:
    """Kill what this session's commands left running, and everything else this process started."""
    Tree(0, mark_of(name), limit=_limit(OwnMark.mark) if OwnMark.mark else 0).end()


def now_s() -> float:
    """The time on the clock that `end_commands` uses."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def end_commands(name: str, since_s: float) -> None:
    """Kill what this session's commands have started since then, but not older processes or hooks."""
    Tree(0, mark_of(name), since=int(since_s * os.sysconf("SC_CLK_TCK"))).end()


def _limit(mark: str) -> int:
    return HUGE_US + int(mark, 16)


STARTING_LOOKS = 20
"""A process that is just starting has no variables yet, so it is checked again."""


def end_all_in(root: str, before: frozenset[int] = frozenset()) -> None:
    """Kills what was left running in a folder, recognised by the folder in its environment or as its cwd.
    Processes that ran `before` are ignored."""
    for _ in range(3):
        leftovers = [pid for pid in process_ids() if pid not in before and _lives_in(pid, root)]
        if not leftovers:
            return
        for pid in leftovers:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _lives_in(pid: int, root: str) -> bool:
    if pid == os.getpid():
        return False
    try:
        if f"{root}/" in os.readlink(f"/proc/{pid}/cwd"):
            return True
        for _ in range(STARTING_LOOKS):
            with open(f"/proc/{pid}/environ", "rb", 0) as environment:
                variables = environment.read()
            if variables:
                return root.encode() in variables
            os.readlink(f"/proc/{pid}/exe")  # an OSError for a kernel thread, and for a process that has ended
            time.sleep(0.001)
    except OSError:
        pass
    return False
