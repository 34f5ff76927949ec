"""Events for tests: by any dialect's names, as a dialect's hooks read them, and as an agent sends them. All of them
come from the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from anyhook.engine.present import payload
from anyhook.model.event import FIELDS, Event
from anyhook.model.json_types import Json
from anyhook.model.lean_json import encode
from anyhook.tables.host_rows import Host, HostEvent
from anyhook.tables.registry import DIALECTS, HOSTS, canonical_event, canonical_field, dialect, host
from anyhook.tables.rows import Dialect, EventRow, Scene
from anyhook.tables.shapes import guess
from anyhook.tables.translate import to_native

Path = tuple[str, ...]

Found = TypeVar("Found")
SESSION = "session-of-a-test"


def event_of(name: str, fields: dict[str, Json], *, hosted: bool = False) -> Event:
    """An event by any name, its fields by canonical or any dialect's own names. Raises ValueError for unknown names."""
    event = canonical_event(name, failed="tool_error" in fields)
    data: dict[str, Json] = {}
    for key, value in fields.items():
        field = check_field(key, event)
        if field in FIELDS:
            data[field] = value
    if data.get("tool_error"):
        event = canonical_event(name, failed=True)
    if "agent_type" in data:
        data.setdefault("agent_name", data["agent_type"])
    return Event(event, data, hosted=hosted)


def check_field(key: str, event: str = "") -> str:
    """The canonical name of a field, by any dialect's name for it in this event; without an event, by its canonical
    name. Raises ValueError for unknown names."""
    __tracebackhide__ = True  # the traceback should point into the test, not here
    field = canonical_field(event, key) if event else key
    if field is None or not (event or key in FIELDS):
        raise ValueError(f"no dialect knows the field `{key}`.{guess(key, FIELDS)}")
    return field


def payload_of_dialect(table: Dialect, native: str, fields: dict[str, Json], project: str) -> dict[str, Json]:
    """What a hook of the dialect reads on stdin for this event."""
    row = table.row(native) or table.row_for(canonical_event(native, failed="tool_error" in fields))
    if row is None:
        natives = [each.native for each in table.events]
        raise ValueError(f"{table.name} has no event `{native}`.{guess(native, natives)} Events: {', '.join(natives)}")
    event = event_of(row.native, fields)
    session = str(event.data.get("session") or SESSION)
    return payload(table, row, Scene(event, row.native, project, session, {}, {}))


def marked(table: Dialect, row: EventRow, canonical: str) -> dict[Path, Json]:
    """The leaves of a payload in which every field contains its own marked name."""
    data: dict[str, Json] = {name: f"‹{name}›" for name, empty in FIELDS.items() if empty == ""}
    data["input"] = {"anyhook_input": "‹input›"}
    event = to_native(Event(canonical, data), table)
    return leaves(payload(table, row, Scene(event, row.native, "‹project›", "‹session›", {}, {})))


def leaves(value: Json, path: Path = ()) -> dict[Path, Json]:
    if isinstance(value, dict):
        return {leaf: item for key, inner in value.items() for leaf, item in leaves(inner, (*path, key)).items()}
    return {path: value} if path else {}


def path_of(mark: str, found: dict[Path, Json]) -> Path | None:
    return next((path for path, value in found.items() if value == mark), None)


def payload_of_agent(table: Host, row: HostEvent, fields: dict[str, Json], project: str) -> dict[str, Json]:
    """What an agent sends for this event: every field at the first place where the table looks for it, or at the next
    one if another field is there. If two fields share a place, the one that is sent unchanged comes first."""
    made: dict[str, Json] = {}
    given = {"session": SESSION, **fields}
    if row.canonical and row.canonical[-1] == "post_tool_failure" and "tool_error" in given and row.error:
        _put(made, row.error[0], given["tool_error"])
    takes = (*table.base, *row.takes)
    as_is = {taken.paths[0] for taken in takes if taken.make is None and taken.field in given}
    for taken in takes:
        if taken.make is not None and taken.paths[0] in as_is:
            continue
        if taken.field in given:
            any(_put(made, path, given[taken.field]) for path in taken.paths)
        elif taken.field == "response" and "output" in given:
            _put(made, taken.paths[0], given["output"])
    _put(made, table.project[0], project)
    return made


def sent_with(table: Host, row: HostEvent) -> set[str]:
    """The fields that an agent sends with an event, without derived ones."""
    taken = {each.field for each in (*table.base, *row.takes)}
    made = {"session", *(["output"] if "response" in taken else ()), *(["tool_error"] if row.error else ())}
    return (taken | made) & FIELDS.keys()


def check_sent(table: Host, row: HostEvent, fields: Iterable[str]) -> None:
    """Raises ValueError for a field that the agent does not send with this event: a test with it would prove
    nothing."""
    __tracebackhide__ = True
    sent = sent_with(table, row)
    for field in fields:
        if field not in sent:
            raise ValueError(f"{table.title} sends no `{field}` with {row.native}, only: {', '.join(sorted(sent))}.")


def _put(into: dict[str, Json], path: str, value: Json) -> bool:
    """Sets the value at a dotted path, unless there is one; numbers are list indexes. False if the path leads through a
    plain value."""
    names = path.split(".")
    here: dict[str, Json] | list[Json] = into
    for name, then in zip(names, [*names[1:], ""], strict=True):
        inner: Json = value if not then else [] if then.isdigit() else {}
        if isinstance(here, list):
            while len(here) <= int(name):
                here.append(inner)
            found = here[int(name)]
        else:
            found = here.setdefault(name, inner)
        if then and not isinstance(found, (dict, list)):
            return False
        if isinstance(found, (dict, list)):
            here = found
    return True


class Built:
    """An event of one dialect or agent, with the payload that its hooks, or we, read."""

    def __init__(self, owner: str, native: str, given: dict[str, Json], payload: dict[str, Json]) -> None:
        self.owner, self.native, self.given, self.payload = owner, native, given, payload

    @property
    def stdin(self) -> str:
        """The payload as it is sent, decoded."""
        return encode(self.payload).decode()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.owner}.{self.native}, {self.given})"


class ByDialect(Built):
    """An event by a dialect's own name; `payload` is what its hooks read on stdin."""

    @property
    def event(self) -> Event:
        return event_of(self.native, self.given)


class ByAgent(Built):
    """An event by an agent's own name; `payload` is what the agent sends to our bridge."""


class ByName(Generic[Found]):
    """Things by name: as attributes, and as items for names that cannot be attributes (`tool.execute.before`). `dir()`
    lists them."""

    def __init__(self, lacking: str, names: Sequence[str], make: Callable[[str], Found]) -> None:
        """`lacking` comes before a name that there is not."""
        self._lacking, self._names, self._make = lacking, names, make

    def __dir__(self) -> list[str]:
        return [*self._names]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getattr__(self, name: str) -> Found:
        __tracebackhide__ = True
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Found:
        __tracebackhide__ = True
        if name not in self._names:
            hint = guess(name, self._names) or f" There are: {', '.join(self._names)}."
            raise AttributeError(f"{self._lacking} `{name}`.{hint}")
        return self._make(name)


class Events:
    """Every event of every dialect and every agent: `events.dialects.NAME.EVENT(tool=…, input={…})`."""

    def __init__(self, project: str = "/project") -> None:
        def of_dialect(name: str) -> ByName[Callable[..., ByDialect]]:
            table = dialect(name)

            def made(native: str, **fields: Json) -> ByDialect:
                __tracebackhide__ = True
                return ByDialect(name, native, fields, payload_of_dialect(table, native, fields, project))

            natives = [row.native for row in table.events]
            return ByName(f"{name} has no event", natives, lambda native: partial(made, native))

        def of_agent(name: str) -> ByName[Callable[..., ByAgent]]:
            table = host(name)
            rows = {row.native: row for row in table.events}

            def made(native: str, **fields: Json) -> ByAgent:
                __tracebackhide__ = True
                for key in fields:
                    check_field(key)
                check_sent(table, rows[native], fields)
                return ByAgent(name, native, fields, payload_of_agent(table, rows[native], fields, project))

            return ByName(f"{name} has no event", [*rows], lambda native: partial(made, native))

        self.dialects = ByName("there is no dialect", DIALECTS, of_dialect)
        self.agents = ByName("there is no agent", [*HOSTS], of_agent)
