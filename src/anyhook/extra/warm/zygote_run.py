"""The two processes of a run in an interpreter that was already running. The runner becomes the script and exits with
its status. The keeper is the runner's parent and adopts what it leaves behind: it sends the caller the status, and
kills all of them if the caller asks for that or is gone. In doubt a runner refuses the call before the script's first
line, and the caller starts it cold. Part of the program zygote.py, which may run in an interpreter other than ours."""

from __future__ import annotations

# C modules if possible: a script can see what is loaded.
import _signal  # type: ignore[import-not-found]
import _socket
import gc
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from anyhook.extra.warm.zygote import Zygote

KILL_S = 5.0
"""How long it tries to kill processes that hang in the kernel."""
PATIENCE_S = 15.0
"""How long a caller may take to send its request."""
END_WITH_PARENT, ADOPT = 1, 36
"""PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER."""
SIZE = 4
MAX_SOURCE = 16 << 20
"""The size of a number in a message, in bytes."""
ACCEPTED, REFUSED = b"A", b"R"


def system(name: str, *values: object) -> int:
    """A function of the C library."""
    import _ctypes

    address = _ctypes.dlsym(_ctypes.dlopen(None, 2), name)  # type: ignore[arg-type]
    return int(_ctypes.call_function(address, values))


def ready(descriptors: Iterable[int], patience_s: float | None = None) -> set[int]:
    """Wait until one can be read, and return those that can; empty after a timeout."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {found for found, _ in poll.poll(None if patience_s is None else patience_s * 1000)}


class RunRequest:
    """The request of a caller."""

    def __init__(self, values: tuple[list[str], dict[bytes, bytes], str, str, bool]) -> None:
        self.argv, self.env, self.folder, self.script, self.has_shell = values
        """The full command line; its environment and folder; the script as the command names it; whether a shell waits
        for it."""
        self.beside = ""
        """The folder from which the script imports first."""

    def enter(self) -> None:
        """Raises if a new process could not be started there either."""
        os.chdir(self.folder)
        if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
            self.beside = os.path.dirname(os.path.realpath(self.script))


def numbers(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + SIZE], sys.byteorder) for at in range(0, len(data), SIZE)]


def full_path(script: str, folder: str) -> str:
    """The absolute path, as Python computes it."""
    return script if script.startswith("/") else f"{folder}/{script}"


# -- the keeper


def keep(zygote: Zygote, taken: int) -> NoReturn:
    """In a fork of the zygote: supervise one run."""
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    system("prctl", ADOPT, 1, 0, 0, 0)
    os.setpgid(0, 0)
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    keeper, pid = os.getpid(), os.fork()
    if pid == 0:
        ours.close()
        os.close(taken)
        wait_for_call(zygote, theirs, keeper)
    theirs.close()
    zygote.listener.close()
    for descriptor in (zygote.lock, zygote.until, zygote.alive, zygote.changes):
        os.close(descriptor)
    runner = os.pidfd_open(pid)
    if ours.fileno() not in ready([ours.fileno(), runner]):
        os._exit(0)  # the runner has refused, or was killed before it started
    try:
        os.write(taken, b".")
    except OSError:
        pass  # the zygote is gone; the run goes on
    _, ancillary, _, _ = ours.recvmsg(1, _socket.CMSG_SPACE(2 * SIZE))
    handed, *stderr = numbers(ancillary[0][2])
    caller = _socket.socket(fileno=handed)
    if runner in ready([caller.fileno(), runner]):
        seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert seen is not None  # noqa: S101 (it has ended)
        if seen.si_code == os.CLD_EXITED:
            status = seen.si_status << 8
        else:
            status = (
                as_shell(seen.si_status, stderr[0], has_core=seen.si_code == os.CLD_DUMPED)
                if stderr
                else seen.si_status
            )
    else:  # the caller is gone, or its time is up
        status = end_everything(pid)
    try:
        caller.sendall(status.to_bytes(SIZE, sys.byteorder))
        caller.recv(1)  # until it is closed, the runner's pid cannot be reused
    except OSError:
        pass  # the caller is gone
    os._exit(0)


def as_shell(number: int, stderr: int, *, has_core: bool) -> int:
    """Print what a shell prints about a program killed by a signal; returns the shell's exit status."""
    if number not in (_signal.SIGINT, _signal.SIGPIPE):
        os.write(stderr, f"{_signal.strsignal(number)}{' (core dumped)' if has_core else ''}\n".encode())
    return (128 + number) << 8


def end_everything(runner: int) -> int:
    """Kill the run and everything it has started. Orphans become children of this process."""
    status, deadline = 9, time.monotonic() + KILL_S
    while time.monotonic() < deadline:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, 9)
            except OSError:
                continue  # it has ended by now
        try:
            while True:
                pid, found = os.waitpid(-1, os.WNOHANG)
                if pid == runner:
                    status = found
                if not pid:
                    break
        except ChildProcessError:
            break
        time.sleep(0.001)
    return status


def descendants(ancestor: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(name))
    found, left = [], [ancestor]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


# -- the runner


def wait_for_call(zygote: Zygote, keeper: _socket.socket, parent: int) -> NoReturn:
    system("prctl", END_WITH_PARENT, 9, 0, 0, 0)
    os.close(zygote.until)
    rehearse(zygote)
    if zygote.listener.fileno() not in ready([zygote.alive, zygote.listener.fileno()]) or os.getppid() != parent:
        os._exit(0)  # no more calls will come
    connection = _accepted(zygote.listener)
    try:
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * SIZE)
        if int.from_bytes(credentials[SIZE : 2 * SIZE], sys.byteorder) != os.geteuid():
            os._exit(0)
        connection.settimeout(PATIENCE_S)
        call, streams = receive(connection)
        connection.settimeout(None)
        call.enter()
        source = source_of(call.script)
        if zygote.objection(call):
            connection.send(REFUSED)
            os._exit(0)
        if not call.has_shell:
            os.setpgid(0, 0)
        connection.sendall(ACCEPTED + os.getpid().to_bytes(SIZE, sys.byteorder))
        handed = [connection.fileno(), *([streams[2]] if call.has_shell else [])]
        rights = b"".join([descriptor.to_bytes(SIZE, sys.byteorder) for descriptor in handed])
        keeper.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    except BaseException:  # noqa: BLE001 (a caller that hears nothing starts the script cold)
        os._exit(0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for descriptor in streams:
        os.close(descriptor)
    for each in (connection, keeper, zygote.listener, zygote.lessons):
        each.close()
    os.closerange(3, 64)  # everything that this program has opened
    become(zygote, call)
    run(zygote, call, source)


def source_of(path: str) -> bytes:
    """The text of a script. Raises OSError for what is not a regular file of a usual size: then the script is started
    cold, with its own time limit."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        seen = os.fstat(descriptor)
        if seen.st_mode & 0o170000 != 0o100000 or seen.st_size > MAX_SOURCE:
            raise OSError(f"{path} is not a regular file, or too large")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def rehearse(zygote: Zygote) -> None:
    """Do what a call needs once while nothing waits, so that the call is faster."""
    made = (sys.orig_argv, zygote.given, zygote.folder, sys.orig_argv[-1], False)
    call = RunRequest(marshal.loads(marshal.dumps(made)))  # noqa: S302 (made here)
    try:
        call.enter()
        zygote.objection(call)
    except OSError:
        pass  # a folder is gone: a call will report it
    call.beside = ""
    become(zygote, call)


def _accepted(listener: _socket.socket) -> _socket.socket:
    try:
        connection = _socket.socket(fileno=listener._accept()[0])  # type: ignore[attr-defined]
    except OSError:
        os._exit(0)  # a caller that went away
    connection.setblocking(True)
    return connection


def receive(connection: _socket.socket) -> tuple[RunRequest, list[int]]:
    data, ancillary, _, _ = connection.recvmsg(1 << 16, _socket.CMSG_SPACE(3 * SIZE), _socket.MSG_CMSG_CLOEXEC)
    rights = b"".join([sent for _, kind, sent in ancillary if kind == _socket.SCM_RIGHTS])
    streams = numbers(rights)
    size = int.from_bytes(data[:SIZE], sys.byteorder)
    parts, missing = [data[SIZE:]], size - (len(data) - SIZE)
    while missing > 0:
        parts.append(connection.recv(min(missing, 1 << 20)))
        missing -= len(parts[-1]) or missing + 1
    if missing or len(streams) != 3:
        raise ValueError("a malformed call")
    return RunRequest(marshal.loads(b"".join(parts))), streams  # noqa: S302 (from a process of this user)


def become(zygote: Zygote, call: RunRequest) -> None:
    """Take over what a new process would inherit from its caller."""
    import io

    env = {**{name: value for name, value in zygote.coerced.items() if name not in call.env}, **call.env}
    for name in [name for name in os.environb if name not in env]:
        del os.environb[name]
    for name, value in env.items():
        if os.environb.get(name) != value:
            os.environb[name] = value
    time.tzset()
    at = call.argv.index(call.script)
    sys.argv = call.argv[at:]
    sys.orig_argv = call.argv
    if call.beside:
        sys.path.insert(0, call.beside)
    sys.path_importer_cache.clear()
    for number, stream in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, stream)
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        raw.name = f"<{stream}>"
        is_raw = isinstance(old.buffer, io.FileIO)
        buffer = raw if is_raw else io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        made = io.TextIOWrapper(buffer, old.encoding, old.errors, "\n", old.line_buffering, old.write_through)
        made.mode = "r" if number == 0 else "w"  # type: ignore[misc]
        setattr(sys, stream, made)
        setattr(sys, f"__{stream}__", made)


def run(zygote: Zygote, call: RunRequest, source: bytes) -> NoReturn:
    """Run the script as `python SCRIPT` does."""
    path = full_path(call.script, os.getcwd())
    main = type(sys)("__main__")
    main.__dict__.clear()
    loader = type(zygote.begin["__loader__"])("__main__", path)
    main.__dict__.update(zygote.begin, __doc__=None, __file__=path, __loader__=loader)
    sys.modules["__main__"] = main
    status, pid = 0, os.getpid()
    try:
        is_known = source == zygote.source and path == full_path(zygote.script, zygote.folder)
        code = zygote.code if is_known and zygote.code is not None else compile(source, path, "exec", dont_inherit=True)
        exec(code, main.__dict__)  # noqa: S102
    except SystemExit as end:
        status = _status(end.code)
    except BaseException as error:  # noqa: BLE001 (as the interpreter shows it)
        trace = error.__traceback__
        error = error.with_traceback(trace.tb_next if trace is not None else None)
        sys.excepthook(type(error), error, error.__traceback__)
        status = -2 if isinstance(error, KeyboardInterrupt) else 1
        del error, trace
    if zygote.lessons_left and os.getpid() == pid:
        teach(zygote)
    finish(zygote, status)


def _status(code: object) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def teach(zygote: Zygote) -> None:
    """Tell the zygote which modules to preload for the next runs, and which other folders this run searched."""
    names = [name for name in sys.modules if name not in zygote.known and zygote.is_ours(name, sys.modules[name])]
    if not names:
        return
    folders = [folder for folder in sys.path[1:] if os.path.isdir(folder)]
    try:
        lesson = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
        lesson.sendto(marshal.dumps((names, folders)), f"{zygote.path}.lesson")
        lesson.close()
    except OSError:
        pass  # too many for one message, or the zygote is gone: nothing changes


def finish(zygote: Zygote, status: int) -> NoReturn:
    """What an interpreter does at exit: wait for threads, call the atexit functions, flush the streams, clear the
    script's own modules. Preloaded modules stay as they are."""
    import atexit

    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # noqa: BLE001 (the interpreter says so, in its own way)
        sys.exit(status)
    for name, module in reversed(list(sys.modules.items())):
        if name == "__main__" or name not in zygote.known:
            _clear(getattr(module, "__dict__", None))
    gc.collect()
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            stream.flush()
    if status == -2:  # interrupted, and the script did not handle it
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGINT)
    os._exit(status)


def _clear(names: object) -> None:
    """As the interpreter clears a module: names with an underscore first."""
    if isinstance(names, dict):
        for private in (True, False):
            for name in list(names):
                if isinstance(name, str) and name != "__builtins__" and name.startswith("_") == private:
                    names[name] = None
