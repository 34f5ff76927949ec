"""Find every process that a started process has left running, and kill it. Never signals a process on a guess.

A process belongs to the tree when one of these proves it: it is the leader or in the leader's group, it descends from
a member, its environment or its limits contain the run's mark, or the caller knows it as an adopted orphan. Members are
stopped first, and killed only when another scan finds no new ones. If a parent died earlier, init would adopt its
children, and those that emptied their environment could no longer be found.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from _thread import RLock

from anyhook.model.record import Record
from anyhook.platform.places import user_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_PASSES = 20
_MAX_SCANS = 100
"""How often one pass scans for new members: a fork bomb needs many scans, an ordinary hook two."""
_MAX_UNSURE_SCANS = 8
"""How many scans in a row may find nothing new while other processes start: a process that appeared after the listing
may be the child of a member that was gone before we read it."""
PS_LIMIT_S = 5.0
_DEATH_S = 2.0
"""How long to wait until killed processes are gone. One that hangs in the kernel may stay forever."""


class Process(Record):
    """One row of the process table; `born` (clock ticks since boot) distinguishes it from a later process with the same
    pid."""

    pid: int
    parent: int
    group: int
    session: int
    born: int
    zombie: bool
    terminal: int = 0
    """The device of its terminal; 0 if it has none."""


class _SwitchInterval:
    """Shortens the interpreter's thread switch interval while any tree is being killed."""

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


_switch_interval = _SwitchInterval()


class Tree:
    """One tree: its leader, its mark, and a function that recognises orphans."""

    __slots__ = ("done", "eldest", "is_orphan", "leader", "limit", "mark")

    def __init__(
        self,
        leader: int,
        mark: str,
        is_orphan: Callable[[int, list[bytes]], bool] | None = None,
        limit: int = 0,
        since: int = 0,
    ) -> None:
        """`leader` is 0 if it is unknown or already reaped, because its pid may have been reused.

        `is_orphan` gets the pid and environment of a child of this process that nothing else identifies. `limit` is a
        number that occurs only in the resource limits of members, or 0. `since` is the earliest start time of a member,
        if there is no leader."""
        self.leader = leader
        self.mark = os.fsencode(mark)
        self.is_orphan = is_orphan
        self.limit = f" {limit} ".encode() if limit else b""
        first = read_process(leader) if leader else None
        self.eldest = first.born if first else since
        self.done: dict[tuple[int, int], Process] = {}

    def end(self) -> None:
        """Kill all members, except those that may not be signalled because they changed their user.

        If other threads compute, each of our system calls releases the interpreter lock and waits for it, 5 ms by
        default. With four such threads, a scan of 300 processes would take seconds. So the switch interval is short in
        the meantime."""
        _switch_interval.shorten()
        try:
            self._end()
        finally:
            _switch_interval.restore()

    def _end(self) -> None:
        for _ in range(_MAX_PASSES):
            self._signal_group("SIGSTOP")
            members = self._stop_members()
            self._signal_group("SIGKILL")
            if not members:
                break
            _kill(members)
            self.done.update({(member.pid, member.born): member for member in members})
        self._reap()

    def _reap(self) -> None:
        """Reap what nothing else will: adopted orphans, including those that ended earlier, and a leader whose start
        was interrupted before its pid was known."""
        ended = self._ended() if self.is_orphan is not None and self.leader else []
        for member in (*self.done.values(), *ended):
            if member.pid == self.leader or (self.is_orphan is None and member.parent != os.getpid()):
                continue
            try:
                os.waitpid(member.pid, os.WNOHANG)
            except ChildProcessError:
                continue

    def _ended(self) -> list[Process]:
        """Zombies of the leader's group that this process has adopted: their own parent died without reaping them."""
        rows = map(read_process, process_ids())
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
        unsure = 0
        for _ in range(_MAX_SCANS):
            before, newest = len(stopped), _newest_pid()
            self._stop_once(stopped)
            if len(stopped) > before:
                unsure = 0
            elif unsure == _MAX_UNSURE_SCANS or _newest_pid() == newest:
                break
            else:
                unsure += 1
        return list(stopped.values())

    def _stop_once(self, stopped: dict[tuple[int, int], Process]) -> None:
        """One scan. Stop each new member as soon as it is found, because it may be about to fork and exit. Processes
        older than the leader, such as this one, cannot be its descendants."""
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
        if carries(entries, self.mark) or (self.limit and self.limit in contents(f"/proc/{row.pid}/limits")):
            return True
        # A tick is 10 ms; within one, pids tell the order, so an orphan of an earlier run is not ours.
        if self.is_orphan is None or row.parent != me or (row.born == self.eldest and row.pid < self.leader):
            return False
        return self.is_orphan(row.pid, entries)


def _newest_pid() -> bytes:
    """The pid that was assigned last, or b"" if the system does not say."""
    return contents("/proc/loadavg").rpartition(b" ")[2]


def _descends(row: Process, members: dict[int, Process]) -> bool:
    """A parent that is older than its child started it, and a session has the pid of the process that created it."""
    above = members.get(row.parent) or members.get(row.session)
    return above is not None and above.born <= row.born


def processes() -> Iterator[Process]:
    """Every living process that this user can see, without zombies."""
    pids = process_ids()
    for pid in pids:
        if (row := read_process(pid)) is not None and not row.zombie:
            yield row
    if not pids:
        yield from _processes_from_ps()


def process_ids() -> list[int]:
    """None without /proc: then background hooks run to their end."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()] if os.path.isdir("/proc") else []


def read_process(pid: int | str) -> Process | None:
    """One row of /proc (`self` is this process), even for a zombie; None if there is no such process or no /proc."""
    text = contents(f"/proc/{pid}/stat")
    # The second field is the program's name in brackets, and the name may itself contain brackets and spaces.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Process(
        pid=int(text[: text.find(b" ")]),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        born=int(fields[19]),
        zombie=fields[0] in (b"Z", b"X"),
        terminal=int(fields[4]),
    )


def _processes_from_ps() -> list[Process]:
    """Used if there is no /proc. It shows parents and groups, but no marks."""
    from anyhook.platform.other_programs import ask

    try:
        listing = ask(("ps", "-A", "-o", "pid=,ppid=,pgid=,stat="), PS_LIMIT_S).out
    except OSError:
        return []
    rows = [line.split() for line in listing.splitlines()]
    return [
        Process(pid=int(row[0]), parent=int(row[1]), group=int(row[2]), session=-1, born=0, zombie=False)
        for row in rows
        if len(row) == 4 and not row[3].startswith(b"Z")
    ]


def environment(pid: int) -> list[bytes]:
    """The `NAME=value` entries that a process of this user was started with; empty for other users' processes."""
    folder = f"/proc/{pid}"
    try:
        if os.stat(folder).st_uid != user_id():
            return []
    except OSError:
        return []
    return contents(f"{folder}/environ").split(b"\0")


def contents(path: str) -> bytes:
    """What a file of /proc says; b"" if we may not read it. Without a file object, which doubles the number of system
    calls: each may have to wait for the interpreter lock."""
    try:
        fd = os.open(path, os.O_RDONLY)
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
    """The file that a process runs, and its command line; empty if we may not see them."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            return os.readlink(f"/proc/{pid}/exe"), file.readall()
    except OSError:
        return "", b""


def status_of_reaped(pidfd: int) -> int | None:
    """The wait status of a process that the host reaped, or that the kernel reaped because the host ignores SIGCHLD.
    Linux keeps it with the pidfd since 6.15 (PIDFD_GET_INFO, PIDFD_INFO_EXIT). Without it a hook's refusal would be
    lost."""
    if pidfd < 0:
        return None
    import fcntl  # a system with pidfds has it

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
    """Whether an environment contains the mark, or `mark/…`, the mark of a run started inside this run."""
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
    """Signal exactly this process: open a pidfd first and then check, so that the pid cannot be reused in between."""
    import signal  # half an interpreter start, and already imported if a signal handler can interrupt us here

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
    """Kill, and wait until they are gone, because `Tree.end` promises that nothing is left."""
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
