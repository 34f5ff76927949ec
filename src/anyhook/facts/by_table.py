"""What the table of effects says about one program's arguments: paths that it reads, writes and deletes, and
addresses."""

from __future__ import annotations

import os
import re

from anyhook.facts.options import SortedOptions, sort_options
from anyhook.facts.paths import STREAMS, resolve
from anyhook.shell.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.facts.collect import Collector
    from anyhook.facts.effects import Effect
    from anyhook.shell.program import Program

URL = re.compile(
    r"(?:https?|ftps?|sftp|ssh|git|wss?|s3|gs|rsync|tcp|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|git\+https?|git\+ssh)://[^\s'\"<>|]+"
)
REMOTE = re.compile(r"(?:[\w.-]+@)?([\w.-]{2,}|\[[0-9a-f:]+\]):(?!\\)")
"""`host:path` and `user@host:path`."""
SWITCHED = ("del", "erase", "rd", "rmdir")
SWITCH = re.compile(r"/[a-zA-Z]")
"""`/s`, `/q`: options of Windows commands."""
LISTERS = frozenset(
    {
        "ls",
        "dir",
        "vdir",
        "exa",
        "eza",
        "lsd",
        "tree",
        "du",
        "stat",
        "file",
        "realpath",
        "readlink",
        "lsattr",
        "getfacl",
    }
)
"""Programs that read names and sizes, but not the contents of files."""


def by_table(program: Program, effect: Effect, into: Collector, words: Sequence[Word] | None = None) -> None:
    """Add what the table says about a program."""
    given = program.words if words is None else words
    options = sort_options(given, effect.values)
    rest = [word for word in options.rest if program.name not in SWITCHED or not SWITCH.fullmatch(word.text)]
    if effect.skip_unless and not options.has(*effect.skip_unless):
        rest = rest[1:]
    idle = options.has(*effect.not_if)
    cwd = program.cwd
    for word in _picked(effect.connects, rest):
        into.connect(word.source)
    if program.remote:
        return
    targets = options.values(*effect.target)
    writes = effect.writes
    sources = rest if targets else rest[:-1]
    if effect.target and not idle:
        writes = ""
        for word in copied(targets or rest[-1:], sources, cwd, bool(targets)):
            if not is_address(word, into):
                into.write(word, cwd)
    for word in _picked(effect.reads, rest, sources):
        if not is_address(word, into):
            into.read(word, cwd, program.name in LISTERS)
    for word in options.values(*effect.read_by):
        into.read(word, cwd)
    if idle:
        return
    if effect.moves_if and (options.has(*effect.moves_if) or any(word.text in effect.moves_if for word in given)):
        for word in _picked(effect.reads, rest, sources):
            if not is_address(word, into):
                into.delete(word, cwd)
    for word in options.values(*effect.write_by):
        into.write(word, cwd)
    for word in options.values(*effect.name_by):
        into.write(below(options.values(*effect.folder_by), word), cwd)
    for word in _picked(writes, rest, sources):
        if not is_address(word, into):
            into.write(word, cwd)
    for word in (*options.values(*effect.deletes_by), *_picked(effect.deletes, rest, sources)):
        into.delete(word, cwd)
    for word in _picked(effect.changes, rest, sources):
        into.change(word, cwd)
    if effect.writes_if and _has_prefix(options, effect.writes_if):
        for word in rest:
            into.write(word, cwd)
    if effect.deletes_if and options.has(*effect.deletes_if):
        for word in rest[-1:]:
            if not is_address(word, into):
                into.delete(word, cwd)


def copied(targets: Sequence[Word], sources: Sequence[Word], cwd: str | None, is_folder: bool) -> Iterable[Word]:
    """What a copy writes: the target, or a file with the source's name in it if it is a folder."""
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


def _has_prefix(options: SortedOptions, names: tuple[str, ...]) -> bool:
    return options.has(*names) or any(value.text == names[0] for _, value in options.named)


def _picked(which: str, rest: Sequence[Word], sources: Sequence[Word] | None = None) -> Iterable[Word]:
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
