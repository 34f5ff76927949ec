"""A small process that kills what the agent has started if the agent is killed or crashes. It only sleeps while the
agent runs, and does nothing if the agent ends normally.

It reads the process table only then, so hooks and commands do not pay for it. It starts before the agent gets its mark
(see `leftovers`), so it does not kill itself.
"""

from __future__ import annotations

import os
import select
import sys
from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, signal
from types import TracebackType
from typing import TYPE_CHECKING

from anyhook.platform.leftovers import end_marked, mark_this_process
from anyhook.platform.other_programs import outlive

if TYPE_CHECKING:
    from subprocess import Popen

WELL = b"."
"""The agent writes this before it exits normally."""


class Reaper:
    """Inside the `with` block: if this process is killed, so is everything that it starts. Only on Linux: other systems
    do not show where an orphan came from."""

    _process: Popen[bytes] | None = None

    def __enter__(self) -> None:
        if sys.platform != "linux":
            return
        mark = os.urandom(7).hex()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        try:
            words = (sys.executable, "-S", "-P", "-m", __name__, str(os.getpid()), mark)
            self._process = outlive(words, cwd="/", env={"PYTHONPATH": package}, is_told=True)
        except OSError:
            return  # no process can be started, so none can be left behind
        mark_this_process(mark)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            if kind is None:
                os.write(process.stdin.fileno(), WELL)
        except OSError:
            pass  # someone has killed it


def main() -> None:
    for number in (SIGHUP, SIGINT, SIGTERM):  # a signal to every process of this user also reaches the agent
        signal(number, SIG_IGN)
    agent, mark = int(sys.argv[1]), sys.argv[2]
    _wait_for_end_of(agent)
    if not _has_ended_well():
        end_marked(mark)
    os._exit(0)


def _wait_for_end_of(agent: int) -> None:
    poll = select.poll()
    try:
        poll.register(os.pidfd_open(agent), select.POLLIN)
    except OSError:  # an old kernel, or a sandbox that forbids it: the end of the pipe must be enough
        poll.register(0, select.POLLIN)
    if os.getppid() == agent:  # or it ended before we could watch it
        poll.poll()


def _has_ended_well() -> bool:
    os.set_blocking(0, False)
    try:
        return os.read(0, 1) == WELL
    except BlockingIOError:
        return False


if __name__ == "__main__":
    main()
