"""The row types that a host is written in: an agent whose own hooks call us. A host is a value, as a dialect is;
nothing here reads a payload or prints an answer."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from anyhook.model.json_types import Json
    from anyhook.model.words import HostEffect
    from anyhook.tables.cell_names import EntryStyle

    Without = Literal["open", "refuses", "unknown"]
    Input = dict[str, Json]

# What a decision can ask of a host, in the order in which it is expressed.
EFFECTS: tuple[HostEffect, ...] = (
    "block", "end_turn", "ask", "allow", "input", "output", "prompt", "context", "message", "follow_up",
)  # fmt: skip


class Taken(Record):
    """One canonical field, and where in the payload its value stands."""

    field: str
    paths: tuple[str, ...]
    """Dots lead into objects and lists; the first that is there counts."""
    make: Callable[[Json], Json] | None = None
    """Makes the canonical value from what is there."""


class HostTool(Record):
    """One tool of the host, in the words of our own tools."""

    ours: str
    inputs: Mapping[str, str] = {}
    """Our field → the host's; fields not named here are the same."""
    split: Callable[[Input], list[tuple[str, Input]]] | None = None
    """The calls of our own tools that one call of a batch or a patch stands for; [] where it cannot be told."""
    rejoin: Callable[[Input, int, Input], Input | None] | None = None
    """The host's input with one part rewritten; None where that part, or no part, can be put back."""
    labels: tuple[str, ...] = ()
    """The host's fields that say something about a call, do nothing in it, and must be there. A rewrite by a hook that
    does not know them keeps them."""


class Say(Record):
    """How one effect is said. `{reason}`, `{context}`, `{message}`, `{input}`, `{output}`, `{prompt}` stand for
    the value; in an object as a whole value, so that no quoting is needed."""

    json: Mapping[str, Json] = {}
    text: str = ""
    """Plain stdout, for hosts that read it as text."""
    stderr: str = ""
    status: int = 0


class HostEvent(Record):
    """One event of the host."""

    native: str
    canonical: tuple[str, ...] = ()
    """Success first; () if another row has the canonical event, or if there is none."""
    takes: tuple[Taken, ...] = ()
    says: Mapping[HostEffect, Say] = {}
    """Effect → how it is said, for effects that the host honours. What is not here degrades by `steps.settle`."""
    error: tuple[str, ...] = ()
    """Where a failed tool's error stands, for an event that stands for success and failure."""
    fixed: Mapping[str, Json] = {}
    """Canonical fields that follow from the event itself."""
    limit_s: float = 60.0
    """How long the host waits for us, as `install` writes it."""
    installed: bool = True
    """Whether `install` hooks it up."""
    on_demand: bool = False
    """Of one that it does not: whether it does where an armed hook wants the event."""
    tools: tuple[str, ...] = ()
    """The tools for which it does; () for all."""
    why_not: str = ""
    """Why it is not installed, or what cannot be done here, for `doctor` and the docs."""
    silence: Mapping[str, Json] | None = None
    """What every answer holds that does not say otherwise, for hosts that take silence for something else."""
    when: Callable[[dict[str, Json]], bool] | None = None
    """Whether a payload is about the canonical event, where the host also fires it at other moments."""


def left_out(why: str, *natives: str) -> tuple[HostEvent, ...]:
    """Events without a canonical one, which `install` does not hook up."""
    return tuple([HostEvent(native, installed=False, why_not=why) for native in natives])


class Entry(Record):
    """How the host's own config names one handler."""

    style: EntryStyle
    """`groups` (event → groups of handlers), `list` (event → handlers), `rows` (one list; each handler names its
    event), `tables` (the same as TOML `[[hooks]]`), `scripts` (one executable per event), `module` (one file that calls
    us for every event)."""
    files: Mapping[str, str]
    """Scope → path; `{home}`, `{project}`, or a root of `roots` comes first."""
    roots: Mapping[str, tuple[str, str]] = {}
    """Root → (variable that names it, where it is without)."""
    handler: Mapping[str, Json] = {}
    """One handler; `{command}`, `{event}`, `{seconds}` and `{milliseconds}` stand for the values."""
    closed: Mapping[str, Json] = {}
    """What a handler of a closed entry holds as well: the agent's own word for refusing where a hook fails."""
    group: Mapping[str, Json] = {}
    """What a group holds beside its handlers."""
    top: Mapping[str, Json] = {}
    """What a new file needs beside its hooks."""
    owned: bool = False
    """Whether the file is ours alone; else it belongs to the agent and its user, and others' entries stay."""
    beside: Mapping[str, str] = {}
    """Further files of our own, by their path from the main one's folder."""
    module: str = ""
    """The text of a module; `{launcher}` stands for the command as a JSON list."""
    under: tuple[str, ...] = ("hooks",)
    """The keys that lead to the handlers; () where the file holds nothing else."""
    flat: tuple[str, ...] = ()
    """Events without groups, in a file that has groups for the others."""
    names_tools: bool = False
    """Whether the `matcher` of a group takes tools as `A|B`, by the names that payloads have."""
    carries: tuple[str, ...] = ()
    """Variables that the agent does not pass on to hooks, so that the command sets them."""


class OffSwitch(Record):
    """A setting by which an agent runs no hooks, or not ours."""

    key: tuple[str, ...]
    """() for a file that names hooks to be left out, one on each line."""
    value: Json = True
    """Its value for no hooks; of a file of names, the part by which ours are known."""


class Sign(Record):
    """What tells that a call is this agent's, where it came through another agent's entry."""

    keys: tuple[str, ...] = ()
    """Keys that the payload has, all of them."""
    without: tuple[str, ...] = ()
    """Keys that it does not have."""
    variables: tuple[str, ...] = ()
    """Variables that are set, all of them. Agents that it starts inherit them, so they count beside `without` only."""


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
    misreads: tuple[str, ...] = ()
    """Dialects among them whose hooks get other tool names or payloads there than they are written for, or whose
    refusals it does not read. We ask their gates as well: rather twice than in vain."""
    program: str = ""
    """The command by which people start it."""
    confirm: str = ""
    """What the user has to confirm in the agent's own trust store."""
    confirms: tuple[str, ...] = ("project",)
    """Scopes in which our entry does not run before its user has confirmed that there; we cannot see whether."""
    without_us: Without = "unknown"
    """What it does where our entry's program is missing: lets the call go on, or refuses every call."""
    settings: tuple[str, ...] = ()
    """Every file that can turn its hooks off; `{home}`, `{project}` or a root of the entry comes first."""
    switches: tuple[OffSwitch, ...] = ()
    """What turns them off in any of those."""
    managed: tuple[str, ...] = ()
    """Files by which an organisation decides about its hooks; `{etc}` comes first, and a star is any name."""
    gaps: tuple[str, ...] = ()
    """Surfaces that its hooks do not see."""
    shows_stderr: bool = True
    """Whether people see what a hook writes to stderr while it lets a call go on. Where they do not, it is also written
    to the terminal that the agent was started in."""
    max_context: int = 0
    """How many bytes of context it takes at once; 0 where that is not known. What is more is cut, and kept."""
    lent: tuple[tuple[str, str], ...] = ()
    """Keys by which a payload shows that another agent sent it, which runs entries from this one's files. Beside the
    second key of a pair, the first is this agent's own; "" where it never is."""
    signs: tuple[Sign, ...] = ()
    """What tells this agent's calls through such an entry; one of them is enough."""
    borrowed: Mapping[str, HostTool] = {}
    """Its tools in calls through such an entry, where they have other names there."""
    result: Callable[[Json, Json], Json] | None = None
    """A replaced output in the shape of the tool's own result (the payload's, ours); None where it has none."""

    def row(self, native: str) -> HostEvent | None:
        return next((row for row in self.events if row.native == native), None)


CHANNELS = ("message", "context")
OPENINGS = ("session_start", "user_prompt_submit")


def opening(host: Host) -> str:
    """The first event of a session at which a person can be told something through this host."""
    for name in OPENINGS:
        if any(name in row.canonical and (row.says.keys() & set(CHANNELS)) for row in host.events if row.installed):
            return name
    return OPENINGS[0]


def speaks_before_calls(host: Host) -> bool:
    """Whether a person can be told something before a tool runs; else an event before or after it has to do."""
    rows = [row for row in host.events if row.installed and "pre_tool" in row.canonical]
    return channel_of(host) not in CHANNELS or any(row.says.keys() & set(CHANNELS) for row in rows)


def channel_of(host: Host) -> str | None:
    """How a person is told something through this host, at the start of a session or before a call: `message`, else
    `context`, else `stderr`; None where the agent, or our module in it, drops that."""
    moments = ("session_start", "user_prompt_submit", "pre_tool")
    rows = [row for row in host.events if row.installed and set(row.canonical) & set(moments)]
    for channel in CHANNELS:
        if any(channel in row.says for row in rows):
            return channel
    is_module = host.entry is not None and host.entry.style == "module"
    return "stderr" if host.shows_stderr and not is_module else None
