"""An interpreter that has loaded what one Python script imports, and forks processes that wait to become that script.
It is a separate program: the script's own interpreter runs it (3.10 or newer), so it imports neither anyhook nor a
module of the project. The processes of a run are in zygote_run.py."""

from __future__ import annotations

BEGIN = {name: value for name, value in globals().items() if name != "annotations"}
"""The initial contents of a script's `__main__` module."""

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

    from anyhook.extra.warm import zygote_run as runs
else:  # the file next to this one, which is not part of a package here
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "zygote_run.py"), "rb") as beside:
        runs = type(sys)("zygote_run")
        exec(compile(beside.read(), beside.name, "exec", dont_inherit=True), runs.__dict__)  # noqa: S102

IDLE_S = 600.0
SETTLE_S = 0.03
"""How long a run has the CPU to itself before the next one is prepared."""
WATCHED = 0x0002 | 0x0004 | 0x0040 | 0x0080 | 0x0100 | 0x0200 | 0x0400 | 0x0800
"""inotify: modified, attributes, moved from and to, created, deleted, the folder itself deleted or moved."""
LESSONS = 4
"""How many runs of a script may add new modules to preload."""
MAX_LOST = 20
"""How many processes in a row may end without a run: they refuse calls, or something is wrong with them."""
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
    """The environment while modules are imported: records which variables they read. A copy counts as reading all."""

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
    """The process that forks the runners, and the state they inherit from it."""

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
        """Names next to the script that would have been imported instead."""
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
        """Modules loaded in every run: by Python itself, by this program, or preloaded."""
        self.alive, self.until = os.pipe()
        """Waiting runners see the end of the first pipe end when the second is closed: they are outdated, or the zygote
        is gone."""
        self.watch(())

    def bound(self, kind: int, path: str) -> _socket.socket:
        """A socket at a path. We hold the lock, so a socket that is already there was left by a killed process."""
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
                runs.ready((self.listener.fileno(), spare), SETTLE_S)  # a fork now would slow down the run
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
        """Preload what a run had imported, and watch the folders that it searched. If a module prints something or
        starts a thread on import, this program restarts and preloads nothing."""
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
        gc.freeze()  # garbage collection in a runner must not touch (and copy) our pages

    def compile(self) -> None:
        """Compile the script for the next run. If compiling prints a warning, that run compiles it itself."""
        try:
            source = runs.source_of(self.script)
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
        """Restart without preloaded modules. This process keeps the lock."""
        words = sys.orig_argv
        at = words.index(__file__) + 3
        os.execve(sys.executable, [*words[:at], "1", *words[at + 1 :]], self.given)  # noqa: S606

    def watch(self, more: Iterable[str]) -> None:
        """Watch every folder that modules come from. For the standard library, watch only the interpreter."""
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
        """Whether a module may be preloaded: it is in the standard library or an installed package."""
        place = str(getattr(module, "__file__", None) or "")
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if not place:
            return origin in ("built-in", "frozen")
        return name not in ("__main__", "__mp_main__") and any(
            place.startswith(f"{root}/") for root in self.roots if root
        )

    def objection(self, call: runs.RunRequest) -> str:
        """Why this call needs a new process, or ""."""
        if any(call.env.get(name) != self.given.get(name) for name in self.read):
            return "a module has read a variable that is different now"
        if self.reads_folder and call.folder != self.folder:
            return "a module has asked for the current folder"
        if runs.ready([self.changes], 0.0):
            return "an installed package has changed"
        if call.beside and any(name.partition(".")[0] in self.shadowed for name in os.listdir(call.beside)):
            return "a file next to the script has the name of a loaded module"
        return ""


def main() -> None:
    path, server, bare, own_root, script, *words = sys.argv[1:]
    import fcntl

    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # no run inherits this process's descriptors

    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # there is one already
    os.utime(lock)  # if this fails, the next try waits
    if sys.version_info < OLDEST:
        return
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    Zygote(path, lock, int(server), bare == "1", own_root, script, words).serve()


if __name__ == "__main__":
    main()
