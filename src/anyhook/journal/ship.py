"""Ship: sends the journal's lines, as they are, to an OTLP collector or into a directory that machines share. A line is
sent at least once, in order. What was sent is kept per destination, after it was sent, so whatever ends us leaves no
gap. At most one batch is sent twice to a collector, and none into a directory, whose own end says what it has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Protocol
from urllib.parse import unquote, urlsplit

from anyhook.journal.files import open_all, seek_first, whole_lines
from anyhook.journal.machines import MACHINE
from anyhook.journal.read import read_line
from anyhook.journal.search import Wanted, newest
from anyhook.journal.writer import current_path, end_of_lines, full_path, is_full_name, link_of
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.lean_json import short_digest
from anyhook.model.record import Record
from anyhook.platform.places import read_object, replace_file, write_private


class Destination(Protocol):
    """Where lines go."""

    def where(self, machine: str, at: Cursor) -> Cursor:
        """What it has already, if it knows more than the cursor."""

    def take(self, machine: str, lines: list[bytes]) -> None:
        """All of these lines, or an exception."""

    def tell(self, machine: str, status: MachineStatus) -> None:
        """What the machine says about itself."""


SHIP_FOLDER = "ship"
BATCH_LINES, BATCH_BYTES = 500, 1 << 20
FULL_BYTES = 64 << 20
"""When a file in a directory is full, as in the journal itself."""
SEND_S = 20.0
RETRIED_ANSWERS = (408, 429, 500, 502, 503, 504)
"""Answers after which the same may be sent again later."""


STATUS_FILE = "status.json"
"""In a machine's folder, what it said last about its agents and guards."""


class MachineStatus(Record):
    """What a machine said about itself when it last sent something."""

    anyhook: str = ""
    agents: tuple[tuple[str, str], ...] = ()
    """Name and version, of agents that call anyhook."""
    off: tuple[str, ...] = ()
    """Guards of its user that are off."""
    protected: bool | None = None
    """Whether an agent there asks guards; None if it did not say."""

    def as_dict(self) -> dict[str, Json]:
        agents: dict[str, Json] = {**dict(self.agents)}
        return {"anyhook": self.anyhook, "agents": agents, "off": [*self.off], "protected": self.protected}


def said_by(folder: str, machine: str) -> MachineStatus:
    """What it said. Other machines write these files, so each value is looked at."""
    said = read_object(f"{folder}/{MACHINE}{machine}/{STATUS_FILE}") or {}
    agents, off, own, held = (said.get(key) for key in ("agents", "off", "anyhook", "protected"))
    return MachineStatus(
        own if isinstance(own, str) else "",
        tuple((name, str(each)) for name, each in agents.items()) if isinstance(agents, dict) else (),
        tuple(map(str, off)) if isinstance(off, list) else (),
        held if isinstance(held, bool) else None,
    )


class CannotShip(Exception):  # noqa: N818 (it says what is wrong)
    """Why lines cannot be sent now."""

    def __init__(self, why: str, *, may_end: bool = True) -> None:
        super().__init__(why)
        self.may_end = may_end
        """Whether it may be over later, so that it makes sense to try again."""


class Cursor(Record):
    """The last line that a destination has, by number and hash. A new journal has a new generation."""

    n: int = 0
    hash: str = ""
    generation: int = 1


class Sent(Record):
    """What one round did."""

    records: int
    cursor: Cursor
    lost: int = 0
    """How many records were deleted because of their age before they could be sent."""


class Shipper:
    """Sends what one destination does not have yet."""

    def __init__(self, state_dir: str, name: str, to: Destination) -> None:
        self.state_dir, self.to, self.name = state_dir, to, name
        self.folder = f"{state_dir}/{SHIP_FOLDER}"
        self._path = f"{self.folder}/{short_digest(name)}.json"

    @property
    def machine(self) -> str:
        """The name of this machine, which is a state directory: random, made once."""
        path = f"{self.folder}/machine.json"
        named = (read_object(path) or {}).get("id")
        if not (isinstance(named, str) and named.isalnum()):
            named = os.urandom(8).hex()
            write_private(path, lean_json.dumps({"id": named}).encode())
        return named

    def cursor(self) -> Cursor:
        kept = read_object(self._path) or {}
        n, seal, generation = kept.get("n"), kept.get("hash"), kept.get("generation")
        whole = isinstance(n, int) and isinstance(seal, str) and isinstance(generation, int)
        return Cursor(int(str(n)), str(seal), int(str(generation))) if whole else Cursor()

    def _keep(self, cursor: Cursor) -> None:
        kept: dict[str, Json] = {field: getattr(cursor, field) for field in cursor.fields}
        write_private(self._path, lean_json.dumps({"to": self.name, **kept}).encode())

    def tell(self, status: MachineStatus) -> None:
        """What this machine says about itself, after something was sent. Raises CannotShip."""
        self.to.tell(_called(self.machine, self.cursor()), status)

    def send(self) -> Sent:
        """Everything that is there now. Raises CannotShip; what was sent before is kept."""
        machine = self.machine
        at = self._current(self.cursor())
        at = self.to.where(_called(machine, at), at)
        sent = lost = 0
        for batch in batches(self.state_dir, at.n):
            self.to.take(_called(machine, at), batch)
            links = [link for link in map(link_of, batch) if link is not None]
            if links:
                lost += max(0, links[0][0] - at.n - 1) if at.n else 0
                at = at.replace(n=links[-1][0], hash=links[-1][1].decode())
            self._keep(at)
            sent += len(batch)
        return Sent(sent, at, lost)

    def _current(self, cursor: Cursor) -> Cursor:
        """The cursor, or a new one if this is not the journal any more that it was about."""
        if not cursor.n:
            return cursor
        same = _seal_of(self.state_dir, cursor.n)
        if same in (None, cursor.hash):
            last = _newest(self.state_dir)
            if same is not None or last is None or last > cursor.n:
                return cursor  # it is there, or was deleted because of its age
        return Cursor(generation=cursor.generation + 1)


def _called(machine: str, at: Cursor) -> str:
    return f"{MACHINE}{machine}" if at.generation == 1 else f"{MACHINE}{machine}.{at.generation}"


def batches(state_dir: str, after: int) -> Iterator[list[bytes]]:
    """The lines after a record, oldest first, a few at a time."""
    batch: list[bytes] = []
    size = 0
    for line in _lines(state_dir, after):
        if batch and (len(batch) == BATCH_LINES or size + len(line) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch


def _lines(state_dir: str, after: int) -> Iterator[bytes]:
    for path, file in open_all(state_dir):
        with file:
            name = os.path.basename(path)
            if is_full_name(name) and int(name[8:-6]) <= after:
                continue
            if after:
                seek_first(file, b"n", after + 1)
            yield from whole_lines(file)


def _seal_of(state_dir: str, n: int) -> str | None:
    """The hash of a record; None if it is not there."""
    for path, file in open_all(state_dir):
        with file:
            name = os.path.basename(path)
            if is_full_name(name) and int(name[8:-6]) < n:
                continue
            seek_first(file, b"n", n)
            link = link_of(file.readline())
            if link is not None:
                return link[1].decode() if link[0] == n else None
    return None


def _newest(state_dir: str) -> int | None:
    found = newest(state_dir, Wanted(), 1)
    return found[0].n if found else None


class Directory:
    """A directory that machines share. Each has a folder in it, with a journal: the same lines in files of the same
    names, so that everything that reads a journal reads it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def where(self, machine: str, at: Cursor) -> Cursor:
        """It knows what it has, up to its last whole line. An unfinished one is taken away: it was ours."""
        folder = f"{self.folder}/{machine}"
        try:
            os.makedirs(folder, exist_ok=True)
            with open(current_path(folder), "ab+") as file:
                size = file.seek(0, os.SEEK_END)
                end = end_of_lines(file, size)
                if end < size:
                    file.truncate(end)
        except OSError as error:
            raise CannotShip(f"{folder} cannot be written ({error.strerror})") from None
        last = newest(folder, Wanted(), 1)
        link = link_of(last[0].raw) if last else None
        return at.replace(n=link[0], hash=link[1].decode()) if link is not None and link[0] > at.n else at

    def take(self, machine: str, lines: list[bytes]) -> None:
        folder = f"{self.folder}/{machine}"
        path = current_path(folder)
        try:
            with open(path, "ab", buffering=0) as file:
                begin = file.seek(0, os.SEEK_END)
                if begin and begin + sum(map(len, lines)) > FULL_BYTES:
                    self._turn(folder)
            with open(path, "ab", buffering=0) as file:
                begin = file.seek(0, os.SEEK_END)
                try:
                    data = b"".join(lines)
                    while data:
                        data = data[file.write(data) :]
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(begin)  # a full disk: none of it
                    raise
        except OSError as error:
            raise CannotShip(f"{path} cannot be written ({error.strerror})") from None

    def tell(self, machine: str, status: MachineStatus) -> None:
        path = f"{self.folder}/{machine}/{STATUS_FILE}"
        if not (status.agents or status.off or os.path.exists(path)):
            return  # journals alone: there is nothing to say beside them
        try:
            replace_file(path, lean_json.dumps(status.as_dict()).encode(), 0o644)
        except OSError as error:
            raise CannotShip(f"{path} cannot be written ({error.strerror})") from None

    def _turn(self, folder: str) -> None:
        last = newest(folder, Wanted(), 1)
        if last and last[0].n:
            os.rename(current_path(folder), full_path(folder, last[0].n))


class OtlpCollector:
    """An OTLP collector: log records as JSON over HTTP. It follows no redirect."""

    def __init__(self, url: str, headers: dict[str, str], version: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("it must be http://HOST[:PORT] or https://HOST[:PORT], without a password")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        path = parts.path.rstrip("/")
        self._path = path if path.endswith("/v1/logs") else f"{path}/v1/logs"
        self._headers = {**headers, "Content-Type": "application/json", "User-Agent": f"anyhook/{version}"}
        self._version = version

    def where(self, machine: str, at: Cursor) -> Cursor:
        return at

    def take(self, machine: str, lines: list[bytes]) -> None:
        status, answer = self._post(self.request(machine, lines))
        if status == 413 and len(lines) > 1:
            half = len(lines) // 2
            self.take(machine, lines[:half])
            self.take(machine, lines[half:])
            return
        if status not in (200, 202, 204):
            may_end = status in RETRIED_ANSWERS
            raise CannotShip(f"the collector answered {status}: {answer[:200]!r}", may_end=may_end)
        refused = _rejected(answer)
        if refused:
            raise CannotShip(f"the collector took only a part: {refused}", may_end=False)

    def tell(self, machine: str, status: MachineStatus) -> None:
        pass  # its records are all that a collector gets

    def request(self, machine: str, lines: list[bytes]) -> bytes:
        """One request of OTLP: https://opentelemetry.io/docs/specs/otlp/#otlphttp."""
        resource = {
            "service.name": "anyhook", "service.version": self._version,
            "service.instance.id": machine.removeprefix(MACHINE),
        }  # fmt: skip
        scope: dict[str, Json] = {"name": "anyhook.journal", "version": self._version}
        records: list[Json] = [*map(log_record, lines)]
        scoped: list[Json] = [{"scope": scope, "logRecords": records}]
        sent: list[Json] = [{"resource": {"attributes": _attributes({**resource})}, "scopeLogs": scoped}]
        return lean_json.dumps({"resourceLogs": sent}).encode()

    def _post(self, body: bytes) -> tuple[int, bytes]:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=SEND_S)
        try:
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            return answer.status, answer.read(65_536)
        except (OSError, HTTPException) as error:
            raise CannotShip(f"{self._host} cannot be reached ({error})") from None
        finally:
            connection.close()


def _rejected(answer: bytes) -> str:
    """What a collector says that it did not take; "" if it took all."""
    try:
        said = lean_json.loads(answer.decode())
    except ValueError:
        return ""
    partial = said.get("partialSuccess") if isinstance(said, dict) else None
    count = partial.get("rejectedLogRecords") if isinstance(partial, dict) else None
    if not count or str(count) == "0" or not isinstance(partial, dict):
        return ""
    return f"{count} records refused: {partial.get('errorMessage', '')}"


SEVERITY = {"block": (13, "WARN"), "ask": (10, "INFO2")}
"""Verdict → number and text of a severity; everything else is INFO."""


def log_record(line: bytes) -> Json:
    """A line as a log record: all of it is the body. Attributes are names, so that a collector can filter without
    reading it; OpenTelemetry's own names, if it has any."""
    found = read_line(line)
    decision = found.decision
    verdict = decision.verdict if decision is not None else None
    number, text = SEVERITY.get(verdict or "", (9, "INFO"))
    at = str(found.at_ns or 0)
    named: dict[str, Json] = {
        "event.name": f"anyhook.{found.event}" if found.event else None,
        "gen_ai.agent.name": found.host,
        "gen_ai.conversation.id": found.session,
        "gen_ai.tool.name": found.tool,
        "anyhook.record": found.n,
        "anyhook.project": found.project,
        "anyhook.verdict": verdict,
        "anyhook.hook": decision.hook if decision is not None else None,
        "anyhook.enforced": decision.enforced if decision is not None else None,
    }
    return {
        "timeUnixNano": at, "observedTimeUnixNano": at, "severityNumber": number, "severityText": text,
        "body": {"stringValue": line.decode("utf-8", "replace").rstrip("\n")}, "attributes": _attributes(named),
    }  # fmt: skip


def _attributes(named: dict[str, Json]) -> list[Json]:
    made: list[Json] = []
    for key, value in named.items():
        if isinstance(value, bool):
            made.append({"key": key, "value": {"boolValue": value}})
        elif isinstance(value, int):
            made.append({"key": key, "value": {"intValue": str(value)}})
        elif isinstance(value, str):
            made.append({"key": key, "value": {"stringValue": value}})
    return made


def headers_of(text: str) -> dict[str, str]:
    """Headers as OTEL_EXPORTER_OTLP_HEADERS names them: key=value, separated by commas."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    return {key.strip(): unquote(value.strip()) for key, sign, value in pairs if sign and key.strip()}
