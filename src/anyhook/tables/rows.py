"""The row types of a dialect. A dialect is a value: tables, with a small named function in a cell where a fact needs
one. Nothing here runs anything."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.platform.places import base_of, home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyhook.documents.files import Files
    from anyhook.model.call import Run
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook, Layer, Source
    from anyhook.model.json_types import Json
    from anyhook.model.words import Cause, Effect, Verdict
    from anyhook.tables.cell_names import (
        ExitMeaning,
        KeyDoes,
        KeyKind,
        Layering,
        Printed,
        ReasonSource,
        Rewritable,
        ScaffoldShape,
        TextDoes,
        Words,
    )
    from anyhook.tables.shapes import EntryShape

    Cell = str | Callable[["Scene"], Json]
    """A canonical field's name, or a function for a value that has to be made."""
    Draft = dict[str, Json]
    """The fields of an Outcome while the keys of a reply are read into it."""


SPECIFIC = "hookSpecificOutput"
"""The object for one event's answers, in most dialects that have such an object."""
BLOCKS: dict[str, Effect] = {
    "session_start": "abort",
    "user_prompt_submit": "abort",
    "turn_start": "end_turn",
    "pre_tool": "deny_tool",
    "permission_request": "deny_permission",
    "subagent_start": "skip",
    "pre_compact": "skip",
    "subagent_stop": "keep_working",
    "stop": "keep_working",
    "post_tool": "feedback",
    "post_tool_failure": "feedback",
    "turn_end": "feedback",
    "user_prompt_expansion": "abort",
    "post_tool_batch": "end_turn",
    "elicitation": "deny_permission",
    "elicitation_result": "deny_permission",
    "task_created": "skip",
    "task_completed": "keep_working",
    "teammate_idle": "keep_working",
    "pre_model_switch": "skip",
    "config_change": "skip",
    "worktree_create": "abort",
}
"""What a block does, for events that can be blocked, unless an agent says otherwise."""


class Roots(Record):
    """Where hooks are looked for: the project, the user's folders, and what the caller added."""

    project: str
    env: Mapping[str, str]
    plugin_dirs: tuple[str, ...] = ()
    state_dir: str | None = None
    platform: str = "linux"
    outer: str = ""
    """The last folder above the project whose files count; "" for the project itself."""

    @property
    def home(self) -> str:
        return home_of(self.env)

    def xdg(self, variable: str, fallback: str) -> str:
        return base_of(self.env, variable, fallback)


class Scene(Record):
    """What payload cells and launch rows can read."""

    event: Event
    native: str
    project: str
    session: str
    env: Mapping[str, str]
    settings: Mapping[str, str]
    one_shot: bool = False
    """Whether this process ends with the answer, so that in-process handlers share nothing with a host."""
    facts: Json = None
    """What the call would do, if the user wants hooks to get that."""
    only: Mapping[str, list[str]] = {}
    """Hook id → the variables that it gets, if the user's settings list them."""
    withholds: bool = False
    """Whether hooks of the project, which nobody approved by what is in them, get no variables with secrets."""


class Field(Record):
    """One key of a payload."""

    key: str
    cell: Cell
    optional: bool = False
    """Leave the key out if the value is empty."""


def fields(**cells: Cell) -> tuple[Field, ...]:
    """Keys that are always there, each with its cell."""
    return tuple([Field(key, cell) for key, cell in cells.items()])


class EventRow(Record):
    """One native event."""

    native: str
    canonical: tuple[str, ...]
    block: Effect | None
    """What a block does here; None if a hook of this event cannot block."""
    payload: tuple[Field, ...] = ()
    target: str | None = None
    """The canonical field that a matcher is tried against; None if the dialect's matchers see nothing here."""
    notice: str = ""
    """What a block adds to the model's context; `{reason}` stands for the hook's reason."""
    bound: int = 0
    """How many times in one turn a block may keep the agent working; 0 if only the agent's own limit counts."""
    in_subagents: bool = True
    """Whether the event also happens inside a sub-agent."""
    closed_on: tuple[Cause, ...] = ()
    """Causes for which a broken hook blocks here, unlike elsewhere in the dialect."""
    silence: Mapping[str, Json] = {}
    """What a hook prints to let the action go on, if its product may misread silence."""
    about: tuple[str, ...] = ()
    """Our tools that it is about, if it is another look at the calls of some tools; `mcp` for those of MCP servers."""


class ToolRow(Record):
    """One of our tools, as the dialect's product calls it."""

    native: str
    inputs: Mapping[str, str] = {}
    """The host's field → the product's; dots lead into nested objects. Fields not named here are the same."""
    also: tuple[str, ...] = ()
    """Other names that the product has for it; matchers are tried against them too."""


class Launch(Record):
    """How a command hook is started. `missing` says why it cannot be, if that is known in advance."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    missing: str = ""


class Key(Record):
    """One key of a hook's JSON answer."""

    path: tuple[str, ...]
    kind: KeyKind
    """The JSON type it must have."""
    does: KeyDoes
    """The Outcome field it fills, or one of: `block` (true blocks), `block_unless` (anything but true blocks),
    `end_turn_unless` (false ends the turn), `output_text` (the tool's output, as text), `verdict` (see `words`), `note`
    (kept under its own name for `Reply.finish`)."""
    on: tuple[str, ...] = ()
    """The canonical events on which it has an effect; () for all."""
    words: Words = ()
    """For `verdict`: word, verdict, and the canonical events on which the word has an effect (() for all); for `note`,
    the known words."""
    any_case: bool = False
    """Whether its words ignore case."""

    def counts(self, *events: str) -> bool:
        """Whether it has an effect on one of these canonical events."""
        return not self.on or not set(events).isdisjoint(self.on)

    def meanings(self, *events: str) -> list[tuple[str, Verdict]]:
        """Its words that have an effect on one of these, and what each says."""
        return [(word, verdict) for word, verdict, on in self.words if not on or not set(events).isdisjoint(on)]


BLOCKING: tuple[ExitMeaning, ...] = ("block", "block_if_said")
"""Exit meanings by which a hook that gives a reason blocks."""


class Reply(Record):
    """How a finished run is read."""

    read: Callable[[bytes], Printed]
    """stdout → what it is, and its value."""
    keys: tuple[Key, ...]
    also: tuple[str, ...] = ()
    """Keys that its product documents and that have no effect here; dots lead into nested objects."""
    exits: Mapping[int, ExitMeaning] = {0: "pass"}
    otherwise: ExitMeaning = "fail"
    """What an exit status means that is not in `exits`. With `block_if_said`, a hook that says why blocks, and a silent
    one fails."""
    exit_reasons: tuple[ReasonSource, ...] = ("stderr",)
    """Where a block by exit status takes its reason from; the first that is not empty counts."""
    json_reasons: tuple[ReasonSource, ...] = ("reason", "message", "stderr")
    mistyped: Callable[[Draft, str], str] | None = None
    """Why an answer with a value of the wrong type cannot be used at all, or "": gets the draft, and what is wrong.
    Without this function, such a value is ignored. The docs quote its docstring."""
    unknown: Callable[[dict[str, Json]], list[str]] | None = None
    """Keys of an answer that the product itself warns about."""
    text_on: tuple[str, ...] = ()
    """The canonical events on which plain text counts; () for all."""
    text_does: TextDoes = "context"
    """The Outcome field that it fills."""
    text_doubted: bool = False
    """Whether text that does not count is unclear, because it may be meant as a refusal."""
    streams: Callable[[Run], Run] | None = None
    """The run as its product reads it, if the answer is not on stdout alone. The docs quote its docstring."""
    spoils: Callable[[dict[str, Json], str], str] | None = None
    """Why an answer cannot be used at all, or ""; gets the canonical event."""
    speaks_anyway: bool = False
    """Whether a JSON object counts with any exit status."""
    finish: Callable[[Draft, str], Draft] | None = None
    """A last look at the draft, for rules that span several keys; gets the canonical event."""
    on_event: Mapping[str, Reply] = {}
    """How it is read after canonical events with other rules."""


class Asking(Record):
    """How handlers that ask a model put their question."""

    placeholders: tuple[str, ...]
    """Words in a prompt that stand for the event; the event is appended to a prompt without any."""
    roles: Mapping[str, str]
    """A handler's word for a model → its role in the user's settings; any other word means the first role."""
    reply: str
    """What an answer must look like, as text for the model."""
    temperature: float
    max_tokens: int
    """The limit of an answer without tools."""


class Failing(Record):
    """What a broken hook means in this dialect, by cause; causes that are not listed let the action go on."""

    blocks: tuple[Cause, ...] = ()
    gates_only: tuple[Cause, ...] = ()
    """Causes that block only where a block would keep something from happening."""
    codes: Mapping[str, str] = {}
    """The dialect's own error ids; `blocked` is for a block that is not a failure."""
    strict: tuple[str, Json, Json] | None = None
    """The key with which a declaration says what its failures do, if the dialect has one, and its values: the action
    goes on, they block."""

    @property
    def key(self) -> str:
        """That key; "" for none."""
        return self.strict[0] if self.strict else ""

    def closes(self, hook: Hook) -> bool:
        """Whether a declaration makes its own failures block. An unknown value is read strictly."""
        value = hook.spec.get(self.key)
        return self.strict is not None and value is not None and value != self.strict[1]


class Builtin(Record):
    """A hook that is part of the product."""

    name: str
    native_event: str
    act: Callable[[Scene], dict[str, Json]]
    """Its answer, as a hook of the dialect would print it; {} for none."""


class Limits(Record):
    """Time limits, in seconds, and how declarations give them."""

    default_s: float
    unit_s: float = 1.0
    min_s: float = 0.0
    max_s: float = 0.0
    """Values outside these limits are set to the nearer one, with a problem; 0 for no limit."""
    read: Callable[[Json, Limits], tuple[float | None, str]] | None = None
    """The product's own way to read a value: seconds (None skips the hook), and what was wrong. The usual way
    (`shapes.read_limit`) uses the default for a value that is not a duration."""


class Scaffold(Record):
    """How a new hook of this dialect is declared. Texts by scope may name {project}, {home}, the source's {root} and
    {path}, the hook's {name}, and its script by {file} or, quoted for a command line, by {script}."""

    shape: ScaffoldShape
    """`list`: handlers under their event, in one file; `groups`: the same, each with a matcher; `rows`: handlers in
    one list, each with its event; `folder`: a folder with a file of fields and a script; `executable`: a script that
    says its own event; `events`: a script with the name of its event; `rules`: an entry that needs no script."""
    scripts: Mapping[str, str]
    """The folder for scripts, by scope."""
    tool: str
    """The name of a well-known tool, for examples."""
    command: Mapping[str, str] = {}
    """The command of a declaration, by scope."""
    key: str = "command"
    """The handler's key for it; dots lead into nested objects."""
    under: tuple[str, ...] = ("hooks",)
    """The keys that lead to the handlers; () if the file holds nothing else."""
    matcher: str = "matcher"
    """The key for the tool."""
    event: str = ""
    """The key for the event, if all handlers are in one list."""
    flat: tuple[str, ...] = ()
    """Events without groups, in a file that has groups for the others."""
    fixed: Mapping[str, Json] = {}
    """What else every handler has."""
    declared_in: tuple[str, ...] = ()
    """The files of a source that is a folder; the first is used for a new hook. () if the source is the file."""
    top: Mapping[str, Json] = {}
    """What a new file needs besides its hooks."""


class Difference(Record):
    """A known difference from the product."""

    row: str
    """The row of the vectors that it is about."""
    what: str
    version: str
    """The version of the product, or the commit."""
    source: str
    """Where the product's own behaviour was read; `run` if it was seen as well."""
    date: str
    """When."""


def differences(version: str, source: str, date: str, *rows: tuple[str, str]) -> tuple[Difference, ...]:
    """Differences that have one source: row, and the difference."""
    return tuple([Difference(row, what, version, source, date) for row, what in rows])


class Misplaced(Record):
    """A place where people put a hook file by mistake."""

    path: str
    """With `{project}`, `{home}`, `{config}`, `{state}` or `{plugin}` in front; `*` stands for any one name."""
    belongs: str
    """The right place."""
    word: str = ""
    """What must occur in the file, if its name alone does not show that it has hooks."""


class Dialect(Record):
    """How one agent declares hooks, calls them and reads their answers."""

    name: str
    title: str
    files: tuple[tuple[str, str], ...]
    """Scope and place, for people; `find` is the same as code."""
    find: Callable[[Roots], list[Source]]
    load: Callable[[Source, Files], Layer]
    events: tuple[EventRow, ...]
    base: tuple[Field, ...]
    match: Callable[[Hook, Event, EventRow], str | None]
    """None for a match, else why not."""
    launch: Callable[[Hook, Scene], Launch]
    replies: Mapping[str, Reply]
    """By handler kind."""
    limits: Mapping[str, Limits]
    """By handler kind."""
    names: Callable[[Hook, Files, str, str], tuple[str, ...]]
    """The files that a project's hook names, for its approval: hook, disk, project, home → absolute paths."""
    broken: str = ""
    """Why the real table cannot be loaded, if this one stands for it: then none of its hooks can be asked."""
    layering: Layering = "concatenate"
    """How layers meet."""
    failing: Failing = Failing()
    chains: tuple[Rewritable, ...] = ()
    """Fields whose rewritten value the next hook of this dialect sees."""
    scaffold: Scaffold | None = None
    """How a new hook is written; None for a dialect without files."""
    claim: Callable[[str, Json], tuple[str, int]] = lambda path, document: ("", 0)
    """Whether a file outside the usual places is this dialect's: its path and its content (None if that is not a
    document) → the source to load it by, and 0 for no, 1 for perhaps, 2 for likely, 3 for sure."""
    misplaced: tuple[Misplaced, ...] = ()
    tools: Mapping[str, ToolRow] = {}
    """Our tool → the product's own; tools that are not listed pass unchanged."""
    words: Mapping[str, Mapping[str, str]] = {}
    """Canonical field → a host's word → the document's word for it; `*` stands for any other. The
    document's own words stay, and matchers are tried against both. Fields that are not listed pass unchanged."""
    mcp_tools: str = ""
    """How the product spells the tools of MCP servers, with `{server}` and `{tool}`; "" for `mcp__SERVER__TOOL`."""
    builtins: tuple[Builtin, ...] = ()
    """Hooks that are part of the product; they come first, and one that acts skips the others."""
    asking: Asking | None = None
    """How a model is asked, if the dialect has handlers that ask one."""
    trusted_natively: Callable[[Roots, Files], frozenset[str]] | None = None
    """The project paths that the product's own records trust; None if it runs a project's hooks without asking."""
    together: bool = False
    """Whether all hooks of an event run, whatever one of them answers."""
    at_once: Callable[[Hook], bool] | None = None
    """Whether a hook may be started together with the others of its event, each with the original event: all of them
    are, if all may be. None if they always run one after the other."""
    identity: Callable[[Hook], tuple[Json, ...]] = lambda hook: (hook.id,)
    """What makes two hooks the same, so that only the first runs."""
    whole_input: Callable[[Mapping[str, Json], Mapping[str, Json]], dict[str, Json]] | None = None
    """The complete rewritten input (of the call's, the hook's), if hooks name only the fields that they change."""
    inherits: bool = False
    """Whether its document gives hooks all of the agent's environment, so that nothing is withheld."""
    closed_env: bool = False
    """Whether no anyhook variable may be added to a hook's environment."""
    dense: bool = False
    """Whether its payloads have no space after a colon or a comma, as products in Go, Rust or JavaScript write them:
    shell hooks search the text."""
    sort: Callable[[Hook], tuple[Json, ...]] | None = None
    """The order inside one event, if it is not the order of declaration."""
    withholds: bool = False
    """Whether a block after a tool replaces its output by the error text."""
    schema: Callable[[], dict[str, Json]] | None = None
    """The JSON Schema of its hook file, if `shape` does not describe it."""
    shape: EntryShape | None = None
    """The shape of its declarations, if they are entries of a file."""
    variables: tuple[str, ...] = ()
    """The variables that `find` reads, besides the home and the XDG folders."""
    settings: Mapping[str, tuple[str, ...]] = {}
    """Switches of the user's own config: name → allowed values, the default first."""
    differences: tuple[Difference, ...] = ()
    no_host: str = ""
    """Why no agent of this name calls us; "" if one does."""

    def row(self, native: str) -> EventRow | None:
        for row in self.events:
            if row.native == native:
                return row
        return None

    def builtin(self, name: str) -> Builtin:
        return next(builtin for builtin in self.builtins if builtin.name == name)

    def row_for(self, canonical: str) -> EventRow | None:
        for row in self.events:
            if canonical in row.canonical:
                return row
        return None
