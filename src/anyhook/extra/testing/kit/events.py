"""Events for tests: by any dialect's names, as a dialect's hooks read them, and as an agent sends them. All of them
come from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.engine.present import payload
from anyhook.model.event import FIELDS, Event
from anyhook.tables.registry import DIALECTS, HOSTS, canonical_event, canonical_field, dialect, host
from anyhook.tables.rows import Scene
from anyhook.tables.shapes import guess
from anyhook.tables.translate import to_native

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent
    from anyhook.tables.rows import Dialect, EventRow

    Path = tuple[str, ...]

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
        from anyhook.model.lean_json import encode

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


class Maker:
    """The events of one dialect or agent, as attributes: `make.PreToolUse(tool="Bash", input={…})`."""

    def __init__(self, owner: Dialect | Host, project: str) -> None:
        self._owner, self._project = owner, project
        self._rows: dict[str, EventRow | HostEvent] = {row.native: row for row in owner.events}

    def __dir__(self) -> list[str]:
        return [*self._rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __getattr__(self, native: str) -> _Make:
        __tracebackhide__ = True
        if native.startswith("_"):
            raise AttributeError(native)
        return self[native]

    def __getitem__(self, native: str) -> _Make:
        """The same for names that cannot be attributes, such as `tool.execute.before`."""
        __tracebackhide__ = True
        if native not in self._rows:
            hint = guess(native, self._rows) or f" Events: {', '.join(self._rows)}."
            raise AttributeError(f"{self._owner.name} has no event `{native}`.{hint}")
        return _Make(self._owner, self._rows[native], self._project)


class _Make:
    """Makes one kind of event."""

    def __init__(self, owner: Dialect | Host, row: EventRow | HostEvent, project: str) -> None:
        self._owner, self._row, self._project = owner, row, project

    def __call__(self, **fields: Json) -> Built:
        __tracebackhide__ = True
        from anyhook.tables.host_rows import Host, HostEvent

        name, native = self._owner.name, self._row.native
        if isinstance(self._owner, Host) and isinstance(self._row, HostEvent):
            for key in fields:
                check_field(key)
            check_sent(self._owner, self._row, fields)
            made = payload_of_agent(self._owner, self._row, fields, self._project)
            return ByAgent(name, native, fields, made)
        assert not isinstance(self._owner, Host)  # noqa: S101 (a row belongs to its owner)
        return ByDialect(name, native, fields, payload_of_dialect(self._owner, native, fields, self._project))


class Makers:
    """All dialects, or all agents, as attributes: `dir()` lists them."""

    def __init__(self, kind: str, project: str) -> None:
        self._kind, self._project = kind, project
        self._names = DIALECTS if kind == "dialect" else HOSTS

    def __dir__(self) -> list[str]:
        return [*self._names]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> Maker:
        return getattr(self, name)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Maker:
        __tracebackhide__ = True
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._names:
            known = f" There are: {', '.join(self._names)}."
            raise AttributeError(f"there is no {self._kind} `{name}`.{guess(name, self._names)}{known}")
        return Maker(dialect(name) if self._kind == "dialect" else host(name), self._project)


class Events:
    """Every event of every dialect and every agent."""

    def __init__(self, project: str = "/project") -> None:
        self.dialects, self.agents = Makers("dialect", project), Makers("agent", project)
