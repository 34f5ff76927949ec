"""A worker answers calls, one after the other. For each it takes over the caller's process state and runs the command.
It goes on to the next call only if this one has left nothing behind: no process, no thread, and the caller's state was
the server's. Otherwise it exits, and the server forks another one."""

from __future__ import annotations

import fcntl
import gc
import io
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from anyhook.cli.bridge import Watchdog
from anyhook.extra.warm.known import news
from anyhook.extra.warm.likeness import Unlike, take_on
from anyhook.extra.warm.messages import (
    ACCEPTED,
    CALL,
    ENDED,
    NUMBER,
    ON_DUTY,
    READY,
    REFUSED,
    STATUS,
    STOP,
    Gone,
    Message,
    receive_request,
    receive_streams,
)
from anyhook.extra.warm.place import is_module, is_wanted, parse_env, read_at_start
from anyhook.extra.warm.warm_python import Interpreters, WarmChild
from anyhook.platform.launched import Launcher
from anyhook.platform.spawn import here
from anyhook.state.entry_places import Caller, fix_places

if TYPE_CHECKING:
    from anyhook.extra.warm.server import Shared

PATIENCE_S = 15.0
"""How long a caller may take to send its request."""
SIGNAL_OF_EVENT = 10
"""F_SETSIG."""
NAMES = ("<stdin>", "<stdout>", "<stderr>")
MAX_CALLS, MAX_GROWTH_KB = 1000, 32 * 1024
"""A worker exits after this many calls, or when it has grown by this much."""
SPARE = 2
"""How many workers wait for calls. After a call, one that is not needed exits."""
COLLECT_EVERY = 50
"""After how many calls it collects garbage."""
IDLE, BUSY = 1, 2  # as in server.py, which imports this module


class Worker:
    """In a fork of the server."""

    def __init__(
        self,
        listener: socket.socket,
        generation: int,
        tell: int,
        state: Shared,
        number: int,
        stand_in: Callable[[int], int],
    ) -> None:
        """`generation` is a pipe that ends when this worker is no longer wanted. What is written to `tell` reaches the
        server."""
        self._listener, self._tell, self._state, self._number = listener, tell, state, number
        self._stand_in, self._pid, self._leave = stand_in, os.getpid(), os._exit
        self._connection: socket.socket | None = None
        """The caller's, until it has its answer."""
        self._differs = False
        """Whether the caller's state was not the server's."""
        self._words: list[str] = []
        self._calls = 0
        self._most_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + MAX_GROWTH_KB
        self._nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        signal.set_wakeup_fd(-1)
        for each in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        os._exit = self._end
        self._poll = select.epoll()
        # Of all workers that wait, one is woken: the last that was busy, whose memory is its own.
        self._poll.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        self._poll.register(generation, select.EPOLLIN)

    def run(self) -> NoReturn:
        while self._may_go_on():
            ready = [number for number, _ in self._poll.poll()]
            if self._listener.fileno() not in ready:
                break
            try:
                connection = self._listener.accept()[0]
            except BlockingIOError:
                continue  # another worker was faster
            except OSError:
                break
            self._state.set_worker(self._number, BUSY)
            if not self._state.count(IDLE):
                os.write(self._tell, b".")  # the next call finds nobody
            self._serve(connection)
            self._state.set_worker(self._number, IDLE)
        self._leave(0)

    def _may_go_on(self) -> bool:
        is_spare = self._calls > 0 and self._state.count(IDLE) > SPARE
        if (is_spare and not self._poll.poll(0)) or self._differs or here.alive or self._calls >= MAX_CALLS:
            return False
        if threading.active_count() > 1 or _has_children():
            return False
        if self._calls % COLLECT_EVERY == COLLECT_EVERY - 1:
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < self._most_kb
        return True

    def _serve(self, connection: socket.socket) -> None:
        self._calls += 1
        connection.settimeout(PATIENCE_S)
        try:
            connection.send(READY)
            caller = _peer(connection)
            request = receive_request(connection)
            if request.kind != CALL:
                self._report(request, connection)
                return
            self._become(request, caller, connection)
        except (Unlike, Gone, OSError, ValueError):
            self._refuse(connection)
        self._answer(self._stand_in(caller))
        self._clean_up()

    def _refuse(self, connection: socket.socket) -> NoReturn:
        """The caller makes the call itself. What was taken over of its state ends with this process."""
        try:
            connection.send(REFUSED)
        except OSError:
            pass  # the caller is gone
        self._leave(0)

    def _report(self, request: Message, connection: socket.socket) -> None:
        """Send the server's status, or stop it."""
        if request.kind == STOP:
            os.kill(self._state.pid, signal.SIGTERM)
        if request.kind in (STATUS, STOP):
            connection.sendall(b"".join([NUMBER.pack(number) for number in self._state.numbers()]))
        connection.close()

    def _become(self, request: Message, caller: int, connection: socket.socket) -> None:
        """Take over everything that a new process inherits from its caller. The last step tells the caller: from then
        on the call is ours. If the caller is gone by then, it has made the call itself."""
        state, env = self._state, parse_env(request.env)
        words = [os.fsdecode(word) for word in request.words]
        if read_at_start(env) != state.read_at_start:
            raise Unlike("Python would start in another way")
        if not state.loaded.is_same():
            os.kill(state.pid, signal.SIGTERM)
            raise Unlike("the installation has changed")
        os.environb.clear()
        os.environb.update({**env, **{name: value for name, value in state.coerced.items() if name not in env}})
        Caller.given, Caller.home, Caller.is_gone = None, "", False
        fix_places(words[1:], os.environ)
        Launcher.can_answer = True
        if not is_wanted(os.environ):
            raise Unlike("the user's settings say no")
        self._differs = not take_on(state.likeness, caller)
        if not self._differs:
            place, name = os.path.split(state.path)
            here.warm_child = partial(WarmChild, Interpreters(f"{place}/python", name, state.pid))
        if not state.knows_agents():
            raise Unlike("other agents are installed for this user")
        *streams, folder = receive_streams(connection)
        connection.settimeout(None)
        os.fchdir(folder)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        for descriptor in (*streams, folder):
            os.close(descriptor)
        open_streams()
        as_module = is_module(words[0])
        sys.argv = [words[0] if as_module else f"{state.folder}/anyhook", *words[1:]]
        sys.path[:] = [os.getcwd(), *state.imports] if as_module else state.imports
        state.note_call()
        self._words = words[1:]
        self._connection, here.tell_duty = connection, self._go_on_duty
        # From here on, this process gets SIGTERM when the caller is gone.
        fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(connection, SIGNAL_OF_EVENT, signal.SIGTERM)
        fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
        connection.sendall(ACCEPTED + NUMBER.pack(os.getpid()))

    def _go_on_duty(self) -> None:
        """Hooks run from now on, so the caller must not make the call itself any more."""
        if self._connection is not None:
            self._connection.sendall(ON_DUTY)

    def _answer(self, status: int) -> None:
        """Send the caller the exit status, and do what is left to do while it goes on."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            fcntl.fcntl(connection, fcntl.F_SETFL, 0)
            connection.send(ENDED + NUMBER.pack(status & 0xFF))
        except OSError:
            pass  # the caller is gone
        for number in (1, 2, 0):  # the caller may wait until they are closed
            os.dup2(self._nowhere, number)
        connection.close()
        for stream in (sys.stdout, sys.stderr):  # what could not be written must not reach the next caller
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        left, here.afterwards[:] = here.afterwards[:], []
        try:
            for each in left:
                each()
            told = news(self._words)
            if told:
                os.write(self._tell, told)
        except Exception:  # noqa: BLE001, S110 (the caller has its answer)
            pass

    def _end(self, status: int) -> NoReturn:
        """Instead of `os._exit`: the command ends somewhere in the middle."""
        if os.getpid() == self._pid:
            self._answer(status)
        self._leave(status)

    def _clean_up(self) -> None:
        """What one call has set and the next one must not find."""
        Watchdog.end_thread()
        here.at_first = here.tell_duty = here.warm_child = None
        here.is_ours = False
        here.marks.clear()
        here.spared.clear()
        os.chdir("/")


def _peer(connection: socket.socket) -> int:
    """The pid of the process at the other end, which must belong to this user."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.geteuid() or pid <= 0:
        raise Unlike("the caller is another user, or in another namespace")
    return int(pid)


def _has_children() -> bool:
    """Whether a hook has left a process behind: this process has adopted it."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def open_streams() -> None:
    """New objects for the new streams, because Python inspects a stream only when it creates its object."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        raw.name = NAMES[number]
        buffer = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        lines = number == 2 or raw.isatty()
        made = io.TextIOWrapper(buffer, old.encoding, old.errors, "\n", lines)
        made.mode = "r" if number == 0 else "w"  # type: ignore[misc]
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
