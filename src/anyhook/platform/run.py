"""Run: start the process of a call, wait for it, and report how it ended.

Also what hooks need from the process that runs them: it kills them when it gets a signal to exit, adopts their orphans,
and keeps the output of an in-process hook out of our answer."""

from __future__ import annotations

# The C module: `signal` also imports enums, which costs a third of an interpreter start.
import _signal  # type: ignore[import-not-found]
import os
import sys
from _signal import SIG_DFL, SIG_IGN, SIGINT, SIGTERM, getsignal, signal
from time import monotonic

from anyhook.model.call import Call, Run
from anyhook.platform.places import find_program
from anyhook.platform.spawn import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from anyhook.model.words import Ending
    from anyhook.platform.child import Child

END_SIGNALS = (SIGTERM, _signal.SIGHUP) if hasattr(_signal, "SIGHUP") else (SIGTERM,)
"""Signals that ask a process to end."""

__all__ = ["adopt_orphans", "end_all", "expect_hooks", "run", "start"]


def start(call: Call, stdin: Callable[[], bytes] | None = None) -> Child | Run:
    """Start it. If it cannot be started, or was cancelled before, the result is a Run that says why. If the call has no
    input, `stdin` makes it while the process starts."""
    from anyhook.platform.child import CAN_POLL

    here.begin()
    if not CAN_POLL:
        return _plainly(call, stdin)
    child = _new_child(call)
    program: str | None = None
    try:
        program = call.argv[0] if call.argv else ""
        if "/" not in program:
            program = find_program(program, call.env.get("PATH", os.defpath), call.cwd)
        if program:
            child.launch(program)
        if child.pid:
            child.feed(call.stdin if stdin is None else stdin())
    except (OSError, ValueError, RuntimeError) as error:  # last, because no process may be started at interpreter exit
        if child.pid:
            child.abandon()
            return _no_run(child, "not_started", f"its input could not be made: {error}")
        return _not_started(child, program, error)
    except BaseException:
        child.abandon()
        raise
    if not child.pid:
        return _not_started(child, program, None)
    if child.ending is not None:  # by a signal handler, before the pid of the new process was known
        child.end()
    return child


def _plainly(call: Call, stdin: Callable[[], bytes] | None) -> Run:
    from anyhook.platform.plain_run import plain_run

    return plain_run(call, call.stdin if stdin is None else stdin())


def _new_child(call: Call) -> Child:
    from anyhook.platform.child import Child

    child = here.warm_child(call) if call.may_be_warm and here.warm_child is not None else Child(call)
    if here.is_ours:
        here.marks.append(call.mark)
        if len(here.alive) > 1:
            for other in list(here.alive):
                other.alone = False
    return child


def run(call: Call) -> Run:
    """Start it and wait for it. If the wait is interrupted, kill all of it."""
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
    """Kill every child of this process that is still running. Calls that other threads make in the meantime are
    `cancelled` before they start; with `for_good`, so are all later calls (used when this process is about to exit)."""
    here.is_closed = True
    for _ in range(100):  # a second round is needed only if a thread was in the middle of a start
        left = [child for child in list(here.alive) if child.is_to_end]
        if not left:
            break
        for child in left:
            child.end()
    here.is_closed = for_good


def expect_hooks() -> None:
    """For a process that is ours alone, before it asks hooks: it adopts their orphans once the first one runs. Most
    events reach only rules, which need no process."""
    if here.unless is not None:
        here.unless()
    here.at_first = adopt_orphans


def adopt_orphans() -> bool:
    """Make this process the parent of everything its hooks leave behind. False if the system cannot do that.

    Only for a process that is ours alone: every child is started by this package or passed to `leave_alone`. It then
    kills even a grandchild that left group and session and emptied its environment, passes no inherited descriptor to a
    hook, and uses the cheaper `posix_spawn` for hooks in its own directory (`posix_spawn` can neither change the
    directory nor close descriptors).
    """
    if here.tell_duty is not None:
        here.tell_duty()
    here.is_ours = True
    try:
        inherited = [int(name) for name in os.listdir("/dev/fd") if name not in ("0", "1", "2")]
    except OSError:
        inherited = []
    for descriptor in inherited:  # no hook gets a descriptor that this process inherited
        try:
            os.set_inheritable(descriptor, False)
        except OSError:
            continue  # the descriptor of the listing itself is closed by now
    child_ended = getattr(_signal, "SIGCHLD", None)
    if child_ended is not None and getsignal(child_ended) == SIG_IGN:  # inherited; exit statuses would be lost
        signal(child_ended, SIG_DFL)
    if sys.platform != "linux":
        return False
    try:
        return prctl(36, 1) == 0  # PR_SET_CHILD_SUBREAPER
    except (ImportError, AttributeError, OSError):
        return False


def prctl(option: int, value: int) -> int:
    """Uses the C half of ctypes if it has the functions we know: 0.9 ms of CPU time, against 3.6 for all of ctypes and
    10.6 for a bare interpreter start."""
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
        return _no_run(child, child.ending, "it was cancelled before it was started")
    return _no_run(child, "not_started", _start_error(child.call, program, error))


def _no_run(child: Child, ending: Ending, why: str) -> Run:
    return Run(ending, None, b"", b"", child.started_ns, monotonic() - child.started_s, why)


def _start_error(call: Call, program: str | None, error: Exception | None) -> str:
    try:
        from anyhook.platform.start_failure import explain_failure
    except OSError as also:  # without a free descriptor, this module cannot be imported either
        return f"{program or call.argv[0]} could not be started: {also.strerror}"
    return explain_failure(call, program, error)


# -- the process that runs the hooks


def _end_hooks_and_exit(number: int, _frame: FrameType | None) -> None:
    end_all(for_good=True)
    os._exit(128 + number)


def fill_streams() -> None:
    """Open /dev/null for a missing stdin, stdout or stderr, so that no other file gets their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class AnswerOnStdout:
    """Reserve stdout for the answer. Anything else written to it in the meantime goes to stderr."""

    stdout = -1
    signals: tuple[int, ...] = ()
    """Signals that kill every hook and end this process."""
    handlers: Mapping[int, object] = {}
    """Their previous handlers."""

    def __enter__(self) -> None:
        self.handlers = {number: signal(number, _end_hooks_and_exit) for number in self.signals}
        try:
            self.stdout = os.dup(1)
            os.dup2(2, 1)
        except OSError:
            return  # one of them was closed when we started

    def line(self, text: str) -> None:
        """Write a part of the answer before the rest is known."""
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
    """For hooks in a process that is ours alone (see `adopt_orphans`): a signal to exit also kills the hooks, and
    stdout is reserved for the answer."""

    signals = (SIGINT, *END_SIGNALS)


class Unwinding:
    """Inside the `with` block, a signal to exit unwinds the stack, so that everything is cleaned up."""

    def __enter__(self) -> None:
        self.handlers = {number: signal(number, _unwind) for number in END_SIGNALS}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.handlers.items():
            signal(number, handler)


def _unwind(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
