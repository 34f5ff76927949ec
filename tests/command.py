"""The command as a process: forked from an interpreter that has loaded it (see command_server.py), or, with `--cold`
and in tests about the start itself, started as a person starts it."""

from __future__ import annotations

import array
import atexit
import contextlib
import fcntl
import json
import os
import resource
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyhook
from anyhook.satellites import needed
from command_server import ANY, FRESH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anyhook.extra.testing.conformance.runner import Caller
    from anyhook.extra.testing.kit.box import Ended

    Answer = tuple[int | None, bytes, bytes]
    """Exit status (None if it was killed at the limit), stdout, stderr."""

SERVER = Path(__file__).with_name("command_server.py")
SCRIPT = str(Path(sys.executable).with_name("anyhook"))
MODULE = os.path.join(os.path.dirname(anyhook.__file__), "__main__.py")
LIMIT_S = 240.0
"""A safety net, shorter than pytest's own limit."""
CLOSING_S = 20.0
"""How long a killed call may take to close its pipes."""


def modules(pattern: str) -> list[str]:
    """The modules of the package in these files."""
    root = Path(anyhook.__file__).parent.parent
    paths = sorted(root.glob(f"anyhook/{pattern}"))
    return [".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def rooms(*names: str) -> list[str]:
    """The modules of these packages, without those that need an extra."""
    heavy = ("handlers.model_client", "journal.export_")
    by_room = {name: modules(f"{name}/**/*.py") for name in names}
    assert all(by_room.values()), f"a room is gone: {[name for name, found in by_room.items() if not found]}"
    found = [module for room in by_room.values() for module in room]
    return [module for module in found if not module.startswith(tuple(f"anyhook.{name}" for name in heavy))]


CORE = (
    "anyhook.entry", "anyhook.cli.app", "anyhook.cli.fire", "anyhook.cli.bridge", *modules("cli/verb_*.py"),
    *rooms("agents", "documents", "engine", "gates", "guard", "handlers", "hooks", "install", "journal", "model"),
    *rooms("platform", "programs", "rules", "state", "tables"), "_ctypes", "encodings.idna", "regex", "rich.table",
    "sysconfig", "tree_sitter", "tree_sitter_bash",
)  # fmt: skip
"""Everything that a call may load. Each call loads again what is missing here: `regex` alone takes three times as long
as the rest of a call."""
MODELS = (
    *CORE, "anyhook.handlers.model", "anyhook.handlers.model_client", "pydantic_ai.models.openai",
    "pydantic_ai.models.anthropic", "pydantic_ai.providers.openai", "pydantic_ai.providers.anthropic",
    "openai.resources.responses", "anthropic.resources", "anyio._backends._asyncio", "genai_prices.data",
    *(name for name in modules("extra/agent/*.py") if name.endswith((".headless", ".stream_json", ".status_line"))),
    "loaded_models",
)  # fmt: skip
"""For hooks that ask a model, and for the agent: its client takes longer to load than everything else together."""


def _needs_new(request: dict[str, Any]) -> bool:
    """Whether a call needs a separate process: the steps that are shown differ in a second call."""
    return "ANYHOOK_DEBUG" in request["env"]


SHARED = "ANYHOOK_TEST_SHARED"
"""The variable that names the folder of the server that all workers of one test run share."""


def share_server() -> Callable[[], None]:
    """For the process that starts the workers. Returns a function that ends the server, if one of them has started it:
    its stdin is a named pipe that only this process has open for writing."""
    folder = tempfile.mkdtemp(prefix="anyhook-shared-")
    os.mkfifo(f"{folder}/alive")
    alive = os.open(f"{folder}/alive", os.O_RDWR)
    os.environ[SHARED] = folder

    def end() -> None:
        os.close(alive)
        shutil.rmtree(folder, ignore_errors=True)

    return end


def started(path: str, modules: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    process = subprocess.Popen(
        [sys.executable, "-P", str(SERVER), path, *modules],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
        env={"LANG": "C.UTF-8", "PATH": os.environ["PATH"], **measured},
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    if said != b"ready\n":
        raise RuntimeError(f"no server for the command: {(said + process.stdout.read()).decode()}")
    return process


class Server:
    """A running command_server.py: this process's own, or for models the one that all workers share."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._is_for_models = modules == MODELS  # their clients belong to the event loop of one call
        shared = os.environ.get(SHARED) if self._is_for_models else None
        self._folder = shared or tempfile.mkdtemp(prefix="anyhook-command-")
        self._path = f"{self._folder}/socket"
        if shared is None:
            self._process = started(self._path, modules, subprocess.PIPE)
            atexit.register(self.close)
            return
        with open(f"{shared}/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(self._path):  # this is the first one that needs it
                with open(f"{shared}/alive", "rb", buffering=0) as alive:
                    self._process = started(self._path, modules, alive.fileno())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, request: dict[str, Any], stdin: bytes | None, limit_s: float) -> Answer:
        return ask(self._path, FRESH if self._is_for_models or _needs_new(request) else ANY, request, stdin, limit_s)

    def start(self, request: dict[str, Any], terminal: int) -> socket.socket:
        """Start a call in a terminal. Its pid, a newline and its exit status can be read from the result."""
        return handed_over(self._path, FRESH, request, [terminal] * 3)


def handed_over(path: str, worker: bytes, request: dict[str, Any], streams: list[int]) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    connection.sendall(worker)
    data = json.dumps(request).encode()
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))
    connection.sendmsg([len(data).to_bytes(8, "big")], [rights])
    connection.sendall(data)
    return connection


def ask(path: str, worker: bytes, request: dict[str, Any], stdin: bytes | None, limit_s: float) -> Answer:
    """One call of the server at a path, by such a worker."""
    from_us, to_it = os.pipe() if stdin is not None else (os.open(os.devnull, os.O_RDONLY), -1)
    out, to_out = os.pipe()
    err, to_err = os.pipe()
    with handed_over(path, worker, request, [from_us, to_out, to_err]) as connection:
        for fd in (from_us, to_out, to_err):
            os.close(fd)
        talk = Talk(connection.fileno(), out, err, to_it, stdin or b"")
        try:
            return talk.until(time.monotonic() + limit_s, bool(request["session"]))
        finally:
            talk.close()


class Talk:
    """Writes the input of one call and reads its output, until it has ended and closed it."""

    def __init__(self, status: int, out: int, err: int, to_it: int, unsent: bytes) -> None:
        self._got: dict[int, list[bytes]] = {status: [], out: [], err: []}
        self._names = status, out, err
        self._to_it, self._unsent = to_it, memoryview(unsent)
        self._selector = selectors.DefaultSelector()
        for fd in self._got:
            self._selector.register(fd, selectors.EVENT_READ)
        if to_it >= 0:
            os.set_blocking(to_it, False)
            self._selector.register(to_it, selectors.EVENT_WRITE)

    def until(self, deadline: float, is_session: bool) -> Answer:
        killed = False
        while self._selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 and not killed:
                killed, deadline = True, deadline + CLOSING_S
                self._kill(is_session)
            elif left <= 0:
                break  # another process holds the pipes open
            for key, _ in self._selector.select(max(left, 0)):
                if key.fd == self._to_it:
                    self._write()
                elif data := os.read(key.fd, 65536):
                    self._got[key.fd].append(data)
                else:
                    self._selector.unregister(key.fd)
        told, out, err = (b"".join(self._got[fd]) for fd in self._names)
        status = told.partition(b"\n")[2]
        return None if killed or not status else int(status), out, err

    def _write(self) -> None:
        try:
            sent = os.write(self._to_it, self._unsent[:65536]) if self._unsent else 0
        except BrokenPipeError:
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._to_it)
            os.close(self._to_it)
            self._to_it = -1

    def _kill(self, is_session: bool) -> None:
        pid = int(b"".join(self._got[self._names[0]]).partition(b"\n")[0])
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if is_session else os.kill)(pid, signal.SIGKILL)

    def close(self) -> None:
        self._selector.close()
        for fd in (*self._names[1:], self._to_it):
            if fd >= 0:
                os.close(fd)


class Servers:
    """The servers of this process, each started when it is first needed."""

    is_cold = False
    """Whether every call is a real start."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, ...], Server] = {}

    def of(self, modules: tuple[str, ...]) -> Server:
        if modules not in self._made:
            self._made[modules] = Server(modules)
        return self._made[modules]


servers = Servers()


def forkable(env: Mapping[str, str]) -> bool:
    """Whether Python would start the same way with this environment: it reads some variables before our first line."""
    return all(
        env[name] == "C.UTF-8"
        if name in ("LANG", "LC_CTYPE")
        else not name.startswith(("PYTHON", "LC_", "LD_", "MALLOC_"))
        for name in env
    )


def run(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | Path,
    stdin: bytes = b"",
    as_script: bool = False,
    safe: bool = False,
    memory: int = 0,
    cold: bool = False,
    limit_s: float = LIMIT_S,
) -> subprocess.CompletedProcess[bytes]:
    """`python -m anyhook WORDS` (`safe`: with -P), or the installed script; `memory` limits its address space, `cold`
    always starts a new process."""
    argv = [SCRIPT, *words] if as_script else [sys.executable, *(["-P"] if safe else []), "-m", "anyhook", *words]
    if cold or servers.is_cold or not forkable(env):
        if as_script:  # by the native launcher, if it is installed
            env = {"ANYHOOK_WARM": "off", **env}
        return subprocess.run(
            argv, input=stdin, env=env, cwd=cwd, capture_output=True, check=False, timeout=limit_s,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (memory, memory)) if memory else None,
        )  # fmt: skip
    request = _request([SCRIPT if as_script else MODULE, *words], env, cwd)
    request["path"] = None if safe else os.path.dirname(SCRIPT) if as_script else str(cwd)
    code, out, err = servers.of(MODELS if words[:1] in (["agent"], ("agent",)) else CORE).call(
        {**request, "memory": memory}, stdin, limit_s
    )
    if code is None:
        raise subprocess.TimeoutExpired(argv, limit_s, out, err)
    return subprocess.CompletedProcess(argv, code, out, err)


class InTerminal:
    """`python -m anyhook WORDS` in a terminal that it controls."""

    def __init__(self, words: Sequence[str], *, env: Mapping[str, str], cwd: str | Path, terminal: int) -> None:
        self._cold: subprocess.Popen[bytes] | None = None
        self._said = b""
        if servers.is_cold or not forkable(env):
            self._cold = subprocess.Popen(
                [sys.executable, "-m", "anyhook", *words],
                stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=cwd, start_new_session=True,
                preexec_fn=partial(fcntl.ioctl, terminal, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (there are none)
            )  # fmt: skip
            self.pid = self._cold.pid
            return
        request = {**_request([MODULE, *words], env, cwd), "path": str(cwd), "session": True, "terminal": True}
        self._connection = servers.of(MODELS if words[0] == "agent" else CORE).start(request, terminal)
        while b"\n" not in self._said:
            self._said += self._connection.recv(1)
        self.pid = int(self._said)

    def wait(self, limit_s: float | None = LIMIT_S) -> int:
        """The exit status."""
        if self._cold is not None:
            return self._cold.wait(limit_s)
        self._connection.settimeout(limit_s)
        while said := self._connection.recv(16):
            self._said += said
        self._connection.close()
        return int(self._said.partition(b"\n")[2])

    def is_running(self) -> bool:
        if self._cold is not None:
            return self._cold.poll() is None
        return not select.select([self._connection], [], [], 0)[0]

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)


def as_text(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(done.args, done.returncode, _text(done.stdout), _text(done.stderr))


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n")


def _request(argv: Sequence[str], env: Mapping[str, str], cwd: str | Path) -> dict[str, Any]:
    # If no variable names a locale, Python sets this one and its children inherit it (PEP 538).
    coerced = {} if "LANG" in env else {"LC_CTYPE": "C.UTF-8"}
    named = {"argv": list(argv), "env": {**env, **coerced}, "cwd": str(cwd)}
    return {**named, "main": "anyhook", "session": False, "terminal": False, "path": None, "memory": 0}


def call_of_a_vector(modules: tuple[str, ...]) -> Caller:
    """How vectors call the command; the same as `box.call`."""
    return _caller(lambda *call: servers.of(modules).call(*call))


def caller_of(path: str) -> Caller:
    """The same, for calls of the server at a path."""
    return _caller(partial(ask, path, ANY))


def _caller(asked: Callable[[dict[str, Any], bytes | None, float], Answer]) -> Caller:
    box = needed("testing.kit.box")

    def call(argv: Sequence[str], stdin: str | None, env: Mapping[str, str], cwd: Path, limit_s: float) -> Ended:
        if tuple(argv[:3]) != box.COMMAND[:3] or not forkable(env):
            ended: Ended = box.call(argv, stdin, env, cwd, limit_s)
            return ended
        main, *words = argv[3:]
        data = None if stdin is None else stdin.encode("utf-8", "surrogatepass")
        request = {**_request([MODULE, *words], env, cwd), "main": main, "session": True}
        code, out, err = asked(request, data, limit_s)
        ended = box.Ended(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
        return ended

    return call
