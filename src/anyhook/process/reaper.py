"""A small process beside the agent that ends what the agent has started, should the agent die without a word. It does
nothing while the agent lives, and nothing where it ended well.

It looks at the system's list of processes only then, so that no hook and no command costs anything. It is distinguished
from what it ends by the mark of `leftovers`, which it was started too early to have.
"""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

from anyhook.process.leftovers import end_marked, mark_this_process

if TYPE_CHECKING:
    from subprocess import Popen
    from types import TracebackType

WELL = b"."
"""What the agent says before it ends well."""


class Reaper:
    """From `with` until its end, whatever this process starts ends when this process is killed. On Linux only:
    elsewhere nothing tells an orphan's origin."""

    _process: Popen[bytes] | None = None

    def __enter__(self) -> None:
        if sys.platform != "linux":
            return
        import subprocess

        mark = os.urandom(7).hex()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-P", "-m", __name__, str(os.getpid()), mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PYTHONPATH": package},
                start_new_session=True,  # what is sent to the agent's terminal or group is not for it
            )
        except OSError:
            return  # no process can be started: then none will be left either
        mark_this_process(mark)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        process.returncode = 0  # it ends after us; without this, Popen complains when it is collected
        try:
            if kind is None:
                os.write(process.stdin.fileno(), WELL)
        except OSError:
            pass  # somebody has ended it


def main() -> None:
    from _signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, signal  # type: ignore[import-not-found]

    for number in (SIGHUP, SIGINT, SIGTERM):  # whoever ends every process of this user ends the agent as well
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
    except OSError:  # an old kernel, or a sandbox that forbids it: then the end of the pipe has to do
        poll.register(0, select.POLLIN)
    if os.getppid() == agent:  # or it was over before it could be watched
        poll.poll()


def _has_ended_well() -> bool:
    os.set_blocking(0, False)
    try:
        return os.read(0, 1) == WELL
    except BlockingIOError:
        return False


if __name__ == "__main__":
    main()
