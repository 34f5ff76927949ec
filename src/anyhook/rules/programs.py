"""How `runs …` matches one program: its name, sub-commands in order, options in any order and spelling. Its row says
which options take a value, and which spellings mean the same option."""

from __future__ import annotations

from anyhook.model.pattern import cached
from anyhook.model.record import Record
from anyhook.programs.table import row_of
from anyhook.rules.wildcards import any_like, is_plain, like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Alternatives = tuple[str, ...]

SCRIPT_NAMES = ("*sh", "*.*", "*/*")
"""Names of shells and scripts, which may run others."""
OFF = ("none", "false")
"""With these values an option counts as not given: `--dry-run=none`."""
MIN_ABBREVIATED = 5
"""The shortest abbreviation of a long option that is accepted, dashes included."""


class Words(Record):
    """A program's arguments, sorted."""

    options: tuple[tuple[str, str | None], ...]
    """Long options, whole words after one dash, and what follows `=`."""
    letters: str
    """The letters of all bundles."""
    operands: tuple[tuple[str, ...], ...]
    """The words that are not options. There are two readings if it is unknown which options take a value."""


def sort_words(name: str, args: Sequence[str]) -> Words:
    """Options and operands of one program."""
    row = row_of(name)
    valued = _with_value(row.values, row.all_values)
    options: list[tuple[str, str | None]] = []
    letters = ""
    operands: list[str] = []
    fewer: list[str] = []
    skip = False
    for place, word in enumerate(args):
        if skip:
            skip = False
        elif word == "--":
            operands += args[place + 1 :]
            fewer += args[place + 1 :]
            break
        elif not word.startswith("-") or word == "-":
            operands.append(word)
            if not _follows_option(args, place):
                fewer.append(word)
        else:
            following = args[place + 1] if place + 1 < len(args) else None
            skip = valued is not None and word in valued and following is not None
            options += _options_in(word, following, takes_it=skip)
            if not word.startswith("--") and not row.has("whole"):
                letters += _bundle(word.partition("=")[0][1:], row.values.partition(" ")[0])
    readings = (tuple(operands),) if valued is not None or fewer == operands else (tuple(operands), tuple(fewer))
    return Words(tuple(options), letters, readings)


def _options_in(word: str, following: str | None, *, takes_it: bool) -> Iterator[tuple[str, str | None]]:
    """An option with its value in every way in which it may be meant; `takes_it`: the next word is its value."""
    key, sign, value = word.partition("=")
    given = following if takes_it else value if sign else None
    yield key, given
    if not key.startswith("--") and len(word) > 2:
        yield word[:2], word[2:].removeprefix("=")
    if given is None and following is not None and not following.startswith("-"):
        yield key, following


def asks_help(name: str, args: Sequence[str]) -> bool:
    """Whether a program only prints its help or its version: `--help` before any other option, or `-h`, `-V` or `-?`
    alone. A program that runs others may pass
    `--help` on and still run."""
    asked = next((word for word in args if word.startswith("-")), "")
    row = row_of(name)
    only = ("--version", "-V", "-?", *(() if row.has("halts") else ("-h",)))
    return (asked == "--help" or (len(args) == 1 and args[0] in only)) and not (
        row.has("hands on") or any_like(SCRIPT_NAMES, name)
    )


def _bundle(letters: str, valued: str) -> str:
    """The letters of a bundle, up to the first one that takes the rest as its value: `-XPOST` of `curl` has no `-T`."""
    return next((letters[: place + 1] for place, letter in enumerate(letters) if letter in valued), letters)


def _follows_option(args: Sequence[str], place: int) -> bool:
    """Whether a word may be the value of the option before it."""
    before = args[place - 1] if place else ""
    return before.startswith("-") and before not in ("-", "--") and "=" not in before


def spellings_of(name: str, operands: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The option in every spelling that the tables know."""
    groups = [group.rpartition(": ") for group in row_of(name).same]
    for verb in (*operands[:1], ""):
        for of, _, options in groups:
            if of == verb and option in options.split():
                return tuple(options.split())
    return (option,)


@cached
def _with_value(values: str, is_known: bool) -> frozenset[str] | None:
    """The options that take a value, as they are written; None if not all of them are known."""
    if not is_known:
        return None
    letters, _, names = values.partition(" ")
    return frozenset(
        [*(f"-{letter}" for letter in letters), *(dash + name for name in names.split() for dash in ("-", "--"))]
    )


def has_option(name: str, words: Words, wanted: str) -> bool:
    """Whether an option was given, in any spelling; `--opt=VALUE` also compares the value."""
    key, sign, value = wanted.partition("=")
    for spelled in spellings_of(name, words.operands[0], key):
        if sign:
            given = [found for option, found in words.options if _is(option, spelled) and found is not None]
            if any(like(value, each) for each in given):
                return True
        elif any(_is(option, spelled) and given not in OFF for option, given in words.options) or (
            not spelled.startswith("--")
            and not row_of(name).has("whole")
            and all(char in words.letters for char in spelled[1:])
        ):
            return True
    return False


def _is(option: str, wanted: str) -> bool:
    if option == wanted:
        return True
    if not is_plain(wanted):
        return like(wanted, option)
    # An abbreviation that ends at a dash is a different option: `--force`, `--force-with-lease`.
    shortened = wanted.startswith("--") and len(option) >= MIN_ABBREVIATED and wanted.startswith(option)
    return shortened and wanted[len(option)] != "-"


def has_operands(words: Words, wanted: tuple[Alternatives, ...]) -> bool:
    """Whether the first operands are the wanted ones, in order."""
    for operands in words.operands:
        if len(operands) < len(wanted):
            continue
        for each, operand in zip(wanted, operands, strict=False):
            if operand not in each and not any_like(each, operand):
                break
        else:
            return True
    return False
