"""Explain why a process could not be started."""

from __future__ import annotations

import errno
import os

from anyhook.model.call import Call
from anyhook.platform.places import head


def explain_failure(call: Call, program: str | None, error: Exception | None) -> str:
    """`program` is the path found for argv[0], or None; `error` is the exception that starting it raised."""
    if not call.argv or not call.argv[0]:
        return "the command is empty"
    if program is None and error is None:
        return _not_on_path(call.argv[0], call)
    name = program or call.argv[0]
    if not isinstance(error, OSError):
        return _malformed(call) or f"{name} could not be started: {error}"
    if error.errno in _SHORTAGES:
        return f"{name} could not be started: {_SHORTAGES[error.errno]}"
    return _bad_folder(call.cwd) or _bad_program(os.path.join(call.cwd, name), error)


_SHORTAGES: dict[int | None, str] = {
    errno.EMFILE: "this process has no file descriptor left (see `ulimit -n`)",
    errno.ENFILE: "the system has no file descriptor left",
    errno.EAGAIN: "no further process may be started now (see `ulimit -u`)",
    errno.ENOMEM: "there is not enough memory for another process",
    errno.E2BIG: "its arguments and environment are longer than the system allows for one process",
}


def _not_on_path(name: str, call: Call) -> str:
    folders = call.env.get("PATH", os.defpath)
    for folder in folders.split(":"):
        path = os.path.join(call.cwd, folder, name)
        if os.path.isfile(path):
            return f"{path} has no execute permission (chmod +x)"
    return f"the command {name} was not found on the PATH ({folders or 'which is empty'})"


def _malformed(call: Call) -> str | None:
    """A text that cannot be passed to the system at all."""
    texts = [(f"argument {index}", text) for index, text in enumerate(call.argv)]
    texts.append(("the working directory's name", call.cwd))
    for name, value in call.env.items():
        if "=" in name:
            return f"the environment variable name {name!r} contains an equals sign"
        texts.append((f"the environment variable {name!r}", name + value))
    for what, text in texts:
        if "\0" in text:
            return f"{what} contains a NUL character, which no process can be given"
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            return f"{what} contains a character that cannot be written in this system's encoding"
    return None


def _bad_folder(cwd: str) -> str | None:
    if not os.path.lexists(cwd):
        return f"the working directory {cwd} does not exist"
    if not os.path.isdir(cwd):
        return f"the working directory {cwd} is not a directory"
    if not os.access(cwd, os.X_OK):
        return f"the working directory {cwd} may not be entered (permission denied)"
    return None


def _bad_program(path: str, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return _missing(path)
    if error.errno == errno.EACCES:
        return _forbidden(path)
    if error.errno in (errno.ENOEXEC, errno.ELOOP) and os.path.isfile(path):
        return _not_a_program(path)
    if error.errno == errno.ENOTDIR:
        return f"{path} does not exist: a part of its path is a file, not a directory"
    if error.errno == errno.ETXTBSY:
        return f"{path} is still open for writing; it can be run once it is closed"
    return f"{path} could not be started: {os.strerror(error.errno or 0)}"


def _missing(path: str) -> str:
    if not os.path.lexists(path):
        return f"{path} does not exist"
    if not os.path.exists(path):
        return f"{path} is a symbolic link to {os.readlink(path)}, which does not exist"
    interpreter = _interpreter(path)
    if interpreter is None:
        return f"{path} exists, but the loader that it was built for does not"
    if interpreter.endswith("\r"):
        return f"the first line of {path} ends in a carriage return (Windows), so its interpreter is not found"
    return f"{path} names the interpreter {interpreter} in its first line, which does not exist"


def _forbidden(path: str) -> str:
    if os.path.isdir(path):
        return f"{path} is a directory, not a program"
    if os.path.exists(path) and not os.access(path, os.X_OK):
        return f"{path} has no execute permission (chmod +x)"
    if os.path.exists(path) and not os.path.isfile(path):
        return f"{path} is a pipe, a device or a socket, not a program"
    interpreter = _interpreter(path)
    if interpreter is not None and not os.access(interpreter, os.X_OK):
        return f"{path} names the interpreter {interpreter} in its first line, which has no execute permission"
    return f"{path} may not be run: permission denied (its folder, or a file system mounted noexec)"


def _not_a_program(path: str) -> str:
    head = _head(path)
    if not head:
        return f"{path} is empty"
    if b"\0" in head:
        return f"{path} is not a program for this kind of machine"
    if (interpreter := _interpreter(path)) is not None:
        return f"{path} names the interpreter {interpreter} in its first line, which is not a program itself"
    return f"{path} has no first line that names its interpreter (#!/bin/sh, #!/usr/bin/env python3)"


def _interpreter(path: str) -> str | None:
    head = _head(path)
    if not head.startswith(b"#!"):
        return None
    words = head[2:].split(b"\n", 1)[0].strip(b" \t").split(b" ", 1)
    return os.fsdecode(words[0])


def _head(path: str) -> bytes:
    """The first bytes of a regular file. Opening a pipe would wait for a writer."""
    return head(path, 256) or b""
