"""An interpreter that has loaded the command and forks once per call. A call is a process of its own, with its own
arguments, environment, directory, descriptors and session; only what a start of Python costs is paid once.

Run as `python -P command_server.py SOCKET MODULE...`. It ends when its stdin does.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from typing import Any

HEADER = 8
"""Bytes that say how long the request is."""


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
    """Take on what a new process gets from whoever starts it. stdin, stdout and stderr were pipes here already, so that
    Python's own objects for them, which looked at them once, stay right."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    os.closerange(3, min(os.sysconf("SC_OPEN_MAX"), 4096))
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["argv"]
    if request["path"] is not None:
        sys.path.insert(0, request["path"])


def child(connection: socket.socket) -> None:
    """The call itself, which ends this process."""
    try:
        become(*receive(connection))
        from anyhook.entry import main

        main()
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
    except BaseException:  # noqa: BLE001 (what Python itself does with it)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def serve(listener: socket.socket, woken: int) -> None:
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([0, listener.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
        if listener.fileno() in ready:
            connection = listener.accept()[0]
            pid = os.fork()
            if pid == 0:
                child(connection)
            connection.sendall(b"%d\n" % pid)
            running[pid] = connection
        for pid in list(running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                with running.pop(pid) as connection:
                    try:
                        connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
                    except OSError:  # the caller is gone
                        pass
        if 0 in ready:
            return


def start() -> None:
    path, *modules = sys.argv[1:]
    for name in modules:
        importlib.import_module(name)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(64)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    gc.collect()
    gc.freeze()  # a child that collects leaves our pages alone
    os.write(1, b"ready\n")
    serve(listener, woken)


if __name__ == "__main__":
    start()
