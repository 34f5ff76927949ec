"""Our small files: many of one kind in one folder, each under a key, with a lifetime and bounds on how many there are
and how much they take. A value that is lost or damaged is made again, or its absence is the stricter case. So reading
never fails, and no failure here opens a gate. All changes go through here: a value that depends on the one before is
changed under a lock."""

from __future__ import annotations

import os
import time

from anyhook.model import lean_json
from anyhook.model.lean_json import short_digest
from anyhook.platform.places import (
    MAX_OWN,
    NO_LINK,
    make_private_dir,
    open_regular,
    read_at,
    user_id,
    write_at,
    write_beside,
    write_private,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anyhook.model.json_types import Json

DAY_S = 86_400.0
MB = 1 << 20
KINDS: dict[str, tuple[float, int, int, str]] = {
    "plans": (60 * DAY_S, 1_000, 8 * MB, "compiled catalogs and printed status; made again"),
    "told": (30 * DAY_S, 500, 2 * MB, "what a session was told; lost, it is told again"),
    "turns": (900.0, 250, MB, "how often hooks kept a turn going; lost, it goes on a little longer"),
    "memory": (7 * DAY_S, 500, 2 * MB, "what sessions did before, for rules; lost, those rules refuse"),
    "refused": (7 * DAY_S, 750, 3 * MB, "digests of refused calls; lost, a breach is not noticed"),
    "payloads": (900.0, 32, 2 * MB, "what `anyhook get` read from a pipe, for the next call of the same hook"),
    "versions": (365 * DAY_S, 200, MB, "versions of agents' programs; asked again"),
    "past": (30 * DAY_S, 64, 4 * MB, "what was found in agents' transcripts; found again"),
    "firings": (5.0, 64, MB, "decisions for a second entry of the same agent; lost, its hooks run again"),
    "allowed": (600.0, 64, MB // 4, "calls that a person lets pass once; lost, they stay refused"),
    "asked": (DAY_S, 500, 2 * MB, "calls that wait for a person, and the answers; lost, they are refused"),
    "granted": (DAY_S, 128, MB // 2, "rules that a person answered for a whole session; lost, they ask again"),
    "page": (30 * DAY_S, 8, MB // 8, "the port of a page that is served; lost, notices have no link"),
    "context": (30 * DAY_S, 50, 2 * MB, "text that was too long for an agent, which was told where it is"),
    "indexes": (30 * DAY_S, 8, 4_096 * MB, "indexes of directories of many machines; made again"),
    "types": (365 * DAY_S, 250, MB, "what self-describing executables answered; asked again"),
    "agents": (90 * DAY_S, 32, MB, "agents of other packages; looked up again"),
    "sessions": (30 * DAY_S, 750, 3 * MB, "what functions keep for a session, and the locks of those"),
    "failures": (365 * DAY_S, 20, MB, "reports about failures of anyhook, to be sent to its developers"),
    "conversations": (365 * DAY_S, 1_000, 10 * MB, "people's data: sessions of the agent, to be resumed"),
}
"""Kind → how many seconds a file is valid after it was written, how many files there may be, how many bytes they may
take on the disk, and what they are. If there are too many, the next write deletes the oldest; the file that was just
written stays, however large it is. A write of a large file, by the average that the bounds allow, counts the bytes at
once; otherwise they are counted every hour."""
NAMED = {
    "allowed": "",
    "asked": "",
    "page": "",
    "context": ".txt",
    "failures": ".txt",
    "sessions": ".json",
    "conversations": ".json",
}
"""Kinds whose files are called as their keys, because people or the version before look for them, and how they end."""
BLOCK = 4_096
"""A file takes whole blocks on the disk."""
LOCK_S, ALONE_S = 1.0, 10.0
CLAIMS, CLAIM_SLOTS, CLAIM_BYTES = "claims", 256, 256
"""The file of claims, and how many of the last moments it holds. If two share a slot, the later one is kept."""
SLOTS = 8
"""How many values of variables that change often, as `PATH` does, share a key."""
TIDIED = ".tidied"
TIDY_S = 3_600.0
"""How often a folder is looked through for files that are too old."""


class Store:
    """The files of one kind."""

    def __init__(self, folder: str, kind: str) -> None:
        self.folder = f"{folder}/{kind}"
        self.lifetime_s, self.bound, self.max_bytes, _ = KINDS[kind]
        self._ending = NAMED.get(kind)

    def path(self, key: str) -> str:
        return f"{self.folder}/{short_digest(key) if self._ending is None else f'{key}{self._ending}'}"

    def read(self, key: str, limit: int = MAX_OWN) -> bytes | None:
        """The value, if it is there, is ours alone, and is not too old."""
        try:
            with open_regular(self.path(key), limit) as file:
                seen = os.fstat(file.fileno())
                if seen.st_uid != user_id() or seen.st_mode & 0o022:
                    return None
                if abs(time.time() - seen.st_mtime) > self.lifetime_s:
                    return None
                return file.read()
        except OSError:
            return None

    def read_object(self, key: str) -> dict[str, Json]:
        """The JSON object under a key; {} without one."""
        return _object(self.read(key))

    def take(self, key: str) -> dict[str, Json]:
        """The JSON object under a key, which is used up: of several processes, one gets it. {} without one."""
        data = self.read(key)
        try:
            os.unlink(self.path(key))
        except OSError:
            return {}
        try:  # a folder that is missing tells without a look that there is nothing
            if os.listdir(self.folder) == [TIDIED]:
                os.unlink(f"{self.folder}/{TIDIED}")
            os.rmdir(self.folder)
        except OSError:
            pass
        return _object(data)

    def put(self, key: str, data: bytes) -> None:
        """Store a value; OSError if that is not possible."""
        path = self.path(key)
        is_new = not os.path.lexists(path)
        write_private(path, data)
        is_large = len(data) > self.max_bytes // self.bound
        if is_new or is_large:
            from anyhook.platform.spawn import here

            here.after_answer(lambda: self._tidied(os.path.basename(path), at_once=is_large))

    def overwrite(self, key: str, data: bytes) -> None:
        """Store a value of the same size in the place of the one that is there. That takes a fiftieth of the time of a
        new file. It is for values that are read under the lock, and whose own digest shows a write that was cut off, or
        for those that a reader may mix up."""
        descriptor = os.open(self.path(key), os.O_WRONLY | NO_LINK)
        try:
            write_at(descriptor, data, 0)
        finally:
            os.close(descriptor)

    def put_once(self, key: str, data: bytes) -> bool:
        """Store a value if there is none under this key: of several processes, one does. OSError if that is not
        possible."""
        make_private_dir(self.folder)
        temporary = write_beside(self.path(key), data)
        try:
            os.link(temporary, self.path(key))
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary)
        return True

    def names(self) -> list[str]:
        """The names of all files; the keys, if files of this kind are called as their keys."""
        try:
            return [name for name in os.listdir(self.folder) if not name.startswith(".")]
        except OSError:
            return []

    def write(self, key: str, data: bytes) -> bool:
        """Store a value that can be missed; whether that was possible."""
        try:
            self.put(key, data)
        except OSError:
            return False
        return True

    def change(self, key: str, change: Callable[[dict[str, Json]], Mapping[str, Json]]) -> bool:
        """Change the object under a key, with no other process in between; whether that was possible."""
        from anyhook.platform.locks import locked

        try:
            with locked(self.folder, wait_s=LOCK_S):  # without it, too: a process that was stopped must not stop others
                return self.write(key, lean_json.dumps({**change(self.read_object(key))}).encode())
        except OSError:
            return False

    def alone(self, do: Callable[[], None]) -> None:
        """Do what must not be lost, with no other process in between. OSError if that cannot be had."""
        from anyhook.platform.locks import locked

        with locked(self.folder, wait_s=ALONE_S) as has_lock:
            if not has_lock:
                raise OSError(11, "another process holds its lock and does not let go", self.folder)
            do()

    def claim(
        self, key: str, own: dict[str, Json], known: Callable[[dict[str, Json]], dict[str, Json] | None],
        *, is_there: bool = False,
    ) -> dict[str, Json] | None:  # fmt: skip
        """The claim of another process on this key, as `known` returns it; None if there is none that counts, and then
        this process has it; with `is_there`, only if there is one. All claims are in one file, because it takes much
        longer to create a file for each. If nothing can be claimed, everyone is the first."""
        from anyhook.platform.locks import locked

        name = short_digest(key)
        lock = locked(self.folder, CLAIMS, wait_s=LOCK_S)
        try:
            with lock as has_lock:
                if not has_lock:
                    return None
                offset = int(name, 16) % CLAIM_SLOTS * CLAIM_BYTES
                slot = read_at(lock.descriptor, CLAIM_BYTES, offset)
                is_same = slot.startswith(name.encode())
                if is_same and (found := known(_object(slot.partition(b" ")[2]))) is not None:
                    return found
                if is_there and not is_same:
                    return None
                slot = f"{name} {lean_json.dumps(own)}".encode()
                if len(slot) <= CLAIM_BYTES:
                    write_at(lock.descriptor, slot.ljust(CLAIM_BYTES), offset)
        except OSError:
            pass
        return None

    def update_claim(self, key: str, own: dict[str, Json]) -> None:
        """Change this process's claim, if it is still there."""

        def other(found: dict[str, Json]) -> dict[str, Json] | None:
            return None if all(own.get(name) == value for name, value in found.items()) else found

        self.claim(key, own, other, is_there=True)

    def delete(self, key: str) -> None:
        try:
            os.unlink(self.path(key))
        except OSError:
            return

    def _tidied(self, just_written: str, *, at_once: bool) -> None:
        try:
            self._tidy(just_written, at_once=at_once)
        except OSError:
            return  # the value is there; the next one tidies

    def _tidy(self, just_written: str, *, at_once: bool) -> None:
        """Delete what is too old, and the oldest of what is too much. The folder is looked through if it has too many
        files, or was not for an hour. A file that another process is writing counts too: it may be left over."""
        names = [name for name in os.listdir(self.folder) if name != TIDIED]
        if not self._is_due() and len(names) <= self.bound and not at_once:
            return
        found = sorted(self._files(names))
        # A little more goes than has to, so that not every write has to look.
        size, now = sum([each[2] for each in found]), time.time()
        spare = len(found) - self.bound * 9 // 10 if len(found) > self.bound else 0
        spare_bytes = size - self.max_bytes * 9 // 10 if size > self.max_bytes else 0
        for written, name, taken in found:
            if name == just_written or not (spare > 0 or spare_bytes > 0 or now - written > self.lifetime_s):
                continue
            spare, spare_bytes = spare - 1, spare_bytes - taken
            try:
                os.unlink(f"{self.folder}/{name}")
            except OSError:
                continue

    def _is_due(self) -> bool:
        """Whether the folder was not looked through for a while; from now on it was."""
        mark = f"{self.folder}/{TIDIED}"
        try:
            if 0 <= time.time() - os.stat(mark).st_mtime < min(TIDY_S, self.lifetime_s):
                return False
        except OSError:
            pass
        write_private(mark, b"")
        return True

    def _files(self, names: list[str]) -> Iterator[tuple[float, str, int]]:
        """When each file was written, its name, and what it takes."""
        for name in names:
            try:
                seen = os.lstat(f"{self.folder}/{name}")
            except OSError:
                continue  # another process was faster
            yield seen.st_mtime, name, -(-seen.st_size // BLOCK) * BLOCK


def _object(data: bytes | None) -> dict[str, Json]:
    try:
        found = lean_json.loads(data.decode()) if data else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def slot_of(value: object) -> str:
    """The slot of a value that must not get a file for each of its values. A reader checks the value in the file."""
    return str(int(short_digest(repr(value)), 16) % SLOTS)
