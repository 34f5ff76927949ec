"""The options of every verb. There is one class per verb: its fields are the parsed values, and each field has a row
that the fast path, the full command line and the docs read. Values are not checked here."""

from __future__ import annotations

from anyhook.model.words import MODE, ON_FAILURE, TRUST
from anyhook.tables.registry import DIALECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

    from anyhook.model.words import Mode, Posture, Trust

    T = TypeVar("T", bound="Options")
else:

    def dataclass_transform(**_):
        return lambda cls: cls


class Option:
    """The row of one option. (Not a Record, which would be slower: an agent's call creates two dozen of them.)"""

    __slots__ = ("choices", "default", "flag", "help", "key", "many", "metavar", "short")

    def __init__(
        self,
        flag: str,
        about: str,
        metavar: str = "",
        many: bool = False,
        choices: tuple[str, ...] = (),
        short: str = "",
    ) -> None:
        """`metavar` is "" for a switch, which takes no value; `short` is a short form, such as `-r`."""
        self.flag, self.help, self.metavar, self.many, self.choices, self.short = (
            flag, about, metavar, many, choices, short,
        )  # fmt: skip
        name = flag.lstrip("-").replace("-", "_")
        self.key = f"{name}_" if name in ("for", "from") else name  # Python keywords
        self.default: tuple[()] | bool | None = () if many else None if metavar else False


def option(flag: str, about: str, metavar: str, *, choices: tuple[str, ...] = (), short: str = "") -> Any:
    """A field for an option that takes a value; None if it is not given."""
    return Option(flag, about, metavar, False, choices, short)


def repeated(flag: str, about: str, metavar: str) -> Any:
    """A field for an option that may be repeated."""
    return Option(flag, about, metavar, many=True)


def switch(flag: str, about: str, *, short: str = "") -> Any:
    """A field for an option that takes no value."""
    return Option(flag, about, short=short)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """The options of one call, one field each. Subclasses declare fields; a class with several bases has the fields of
    all of them. (Not a Record: slots do not allow several bases.)"""

    if TYPE_CHECKING:
        own: ClassVar[dict[str, int]]
        """The names of the options that this class adds."""
        rows: ClassVar[tuple[Option, ...]]
        """The table, in the order in which help shows it: a verb's own options first, and what all verbs have last."""
    debug: bool = switch("--debug", "Show every step with its time, and the traceback of a failure, on stderr.")

    def __init__(self, **values: object) -> None:
        found = self.__dict__
        for row in self.rows:
            found[row.key] = values.pop(row.key, row.default)
        if values:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(values)}")

    def __init_subclass__(cls) -> None:
        cls.own = {name: 0 for name, row in cls.__dict__.items() if type(row) is Option}
        names = {**cls.own}
        for owner in (*cls.__mro__[-3:0:-1], Options):
            names.update(vars(owner)["own"])
        cls.rows = tuple([getattr(cls, name) for name in names])

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """From parsed values, by key."""
        return cls(**values)

    def replace(self, **changes: object) -> Self:
        """The same options with some values changed."""
        return type(self)(**{**self.__dict__, **changes})


# For a verb without its own options.
Options.own = {"debug": 0}
Options.rows = (vars(Options)["debug"],)


class JsonOptions(Options):
    """For a verb that can print JSON."""

    json: bool = switch("--json", "Print one JSON object.")


class ProjectOption(Options):
    """For a verb that looks at one project."""

    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")


class FactsOptions(JsonOptions, ProjectOption):
    """One tool call to look at."""

    tool: str | None = option("--tool", "The tool's name; default: Bash.", "NAME")
    input: str | None = option("--input", "The tool's input, a JSON object.", "JSON|@FILE|-")
    agent: str | None = option("--agent", "The agent whose tool it is; default: found by name and input.", "AGENT")


class HookOptions(ProjectOption):
    """Which hooks to use."""

    dialect: tuple[str, ...] = repeated("--dialect", "Only this dialect's hooks; may be repeated.", "DIALECT")
    plugin_dir: tuple[str, ...] = repeated("--plugin-dir", "An installed plugin's directory; may be repeated.", "DIR")


class ProjectOptions(HookOptions):
    """The same, for verbs that also look at a project's state."""

    state_dir: str | None = option("--state-dir", "The state directory of dialects that have one.", "DIR")


class ProjectJsonOptions(JsonOptions, ProjectOptions):
    """For simple verbs about a project's hooks."""


class EventOptions(Options):
    """The fields of one event."""

    tool: str | None = option("--tool", "The tool's name.", "NAME")
    input: str | None = option("--input", "The tool's input, a JSON object.", "JSON")
    output: str | None = option("--output", "The tool's result.", "TEXT|JSON")
    tool_error: str | None = option("--tool-error", "The tool failed with this error.", "TEXT")
    call_id: str | None = option("--call-id", "The tool call's id.", "ID")
    prompt: str | None = option("--prompt", "What the user wrote.", "TEXT")
    source: str | None = option("--source", "What started the session: startup, resume.", "NAME")
    trigger: str | None = option("--trigger", "What started the compaction: manual, auto.", "NAME")
    reason: str | None = option("--reason", "Why the session ends.", "NAME")
    agent: str | None = option("--agent", "The sub-agent's type.", "TYPE")
    message: str | None = option("--message", "A notification's text.", "TEXT")
    session: str | None = option("--session", "The session's id.", "ID")
    data: str | None = option("--data", "Further canonical fields, a JSON object.", "JSON|@FILE|-")


class TrustOption(Options):
    trust: Trust | None = option(
        "--trust", "Which project hooks may run; default: ask (only approved ones).", "MODE", choices=TRUST
    )


class PostureOption(Options):
    on_failure: Posture | None = option(
        "--on-failure", "What to do when a hook breaks; default: native.", "RULE", choices=ON_FAILURE
    )


class ModeOption(Options):
    mode: Mode | None = option("--mode", "shadow runs all hooks and enforces nothing.", "MODE", choices=MODE)


class RunOptions(ModeOption, PostureOption, TrustOption, ProjectOptions):
    """How the hooks of an event run."""

    model: str | None = option("--model", "The model for handlers that ask one.", "PROVIDER:NAME")


class FireOptions(JsonOptions, RunOptions, EventOptions):
    """`anyhook fire` and `anyhook explain`."""


class BridgeOptions(RunOptions):
    """`anyhook bridge`."""

    home: str | None = option("--home", "Whose settings, state and hooks count; an agent's entry says it.", "DIR")
    place: tuple[str, ...] = repeated("--place", "A variable that counts as this; may be repeated.", "NAME=DIR")


def _value(row: Option, given: str | None, rest: Iterator[str]) -> str | bool | None:
    """The value of an option, which may be the next word; None if it has none, or one that is not a choice."""
    if not row.metavar:
        return True if given is None else None
    value = next(rest, None) if given is None else given
    return None if row.choices and value not in row.choices else value


def parse(words: Sequence[str], kind: type[T], count: int) -> tuple[list[str], T] | None:
    """The arguments and options of a correct call; None if the full parser must handle it."""
    known = {row.flag: row for row in kind.rows}
    arguments: list[str] = []
    values: dict[str, str | tuple[str, ...] | bool] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        flag, equals, given = word.partition("=")
        row = known.get(flag)
        if row is None or (value := _value(row, given if equals else None, rest)) is None:
            return None
        before = values.get(row.key, ()) if row.many else None
        values[row.key] = (*before, value) if isinstance(before, tuple) and isinstance(value, str) else value
    dialects = values.get("dialect")
    if isinstance(dialects, tuple) and not set(DIALECTS).issuperset(dialects):
        return None
    return (arguments, kind(**values)) if len(arguments) == count else None
