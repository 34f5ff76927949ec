"""One worker: waits for a call, takes over the caller's process state, runs the command and exits."""

from __future__ import annotations

import fcntl
import io
import os
import select
import signal
import socket
import sys
from functools import partial

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
    receive_request,
    receive_streams,
)
from anyhook.extra.warm.place import is_module, is_wanted, parse_env, read_at_start
from anyhook.extra.warm.quiet import delete_tables, keep_tables
from anyhook.extra.warm.warm_python import Interpreters, WarmChild
from anyhook.journal.journal import Recorder
from anyhook.platform.launched import Launcher
from anyhook.platform.run import prctl
from anyhook.platform.spawn import here
from anyhook.state.entry_places import Caller, fix_places, options_of_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from anyhook.extra.warm.hot_pages import HotPages
    from anyhook.extra.warm.messages import Message
    from anyhook.extra.warm.server import Shared

PATIENCE_S = 15.0
"""How long a caller may take to send its request."""
END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG."""
SIGNAL_OF_EVENT = 10
"""F_SETSIG."""
NAMES = ("<stdin>", "<stdout>", "<stderr>")


def wait_for_call(
    listener: socket.socket, taken: int, state: Shared, stand_in: Callable[[int], None], teaches: bool
) -> NoReturn:
    """In a fork of the server. A byte written to `taken` tells the server that this worker is busy. If it `teaches`, it
    reports at its end which memory the call has copied."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    prctl(END_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != state.pid:
        os._exit(0)
    if not select.select([listener], [], [], 0)[0]:  # nothing waits for us yet
        state.hot_pages.copy(teaches)
    connection = listener.accept()[0]
    prctl(END_WITH_PARENT, 0)  # a call goes on without its server
    os.write(taken, NUMBER.pack(os.getpid()))
    os.close(taken)
    listener.close()
    connection.settimeout(PATIENCE_S)
    try:
        connection.send(READY)
        caller = _peer(connection)
        request = receive_request(connection)
        if request.kind == CALL:
            _become(request, caller, connection, state)
        else:
            _report(request, connection, state)
    except (Unlike, Gone, OSError, ValueError):
        _refuse(connection)
    stand_in(caller)
    os._exit(1)  # it never returns


def _refuse(connection: socket.socket) -> NoReturn:
    try:
        connection.send(REFUSED)
    except OSError:
        pass  # the caller is gone
    os._exit(0)


def _peer(connection: socket.socket) -> int:
    """The pid of the process at the other end, which must belong to this user."""
    import struct

    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.geteuid() or pid <= 0:
        raise Unlike("the caller is another user, or in another namespace")
    return int(pid)


def _report(request: Message, connection: socket.socket, state: Shared) -> NoReturn:
    """Send the server's status, or stop it."""
    if request.kind == STOP:
        os.kill(state.pid, signal.SIGTERM)
    if request.kind in (STATUS, STOP):
        connection.sendall(b"".join([NUMBER.pack(number) for number in state.numbers()]))
    os._exit(0)


def _become(request: Message, caller: int, connection: socket.socket, state: Shared) -> None:
    """Take over everything that a new process inherits from its caller. The last step tells the caller: from then on
    the call is ours. If the caller is gone by then, it has made the call itself."""
    env = parse_env(request.env)
    words = [os.fsdecode(word) for word in request.words]
    if read_at_start(env) != state.read_at_start:
        raise Unlike("Python would start in another way")
    if not state.loaded.is_same():
        os.kill(state.pid, signal.SIGTERM)
        raise Unlike("the installation has changed")
    os.environb.clear()
    os.environb.update({**env, **{name: value for name, value in state.coerced.items() if name not in env}})
    fix_places(words[1:], os.environ)
    Launcher.can_answer = True
    if not is_wanted(os.environ):
        raise Unlike("the user's settings say no")
    if take_on(state.likeness, caller):
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
    state.busy_since()
    _tell_the_end(connection, _last_act(request, env, state), state.hot_pages)
    # From here on, this process gets SIGTERM when the caller is gone.
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, SIGNAL_OF_EVENT, signal.SIGTERM)
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
    connection.sendall(ACCEPTED + NUMBER.pack(os.getpid()))


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


def _last_act(request: Message, env: Mapping[bytes, bytes], state: Shared) -> Callable[[], None] | None:
    """The function to call after the answer, if no hook could run: it writes the launcher's table for the next call of
    this kind."""
    words = [os.fsdecode(word) for word in request.words[1:]]
    if words[0] != "bridge" or words[3:] != options_of_places(words[3:]) or state.has_failed:
        return None
    if Caller.given != dict(os.environ):  # the launcher compares only with what the entry fixes
        return None

    def keep() -> None:
        if Recorder.has_failed:
            state.fail()
            return
        try:
            os.lseek(0, 0, os.SEEK_SET)
            with open(0, "rb", closefd=False) as stdin:
                keep_tables(state.path, words[1:], stdin.read(), env)
            if state.has_failed:  # in the meantime
                delete_tables(state.path)
        except Exception:  # noqa: BLE001 (the answer is given; without a table the next call is an ordinary one)
            return

    return keep


def _tell_the_end(connection: socket.socket, last: Callable[[], None] | None, hot_pages: HotPages) -> None:
    """Send the caller the exit status, however the command ends, and before hooks run a message that they do. After
    that, do the deferred work, and call `last` if no hook ran."""
    pid, leave = os.getpid(), os._exit
    on_duty = False

    def end(status: int) -> NoReturn:
        if os.getpid() == pid:
            left = [*here.afterwards]
            if on_duty and hot_pages.teaches:
                left.append(hot_pages.teach)
            elif last is not None and not on_duty and not status:
                left.append(last)
            try:
                if left:
                    fcntl.fcntl(connection, fcntl.F_SETFL, 0)
                connection.send(ENDED + NUMBER.pack(status & 0xFF))
                if left:
                    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
                    for number in (1, 2):  # the caller may wait until they are closed
                        os.dup2(nowhere, number)
                    connection.close()
                for each in left:
                    each()
            except Exception:  # noqa: BLE001, S110 (the caller is gone, or has its answer)
                pass
        leave(status)

    def tell_duty() -> None:
        nonlocal on_duty
        on_duty = True
        connection.sendall(ON_DUTY)

    os._exit = end
    here.tell_duty = tell_duty
