"""Match: whether a hook wants an event; and what that is asked about: the catalog of all hooks, the hooks that an event
of one kind reaches, and one of them with its tables."""

from __future__ import annotations

from anyhook.model.event import EVENTS, Event
from anyhook.model.hook import ARMED, BROKEN, DISABLED, Hook
from anyhook.model.record import Record
from anyhook.tables.patterns import BadPattern, PatternTimeout
from anyhook.tables.registry import dialect
from anyhook.tables.translate import spellings, to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from anyhook.engine.rules import Remembering
    from anyhook.gates.gate import GateStatus
    from anyhook.model.decision import Decision
    from anyhook.model.outcome import Outcome
    from anyhook.model.problem import Problem
    from anyhook.platform.places import Stamp
    from anyhook.state.settings import Settings
    from anyhook.tables.host_rows import EntryFault
    from anyhook.tables.rows import Dialect, EventRow

    Callback = Callable[[Event], Outcome | None]


class Catalog(Record):
    """All hooks, in the order in which they would run, and what is wrong with the rest."""

    hooks: list[Hook]
    problems: list[Problem]
    config: Settings
    stamps: dict[str, Stamp | None]
    contents: Mapping[str, str] = {}
    complete: bool = True
    """False if an executable has not been asked for its event yet, or time ran out."""
    gone: tuple[Hook, ...] = ()
    """Hooks that were approved and are no longer declared, as their approvals describe them."""
    entries: tuple[EntryFault, ...] = ()
    """What is wrong with our entries in agents."""
    serves: str = ""
    """The agent whose calls are answered, if it is one."""
    has_model: bool = False
    """Whether the caller has a model for handlers that ask one, whatever the settings name."""
    known_by: str = ""
    """Its fingerprint, if that is known."""
    made: dict[object, Any] | None = None
    """What was made from it before and holds for the next call too, in a process that keeps its plan."""

    def for_event(self, event: str) -> list[Hook]:
        """The hooks of one event. A hook that has not named its event yet may be for any."""
        return [hook for hook in self.hooks if event in hook.events or (not hook.native_event and _may_be(hook, event))]

    def with_lines(self) -> Catalog:
        """The same catalog, with the line of each hook's declaration."""
        from anyhook.documents.files import Files

        files = Files()
        places: dict[str, list[tuple[str | int, ...]]] = {}
        for hook in self.hooks:
            if hook.place:
                places.setdefault(hook.source, []).append(hook.place)
        lines = {path: files.lines(path, wanted) for path, wanted in places.items()}  # it never raises
        return self.replace(
            hooks=[hook.replace(line=lines[hook.source].get(hook.place)) if hook.place else hook for hook in self.hooks]
        )

    def by_event(self) -> dict[str, list[int]]:
        """Event → the positions of its hooks, for events that have any."""
        found: dict[str, list[int]] = {}
        for position, hook in enumerate(self.hooks):
            events = hook.events if hook.native_event else [event for event in EVENTS if _may_be(hook, event)]
            for event in dict.fromkeys((*events, *hook.listens)):
                found.setdefault(event, []).append(position)
        return found


def _may_be(hook: Hook, event: str) -> bool:
    """Whether a hook that has not named its event may be for this one."""
    return event in hook.events or (hook.status != DISABLED and dialect(hook.dialect).row_for(event) is not None)


class HookStep(Record):
    """One hook of an event, with its tables and what is known before the event is looked at."""

    hook: Hook
    dialect: Dialect
    row: EventRow
    why: str | None
    """Why it does not run; "" if it runs, None if its matcher has to see each event."""
    off: GateStatus | None = None
    """The gate, if it is off and the event is refused because the user's `off` setting is `deny`."""


class Route(Record):
    """Which hooks an event of one kind and target reaches: decided once, then looked up."""

    steps: tuple[HookStep, ...]
    quiet: Decision | None
    """The whole decision, if no hook can run, or if only callables run and all of them stay silent."""
    problems: tuple[Problem, ...]
    """Problems from loading, and which of the event's hooks wait for approval."""
    callbacks: tuple[Callback, ...] = ()
    """The callables to call, if only callables of the embedding program and built-in hooks would run."""
    builtins: tuple[HookStep, ...] = ()
    """The built-in hooks in that case. They are first asked whether they would act."""
    in_process: bool = False
    """Whether it has callbacks or builtins, so that an event without hooks needs only one check."""
    declared_again: Mapping[int, tuple[int, ...]] = {}
    """Position of a hook → the positions of later declarations of the same program in other dialects."""
    remembers: Remembering | None = None
    """What rules want to know of the event's session, whatever this event concerns."""


def as_loaded(hook: Hook, table: Dialect) -> Hook:
    """The hook; broken, if the table of its dialect cannot be loaded. A plan has hooks from a time when it could."""
    return hook.replace(status=BROKEN, why=table.broken) if table.broken and hook.status == ARMED else hook


def known(hook: Hook, table: Dialect, row: EventRow, event: Event) -> str | None:
    """Why a hook does not run, if the event's target alone decides that; see `HookStep.why`."""
    if hook.status == BROKEN and hook.native_event:
        return None  # the posture decides what a broken hook means
    if hook.status != ARMED:
        return hook.why or hook.status
    by_kind = _without_pattern(hook)
    by_content = by_kind is not hook or hook.condition is not None
    if event.hosted and not row.in_subagents and event.data.get("invoked_by") == "subagent":
        return "not for sub-agents"
    native = to_native(event, table) if event.hosted else event
    why, failed = match(by_kind, table, row, native, event)
    return why or (None if by_content or failed else "")


def _without_pattern(hook: Hook) -> Hook:
    """The hook without what its matcher wants of an event's content."""
    if not isinstance(hook.matcher, dict) or "pattern" not in hook.matcher:
        return hook
    return hook.replace(matcher={key: value for key, value in hook.matcher.items() if key != "pattern"})


def match(
    hook: Hook, dialect: Dialect, row: EventRow, native: Event, event: Event | None = None
) -> tuple[str | None, str]:
    """Whether a hook wants an event. The first value is None for a match, else why it does not match. The second says
    how the matcher itself failed, if it did: the posture for broken hooks then decides. `event` is the same event with
    its host's names, which count too: the first that matches, else the last."""
    why: str | None = None
    failed = ""
    for spelled in spellings(native, event, dialect) if event is not None and event.hosted else (native,):
        try:
            why, failed = dialect.match(hook, spelled, row), ""
        except PatternTimeout:
            why, failed = None, f"its matcher {hook.matcher!r} took too long on this event"
        except BadPattern as error:
            why, failed = None, f"its matcher {hook.matcher!r} is not a valid pattern: {error.what}"
        except Exception as error:  # noqa: BLE001 (whatever it is, it is this hook's failure and nobody else's)
            from anyhook.tables.isolation import error_line

            why, failed = None, f"its matcher could not be tried on this event ({error_line(error)})"
        if not why:
            break
    return why, failed
