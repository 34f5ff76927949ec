"""The server: an interpreter that has loaded the command, and keeps for each project the plan of its hooks and what was
made from it. It forks workers, which answer calls. It keeps no approvals and no decisions, and a plan is valid only for
the exact bytes of every file that it came from: every call checks that. The server exits when it is no longer used."""

from __future__ import annotations

import gc
import mmap
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import NoReturn

from anyhook.extra.warm.changes import Installation
from anyhook.extra.warm.known import learn, practise
from anyhook.extra.warm.likeness import Likeness
from anyhook.extra.warm.place import given_env, installation, is_module, read_at_start
from anyhook.extra.warm.worker import SPARE, Worker
from anyhook.model.record import Compiled
from anyhook.platform.places import stamp, state_dir
from anyhook.state.plans import kept
from anyhook.tables import registry

PRELOADED = (
    "anyhook.cli.fire", "anyhook.cli.bridge", "anyhook.cli.options", "anyhook.cli.render", "anyhook.handlers.http",
    "anyhook.handlers.function", "anyhook.handlers.callable_host", "anyhook.engine.engine",
    "anyhook.engine.bridge_failure", "anyhook.engine.catalog", "anyhook.engine.dedupe", "anyhook.engine.disobeyed",
    "anyhook.engine.near_miss", "anyhook.engine.rules", "anyhook.engine.settle", "anyhook.gates.tell",
    "anyhook.engine.call_cases", "anyhook.guard.calls", "anyhook.rules.calls", "anyhook.programs.grammar",
    "anyhook.platform.run", "_ctypes", "hashlib", "json", "pathlib", "re", "regex", "shlex", "subprocess",
    "threading", "tomllib", "yaml",
)  # fmt: skip
SETTLE_S = 0.03
"""How long a call has the CPU to itself before a new worker is forked, if another worker is ready for the next call."""
BUSY_S = 0.01
"""How long none may be ready, and no call begin, before more are forked: most calls take less than a new worker,"""
STUCK_S = 0.1
"""and how long if the workers keep every CPU busy: then one more makes all of them slower."""
MAX_WORKERS = 200
MAX_PROJECTS = 16
"""How many plans are kept."""
TICK_S = 20.0
"""How often it checks whether it is still needed."""
UNUSED_S, IDLE_S = 60.0, 600.0
"""How long it waits for its first call, and for the next one."""
USED = struct.Struct("=dI")
"""The time of the last call, and the number of calls."""
GONE, IDLE, BUSY = 0, 1, 2
"""The states of a worker; each has a byte in the memory that all of them share."""


class Shared:
    """What a worker knows about its server."""

    def __init__(self, path: str) -> None:
        self.pid, self.path = os.getpid(), path
        self.folder, self._state_dir = installation(), state_dir(os.environ)
        self.likeness = Likeness("self")
        given = given_env()
        self.read_at_start = read_at_start(given)
        # If no variable names a locale, Python sets one and its children inherit it (PEP 538).
        self.coerced = {name: os.environb[name] for name in (b"LC_CTYPE",) if name in os.environb and name not in given}
        self.loaded = Installation()
        self.imports = sys.path[1:] if is_module(sys.argv[0]) else sys.path[:]
        """Where the script imports from; `python -m` puts the current directory before it."""
        self._shared = mmap.mmap(-1, USED.size + MAX_WORKERS)
        USED.pack_into(self._shared, 0, monotonic(), 0)

    def knows_agents(self) -> bool:
        """Whether this call would find the same agents of other packages as this server. The list may be cached in the
        state folder, which depends on the environment."""
        if state_dir(os.environ) == self._state_dir:
            return True  # same state folder, and no package has changed since
        known = tuple(name for name, _, _ in registry.AGENTS)
        return registry.installed(os.environ, sys.path, known) == registry.OTHERS

    def note_call(self) -> None:
        USED.pack_into(self._shared, 0, monotonic(), self.calls + 1)

    @property
    def used_s(self) -> float:
        return float(USED.unpack_from(self._shared)[0])

    @property
    def calls(self) -> int:
        return int(USED.unpack_from(self._shared)[1])

    def set_worker(self, number: int, state: int) -> None:
        self._shared[USED.size + number] = state

    def count(self, state: int) -> int:
        """How many workers are in this state."""
        return self._shared[USED.size :].count(state)

    def free_number(self) -> int:
        """A number for a new worker; -1 if there is none."""
        return self._shared.find(bytes([GONE]), USED.size) - USED.size if self.count(GONE) else -1

    def numbers(self) -> tuple[int, int, int]:
        """Its pid, the seconds it has been idle, the number of its workers."""
        return self.pid, int(monotonic() - self.used_s), self.count(IDLE) + self.count(BUSY)


def serve(stand_in: Callable[[int], int], path: str, lock: int) -> NoReturn:
    """`stand_in` runs the command in a worker, for the caller with this pid. This process holds `lock` until it exits,
    so that there is one server per socket; the lock file says that a server is starting, until it has started."""
    Compiled.after = 0  # once here, instead of in every worker
    for name in PRELOADED:
        try:
            import_module(name)
        except ImportError:
            continue  # a call that needs it reports the failure
    for agent, parts, _ in registry.AGENTS:
        if parts & registry.DECLARES:
            registry.dialect(agent)
        if parts & ~registry.DECLARES:
            registry.host(agent)
    practise()
    kept.most = MAX_PROJECTS
    state = Shared(path)
    gc.disable()
    Pool(stand_in, path, lock, state).run()


class Pool:
    """The workers, and the server's end."""

    def __init__(self, stand_in: Callable[[int], int], path: str, lock: int, state: Shared) -> None:
        self._stand_in, self._path, self._lock, self._state = stand_in, path, lock, state
        self._workers: dict[int, int] = {}
        """Process → number."""
        self._generation = os.pipe()
        """Workers exit when the second end is closed: the server is gone, or knows more than they do."""
        self._heard, self._tell = os.pipe()
        self._woken, wake = os.pipe()
        for descriptor in (self._heard, self._woken, wake):
            os.set_blocking(descriptor, False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bind()
        self._inode = stamp(path)
        self._settled_s = 0.0
        """When missing workers are forked, on the monotonic clock."""
        self._begun = -1
        """How many calls had begun when it was last seen that no worker is ready; -1 if one was."""
        self._stuck_s = 0.0
        """When no call will have begun for too long, on the monotonic clock."""
        os.ftruncate(lock, 0)

    def _bind(self) -> None:
        """Replace the socket of a server that died: we hold the lock, so the path is ours."""
        before = os.umask(0o177)
        if os.path.lexists(self._path):
            os.unlink(self._path)
        self._listener.bind(self._path)
        os.umask(before)
        self._listener.setblocking(False)
        self._listener.listen(128)

    def run(self) -> NoReturn:
        poll = select.poll()
        for descriptor in (self._heard, self._woken, self._state.loaded.descriptor):
            poll.register(descriptor, select.POLLIN)
        while True:
            poll.poll(self._fill() * 1000)
            signals, told = _drained(self._woken), _drained(self._heard)
            if self._reap():
                self._settled_s = monotonic() + SETTLE_S
            if signal.SIGTERM in signals or not self._is_needed():
                self._end()
            if told.strip(b"."):
                self._learn(told)

    def _fill(self) -> float:
        """Fork the workers that are missing, and say when to look again. While one waits, those that are busy count:
        one that is forked for the time of a call would take the place of one whose memory is its own."""
        idle, begun = self._state.count(IDLE), self._state.calls
        if idle or not self._workers:
            self._begun = -1
            if idle and monotonic() < self._settled_s:
                return SETTLE_S
        elif begun != self._begun:
            self._begun, self._stuck_s = begun, monotonic() + STUCK_S
            return BUSY_S
        elif monotonic() < self._stuck_s and sum(map(_is_running, self._workers)) >= len(os.sched_getaffinity(0)):
            return BUSY_S
        self._fork(SPARE - (len(self._workers) if idle else 0))
        return TICK_S if self._state.count(IDLE) else SETTLE_S

    def _fork(self, wanted: int) -> None:
        for _ in range(wanted):
            number = self._state.free_number()
            if number < 0:
                return
            self._state.set_worker(number, IDLE)
            try:
                pid = os.fork()
            except OSError:
                self._state.set_worker(number, GONE)
                return  # no process available: calls are cold until there is one
            if pid == 0:
                os.close(self._lock)
                os.close(self._generation[1])
                Worker(self._listener, self._generation[0], self._tell, self._state, number, self._stand_in).run()
            self._workers[pid] = number

    def _learn(self, told: bytes) -> None:
        """Workers have read plans that this process does not keep. Later workers will have them from the start; those
        that wait now are replaced."""
        learnt = [learn(line) for line in told.split(b"\n") if line.strip(b".")]
        if not any(learnt):
            return
        gc.collect()
        gc.freeze()  # garbage collection in a worker must not touch (and copy) our pages
        before, self._generation = self._generation, os.pipe()
        os.close(before[1])
        os.close(before[0])
        self._fork(SPARE)

    def _reap(self) -> bool:
        """Whether a worker has ended."""
        ended = False
        while self._workers:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended = True
            if pid in self._workers:
                self._state.set_worker(self._workers.pop(pid), GONE)
        return ended

    def _is_needed(self) -> bool:
        limit_s = IDLE_S if self._state.calls else UNUSED_S
        if not self._state.count(BUSY) and monotonic() - self._state.used_s > limit_s:
            return False
        if self._state.likeness.terminal and not os.path.exists(f"/proc/{self._state.likeness.session}"):
            return False
        return self._inode is not None and stamp(self._path) == self._inode and self._state.loaded.is_same()

    def _end(self) -> NoReturn:
        """Waiting workers notice and exit too; those that serve a call complete it."""
        if stamp(self._path) == self._inode:
            os.unlink(self._path)
        os._exit(0)


def _is_running(pid: int) -> bool:
    """Whether a process uses a CPU, or waits for one: a worker whose hooks run waits for them."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2].startswith(b"R")
    except OSError:
        return False


def _drained(descriptor: int) -> bytes:
    found = b""
    try:
        while data := os.read(descriptor, 65536):
            found += data
    except BlockingIOError:
        pass
    return found
