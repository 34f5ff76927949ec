"""Common parts of dialects whose agents can also call us: events, payload keys and tools are derived from the agent's
host table. The only fact it adds is what a block does on each event."""

from __future__ import annotations

from anyhook.model.event import EVENTS
from anyhook.programs.commands import SHELL
from anyhook.programs.loose import words_read
from anyhook.programs.named import named_files
from anyhook.tables.cells import fixed, snake_case, utc_time
from anyhook.tables.rows import BLOCKS, EventRow, Field, Launch, Scene, ToolRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook, Source
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent
    from anyhook.tables.rows import Cell

    Variables = Mapping[str, str] | Callable[[Hook, str, str], dict[str, str]]
    """Name → text, in which names in braces stand for the call's own values; or a function of the hook, the project and
    the session. A text with `{plugin}` is for hooks of plugins alone."""

OF_THE_MAIN_AGENT = ("user_prompt_submit", "stop")
STOPS = ("stop", "subagent_stop")


def event_rows(
    host: Host,
    cells: Mapping[str, Cell] | None = None,
    extra: Mapping[str, tuple[Field, ...]] | None = None,
    untold: tuple[str, ...] = (),
    bound: int = 0,
) -> tuple[EventRow, ...]:
    """Event rows for the events that also happen in other agents. `cells` computes values of payload keys with their
    own shape, `extra` adds keys that we read nothing from, `untold` are keys that the agent's hooks do not get (`key`,
    or `event.key` for one event); `bound` is how often a block may keep the agent working."""
    return tuple(
        EventRow(
            event.native,
            event.canonical,
            BLOCKS.get(event.canonical[0]) if "block" in event.says else None,
            (*_payload(event, cells or {}, untold), *(extra or {}).get(event.native, ())),
            next(iter(EVENTS.get(event.canonical[0], ())), None),
            bound=bound if event.canonical[0] in STOPS and "block" in event.says else 0,
            in_subagents=event.canonical[0] not in OF_THE_MAIN_AGENT,
            silence=event.silence or {},
        )
        for event in host.events
        if event.canonical
    )


def _payload(event: HostEvent, cells: Mapping[str, Cell], untold: tuple[str, ...]) -> tuple[Field, ...]:
    found: dict[str, Field] = {}
    for taken in event.takes:
        key = taken.paths[0].partition(".")[0]
        if key not in untold and f"{event.native}.{key}" not in untold:
            found.setdefault(key, Field(key, cells.get(key, taken.field)))
    return tuple(found.values())


def alone(host: Host, more: Iterable[str] = ()) -> frozenset[str]:
    """Events that happen in the agent alone."""
    return frozenset((*(event.native for event in host.events if not event.canonical), *more))


def tool_rows(host: Host) -> dict[str, ToolRow]:
    """The agent's names for our own tools; the first if there are several."""
    found: dict[str, ToolRow] = {}
    for native, tool in host.tools.items():
        found.setdefault(tool.ours, ToolRow(native, tool.inputs))
    return found


# -- what their files hold


def without(
    document: Json, elsewhere: frozenset[str], source: Source, files: Files, under: tuple[str, ...] = ("hooks",)
) -> Json:
    """The document without events that happen only in the product, which are reported. `under` leads to its hooks."""
    hooks = document
    for key in under:
        hooks = hooks.get(key) if isinstance(hooks, dict) else None
    if not isinstance(document, dict) or not isinstance(hooks, dict):
        return document
    kept: dict[str, Json] = {}
    for event, groups in hooks.items():
        if event not in elsewhere:
            kept[event] = groups
            continue
        files.problem_at(
            "unsupported-event",
            f"`{event}` happens only in the product; its hooks are not run here",
            source.path,
            (*under, event),
            fix="Nothing to do, unless you expected anyhook to run them.",
            severity="warning",
        )
    return {**document, under[0]: kept} if len(under) == 1 else kept if not under else document


def plugin(source: Source, manifest: str, files: Files) -> Source | None:
    """A plugin's source by its own name; None if the folder is another product's plugin."""
    found = files.document(f"{source.root}/{manifest}", "json")
    if not isinstance(found, dict):
        return None
    name = found.get("name")
    return source.replace(label=name if isinstance(name, str) and name else source.root.rstrip("/").rsplit("/", 1)[-1])


def switched(document: Json, path: tuple[str, ...], source: Source, files: Files, *, off: bool) -> bool | None:
    """What a switch of a settings file says about all hooks of the dialect; `off` is its value for none of them."""
    value = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, bool):
        return None
    if value is off:
        files.problem(
            "all-disabled",
            f"`{'.'.join(path)}` turns every hook off, whichever file declares it",
            source.path,
            fix="Remove it to turn them on.",
            severity="warning",
        )
    return value is off


# -- how their commands are started


def env_of(hook: Hook) -> dict[str, str]:
    """The variables that the hook's own declaration sets."""
    env = hook.spec.get("env")
    return {name: str(value) for name, value in env.items()} if isinstance(env, dict) else {}


def variables_of(given: Variables, hook: Hook, project: str, session: str) -> dict[str, str]:
    """The variables that a product sets for a hook."""
    if callable(given):
        return given(hook, project, session)
    known = {
        "project": project, "session": session, "event": hook.native_event, "snake": snake_case(hook.native_event),
        "root": hook.root, "plugin": hook.root, "folder": hook.source.rpartition("/")[0],
    }  # fmt: skip
    mine = {name: text for name, text in given.items() if hook.scope == "plugin" or "{plugin}" not in text}
    return {name: text.format(**known) for name, text in mine.items()}


def in_a_shell(
    variables: Variables, key: str = "command"
) -> tuple[Callable[[Hook, Scene], Launch], Callable[[Hook, Files, str, str], tuple[str, ...]]]:
    """How a shell line is started in the project, and the files that it names."""

    def launch(hook: Hook, scene: Scene) -> Launch:
        made = variables_of(variables, hook, scene.project, scene.session)
        env = {**scene.env, **made, **env_of(hook)}
        args = hook.spec.get("args")
        if isinstance(args, list):  # then no shell reads the command
            return Launch((str(hook.spec[key]), *map(str, args)), env, scene.project)
        return Launch((SHELL, "-c", str(hook.spec[key])), env, scene.project)

    def names(hook: Hook, files: Files, project: str, home: str) -> tuple[str, ...]:
        if hook.handler != "command":
            return ()
        args = hook.spec.get("args")
        words = [str(hook.spec[key]), *map(str, args)] if isinstance(args, list) else words_read(str(hook.spec[key]))
        return named_files(words, project, home, variables_of(variables, hook, project, ""), files)

    return launch, names


def merged(given: Mapping[str, Json], changed: Mapping[str, Json]) -> dict[str, Json]:
    """The whole input, where a hook names only the fields that change."""
    return {**given, **changed}


# -- cells


no_transcript = fixed("")
"""Only the product keeps transcripts."""
not_in_a_stop_hook = fixed(False)


def read_new(said: Json) -> Json:
    """Of products that call a session `new` that is not resumed: others say `startup`, and matchers are written for
    that."""
    return "startup" if said == "new" else said


def said_new(scene: Scene) -> Json:
    """The same, as such a product says it."""
    said = scene.event.get("source")
    return "new" if said == "startup" else said


def now(_scene: Scene) -> Json:
    return utc_time()


def shown_result(scene: Scene) -> Json:
    """A tool's result as those agents give it that show people something else than the model."""
    error = scene.event.get("tool_error")
    output = scene.event.get("output") or error
    made: dict[str, Json] = {"llmContent": output, "returnDisplay": output}
    return {**made, "error": error} if error else made
