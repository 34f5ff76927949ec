"""Run: starts the process of a call, waits for it, and tells how it ended. Never reads meaning into what it printed.

And what this process owes the hooks it runs: when it is told to end, they end with it; it adopts their orphans; and
what a hook in our own process prints stays out of our answer."""

from __future__ import annotations

import os
import sys

# The C module: `signal` wraps its numbers in enums, whose import costs a third of an interpreter start.
from _signal import SIG_DFL, SIG_IGN, SIGCHLD, SIGHUP, SIGINT, SIGTERM, getsignal, signal  # type: ignore[import-not-found]
from time import monotonic

from anyhook.model.call import Run
from anyhook.process.child import Child
from anyhook.process.spawn import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from anyhook.model.call import Call
    from anyhook.model.words import Ending

__all__ = ["Child", "adopt_orphans", "end_all", "leave_alone", "run", "start"]


def start(call: Call, stdin: Callable[[], bytes] | None = None) -> Child | Run:
    """Start it; a Run that says why where it cannot be started, or was ended before it was. `stdin` makes its input,
    where the call has none: that takes less time than the process takes to start."""
    child = here.warm_child(call) if call.may_be_warm and here.warm_child is not None else Child(call)
    if here.is_ours:
        here.marks.append(call.mark)
        if len(here.alive) > 1:
            for other in list(here.alive):
                other.alone = False
    program: str | None = None
    try:
        program = call.argv[0] if call.argv and "/" in call.argv[0] else _find(call)
        if program:
            child.launch(program)
        if child.pid:
            child.feed(call.stdin if stdin is None else stdin())
    except (OSError, ValueError, RuntimeError) as error:  # the last: no process may be started at interpreter exit
        if child.pid:
            child.abandon()
            return _no_run(child, "not_started", f"its input could not be made: {error}")
        return _not_started(child, program, error)
    except BaseException:
        child.abandon()
        raise
    if not child.pid:
        return _not_started(child, program, None)
    if child.ending is not None:  # by a signal handler, before the number of the new process was known
        child.end()
    return child


def run(call: Call) -> Run:
    """Start it and wait for it; whatever interrupts the waiting, no part of it stays."""
    child = start(call)
    if isinstance(child, Run):
        return child
    try:
        return child.wait() or child.conclude()
    except BaseException:
        child.end()
        child.wait()
        raise


def end_all(*, for_good: bool = False) -> None:
    """End every child of this process that is still running. What other threads start meanwhile ends as `cancelled`
    before it is started; `for_good`, for the last act of a process, whatever they start later does, too."""
    here.is_closed = True
    for _ in range(100):  # more than one round only where a thread was between two steps of a start
        left = [child for child in list(here.alive) if child.is_to_end]
        if not left:
            break
        for child in left:
            child.end()
    here.is_closed = for_good


def adopt_orphans() -> bool:
    """Make this process the parent of whatever its hooks leave behind; whether the system can.

    Only for a process of our own, in which every process is started here or named to `leave_alone`: it then ends even
    a grandchild that left group and session and emptied its environment, gives nothing it inherited to a hook, and
    starts those that run in its own directory by the cheaper `posix_spawn`, which can neither change the directory nor
    close descriptors.
    """
    if here.tell_duty is not None:
        here.tell_duty()
    here.is_ours = True
    try:
        inherited = [int(name) for name in os.listdir("/dev/fd") if name not in ("0", "1", "2")]
    except OSError:
        inherited = []
    for descriptor in inherited:  # no hook gets one that this process was started with
        try:
            os.set_inheritable(descriptor, False)
        except OSError:
            continue  # the listing's own is closed by now
    if getsignal(SIGCHLD) == SIG_IGN:  # inherited; exit statuses would be lost
        signal(SIGCHLD, SIG_DFL)
    if sys.platform != "linux":
        return False
    try:
        return prctl(36, 1) == 0  # PR_SET_CHILD_SUBREAPER
    except (ImportError, AttributeError, OSError):
        return False


def leave_alone(pid: int) -> None:
    """A child of this process that was started elsewhere and does not belong to a hook."""
    here.spared.add(pid)


def prctl(option: int, value: int) -> int:
    """By the C half of ctypes where it is as we know it, for 0.9 ms of CPU time; all of ctypes is 3.6, and a bare
    interpreter start 10.6."""
    try:
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen(None, 2), "prctl")  # type: ignore[arg-type]
        return int(_ctypes.call_function(address, (option, value, 0, 0, 0)))
    except (ImportError, AttributeError, TypeError):
        import ctypes

        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


def _not_started(child: Child, program: str | None, error: Exception | None) -> Run:
    child.close()
    if child.ending:
        return _no_run(child, child.ending, "it was ended before it was started")
    return _no_run(child, "not_started", _why(child.call, program, error))


def _no_run(child: Child, ending: Ending, why: str) -> Run:
    return Run(ending, None, b"", b"", child.started_ns, monotonic() - child.started_s, why)


def _why(call: Call, program: str | None, error: Exception | None) -> str:
    try:
        from anyhook.process.start_failure import explain_failure
    except OSError as also:  # where no descriptor is left, none is left to load the words with
        return f"{program or call.argv[0]} could not be started: {also.strerror}"
    return explain_failure(call, program, error)


def _find(call: Call) -> str | None:
    """What a bare name stands for, relative to the call's directory: it is looked up on the PATH of the call's own
    environment, as execvp would; None where it is not there."""
    name = call.argv[0] if call.argv else ""
    for folder in call.env.get("PATH", os.defpath).split(":") if name else ():
        path = f"{folder or '.'}/{name}"
        place = os.path.join(call.cwd, path)
        if os.access(place, os.X_OK) and not os.path.isdir(place):
            return path
    return None


# -- the process that runs them


def _end(number: int, _frame: FrameType | None) -> None:
    end_all(for_good=True)
    os._exit(128 + number)


def fill_streams() -> None:
    """Where the process was started without stdin, stdout or stderr, nothing else that it opens may take their
    numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class AnswerOnStdout:
    """stdout is for the answer alone; whatever else is written there meanwhile goes to stderr."""

    stdout = -1
    signals: tuple[int, ...] = ()
    """Those that end every hook, and this process with them."""
    handlers: Mapping[int, object] = {}
    """What these meant before."""

    def __enter__(self) -> None:
        self.handlers = {number: signal(number, _end) for number in self.signals}
        try:
            self.stdout = os.dup(1)
            os.dup2(2, 1)
        except OSError:
            return  # one of them was closed from the start

    def line(self, text: str) -> None:
        """Part of the answer, before all of it is known."""
        left = f"{text}\n".encode("utf-8", "surrogateescape")
        while left and self.stdout >= 0:
            left = left[os.write(self.stdout, left) :]

    def __exit__(self, *_: object) -> None:
        try:
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass
        if self.stdout >= 0:
            os.dup2(self.stdout, 1)
            os.close(self.stdout)
        for number, handler in self.handlers.items():
            signal(number, handler)


class EndsHooksWithUs(AnswerOnStdout):
    """While hooks run in a process that is ours alone (see `adopt_orphans`): when it is told to end, they end with
    it, and stdout is for the answer."""

    signals = (SIGINT, SIGTERM, SIGHUP)


class Unwinding:
    """While it lasts, a signal to end unwinds the program, so that everything is put away on the way out."""

    def __enter__(self) -> None:
        self.handlers = {number: signal(number, _unwind) for number in (SIGTERM, SIGHUP)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.handlers.items():
            signal(number, handler)


def _unwind(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
