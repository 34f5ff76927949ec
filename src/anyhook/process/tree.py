"""Find every process that one started process left in the world, and end it. Never signals a process on a guess.

A process belongs to the tree when one of these proves it: it is the leader or in the leader's group, it descends from
a member, its environment or its limits hold the run's mark, or the caller knows it as an adopted orphan. Everything
found is stopped first and killed only when a look finds no new one: a parent that dies early hands its children to
init, and with them goes the last trace of those that emptied their environment.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from _thread import RLock

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PASSES = 20
_LOOKS = 100
"""How often one pass looks for new members: a fork bomb needs many looks, a usual hook two."""
_BLURRED_LOOKS = 8
"""How many looks in a row may find nobody while processes were being started: one of those that came after the list was
made may be a member's, who had left before it was looked at."""
_DEATH_S = 2.0
"""How long to wait until killed processes are gone; one that hangs inside the kernel may never be."""


class Process(Record):
    """One row of the process table; `born` (clock ticks since boot) tells it from a later user of its number."""

    pid: int
    parent: int
    group: int
    session: int
    born: int
    zombie: bool


class _Turns:
    """The time after which a waiting thread may demand the interpreter, shortened while any tree is being ended."""

    def __init__(self) -> None:
        self._users = 0
        self._usual_s = 0.0
        self._lock = RLock()

    def shorten(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._usual_s = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual_s, 0.00005))

    def restore(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setswitchinterval(self._usual_s)


_turns = _Turns()


class Tree:
    """What is known of one tree: its leader, its mark, and who to ask about orphans."""

    __slots__ = ("done", "eldest", "is_orphan", "leader", "limit", "mark")

    def __init__(
        self,
        leader: int,
        mark: str,
        is_orphan: Callable[[int, list[bytes]], bool] | None = None,
        limit: int = 0,
        since: int = 0,
    ) -> None:
        """`leader` is 0 where it is unknown or already reaped, for then its number may be another's.

        `is_orphan` is asked about a child of this process that nothing else proves: its pid and its environment.
        `limit` is a number that occurs only in the resource limits of members, or 0.
        `since` is when the eldest member was born at the earliest, where there is no leader to tell."""
        self.leader = leader
        self.mark = os.fsencode(mark)
        self.is_orphan = is_orphan
        self.limit = f" {limit} ".encode() if limit else b""
        first = read_process(leader) if leader else None
        self.eldest = first.born if first else since
        self.done: dict[tuple[int, int], Process] = {}

    def end(self) -> None:
        """Leave no living member; members that may not be signalled (they changed their user) are passed over.

        Beside threads that compute, each of our system calls gives the interpreter away and waits for its turn, 5 ms
        by default: with four of them a look at 300 processes would take seconds. So turns are short meanwhile."""
        _turns.shorten()
        try:
            self._end()
        finally:
            _turns.restore()

    def _end(self) -> None:
        for _ in range(_PASSES):
            self._signal_group("SIGSTOP")
            members = self._stop_members()
            self._signal_group("SIGKILL")
            if not members:
                break
            _kill(members)
            self.done.update({(member.pid, member.born): member for member in members})
        self._reap()

    def _reap(self) -> None:
        """Bury what nobody else will: adopted orphans, also those that had ended before, and a leader whose start was
        interrupted before it was known."""
        ended = self._ended() if self.is_orphan is not None and self.leader else []
        for member in (*self.done.values(), *ended):
            if member.pid == self.leader or (self.is_orphan is None and member.parent != os.getpid()):
                continue
            try:
                os.waitpid(member.pid, os.WNOHANG)
            except ChildProcessError:
                continue

    def _ended(self) -> list[Process]:
        """Children of this process that ended in the leader's group: their own parent died without asking how."""
        rows = map(read_process, _pids())
        mine = [row for row in rows if row is not None and row.zombie and row.group == self.leader]
        return [row for row in mine if row.parent == os.getpid()]

    def _signal_group(self, name: str) -> None:
        import signal

        if not self.leader:
            return
        try:
            os.killpg(self.leader, signal.Signals[name])
        except OSError:
            return

    def _stop_members(self) -> list[Process]:
        stopped: dict[tuple[int, int], Process] = {}
        blurred = 0
        for _ in range(_LOOKS):
            before, newest = len(stopped), _newest_pid()
            self._stop_once(stopped)
            if len(stopped) > before:
                blurred = 0
            elif blurred == _BLURRED_LOOKS or _newest_pid() == newest:
                break
            else:
                blurred += 1
        return list(stopped.values())

    def _stop_once(self, stopped: dict[tuple[int, int], Process]) -> None:
        """One look: stop each new member where it is found, for it may be about to hand over to a child and leave.
        Nothing older than the leader can be its offspring, this process least of all."""
        me = os.getpid()
        young: list[Process] = []
        members: dict[int, Process] = {}

        def take(row: Process) -> None:
            members[row.pid] = row
            if (row.pid, row.born) not in stopped and (row.pid, row.born) not in self.done:
                stopped[row.pid, row.born] = row
                _signal(row, "SIGSTOP")

        for row in processes():
            if row.born < self.eldest or row.pid in (me, 1):
                continue
            young.append(row)
            if (self.leader and self.leader in (row.pid, row.group)) or self._is_known(row, me):
                take(row)
        while children := [row for row in young if row.pid not in members and _descends(row, members)]:
            for row in children:
                take(row)

    def _is_known(self, row: Process, me: int) -> bool:
        entries = environment(row.pid)
        if carries(entries, self.mark) or (self.limit and self.limit in _read(f"/proc/{row.pid}/limits")):
            return True
        # A tick is 10 ms; within one the numbers tell the order, so an orphan of an earlier run is not ours.
        if self.is_orphan is None or row.parent != me or (row.born == self.eldest and row.pid < self.leader):
            return False
        return self.is_orphan(row.pid, entries)


def _newest_pid() -> bytes:
    """The number that was given out last, or nothing where the system does not tell."""
    return _read("/proc/loadavg").rpartition(b" ")[2]


def _descends(row: Process, members: dict[int, Process]) -> bool:
    """A parent older than its child is the one that started it, and a session bears the number of its founder."""
    above = members.get(row.parent) or members.get(row.session)
    return above is not None and above.born <= row.born


def processes() -> Iterator[Process]:
    """Every living process that this user can see; zombies are left out, nothing is left of them to end."""
    pids = _pids()
    for pid in pids:
        if (row := read_process(pid)) is not None and not row.zombie:
            yield row
    if not pids:
        yield from _processes_from_ps()


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()] if os.path.isdir("/proc") else []


def read_process(pid: int) -> Process | None:
    """One row of /proc, a zombie's too; None where there is no such process or no /proc."""
    text = _read(f"/proc/{pid}/stat")
    # The second field is the program's name in brackets, and a name may hold brackets and spaces of its own.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        born=int(fields[19]),
        zombie=fields[0] in (b"Z", b"X"),
    )


def _processes_from_ps() -> list[Process]:
    """Where there is no /proc: parents and groups only, so that there marks cannot be read."""
    import subprocess

    try:
        listing = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).stdout
    except OSError:
        return []
    rows = [line.split() for line in listing.splitlines()]
    return [
        Process(pid=int(row[0]), parent=int(row[1]), group=int(row[2]), session=-1, born=0, zombie=False)
        for row in rows
        if len(row) == 4 and not row[3].startswith(b"Z")
    ]


def environment(pid: int) -> list[bytes]:
    """The `NAME=value` entries with which a process of this user was started; empty for anyone else's."""
    folder = f"/proc/{pid}"
    try:
        if os.stat(folder).st_uid != os.geteuid():
            return []
    except OSError:
        return []
    return _read(f"{folder}/environ").split(b"\0")


def _read(path: str) -> bytes:
    """Without a file object, whose making takes as many system calls again: each may cost a turn of the interpreter."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return b""
    try:
        text = part = os.read(fd, 65536)
        while len(part) == 65536 or (part and len(text) % 4096 == 0):
            part = os.read(fd, 65536)
            text += part
        return text
    except OSError:
        return b""
    finally:
        os.close(fd)


def program_of(pid: int) -> tuple[str, bytes]:
    """The file that a process runs, and its words; nothing where that cannot be seen."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            return os.readlink(f"/proc/{pid}/exe"), file.readall()
    except OSError:
        return "", b""


def status_of_reaped(pidfd: int) -> int | None:
    """The wait status of a process that the host reaped, or the kernel because the host ignores SIGCHLD: Linux keeps it
    with the pidfd since 6.15 (PIDFD_GET_INFO, PIDFD_INFO_EXIT). Without it a hook's refusal would be lost."""
    import fcntl

    if pidfd < 0:
        return None
    exit_known = 8
    info = bytearray(exit_known.to_bytes(8, sys.byteorder) + bytes(56))
    try:
        fcntl.ioctl(pidfd, 0xC040FF0B, info)
    except OSError:
        return None
    if not int.from_bytes(info[:8], sys.byteorder) & exit_known:
        return None
    return int.from_bytes(info[60:], sys.byteorder)


def carries(entries: list[bytes], mark: bytes) -> bool:
    """Whether an environment holds the mark itself, or `mark/…`: that of a run started inside the run."""
    return bool(mark) and any(entry.startswith(mark) and entry[len(mark) :][:1] in (b"", b"/") for entry in entries)


def holds_pipe(pid: int, inodes: set[int]) -> bool:
    """Whether a process has one of these pipes open."""
    wanted = {f"pipe:[{inode}]" for inode in inodes}
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{name}") in wanted for name in os.listdir(folder))
    except OSError:
        return False


def _signal(process: Process, name: str) -> None:
    """Signal exactly this process: its number is pinned first, then checked, so that it cannot change hands between."""
    import signal  # half an interpreter start, and loaded already wherever a handler could interrupt us here

    number = signal.Signals[name]
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        handle = -1
    try:
        if process.born and (now := read_process(process.pid)) is not None and now.born != process.born:
            return
        if handle >= 0:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(process.pid, number)
    except OSError:
        return
    finally:
        if handle >= 0:
            os.close(handle)


def _kill(members: list[Process]) -> None:
    """Kill, and wait until they are gone: the caller promises that nothing is left when it returns."""
    for process in members:
        _signal(process, "SIGKILL")
    until = time.monotonic() + _DEATH_S
    pause_s = 0.0005
    while (members := _living(members)) and time.monotonic() < until:
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, 0.02)


def _living(members: list[Process]) -> list[Process]:
    if not any(member.born for member in members):
        numbers = {row.pid for row in processes()} if members else set()
        return [member for member in members if member.pid in numbers]
    rows = [(member, read_process(member.pid)) for member in members]
    return [member for member, row in rows if row is not None and row.born == member.born and not row.zombie]
