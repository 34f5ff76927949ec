"""An interpreter that has loaded the command and forks workers for its calls. A call has its own arguments,
environment, directory and descriptors. A worker that a call has not changed takes another one: a new process costs more
than most calls, because it copies each page of memory that it writes to.

Run as `python -P command_server.py SOCKET MODULE...`. It ends when its stdin does.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import sysconfig
import termios
import time
import traceback
from typing import Any, NoReturn

HEADER = 8
"""How many bytes the length of a request has."""
FRESH, ANY = b"f", b"a"
"""The first byte of a call: whether it needs a new process."""
CHANNEL = 3
"""The descriptor on which a worker gets its calls."""


KIT = "anyhook.extra.testing.kit"
"""Its cases are calls of this server, if it is there: it is a satellite."""


def mains() -> dict[str, str]:
    """What can be called, by its name after `python -m`: the module with its function `main`."""
    from anyhook.satellites import part

    found = {"anyhook": "anyhook.entry"}
    return {**found, f"{KIT}.one_shot": f"{KIT}.one_shot"} if part("testing.kit") else found


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The request, and the three descriptors that come with it."""
    fds = array.array("i")
    head, ancillary, _, _ = connection.recvmsg(HEADER, socket.CMSG_SPACE(3 * fds.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    while len(head) < HEADER:
        head += connection.recv(HEADER - len(head))
    missing, parts = int.from_bytes(head, "big"), []
    while missing:
        part = connection.recv(min(missing, 1 << 20))
        if not part:
            raise EOFError("the caller is gone")
        parts.append(part)
        missing -= len(part)
    return json.loads(b"".join(parts)), list(fds)


def become(request: dict[str, Any], fds: list[int]) -> None:
    """Take over what a new process inherits from its parent."""
    if request["session"] and os.getsid(0) != os.getpid():
        os.setsid()
    if request["terminal"]:
        fcntl.ioctl(fds[0], termios.TIOCSCTTY, 0)
    os.chdir(request["cwd"])
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    os.closerange(CHANNEL + 1, min(os.sysconf("SC_OPEN_MAX"), 4096))
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    os.environ.clear()
    os.environ.update(request["env"])
    places = sys.modules.get("anyhook.state.entry_places")
    if places is not None:  # what the last call of this worker had
        places.Caller.given = None
    sys.argv = request["argv"]
    if request["path"] is not None:
        sys.path.insert(0, request["path"])
    sys.stdin = open(0, encoding="utf-8", errors=sys.stdin.errors, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors=sys.stdout.errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors=sys.stderr.errors, closefd=False)  # noqa: SIM115


class Ended(BaseException):
    """The command has ended with this status. A worker raises it in place of `os._exit`."""

    def __init__(self, status: int) -> None:
        self.status = status


class OsWithoutExit:
    """The module `os` for the entry point of the command."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _exit(self, status: int) -> NoReturn:
        raise Ended(status)


def condition() -> list[object]:
    """What a call may leave behind in its process: descriptors, threads, modules, signal handlers."""
    counted = [len(os.listdir(f"/proc/self/{name}")) for name in ("fd", "task")]
    return [*counted, len(sys.modules), *map(signal.getsignal, signal.valid_signals())]


def is_again(before: list[object]) -> bool:
    """Whether the process is in this condition again. A thread that has been told to end needs a moment."""
    for _ in range(20):
        if condition() == before:
            return True
        time.sleep(0.0005)
    return False


def has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def work(channel: socket.socket) -> NoReturn:
    """The life of a worker. Cases that its command runs are calls of this server too."""
    os.dup2(channel.fileno(), CHANNEL, inheritable=False)
    channel = socket.socket(fileno=CHANNEL)
    called: dict[str, Any] = {name: importlib.import_module(module) for name, module in mains().items()}
    for main in called.values():
        main.os = OsWithoutExit()
    bridge: Any = importlib.import_module("anyhook.cli.bridge")

    class EndingWatchdog(bridge.Watchdog):  # type: ignore[misc]
        """In a process that ends after its call, the thread need not be woken."""

        def stop(self) -> None:
            super().stop()
            self._sleep.release()

    bridge.Watchdog = EndingWatchdog
    if len(called) > 1:
        sandbox: Any = importlib.import_module(f"{KIT}.sandbox")
        sandbox.call = importlib.import_module("command").caller_of(sys.argv[1])
    path = [*sys.path]
    while True:
        status, request = 1, dict[str, Any]()
        before: list[object] = []
        try:
            with socket.socket(fileno=socket.recv_fds(channel, 1, 1)[1][0]) as connection:
                request, fds = receive(connection)
                become(request, fds)
                connection.detach()  # `become` has closed it
            before = condition()
            called[request["main"]].main()
        except Ended as end:
            status = end.status
        except BaseException:  # noqa: BLE001 (what Python itself does with it)
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        if request["memory"] or request["terminal"] or not is_again(before) or has_children():
            os._exit(status)
        bridge.Started.process = "unknown"  # when this process was started says nothing about the next call
        sys.path[:] = path
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(CHANNEL):
            os.dup2(nothing, number)  # a reader of the output sees its end
        os.close(nothing)
        channel.sendall(b"%d" % status)


class Worker:
    """A worker, seen from the server."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            work(theirs)
        theirs.close()
        self._life = os.pidfd_open(self.pid)
        self.signs = self._channel.fileno(), self._life
        """One of these can be read when its call has ended."""

    def take(self, caller: socket.socket) -> None:
        self._caller = caller
        socket.send_fds(self._channel, [b"."], [caller.fileno()])
        caller.sendall(b"%d\n" % self.pid)

    def end_call(self) -> bool:
        """Tell the caller its status. Whether the worker can take another call."""
        said = b""
        with contextlib.suppress(
            BlockingIOError
        ):  # it is dead, and something that it started still has the other end open
            said = self._channel.recv(16, socket.MSG_DONTWAIT)
        if not said:
            said = b"%d" % os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self._channel.close()
            os.close(self._life)
            self.pid = 0
        with self._caller, contextlib.suppress(OSError):  # the caller may be gone
            self._caller.sendall(said)
        return self.pid != 0


def serve(listener: socket.socket) -> None:
    busy: list[Worker] = []
    idle: list[Worker] = []
    while True:
        signs = [sign for worker in busy for sign in worker.signs]
        ready = select.select([0, listener.fileno(), *signs], [], [])[0]
        for worker in [worker for worker in busy if not set(worker.signs).isdisjoint(ready)]:
            busy.remove(worker)
            if worker.end_call():
                idle.append(worker)
        if listener.fileno() in ready:
            caller = listener.accept()[0]
            is_fresh = caller.recv(1) == FRESH
            worker = idle.pop() if idle and not is_fresh else Worker()
            worker.take(caller)
            busy.append(worker)
        if 0 in ready:
            return


def start() -> None:
    path, *modules = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(__file__))
    for name in ("command", *mains().values(), *modules):
        importlib.import_module(name)
    del sys.path[0]
    sysconfig.get_config_vars()  # loads a large module
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(64)
    gc.collect()
    gc.freeze()  # garbage collection in a child must not touch (and copy) our pages
    os.write(1, b"ready\n")
    serve(listener)


if __name__ == "__main__":
    start()
