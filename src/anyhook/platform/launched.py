"""How our own processes start. An agent's call is started by the native launcher, which waits for the answer
(`native/python.c`): it hides our stderr until the answer is known, and answers itself if there is none. A traceback
does not answer an agent, and neither does what another package prints while Python starts."""

from __future__ import annotations

import os
import sys
from time import monotonic

NO_ANSWER = 70
"""The exit status that says so; no agent's answer has it."""
MARK = "--ready="
"""The launcher's word, with the numbers of the real stderr and stdout. Until the answer is known, both are a file in
memory."""
ANSWERED, MAX_SHOWN = 1 << 30, 8192
"""The position in that file which says that we answer, as in `native/python.c`; and how much of it is shown then."""
REST = "--rest="
"""Another word of it, with the number of a file: what it has read of stdin."""
OLDEST_S = 60.0
"""A process older than this had no slow start, but a wrong clock (a frozen container)."""


class Launcher:
    waits = False
    """Whether this process is its child, and has not answered."""
    can_answer = False
    """Whether it answers if this process cannot."""
    stderr = -1


def own_python() -> tuple[str, str]:
    """How this package starts Python for itself: isolated, so that a project's environment cannot move it. A package
    that only its user has would not be found then."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    is_users = root.endswith("/site-packages") and not root.startswith((sys.prefix, sys.base_prefix))
    return sys.executable, "-P" if is_users else "-I"


def take_mark() -> None:
    Started.is_command = True
    if sys.argv[1:2] and sys.argv[1].startswith(MARK):
        stderr, _, stdout = sys.argv.pop(1)[len(MARK) :].partition(",")
        Launcher.stderr = int(stderr)
        Launcher.waits = Launcher.can_answer = True
        if stdout and int(stdout) >= 0:
            sys.stdout.flush()
            os.dup2(int(stdout), 1)
            os.close(int(stdout))
    if sys.argv[1:2] and sys.argv[1].startswith(REST):
        kept = int(sys.argv.pop(1)[len(REST) :])
        os.set_inheritable(kept, False)
        os.lseek(kept, 0, os.SEEK_SET)
        put_before_stdin(kept)


def put_before_stdin(kept: int) -> None:
    """From here on, stdin is what was already read of it, and then what still comes."""
    import threading

    rest, (end, start) = os.dup(0), os.pipe()
    os.dup2(end, 0)
    os.close(end)
    threading.Thread(target=_pour, args=((kept, rest), start), daemon=True).start()


def _pour(sources: tuple[int, ...], to: int) -> None:
    try:
        with open(to, "wb", buffering=0) as pipe:
            for source in sources:
                while data := os.read(source, 1 << 16):
                    pipe.write(data)
    except OSError:
        pass  # nobody reads, or it cannot be read


def ready() -> None:
    """The answer is known: from here on this process has the real stderr, and the launcher only waits."""
    if not Launcher.waits:
        return
    Launcher.waits = Launcher.can_answer = False
    try:
        sys.stderr.flush()
        printed = _answered()
        if Launcher.stderr >= 0:
            os.dup2(Launcher.stderr, 2)
            os.close(Launcher.stderr)
            os.write(2, printed)
    except (OSError, ValueError, AttributeError):
        pass  # it has no stderr


def _answered() -> bytes:
    """Say so to the launcher. What was printed until now."""
    try:
        printed = os.pread(2, MAX_SHOWN, 0)
        os.lseek(2, ANSWERED, os.SEEK_SET)
    except OSError:  # a pipe: a launcher that was built before, while this package is upgraded
        printed = b""
        os.write(2, b"\0")
    return printed


class Started:
    process = "self"
    """The process whose start time counts: the caller's, in a warm worker."""
    is_command = False
    """Whether this process is our command, so that its signals are ours."""


class OutOfTimeError(BaseException):
    """No `Exception`: nobody on the way may take it for a failure of theirs and go on."""


class CpuLimit:
    """Ends what is computed inside, in our own command, once the process has used this much CPU time. Waiting does not
    count. The signals of a host that uses the library are its own, and not every system has such a timer."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s, self.runs, self.before = limit_s, False, None

    def __enter__(self) -> None:
        if not Started.is_command:
            return
        try:
            import _signal as signals  # type: ignore[import-not-found]  # `signal` is half an interpreter start

            self.before = signals.signal(signals.SIGPROF, self._end)
            self.runs = True
            signals.setitimer(signals.ITIMER_PROF, self.limit_s)
        except (ImportError, AttributeError, ValueError):  # another thread may not
            pass

    def __exit__(self, *_: object) -> None:
        if self.runs:
            import _signal as signals

            self.runs = False
            signals.setitimer(signals.ITIMER_PROF, 0)
            signals.signal(signals.SIGPROF, self.before)

    def _end(self, *_: object) -> None:
        if self.runs:
            raise OutOfTimeError


def begun_s() -> float:
    """When this process was started, on the monotonic clock; the current time if the system does not say. The agent's
    time limit already ran while Python was starting."""
    try:
        descriptor = os.open(f"/proc/{Started.process}/stat", os.O_RDONLY)
        try:
            line = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
        from time import CLOCK_BOOTTIME, clock_gettime

        started_s = int(line.rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age_s = clock_gettime(CLOCK_BOOTTIME) - started_s
    except (OSError, ValueError, IndexError, ImportError, AttributeError):
        return monotonic()
    return monotonic() - min(max(age_s, 0.0), OLDEST_S)
