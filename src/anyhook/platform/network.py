"""Leave the network: from then on this process and everything it starts see only a private loopback. If that is not
possible, it says so and changes nothing."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000
GET_FLAGS, SET_FLAGS, IS_UP = 0x8913, 0x8914, 1


def leave() -> str:
    """Why it could not be done; "" if it is. For a process with one thread."""
    if sys.platform != "linux":
        return "this system has no network namespaces"
    return _tried() or _leave()


def _tried() -> str:
    """The same in a separate process: if it fails halfway, there is no way back."""
    child = os.fork()
    if not child:
        try:
            os._exit(2 if _leave() else 0)
        finally:
            os._exit(2)
    return "" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "network namespaces are not allowed here"


def _leave() -> str:
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    try:
        if library.unshare(NEW_NETWORK):
            if library.unshare(NEW_NETWORK | NEW_USER):
                return os.strerror(ctypes.get_errno())
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
        _raise_loopback()
    except (AttributeError, OSError) as error:
        return str(error)
    return ""


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", flags | IS_UP))
