"""A Python script answers the same in a running interpreter as in a new one, whatever it inspects and however it
ends."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from anyhook.extra.warm.warm_python import Interpreters, WarmChild
from anyhook.model.call import Call, Run
from anyhook.platform.run import start
from anyhook.platform.spawn import here
from living import lives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NONE: dict[str, str] = {}
LIMIT_S = 60.0
"""A safety net; no test depends on it."""
WHO = "import sys; is_warm = b'/zygote.py\\0' in open('/proc/self/cmdline', 'rb').read()\n"
"""How these scripts find out whether they run warm."""


class Desk:
    """A project, and a folder for interpreters that end with this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.door = Interpreters(tempfile.mkdtemp(prefix="ah-"), "test", os.getpid())
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "MARK": "x", "TZ": "Asia/Tokyo"}

    def write(self, text: str, name: str = "hook.py") -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def call(self, *argv: str, stdin: bytes = b"", limit_s: float = LIMIT_S, env: Mapping[str, str] = NONE) -> Call:
        return Call(argv, stdin, {**self.env, **env}, str(self.folder), limit_s, "MARK=x")

    def run(self, call: Call, *, warm: bool) -> Run:
        """Run a call cold or warm, and do the deferred work at once."""
        with mock.patch.object(here, "warm_child", partial(WarmChild, self.door) if warm else None):
            child = start(call.replace(may_be_warm=True))
            run = child if isinstance(child, Run) else child.wait()
        cwd = Path.cwd()
        for each in here.afterwards:
            each()
        os.chdir(cwd)
        is_new = bool(here.afterwards)
        here.afterwards.clear()
        if is_new:
            self.wait_for_interpreter()
        assert run is not None
        return run

    def wait_for_interpreter(self) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not any("." not in name for name in os.listdir(self.door.folder)):
            assert time.monotonic() < deadline, "no interpreter started"
            time.sleep(0.01)

    def learned(self, call: Call) -> None:
        """Let an interpreter start and learn what the script loads."""
        for _ in range(3):
            self.run(call, warm=True)
            time.sleep(0.1)

    def processes(self) -> list[int]:
        """All processes of its interpreters."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal():
                try:
                    if os.fsencode(self.door.folder) in Path(f"/proc/{name}/cmdline").read_bytes():
                        found.append(int(name))
                except OSError:
                    continue
        return [pid for pid in found if lives(pid)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    if sys.platform != "linux":
        pytest.skip("interpreters are kept on Linux")
    made = Desk(tmp_path)
    yield made
    for pid in made.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)


def shown(run: Run) -> tuple[object, ...]:
    return run.ending, run.exit_code, run.stdout.decode().splitlines(), run.stderr.decode().splitlines()


def same(desk: Desk, call: Call, times: int = 3) -> Run:
    """Check that the run is the same cold, in a new interpreter, and in one that has learned."""
    cold = desk.run(call, warm=False)
    for number in range(times):
        warm = desk.run(call, warm=True)
        assert shown(warm) == shown(cold), number
        time.sleep(0.05)
    return cold


LOOK = """
import gc, json, locale, os, resource, signal, sys, threading, time
def stream(s):
    return [s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty(), s.seekable(), s.name, s.mode,
            type(s.buffer).__name__, s.fileno(), s.newlines]
main = sys.modules["__main__"]
print(json.dumps({
    "stdin": sys.stdin.read(), "argv": sys.argv, "orig": sys.orig_argv, "cwd": os.getcwd(), "env": dict(os.environ),
    "path": sys.path, "flags": str(sys.flags), "exe": sys.executable, "prefix": [sys.prefix, sys.base_prefix],
    "main": sorted(vars(main)), "file": __file__, "spec": str(__spec__), "name": __name__, "doc": __doc__,
    "package": __package__, "loader": [type(__loader__).__name__, __loader__.name, __loader__.path],
    "annotations": __annotations__, "cached": str(__cached__), "builtins": str(__builtins__),
    "streams": [stream(s) for s in (sys.stdin, sys.stdout, sys.stderr)], "same": sys.stdout is sys.__stdout__,
    "umask": os.umask(0o22), "limits": [resource.getrlimit(n) for n in range(16)], "nice": os.nice(0),
    "group": os.getpgrp() == os.getpid(), "session": os.getsid(0), "fds": sorted(os.listdir("/proc/self/fd")),
    "signals": [str(signal.getsignal(n)) for n in signal.valid_signals()], "mask": str(signal.pthread_sigmask(0, ())),
    "zone": time.tzname, "locale": locale.setlocale(locale.LC_ALL), "threads": threading.active_count(),
    "thread": threading.current_thread().name, "recursion": sys.getrecursionlimit(), "x": sys._xoptions,
    "gc": [gc.isenabled(), gc.get_threshold()], "switch": sys.getswitchinterval(), "warn": sys.warnoptions,
    "hooks": [getattr(h, "__name__", type(h).__name__) for h in sys.meta_path], "trace": str(sys.gettrace()),
    "excepthook": str(sys.excepthook is sys.__excepthook__), "next": os.open("/dev/null", 0),
    "safe": sys.flags.safe_path if hasattr(sys.flags, "safe_path") else None, "byte": sys.dont_write_bytecode,
}, indent=1, sort_keys=True))
"""
WAYS: dict[str, tuple[str, ...]] = {
    "by name": ("python3", "hook.py", "one", "two words"),
    "by path": (sys.executable, "{folder}/hook.py"),
    "with a dot": (sys.executable, "./hook.py"),
    "unbuffered": (sys.executable, "-u", "hook.py"),
    "isolated": (sys.executable, "-I", "-B", "hook.py"),
    "by bash": ("/bin/bash", "-c", 'python3 "{folder}/hook.py" a'),
    "by sh": ("/bin/sh", "-c", "python3 {folder}/hook.py"),
    "its own program": ("{folder}/hook.py", "x"),
    "by bash, its own program": ("/bin/bash", "-c", "$HOME/hook.py"),
}


QUICK = "by bash"
"""The shape of most hooks."""


@pytest.mark.parametrize("way", [QUICK, *[pytest.param(way, marks=pytest.mark.slow) for way in WAYS if way != QUICK]])
def test_a_script_sees_the_same(desk: Desk, way: str) -> None:
    desk.env["PATH"] = f"{Path(sys.executable).parent}:{desk.env['PATH']}"
    desk.write(f"#!/usr/bin/env python3\n'''Text.'''\n{LOOK}").chmod(0o755)
    argv = [word.format(folder=desk.folder) for word in WAYS[way]]
    same(desk, desk.call(*argv, stdin='{"é": 1}'.encode()))


STARTS = (
    {"PYTHONUNBUFFERED": "1"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LANG": "C", "LC_ALL": "C"},
    {"PYTHONPATH": "/usr/lib", "PYTHONDONTWRITEBYTECODE": "1"},
    {"SHLVL": "3", "OLDPWD": "/usr"},
)


@pytest.mark.slow
@pytest.mark.parametrize("variables", STARTS)
def test_variables_that_decide_how_it_starts(desk: Desk, variables: dict[str, str]) -> None:
    desk.write(LOOK)
    same(desk, desk.call("/bin/bash", "-c", f"{sys.executable} hook.py", env=variables), 2)


ENDINGS = {
    "a number": "import sys; print('out'); sys.exit(3)",
    "a large number": "import sys; sys.exit(258)",
    "a text": "import sys; sys.exit('because')",
    "nothing": "import sys; sys.exit()",
    "at once": "import os, sys; sys.stdout.write('lost'); os._exit(5)",
    "an exception": """
def f():
    raise ValueError("no")
try:
    f()
except ValueError as error:
    raise KeyError(1) from error
""",
    "not Python": "print('x'",
    "a warning of the compiler": "print('a' is 'b')",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "a crash": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "interrupted": "raise KeyboardInterrupt",
    "a file that nobody closed": """
import atexit, sys
f = open("left", "w")
f.write("kept")
atexit.register(lambda: print("at exit"))
""",
    "a cycle": """
class A:
    def __del__(self):
        print("gone")
a = A()
a.a = a
""",
    "a thread": """
import threading, time
threading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()
print("main")
""",
    "a thread that nobody waits for": """
import threading, time
threading.Thread(target=time.sleep, args=(50,), daemon=True).start()
""",
    "closed stdout": "import sys; print('x'); sys.stdout.close()",
    "a broken stdout": "import os, sys; sys.stdout.write('x' * 99); os.close(1)",
    "its own excepthook": """
import sys
sys.excepthook = lambda *a: print("hook", a[0].__name__)
1/0
""",
    "another program": "import os; print(1, flush=True); os.execvp('sh', ['sh', '-c', 'echo $MARK; exit 7'])",
    "a fork": """
import os
pid = os.fork()
if pid: os.waitpid(pid, 0)
print("both", bool(pid))
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["", "/bin/sh"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_script_ends_the_same(desk: Desk, ending: str, shell: str) -> None:
    desk.write(ENDINGS[ending])
    argv = (shell, "-c", f"{sys.executable} hook.py") if shell else (sys.executable, "hook.py")
    same(desk, desk.call(*argv), 2)
    if "nobody closed" in ending:
        assert (desk.folder / "left").read_text() == "kept"


def is_warm(run: Run) -> bool:
    return run.stdout.split()[0] == b"True"


def test_it_is_warm_from_the_second_run_on_and_then_loads_nothing(desk: Desk) -> None:
    desk.write(f"{WHO}had = 'decimal' in sys.modules\nimport decimal\nprint(is_warm, had)\n")
    call = desk.call(sys.executable, "hook.py")
    runs = [desk.run(call, warm=True).stdout]
    desk.learned(call)
    runs.append(desk.run(call, warm=True).stdout)
    assert runs == [b"False False\n", b"True True\n"]


def test_the_projects_own_modules_are_never_kept(desk: Desk) -> None:
    desk.write("import sibling\nprint(sibling.VALUE)\n")
    call = desk.call(sys.executable, "hook.py")
    for value in ("1", "22", "333", "4444"):
        desk.write(f"VALUE = {value}\n", "sibling.py")
        assert desk.run(call, warm=True).stdout.decode() == f"{value}\n"
        time.sleep(0.1)


def test_a_changed_script_is_what_runs(desk: Desk) -> None:
    call = desk.call(sys.executable, "hook.py")
    for text in ("a", "b", "c", "d"):
        desk.write(f"{WHO}print(is_warm, '{text}')\n")
        run = desk.run(call, warm=True)
        assert run.stdout.split()[1] == text.encode()
        time.sleep(0.1)
    assert is_warm(run)


def test_a_file_that_takes_the_place_of_a_module_is_loaded(desk: Desk) -> None:
    desk.write(f"{WHO}import decimal\nprint(is_warm, decimal.__file__)\n")
    call = desk.call(sys.executable, "hook.py")
    desk.learned(call)
    assert is_warm(desk.run(call, warm=True))
    desk.write("", "decimal.py")
    same(desk, call, 1)


def test_a_variable_that_a_module_has_read_at_its_import(desk: Desk) -> None:
    packages = desk.folder / "packages" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "asks.py").write_text("import os\nSAID = os.environ.get('SAID', 'nothing')\n")
    desk.write(f"{WHO}import asks\nprint(is_warm, asks.SAID)\n")
    ways = {
        said: desk.call(sys.executable, "hook.py", env={"PYTHONPATH": str(packages), "SAID": said})
        for said in ("one", "two")
    }
    desk.learned(ways["one"])
    assert desk.run(ways["one"], warm=True).stdout == b"True one\n"
    assert desk.run(ways["two"], warm=True).stdout == b"False two\n"
    time.sleep(0.1)
    assert desk.run(ways["one"], warm=True).stdout == b"True one\n"
    (packages / "asks.py").write_text("SAID = 'another'\n")
    assert desk.run(ways["one"], warm=True).stdout.split()[1] == b"another"


ACTS = (
    "print('loaded')",
    "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "import os; os.environ['SET'] = '1'",
    "import os; EVERYTHING = dict(os.environ)",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", ACTS)
def test_a_module_that_acts_when_it_is_loaded_is_not_loaded_beforehand(desk: Desk, text: str) -> None:
    packages = desk.folder / "packages" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "acts.py").write_text(f"{text}\n")
    show = "print(os.environ.get('SET'), threading.active_count(), sorted(os.environ))"
    desk.write(f"import acts, os, threading\n{show}\n")
    same(desk, desk.call(sys.executable, "hook.py", env={"PYTHONPATH": str(packages)}), 4)


LEAVES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        open("new", "w").write(str(os.getpid()))
        os.rename("new", "left")
        time.sleep(60)
    os._exit(0)
while not os.path.exists("left"):
    time.sleep(0.01)
time.sleep(float(sys.argv[1]))
"""


def test_after_its_limit_nothing_of_it_is_left(desk: Desk) -> None:
    """This includes a process that has left its group, its session, its parent and its environment."""
    desk.write(LEAVES)
    desk.learned(desk.call(sys.executable, "hook.py", "0"))
    kept = int((desk.folder / "left").read_text())
    (desk.folder / "left").unlink()
    run = desk.run(desk.call(sys.executable, "hook.py", "60", limit_s=2.0), warm=True)
    assert (run.ending, run.exit_code) == ("timed_out", -9)
    pid = int((desk.folder / "left").read_text())
    assert not lives(pid)
    assert lives(kept), "what a script leaves when it ends by itself is its own affair"
    os.kill(kept, 9)


WAITS = """
import os, sys, time
if sys.argv[1] == "wait":
    open("new", "w").write(str(os.getpid()))
    os.rename("new", "runs")
    while not os.path.exists("go"):
        time.sleep(0.01)
print("done")
sys.exit(4)
"""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def parts_of(desk: Desk) -> dict[str, int]:
    """The zygote, and the keeper and the runner of the current run."""
    runner = int((desk.folder / "runs").read_text())
    keeper = parent_of(runner)
    everyone = desk.processes()
    zygote = next(pid for pid in everyone if pid not in (runner, keeper) and parent_of(pid) not in everyone)
    return {"runner": runner, "keeper": keeper, "zygote": zygote}


ENDS = {"runner": ("signalled", -9), "keeper": ("exited", None), "zygote": ("exited", 4)}


@pytest.mark.parametrize("who", ENDS)
def test_whoever_is_killed_the_run_has_one_end(desk: Desk, who: str) -> None:
    desk.write(WAITS)
    desk.learned(desk.call(sys.executable, "hook.py", "no"))
    with mock.patch.object(here, "warm_child", partial(WarmChild, desk.door)):
        child = start(desk.call(sys.executable, "hook.py", "wait").replace(may_be_warm=True))
    assert isinstance(child, WarmChild)
    while not (desk.folder / "runs").exists():
        time.sleep(0.01)
    os.kill(parts_of(desk)[who], 9)
    (desk.folder / "go").touch()
    run = child.wait()
    assert run is not None
    assert (run.ending, run.exit_code) == ENDS[who]
    deadline = time.monotonic() + LIMIT_S
    while lives(int((desk.folder / "runs").read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_interpreters_end_with_their_server(desk: Desk) -> None:
    server = subprocess.Popen(["sleep", "60"])
    desk.door = desk.door.replace(server=server.pid)
    desk.write(f"{WHO}print(is_warm)")
    call = desk.call(sys.executable, "hook.py")
    desk.learned(call)
    assert is_warm(desk.run(call, warm=True))
    assert desk.processes()
    server.kill()
    server.wait()
    deadline = time.monotonic() + LIMIT_S
    while desk.processes():
        assert time.monotonic() < deadline, "an interpreter is left"
        time.sleep(0.01)
    assert os.listdir(desk.door.folder) == []


def test_a_program_that_is_not_a_plain_script_is_started_cold(desk: Desk) -> None:
    desk.write(f"{WHO}print(is_warm)\n")
    shim = desk.write(f'#!/bin/sh\nexec {sys.executable} "$@"\n', "python3")
    shim.chmod(0o755)
    for argv in (
        (str(shim), "hook.py"),
        (sys.executable, "-c", f"{WHO}print(is_warm)"),
        ("/bin/sh", "-c", f"{sys.executable} hook.py; true"),
        ("/bin/bash", "-c", f"{sys.executable} hook.py 2>&1"),
    ):
        call = desk.call(*argv)
        assert [desk.run(call, warm=True).stdout for _ in range(2)] == [b"False\n"] * 2
    strange = desk.call("/bin/bash", "-c", f"{sys.executable} hook.py", env={"BASH_ENV": "/dev/null"})
    assert [desk.run(strange, warm=True).stdout for _ in range(2)] == [b"False\n"] * 2
    assert os.listdir(desk.door.folder) == []
