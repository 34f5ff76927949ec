"""The spawn core inside all kinds of hosts: terminated by a signal, without free descriptors, ignoring SIGCHLD, and our
own process."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from living import kill, lives

if TYPE_CHECKING:
    from collections.abc import Sequence

PREAMBLE = '''
import json, os, signal, sys, threading, time
from anyhook.model.call import Call
from anyhook.platform.run import adopt_orphans, end_all, run, start
from anyhook.platform.spawn import leave_alone

MARK = os.environ["HOST_MARK"]
signal.alarm(100)  # whatever the test did wrong, its host does not outlive it for long

def call(script, stdin=b"", limit_s=60.0, n=0):
    env = {"PATH": os.environ["PATH"], MARK: str(n)}
    return Call(("/bin/sh", "-c", script), stdin, env, os.getcwd(), limit_s, f"{MARK}={n}")

def end_when_written(child, *names):
    """End it as at its limit, once it has got so far, however busy the machine is."""
    while not all(os.path.exists(name) and os.path.getsize(name) for name in names):
        time.sleep(0.005)
    child.end("timed_out")
    return child.wait().ending

def tell(**what):
    with open("told", "w") as file:
        json.dump(what, file)
'''

KERNEL_KEEPS_STATUS = tuple(map(int, platform.release().split("-")[0].split(".")[:2])) >= (6, 15)


class Host:
    """A small program that uses the core, in a separate folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = f"HOST_{os.getpid()}_{time.monotonic_ns()}"

    def start(self, script: str, prefix: Sequence[str] = (), **how: object) -> subprocess.Popen[bytes]:
        (self.folder / "host.py").write_text(PREAMBLE + textwrap.dedent(script))
        env = {**os.environ, "HOST_MARK": self.mark}
        popen: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
            [*prefix, sys.executable, "-W", "error", "host.py"], cwd=self.folder, env=env, **how
        )
        return popen

    def run(self, script: str, prefix: Sequence[str] = (), **how: object) -> dict[str, object]:
        with self.start(script, prefix, **how) as process:
            assert process.wait() == 0
        return self.told()

    def told(self) -> dict[str, object]:
        told = json.loads((self.folder / "told").read_text())
        assert isinstance(told, dict)
        return told

    def pids(self, lines: int = 1) -> list[int]:
        """The pids that hooks wrote into `pids`, once there are this many. The test's own timeout limits the wait."""
        path = self.folder / "pids"
        while not path.exists() or len(found := path.read_text().split()) < lines:
            time.sleep(0.005)
        return [int(pid) for pid in found]

    def left(self) -> list[int]:
        """Live processes that carry the mark of this host's hooks."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                entries = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(entry.startswith(f"{self.mark}=".encode()) for entry in entries) and lives(int(folder.name)):
                found.append(int(folder.name))
        return found


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


# --- terminated

HANDLER = """
def on_term(number, frame):
    end_all(for_good=True)
    os._exit(128 + number)
def sleep_on():
    while True:  # a signal just before a sleep begins does not end it, and waits until it is over
        time.sleep(0.1)
signal.signal(signal.SIGTERM, on_term)
HOOK = "echo $$ >>pids; setsid sleep 100 & echo $! >>pids; sleep 100"
"""

DEAF = """
threading.Thread(target=sleep_on, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
"""
"""The other thread gets the signal, so it does not interrupt the main thread's poll. Nor does a signal that arrives
just before the poll."""


@pytest.mark.parametrize(
    ("hosting", "hooks"),
    [
        ("run(call(HOOK))", 1),
        ("adopt_orphans(); run(call(HOOK))", 1),
        ("[threading.Thread(target=run, args=(call(HOOK, n=n),)).start() for n in range(4)]; sleep_on()", 4),
        ("children = [start(call(HOOK, n=n)) for n in range(3)]; children[0].wait()", 3),
        (DEAF + "run(call(HOOK, limit_s=1000))", 1),
    ],
)
def test_a_host_told_to_end_takes_its_hooks_along(host: Host, hosting: str, hooks: int) -> None:
    with host.start(HANDLER + hosting) as process:
        pids = host.pids(2 * hooks)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    assert [pid for pid in pids if lives(pid)] == []
    assert host.left() == []


@pytest.mark.parametrize("delay_s", [0.0, 0.005, 0.03])
def test_a_host_told_to_end_while_it_starts_hooks(host: Host, delay_s: float) -> None:
    """Whenever the signal arrives, between pipe, start and first wait, no process escapes."""
    storm = """
    def on_and_on(n):
        while True:
            run(call("echo $$ >>pids; sleep 0.02; sleep 100", limit_s=0.05, n=n))
    for n in range(4):
        threading.Thread(target=on_and_on, args=(n,), daemon=True).start()
    on_and_on(4)
    """
    with host.start(HANDLER + textwrap.dedent(storm)) as process:
        host.pids(5)
        time.sleep(delay_s)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    assert host.left() == []


def test_an_interrupted_run_leaves_nothing(host: Host) -> None:
    script = """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run(call("setsid sleep 100 & echo $! >>pids; sleep 100"))
    except KeyboardInterrupt:
        pass
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        tell(children=0, fds=sorted(os.listdir("/proc/self/fd")))
    """
    with host.start(script) as process:
        (pid,) = host.pids()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert (host.told(), lives(pid), host.left()) == ({"children": 0, "fds": ["0", "1", "2", "3"]}, False, [])


def test_a_fork_of_the_host_does_not_end_its_hooks(host: Host) -> None:
    got = host.run("""
    child = start(call("sleep 0.3; exit 4"))
    fork = os.fork()
    if not fork:
        end_all()
        os._exit(0)
    os.waitpid(fork, 0)
    run = child.wait()
    tell(ending=run.ending, exit_code=run.exit_code)
    """)
    assert got == {"ending": "exited", "exit_code": 4}


# --- difficult hosts


def test_a_host_that_ignores_sigchld_still_gets_the_refusal(host: Host) -> None:
    """This needs a kernel that keeps the status, and a process that lives until we have a pidfd. Otherwise the status
    is reported as unknown."""
    got = host.run("""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    runs = [run(call("sleep 0.2; echo out; exit 2")), run(call("sleep 0.2; kill -TERM $$")), run(call("echo; exit 2"))]
    late = end_when_written(start(call("setsid sleep 100 & echo $! >>pids; sleep 100")), "pids")
    tell(runs=[(run.ending, run.exit_code, run.stdout.decode(), run.error) for run in runs], late=late)
    """)
    unknown = "its exit status is unknown: it was reaped elsewhere, or hangs in the kernel"
    if KERNEL_KEEPS_STATUS:
        known = [["exited", 2, "out\n", None], ["signalled", -15, "", None]]
    else:
        known = [["exited", None, "out\n", unknown], ["exited", None, "", unknown]]
    *slow, quick = cast("list[object]", got["runs"])
    assert slow == known
    assert quick in (["exited", 2, "\n", None], ["exited", None, "\n", unknown])
    assert (got["late"], [pid for pid in host.pids() if lives(pid)], host.left()) == ("timed_out", [], [])


def test_a_host_that_reaps_everything_itself(host: Host) -> None:
    got = host.run("""
    def reap():
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                time.sleep(0.0005)
    threading.Thread(target=reap, daemon=True).start()
    runs = [run(call("sleep 0.1; exit 2")) for _ in range(5)]
    tell(runs=[(run.ending, run.exit_code, run.error is None) for run in runs])
    """)
    runs = cast("list[tuple[str, int | None, bool]]", got["runs"])
    assert len(runs) == 5
    for ending, exit_code, silent in runs:
        assert (ending, exit_code) == ("exited", 2 if silent else None)
        assert silent or not KERNEL_KEEPS_STATUS


def test_a_host_in_which_sigpipe_kills(host: Host) -> None:
    got = host.run("""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    run = run(call("exec <&-; sleep 0.1; exit 3", stdin=b"x" * 1_000_000))
    tell(exit_code=run.exit_code)
    """)
    assert got == {"exit_code": 3}


def test_a_host_without_free_descriptors(host: Host) -> None:
    """With more and more descriptors free, it either says what is missing or runs, and never leaks one."""
    got = host.run("""
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    run(call("exit 0"))
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    seen = []
    for _ in range(14):
        result = run(call("cat; exit 3", stdin=b"x" * 100_000))
        seen.append([result.ending, result.exit_code, len(result.stdout), result.error])
        free = 0
        spare = []
        try:
            while True:
                spare.append(os.dup(0))
        except OSError:
            free = len(spare)
        for fd in spare:
            os.close(fd)
        seen[-1].append(free)
        os.close(taken.pop())
    tell(seen=seen)
    """)
    seen = got["seen"]
    assert isinstance(seen, list)
    assert {tuple(row[:3]) for row in seen} == {("not_started", None, 0), ("exited", 3, 100_000)}
    assert all("no file descriptor left" in row[3] or "Too many open files" in row[3] for row in seen if row[3])
    assert [row[4] for row in seen] == list(range(14))
    assert (seen[0][0], seen[-1][0]) == ("not_started", "exited")


@pytest.mark.parametrize("adopt", ["", "adopt_orphans()"])
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"])
def test_a_host_without_stdio(host: Host, adopt: str, closed: str) -> None:
    script = f"{adopt}\ngot = run(call('cat; echo err >&2', stdin=b'in'))\ntell(got=repr((got.stdout, got.stderr)))"
    got = host.run(script, prefix=["/bin/sh", "-c", f'exec {closed}; exec "$@"', "sh"])
    assert got == {"got": "(b'in', b'err\\n')"}


# --- our own process

DAEMON = (
    "(env -i setsid sh -c 'echo $$ >>pids; exec sleep 100' >/dev/null 2>&1 </dev/null &);"
    "while ! test -s pids; do sleep 0.01; done;"
)
"""Leaves the group, the session and its parent, and empties its environment. The rest of the script runs once it has
left: its pid is written before that."""


def test_an_adopted_orphan_without_environment_is_ended(host: Host) -> None:
    got = host.run(f"""
    adopted = adopt_orphans()
    ended = end_when_written(start(call({DAEMON + "echo >left; sleep 100"!r})), "pids", "left")
    try:
        zombie = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        zombie = None
    tell(adopted=adopted, ending=ended, zombie=repr(zombie))
    """)
    assert got == {"adopted": True, "ending": "timed_out", "zombie": "None"}
    assert [pid for pid in host.pids() if lives(pid)] == []


def test_what_had_ended_before_is_buried_with_the_tree(host: Host) -> None:
    """A zombie that its parent never waited for is adopted and reaped when the parent is killed."""
    waits = "sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done' & echo $! >pids; exec sleep 100"
    got = host.run(f"""
    from pathlib import Path
    adopt_orphans()
    child = start(call({waits!r}))
    while not (os.path.exists("pids") and os.path.getsize("pids")):
        time.sleep(0.005)
    while b") Z " not in Path("/proc", Path("pids").read_text().strip(), "stat").read_bytes():
        time.sleep(0.005)
    child.end("timed_out")
    ending = child.wait().ending
    try:
        zombie = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        zombie = None
    tell(ending=ending, zombie=repr(zombie))
    """)
    assert got == {"ending": "timed_out", "zombie": "None"}


def test_in_someone_elses_process_no_orphan_is_claimed_without_proof(host: Host) -> None:
    script = f"{DAEMON}echo >left; sleep 100"
    got = host.run(f"tell(ending=end_when_written(start(call({script!r})), 'pids', 'left'))")
    pids = host.pids()
    try:
        assert (got, [lives(pid) for pid in pids]) == ({"ending": "timed_out"}, [True])
    finally:
        kill(*pids)


def test_a_normal_exit_leaves_background_children_alone_in_our_own_process_too(host: Host) -> None:
    got = host.run(f"""
    adopt_orphans()
    first = run(call({DAEMON + "sleep 100 & echo $! >>pids; exit 3"!r}))
    late = run(call("sleep 100", limit_s=0.1, n=1))
    tell(first=first.exit_code, late=late.ending)
    """)
    pids = host.pids(2)
    try:
        assert got == {"first": 3, "late": "timed_out"}
        assert [lives(pid) for pid in pids] == [True, True]
    finally:
        kill(*pids)


def test_beside_another_hook_an_orphan_is_ended_only_by_its_pipes(host: Host) -> None:
    """Two hooks run at once, and both leave a daemon without an environment. Only a daemon that provably belongs to a
    hook is killed."""
    got = host.run("""
    adopt_orphans()
    leave = "(env -i setsid sh -c 'echo $$ >>%s; exec sleep 100' %s &); while ! test -s %s; do sleep 0.01; done; %s"
    until_told = "while ! test -e go; do sleep 0.01; done"
    quiet = start(call(leave % ("quiet", ">/dev/null 2>&1 </dev/null", "quiet", until_told), n=1))
    loud = end_when_written(start(call(leave % ("loud", "", "loud", "sleep 100"))), "quiet", "loud")
    open("go", "w").close()
    tell(endings=[loud, quiet.wait().ending])
    """)
    quiet, loud = (int((host.folder / name).read_text()) for name in ("quiet", "loud"))
    try:
        assert (got, lives(quiet), lives(loud)) == ({"endings": ["timed_out", "exited"]}, True, False)
    finally:
        kill(quiet)


def test_what_was_started_elsewhere_is_left_alone(host: Host) -> None:
    got = host.run("""
    adopt_orphans()
    child = start(call("sleep 100", limit_s=0.3))
    other = os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
    same_environment = os.posix_spawn("/bin/sleep", ["sleep", "100"], os.environ)
    leave_alone(other)
    leave_alone(same_environment)
    tell(ending=child.wait().ending, pids=[other, same_environment])
    """)
    pids = got["pids"]
    assert isinstance(pids, list)
    try:
        assert (got["ending"], [lives(pid) for pid in pids]) == ("timed_out", [True, True])
    finally:
        kill(*pids)


def test_an_inherited_indifference_to_sigchld_is_undone_in_our_own_process(host: Host) -> None:
    script = """
    before = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    adopt_orphans()
    tell(before=before, code=run(call("exit 2")).exit_code, after=signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL)
    """
    got = host.run(script, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert got == {"before": True, "code": 2, "after": True}


def test_our_own_process_starts_hooks_as_cleanly_as_the_other(host: Host) -> None:
    """The cheaper way to start must give a hook the same environment: descriptors, group, signals, variables, stdin."""
    read, write = os.pipe()
    script = """
    look = "ls /proc/self/fd; cut -d' ' -f5 /proc/$$/stat; echo $$; env; cat; pwd; grep SigIgn /proc/self/status"
    foreign = run(call(look, stdin=b"fed")).stdout.decode().split()
    adopt_orphans()
    cheap = run(call(look, stdin=b"fed")).stdout.decode().split()
    tell(foreign=foreign, cheap=cheap, modules=sorted(sys.modules))
    """
    try:
        got = host.run(script, pass_fds=(read, write))
    finally:
        os.close(read)
        os.close(write)
    foreign, cheap = got["foreign"], got["cheap"]
    assert isinstance(foreign, list)
    assert isinstance(cheap, list)
    assert cheap[:4] == ["0", "1", "2", "3"]
    assert cheap[4] == cheap[5]
    assert cheap[:4] + cheap[6:-1] == foreign[:4] + foreign[6:-1]
    standard = (1 << 31) - 1  # above these are two of the C library's own signals, which posix_spawn always ignores
    told = (
        1 << signal.SIGHUP - 1 if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else 0
    )  # by `nohup`, to all of us
    assert int(cheap[-1], 16) & standard == int(foreign[-1], 16) & standard == told


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["./none"], "./none does not exist"),
        (["none"], "the command none was not found on the PATH"),
        (["./flat"], "has no execute permission"),
        (["./bare"], "has no first line that names its interpreter"),
        (["./lost"], "which does not exist"),
        (["./bare\0"], "NUL"),
        (["/bin/true", "x" * 200_000], "longer than the system allows"),
    ],
)
def test_our_own_process_says_as_clearly_what_cannot_be_started(host: Host, argv: list[str], words: str) -> None:
    for name, text, mode in (("flat", "", 0o644), ("bare", "echo", 0o755), ("lost", "#!/no/such\n", 0o755)):
        (host.folder / name).write_text(text)
        (host.folder / name).chmod(mode)
    got = host.run(f"""
    adopt_orphans()
    got = run(Call({tuple(argv)!r}, b"", dict(os.environ), os.getcwd(), 9.0, ""))
    tell(ending=got.ending, error=got.error)
    """)
    assert got["ending"] == "not_started"
    assert words in str(got["error"])


# --- the cost for the waiting agent

HEAVY = {"asyncio", "selectors", "typing", "pathlib", "re", "json", "ctypes", "dataclasses", "enum", "functools"}


def test_loading_it_and_running_a_hook_loads_nothing_heavy(tmp_path: Path) -> None:
    """This holds in our own process. In a host's process, or in another directory, `subprocess` is loaded as well."""
    script = """
    import sys
    from anyhook.model.call import Call
    from anyhook.platform.run import adopt_orphans, run
    loaded = set(sys.modules)
    adopt_orphans()
    import os
    got = run(Call(("/bin/echo", "hi"), b"x", {}, os.getcwd(), 9.0, ""))
    assert got.stdout == b"hi\\n", got
    print(*sorted(loaded))
    print(*sorted(sys.modules))
    """
    source = str(Path(__file__).parents[2] / "src")
    text = f"import sys; sys.path.insert(0, {source!r})\n{textwrap.dedent(script)}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", text], cwd=tmp_path, capture_output=True, check=True)
    loaded, after = (set(line.split()) for line in done.stdout.decode().splitlines())
    assert loaded & HEAVY == set()
    assert after & (HEAVY | {"subprocess", "signal", "threading"}) == set()
