"""An interpreter that has loaded what one Python script imports, and forks processes that wait to be that script. A
program by itself: the script's own interpreter runs it (3.10 or newer), so it imports neither anyhook nor a module of
the project. The processes of a run are in zygote_run.py."""

from __future__ import annotations

BEGIN = {name: value for name, value in globals().items() if name != "annotations"}
"""What the module `__main__` of a script begins with."""

import _signal  # type: ignore[import-not-found] # noqa: E402 (C modules: a script may look at what is loaded)
import _socket  # noqa: E402
import gc  # noqa: E402
import marshal  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, ModuleType
    from typing import NoReturn

    from anyhook.process import zygote_run as runs
else:  # the file beside this one, which is nobody's module here
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "zygote_run.py"), "rb") as beside:
        runs = type(sys)("zygote_run")
        exec(compile(beside.read(), beside.name, "exec", dont_inherit=True), runs.__dict__)  # noqa: S102

IDLE_S = 600.0
SETTLE_S = 0.03
"""How long a run has the machine for itself before the next one is prepared."""
WATCHED = 0x0002 | 0x0004 | 0x0040 | 0x0080 | 0x0100 | 0x0200 | 0x0400 | 0x0800
"""inotify: modified, attributes, moved from and to, created, deleted, the folder itself deleted or moved."""
LESSONS = 4
"""How many runs of a script may each show modules that no run before them had loaded."""
MAX_LOST = 20
"""Processes that may end one after another without a run: they refuse calls, or something is wrong with them."""
OLDEST = (3, 10)
PACKAGES = ("site-packages", "dist-packages")


class Printed:
    """Whether anything is printed until the end."""

    def __init__(self) -> None:
        self.into, self.kept = os.memfd_create("printed"), [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(self.into, number)

    def end(self) -> bool:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(self.kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        size = os.fstat(self.into).st_size
        os.close(self.into)
        return size > 0


class Reads(dict):  # type: ignore[type-arg]
    """The environment while modules are loaded: notes which variables they ask for. One that copies it asks for all."""

    def __init__(self, given: dict[bytes, bytes]) -> None:
        super().__init__(given)
        self.names: set[bytes] = set()
        self.all = False

    def __getitem__(self, name: bytes) -> bytes:
        self.names.add(name)
        value: bytes = super().__getitem__(name)
        return value

    def __contains__(self, name: object) -> bool:
        if isinstance(name, bytes):
            self.names.add(name)
        return super().__contains__(name)

    def __iter__(self):  # type: ignore[no-untyped-def]
        self.all = True
        return super().__iter__()


class Zygote:
    """What the runners have from the process that forks them."""

    def __init__(
        self, path: str, lock: int, server: int, is_bare: bool, own_root: str, script: str, words: list[str]
    ) -> None:
        self.path, self.lock, self.server, self.script, self.words = path, lock, server, script, words
        self.begin = BEGIN
        if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
            del sys.path[0]  # this program's own folder
        library = os.path.dirname(os.__file__)
        self.roots = (library, own_root, *[folder for folder in sys.path if os.path.basename(folder) in PACKAGES])
        self.shadowed: frozenset[str] = frozenset()
        """Names beside the script that would have been imported instead of those."""
        self.is_bare, self.lessons_left = is_bare, 0
        with open("/proc/self/environ", "rb") as file:
            self.given = dict(entry.partition(b"=")[::2] for entry in file.read().split(b"\0") if b"=" in entry)
        self.coerced = {
            name: os.environb[name] for name in (b"LC_CTYPE",) if name in os.environb and name not in self.given
        }
        self.read: set[bytes] = set()
        self.reads_folder = False
        self.folder = os.getcwd()
        self.source = b""
        self.code: CodeType | None = None
        self.changes = runs.system("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        umask = os.umask(0o177)
        self.lessons = self.bound(_socket.SOCK_DGRAM, f"{path}.lesson")
        self.listener = self.bound(_socket.SOCK_STREAM, path)
        os.umask(umask)
        self.listener.listen(16)
        self.known = frozenset(sys.modules)
        """What is loaded in every run: with Python's start, by this program, or beforehand."""
        self.alive, self.until = os.pipe()
        """Runners that wait see the end of the first when the second is closed: they are out of date, or alone."""
        self.watch(())

    def bound(self, kind: int, path: str) -> _socket.socket:
        """A socket at a path. Whoever holds the lock owns it: what is there was left by a process that was killed."""
        made = _socket.socket(_socket.AF_UNIX, kind)
        made.setblocking(False)
        if os.path.lexists(path):
            os.unlink(path)
        made.bind(path)
        return made

    def serve(self) -> NoReturn:
        server = os.pidfd_open(self.server)
        taken, tell_taken = os.pipe()
        spare, used_s, lost = -1, time.monotonic(), 0
        while True:
            if spare < 0:
                self.compile()
                pid = os.fork()
                if pid == 0:
                    os.close(taken)
                    runs.keep(self, tell_taken)
                spare = os.pidfd_open(pid)
            came = runs.ready((server, taken, spare, self.changes, self.lessons.fileno()), IDLE_S)
            if taken in came:
                os.read(taken, 4096)
                used_s, lost = time.monotonic(), 0
                runs.ready((self.listener.fileno(), spare), SETTLE_S)  # a fork now would take the run's time
            if self.lessons.fileno() in came:
                self.learn(*marshal.loads(self.lessons.recv(1 << 20)))  # noqa: S302 (from a runner)
                os.close(self.until)
                os.close(self.alive)
                self.alive, self.until = os.pipe()
            lost += spare in came and taken not in came
            if lost > MAX_LOST:
                os._exit(1)
            if {taken, spare, self.lessons.fileno()} & came:
                os.close(spare)
                spare = -1
            if {server, self.changes} & came or time.monotonic() - used_s > IDLE_S:
                for end in ("", ".lesson", ".lock"):
                    os.unlink(f"{self.path}{end}")
                os._exit(0)

    def learn(self, names: list[str], folders: list[str]) -> None:
        """Load what a run had loaded, and look out for changes where it looked. A module that prints something when it
        is loaded, or starts a thread, would do so for nobody: then this program starts again and loads nothing."""
        if not self.lessons_left:
            return
        self.lessons_left -= 1
        printed = Printed()
        reads = Reads(os.environ._data)  # type: ignore[attr-defined]
        plain = dict(os.environ._data)  # type: ignore[attr-defined]
        getcwd, before = os.getcwd, frozenset(sys.modules)
        os.getcwd = self.note_folder(getcwd)
        os.environ._data = os.environb._data = reads  # type: ignore[attr-defined]
        sys.argv = [self.script, *self.words]
        for name in names:
            try:
                __import__(name)
            except Exception:  # noqa: BLE001, S112 (the script will see it)
                continue
        os.environ._data = os.environb._data = plain  # type: ignore[attr-defined]
        os.getcwd = getcwd
        if printed.end() or reads.all or plain != reads or len(os.listdir("/proc/self/task")) > 1:
            self.begin_again()
        self.read |= reads.names
        loaded = frozenset(sys.modules) - before
        self.known |= loaded
        self.shadowed |= {name.partition(".")[0] for name in loaded}
        self.watch(folders)
        gc.collect()
        gc.freeze()  # a runner that collects leaves our pages alone

    def compile(self) -> None:
        """Have the script's code for the next run, unless compiling it says something: then that run compiles it."""
        try:
            with open(self.script, "rb") as file:
                source = file.read()
            if source == self.source:
                return
            printed = Printed()
            self.source, self.code = source, None
            self.lessons_left = 0 if self.is_bare else LESSONS
            try:
                code = compile(source, runs.full_path(self.script, self.folder), "exec", dont_inherit=True)
            finally:
                has_printed = printed.end()
            self.code = None if has_printed else code
        except Exception:  # noqa: BLE001 (the run will see it)
            return

    def note_folder(self, getcwd: Callable[[], str]) -> Callable[[], str]:
        def noted() -> str:
            self.reads_folder = True
            return getcwd()

        return noted

    def begin_again(self) -> NoReturn:
        """The same without any module. The lock stays with this process."""
        words = sys.orig_argv
        at = words.index(__file__) + 3
        os.execve(sys.executable, [*words[:at], "1", *words[at + 1 :]], self.given)  # noqa: S606

    def watch(self, more: Iterable[str]) -> None:
        """Notice every change where modules come from; the interpreter stands for its own library."""
        files = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
        folders = {os.path.dirname(path) for path in files if path} | {*filter(os.path.isdir, sys.path)} | {*more}
        library = self.roots[0]
        for folder in folders:
            part = folder == library or (
                folder.startswith(f"{library}/") and not any(f"/{name}" in folder[len(library) :] for name in PACKAGES)
            )
            if not part and runs.system("inotify_add_watch", self.changes, os.fsencode(folder), WATCHED) < 0:
                self.begin_again() if self.shadowed else os._exit(1)

    def is_ours(self, name: str, module: ModuleType) -> bool:
        """Whether a module may be loaded beforehand: from the standard library or an installed package."""
        place = str(getattr(module, "__file__", None) or "")
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if not place:
            return origin in ("built-in", "frozen")
        return name not in ("__main__", "__mp_main__") and any(
            place.startswith(f"{root}/") for root in self.roots if root
        )

    def objection(self, call: runs.RunRequest) -> str:
        """Why this call needs a new process; "" where it does not."""
        if any(call.env.get(name) != self.given.get(name) for name in self.read):
            return "a module has read a variable that is different now"
        if self.reads_folder and call.folder != self.folder:
            return "a module has asked for the current folder"
        if runs.ready([self.changes], 0.0):
            return "an installed package has changed"
        if call.beside and any(name.partition(".")[0] in self.shadowed for name in os.listdir(call.beside)):
            return "a file beside the script has the name of a module that is loaded"
        return ""


def main() -> None:
    path, server, bare, own_root, script, *words = sys.argv[1:]
    import fcntl

    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # no run gets what this process was started with

    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # there is one
    os.utime(lock)  # if this fails, nobody tries again at once
    if sys.version_info < OLDEST:
        return
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    Zygote(path, lock, int(server), bare == "1", own_root, script, words).serve()


if __name__ == "__main__":
    main()
