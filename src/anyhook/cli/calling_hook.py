"""Who calls `anyhook get`, `deny`, `ask` or `context`: the hook's dialect, its event and its payload. The engine sets
the first two as variables. If an agent runs the hook itself, or its dialect does not allow our variables, the payload
tells. Standard input is put back for the next reader."""

from __future__ import annotations

import os
import select
import stat
from typing import TYPE_CHECKING

from anyhook.model import lean_json
from anyhook.model.event import FIELDS, Event
from anyhook.model.record import Record
from anyhook.model.words import HOOK_DIALECT, HOOK_EVENT
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host
from anyhook.tables.rows import Scene
from anyhook.tables.translate import restored
from anyhook.walk.present import payload
from anyhook.walk.receive import receive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow

MAX_PAYLOAD = 50_000_000
WAIT_S = 2.0
F_SETPIPE_SZ = 1031
"""Linux: request a larger pipe, so that a long payload fits in again."""
MARK = "‹{}›"


class CallingHook(Record):
    """The hook that calls us."""

    dialect: Dialect
    row: EventRow
    payload: dict[str, Json]
    """The payload it got; {} if something has already read it."""

    @property
    def canonical(self) -> str:
        return self.row.canonical[0] if self.row.canonical else self.row.native

    def canonical_fields(self) -> dict[str, Json]:
        """The canonical fields in the payload, with our own names."""
        found = self._received()
        for path, mark in _marked(self.dialect, self.row).items():
            value = _at(self.payload, path)
            if isinstance(mark, str) and mark[:1] == MARK[0] and value is not None:
                found.setdefault(mark.strip("‹›"), value)
        given, tool = found.get("input"), found.get("tool")
        rows = self.dialect.tools.values()
        known = next((row for row in rows if tool in (row.native, *row.also)), None)
        if known is not None and isinstance(given, dict):
            found["input"] = restored(given, known.inputs)
        return found

    def _received(self) -> dict[str, Json]:
        """The same, read with the agent's own table if it is a host."""
        table = host(self.dialect.name) if self.dialect.name in HOSTS else None
        row = table.row(self.row.native) if table is not None else None
        if table is None or row is None:
            return {}
        events = receive(table, row, self.payload, b"").events
        return {**events[0].data} if len(events) == 1 else {}


def calling_hook(env: Mapping[str, str], *, needs_payload: bool = False) -> CallingHook | None:
    """The hook that this process was started in, or None. Reads standard input if the variables are not enough."""
    named = env.get(HOOK_DIALECT, "")
    table = dialect(named) if named in DIALECTS else None
    row = table.row(env.get(HOOK_EVENT, "")) if table is not None else None
    given = _stdin() if needs_payload or row is None else {}
    if table is not None and row is not None:
        return CallingHook(table, row, given)
    return _by_payload(given) if given else None


def _by_payload(given: dict[str, Json]) -> CallingHook | None:
    """The dialect and the event that explain most keys of the payload; the first if there are several."""
    best: CallingHook | None = None
    most = 0
    for name in DIALECTS:
        table = dialect(name)
        for row in table.events:
            known = _fits(table, row, given) if "command" in table.replies else 0
            if known > most:
                best, most = CallingHook(table, row, given), known
    return best


def _fits(table: Dialect, row: EventRow, given: dict[str, Json]) -> int:
    """How many keys of the payload the event explains; 0 if it cannot be this event: a required key is missing, or no
    key names the event."""
    leaves = _marked(table, row)
    needed = {field.key for field in (*table.base, *row.payload) if not field.optional}
    names_it = any(value == row.native and _at(given, path) == value for path, value in leaves.items())
    return len(needed) if names_it and needed <= set(given) else 0


def _marked(table: Dialect, row: EventRow) -> dict[tuple[str, ...], Json]:
    """A map of this event's payload: where each canonical field is, found by filling it with its own marked name."""
    data: dict[str, Json] = {name: MARK.format(name) for name in FIELDS}
    canonical = row.canonical[0] if row.canonical else row.native
    scene = Scene(Event(canonical, data), row.native, MARK.format("project"), MARK.format("session"), {}, {})
    try:
        return _leaves(payload(table, row, scene))
    except Exception:  # noqa: BLE001 (a cell that takes a field apart is not one that can be found again)
        plain = {name: MARK.format(name) if empty == "" else empty for name, empty in FIELDS.items()}
        return _leaves(payload(table, row, scene.replace(event=Event(canonical, plain))))


def _leaves(value: Json, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Json]:
    if isinstance(value, dict) and value:
        return {leaf: item for key, inner in value.items() for leaf, item in _leaves(inner, (*path, key)).items()}
    return {path: value} if path else {}


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _stdin() -> dict[str, Json]:
    """The payload on standard input, or {}. It can be read again afterwards, by us or by others."""
    try:
        mode = os.fstat(0).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
            return {}  # a terminal, or nothing
        if not stat.S_ISREG(mode) and not select.select([0], [], [], WAIT_S)[0]:
            return {}  # it stays open and empty, so it is not a hook's payload
        begun = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(mode) else 0
        pieces = bytearray()
        while len(pieces) < MAX_PAYLOAD and (piece := os.read(0, 1 << 20)):
            pieces += piece
        if stat.S_ISREG(mode):
            os.lseek(0, begun, os.SEEK_SET)
        elif stat.S_ISFIFO(mode) and pieces:
            _put_back(bytes(pieces))
        found = lean_json.loads(bytes(pieces).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _put_back(data: bytes) -> None:
    """Fill the pipe again. If the system cannot do that, the next reader finds it empty and says so."""
    import fcntl

    try:
        end = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        if len(data) > 65536:
            fcntl.fcntl(end, F_SETPIPE_SZ, len(data))
        os.write(end, data)
    except OSError:
        while os.read(0, 1 << 20):  # part of a payload would be worse than none
            pass
    finally:
        os.close(end)
