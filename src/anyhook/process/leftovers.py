"""What a host's own processes have left running: found by the marks that they inherit, and ended. It looks for nothing
else.

There are two marks. A variable in the environment names the session whose command it was. A resource limit that limits
nothing names the process that started it, and is inherited by whatever a hook or a command starts, even by what has
left its group, its session, its parents, its streams and its environment, and by hooks whose dialect lists every
variable that they get.
"""

from __future__ import annotations

import os
import time

from anyhook.process.tree import Tree

VARIABLE = "ANYHOOK_AGENT"
"""Not the variable of hooks' runs: an event that a command of the agent fires is one like any other."""
HUGE_US = 1 << 60
"""The limit is on how long a process with real-time priority may run without a pause, in microseconds: from here on
more than 30,000 years."""


class OwnMark:
    """The mark of this process; "" where it has none."""

    mark = ""


def mark_of(name: str) -> str:
    return f"{VARIABLE}={name}"


def mark_this_process(mark: str) -> None:
    """From now on every process that is started here carries the mark, some hexadecimal digits."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_RTTIME)
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (_limit(mark), limits[1]))
    except (OSError, ValueError):
        return  # the system's own bound is lower: then the variable alone has to do
    OwnMark.mark = mark


def unmark(pid: int) -> None:
    """This child has work of its own, which goes on when this process ends, in whatever way."""
    if not OwnMark.mark:
        return
    import resource

    try:
        hard = resource.prlimit(pid, resource.RLIMIT_RTTIME)[1]
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (hard, hard))
    except (OSError, ValueError):
        return  # it is over already


def end_marked(mark: str) -> None:
    """End every process that was started by the one with this mark, and what these have started."""
    Tree(0, "", limit=_limit(mark)).end()


def end_leftovers(name: str) -> None:
    """End what this session's commands have left running, and whatever else this process has started."""
    Tree(0, mark_of(name), limit=_limit(OwnMark.mark) if OwnMark.mark else 0).end()


def now_s() -> float:
    """By the clock of `end_commands`."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def end_commands(name: str, since_s: float) -> None:
    """End what this session's commands have started since then; older ones and hooks are left alone."""
    Tree(0, mark_of(name), since=int(since_s * os.sysconf("SC_CLK_TCK"))).end()


def _limit(mark: str) -> int:
    return HUGE_US + int(mark, 16)
