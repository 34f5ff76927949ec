"""The row types of a host: an agent whose own hooks call us. A host is a value, like a dialect; nothing here reads a
payload or prints an answer."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from anyhook.model.json_types import Json
    from anyhook.model.words import HostEffect
    from anyhook.tables.cell_names import EntryStyle, Without

    Approval = Literal["given", "missing", "changed", "off"]
    """What an agent's own record says about a hook: approved as it is, never approved, approved in another form, turned
    off."""
    Approvals = Callable[[Mapping[str, str], str, Json, Callable[[Json], bool]], Mapping[str, Approval] | None]
    """The entry's roots, a file with our entry, its contents, and which handlers are ours → event → approval; None if
    the record cannot be read."""
    Input = dict[str, Json]

# What a decision can ask of a host, in the order in which it is expressed.
EFFECTS: tuple[HostEffect, ...] = (
    "block", "end_turn", "ask", "allow", "input", "output", "prompt", "context", "message", "follow_up",
)  # fmt: skip


class Taken(Record):
    """One canonical field, and where its value is in the payload."""

    field: str
    paths: tuple[str, ...]
    """Dots lead into objects and lists; the first one found counts."""
    make: Callable[[Json], Json] | None = None
    """Converts what is found into the canonical value."""


def taken(**paths: str | tuple[str, ...]) -> tuple[Taken, ...]:
    """Canonical fields that are found as they are, each with its path or paths."""
    return tuple([Taken(field, (path,) if isinstance(path, str) else path) for field, path in paths.items()])


class HostTool(Record):
    """One tool of the host, and our own tool for it."""

    ours: str
    inputs: Mapping[str, str] = {}
    """Our field → the host's; fields not named here are the same."""
    split: Callable[[Input], list[tuple[str, Input]]] | None = None
    """The calls of our own tools that make up one call of a batch or a patch; [] if they cannot be determined."""
    rejoin: Callable[[Input, int, Input], Input | None] | None = None
    """The host's input with one part rewritten; None if the part cannot be put back."""


class Say(Record):
    """How one effect is expressed. `{reason}`, `{context}`, `{message}`, `{input}`, `{output}`, `{prompt}` stand for
    the value; in an object as a whole value, so no quoting is needed."""

    json: Mapping[str, Json] = {}
    text: str = ""
    """Plain stdout, for hosts that read it as text."""
    stderr: str = ""
    status: int = 0


class HostEvent(Record):
    """One event of the host."""

    native: str
    canonical: tuple[str, ...] = ()
    """Success first; () if another row has the canonical event, or there is none."""
    takes: tuple[Taken, ...] = ()
    says: Mapping[HostEffect, Say] = {}
    """Effect → how it is expressed, for the effects that the host supports. `engine/settle.py` replaces the others."""
    error: tuple[str, ...] = ()
    """Where a failed tool's error is, in an event for both success and failure."""
    after_failure: tuple[HostEffect, ...] | None = None
    """Which of the effects count after a failed tool, if fewer than after one that worked."""
    fixed: Mapping[str, Json] = {}
    """Canonical fields with a fixed value in this event."""
    limit_s: float = 60.0
    """How long the host waits for us; `install` writes it into the entry."""
    installed: bool = True
    """Whether `install` adds an entry for it."""
    on_demand: bool = False
    """If not: whether it does once an armed hook wants the event."""
    tools: tuple[str, ...] = ()
    """The tools that the entry is for; () for all."""
    why_not: str = ""
    """Why it is not installed, or what cannot be done here, for `doctor` and the docs."""
    silence: Mapping[str, Json] | None = None
    """What every answer includes unless it says otherwise, for hosts that misread silence."""
    when: Callable[[dict[str, Json]], bool] | None = None
    """Whether a payload is about the canonical event, if the host also fires it for something else."""

    def at(self, event: str) -> HostEvent:
        """This row for one of its canonical events."""
        kept = self.after_failure
        if kept is None or event != "post_tool_failure":
            return self
        return self.replace(says={effect: say for effect, say in self.says.items() if effect in kept})


def left_out(why: str, *natives: str) -> tuple[HostEvent, ...]:
    """Events without a canonical event; `install` adds no entry for them."""
    return tuple([HostEvent(native, installed=False, why_not=why) for native in natives])


class Entry(Record):
    """How the host's own config declares one handler."""

    style: EntryStyle
    """`groups` (event → groups of handlers), `list` (event → handlers), `rows` (one list; each handler names its
    event), `tables` (the same as TOML `[[hooks]]`), `scripts` (one executable per event), `module` (one file that calls
    us for every event)."""
    files: Mapping[str, str]
    """Scope → path; `{home}`, `{project}`, or a root of `roots` comes first."""
    roots: Mapping[str, tuple[str, str]] = {}
    """Root → (the variable that names it, its default)."""
    handler: Mapping[str, Json] = {}
    """One handler; `{command}`, `{event}`, `{seconds}` and `{milliseconds}` stand for the values."""
    closed: Mapping[str, Json] = {}
    """What else a handler of a closed entry has: the agent's own word for refusing if a hook fails."""
    group: Mapping[str, Json] = {}
    """What else a group has."""
    top: Mapping[str, Json] = {}
    """What else a new file needs."""
    owned: bool = False
    """Whether the file is ours alone; otherwise it belongs to the agent and its user, and other entries stay."""
    beside: Mapping[str, str] = {}
    """Our other files, by their path from the main file's folder."""
    module: str = ""
    """The text of a module; `{launcher}` stands for the command and `{places}` for its last words, as JSON lists."""
    under: tuple[str, ...] = ("hooks",)
    """The keys that lead to the handlers; () if the file has nothing else."""
    names_tools: bool = False
    """Whether the `matcher` of a group takes tools as `A|B`, by the names that payloads have."""


class EntryFault(Record):
    """What is wrong with an entry that we wrote."""

    agent: str
    path: str
    limit_s: float
    """How long the agent waits, if that is shorter than what we wrote; 0 if the entry is gone."""
    why: str


class OffSwitch(Record):
    """A setting that turns an agent's hooks off, or ours."""

    key: tuple[str, ...]
    """() for a file that names the hooks to skip, one on each line."""
    value: Json = True
    """The value that turns hooks off; for a file of names, the part that our names contain."""


class Sign(Record):
    """How a call of this agent is recognised if it came through another agent's entry."""

    keys: tuple[str, ...] = ()
    """Keys that the payload must have, all of them."""
    without: tuple[str, ...] = ()
    """Keys that it must not have."""
    variables: tuple[str, ...] = ()
    """Variables that must be set, all of them. Agents that it starts inherit them, so they count only together with
    `without`."""


class Host(Record):
    """One agent."""

    name: str
    title: str
    events: tuple[HostEvent, ...]
    base: tuple[Taken, ...]
    tools: Mapping[str, HostTool]
    entry: Entry | None
    project: tuple[str, ...] = ("cwd",)
    """Where the payload names the project's folder."""
    project_variables: tuple[str, ...] = ()
    """Variables that name it better: the session's own folder may be one below."""
    reads: Mapping[str, tuple[str, ...]] = {}
    """Dialect → scopes whose hooks the host runs itself, so that we do not."""
    own_files: tuple[str, ...] | None = None
    """Labels of the files that it reads, if another product reads the others of this dialect; None if all."""
    misreads: tuple[str, ...] = ()
    """Dialects among them whose hooks get other tool names or payloads there than they are written for, or whose
    refusals it does not read. We ask their gates too: better twice than not at all."""
    program: str = ""
    """The command that starts it."""
    sdk: str = ""
    """The framework that comes with this agent, by the name of its logger."""
    confirm: str = ""
    """What the user has to confirm in the agent's own trust store."""
    confirms: tuple[str, ...] = ("project",)
    """Scopes in which our entry does not run until its user has confirmed it in the agent."""
    without_us: Without = "unknown"
    """What it does if our entry's program is missing: lets the call go on, or refuses every call."""
    settings: tuple[str, ...] = ()
    """Every file that can turn its hooks off; `{home}`, `{project}` or a root of the entry comes first."""
    switches: tuple[OffSwitch, ...] = ()
    """The switches in these files that turn them off."""
    off_words: tuple[str, ...] = ()
    """Options of its command with which it runs no hooks."""
    off_variables: tuple[str, ...] = ()
    """Variables that do the same where they say yes, in its environment"""
    variable_files: tuple[str, ...] = ()
    """or in one of these: files of variables, and settings with an `env`. `{here}` is the nearest folder from the
    project upwards that has such a file."""
    moving_variables: tuple[str, ...] = ()
    """Variables that lead it to other hooks, where such a file sets them."""
    marks: tuple[str, ...] = ()
    """Variables that it sets for the programs that it starts."""
    managed: tuple[str, ...] = ()
    """Files with an organisation's rules for its hooks; `{etc}` comes first, and a star is any name."""
    gaps: tuple[str, ...] = ()
    """Actions that its hooks do not see."""
    shows_stderr: bool = True
    """Whether people see what a hook writes to stderr while it lets a call go on. If not, it is also written to the
    terminal that the agent was started in."""
    max_context: int = 0
    """How many bytes of context it accepts at once; 0 if unknown. Longer context is cut here, and kept in a file."""
    lent: tuple[tuple[str, str], ...] = ()
    """Keys that show that another agent, which runs entries from this one's files, sent a payload. If the second key of
    a pair is there too, the payload is this agent's own; "" if it never is."""
    signs: tuple[Sign, ...] = ()
    """How this agent's calls through such an entry are recognised; one sign is enough."""
    borrowed: Mapping[str, HostTool] = {}
    """Its tools in calls through such an entry, if they have other names there."""
    result: Callable[[Json, Json], Json] | None = None
    """A replaced output in the shape of the tool's own result (the payload's, ours); None if there is none."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Those that keep it from running our hooks."""
        return self.off_variables + self.moving_variables

    def row(self, native: str) -> HostEvent | None:
        return next((row for row in self.events if row.native == native), None)


class ProductChange(Record):
    """One change of what our entry relies on in a product. An agent's module lists them in `CHANGES`; beside it is
    `VERSION`, the version that its tables are from."""

    since: str
    """The first version that has it; "" if all older ones do."""
    what: str
    """What it means for our entry, after the product's name and version."""
    source: str
    date: str
    before: str = ""
    """The first version that no longer has it; "" if every newer one does."""


def until(version: str, what: str, source: str, date: str) -> ProductChange:
    """What every version before this one has."""
    return ProductChange("", what, source, date, before=version)


CHANNELS = ("message", "context")
OPENINGS = ("session_start", "user_prompt_submit")


def opening(host: Host) -> str:
    """The first event of a session at which this host can show a message to a person."""
    for name in OPENINGS:
        if any(name in row.canonical and (row.says.keys() & set(CHANNELS)) for row in host.events if row.installed):
            return name
    return OPENINGS[0]


def speaks_before_calls(host: Host) -> bool:
    """Whether this host can show a message before a tool runs; otherwise another event has to do it."""
    rows = [row for row in host.events if row.installed and "pre_tool" in row.canonical]
    return channel_of(host) not in CHANNELS or any(row.says.keys() & set(CHANNELS) for row in rows)


def channel_of(host: Host) -> str | None:
    """How this host shows a message to a person, at the start of a session or before a call: `message`, else `context`,
    else `stderr`; None if the agent, or our module in it, drops that."""
    moments = ("session_start", "user_prompt_submit", "pre_tool")
    rows = [row for row in host.events if row.installed and set(row.canonical) & set(moments)]
    for channel in CHANNELS:
        if any(channel in row.says for row in rows):
            return channel
    is_module = host.entry is not None and host.entry.style == "module"
    return "stderr" if host.shows_stderr and not is_module else None
