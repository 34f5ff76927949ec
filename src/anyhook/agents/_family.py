"""Dialects that are alike: commands in a shell, listed by event in a few files, and an agent that also calls us. An
agent's own module says where its files are, how its entries look, what its hooks read and how they answer."""

from __future__ import annotations

from anyhook.agents._claude_family import TOOLS
from anyhook.agents._claude_replies import COMMAND
from anyhook.model.record import Record
from anyhook.tables.vocabulary import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.documents.parse import Syntax

BASE = fields(session_id=session, transcript_path=no_transcript, cwd=project, hook_event_name=native_name)
"""The fields that most of these dialects have in every event."""
MODE = Field("permission_mode", "permission_mode")


def _of(known: set[str], events: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([event for event in events if event in known])


def _narrowed(key: Key, known: set[str]) -> Key:
    """A key with what it does on these events."""
    words = [(word, verdict, _of(known, on)) for word, verdict, on in key.words if not on or _of(known, on)]
    return key.replace(on=_of(known, key.on), words=tuple(words))


def claude_reply(events: tuple[EventRow, ...], **changes: Any) -> Reply:
    """Claude's answers for these events; `changes` are fields of `Reply`."""
    known = {canonical for row in events for canonical in row.canonical}
    narrowed = (_narrowed(key, known) for key in COMMAND.keys if key.counts(*known))
    keys = tuple(key for key in narrowed if key.words or key.does != "verdict")
    text_on = _of(known, COMMAND.text_on)
    on_event = {event: reply for event, reply in COMMAND.on_event.items() if event in known}
    return COMMAND.replace(**{"keys": keys, "text_on": text_on, "on_event": on_event, **changes})


def aliased(host: Host) -> Callable[[Hook, Event, EventRow], str | None]:
    """The matcher is a list of names, which may be Claude's names for tools; anything else is a pattern to search
    for."""
    theirs = {
        native: {name for name, row in TOOLS.items() if row.ours == tool.ours} for native, tool in host.tools.items()
    }

    def match(hook: Hook, event: Event, row: EventRow) -> str | None:
        why = named_or_found(hook.matcher, event, row, "_- ,|")
        if why is None or row.target != "tool" or not is_plain(str(hook.matcher), "_- ,|"):
            return why
        names = {name.strip() for name in str(hook.matcher).replace(",", "|").split("|")}
        return None if names & theirs.get(str(event.get("tool")), set()) else why

    return match


def placed(launch: Callable[[Hook, Scene], Launch]) -> Callable[[Hook, Scene], Launch]:
    """Adds the folder and the variables that the declaration names."""

    def launched(hook: Hook, scene: Scene) -> Launch:
        made = launch(hook, scene)
        cwd, env = hook.spec.get("cwd"), hook.spec.get("env")
        more = {key: str(value) for key, value in env.items()} if isinstance(env, dict) else {}
        folder = made.cwd if not isinstance(cwd, str) else cwd if cwd.startswith("/") else f"{scene.project}/{cwd}"
        return made.replace(env={**made.env, **more}, cwd=folder)

    return launched


class HookFile(Record):
    """One file, or one folder of files, that may hold hooks."""

    scope: HookScope
    path: str
    """`{home}`, `{project}` or a root of the host's entry comes first; a path that ends in `/` is a folder of JSON
    files."""
    label: str = ""
    under: tuple[str, ...] | None = None
    """The keys that lead to the handlers; None if they are the layout's."""
    unless: str = ""
    """If there is a file here, the one at `path` does not count."""


class Layout(Record):
    """How an agent's hook files are laid out."""

    places: tuple[HookFile, ...]
    style: ScaffoldShape = "groups"
    """`groups`, `list` or `rows`, as in `Scaffold`."""
    under: tuple[str, ...] = ("hooks",)
    event_key: str = ""
    """The key that names the event, for the style `rows`."""
    command_key: str = "command"
    """Where a new hook's command goes; dots lead into nested objects."""
    matcher_key: str = "matcher"
    keys: tuple[str, ...] = ()
    """The keys that a handler may have besides `command` and `timeout`."""
    group_keys: tuple[str, ...] = ()
    needs_type: bool = True
    """Whether every handler names its type."""
    skipped: tuple[HandlerKind, ...] = ()
    """Types of handlers that are reported and not run."""
    timeout_key: str = "timeout"
    limits: Limits = Limits(60.0)
    elsewhere: frozenset[str] = frozenset()
    """Events that happen only in the product."""
    off: tuple[tuple[str, ...], bool] | None = None
    """A switch for all hooks: where it is, and the value that turns them off."""
    own_keys: tuple[str, ...] = ()
    """Keys beside the events that are not events."""
    made: Callable[[Hook], Hook] | None = None
    """Called with every loaded hook; returns the hook to use."""
    spelled: Callable[[Json], Json] | None = None
    """Renames the keys of an entry, if a product has several names for one."""
    flat: tuple[str, ...] = ()
    opened: Callable[[Json], Json] | None = None
    """The same for a whole document."""
    mine: Callable[[Json], bool] | None = None
    """Whether a document is this agent's, if others have files in the same folder."""
    patterns: bool = True
    """Whether a matcher that is not a valid pattern keeps its hook from running."""
    top: Mapping[str, Json] = {}
    """What a new file has besides its hooks."""


def roots_of(host: Host, roots: Roots, places: Iterable[HookFile]) -> dict[str, str]:
    """The values of the words in braces in these places' paths."""
    named = "".join(place.path for place in places)
    known, asked = {"home": roots.home, "project": roots.project}, host.entry.roots if host.entry is not None else {}
    for root, (_, usual) in reversed(list(asked.items())):
        named += usual if f"{{{root}}}" in named else ""  # a root may be below one before it
    for root, (variable, usual) in asked.items():
        if f"{{{root}}}" in named:
            known[root] = roots.env.get(variable) or usual.format(**known)
    return known


def shown(host: Host, place: HookFile) -> str:
    """A place as people write it."""
    path = place.path.replace("{project}/", "")
    for root, (variable, usual) in reversed(list((host.entry.roots if host.entry is not None else {}).items())):
        if f"{{{root}}}" in path:
            path = f"{path.replace(f'{{{root}}}', usual)} ({variable})"
    path = path.replace("{home}", "~")
    return path.replace("/ (", "/*.json (") if "/ (" in path else f"{path}*.json" if path.endswith("/") else path


class Loader:
    """Finds and reads an agent's files."""

    def __init__(self, host: Host, layout: Layout, shape: EntryShape) -> None:
        self.host, self.layout, self.shape = host, layout, shape

    def find(self, roots: Roots) -> list[Source]:
        known, found = roots_of(self.host, roots, self.layout.places), []
        for place in self.layout.places:
            path = place.path.format(**known).rstrip("/")
            base = path if place.path.endswith("/") else path.rpartition("/")[0]
            root = roots.project if place.scope == "project" else base
            found.append(Source(self.shape.dialect, place.scope, path, root, place.label))
        return found

    def place_of(self, source: Source) -> HookFile:
        mine = [place for place in self.layout.places if (place.scope, place.label) == (source.scope, source.label)]
        near = [place for place in self.layout.places if source.path.endswith(place.path.rpartition("}")[2])]
        return (mine or near or list(self.layout.places))[0]

    def load(self, source: Source, files: Files) -> Layer:
        place = self.place_of(source)
        if not place.path.endswith("/") or source.path.endswith(".json"):
            return self._of_file(source, place, files)
        found: list[Hook] = []
        for name in files.names(source.path):
            if name.endswith(".json"):
                each = source.replace(path=f"{source.path}/{name}", label=name.removesuffix(".json"))
                with one_file(files, each):
                    found.extend(self._of_file(each, place, files).hooks)
        return Layer(source, tuple(found))

    def _of_file(self, source: Source, place: HookFile, files: Files) -> Layer:
        layout = self.layout
        beside = f"{source.path.rpartition('/')[0]}/{place.unless}"
        if place.unless and files.is_file(beside):
            return Layer(source, ())
        document = files.document(source.path, syntax(source.path))
        if document is None or (layout.mine is not None and not layout.mine(document)):
            return Layer(source, ())
        document = layout.opened(document) if layout.opened is not None else document
        under = layout.under if place.under is None else place.under
        if layout.style == "rows":
            document = self._rows_here(document, source, under, files)
        else:
            document = without(document, layout.elsewhere, source, files, under)
        hooks = self.read(document, source, under, files)
        off = switched(document, layout.off[0], source, files, off=layout.off[1]) if layout.off is not None else None
        return Layer(source, tuple(hooks), all_off=off)

    def _rows_here(self, document: Json, source: Source, under: tuple[str, ...], files: Files) -> Json:
        """The document without the rows of events that happen only in the product; those are reported."""
        key, elsewhere = self.layout.event_key, self.layout.elsewhere
        listed = document.get(under[0]) if isinstance(document, dict) and under else None
        if not isinstance(document, dict) or not isinstance(listed, list):
            return document
        away = [row.get(key) for row in listed if isinstance(row, dict) and row.get(key) in elsewhere]
        if away:
            without({under[0]: dict.fromkeys(map(str, away))}, elsewhere, source, files, under)
        return {**document, under[0]: [r for r in listed if not (isinstance(r, dict) and r.get(key) in elsewhere)]}

    def read(self, document: Json, source: Source, under: tuple[str, ...], files: Files) -> list[Hook]:
        """The hooks of one document."""
        layout = self.layout
        if layout.spelled is not None:
            document = _spelled(document, under, layout.spelled)
        entries = Entries(source, files, self.shape.replace(under=under))
        if layout.style == "rows":
            hooks = entries.rows_of(document, layout.event_key)
        else:
            hooks = entries.grouped(document) if layout.style == "groups" else entries.listed(document)
        return [layout.made(hook) for hook in hooks] if layout.made is not None else hooks

    def claim(self, path: str, document: Json) -> tuple[str, int]:
        if self.layout.mine is not None and not self.layout.mine(document):
            return path, 0
        for place in self.layout.places:
            end = place.path.rpartition("}")[2]
            if end.count("/") < 2:
                continue  # a name alone, such as hooks.json, does not say whose file it is
            if path.endswith(end) if not end.endswith("/") else (end in path and path.endswith(".json")):
                return path, 3
        return path, 0


def _spelled(document: Json, under: tuple[str, ...], one: Callable[[Json], Json]) -> Json:
    """The document with the keys of every entry renamed."""
    if under:
        inner = document.get(under[0]) if isinstance(document, dict) else None
        given = document if isinstance(document, dict) else {}
        return {**given, under[0]: _spelled(inner, under[1:], one)} if inner is not None else document
    if isinstance(document, list):
        return [one(entry) for entry in document]
    if not isinstance(document, dict):
        return document
    return {name: [one(e) for e in found] if isinstance(found, list) else found for name, found in document.items()}


def syntax(path: str) -> Syntax:
    return "toml" if path.endswith(".toml") else "yaml" if path.endswith((".yaml", ".yml")) else "json"


def shape_of(name: str, events: tuple[EventRow, ...], layout: Layout) -> EntryShape:
    """What the loader needs to know about an agent's files."""
    keys = ("command", layout.timeout_key, *layout.keys, *((layout.matcher_key,) if layout.style != "groups" else ()))
    skipped = layout.skipped
    return EntryShape(
        dialect=name,
        events=events,
        handlers=(
            HandlerShape("command", "command", (*dict.fromkeys(keys),), check_text),
            *(HandlerShape(kind, "type", (), check_text) for kind in skipped),
        ),
        limits={"command": layout.limits, **dict.fromkeys(skipped, layout.limits)},
        timeout_key=layout.timeout_key,
        top_keys=None,
        check_matcher=check_pattern if layout.patterns else None,
        matcher_may_be_ignored=True,
        refuses=lambda kind, _event: f"a handler of type {kind} is not run here" if kind in skipped else None,
        group_keys=layout.group_keys,
        default_kind="" if layout.needs_type else "command",
        under=layout.under,
        matcher_key=layout.matcher_key,
        flat=layout.flat,
        own_keys=(*layout.own_keys, *(layout.off[0][-1:] if layout.off is not None else ())),
    )


def family(
    host: Host,
    layout: Layout,
    events: tuple[EventRow, ...],
    reply: Reply,
    *,
    variables: Variables | None = None,
    base: tuple[Field, ...] = BASE,
    match: Callable[[Hook, Event, EventRow], str | None] = searched,
    **more: Any,
) -> Dialect:
    """A dialect of this kind; `more` are fields of `Dialect`."""
    shape = shape_of(host.name, events, layout)
    loader = Loader(host, layout, shape)
    launch, names = in_a_shell(variables or {})
    known: dict[str, Any] = {
        "files": tuple((place.scope, shown(host, place)) for place in layout.places),
        "find": loader.find,
        "claim": loader.claim,
        "load": loader.load,
        "shape": shape,
        "launch": launch,
        "names": names,
        "scaffold": _scaffold(host, layout),
        "tools": tool_rows(host),
        "replies": {"command": reply},
        "limits": {"command": layout.limits},
        "together": True,
        "at_once": always,
        "identity": same_command,
        "dense": True,
        "variables": tuple(
            variable
            for root, (variable, _) in (host.entry.roots if host.entry else {}).items()
            if any(f"{{{root}}}" in place.path for place in layout.places) and variable != "XDG_CONFIG_HOME"
        ),
    }
    return Dialect(name=host.name, title=host.title, events=events, base=base, match=match, **{**known, **more})


def same_command(hook: Hook) -> tuple[Json, ...]:
    """For products that run identical commands once."""
    return (hook.spec.get("command"),)


def each_by_itself(hook: Hook) -> tuple[Json, ...]:
    """For products that run identical commands as often as they are declared."""
    return (hook.id,)


ONE_BY_ONE: Mapping[str, Any] = {"at_once": None, "identity": each_by_itself}
"""Of products that run all hooks one after the other, each as often as it is declared."""


def _scaffold(host: Host, layout: Layout) -> Scaffold:
    """A new hook goes to the first place of its scope, and its script next to it."""
    first = {place.scope: place for place in reversed(layout.places) if place.scope in ("project", "user")}
    scripts: dict[str, str] = {}
    command: dict[str, str] = {}
    for scope, place in first.items():
        if scope == "project":
            end = place.path.removeprefix("{project}/")
            folder = end.rstrip("/") + "/scripts" if end.endswith("/") else f"{end.rpartition('/')[0] or '.'}/hooks"
            folder = f".{host.name}/hooks" if folder == "./hooks" else folder
            scripts[scope], command[scope] = f"{{project}}/{folder}", f"{folder}/{{file}}"
        else:
            scripts[scope], command[scope] = "{root}/scripts", "{script}"
    return Scaffold(
        shape=layout.style,
        scripts=scripts,
        command=command,
        declared_in=(f"{host.name}.json",) if any(place.path.endswith("/") for place in first.values()) else (),
        key=layout.command_key,
        under=layout.under,
        matcher=layout.matcher_key,
        event=layout.event_key,
        flat=layout.flat,
        fixed={} if not layout.needs_type or layout.style == "groups" else {"type": "command"},
        top=layout.top,
        tool=next(name for name, tool in host.tools.items() if tool.ours == "shell"),
    )


def misplaced(*rows: tuple[str, str]) -> tuple[Misplaced, ...]:
    """Files that people write and the agent does not read: where they are, where they belong."""
    return tuple(Misplaced(path, belongs, "hooks") for path, belongs in rows)
