"""The client in Python: starts a server, asks for its status, and sends it a call if there is no native launcher."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping
from typing import NoReturn

from anyhook.extra.warm.messages import (
    ACCEPTED,
    CALL,
    ENDED,
    ON_DUTY,
    READY,
    STATUS,
    STOP,
    Gone,
    Message,
    receive_number,
    send_request,
    send_streams,
)
from anyhook.extra.warm.place import OTHER_FILES, checksum, installation, socket_path
from anyhook.extra.warm.start import start_server
from anyhook.model.record import Record
from anyhook.platform.launched import put_before_stdin
from anyhook.platform.places import NoPlace, runtime_dir
from anyhook.platform.spawn import here

START_S, ACCEPT_S, ANSWER_S, STDIN_S = 20.0, 20.0, 5.0, 5.0
"""How long to wait for a server to start, to accept a call and to send its status, and for the end of stdin."""
ENOUGH_BYTES = 1 << 26
TOLD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LostWorker(Exception):  # noqa: N818 (it says what is wrong)
    """The process that ran the hooks was killed."""

    def __init__(self) -> None:
        super().__init__("the warm worker that ran the hooks was killed; they are not run a second time")


class ServerState(Record):
    pid: int
    idle_s: int
    workers: int


def connect(path: str) -> socket.socket | None:
    """A connection to a server of this user, or None."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
        _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid == os.geteuid():
            return connection
    except OSError:
        pass
    connection.close()
    return None


def files(env: Mapping[str, str]) -> list[str]:
    """What this installation's servers keep in the user's runtime folder, which all installations share."""
    folder, name = runtime_dir(env), checksum(installation())
    try:
        return [f"{folder}/{entry}" for entry in sorted(os.listdir(folder)) if entry.startswith(f"{name}-")]
    except OSError:
        return []


def servers(env: Mapping[str, str]) -> list[str]:
    """The sockets of this installation's servers, for different surroundings and terminals."""
    return [path for path in files(env) if not path.endswith(OTHER_FILES)]


def ask(path: str, *, stop: bool = False) -> ServerState | None:
    """A server's status, or its last one if it is told to stop."""
    connection = connect(path)
    if connection is None:
        return None
    with connection:
        connection.settimeout(ANSWER_S)
        try:
            send_request(connection, Message(STOP if stop else STATUS, [], []))
            if connection.recv(1) != READY:
                return None
            state = ServerState(*[receive_number(connection) for _ in ServerState.fields])
        except (OSError, Gone):
            return None
    deadline = time.monotonic() + ANSWER_S
    while stop and os.path.lexists(path) and time.monotonic() < deadline:
        time.sleep(0.005)
    return state


def call(words: list[str], env: Mapping[str, str]) -> int | None:
    """The exit status of a call that a server served; None if this process has to make it. Starts a server if needed,
    and waits for it."""
    if here.tell_duty is not None or here.unless is not None or has_low_limits():  # a worker, or one was lost
        return None
    try:
        path = socket_path(env)
        connection = connect(path)
        if connection is None:
            deadline = time.monotonic() + START_S
            while (connection := connect(path)) is None and time.monotonic() < deadline:
                start_server(env)  # again if a stopped server has not exited yet
                time.sleep(0.005)
    except (OSError, NoPlace):
        return None
    if connection is None:
        return None
    with connection:
        return _served(connection, words)


def has_low_limits() -> bool:
    """Whether stdin could not be kept in memory, or a server could not work with the caller's limits (the launcher does
    the same)."""
    found = [resource.getrlimit(each)[0] for each in (resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return any(limit != resource.RLIM_INFINITY and limit < ENOUGH_BYTES for limit in found)


def _served(connection: socket.socket, words: list[str]) -> int | None:
    reads_stdin = words[0] == "bridge" or "-" in words or any(word.endswith("=-") for word in words)
    if reads_stdin and not _keep_stdin():
        return None
    if not _is_handed_over(connection, words):
        _rewind_stdin()
        return None
    worker = ServingProcess()
    handlers = {number: signal.getsignal(number) for number in TOLD}
    for number in TOLD:
        if handlers[number] is not signal.SIG_IGN:
            signal.signal(number, worker.tell)
    try:
        status = worker.status(connection)
    finally:
        if worker.process is not None:
            os.close(worker.process)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if status is not None:
        return status
    if worker.told:  # the signal that killed it would have killed this process too
        os.kill(os.getpid(), worker.told)
    if worker.may_have_run:
        lose_worker()
    _rewind_stdin()
    return None


class ServingProcess:
    """The process that serves a call, as its caller sees it."""

    process: int | None = None
    """A pidfd, once it has accepted the call."""
    told = 0
    """The signal to end by."""
    _said = b""
    _is_late = False

    def status(self, connection: socket.socket) -> int | None:
        """The exit status of the call; None if the worker did not accept it, or was killed."""
        try:
            if not _answers_in_time(connection):
                # From here on, no worker can accept the call; if one has, its answer is there.
                self._is_late = True
                connection.shutdown(socket.SHUT_RDWR)
            while letter := connection.recv(1):
                if letter == ENDED:
                    return receive_number(connection)
                if letter not in (ACCEPTED, ON_DUTY):
                    break
                self._said = letter
                if letter == ACCEPTED:
                    self.process = _open_process(receive_number(connection))
                    if self.told:  # before the worker was known
                        self.tell(self.told, None)
        except (OSError, Gone):
            pass
        return None

    @property
    def may_have_run(self) -> bool:
        """Whether hooks may have run in it."""
        return self._said == ON_DUTY or (self._said == ACCEPTED and self._is_late)

    def tell(self, number: int, _: object) -> None:
        """Pass a signal to the worker. If the worker is not known yet, the signal waits until it is. Without a pidfd
        only this process ends; the worker notices that, and ends too."""
        self.told = number
        if self.process is not None:
            try:
                signal.pidfd_send_signal(self.process, number)
            except ProcessLookupError:
                pass  # it has ended, and its status is there to be read
        elif self._said:
            _end_by(number)


def _is_handed_over(connection: socket.socket, words: list[str]) -> bool:
    """Send the call, and the streams once a worker is ready for them."""
    with open("/proc/self/environ", "rb") as file:
        env = file.read().split(b"\0")[:-1]
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        send_request(connection, Message(CALL, [os.fsencode(word) for word in (sys.argv[0], *words)], env))
        if not _answers_in_time(connection) or connection.recv(1) != READY:
            return False
        send_streams(connection, folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def _answers_in_time(connection: socket.socket) -> bool:
    return bool(select.select([connection], [], [], ACCEPT_S)[0])


def _open_process(pid: int) -> int | None:
    """None if it has ended already, or if this system has no pidfds."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _end_by(number: int) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # if the signal is blocked


def lose_worker() -> None:
    """From here on this process runs no hook: it answers as if it had failed itself."""

    def refuse() -> None:
        raise LostWorker

    here.unless = refuse


def _keep_stdin() -> bool:
    """Keep all of stdin in memory, so that it can be read again if a worker is lost. False if it does not end in time:
    then this process makes the call, and its watchdog answers if stdin never ends."""
    kept = os.memfd_create("stdin", os.MFD_CLOEXEC)
    is_whole = _copied_by(time.monotonic() + STDIN_S, kept)
    os.lseek(kept, 0, os.SEEK_SET)
    if is_whole:
        os.dup2(kept, 0)
        os.close(kept)
        return True
    put_before_stdin(kept)
    return False


def _copied_by(deadline_s: float, to: int) -> bool:
    while select.select([0], [], [], max(deadline_s - time.monotonic(), 0.0))[0]:
        data = os.read(0, 1 << 20)
        if not data:
            return True
        os.write(to, data)
    return False


def _rewind_stdin() -> None:
    try:
        os.lseek(0, 0, os.SEEK_SET)
    except OSError:
        pass  # it was not kept, so it is still unread
