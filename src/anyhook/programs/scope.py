"""A shell's state at one place of a line: its folder, variables, functions, and the files that it has written."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from anyhook.programs.program import Program, Word

MAX_VALUES = 64
"""How many values of one variable are kept."""


def together(*groups: Iterable[Program]) -> tuple[Program, ...]:
    """All of these, each once: what is behind a pipe has come through it before, so they would double at each one."""
    return (*{id(each): each for group in groups for each in group}.values(),)


class Stream(Record):
    """What goes through a pipe."""

    text: str | None = None
    """None if only running the line would show it."""
    origins: tuple[Program, ...] = ()

    def then(self, other: Stream) -> Stream:
        """This, followed by another."""
        text = None if self.text is None or other.text is None else self.text + other.text
        return Stream(text, together(self.origins, other.origins))


NOTHING = Stream()


class Scope:
    """What is known at one place of the line."""

    def __init__(self, cwd: str | None, variables: dict[str, tuple[str, ...]]) -> None:
        self.cwd, self.variables = cwd, variables
        self.functions: dict[str, Node | str] = {}
        self.files: dict[str, Stream] = {}
        """What the line itself has written so far."""
        self.links: dict[str, str] = {}
        """Links and copies of programs that the line has made, and the originals."""
        self.input: Word | None = None
        """The file that `exec < FILE` made its input."""
        self.calls: tuple[str, ...] = ()
        self.is_started = False
        """Whether another program starts what is here: it knows no functions, unless the line has exported them."""

    def copy(self) -> Scope:
        made = Scope(self.cwd, dict(self.variables))
        made.functions, made.files, made.calls = dict(self.functions), self.files, self.calls
        made.links, made.is_started, made.input = self.links, self.is_started, self.input
        return made

    def take(self, other: Scope) -> None:
        """Take over another one's state."""
        self.cwd, self.variables, self.functions = other.cwd, other.variables, other.functions

    def either(self, other: Scope) -> None:
        """Add what another branch of the line may have changed."""
        for name, values in other.variables.items():
            mine = self.variables.get(name, ())
            self.variables[name] = tuple(dict.fromkeys((*mine, *values)))[:MAX_VALUES]
        self.functions.update(other.functions)
        if self.cwd != other.cwd:
            self.cwd = None
