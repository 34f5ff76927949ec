"""The files that `find`, `fd` and `ls` name, as patterns: for commands that run on each of them, or that read their
output."""

from __future__ import annotations

from itertools import pairwise

from anyhook.programs.program import Program, Word
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.programs.rows import ProgramRow

EXECS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
"""Options that are followed by what is run for each file."""
FILTERS = ("-newer", "-mtime", "-mmin", "-size", "-user", "-perm", "-empty", "-regex", "-path", "-links", "-inum")
"""Tests of `find` that a pattern cannot express."""


def found_files(words: Sequence[Word], origins: tuple[Program, ...] = ()) -> list[Word]:
    """What `find` finds, as patterns: everything below its start folders, or what has one of the names that it looks
    for."""
    texts = [word.text for word in words]
    names = [
        texts[place + 1]
        for place, text in enumerate(texts[:-1])
        if text in ("-name", "-iname") and texts[place - 1] not in ("!", "-not")
    ]
    is_open = any(
        text in ("-o", "-or") and after in (*EXECS, "-delete", "-print0", "-print") for text, after in pairwise(texts)
    )
    names = [f"**/{name}" for name in names] if names and not is_open else ["**"]
    return [
        Word(f"{each.text.rstrip('/')}/{name}", f"{each.source.rstrip('/')}/{name}", True, origins)
        for each in search_roots(words)
        for name in names
    ]


def fd_files(words: Sequence[Word]) -> list[Word]:
    """The same for `fd`, if it asks for an ending."""
    texts = [word.text for word in words]
    ends = [texts[place + 1] for place, text in enumerate(texts[:-1]) if text in ("-e", "--extension")]
    return [Word(f"./**/*.{end}", f"./**/*.{end}", True) for end in ends] or [Word("./**", "./**", True)]


def search_roots(words: Sequence[Word]) -> list[Word]:
    """The folders in which `find` starts."""
    found = []
    for word in words[1:]:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text[:1] in ("-", "(", "!"):
            break
        found.append(word)
    return found or [Word(".", ".")]


def _lists_files(program: Program, row: ProgramRow) -> bool:
    """Whether it prints names of files below the current folder."""
    texts = [word.text for word in program.words]
    if row.finds == "git":
        given = {*texts}
        shows = not given.isdisjoint(("ls-files", "--name-only")) or {"grep", "-l"} <= given
        return shows and given.isdisjoint(("-d", "--deleted"))
    short = "".join(text[1:] for text in texts if text.startswith("-") and not text.startswith("--"))
    has_list = "l" in short or "L" in short or any(text.startswith("--files-with") for text in texts)
    return row.finds == "matches" and has_list and not any(text.startswith("/") for text in texts)


def _listed_files(program: Program) -> list[Word]:
    """What `ls` prints: the files that patterns name, and what is in folders."""
    named = [word for word in program.words if not word.text.startswith("-")] or [Word(".", ".")]
    inner = [Word(f"{each.text.rstrip('/')}/*", f"{each.source.rstrip('/')}/*", True) for each in named]
    return [*(each for each in named if each.globs), *inner]


def producers_words(producers: Sequence[Program]) -> list[Word]:
    """The files that the programs before `xargs` print, if known: those below the start folders of `find`, those in a
    listed folder."""
    if not producers:
        return [Word("\0", "$(stdin)")]
    origins = tuple(producers)
    for program in reversed(producers):
        row = row_of(program.name)
        if row.finds == "find":
            found = found_files((Word("find", "find"), *program.words), origins)
            tests = [word.text for word in program.words if word.text in FILTERS]
            return [*found, Word("\0", f"$(find {tests[0]})", False, origins)] if tests else found
        if _lists_files(program, row):
            return [Word("./**", "./**", True, origins)]
        if row.finds == "ls":
            return _listed_files(program)
        if not row.has("filters"):
            break
    shown = " | ".join(program.name for program in producers)
    return [Word("\0", f"$({shown})", False, origins)]
