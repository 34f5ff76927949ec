"""Options of programs: bundles are split, values stay with their option, and the short and the long form have one
name."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.programs.program import Program, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anyhook.programs.collect import Collector
    from anyhook.programs.rows import ProgramRow


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
    left = iter(words)
    for word in left:
        text = word.text
        if text == "--":
            after = tuple(left)
            return SortedOptions(tuple(named), (*rest, *after), after)
        if not text.startswith("-") or text == "-":
            rest.append(word)
            continue
        name, sign, value = text.partition("=")
        is_long = text.startswith("--")
        if sign and (is_long or name[1:] in with_value):  # `-name=value`, as some programs spell it
            origins = word.origins if is_long else ()
            named.append((name, Word(value, word.source.partition("=")[2], word.globs and is_long, origins)))
        elif name.lstrip("-") in with_value:
            named.append((name, next(left, EMPTY)))
        elif is_long:
            named.append((name, EMPTY))
        else:
            named.extend(_bundle(word, short, full, left))
    return SortedOptions(tuple(named), tuple(rest))


def _bundle(word: Word, short: str, full: Mapping[str, str], left: Iterator[Word]) -> Iterator[tuple[str, Word]]:
    """The options of one word, up to the first that takes the rest of it, or the next word, as its value."""
    for place, letter in enumerate(word.text[1:], 1):
        name = full.get(letter, f"-{letter}")
        if letter in short:
            tail = word.text[place + 1 :]
            yield name, Word(tail, word.source[place + 1 :], word.globs) if tail else next(left, EMPTY)
            return
        yield name, EMPTY


EMPTY = Word("", "")


def look_at_outputs(program: Program, row: ProgramRow, into: Collector) -> None:
    """Add the files that a program writes because of an option: reports, logs, profiles, results."""
    if not row.output_by or program.remote or not any(word.text[:1] == "-" for word in program.words):
        return
    letters, _, names = row.output_by.partition(" ")
    wanted = [f"-{letter}" for letter in letters] + [f"{dash}{name}" for name in names.split() for dash in ("-", "--")]
    for value in sort_options(program.words, row.output_by).values(*wanted):
        into.write(value, program.cwd)


def option_values(args: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """The values of these options, also glued to them, and after others in one word."""
    for place, text in enumerate(args):
        for option in options:
            is_last = len(option) == 2 and text[1:].isalpha() and text.startswith("-") and text.endswith(option[1])
            if text == option or is_last:  # `-e LINE`, `-avze LINE`
                yield from args[place + 1 : place + 2]
            elif text.startswith(f"{option}=" if option.startswith("--") else option) and not text.startswith("---"):
                yield text[len(option) :].removeprefix("=")
