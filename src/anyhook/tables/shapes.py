"""Shapes: the two ways in which config files list hooks, read entry by entry. One bad entry is a problem and does not
affect the others; nothing here knows a product."""

from __future__ import annotations

from anyhook.model.hook import BROKEN, Hook, Source
from anyhook.model.problem import ERROR, WARNING
from anyhook.model.record import Record
from anyhook.programs.commands import STARTERS, calls_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from anyhook.documents.files import Files
    from anyhook.model.json_types import Json
    from anyhook.model.words import HandlerKind, Severity
    from anyhook.tables.rows import EventRow, Limits

    Place = tuple[str | int, ...]

MAX_GUESSED = 100
"""Longer words are not typos, and comparing them takes long."""
MAX_LIMIT_S = 1e9
"""The longest time limit: locks cannot wait ten times longer."""


class HandlerShape(Record):
    """One kind of handler: its required key, the keys it may have, and how to check the first."""

    kind: HandlerKind
    needs: str
    keys: tuple[str, ...]
    check: Callable[[Json], str | None]
    """What is wrong with the value of `needs`, or None."""
    split: Callable[[Json], list[str]] | None = None
    """Splits the value into `argv`, if the command is not a shell line."""


class EntryShape(Record):
    """What the loaders need to know about a dialect's file."""

    dialect: str
    events: tuple[EventRow, ...]
    handlers: tuple[HandlerShape, ...]
    limits: Mapping[str, Limits]
    timeout_key: str = "timeout"
    top_keys: frozenset[str] | None = None
    """Known keys besides `hooks`; None if the file also has other contents."""
    check_matcher: Callable[[Json], str | None] | None = None
    matcher_may_be_ignored: bool = False
    """Whether an event without a target ignores the matcher, right or wrong."""
    refuses: Callable[[str, str], str | None] | None = None
    """Why a kind of handler is not allowed on a native event, or None."""
    group_keys: tuple[str, ...] = ()
    """What else an entry may have; each of its handlers gets it."""
    default_kind: str = ""
    """The type of a handler that names none."""
    under: tuple[str, ...] = ("hooks",)
    """The keys that lead to the handlers; () if the file holds nothing else."""
    matcher_key: str = "matcher"
    flat: tuple[str, ...] = ()
    """Events whose lists may hold handlers where the others hold groups."""
    own_keys: tuple[str, ...] = ()
    """Keys beside the events under which the product keeps its own data."""


def guess(word: str, known: Iterable[str]) -> str:
    """` Did you mean …?` if one is likely, otherwise ""."""
    import difflib

    if len(word) > MAX_GUESSED:
        return ""
    near = difflib.get_close_matches(word, list(known), 1, 0.6) or [
        name for name in known if name.lower().replace("_", "") == word.lower().replace("_", "")
    ]
    return f" Did you mean `{near[0]}`?" if near else ""


def type_name(value: Json) -> str:
    """The name of a JSON type, for messages."""
    if value is None:
        return "null"
    names = {bool: "true/false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names[type(value)]


def canonical(value: Json) -> str:
    """The one spelling of a declaration that approvals pin."""
    import json

    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def short_name(argv: list[str]) -> str:
    """What people call a command: its script where an interpreter runs one, else its program. Names are shown and kept
    everywhere, so nothing that may be a secret is part of one: no variable's value, no password or query."""
    words = [_last_part(word) for word in argv]
    for word in words:
        if word == "-c":  # what follows is a program's text, and no name
            break
        if word and word not in STARTERS and not word.startswith("-"):
            return word
    return words[0] or "hook" if words else "hook"


def _last_part(word: str) -> str:
    """The usual short name of a path or an address, without variable assignments."""
    name, sign, _ = word.partition("=")
    if sign and name.isidentifier():
        return ""
    if "://" in word:
        word = word.partition("?")[0].rpartition("@")[2].rstrip("/")
    return word.rsplit("/", 1)[-1]


def slug(name: str) -> str:
    """A name fit for an id: letters, digits, dot, dash and underscore."""
    kept = "".join(char if char.isalnum() or char in "._-" else "-" for char in name[:48])
    return kept.strip("-") or "hook"


def numbered(hooks: list[Hook]) -> list[Hook]:
    """Unique ids, by the order of declaration, so that they are stable from run to run."""
    seen: dict[str, int] = {}
    for index, hook in enumerate(hooks):
        count = seen[hook.id] = seen.get(hook.id, 0) + 1
        if count > 1:
            hooks[index] = hook.replace(id=f"{hook.id}~{count}")
    return hooks


def read_limit(value: Json, limits: Limits) -> tuple[float | None, str]:
    """Seconds, and what was wrong with the value ("" if nothing). None for seconds means: skip the hook."""
    if value is None:
        return limits.default_s, ""
    if limits.read is not None:
        return limits.read(value, limits.replace(read=None))
    number = _finite(value)
    if number is None or (number <= 0 and not limits.min_s):
        return limits.default_s, f"{_short(value)} is not a duration"
    seconds = number * limits.unit_s
    if limits.min_s and seconds < limits.min_s:
        return limits.min_s, f"{_short(value)} is below the least, {limits.min_s / limits.unit_s:g}"
    if limits.max_s and seconds > limits.max_s:
        return limits.max_s, f"{_short(value)} is above the most, {limits.max_s / limits.unit_s:g}"
    if seconds > MAX_LIMIT_S:
        return MAX_LIMIT_S, f"{_short(value)} is more than any clock here can wait, {MAX_LIMIT_S / limits.unit_s:g}"
    return seconds, ""


def _finite(value: Json) -> float | None:
    """A number as a float; None if it is not a number, or too large for a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) < float("inf") else None  # and not NaN


def _short(value: Json) -> str:
    """A value as written; a long one without its middle."""
    text = canonical(value)
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} characters)"


class Entries:
    """Reads one file's `hooks` into hooks."""

    def __init__(self, source: Source, files: Files, shape: EntryShape) -> None:
        self.source = source
        self.files = files
        self.shape = shape
        self.rows = {row.native: row for row in shape.events}
        self.hooks: list[Hook] = []
        self.under = shape.under
        self.named: list[str] = []
        """The events for which the file has a list."""

    def complain(self, code: str, what: str, place: Place, fix: str, severity: Severity = ERROR) -> None:
        named = place[len(self.under)] if len(place) > len(self.under) else ""
        event = named if isinstance(named, str) and named in self.rows else ""
        self.files.problem_at(code, what, self.source.path, place, fix=fix, severity=severity, event=event)

    def likely(self, word: str, known: Iterable[str]) -> str:
        """A guess, while there are few problems: guessing for each of a million words would take minutes."""
        return "" if self.files.full(self.source.path) or len(word) > 100 else guess(word, known)

    def unknown_keys(self, value: Mapping[str, Json], known: Iterable[str], place: Place, owner: str) -> None:
        known = list(known)
        for key in value:
            if key not in known:
                fix = f"Known keys: {', '.join(known)}.{self.likely(key, known)}"
                self.complain(
                    "unknown-key", f"{owner} has an unknown key `{key}`; it is ignored", (*place, key), fix, WARNING
                )

    def event_lists(self, document: Json) -> list[tuple[str, list[Json]]]:
        """The lists under `hooks`, of known events only."""
        if not isinstance(document, dict):
            self.complain(
                "wrong-type", f"the file must hold an object, not {type_name(document)}", (), "Start with `{`."
            )
            return []
        if self.shape.top_keys is not None and self.under:
            self.unknown_keys(document, (self.under[0], *sorted(self.shape.top_keys)), (), "the file")
        hooks: Json = document
        for depth, key in enumerate(self.under, 1):
            hooks = hooks.get(key) if isinstance(hooks, dict) else None
            if hooks is None:
                return []
            if not isinstance(hooks, dict):
                what = f"`{'.'.join(self.under[:depth])}` must be an object, not {type_name(hooks)}"
                self.complain("wrong-type", what, self.under[:depth], "Map event names to lists.")
                return []
        found: list[tuple[str, list[Json]]] = []
        for event, entries in hooks.items() if isinstance(hooks, dict) else ():
            place: Place = (*self.under, event)
            if event not in self.rows:
                self.unknown_event(event, entries, place)
            elif not isinstance(entries, list):
                self.complain(
                    "wrong-type", f"`{event}` must hold a list, not {type_name(entries)}", place, "Wrap it in [ ]."
                )
            else:
                found.append((event, entries))
        self.named = [event for event, _ in found]
        return found

    def unknown_event(self, name: str, value: Json, place: Place) -> None:
        """A key beside the events is judged by its shape: a list of entries is a misspelt event, and a guard may be
        lost with it; anything else is the product's own data."""
        fix = f"Events: {', '.join(self.rows)}.{self.likely(name, self.rows)}"
        if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
            if not self.calls_us(value):
                self.complain("unknown-event", f"`{name}` is not an event here; its hooks are ignored", place, fix)
        elif name in (*self.shape.own_keys, "$schema"):
            return
        elif value == []:
            self.complain("unknown-event", f"`{name}` is not an event here; its list is empty", place, fix, WARNING)
        else:
            what = f"`{name}` is not an event here and holds no list of hooks; it is left to the product"
            self.complain("unknown-key", what, place, fix, WARNING)

    def calls_us(self, entry: Json) -> bool:
        """Whether `anyhook install` wrote this entry, or all of a list: as hooks they would only call themselves."""
        if isinstance(entry, list):
            return bool(entry) and all(map(self.calls_us, entry))
        if not isinstance(entry, dict):
            return False
        if "hooks" in entry:
            return self.calls_us(entry["hooks"])
        return any(shape.kind == "command" and calls_us(entry.get(shape.needs)) for shape in self.shape.handlers)

    def flat(self, document: Json) -> list[Hook]:
        """Each list holds handlers themselves."""
        for event, entries in self.event_lists(document):
            for index, entry in enumerate(entries):
                self.handler(event, entry, None, (*self.under, event, index), self.shape.handlers[0])
        return numbered(self.hooks)

    def listed(self, document: Json) -> list[Hook]:
        """Each list holds handlers of several types, with their matchers."""
        for event, entries in self.event_lists(document):
            for index, entry in enumerate(entries):
                matcher = entry.get(self.shape.matcher_key) if isinstance(entry, dict) else None
                self.typed_handler(event, entry, matcher, (*self.under, event, index))
        return numbered(self.hooks)

    def rows_of(self, document: Json, event_key: str) -> list[Hook]:
        """One list of handlers; each names its event."""
        listed: Json = document
        for key in self.under:
            listed = listed.get(key) if isinstance(listed, dict) else None
        if listed is not None and not isinstance(listed, list):
            name = ".".join(self.under)
            self.complain("wrong-type", f"`{name}` must hold a list, not {type_name(listed)}", self.under, "Use [ ].")
        for index, entry in enumerate(listed if isinstance(listed, list) else []):
            place: Place = (*self.under, index)
            event = entry.get(event_key) if isinstance(entry, dict) else None
            if event not in self.rows and self.calls_us(entry):
                continue
            if not isinstance(entry, dict) or event not in self.rows:
                hint = self.likely(str(event), self.rows)
                fix = f"Events: {', '.join(self.rows)}.{hint}"
                what = f"`{event_key}` {canonical(event)} is not an event here; its hook is ignored"
                self.complain("unknown-event", what, place, fix)
                continue
            given = {key: value for key, value in entry.items() if key != event_key}
            self.typed_handler(str(event), given, entry.get(self.shape.matcher_key), place)
        return numbered(self.hooks)

    def grouped(self, document: Json) -> list[Hook]:
        """Each list holds entries of a matcher and its handlers."""
        for event, entries in self.event_lists(document):
            for index, entry in enumerate(entries):
                place: Place = (*self.under, event, index)
                if event in self.shape.flat and isinstance(entry, dict) and "hooks" not in entry:
                    self.typed_handler(event, entry, entry.get("matcher"), place)
                    continue
                if not isinstance(entry, dict):
                    self.complain(
                        "wrong-type",
                        f"an entry must be an object, not {type_name(entry)}; it is ignored",
                        place,
                        'Write {"matcher": …, "hooks": […]}.',
                    )
                    continue
                self.unknown_keys(entry, ("matcher", "hooks", *self.shape.group_keys), place, "an entry")
                handlers = entry.get("hooks")
                if not isinstance(handlers, list) or not handlers:
                    self.complain(
                        "wrong-type",
                        "an entry needs a list of handlers under `hooks`; it is ignored",
                        place,
                        'Add "hooks": [{"type": "command", "command": "…"}].',
                    )
                    continue
                shared = {key: entry[key] for key in self.shape.group_keys if key in entry}
                for number, handler in enumerate(handlers):
                    given = {**handler, **shared} if shared and isinstance(handler, dict) else handler
                    self.typed_handler(event, given, entry.get("matcher"), (*place, "hooks", number))
        return numbered(self.hooks)

    def typed_handler(self, event: str, handler: Json, matcher: Json, place: Place) -> None:
        kinds = {shape.kind: shape for shape in self.shape.handlers}
        if not isinstance(handler, dict):
            self.complain(
                "wrong-type",
                f"a handler must be an object, not {type_name(handler)}; it is ignored",
                place,
                "Write an object with `type`.",
            )
            return
        kind = handler.get("type", self.shape.default_kind or None)
        if not isinstance(kind, str) or kind not in kinds:
            fix = f"Types: {', '.join(kinds)}.{guess(str(kind), kinds)}"
            self.complain(
                "unknown-handler",
                f"handler type {canonical(kind)} is not known here; it is ignored",
                (*place, "type"),
                fix,
            )
            return
        refusal = self.shape.refuses(kind, event) if self.shape.refuses else None
        if refusal:
            self.complain("handler-not-allowed", refusal, place, "Move it to another event, or use another type.")
            return
        self.handler(event, handler, matcher, place, kinds[kind], typed=True)

    def handler(
        self, event: str, handler: Json, matcher: Json, place: Place, shape: HandlerShape, *, typed: bool = False
    ) -> None:
        if not isinstance(handler, dict):
            self.complain(
                "wrong-type",
                f"a hook must be an object, not {type_name(handler)}; it is ignored",
                place,
                f"Write an object with `{shape.needs}`.",
            )
            return
        known = (*(("type",) if typed else ()), *shape.keys, *self.shape.group_keys)
        self.unknown_keys(handler, known, place, "a hook")
        if shape.needs not in handler:
            self.complain("missing-key", f"a hook needs `{shape.needs}`; it is ignored", place, f"Add `{shape.needs}`.")
            return
        wrong = shape.check(handler[shape.needs])
        if wrong:
            self.complain(
                "wrong-value", f"`{shape.needs}` {wrong}; the hook is ignored", (*place, shape.needs), "Correct it."
            )
            return
        limit_s, complaint = read_limit(handler.get(self.shape.timeout_key), self.shape.limits[shape.kind])
        if complaint:
            kept = "the hook is ignored" if limit_s is None else f"{limit_s:g} s apply"
            self.complain(
                "wrong-limit",
                f"`{self.shape.timeout_key}`: {complaint}; {kept}",
                (*place, self.shape.timeout_key),
                "Give a number in the documented range.",
                ERROR if limit_s is None else WARNING,
            )
        if limit_s is not None:
            self.add(event, handler, matcher, place, shape, limit_s)

    def add(
        self, event: str, handler: dict[str, Json], matcher: Json, place: Place, shape: HandlerShape, limit_s: float
    ) -> None:
        if self.calls_us(handler):
            return
        ignored = self.shape.matcher_may_be_ignored and self.rows[event].target is None
        wrong = self.shape.check_matcher(matcher) if self.shape.check_matcher and not ignored else None
        if wrong:
            self.complain("invalid-matcher", f"{wrong}; this entry cannot run", place, "Correct the matcher.")
        keys = (*shape.keys, *self.shape.group_keys)
        spec = {key: handler[key] for key in keys if key in handler and key != self.shape.timeout_key}
        words = shape.split(spec[shape.needs]) if shape.split else str(spec[shape.needs]).split()[:4]
        if shape.split:
            spec["argv"] = [*words]
        name = short_name(words)
        source = self.source
        owner = f"{source.scope}:{source.label}" if source.label else source.scope
        definition = canonical({"event": event, "matcher": matcher, "handler": handler})
        self.files.made_hook()
        hook = source.hook(
            f"{owner}:{event}:{slug(name)}", name, event, self.rows[event].canonical, spec, limit_s, place=place,
            matcher=matcher, handler=shape.kind, definition=definition, status=BROKEN if wrong else "armed",
            why=wrong or "",
        )  # fmt: skip
        self.hooks.append(hook)
