"""Diagnosis: what an agent's config says about our entry, without starting the agent. It can show that an entry is
dead, but not that it works: for that the agent itself must be driven."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from anyhook.documents import edit
from anyhook.documents.parse import syntax_of
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.install.changes import places
from anyhook.install.entries import (
    CLOSED,
    MARK,
    PROGRAM,
    EntryStart,
    cannot_edit,
    entry_syntax,
    event_of,
    fixes_places,
    is_our_handler,
    is_ours,
    is_own_text,
    launched,
    with_ours,
)
from anyhook.install.lean import Asked, Tools, Wanted, is_gate, left_out, passes_over, union
from anyhook.install.off_variables import turned_off_by, variable_files
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.places import lies_in
from anyhook.programs.start import StartContext, fault_of
from anyhook.state.entry_places import HOME, roots_of
from anyhook.state.installs import Installs
from anyhook.tables.host_rows import Entry, EntryFault, Host, OffSwitch
from anyhook.tables.patterns import names_only
from anyhook.tables.registry import HOSTS, special
from anyhook.tables.registry import host as host_of

if TYPE_CHECKING:
    from anyhook.tables.host_rows import Approval, Approvals

Status = Literal["INERT", "REFUSING", "UNKNOWN", "NOT_INSTALLED"]
ARMED: Final = "ARMED"
INERT: Final = "INERT"
REFUSING: Final = "REFUSING"
UNKNOWN: Final = "UNKNOWN"
NOT_INSTALLED: Final = "NOT_INSTALLED"
OFF_SETTINGS = (OffSwitch(("disableAllHooks",)), OffSwitch(("hooksConfig", "enabled"), False))
"""Settings of any agent that turn all hooks off."""
APPROVED = "the entry is in place and approved in the agent; only the agent itself can show that it calls it"
WAITS_WHY = {
    "missing": "has not approved the entry for {0} in {1}",
    "changed": "has approved another form of the entry for {0} in {1}",
}
MOVABLE = (
    "the entry was written by an earlier version and does not name its home: a project's environment can move your"
    " guards away; install it again: anyhook install {0}"
)
IN_PLACE = "the entry is in place; only the agent itself can show that it calls it"
LISTED_OFF = ("hooksConfig", "disabled")
"""A setting that names hooks to be left out, as our handlers are named in such agents."""
EVERYTHING = (None, "", "*", ".*")
"""Matchers that match everything."""
MODULE_CLOSED = "const CLOSED = true"
MODULE_LIMIT = re.compile(r"const SECONDS = ([0-9]{1,6}(?:\.[0-9]{1,6})?)\b")


class Diagnosis(Record):
    """What is known about one agent."""

    installed: tuple[str, ...]
    status: Status
    reason: str
    scopes: tuple[str, ...] = ()
    """Where our entry is."""
    closed: bool = False
    """Whether it refuses if we cannot be run."""
    asked: Asked = MappingProxyType({})
    """Where the agent calls us."""
    approved: bool = False
    """Whether the agent's own record approves our entry as it is now."""
    waits: str = ""
    """Why the agent does not call our entry yet: the approval that it wants from its user is not there."""
    blocked: str = ""
    """Why our entry cannot be added to the agent's config."""
    hint: str = ""
    """What would make it better."""
    fixed: tuple[str, ...] = ()
    """The words of our entry, whose options name the places that count in it."""


class OurHandler(Record):
    """Our handler for one event, in an agent's file."""

    path: str
    event: str
    """The agent's own name."""
    command: str
    """"" if a module calls us."""
    matcher: Json = None
    dead: str = ""
    """Why its program cannot be started."""
    limit_s: float = 0.0
    """How long the agent waits for it, as its file says; 0 if that does not say."""

    @property
    def narrow(self) -> bool:
        return self.matcher not in EVERYTHING

    @property
    def closed(self) -> bool:
        return CLOSED in self.command

    @property
    def tools(self) -> Tools:
        """The tools that its matcher names for certain; None for every tool."""
        if not self.narrow:
            return None
        return (names_only(self.matcher) if isinstance(self.matcher, str) else None) or frozenset()


LAUNCHER, MODULE_PLACES = "const LAUNCHER = ", "const PLACES = "


def diagnose(host: Host, home: str, project: str, env: Mapping[str, str], wanted: Wanted | None = None) -> Diagnosis:
    """Where our entry is, and what would keep it from working. `wanted` is what the hooks there need: an entry may
    leave out other events that cannot be blocked (`install --lean`)."""
    entry = host.entry
    if entry is None:
        return Diagnosis((), NOT_INSTALLED, "its own hook files are read by anyhook as they are")
    host = on_demand(host, wanted)
    scopes, handlers, wrong = _entries(host, entry, home, project, env)
    found = tuple(path for path, _ in scopes)
    if not found:
        blocked = _blocked(host, entry, places(host, entry, next(iter(entry.files)), home, project, env))
        return Diagnosis((), NOT_INSTALLED, blocked or f"anyhook install {host.name}", blocked=blocked)
    closed = any(map(is_closed, found)) or any(each.closed for each in handlers)
    approved, waits, off = _approval(host, entry, found, roots_of(entry, home, project, env))
    # A file that cannot be read, and a setting that turns hooks off, come first: then no entry is called at all.
    wrong += [why for why in (*off, *_switched_off(host, entry, home, project, env)) if why not in wrong]
    hint, asked = _hint(host, scopes, handlers), _asked(handlers)
    status, why = _fault(host, handlers, wrong, closed=closed)
    if status == UNKNOWN:
        state = waits or _left_out(host, asked, wanted) or (APPROVED if approved else IN_PLACE)
        why = f"{state}; {hint}" if hint else state
    within = tuple({scope: None for _, scope in scopes})
    return Diagnosis(found, status, why, within, closed, asked, approved, waits, "", hint, _fixed(handlers))


def _entries(
    host: Host, entry: Entry, home: str, project: str, env: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[OurHandler], list[str]]:
    """The files that have our entry, with their scopes; our handlers there; and which files cannot be read."""
    scopes: list[tuple[str, str]] = []
    handlers: list[OurHandler] = []
    wrong: list[str] = []
    for scope in entry.files:
        for path, native in places(host, entry, scope, home, project, env).items():
            text = _text(path)
            if text is None or not _is_about_us(text, host, entry):
                continue
            scopes.append((path, scope))
            try:
                handlers += [each.replace(dead=_dead(each, env)) for each in _handlers(path, text, host, entry, native)]
            except edit.CannotEdit as error:
                wrong.append(f"{path} cannot be read, so the agent finds no hooks in it: {error}")
    return scopes, handlers, wrong


def _hint(host: Host, scopes: list[tuple[str, str]], handlers: list[OurHandler]) -> str:
    movable = any((each.path, "user") in scopes and not fixes_places(each.command) for each in handlers)
    return MOVABLE.format(host.name) if movable else ""


def _fixed(handlers: list[OurHandler]) -> tuple[str, ...]:
    """The words of an entry that fixes its home."""
    return next((words for each in handlers if HOME in (words := tuple(launched(each.command)[0]))), ())


def _fault(host: Host, handlers: list[OurHandler], wrong: list[str], *, closed: bool) -> tuple[Status, str]:
    """What keeps our entries from working, if anything does."""
    if wrong:
        return INERT, wrong[0]
    dead = next((each for each in handlers if each.dead), None)
    if dead is not None and (closed or host.without_us == "refuses"):
        again = f"anyhook install {host.name}"
        return REFUSING, f"{dead.path}: {dead.dead}. The agent refuses every call until it is there: {again}"
    gap = next(_gaps(host, handlers), "")
    return (INERT, gap) if gap else (UNKNOWN, "")


def _blocked(host: Host, entry: Entry, paths: Collection[str]) -> str:
    """Why `install` would leave the agent's config alone, and what to do; "" if it would not."""
    for path in paths if not entry.owned else ():
        text = _text(path)
        try:
            with_ours(text or "", host, entry, EntryStart((PROGRAM,)), {})
        except edit.CannotEdit as error:
            return cannot_edit(path, host, error)
    return ""


def _approval(host: Host, entry: Entry, paths: Sequence[str], roots: Mapping[str, str]) -> tuple[bool, str, list[str]]:
    """Whether the agent's own record approves every gate of one of our entries; if not, what is missing, and what is
    turned off there."""
    waits: list[str] = []
    off: list[str] = []
    read: Approvals | None = special(host.name, "APPROVALS")
    if read is None:
        return False, "", []
    for path in paths:
        try:
            text = _text(path) or ""
            document = edit.read(text, entry_syntax(entry, text))
        except edit.CannotEdit:
            continue
        words = read(roots, path, document, lambda handler: is_our_handler(handler, host))
        if words is None:
            return False, "", []
        needed = {row.native: words.get(row.native, "missing") for row in host.events if row.installed and is_gate(row)}
        if set(needed.values()) == {"given"}:
            return True, "", []
        word, event = _not_given(needed)
        waits += [f"{host.title} {WAITS_WHY[word].format(event, path)}: {host.confirm}"] if word in WAITS_WHY else []
        off += [f"{path}: {host.title} has its hook for {event} turned off; turn it on there"] if word == "off" else []
    return False, waits[0] if waits else "", off if not waits else []


def _not_given(needed: Mapping[str, Approval]) -> tuple[Approval, str]:
    """What the record says instead of an approval, and for which events."""
    word = next(word for word in needed.values() if word != "given")
    same = [event for event, other in needed.items() if other == word]
    return word, "any event" if len(same) == len(needed) else ", ".join(same)


def _left_out(host: Host, asked: Asked, wanted: Wanted | None) -> str:
    """What the entry leaves out, if anything, and whether a hook needs it."""
    again = f"install it again: anyhook install {host.name}"
    for event, tools in wanted.items() if wanted is not None else ():
        missed = passes_over(host, asked, event, tools)
        if missed:
            return f"the entry leaves out {missed}, but a hook here wants that; {again} --lean"
    told = ", ".join(left_out(host, asked))
    if told and wanted is not None:
        return f"the entry is in place; it leaves out {told}, which no hook here wants"
    return f"the entry leaves out {told}; {again}" if told else ""


def _gaps(host: Host, handlers: list[OurHandler]) -> Iterator[str]:
    """The gates for which the agent would not call us, and why."""
    again = f"install it again: anyhook install {host.name}"
    for row in host.events:
        if not row.installed or not is_gate(row):
            continue
        there = [handler for handler in handlers if handler.event == row.native]
        alive = [handler for handler in there if not handler.dead]
        if any(not handler.narrow for handler in alive):
            continue
        if alive:
            yield f"{alive[0].path}: the entry for {row.native} is narrowed to {alive[0].matcher!r}; {again}"
        elif there:
            yield f"{there[0].path}: {there[0].dead}; {again}"
        else:
            yield f"there is no entry for {row.native}, so the agent does not ask there; {again}"


def _asked(handlers: list[OurHandler]) -> dict[str, Tools]:
    """The events for which the agent calls us, and the tools."""
    found: dict[str, list[Tools]] = {}
    for handler in handlers:
        if not handler.dead:
            found.setdefault(handler.event, []).append(handler.tools)
    return {event: union(some) for event, some in found.items()}


def on_demand(host: Host, wanted: Collection[str] | None, there: Collection[str] = ()) -> Host:
    """The same host, with on-demand events only if a hook needs them or if they were there before: the hook may be in
    another project."""
    return host.replace(
        events=tuple(
            row.replace(installed=True)
            if row.on_demand and (row.native in there or not set(wanted or ()).isdisjoint(row.canonical))
            else row
            for row in host.events
        )
    )


def entered(host: Host, entry: Entry, path: str) -> set[str]:
    """The agent's events for which a file has our entry."""
    text = _text(path)
    try:
        return {handler.event for handler in _handlers(path, text, host, entry, "")} if text else set()
    except edit.CannotEdit:
        return set()


def _text(path: str) -> str | None:
    try:
        return read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except (OSError, UnicodeDecodeError, Unreadable):
        return None


def is_closed(path: str) -> bool:
    """Whether a file has our closed entry, which refuses if we cannot be run."""
    text = _text(path) or ""
    return CLOSED in text or (MARK in text and MODULE_CLOSED in text)


def _is_about_us(text: str, host: Host, entry: Entry) -> bool:
    if entry.owned:
        return is_own_text(text, host) or f"bridge {host.name}" in text
    return f"bridge {host.name}" in text


def _handlers(path: str, text: str, host: Host, entry: Entry, native: str) -> Iterator[OurHandler]:
    """Our handlers in one file; raises CannotEdit if its syntax is wrong."""
    match entry.style:
        case "scripts":
            commands = [line.removeprefix("exec ") for line in text.splitlines()]
            yield from (OurHandler(path, native, command) for command in commands if is_ours(command, host))
        case "module":
            yield from _in_module(path, text, host)
        case _:
            syntax = "toml" if entry.style == "tables" else entry_syntax(entry, text)
            yield from _in_document(path, edit.at(edit.read(text, syntax), entry.under), host, entry)


def _in_module(path: str, text: str, host: Host) -> Iterator[OurHandler]:
    if LAUNCHER not in text:  # files that a plug-in needs next to it
        return
    waits = MODULE_LIMIT.search(text)
    limit_s = float(waits.group(1)) if waits is not None else 0.0
    command = f"{_listed(text, LAUNCHER)} {_listed(text, MODULE_PLACES)}".rstrip()
    for row in host.events:
        if row.installed:
            yield OurHandler(path, row.native, command, limit_s=limit_s)


def _in_document(path: str, hooks: Json, host: Host, entry: Entry) -> Iterator[OurHandler]:
    listed = [("", None, handler) for handler in hooks] if isinstance(hooks, list) else _grouped(hooks)
    for event, matcher, handler in listed:
        command = next((str(value) for value in _values(handler) if is_ours(value, host)), None)
        if command is not None:
            named = event or event_of(command, host)
            yield OurHandler(path, named, command, matcher, limit_s=_limit_s(handler, entry.handler))


LIMIT_UNITS = {"{seconds}": 1.0, "{milliseconds}": 1000.0}


def _limit_s(handler: Json, template: Mapping[str, Json]) -> float:
    """The limit in a handler, at the key where we write it."""
    given = handler if isinstance(handler, dict) else {}
    for key, written in template.items():
        found = given.get(key)
        if isinstance(written, dict) and (inner := _limit_s(found, written)):
            return inner
        if isinstance(written, str) and written in LIMIT_UNITS and isinstance(found, (int, float)) and found:
            return max(found / LIMIT_UNITS[written], 0.001)
    return 0.0


def entry_faults(installs: Installs, project: str, look: Callable[[str], object]) -> Iterator[EntryFault]:
    """The entries that are gone, or whose limits are shorter than they were: of the user, and of this project. `look`
    is called with each file that this depends on."""
    for path, known in installs.known.items():
        entry = host_of(known.agent).entry if known.agent in HOSTS else None
        if entry is None or (known.scope != "user" and not lies_in(path, project)):
            continue
        if os.path.basename(path) in map(os.path.basename, entry.beside):
            continue  # it calls nobody
        look(path)
        yield from _faults(host_of(known.agent), entry, path)


def _faults(host: Host, entry: Entry, path: str) -> Iterator[EntryFault]:
    text = _text(path)
    native = os.path.basename(path) if entry.style == "scripts" else ""
    try:
        handlers = list(_handlers(path, text, host, entry, native)) if text is not None else []
    except edit.CannotEdit as error:
        yield EntryFault(host.name, path, 0.0, f"{path} cannot be read, so {host.title} finds no hooks in it: {error}")
        return
    if not handlers:
        why = f"the entry of {host.title} is gone from {path}; if that is right: anyhook uninstall {host.name}"
        yield EntryFault(host.name, path, 0.0, why)
    rows = {row.native: row for row in host.events if is_gate(row)}
    short = [each.limit_s for each in handlers if each.event in rows and each.limit_s < rows[each.event].limit_s]
    if any(short):
        yield EntryFault(host.name, path, min(filter(None, short)), f"{path} lets {host.title} wait only")


def _values(handler: Json) -> Iterator[Json]:
    """A handler's values, those of an object inside it included."""
    for value in handler.values() if isinstance(handler, dict) else ():
        yield from _values(value) if isinstance(value, dict) else (value,)


def _grouped(hooks: Json) -> Iterator[tuple[str, Json, Json]]:
    """Event, matcher and handler of a JSON file, whether its handlers are in groups or not."""
    for event, listed in hooks.items() if isinstance(hooks, dict) else ():
        for item in listed if isinstance(listed, list) else ():
            inner = item.get("hooks") if isinstance(item, dict) else None
            matcher = item.get("matcher") if isinstance(item, dict) else None
            for handler in inner if isinstance(inner, list) else [item]:
                yield event, matcher, handler


def _listed(module: str, start: str) -> str:
    """A list of words in a module, as a command line."""
    for line in module.splitlines():
        if line.startswith(start):
            try:
                return shlex.join(map(str, json.loads(line.removeprefix(start))))
            except (ValueError, TypeError):
                break
    return ""


def _dead(handler: OurHandler, env: Mapping[str, str]) -> str:
    """Why the program of an entry cannot be started, or ""."""
    words, _ = launched(handler.command) if handler.command else ([], False)
    if not words:
        return ""
    fault = fault_of(words[:1], StartContext(env, "/"))
    return f"it calls {words[0]}, which cannot be run ({fault.what})" if fault is not None else ""


def _switched_off(host: Host, entry: Entry, home: str, project: str, env: Mapping[str, str]) -> Iterator[str]:
    """What in the agent's own settings and variables keeps it from running our entry, in every layer."""
    for path in looked_at(host, entry, home, project, env):
        text = _text(path)
        if text is not None:
            yield from (
                f"{path}: {why}" for why in turned_off(text, str(entry.handler.get("name")), host.switches, path)
            )
    yield from turned_off_by(host, roots_of(entry, home, project, env), env)


def looked_at(host: Host, entry: Entry, home: str, project: str, env: Mapping[str, str]) -> list[str]:
    """The files that say whether the agent calls us: its settings, and where our entry goes."""
    roots = roots_of(entry, home, project, env)
    own = [path for scope in entry.files for path in places(host, entry, scope, home, project, env)]
    return [*dict.fromkeys([*(_filled(path, roots) for path in host.settings), *own, *variable_files(host, roots)])]


def _filled(path: str, roots: Mapping[str, str]) -> str:
    for name, folder in roots.items():
        path = path.replace(f"{{{name}}}", folder)
    return path


def turned_off(
    text: str, ours: str, switches: tuple[OffSwitch, ...] = OFF_SETTINGS, path: str = "settings.json"
) -> Iterator[str]:
    """What in an agent's config keeps it from running any hooks, or the one with our name."""
    for switch in switches:
        if not switch.key and any(str(switch.value) in line for line in text.splitlines()):
            yield "it names our entry, so the agent leaves it out; take those lines out"
            return
    try:
        document = edit.read(text, syntax_of(path, text))
    except edit.CannotEdit:
        return
    for switch in (*OFF_SETTINGS, *(switch for switch in switches if switch.key and switch not in OFF_SETTINGS)):
        value, name = edit.at(document, switch.key), ".".join(switch.key)
        if isinstance(value, bool) and value is switch.value:
            yield f"`{name}` is {str(value).lower()}, so the agent runs no hooks; remove it, or change it"
    off = edit.at(document, LISTED_OFF)
    if isinstance(off, list) and ours in off:
        yield f"`{'.'.join(LISTED_OFF)}` names `{ours}`, so the agent leaves our entry out; take the name out"
