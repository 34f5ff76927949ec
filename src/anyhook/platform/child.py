"""One started process: write its input, read its output, notice its end, kill it.

An agent waits for this code, so it imports only C modules at the top: `subprocess` costs one and a half bare
interpreter starts of CPU time, `signal` and `threading` half a start each (3.11). A call that needs them imports them,
but never while it holds a child's lock. Otherwise there is a deadlock: a signal handler interrupts the thread that
imports a module, and waits for the lock of a child whose thread waits for that import."""

from __future__ import annotations

import os
import select
from _thread import RLock
from time import monotonic, time_ns

from anyhook.model.call import Call, Run
from anyhook.platform.spawn import here, spawner
from anyhook.platform.tree import Tree, carries, environment, holds_pipe, program_of, status_of_reaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from anyhook.model.words import Ending
    from anyhook.platform.beside import SharedPoll
    from anyhook.platform.spawn import Spawner

OUTPUT_LIMIT = 10 * 1024 * 1024
"""Bytes per stream."""
_CHUNK = 65536
_MAX_PIPE = 1024 * 1024
"""The largest pipe that Linux lets an ordinary user set. The default is 64 KB, and less on other systems."""
_QUICK_S = 0.005
"""How long to wait only for the exit before also polling the output. A short answer fits into the pipe, and waking up
for its first bytes, for the end of each stream and then for the exit adds 6 % to a small hook's time. A shorter wait
makes the kernel set its timer again: 1 ms adds 3 %."""
_IGNORED_BY_PYTHON = (13, 25)
"""SIGPIPE and SIGXFSZ: a started program would inherit that they are ignored."""
_MAX_POLL_S = 1.0  # a signal just before a poll does not interrupt it, so its handler runs when the poll returns
_MAX_TICK_S = 0.02
_KERNEL_GRACE_S = 1.0
"""Extra time for a process that hangs in the kernel, after the whole tree was killed and waited for."""
_LOCK_TIMEOUT_S = 20.0
"""How long `end` waits for the lock before it goes ahead without it: a signal handler must not hang."""

_pidfd_open = getattr(os, "pidfd_open", None)
CAN_POLL = hasattr(select, "poll")
"""Whether pipes and processes can be waited for together; otherwise see `plain_run`."""


class _Stream:
    """Our end of one output pipe, and the bytes read from it."""

    __slots__ = ("chunks", "fd", "size")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.chunks: list[bytes] = []
        self.size = 0

    def read(self) -> int:
        """Read once, without blocking: the number of bytes, 0 at the end of the stream, -1 if there is nothing to
        read."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return -1
        if data:
            self.chunks.append(data)
            self.size += len(data)
        return len(data)

    def drain(self, last: bytes) -> bytes:
        """All output; `last` was read after the process ended. A short read means that the pipe is empty. Anything
        beyond the size of a pipe comes from children that are still writing."""
        got = len(last)
        self.chunks.append(last)
        self.size += got
        left = _MAX_PIPE - got
        while got == _CHUNK and left > 0 and self.size <= OUTPUT_LIMIT:
            got = self.read()
            left -= got
        return b"".join(self.chunks)[:OUTPUT_LIMIT]


class Child:
    """One started process. One thread at a time may wait for it; any thread may kill it."""

    # Defaults are class attributes because `__init__` delays the start of the process.
    pid = 0
    ending: Ending | None = None
    alone = True
    """Whether no other child ran at the same time. Only used if `here.is_ours`."""
    _pipes: tuple[int, int]
    """Our ends of its stdout and stderr."""
    _streams: dict[int, _Stream]
    """By pipe; set once the child takes longer than `_QUICK_S`."""
    _poll: select.poll | SharedPoll
    deadline: float
    """On the monotonic clock."""
    _stdin = -1
    sent = 0
    """The size of its input in bytes."""
    _stdin_reader = -1
    """The reading end of its stdin, kept open until everything is written. So a process that closes stdin early causes
    no error, and no SIGPIPE in a host that does not ignore it."""
    _unsent = memoryview(b"")
    pidfd = -1
    """Becomes readable when the process exits; -1 if the system has no pidfds."""
    starter: Spawner | None = None
    _watching, _shared_poll = False, None  # type: bool, SharedPoll | None
    _popen: Popen[bytes] | None = None
    _tree_ended = False
    _reaped = False
    _status: int | None = None
    _run: Run | None = None

    def __init__(self, call: Call) -> None:
        self.call = call
        self.started_ns = time_ns()
        self.started_s = monotonic()
        self._descriptors: list[int] = []
        self._lock = RLock()  # re-entrant: a signal handler that calls `end` may have interrupted `conclude`
        here.alive.add(self)

    def launch(self, program: str) -> None:
        """Open the pipes and start the process. What only `wait` needs is set up while the process starts."""
        theirs: list[int] = []
        try:
            self._stdin_reader, self._stdin = stdin, _ = os.pipe()
            out, stdout = os.pipe()
            theirs.append(stdout)
            self._descriptors.append(out)
            err, stderr = os.pipe()
            theirs.append(stderr)
            self._descriptors.append(err)
            has_pipes_apart = min(stdin, *theirs) > 2
            cheap = (
                hasattr(os, "posix_spawn") and here.is_ours and has_pipes_apart and os.path.samefile(self.call.cwd, ".")
            )
            spawn = self.starter or (None if cheap else spawner(has_pipes_apart=has_pipes_apart))
            with self._lock:  # so that `end` runs either before the process exists or when its pid is known
                if here.is_closed:
                    self.ending = self.ending or "cancelled"
                if self.ending is not None:
                    return
                if spawn is not None:
                    self.pid, self._popen = spawn(self.call, program, stdin, stdout, stderr)
                else:
                    # It can neither change the directory, nor close inherited descriptors, nor handle pipes that have
                    # the numbers of stdin, stdout and stderr.
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
                self._descriptors.append(self.pidfd)
                self._poll.register(self.pidfd, select.POLLIN)
            except OSError:
                pass  # an old kernel, or a sandbox that forbids it: `_watch` checks at intervals instead
        self._pipes = out, err
        os.set_blocking(out, False)
        os.set_blocking(err, False)

    def feed(self, data: bytes) -> None:
        """Write its input. If it may not fit into the empty pipe, `wait` writes the rest."""
        self.sent = len(data)
        if len(data) > select.PIPE_BUF:
            os.set_blocking(self._stdin, False)
            self._unsent = memoryview(data)
            self._feed()
            return
        if data:
            os.write(self._stdin, data)
        self._close_stdin()

    def wait(self, grace_s: float | None = None) -> Run | None:
        """Block until the process has ended or its limit is over; None if `grace_s` is over before that."""
        if self._run is not None:
            return self._run
        until = self.deadline
        if grace_s is not None:
            until = min(until, monotonic() + grace_s)
        if not self._watch(until):
            if until < self.deadline:
                return None
            self.end("timed_out")
            self._watch(monotonic() + _KERNEL_GRACE_S)
        return self.conclude()

    def end(self, ending: Ending = "cancelled") -> None:
        """Kill the whole tree now, from any thread or signal handler; the next `wait` returns a Run with `ending`."""
        held = self._lock.acquire(timeout=_LOCK_TIMEOUT_S)
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
        """Whether something may still run that `end` has not yet killed."""
        return not self._tree_ended and (self.pid != 0 or self.ending is None)

    def _end_tree(self) -> None:
        leader = self.pid if self._owns_pid() else 0
        try:
            Tree(leader, self.call.mark, self._is_my_orphan if here.is_ours else None).end()
        except OSError:  # no descriptor is left to read /proc with: kill only the group
            if leader:
                os.killpg(leader, 9)

    def _is_my_orphan(self, pid: int, entries: list[bytes]) -> bool:
        """If this process is ours alone, a child that we did not start belongs to a hook. It belongs to this one if no
        other ran at the same time, or if it has this one's pipes open."""
        if pid in here.spared or pid in [child.pid for child in list(here.alive)]:
            return False
        if any(carries(entries, os.fsencode(mark)) for mark in here.marks):
            return False  # it belongs to a hook that ended normally and may leave processes behind
        if entries == environment(os.getpid()) and program_of(pid) == program_of(os.getpid()):
            return False  # another thread's child before its exec: a copy of this process, with all our pipes open
        pipes = {os.fstat(fd).st_ino for fd in self._descriptors}
        return self.alone or holds_pipe(pid, pipes)

    def _watch(self, until: float) -> bool:
        """Move bytes until the process has ended (True) or the time is `until` (False)."""
        if not self._watching:
            quick_s = min(_QUICK_S, max(until - monotonic(), 0.0))
            if self._stdin < 0 <= self.pidfd and self._poll.poll(quick_s * 1000):
                return True
            self._watch_pipes()
        tick_s = 0.0005
        while True:
            left_s = until - monotonic()
            pause_s = min(max(left_s, 0.0), _MAX_POLL_S)
            if self.pidfd < 0:
                tick_s = min(tick_s * 2, _MAX_TICK_S)
                if self._poll_once(min(pause_s, tick_s)) or self._has_exited():
                    return True
            elif self._poll_once(pause_s):
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
        """Use a poll that several children share. Call it right after the start, before anything waits for the
        child."""
        self._poll = self._shared_poll = poll
        poll.register(self.pidfd, select.POLLIN)
        self._watch_pipes()

    def _poll_once(self, pause_s: float) -> bool:
        """Wait for the pipes or the exit, and move the bytes that are ready. True if the process has exited."""
        exited = False
        for fd, _ in self._poll.poll(pause_s * 1000):
            exited = self.attend(fd) or exited
        return exited

    def attend(self, fd: int) -> bool:
        """Move the bytes of a descriptor that is ready. True if the process has exited."""
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
        """Write as much as fits into the pipe."""
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            return
        if not self._unsent:
            if self._watching:
                self._poll.unregister(self._stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        for fd in (self._stdin, self._stdin_reader):
            if fd >= 0:
                os.close(fd)
        self._stdin = self._stdin_reader = -1

    def conclude(self) -> Run:
        """Read the rest of the output, reap the process, close everything. The caller waits for this, so it must be
        fast."""
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
        """Used if there is no pidfd. Checks without reaping if the system can, because a reaped pid may be reused."""
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

    def _owns_pid(self) -> bool:
        """Whether `pid` still belongs to this process: it was started, and neither we nor the host have reaped it."""
        if self._reaped or not self.pid:
            return False
        try:
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _reap(self) -> int | None:
        # Set before the wait: a signal handler in between must not signal a pid that is free again.
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
            self._popen.returncode = -9 if exit_code is None else exit_code  # or else Popen would warn, and wait again
        return exit_code

    def abandon(self) -> None:
        """Kill it and release everything after an interrupted start."""
        self.end()
        if self.pid:
            self._reap()
        self.close()

    def close(self) -> None:
        """Close every descriptor. The process has ended or was never started."""
        if self._shared_poll is not None:
            self._shared_poll.close()
        for fd in self._descriptors:
            os.close(fd)
        self._descriptors.clear()
        if self._stdin >= 0:
            self._close_stdin()
        here.alive.discard(self)
