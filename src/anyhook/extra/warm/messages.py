"""The protocol between a caller and a worker. `native/launcher.c` implements it too.

A request is a header of four numbers, then strings that each end with a NUL: the arguments after the command's name,
then the environment. The worker answers with letters, some of them followed by a number. The first one says that it is
there; then the caller of a command sends four descriptors: stdin, stdout, stderr and the current folder. Sent earlier,
they would stay open while no worker takes the call, and an agent may wait until they are closed."""

from __future__ import annotations

import array
import socket
import struct

from anyhook.model.record import Record

HEADER = struct.Struct("=4I")
"""The kind and version of the request, the number of arguments, of variables, and of bytes."""
CALL, STATUS, STOP = 0x32_6B_68_61, 0x32_6B_68_73, 0x32_6B_68_71
NUMBER = struct.Struct("=I")
READY, ACCEPTED, REFUSED, ON_DUTY, ENDED = b"G", b"A", b"R", b"H", b"X"
"""Ready to receive the streams; accepted, by the process with this pid; refused; hooks may run from now on; the exit
status."""
MAX_BYTES = 16 * 1024 * 1024
DESCRIPTORS = 4


class Gone(Exception):  # noqa: N818 (it says what is wrong)
    """The other end is gone, or sent something invalid."""


class Message(Record):
    kind: int
    words: list[bytes]
    env: list[bytes]


def send_request(connection: socket.socket, request: Message) -> None:
    body = b"".join([word + b"\0" for word in (*request.words, *request.env)])
    connection.sendall(HEADER.pack(request.kind, len(request.words), len(request.env), len(body)) + body)


def receive_request(connection: socket.socket) -> Message:
    what, words, variables, size = HEADER.unpack(_receive(connection, HEADER.size))
    if size > MAX_BYTES:
        raise Gone("a request that is too large")
    texts = _receive(connection, size).split(b"\0")[:-1]
    if len(texts) != words + variables:
        raise Gone("a malformed request")
    return Message(what, texts[:words], texts[words:])


def send_streams(connection: socket.socket, folder: int) -> None:
    rights = array.array("i", [0, 1, 2, folder])
    connection.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


def receive_streams(connection: socket.socket) -> list[int]:
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(DESCRIPTORS * descriptors.itemsize)
    _, ancillary, _, _ = connection.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)
    for level, kind, rights in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(rights[: len(rights) - len(rights) % descriptors.itemsize])
    if len(descriptors) != DESCRIPTORS:
        raise Gone("a call without its streams")
    return list(descriptors)


def receive_number(connection: socket.socket) -> int:
    found: int = NUMBER.unpack(_receive(connection, NUMBER.size))[0]
    return found


def _receive(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size > 0:
        parts.append(connection.recv(min(size, 1 << 20)))
        if not parts[-1]:
            raise Gone("the other end is gone")
        size -= len(parts[-1])
    return b"".join(parts)
