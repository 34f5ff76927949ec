"""The options of the verbs that look at a project, as one table: the fast path, the command line and the docs read
the same rows. It parses words and judges no values."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.model.words import MODE, ON_FAILURE, TRUST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Values = dict[str, str | list[str] | bool | None]


class Option(Record):
    """One option."""

    flag: str
    help: str
    metavar: str = ""
    """"" for a switch that takes no value."""
    many: bool = False
    choices: tuple[str, ...] = ()
    short: str = ""
    """One letter for the same, as `-r`."""

    @property
    def key(self) -> str:
        return self.flag.lstrip("-").replace("-", "_")


WHERE = (
    Option("--project", "The project directory; default: the current one.", "DIR"),
    Option("--dialect", "Only this dialect's hooks; may be repeated.", "NAME", many=True),
    Option("--plugin-dir", "An installed plugin's directory; may be repeated.", "DIR", many=True),
    Option("--state-dir", "The state directory of dialects that have one.", "DIR"),
)
JSON = Option("--json", "Print one JSON object.")
EVENT = (
    Option("--tool", "The tool's name.", "NAME"),
    Option("--input", "The tool's input, a JSON object.", "JSON"),
    Option("--output", "The tool's result.", "TEXT|JSON"),
    Option("--tool-error", "The tool failed with this error.", "TEXT"),
    Option("--call-id", "The tool call's id.", "ID"),
    Option("--prompt", "What the user wrote.", "TEXT"),
    Option("--source", "What started the session: startup, resume.", "NAME"),
    Option("--trigger", "What started the compaction: manual, auto.", "NAME"),
    Option("--reason", "Why the session ends.", "NAME"),
    Option("--agent", "The sub-agent's type.", "TYPE"),
    Option("--message", "A notification's text.", "TEXT"),
    Option("--session", "The session's id.", "ID"),
    Option("--data", "Further canonical fields, a JSON object.", "JSON|@FILE|-"),
)
RUN = (
    Option("--trust", "Which project hooks may run; default: ask.", "MODE", choices=TRUST),
    Option("--on-failure", "What a broken hook means; default: native.", "RULE", choices=ON_FAILURE),
    Option("--mode", "shadow runs everything and enforces nothing.", "MODE", choices=MODE),
    Option("--model", "The model for handlers that ask one.", "PROVIDER:NAME"),
)
FIRE = (*WHERE, JSON, *EVENT, *RUN)
BRIDGE = (*WHERE, *RUN)


def parse(words: Sequence[str], options: Sequence[Option]) -> tuple[list[str], Values] | None:
    """Arguments and options of a call that is right in every word; None for one that the full parser has to look at."""
    known = {option.flag: option for option in options}
    arguments: list[str] = []
    values: Values = {option.key: [] if option.many else None for option in options}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        flag, equals, given = word.partition("=")
        option = known.get(flag)
        if option is None or (equals and not option.metavar):
            return None
        if not option.metavar:
            values[option.key] = True
            continue
        value = given if equals else next(rest, None)
        if value is None or (option.choices and value not in option.choices):
            return None
        listed = values[option.key]
        if isinstance(listed, list):
            listed.append(value)
        else:
            values[option.key] = value
    return arguments, values
