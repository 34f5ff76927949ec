"""The server: an interpreter that has loaded the command and forks workers that wait for calls. It caches no approvals
and no decisions. It exits when it is no longer used."""

from __future__ import annotations

import mmap
import os
import select
import signal
import socket
import struct
import sys
from importlib import import_module
from time import monotonic

from anyhook.extra.warm.changes import Installation
from anyhook.extra.warm.hot_pages import HotPages
from anyhook.extra.warm.likeness import Likeness
from anyhook.extra.warm.messages import NUMBER
from anyhook.extra.warm.notes import notes_path, open_notes, write_notes
from anyhook.extra.warm.place import given_env, installation, is_module, read_at_start
from anyhook.extra.warm.quiet import delete_tables
from anyhook.extra.warm.rehearsal import prepare, rehearse
from anyhook.extra.warm.worker import wait_for_call
from anyhook.model.record import Compiled
from anyhook.platform.places import stamp, state_dir
from anyhook.tables import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


PRELOADED = (
    "anyhook.cli.fire", "anyhook.cli.bridge", "anyhook.cli.options", "anyhook.cli.render",
    "anyhook.handlers.http", "anyhook.handlers.function", "anyhook.handlers.callable_host", "anyhook.engine.engine",
    "anyhook.engine.bridge_failure", "anyhook.engine.catalog", "anyhook.engine.dedupe", "anyhook.engine.near_miss",
    "anyhook.engine.settle", "_ctypes", "hashlib", "json", "pathlib", "re", "regex", "subprocess", "threading",
    "tomllib", "yaml",
)  # fmt: skip
SPARE = 3
"""How many workers wait for calls."""
SETTLE_S = 0.03
"""How long a call has the CPU to itself before a new worker is forked, if another worker is ready for the next call."""
MAX_WORKERS = 200
TICK_S = 20.0
"""How often it checks whether it is still needed."""
UNUSED_S, IDLE_S = 60.0, 600.0
"""How long it waits for its first call, and for the next one."""
USED = struct.Struct("=dI")
"""The time of the last call, and the number of calls."""
WORKERS_AT = USED.size
HAS_FAILED_AT = WORKERS_AT + NUMBER.size
"""Where the number of workers is, and whether the journal has failed. Several processes write here at the same time, so
each writes only what it changes."""


class Shared:
    """What a worker knows about its server."""

    def __init__(self, path: str, hot_pages: HotPages) -> None:
        self.pid, self.path, self.hot_pages = os.getpid(), path, hot_pages
        self.folder, self._state_dir = installation(), state_dir(os.environ)
        self.likeness = Likeness("self")
        given = given_env()
        self.read_at_start = read_at_start(given)
        # If no variable names a locale, Python sets one and its children inherit it (PEP 538).
        self.coerced = {name: os.environb[name] for name in (b"LC_CTYPE",) if name in os.environb and name not in given}
        self.loaded = Installation()
        self.imports = sys.path[1:] if is_module(sys.argv[0]) else sys.path[:]
        """Where the script imports from; `python -m` puts the current directory before it."""
        self._shared = mmap.mmap(-1, HAS_FAILED_AT + NUMBER.size)
        USED.pack_into(self._shared, 0, monotonic(), 0)

    def knows_agents(self) -> bool:
        """Whether this call would find the same agents of other packages as this server. The list may be cached in the
        state folder, which depends on the environment."""
        if state_dir(os.environ) == self._state_dir:
            return True  # same state folder, and no package has changed since
        known = tuple(name for name, _, _ in registry.AGENTS)
        return registry.installed(os.environ, sys.path, known) == registry.OTHERS

    def busy_since(self) -> None:
        USED.pack_into(self._shared, 0, monotonic(), self.calls + 1)

    def fail(self) -> None:
        """The journal cannot be written: from here on every call is an ordinary one, which reports it."""
        NUMBER.pack_into(self._shared, HAS_FAILED_AT, 1)
        delete_tables(self.path)

    @property
    def used_s(self) -> float:
        return float(USED.unpack_from(self._shared)[0])

    @property
    def calls(self) -> int:
        return int(USED.unpack_from(self._shared)[1])

    @property
    def workers(self) -> int:
        return int(NUMBER.unpack_from(self._shared, WORKERS_AT)[0])

    @property
    def has_failed(self) -> bool:
        return bool(NUMBER.unpack_from(self._shared, HAS_FAILED_AT)[0])

    def count(self, workers: int) -> None:
        NUMBER.pack_into(self._shared, WORKERS_AT, workers)

    def numbers(self) -> tuple[int, int, int]:
        """Its pid, the seconds it has been idle, the number of its workers."""
        return self.pid, int(monotonic() - self.used_s), self.workers


def serve(stand_in: Callable[[int], None], path: str, lock: int) -> NoReturn:
    """`stand_in` runs the command in a worker, for the caller with this pid. This process holds `lock` until it exits,
    so that there is one server per socket; the lock file says that a server is starting, until it has started."""
    stage = f"{path}.rehearsal"
    prepare(stage)
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
    hot = rehearse(stage, stand_in)
    Compiled.after = sys.maxsize
    state = Shared(path, HotPages(hot))
    Pool(stand_in, path, lock, state).run()


class Pool:
    """The workers, and the server's end."""

    def __init__(self, stand_in: Callable[[int], None], path: str, lock: int, state: Shared) -> None:
        self._stand_in, self._path, self._lock, self._state = stand_in, path, lock, state
        self._spare: set[int] = set()
        self._busy: set[int] = set()
        self._taken_s = 0.0
        """The time of the last call, on the monotonic clock."""
        self._teacher = 0
        """The worker that will report which memory its call has copied, while there is one."""
        self._writer = 0
        """The process that writes notes, while there is one."""
        self._taken, self._tell_taken = os.pipe()
        self._woken, wake = os.pipe()
        for descriptor in (self._taken, self._woken, wake):
            os.set_blocking(descriptor, False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bind()
        self._notes = open_notes(path)
        self._inode = stamp(path)
        os.ftruncate(lock, 0)

    def _bind(self) -> None:
        """Replace the socket of a server that died: we hold the lock, so the path is ours."""
        before = os.umask(0o177)
        if os.path.lexists(self._path):
            os.unlink(self._path)
        self._listener.bind(self._path)
        os.umask(before)
        delete_tables(self._path)
        self._listener.listen(128)

    def run(self) -> NoReturn:
        poll = select.poll()
        poll.register(self._taken, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        poll.register(self._state.loaded.descriptor, select.POLLIN)
        while True:
            if not (self._spare and self._busy) or monotonic() - self._taken_s >= SETTLE_S:
                self._fill()
            if not self._writer:
                poll.register(self._notes, select.POLLIN)
            came = dict(poll.poll((TICK_S if len(self._spare) >= SPARE else SETTLE_S) * 1000))
            if not self._writer:
                poll.unregister(self._notes)
                if self._notes.fileno() in came:
                    self._write_notes()
            try:
                signals = os.read(self._woken, 4096)
            except BlockingIOError:
                signals = b""
            self._note_taken()
            self._reap()
            if signal.SIGTERM in signals or not self._is_needed():
                self._end()

    def _fill(self) -> None:
        while len(self._spare) < SPARE and len(self._spare) + len(self._busy) < MAX_WORKERS:
            teaches = not self._teacher and self._state.hot_pages.lessons_left > 0
            try:
                pid = os.fork()
            except OSError:
                break  # no process available: calls are cold until there is one
            if pid == 0:
                os.close(self._lock)
                wait_for_call(self._listener, self._tell_taken, self._state, self._stand_in, teaches)
            self._spare.add(pid)
            self._teacher = pid if teaches else self._teacher
        self._state.count(len(self._spare) + len(self._busy))

    def _write_notes(self) -> None:
        try:
            self._writer = os.fork()
        except OSError:
            return  # they stay in the socket's queue
        if self._writer == 0:
            os.close(self._lock)
            write_notes(self._notes, self._path, self._state.busy_since, self._state.fail)

    def _note_taken(self) -> None:
        try:
            data = os.read(self._taken, 65536)
        except BlockingIOError:
            return
        self._taken_s = monotonic()
        for (pid,) in NUMBER.iter_unpack(data):
            if pid in self._spare:
                self._spare.remove(pid)
                self._busy.add(pid)

    def _reap(self) -> None:
        while self._spare or self._busy or self._writer:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._spare.discard(pid)
            self._busy.discard(pid)
            if pid == self._teacher:
                self._state.hot_pages.learn()
                self._teacher = 0
            self._writer = 0 if pid == self._writer else self._writer

    def _is_needed(self) -> bool:
        limit_s = IDLE_S if self._state.calls else UNUSED_S
        if not self._busy and monotonic() - self._state.used_s > limit_s:
            return False
        if self._state.likeness.terminal and not os.path.exists(f"/proc/{self._state.likeness.session}"):
            return False
        return self._inode is not None and stamp(self._path) == self._inode and self._state.loaded.is_same()

    def _end(self) -> NoReturn:
        """Waiting workers notice and exit too; those that serve a call complete it."""
        if stamp(self._path) == self._inode:
            os.unlink(self._path)
            delete_tables(self._path)
            os.unlink(notes_path(self._path))
        if not self._writer and select.select([self._notes], [], [], 0)[0]:
            self._write_notes()  # those that arrived in the meantime
        os._exit(0)
