"""Reading shell lines: the one door to what a line would run, for trust, permission rules, checks and the guard.
Nothing is started, and no file is looked at. The parser behind it can be exchanged."""

from __future__ import annotations

import os

from anyhook.documents.places import home_of
from anyhook.model.record import Record
from anyhook.shell.commands import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

UNKNOWN = "\0"
"""Replaces the part of a word that only running the line would show."""
MAX_DEPTH = 8
"""How many shells inside shells are looked into."""
PREFIXES = frozenset(
    {"sudo", "doas", "env", "command", "nohup", "exec", "nice", "ionice", "time", "setsid", "busybox", "xargs"}
)
"""Programs that run the command after them."""


class Command(Record):
    """One simple command."""

    words: tuple[str, ...]
    """Without variables in front; quotes gone, `~` and known variables filled in."""
    targets: tuple[str, ...] = ()
    """Files that it redirects its output into."""
    text: str = ""
    """What it reads from a here-document."""
    piped: bool = False
    """Whether its output goes to the next command."""


class CommandStep(Record):
    """One simple command of a line, as it would run."""

    command: Command
    words: tuple[str, ...]
    """Its words without programs that only run it, such as `sudo` and `env`."""
    cwd: str | None
    """Where it would run; None where that cannot be known."""

    @property
    def name(self) -> str:
        """The program's name; "" for a command that only redirects."""
        return _name(self.words)


def steps(line: str, env: Mapping[str, str], cwd: str, depth: int = 0) -> Iterator[CommandStep]:
    """The simple commands of a line in order, each followed by those of shell lines inside it or handed to it."""
    home = home_of(env)
    place: str | None = cwd
    fed: tuple[str, ...] = ()  # what the commands before it in a pipe may hand on
    for command in commands_of(line.replace(UNKNOWN, ""), env, home):  # shells drop such a character themselves
        step = CommandStep(command, _bare(command.words, (*fed, *command.text.split())), place)
        given, fed = fed, (*fed, *command.words[1:], *filter(None, [command.text])) if command.piped else ()
        yield step
        if step.name in ("cd", "pushd"):
            place = _moved(step.words, place, home)
        elif depth < MAX_DEPTH:
            for inner in _lines(step, given):
                yield from steps(inner, env, place or cwd, depth + 1)


def commands_of(text: str, env: Mapping[str, str], home: str, depth: int = 0) -> list[Command]:
    """The simple commands of a line, those of substitutions included."""
    from anyhook.shell.parser import Line  # most callers want the words alone

    line = Line(text, env, home)
    found = line.take()
    if depth < MAX_DEPTH:
        for inner in line.inner:
            found.extend(commands_of(inner, line.known, home, depth + 1))
    return found


def _bare(words: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """The command itself, without programs that only run it, their options and variables; for xargs with what it is
    given to add."""
    if _name(words) == "xargs":
        words = (*words, *given)
    while _name(words) in (*PREFIXES, "timeout"):
        rest = words[1:]
        skips = words[0].endswith("timeout")
        while rest and (rest[0].startswith("-") or "=" in rest[0] or (skips and rest[0][:1].isdigit())):
            rest = rest[1:]
        words = rest
    return words


def _moved(words: tuple[str, ...], cwd: str | None, home: str) -> str | None:
    """Where a `cd` leads."""
    named = [word for word in words[1:] if not word.startswith("-")]
    if not named:
        return home if len(words) == 1 else None
    if UNKNOWN in named[0]:
        return None
    return os.path.normpath(os.path.join(cwd, named[0])) if cwd else None


def _lines(step: CommandStep, given: tuple[str, ...]) -> Iterable[str]:
    """Shell lines inside a command, or handed to it."""
    name, words, command = step.name, step.words, step.command
    if name == "eval":
        return (" ".join(words[1:]),)
    if name in SHELLS:
        after = [
            words[index + 1] for index, word in enumerate(words[:-1]) if word.startswith("-") and word.endswith("c")
        ]
        return (*after[:1], command.text, *(text for text in given if len(words) == 1))
    return ()


def _name(words: tuple[str, ...]) -> str:
    return words[0].rsplit("/", 1)[-1] if words else ""
