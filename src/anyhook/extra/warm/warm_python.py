"""A Python script in an interpreter that is already running (see zygote.py). It is waited for and killed like any
child. If there is no such interpreter, or it refuses, the script is started like any other program, and an interpreter
for the next call is started after the answer is given."""

from __future__ import annotations

import fcntl
import marshal
import os
import select
import socket
import struct
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from anyhook.extra.warm.messages import NUMBER
from anyhook.model.call import Call, Run
from anyhook.model.lean_json import digest
from anyhook.model.record import Record
from anyhook.platform.child import Child
from anyhook.platform.places import head, make_private_dir, stamp
from anyhook.platform.spawn import here, spawner
from anyhook.platform.tree import Tree
from anyhook.programs.python_script import PythonScript, read_script

if TYPE_CHECKING:
    from subprocess import Popen


ZYGOTE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zygote.py")
PACKAGE = os.path.dirname(os.path.dirname(ZYGOTE))
MAX_ZYGOTES = 8
"""Per server: each keeps an interpreter with its modules in memory."""
RETRY_S = 60.0
"""How long to wait before the next try after an interpreter could not start."""
ACCEPT_S = 1.0
"""How long an interpreter may take to accept a call."""
END_S = 6.0
"""How long it may take to kill a script and everything it has started."""
LOADERS = (b"PYTHON", b"LC_", b"LD_", b"MALLOC_", b"LANG", b"LOCPATH", b"GLIBC_", b"GCONV_", b"HOME=")
"""Variables that affect how an interpreter starts."""
FORKING = ("dash",)
"""Shells that fork even for their last command."""


class Interpreters(Record):
    """Where the interpreters of one server listen."""

    folder: str
    name: str
    server: int
    """The server's pid: they end with it."""


class WarmTask(Record):
    """A script, and the interpreter that can run it."""

    script: PythonScript
    socket: str
    env: dict[bytes, bytes]
    cwd: str
    has_shell: bool
    """Whether a shell starts it and waits for it, instead of calling exec."""


class WarmChild(Child):
    """A script in a process that a zygote has forked. Its keeper reports how it ended, and kills it on request."""

    _connection: socket.socket | None = None

    def __init__(self, door: Interpreters, call: Call) -> None:
        super().__init__(call)
        self._door = door
        self.starter = self._start

    def _start(self, call: Call, program: str, stdin: int, stdout: int, stderr: int) -> tuple[int, Popen[bytes] | None]:
        task = task_of(self._door, call)
        if task is not None:
            pid = self._ask(task, [stdin, stdout, stderr])
            if pid:
                return pid, None
        return spawner(has_pipes_apart=True)(call, program, stdin, stdout, stderr)

    def _ask(self, task: WarmTask, streams: list[int]) -> int:
        """The pid of the process that runs the script now; 0 if no process does or will."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(task.socket)
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.geteuid():
                raise PermissionError(task.socket)
        except OSError:
            connection.close()
            here.afterwards.append(partial(start_zygote, self._door, task))
            return 0
        body = marshal.dumps(([*task.script.words], task.env, task.cwd, task.script.path, task.has_shell), 2)
        try:
            connection.settimeout(ACCEPT_S)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("3i", *streams))]
            sent = connection.sendmsg([NUMBER.pack(len(body)) + body], rights)
            connection.sendall((NUMBER.pack(len(body)) + body)[sent:])
            letter = connection.recv(1)
        except TimeoutError:
            # From here on no runner can accept the call; if one has, its answer is there.
            connection.shutdown(socket.SHUT_RDWR)
            letter = connection.recv(1)
        except OSError:
            letter = b""
        if letter != b"A":
            connection.close()
            return 0
        self._connection = connection
        connection.settimeout(END_S)
        return int(NUMBER.unpack(connection.recv(NUMBER.size, socket.MSG_WAITALL))[0])

    def _end_tree(self) -> None:
        if self._connection is None:
            super()._end_tree()
            return
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        try:
            self._connection.shutdown(socket.SHUT_WR)
            if poll.poll(END_S * 1000):
                return  # none of its processes is left
        except OSError:
            pass  # the keeper is gone, and its script with it
        Tree(0, self.call.mark).end()

    def conclude(self) -> Run:
        """Wait for the keeper first: it writes what a shell would print about a signal, and then sends the status."""
        if self._connection is not None and self._run is None:
            try:
                self._connection.recv(1, socket.MSG_PEEK)
            except OSError:
                pass  # the keeper is gone
        return super().conclude()

    def _reap(self) -> int | None:
        if self._connection is None:
            return super()._reap()
        self._reaped = True
        try:
            told = self._connection.recv(NUMBER.size, socket.MSG_WAITALL)
        except OSError:
            told = b""
        if len(told) == NUMBER.size:
            return os.waitstatus_to_exitcode(NUMBER.unpack(told)[0])
        Tree(0, self.call.mark).end()  # its keeper was killed
        return None

    def close(self) -> None:
        super().close()
        if self._connection is not None:
            self._connection.close()


def task_of(door: Interpreters, call: Call) -> WarmTask | None:
    """None if the call is not a Python script, if its interpreter cannot be a zygote, or if we cannot predict how its
    shell would start it."""
    script = read_script(call.argv, call.cwd, call.env)
    if script is None or not _is_program(script.interpreter):
        return None
    shell = os.path.basename(os.path.realpath(script.shell)) if script.shell else ""
    given = _through_shell(shell, script, call) if shell else call.env
    if given is None:
        return None
    env = {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
    real = os.path.realpath(script.interpreter)
    folder = os.path.dirname(script.interpreter)
    depends = (
        script.interpreter, real, stamp(real), stamp(f"{folder}/pyvenv.cfg"), stamp(f"{folder}/../pyvenv.cfg"),
        script.words[: script.at], os.path.join(call.cwd, script.path), os.geteuid(),
        sorted(b"=".join(item) for item in env.items() if b"=".join(item).startswith(LOADERS)),
    )  # fmt: skip
    key = digest(repr(depends).encode("utf-8", "surrogateescape"))[:16]
    return WarmTask(script, f"{door.folder}/{door.name}-{key}", env, call.cwd, shell in FORKING)


def _is_program(path: str) -> bool:
    """Whether it is a binary. Version managers install scripts instead."""
    return head(path, 4) == b"\x7fELF"


def _through_shell(kind: str, script: PythonScript, call: Call) -> Mapping[str, str] | None:
    """The environment that the script gets from its shell. None if the shell does more than that, or if we do not know
    the shell."""
    env = call.env
    plain = all(name.isidentifier() and name.isascii() for name in env)
    if not plain or any(name in env for name in ("BASH_ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "ENV")):
        return None
    here_dir = _current_dir(env.get("PWD", ""), call.cwd)
    if kind == "dash":
        return {**env, "PWD": here_dir}
    if kind == "bash" and (not env.get("SHLVL") or env["SHLVL"].isdecimal()):
        old = {name: value for name, value in env.items() if name != "OLDPWD" or os.path.isdir(value)}
        return {
            **old,
            "PWD": here_dir,
            "SHLVL": env.get("SHLVL") or "0",
            "_": script.command if "/" in script.command else script.interpreter,
        }
    return None


def _current_dir(named: str, cwd: str) -> str:
    """What a shell calls the current folder: as its environment does, if that is so."""
    try:
        is_kept = named == os.path.normpath(named) and os.path.samefile(named, cwd)
    except OSError:
        is_kept = False
    return named if is_kept else os.path.realpath(cwd)


def start_zygote(door: Interpreters, task: WarmTask) -> None:
    """Start one in the background. This process is about to exit and passes on only what is named here."""
    make_private_dir(door.folder)
    known = [f"{door.folder}/{name[:-7]}" for name in os.listdir(door.folder) if name.endswith(".lesson")]
    if sum([_is_running(socket_path) for socket_path in known]) >= MAX_ZYGOTES:
        return
    try:
        if time.time() - os.stat(f"{task.socket}.lock").st_mtime < RETRY_S:
            return  # it is already starting, or cannot start
    except FileNotFoundError:
        pass
    script = task.script
    is_ours = os.path.join(task.cwd, script.path).startswith(f"{PACKAGE}/")
    flags, rest = script.words[1 : script.at], script.words[script.at :]
    words = [script.interpreter, *flags, ZYGOTE, task.socket, str(door.server), "0", PACKAGE if is_ours else "", *rest]
    os.chdir(task.cwd)
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(script.interpreter, words, task.env, file_actions=nowhere, setpgroup=0, setsigdef=(13, 25))


def _is_running(socket_path: str) -> bool:
    """Whether the interpreter of this socket runs: then it holds its lock. The files of one that was killed are
    deleted."""
    lock = os.open(f"{socket_path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for end in ("", ".lesson", ".lock"):
            if os.path.lexists(f"{socket_path}{end}"):
                os.unlink(f"{socket_path}{end}")
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
