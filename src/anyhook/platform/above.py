"""The processes above one: their command lines, their environments, their terminals. From /proc, or from `ps`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from anyhook.platform.other_programs import ask
from anyhook.platform.places import NO_WAIT
from anyhook.platform.tree import PS_LIMIT_S, Process, contents, processes, read_process

MAX_ABOVE = 64
PS = ("ps", "-axww", "-o", "pid=,ppid=,args=")


def above(pid: int) -> Iterator[tuple[int, list[str]]]:
    """The processes above one, nearest first, with their command lines; nothing if the system does not say."""
    listed: dict[int, tuple[int, list[str]]] | None = None
    for _ in range(MAX_ABOVE):
        row = read_process(pid)
        if row is not None:
            parent = row.parent
        else:
            listed = _listed() if listed is None else listed
            parent = listed.get(pid, (0, []))[0]
        if parent <= 0:
            return
        words = _command_line(parent)
        yield parent, listed[parent][1] if not words and listed and parent in listed else words
        pid = parent


def adopted(pid: int) -> Process | None:
    """The process above one, or itself, that lost its own parent: it belongs to the first process of the system, or of
    a session. None if there is none, or if one of them has a terminal. A service looks the same."""
    row = read_process(pid)
    while row is not None and not row.terminal and row.parent:
        if row.parent == 1 or contents(f"/proc/{row.parent}/comm") == b"systemd\n":
            return row
        row = read_process(row.parent)
    return None


def beside(row: Process) -> Iterator[tuple[int, list[str]]]:
    """Every process that was there when another one began, with its command line."""
    for each in processes():
        if each.born <= row.born:
            yield each.pid, _command_line(each.pid)


def _command_line(pid: int) -> list[str]:
    """The name of a process, which it may have set itself, and the words of its command line."""
    words = [os.fsdecode(word) for word in contents(f"/proc/{pid}/cmdline").split(b"\0") if word]
    if len(words) == 1:  # a title that it has set
        words = words[0].split()
    return [os.fsdecode(contents(f"/proc/{pid}/comm").strip()), *words] if words else []


def environment_of(pid: int) -> dict[str, str]:
    """The variables that a process was started with; none if we may not see them."""
    pairs = [os.fsdecode(entry).partition("=") for entry in contents(f"/proc/{pid}/environ").split(b"\0")]
    return {name: value for name, _, value in pairs}


def _listed() -> dict[int, tuple[int, list[str]]]:
    """Every process with its parent and its words, as `ps` lists them; empty if it cannot be asked."""
    try:
        lines = ask(PS, PS_LIMIT_S).out.decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    rows = [line.split(None, 2) for line in lines]
    return {
        int(row[0]): (int(row[1]), ["", *row[2].split()])
        for row in rows
        if len(row) > 2 and (row[0] + row[1]).isdigit()
    }


def starter(mark: bytes, process: str) -> list[bytes] | None:
    """The command line of the first process above that has not the mark (`NAME=value`) in its environment; None if the
    system does not say. Empty if we may not see it."""
    row = read_process(process)
    while row is not None:
        folder = f"/proc/{row.parent}"
        if mark not in contents(f"{folder}/environ").split(b"\0"):
            return contents(f"{folder}/cmdline").split(b"\0")
        row = read_process(row.parent)
    return None


def open_terminal() -> int:
    """Our own terminal, or that of the nearest parent process that has one: some agents detach their hooks. Raises
    OSError if there is none."""
    flags = os.O_WRONLY | os.O_NOCTTY | NO_WAIT
    try:
        return os.open("/dev/tty", flags)
    except OSError:
        row = read_process(os.getppid())
    while row is not None and row.pid > 1:
        if row.terminal:
            path = f"/dev/pts/{os.minor(row.terminal)}"
            if os.stat(path).st_rdev != row.terminal:
                break
            return os.open(path, flags)
        row = read_process(row.parent)
    raise FileNotFoundError("no terminal")
