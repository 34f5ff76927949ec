"""What a process has inherited, seen from outside. A worker takes over what it can from its caller, and refuses the
call if the caller differs from the server in anything else: namespace, cgroup, user, sandbox or locale."""

from __future__ import annotations

import os
import resource
import signal
import time

from anyhook.extra.warm.place import NAMESPACES

KNOWN = [name for name in NAMESPACES if os.path.lexists(f"/proc/self/ns/{name}")]
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
TAKEN_ON = [number for number in signal.valid_signals() if number not in IGNORED_BY_PYTHON]
MASK = sum(1 << (number - 1) for number in TAKEN_ON)
"""Signals that a program may ignore and that Python does not handle itself, without two that the C library reserves."""


class Unlike(Exception):  # noqa: N818 (it says what is wrong)
    """The call needs a new process."""


class Likeness:
    """The state of one process, compared as the system prints it."""

    def __init__(self, process: int | str) -> None:
        folder = f"/proc/{process}"
        status = _read(f"{folder}/status")
        self.umask = int(_field(status, b"Umask:"), 8)
        ignored, blocked = (int(_field(status, name), 16) for name in (b"SigIgn:", b"SigBlk:"))
        self.signals = ignored & MASK, blocked
        self.is_confined = _field(status, b"NoNewPrivs:") == b"1"
        line = _read(f"{folder}/stat").rpartition(b")")[2].split()
        self.group, self.session, self.terminal = int(line[2]), int(line[3]), int(line[4])
        self.limits = _read(f"{folder}/limits")
        root = os.stat(f"{folder}/root/.")
        self.fixed = (
            # Users, groups, capabilities, seccomp, CPUs; and the profile of a security module.
            *[_field(status, name) for name in (b"Uid:", b"Gid:", b"Groups:")],
            status[status.find(b"\nCapInh:") : status.find(b"\nvoluntary_ctxt")],
            _read_any(f"{folder}/attr/current"),
            _read(f"{folder}/cgroup"),
            _read(f"{folder}/oom_score_adj"),
            (root.st_dev, root.st_ino),
            *[os.readlink(f"{folder}/ns/{name}") for name in KNOWN],
            self.terminal and (self.terminal, self.session),
        )
        pid = process if isinstance(process, int) else 0
        self.nice = os.getpriority(os.PRIO_PROCESS, pid)
        self.scheduler = os.sched_getscheduler(pid)


def take_on(own: Likeness, caller: int) -> bool:
    """Take over the caller's state, or raise: a worker must have neither more nor fewer rights. True if nothing
    differed."""
    theirs = Likeness(caller)
    if theirs.fixed != own.fixed or theirs.scheduler != own.scheduler or theirs.nice < own.nice:
        raise Unlike("the caller differs from the server")
    if own.is_confined or theirs.is_confined:  # some sandboxes are visible only here
        raise Unlike("the caller may be in a sandbox")
    try:
        if theirs.limits != own.limits:
            for number in LIMITS:
                wanted = resource.prlimit(caller, number)
                if wanted != resource.getrlimit(number):
                    resource.setrlimit(number, wanted)
        if theirs.nice != own.nice:
            os.setpriority(os.PRIO_PROCESS, 0, theirs.nice)
        if own.terminal and theirs.group != os.getpgid(0):
            os.setpgid(0, theirs.group)
    except (OSError, ValueError) as error:
        raise Unlike(str(error)) from None
    os.umask(theirs.umask)
    if theirs.signals != own.signals:
        _take_on_signals(*theirs.signals)
    time.tzset()
    return (own.umask, own.limits, own.nice, own.signals) == (theirs.umask, theirs.limits, theirs.nice, theirs.signals)


def _take_on_signals(ignored: int, blocked: int) -> None:
    """Set signals as Python does at start: ignore two of them, and handle Ctrl-C unless it is ignored."""
    for number in TAKEN_ON:
        if number in (signal.SIGKILL, signal.SIGSTOP):
            continue
        wanted = signal.SIG_IGN if ignored >> (number - 1) & 1 else signal.SIG_DFL
        if number == signal.SIGINT and wanted is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
        elif signal.getsignal(number) is not wanted:
            signal.signal(number, wanted)
    signal.pthread_sigmask(signal.SIG_SETMASK, [n for n in signal.valid_signals() if blocked >> (n - 1) & 1])


def _field(status: bytes, name: bytes) -> bytes:
    return status.partition(b"\n" + name)[2].partition(b"\n")[0].strip()


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [part := os.read(fd, 4096)]
        while part:
            parts.append(part := os.read(fd, 4096))
    finally:
        os.close(fd)
    return b"".join(parts)


def _read_any(path: str) -> bytes:
    try:
        return _read(path)
    except OSError:
        return b""  # no security module
