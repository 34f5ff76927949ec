"""Options of programs: bundles are split, values stay with their option, and the short and the long form have one
name."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.shell.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SortedOptions(Record):
    """The arguments of one program, sorted."""

    named: tuple[tuple[str, Word], ...]
    """Options in order, `-r` or `--recursive`, with their value."""
    rest: tuple[Word, ...]
    """Everything else."""
    after_dashes: tuple[Word, ...] = ()
    """What comes after `--`; it is part of `rest` too."""

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.named)

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.named if name in names and value.text]

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.named)


def sort_options(words: Sequence[Word], values: str = "", long: Mapping[str, str] | None = None) -> SortedOptions:
    """Sort the arguments. `values` has the short options that take a value, then long ones, separated by spaces; `long`
    maps short options to long ones."""
    short, _, names = values.partition(" ")
    with_value = frozenset(names.split())
    full = long or {}
    named: list[tuple[str, Word]] = []
    rest: list[Word] = []
    left = list(words)
    while left:
        word = left.pop(0)
        text = word.text
        if text == "--":
            return SortedOptions(tuple(named), (*rest, *left), tuple(left))
        if text.startswith("--"):
            name, sign, value = text.partition("=")
            if sign:
                named.append((name, Word(value, word.source.partition("=")[2], word.globs, word.origins)))
            else:
                named.append((name, left.pop(0) if name[2:] in with_value and left else EMPTY))
        elif text.startswith("-") and len(text) > 1:
            name, sign, value = text.partition("=")
            if name[1:] in with_value and (sign or left):  # `-name value`, as some programs spell it
                named.append((name, Word(value, word.source.partition("=")[2]) if sign else left.pop(0)))
                continue
            for place, letter in enumerate(text[1:], 1):
                name = full.get(letter, f"-{letter}")
                if letter in short:
                    tail = text[place + 1 :]
                    own = Word(tail, word.source[place + 1 :], word.globs)
                    named.append((name, own if tail else left.pop(0) if left else EMPTY))
                    break
                named.append((name, EMPTY))
        else:
            rest.append(word)
    return SortedOptions(tuple(named), tuple(rest))


EMPTY = Word("", "")
