"""The protocol between a caller and a worker. `native/launcher.c` implements it too.

A request is a header of four numbers, then strings that each end with a NUL: the arguments after the command's name,
then the environment. Four descriptors come with it: stdin, stdout, stderr and the current folder. The worker answers
with letters, some of them followed by a number."""

from __future__ import annotations

import array
import socket
import struct

from anyhook.model.record import Record

HEADER = struct.Struct("=4I")
"""The kind and version of the request, the number of arguments, of variables, and of bytes."""
CALL, STATUS, STOP = 0x31_6B_68_61, 0x31_6B_68_73, 0x31_6B_68_71
NUMBER = struct.Struct("=I")
ACCEPTED, REFUSED, ON_DUTY, ENDED = b"A", b"R", b"H", b"X"
"""Accepted, by the process with this pid; refused; hooks may run from now on; the exit status."""
MAX_BYTES = 16 * 1024 * 1024
DESCRIPTORS = 4


class Gone(Exception):  # noqa: N818 (it says what is wrong)
    """The other end is gone, or sent something invalid."""


class Message(Record):
    kind: int
    words: list[bytes]
    env: list[bytes]
    descriptors: list[int]


def send_request(connection: socket.socket, request: Message) -> None:
    body = b"".join([word + b"\0" for word in (*request.words, *request.env)])
    header = HEADER.pack(request.kind, len(request.words), len(request.env), len(body))
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", request.descriptors))
    connection.sendmsg([header], [rights] if request.descriptors else [])
    if body:
        connection.sendall(body)


def receive_request(connection: socket.socket) -> Message:
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(DESCRIPTORS * descriptors.itemsize)
    data, ancillary, _, _ = connection.recvmsg(65536, space, socket.MSG_CMSG_CLOEXEC)
    for level, kind, rights in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(rights[: len(rights) - len(rights) % descriptors.itemsize])
    while len(data) < HEADER.size:
        data += _more(connection, HEADER.size)
    what, words, variables, size = HEADER.unpack_from(data)
    if size > MAX_BYTES:
        raise Gone("a request that is too large")
    parts, missing = [data[HEADER.size :]], size - (len(data) - HEADER.size)
    while missing > 0:
        parts.append(_more(connection, missing))
        missing -= len(parts[-1])
    texts = b"".join(parts).split(b"\0")[:-1]
    if missing or len(texts) != words + variables:
        raise Gone("a malformed request")
    return Message(what, texts[:words], texts[words:], list(descriptors))


def receive_number(connection: socket.socket) -> int:
    data = b""
    while len(data) < NUMBER.size:
        data += _more(connection, NUMBER.size - len(data))
    found: int = NUMBER.unpack(data)[0]
    return found


def _more(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(min(size, 1 << 20))
    if not data:
        raise Gone("the other end is gone")
    return data
