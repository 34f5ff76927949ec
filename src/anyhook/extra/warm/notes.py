"""Events that the native launcher answered itself because they reach no hook. They arrive as datagrams and are written
to the journal here, while no caller waits. One process writes notes for a while and exits."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct

from anyhook.engine.bridge import named, read, with_self_protection
from anyhook.engine.receive import project_of
from anyhook.extra.warm.messages import HEADER, Gone
from anyhook.extra.warm.place import DONE, forget_counts
from anyhook.journal.journal import Recorder
from anyhook.model.decision import Decision
from anyhook.model.record import Record
from anyhook.state.entry_places import Caller, fix_places
from anyhook.state.plans import Setup, read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

NOTE = 0x31_6B_68_6E
MAX_BYTES = 1 << 20
"""Larger than any datagram of the launcher."""
IDLE_MS = 1000
MAX_NOTES = 500
"""A process exits after this many, or after a second without any, so that it cannot grow."""
CREDENTIALS = struct.Struct("3i")


class Note(Record):
    """A call that was answered."""

    words: list[str]
    env: dict[bytes, bytes]
    folder: bytes
    """The caller's current one."""
    payload: bytes


def notes_path(path: str) -> str:
    """The path of the datagram socket, next to the server's."""
    return f"{path}.notes"


def open_notes(path: str) -> socket.socket:
    """Open the listening socket. We hold the server's lock, so the path is ours."""
    forget_counts(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    listener.setblocking(False)
    place = notes_path(path)
    if os.path.lexists(place):
        os.unlink(place)
    listener.bind(place)
    return listener


def write_notes(
    listener: socket.socket, path: str, busy: Callable[[], None], tell_failure: Callable[[], None]
) -> NoReturn:
    """In a fork of the server at this path: write notes until none arrive. `busy` is called for each, and
    `tell_failure` for one that could not be written."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    for _ in range(MAX_NOTES):
        if not poll.poll(IDLE_MS):
            break
        try:
            note = receive_note(listener)
            busy()
            is_written = not write_note(note).problems
        except BlockingIOError:
            continue  # another process took it
        except Exception:  # noqa: BLE001 (the next ordinary call reports it)
            is_written = False
        if is_written:
            count_done(path)
        else:
            tell_failure()
    os._exit(0)


def count_done(path: str) -> None:
    """Count one event that is in the journal."""
    try:
        descriptor = os.open(f"{path}{DONE}", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return  # then it counts as missing
    try:
        os.write(descriptor, b".")
    except OSError:
        pass
    finally:
        os.close(descriptor)


def receive_note(listener: socket.socket) -> Note:
    data, ancillary, _, _ = listener.recvmsg(MAX_BYTES, socket.CMSG_SPACE(CREDENTIALS.size))
    users = [CREDENTIALS.unpack(sent)[1] for _, kind, sent in ancillary if kind == socket.SCM_CREDENTIALS]
    if users != [os.geteuid()] or len(data) < HEADER.size:
        raise Gone("a note from another user")
    kind, words, variables, size = HEADER.unpack_from(data)
    texts = data[HEADER.size : HEADER.size + size].split(b"\0")[:-1]
    if kind != NOTE or len(texts) != words + variables:
        raise Gone("a malformed note")
    env: dict[bytes, bytes] = {}
    for entry in texts[words:]:
        name, equals, value = entry.partition(b"=")
        if equals and name:
            env.setdefault(name, value)
    folder, _, payload = data[HEADER.size + size :].partition(b"\0")
    return Note([os.fsdecode(word) for word in texts[:words]], env, folder, payload)


def write_note(note: Note) -> Decision:
    """Write the line of an event without hooks, as an ordinary call does. If that fails, the decision has a problem."""
    os.chdir(note.folder)
    os.environb.clear()
    os.environb.update(note.env)
    Caller.given = None
    fix_places(note.words[1:], os.environ)
    host, row = named(*note.words[2:4])
    incoming = read(host, row, note.payload, 0.0, os.environ)
    setup = Setup.of(project_of(host, incoming.payload, os.environ), dict(os.environ))
    plan = read_plan(setup)
    if plan is not None:
        mode, settings = plan.mode, plan.journal
        with_self_protection(incoming, setup.env, setup.project, plan.stamps)
    else:  # something has changed since the answer, so use the current settings
        from anyhook.engine.routes import made_catalog

        config = made_catalog(setup).config
        mode, settings = config.mode, config.journal
    recorder = Recorder(setup.env, setup.project, host.name, None, mode, settings, one_shot=True)
    decision = Decision("")
    for event in incoming.received.events:
        decision = recorder.quiet(event, Decision(event.name), mode)
    return decision
