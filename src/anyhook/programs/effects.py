"""What a program's row says about the paths and addresses among its arguments."""

from __future__ import annotations

import os

from anyhook.model.pattern import later, re
from anyhook.model.record import Record
from anyhook.programs.options import SortedOptions, sort_options
from anyhook.programs.paths import STREAMS, resolve
from anyhook.programs.program import Program, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.programs.collect import Collector
    from anyhook.programs.rows import ProgramRow, Which


URL = later(
    r"(?:https?|ftps?|sftp|ssh|git|wss?|s3|gs|rsync|tcp|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|git\+https?|git\+ssh)://[^\s'\"<>|]+"
)

REMOTE = later(r"(?:[\w.-]+@)?([\w.-]{2,}|\[[0-9a-f:]+\]):(?!\\)")

"""`host:path` and `user@host:path`."""

SWITCH = later(r"/[a-zA-Z]")

"""`/s`, `/q`: options of Windows commands."""


def by_table(program: Program, row: ProgramRow, into: Collector) -> None:
    """Add what the table says about a program's arguments."""
    options = sort_options(program.words, row.values)
    rest = [word for word in options.rest if not row.has("slashes") or not SWITCH.fullmatch(word.text)]
    if row.skip_unless and not options.has(*row.skip_unless.split()):
        rest = rest[1:]
    for word in _picked(row.connects, rest):
        into.connect(word.source)
    if program.remote:
        return
    targets = options.values(*row.target.split())
    given = Given(program, options, rest, rest if targets else rest[:-1], targets)
    _add_reads(given, row, into)
    if not options.has(*row.not_if.split()):
        _add_writes(given, row, into)
        _add_deletes(given, row, into)


class Given(Record):
    """The sorted arguments of one program."""

    program: Program
    options: SortedOptions
    rest: Sequence[Word]
    sources: Sequence[Word]
    targets: Sequence[Word]


def _add_reads(given: Given, row: ProgramRow, into: Collector) -> None:
    cwd = given.program.cwd
    for word in _picked(row.reads, given.rest, given.sources):
        if not is_address(word, into):
            into.read(word, cwd, lists=row.has("lists"))
    for word in given.options.values(*row.read_by.split()):
        into.read(word, cwd)


def _add_writes(given: Given, row: ProgramRow, into: Collector) -> None:
    options, rest, cwd = given.options, given.rest, given.program.cwd
    if row.writes == "copied":
        written: Iterable[Word] = copied(given.targets or rest[-1:], given.sources, cwd, is_folder=bool(given.targets))
    else:
        written = _picked(row.writes, rest, given.sources)
    for word in options.values(*row.write_by.split()):
        into.write(word, cwd)
    for word in options.values(*row.name_by.split()):
        into.write(below(options.values(*row.folder_by.split()), word), cwd)
    for word in written:
        if not is_address(word, into):
            into.write(word, cwd)
    for word in _picked(row.changes, rest, given.sources):
        into.change(word, cwd)
    if row.writes_if and _has_prefix(options, row.writes_if.split()):
        for word in rest:
            into.write(word, cwd)


def _add_deletes(given: Given, row: ProgramRow, into: Collector) -> None:
    options, rest, cwd = given.options, given.rest, given.program.cwd
    gone = [*options.values(*row.delete_by.split()), *_picked(row.deletes, rest, given.sources)]
    moves = row.moves_if.split()
    if moves and (options.has(*moves) or any(word.text in moves for word in given.program.words)):
        gone += [word for word in _picked(row.reads, rest, given.sources) if not is_address(word, into)]
    if row.deletes_if and options.has(*row.deletes_if.split()):
        gone += [word for word in rest[-1:] if not is_address(word, into)]
    for word in gone:
        into.delete(word, cwd)


def copied(targets: Sequence[Word], sources: Sequence[Word], cwd: str | None, *, is_folder: bool) -> Iterable[Word]:
    """What a copy writes: the target, or a file with the source's name in it if it is a folder. (One with several
    targets, which no program takes, any file in each.)"""
    if len(targets) > 1:
        sources = [Word("*", "*", True)]
    for target in targets:
        ends = target.text.endswith(("/", "/.", "/..")) or target.text in (".", "..")
        if is_folder or ends or len(sources) > 1 or (target.known and os.path.isdir(resolve(target, cwd))):
            for source in sources:
                text, shown = (re.split(r"[/:]", each.rstrip("/"))[-1] for each in (source.text, source.source))
                base = Word(target.text.rstrip("/") or "/", target.source.rstrip("/") or "/")
                yield Word(f"{base.text.rstrip('/')}/{text}", f"{base.source.rstrip('/')}/{shown}", source.globs)
        else:
            yield target


def below(folders: Sequence[Word], name: Word) -> Word:
    """A name in the folder that an option gives, or the name alone."""
    if not folders or name.text.startswith("/") or is_stream(name):
        return name
    text, source = folders[0].text.rstrip("/"), folders[0].source.rstrip("/")
    return Word(f"{text}/{name.text}", f"{source}/{name.source}", name.globs)


def _has_prefix(options: SortedOptions, names: Sequence[str]) -> bool:
    return options.has(*names) or any(value.text == names[0] for _, value in options.named)


def _picked(which: Which, rest: Sequence[Word], sources: Sequence[Word] | None = None) -> Iterable[Word]:
    if not which:
        return ()
    if which == "all":
        return [word for word in rest if not is_stream(word)]
    if which == "first":
        return rest[:1]
    if which == "rest":
        return rest[1:]
    if which == "last":
        return rest[-1:]
    if which == "sources":
        return rest[:-1] if sources is None else sources
    if which == "http":
        return [word for word in rest if word.text.upper() != word.text or "." in word.text][:1]
    return ()


def is_stream(word: Word) -> bool:
    return word.text in STREAMS or word.text.startswith("/dev/fd/") or word.source.startswith(("<(", ">("))


def is_address(word: Word, into: Collector) -> bool:
    """`host:path` among the arguments of programs that copy."""
    if "://" in word.text or (REMOTE.match(word.text) and not word.text.startswith(("/", "."))):
        into.connect(word.source)
        return True
    return False
