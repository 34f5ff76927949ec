"""One started process: feed it, read it, know when it ended, end it. Never decides what to start or what it meant.

This is on the path an agent waits on, so at import it loads C modules only: `subprocess` costs one and a half bare
interpreter starts of CPU time, `signal` and `threading` half a one each (3.11); a call that needs them loads them. But
nothing is loaded while a child's lock is held: a signal handler may interrupt the thread that is loading it, and then
wait for the lock of a child whose thread waits for the same module.
"""

from __future__ import annotations

import os
import select
from _thread import RLock
from time import monotonic, time_ns

from anyhook.model.call import Run
from anyhook.process.spawn import here, spawner
from anyhook.process.tree import Tree, carries, environment, holds_pipe, program_of, status_of_reaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from anyhook.model.call import Call
    from anyhook.model.words import Ending
    from anyhook.process.beside import SharedPoll
    from anyhook.process.spawn import Spawner

OUTPUT_LIMIT = 10 * 1024 * 1024
"""Of each stream, in bytes."""
_CHUNK = 65536
_LARGEST_PIPE = 1024 * 1024
"""What Linux lets an ordinary user make of a pipe; made with 64 KB, and smaller elsewhere."""
_QUICK_S = 0.005
"""How long to wait for the end alone before watching the output as well. A short answer fits into the pipe, and waking
up for its first bytes, for the closing of each stream and then for the end adds 6 % to a small hook's time. A shorter
wait makes the kernel set its timer again: 1 ms adds 3 %."""
_IGNORED_BY_PYTHON = (13, 25)
"""SIGPIPE and SIGXFSZ: what is ignored here would be ignored in the started program, too."""
_LONGEST_POLL_S = 1.0  # a signal just before a poll does not end it, and its handler runs when the poll returns
_LONGEST_TICK_S = 0.02
_HANGS_S = 1.0
"""After a kill that waited for the whole tree, the last grace for a process that hangs inside the kernel."""
_PATIENCE_S = 20.0
"""How long one who ends waits for another who does, or who concludes, before doing it all the same: no signal handler
may hang for good."""

_pidfd_open = getattr(os, "pidfd_open", None)


class _Stream:
    """Our end of one output pipe, and what came out of it."""

    __slots__ = ("chunks", "fd", "size")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.chunks: list[bytes] = []
        self.size = 0

    def read(self) -> int:
        """Take what is there now: the number of bytes, 0 at the end of the stream, -1 where nothing is there."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return -1
        if data:
            self.chunks.append(data)
            self.size += len(data)
        return len(data)

    def drain(self, last: bytes) -> bytes:
        """All of it; `last` was read when the process had ended. A read that brings less than it may has emptied the
        pipe; more than the pipe holds was not left by the process, but by children that go on writing."""
        got = len(last)
        self.chunks.append(last)
        self.size += got
        left = _LARGEST_PIPE - got
        while got == _CHUNK and left > 0 and self.size <= OUTPUT_LIMIT:
            got = self.read()
            left -= got
        return b"".join(self.chunks)[:OUTPUT_LIMIT]


class Child:
    """One started process. One thread at a time may wait for it; any thread may end it."""

    # Defaults are here and not in `__init__`, which runs while nothing else does: the process is not there yet.
    pid = 0
    ending: Ending | None = None
    alone = True
    """Whether no other child lived beside it, in a process that is ours."""
    _pipes: tuple[int, int]
    """Our ends of its stdout and stderr."""
    _streams: dict[int, _Stream]
    """By pipe, once it takes longer than a moment."""
    _poll: select.poll | SharedPoll
    deadline: float
    """By the monotonic clock."""
    _stdin = -1
    sent = 0
    """How many bytes it was given to read."""
    _spare = -1
    """The reading end of its stdin, open here until all is written: a process that closes it early is then no error,
    and no SIGPIPE in a host that does not ignore it."""
    _unsent = memoryview(b"")
    pidfd = -1
    """It can be polled for the end of the process; -1 where the system has none."""
    starter: Spawner | None = None
    _watching, _shared = False, None  # type: bool, SharedPoll | None
    _popen: Popen[bytes] | None = None
    _tree_ended = False
    _reaped = False
    _status: int | None = None
    _run: Run | None = None

    def __init__(self, call: Call) -> None:
        self.call = call
        self.started_ns = time_ns()
        self.started_s = monotonic()
        self._open: list[int] = []
        self._lock = RLock()  # re-entrant: a signal handler that ends us may have interrupted the one who concludes
        here.alive.add(self)

    def launch(self, program: str) -> None:
        """Open the pipes, start the process, keep our ends; what only waiting needs is made while the process
        starts."""
        theirs: list[int] = []
        try:
            self._spare, self._stdin = stdin, _ = os.pipe()
            out, stdout = os.pipe()
            theirs.append(stdout)
            self._open.append(out)
            err, stderr = os.pipe()
            theirs.append(stderr)
            self._open.append(err)
            has_pipes_apart = min(stdin, *theirs) > 2
            cheap = here.is_ours and has_pipes_apart and os.path.samefile(self.call.cwd, ".")
            spawn = self.starter or (None if cheap else spawner(has_pipes_apart))
            with self._lock:  # so that whoever ends us comes before there is a process, or when it is known
                if here.is_closed:
                    self.ending = self.ending or "cancelled"
                if self.ending is not None:
                    return
                if spawn is not None:
                    self.pid, self._popen = spawn(self.call, program, stdin, stdout, stderr)
                else:
                    # It can neither change the directory, nor close what this process inherited, nor sort out pipes
                    # that lie where stdin, stdout and stderr belong.
                    dup = os.POSIX_SPAWN_DUP2
                    self.pid = os.posix_spawn(
                        program,
                        self.call.argv,
                        self.call.env,
                        file_actions=((dup, stdin, 0), (dup, stdout, 1), (dup, stderr, 2)),
                        setpgroup=0,
                        setsigdef=_IGNORED_BY_PYTHON,
                    )
        finally:
            for fd in theirs:
                os.close(fd)
        self.deadline = self.started_s + self.call.limit_s
        self._poll = select.poll()
        if _pidfd_open is not None:
            try:
                self.pidfd = _pidfd_open(self.pid)
                self._open.append(self.pidfd)
                self._poll.register(self.pidfd, select.POLLIN)
            except OSError:
                pass  # an old kernel, or a sandbox that forbids it: `_watch` then looks by the clock
        self._pipes = out, err
        os.set_blocking(out, False)
        os.set_blocking(err, False)

    def feed(self, data: bytes) -> None:
        """Give it its input; of more than a fresh pipe is sure to take, the rest while we wait."""
        self.sent = len(data)
        if len(data) > select.PIPE_BUF:
            os.set_blocking(self._stdin, False)
            self._unsent = memoryview(data)
            self._feed()
            return
        if data:
            os.write(self._stdin, data)
        self._fed()

    def wait(self, grace_s: float | None = None) -> Run | None:
        """Block until the process ended or its own limit passed; None where `grace_s` passed before either."""
        if self._run is not None:
            return self._run
        until = self.deadline
        if grace_s is not None:
            until = min(until, monotonic() + grace_s)
        if not self._watch(until):
            if until < self.deadline:
                return None
            self.end("timed_out")
            self._watch(monotonic() + _HANGS_S)
        return self.conclude()

    def end(self, ending: Ending = "cancelled") -> None:
        """Kill the whole tree now, from any thread or signal handler; the next `wait` returns a Run with `ending`."""
        held = self._lock.acquire(timeout=_PATIENCE_S)
        try:
            if self._run is None and not self._tree_ended:
                self.ending = self.ending or ending
                self._end_tree()
                self._tree_ended = self.pid != 0
        finally:
            if held:
                self._lock.release()

    @property
    def is_to_end(self) -> bool:
        """Whether something may still run that `end` has not ended; a thread that is at it has not ended it yet."""
        return not self._tree_ended and (self.pid != 0 or self.ending is None)

    def _end_tree(self) -> None:
        leader = self.pid if self._is_ours() else 0
        try:
            Tree(leader, self.call.mark, self._is_my_orphan if here.is_ours else None).end()
        except OSError:  # no descriptor is left to read /proc with: the group must do
            if leader:
                os.killpg(leader, 9)

    def _is_my_orphan(self, pid: int, entries: list[bytes]) -> bool:
        """In a process of our own, a child that was not started here is some hook's. It is this one's where no other
        ran beside it, or where it holds this one's pipes."""
        if pid in here.spared or pid in [child.pid for child in list(here.alive)]:
            return False
        if any(carries(entries, os.fsencode(mark)) for mark in here.marks):
            return False  # another hook's, which ended well and may leave what it likes
        if entries == environment(os.getpid()) and program_of(pid) == program_of(os.getpid()):
            return False  # another thread's child before its exec: still this very program, with all our pipes open
        pipes = {os.fstat(fd).st_ino for fd in self._open}
        return self.alone or holds_pipe(pid, pipes)

    def _watch(self, until: float) -> bool:
        """Move bytes until the process has ended (True) or the clock reached `until` (False)."""
        if not self._watching:
            quick_s = min(_QUICK_S, max(until - monotonic(), 0.0))
            if self._stdin < 0 <= self.pidfd and self._poll.poll(quick_s * 1000):
                return True
            self._watch_pipes()
        tick_s = 0.0005
        while True:
            left_s = until - monotonic()
            pause_s = min(max(left_s, 0.0), _LONGEST_POLL_S)
            if self.pidfd < 0:
                tick_s = min(tick_s * 2, _LONGEST_TICK_S)
                if self._move(min(pause_s, tick_s)) or self._has_exited():
                    return True
            elif self._move(pause_s):
                return True
            if left_s <= 0:
                return False

    def _watch_pipes(self) -> None:
        self._watching = True
        self._streams = {pipe: _Stream(pipe) for pipe in self._pipes}
        for pipe in self._pipes:
            self._poll.register(pipe, select.POLLIN)
        if self._stdin >= 0:
            self._poll.register(self._stdin, select.POLLOUT)

    def watch_with(self, poll: SharedPoll) -> None:
        """Watch by a poll that several children share. It was just started, and nobody waits for it."""
        self._poll = self._shared = poll
        poll.register(self.pidfd, select.POLLIN)
        self._watch_pipes()

    def _move(self, pause_s: float) -> bool:
        """Wait for one of the pipes or the end, and move what can be moved; whether the end has come."""
        exited = False
        for fd, _ in self._poll.poll(pause_s * 1000):
            exited = self.attend(fd) or exited
        return exited

    def attend(self, fd: int) -> bool:
        """One of its descriptors is ready: move what can be moved; whether the end has come."""
        if fd == self.pidfd:
            return True
        if fd == self._stdin:
            self._feed()
            return False
        stream = self._streams[fd]
        if stream.read() == 0 or stream.size > OUTPUT_LIMIT:
            self._poll.unregister(fd)
        if stream.size > OUTPUT_LIMIT:
            self.end("overflowed")
        return False

    def _feed(self) -> None:
        """Write as much as the pipe takes."""
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            return
        if not self._unsent:
            if self._watching:
                self._poll.unregister(self._stdin)
            self._fed()

    def _fed(self) -> None:
        """There is no more to write."""
        for fd in (self._stdin, self._spare):
            if fd >= 0:
                os.close(fd)
        self._stdin = self._spare = -1

    def conclude(self) -> Run:
        """Read what the ended process left, reap it, close everything. The caller waits for each line of this."""
        with self._lock:
            if self._run is not None:
                return self._run
            left: list[bytes] = []
            for pipe in self._pipes:
                try:
                    left.append(os.read(pipe, _CHUNK))
                except BlockingIOError:
                    left.append(b"")
            stdout, stderr = left
            if self._watching or len(stdout) == _CHUNK or len(stderr) == _CHUNK:
                streams = [*self._streams.values()] if self._watching else [*map(_Stream, self._pipes)]
                stdout, stderr = map(_Stream.drain, streams, left)
                if self.ending is None and max(stream.size for stream in streams) > OUTPUT_LIMIT:
                    self.end("overflowed")
            exit_code = self._reap()
            self._run = Run(
                self.ending or ("exited" if exit_code is None or exit_code >= 0 else "signalled"),
                exit_code,
                stdout,
                stderr,
                self.started_ns,
                monotonic() - self.started_s,
                "its exit status is unknown: it was reaped elsewhere, or hangs in the kernel"
                if exit_code is None
                else None,
            )
            self.close()
            return self._run

    def _has_exited(self) -> bool:
        """Where there is no pidfd. Looks without reaping where the system can: a reaped number may become another's."""
        if self._status is not None:
            return True
        try:
            if hasattr(os, "waitid"):
                return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid:
            self._reaped = True
            self._status = status
        return pid != 0

    def _is_ours(self) -> bool:
        """Whether `pid` still stands for this process: it was started, and neither we nor the host have reaped it."""
        if self._reaped or not self.pid:
            return False
        try:
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _reap(self) -> int | None:
        # Said before it is done: a signal handler that comes in between must not signal a number that is free again.
        self._reaped = True
        status = self._status
        if status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                status = status if pid else None
            except ChildProcessError:
                status = status_of_reaped(self.pidfd)
        exit_code = None if status is None else os.waitstatus_to_exitcode(status)
        if self._popen is not None:
            self._popen.returncode = -9 if exit_code is None else exit_code  # or it would warn, and wait once more
        return exit_code

    def abandon(self) -> None:
        """End it and give everything back, where starting it was interrupted halfway."""
        self.end()
        if self.pid:
            self._reap()
        self.close()

    def close(self) -> None:
        """Give back every descriptor; there is, or was, no process any more."""
        if self._shared is not None:
            self._shared.close()
        for fd in self._open:
            os.close(fd)
        self._open.clear()
        if self._stdin >= 0:
            self._fed()
        here.alive.discard(self)
