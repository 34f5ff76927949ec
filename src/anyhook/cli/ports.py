"""The local port that a verb listens on."""

from __future__ import annotations

import socket

from anyhook.cli import BadCall


def port_of(given: str, flag: str = "--port") -> int:
    if not (given.isascii() and given.isdecimal() and int(given) <= 65_535):
        raise BadCall(f"{flag} {given}: this must be a number from 1 to 65535, or 0 for one that is free.")
    return int(given)


def bound(port: int, flag: str = "--port") -> socket.socket:
    """Listen before the address is printed, so that it works at once."""
    at = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    at.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        at.bind(("127.0.0.1", port))
        at.listen()
    except OSError as error:
        at.close()
        raise BadCall(f"{flag} {port} cannot be used: {error.strerror}. Use 0 for one that is free.") from None
    return at
