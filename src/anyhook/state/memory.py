"""Memory: what a session did before, for rules with `earlier` and `over`. It holds which conditions were met and when,
counts, and digests: no content, and no secret in clear. A memory that is damaged or gone is never taken for an empty
one: the rules that need it are broken, until the session is over."""

from __future__ import annotations

import marshal
import os
from _functools import partial  # type: ignore[import-not-found]
from time import localtime, mktime, strftime, time

from anyhook.model import lean_json
from anyhook.model.lean_json import digest, short_digest
from anyhook.model.record import Record
from anyhook.platform.store import BLOCK, DAY_S, KINDS, Store
from anyhook.rules.evaluate import Before, PastLost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal, Protocol

    from anyhook.tables.spent import Reading

    Standing = Literal["counted", "held", "done"]
    """Of a call: it counts; it counts once it has run, because a person was asked; it has run."""
    Book = dict[str, Any]
    """One memory as it is stored."""

    class Books(Protocol):
        """Where memories are kept."""

        def read(self, key: str) -> bytes | None: ...
        def keep(self, key: str, change: Callable[[bytes | None], bytes]) -> None: ...
        def was_there(self, key: str) -> bool: ...


KIND, WITNESS = "memory", "told"
MARSHAL = 2
"""The format in which equal memories are equal bytes, in every Python."""
SEAL = 64
"""How long the digest is that a memory begins with."""
LIFETIME_S = KINDS[KIND][0]
MAX_NESTED = 8
MAX_LAST, MAX_OPEN, MAX_ROWS, MAX_SECRETS, MAX_HOSTS, MAX_MADE = 16, 400, 16, 200, 8, 2_000
"""How many calls are held one by one, and how many of those that may not be decided yet; how many rows of equal calls,
how many secrets, with how many hosts each, and how many names and digests of files that the session made."""
CONDITION_SHOWN = 60
"""How much of a condition a refusal repeats."""
OPEN_S = 600.0
"""How long a call may be under way that nobody has told about again."""
IT_COUNTS: Standing = "counted"
IS_HELD: Standing = "held"
HAS_RUN: Standing = "done"
DAY = "day "
PRINTED = "printed "
MANY_KEYS = ("wrote ", "downloaded ", "leaked ", PRINTED)
"""How the keys begin of which there may be many: of files that the session made, by a digest of their path and of their
content, and of secrets that a tool printed."""


class Deed(Record):
    """What is remembered of a call."""

    who: str
    facts: str = ""
    """A digest of what it would do: calls with equal ones are the same calls."""
    given: str = ""
    """A digest of its tool and its input."""
    keys: Mapping[str, str] = {}
    """The conditions that it meets, and what makes them true."""
    failed: bool = False
    secrets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Those in its output, and the hosts that each belongs to. Only keyed digests of both are kept."""


class Met(Record):
    """An earlier call that met a condition."""

    call: int
    """The number of the call in its session."""
    at_s: float
    what: str
    """What made the condition true."""
    who: str

    def told(self, text: str) -> Before:
        """Which call it was, and what it did; `text` is the condition as its author wrote it."""
        text = " ".join(text.strip("()").split())
        if len(text) > CONDITION_SHOWN:
            text = "" if self.what else f"{text[:CONDITION_SHOWN]}…"
        did = " ".join(filter(None, (text, f"({self.what})" if self.what and text else self.what)))
        said = f"call {self.call} of this session, at {strftime('%H:%M', localtime(self.at_s))}: {did}"
        return Before(said, self.call, self.at_s, self.who)


class Seen(Record):
    """What one call sees of its session."""

    calls: int
    """How many calls there were, this one included."""
    same: int
    """How many of the last ones are equal to it, itself included."""
    failures: int
    """How many of the last ones have failed and had its tool and its input, itself included, if it has not run yet."""
    first_s: float
    now_s: float
    met: Mapping[str, Met]
    """The key of a condition → the first call that met it, unless it is this one."""
    spent: Mapping[str, float]
    """What the agent tells: tokens, dollars."""
    told_s: float = 0.0
    """When it told."""

    def tells(self, counted: str) -> Before | None:
        """A number that the agent told, and how old it is; None for what we count."""
        if counted not in self.spent:
            return None
        number = f"{self.spent[counted]:,.{2 if counted == 'dollars' else 0}f} {counted} were used"
        at = strftime("%H:%M", localtime(self.told_s))
        age = f"{max(0.0, self.now_s - self.told_s) / 60:.0f} minutes before"
        return Before(f"{number}, as the agent told at {at}, {age}")

    def is_over(self, limit: float, counted: str) -> bool:
        match counted:
            case "calls":
                return self.calls > limit
            case "same calls":
                return self.same > limit
            case "same failures":
                return self.failures > limit
            case "minutes":
                return self.now_s - self.first_s > limit * 60
            case _:
                return self.spent.get(counted, 0.0) > limit


def lost(key: str, how: str) -> PastLost:
    """What is said if a memory is lost, and what helps."""
    if key.startswith(DAY):
        said = "what was done today is not known any more, so ask again tomorrow, or count `per session`"
        return PastLost(f"the memory of this day {how}; {said}")
    return PastLost(f"the memory of this session {how}; what it did before is not known any more, so start a new one")


class MemoryFiles:
    """Memories on disk. A second small file says that there is one, so that one that was deleted is missed."""

    def __init__(self, folder: str) -> None:
        self._store, self._witness = Store(folder, KIND), Store(folder, WITNESS)

    def read(self, key: str) -> bytes | None:
        """The memory; None if there is none, or if it is too old."""
        found: list[bytes | None] = []
        if os.path.lexists(self._store.path(key)):
            self._store.alone(lambda: found.append(self._read(key)))
        return found[0] if found else None

    def _read(self, key: str) -> bytes | None:
        found = self._store.read(key)
        if found is None and os.path.lexists(path := self._store.path(key)) and not _is_old(path):
            raise lost(key, f"cannot be read ({path})")
        return found

    def keep(self, key: str, change: Callable[[bytes | None], bytes]) -> None:
        """Change a memory, with no other process in between."""

        def changed() -> None:
            before = self._read(key)
            made = change(before)
            if before is not None and len(made) == len(before):  # most changes take no more room on the disk
                self._store.overwrite(key, made)
            elif made != before:
                self._store.put(key, made)
            if self._age_of_witness(key) > DAY_S:
                self._witness.put(f"{KIND} {key}", lean_json.dumps({"at": time()}).encode())

        self._store.alone(changed)

    def was_there(self, key: str) -> bool:
        """Whether this memory was there a short time ago."""
        return self._age_of_witness(key) < LIFETIME_S - DAY_S

    def _age_of_witness(self, key: str) -> float:
        at = self._witness.read_object(f"{KIND} {key}").get("at")
        return time() - at if isinstance(at, (int, float)) else LIFETIME_S


class Sketch:
    """Memories for a trial: nothing is written."""

    def __init__(self) -> None:
        self._books: dict[str, bytes] = {}

    def read(self, key: str) -> bytes | None:
        return self._books.get(key)

    def keep(self, key: str, change: Callable[[bytes | None], bytes]) -> None:
        self._books[key] = change(self._books.get(key))

    def was_there(self, key: str) -> bool:
        return key in self._books


class SeenSecrets(Record):
    """The secrets that a session has seen."""

    salt: str = ""
    sizes: frozenset[int] = frozenset()
    digests: frozenset[str] = frozenset()
    services: Mapping[str, list[str]] = {}
    """The digest of a secret → those of the hosts that it belongs to."""

    def belongs(self, key: str, host: str) -> bool:
        """Whether the secret with this key belongs to a host."""
        return short_digest(self.salt + host.lower()) in self.services.get(key.removeprefix(PRINTED), ())

    def key_of(self, text: str) -> str:
        """What one of them is remembered by; "" for any other text."""
        digest = short_digest(self.salt + text) if len(text) in self.sizes else ""
        return f"{PRINTED}{digest}" if digest in self.digests else ""


class Memory:
    """One session's memory, or that of a day."""

    def __init__(self, files: Books, key: str, now_s: float) -> None:
        self._files, self._key, self._now_s = files, key, now_s
        self._had: tuple[bytes, Book] | None = None
        """What was read last, and what it says."""

    def known(self) -> SeenSecrets:
        """The secrets that the session has seen before."""
        data = self._files.read(self._key)
        book = self._book(data)
        self._had = (data, book) if data is not None else None
        kept = book.get("secrets", {"salt": "", "digests": {}})
        sizes = frozenset(kept["digests"].values())
        return SeenSecrets(str(kept["salt"]), sizes, frozenset(kept["digests"]), kept.get("services", {}))

    def look(self, deed: Deed) -> Seen:
        """What a call would see. Nothing is changed."""
        book = self._book(self._files.read(self._key))
        _enter(book, deed, self._now_s)
        return _seen(book, deed, self._now_s)

    def glance(self, deed: Deed, session: str, tokens: float, *, begins: bool) -> Seen:
        """What an event sees that does not count as a call. With `begins`, the session begins with it at the latest.
        `tokens` is what the session has used so far, if the event tells it."""
        data = self._files.read(self._key)
        if begins and (data is None or tokens):
            return self._change(lambda book: _spend(book, session, tokens, self._now_s), deed)
        return _seen(self._book(data), deed, self._now_s)

    def count(self, deed: Deed, transcript: str, read: Callable[[Reading | None], Reading]) -> None:
        """Count what a transcript tells by now. `read` gets how far it was read, and reads on."""
        from anyhook.tables.spent import Reading

        def counted(book: Book) -> None:
            known = book.setdefault("read", {})
            kept = known.get(transcript)
            found = read(Reading(*kept) if kept is not None else None)
            known[transcript] = [getattr(found, field) for field in found.fields]
            _spend(book, transcript, found.tokens - found.before, found.at_s)
            _spend(book, transcript, found.dollars - found.dollars_before, found.at_s, "dollars")

        self._change(counted, deed)

    def enter(self, deed: Deed) -> Seen:
        """A call begins, and counts."""
        return self._change(lambda book: _enter(book, deed, self._now_s), deed)

    def leave(self, deed: Deed) -> None:
        """The call was refused: as if it had not been made."""
        self._change(lambda book: _leave(book, deed.who), deed)

    def hold(self, deed: Deed) -> None:
        """A person is asked about the call: it counts once it has run."""
        self._change(lambda book: _hold(book, deed.who), deed)

    def ran(self, deed: Deed) -> Seen:
        """The call has run."""
        return self._change(lambda book: _ran(book, deed, self._now_s), deed)

    def _change(self, change: Callable[[Book], None], deed: Deed) -> Seen:
        seen: list[Seen] = []

        def changed(before: bytes | None) -> bytes:
            book = self._book(before)
            change(book)
            seen.append(_seen(book, deed, self._now_s))
            return sealed(book)

        try:
            self._files.keep(self._key, changed)
        except OSError as error:
            raise lost(self._key, f"cannot be kept: {error.strerror or error}") from error
        return seen[0]

    def _book(self, data: bytes | None) -> Book:
        if data is None:
            if self._files.was_there(self._key):
                raise lost(self._key, "is gone")
            return {"first": self._now_s, "calls": 0, "rows": [], "met": {}, "last": [], "spent": {}}
        had, self._had = self._had, None
        book = had[1] if had is not None and had[0] == data else opened(data)
        if book is None:
            raise lost(self._key, "is damaged")
        return book


def sealed(book: Book) -> bytes:
    data = marshal.dumps(book, MARSHAL)
    data += bytes(-(SEAL + len(data)) % BLOCK)
    return digest(data).encode() + data


def opened(data: bytes) -> Book | None:
    """The memory; None if it is not what was written."""
    seal, data = data[:SEAL], data[SEAL:]
    if seal != digest(data).encode():
        return None
    found: Book = marshal.loads(data)  # noqa: S302 (we have written it)
    return found


def _is_old(path: str) -> bool:
    try:
        return time() - os.lstat(path).st_mtime > LIFETIME_S
    except OSError:
        return False


# -- what happens to a memory; each call in `last` is [who, number, digest, keys, standing, time]


def _of(book: Book, who: str) -> list[Any] | None:
    return next((call for call in book["last"] if call[0] == who), None)


def _enter(book: Book, deed: Deed, now_s: float) -> None:
    known = _of(book, deed.who)
    if known is not None:  # asked about twice
        known[3] = {**known[3], **deed.keys}
        return
    book["calls"] += 1
    _count(book, deed.facts)
    book["last"].append([deed.who, book["calls"], deed.facts, {**deed.keys}, IT_COUNTS, now_s])
    if len(book["last"]) > MAX_LAST:
        _forget_done(book, now_s)


def _forget_done(book: Book, now_s: float) -> None:
    """Of many calls, hold those that may still be refused, or be under way, one by one."""
    last = book["last"]
    too_many = last[: max(len(last) - MAX_OPEN, 0)]
    over = [call for call in last[len(too_many) : -1] if call[4] == HAS_RUN or now_s - call[5] > OPEN_S]
    for call in [*too_many, *over][: len(last) - MAX_LAST]:
        last.remove(call)
        if call[4] == IT_COUNTS:
            _settle(book, call)


def _leave(book: Book, who: str) -> None:
    known = _of(book, who)
    if known is None:
        return
    if known[4] == IT_COUNTS:
        _uncount(book, known[2])
    book["last"].remove(known)


def _hold(book: Book, who: str) -> None:
    known = _of(book, who)
    if known is not None and known[4] == IT_COUNTS:
        _uncount(book, known[2])
        known[4] = IS_HELD


def _spend(book: Book, of: str, number: float, at_s: float, counted: str = "spent") -> None:
    if number:
        known = book.setdefault(counted, {})
        known[of] = max(number, known.get(of, 0.0))
        book["told"] = max(at_s, book.get("told", 0.0))


def _ran(book: Book, deed: Deed, now_s: float) -> None:
    known = _of(book, deed.who) or _equal(book, deed.facts)
    if known is None:
        _enter(book, deed, now_s)
        known = book["last"][-1]
    elif known[4] == IS_HELD:
        book["calls"] += 1
        known[1] = book["calls"]
        _count(book, known[2])
    before = {} if known[2] == deed.facts else known[3]  # what it did is known better now
    known[0], known[3], known[4] = deed.who, {**before, **deed.keys}, HAS_RUN
    _settle(book, known)
    given, failures = book.get("failed", ("", 0))
    book["failed"] = [deed.given, failures + 1 if given == deed.given else 1] if deed.failed else ["", 0]
    for secret, hosts in deed.secrets:
        kept = book.setdefault("secrets", {"salt": os.urandom(16).hex(), "digests": {}, "services": {}})
        digest = short_digest(kept["salt"] + secret)
        kept["digests"][digest] = len(secret)
        if hosts:
            known_hosts = kept.setdefault("services", {}).setdefault(digest, [])
            known_hosts += {short_digest(kept["salt"] + host.lower()) for host in hosts} - {*known_hosts}
            del known_hosts[MAX_HOSTS:]
        book["met"].setdefault(f"{PRINTED}{digest}", [known[1], known[5], "", deed.who])
        while len(kept["digests"]) > MAX_SECRETS:
            oldest = next(iter(kept["digests"]))
            del kept["digests"][oldest]
            kept["services"].pop(oldest, None)


def _equal(book: Book, facts: str) -> list[Any] | None:
    """The last call that does the same, for agents whose calls have no names: one that has not run yet comes first."""
    equal = [call for call in reversed(book["last"]) if call[2] == facts]
    return next((call for call in equal if call[4] != HAS_RUN), equal[0] if equal else None)


def _settle(book: Book, call: list[Any]) -> None:
    who, number, _, keys, _, at_s = call
    for key, what in keys.items():
        book["met"].setdefault(key, [number, at_s, what, who])
    if len(book["met"]) > MAX_MADE and (many := [key for key in book["met"] if key.startswith(MANY_KEYS)]):
        for key in many[: len(many) - MAX_MADE]:
            del book["met"][key]


def _count(book: Book, digest: str) -> None:
    rows = book["rows"]
    if rows and rows[-1][0] == digest:
        rows[-1][1] += 1
    else:
        rows.append([digest, 1])
        del rows[:-MAX_ROWS]


def _uncount(book: Book, digest: str) -> None:
    book["calls"] -= 1
    rows = book["rows"]
    for place in range(len(rows) - 1, -1, -1):
        if rows[place][0] == digest:
            rows[place][1] -= 1
            if not rows[place][1]:
                del rows[place]
                if 0 < place < len(rows) and rows[place - 1][0] == rows[place][0]:
                    rows[place - 1][1] += rows.pop(place)[1]
            return


def _seen(book: Book, deed: Deed, now_s: float) -> Seen:
    rows, who = book["rows"], deed.who
    same = rows[-1][1] if rows and rows[-1][0] == deed.facts else 1
    given, failures = book.get("failed", ("", 0))
    failures = (failures if given == deed.given else 0) + (not deed.failed)
    met = {key: Met(*found) for key, found in book["met"].items() if found[3] != who}
    for other, number, _, keys, standing, at_s in [call for call in book["last"] if call[3]]:
        if other != who and standing == IT_COUNTS:
            for key, what in keys.items():
                met.setdefault(key, Met(number, at_s, what, other))
    spent = {"tokens": sum(book["spent"].values()), "dollars": sum(book.get("dollars", {}).values())}
    return Seen(book["calls"], same, failures, book["first"], now_s, met, spent, book.get("told", 0.0))


def root_of(files: Books, session: str, parent: str) -> str:
    """The key of a session's memory: its own, or that of the session that its parent belongs to."""
    for _ in range(MAX_NESTED):
        above = opened(files.read(f"parent {session}") or b"")
        if above is None:
            if parent in ("", session):
                break
            above = {"of": parent}
            files.keep(f"parent {session}", partial(_unless_known, sealed(above)))
        session, parent = str(above["of"]), ""
    return f"session {session}"


def _unless_known(made: bytes, before: bytes | None) -> bytes:
    return before or made


def begin_of_day(now_s: float) -> float:
    """When the local calendar day began."""
    year, month, day, *_ = localtime(now_s)
    return mktime((year, month, day, 0, 0, 0, 0, 0, -1))


def day_of(now_s: float) -> str:
    """The key of the local calendar day."""
    return f"{DAY}{strftime('%Y-%m-%d', localtime(now_s))}"
