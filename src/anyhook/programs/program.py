"""The types of a parsed shell line: words, redirections, and the programs that would run."""

from __future__ import annotations

from anyhook.model.record import Record

UNKNOWN = "\0"
"""Replaces the part of a word that is known only at run time."""


class Word(Record):
    """One word of a command after expansion."""

    text: str
    """Without quotes, with known values filled in and `UNKNOWN` for the rest."""
    source: str
    """The same, with unknown parts as they were written: `$X/a`."""
    globs: bool = False
    """Whether it contains a `*`, `?` or `[` that a shell would expand."""
    origins: tuple[Program, ...] = ()
    """The programs whose output is part of it."""

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


class Redirection(Record):
    """A file or stream that a command is connected to."""

    sign: str
    """`>`, `>>`, `<`, `<>`, `&>` …"""
    target: Word

    @property
    def writes(self) -> bool:
        return ">" in self.sign

    @property
    def reads(self) -> bool:
        return self.sign.startswith("<")


class Made(dict[str, list[tuple[str | None, "tuple[Program, ...]"]]]):
    """The files that a line makes: for each path what is put there, as a text or by the programs that write it. It has
    programs that have it, so it counts neither when programs are compared nor when one is printed."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None

    def __repr__(self) -> str:
        return f"<{len(self)} files>"


class Program(Record):
    """One program that runs."""

    name: str
    """Its base name, `git`; "" if it is known only at run time, or if a line only redirects."""
    args: tuple[str, ...] = ()
    """Its arguments; unknown parts are kept as they were written."""
    words: tuple[Word, ...] = ()
    """The same with what is known about each."""
    path: str = ""
    """The program as it was written, `/usr/bin/git`; unknown parts as in `args`."""
    via: tuple[str, ...] = ()
    """The programs that it runs through, outermost first: `sudo`, `xargs`, `bash -c`."""
    stdin_from: tuple[Program, ...] = ()
    """The programs whose output it reads: those before it in a pipe, and those in substitutions that it gets as files
    or as code."""
    stdin: str | None = None
    """Its input, if known: a here-document, the output of an `echo`, "" for a line that only redirects."""
    redirections: tuple[Redirection, ...] = ()
    cwd: str | None = None
    """Where it runs; None if that is not known."""
    remote: bool = False
    """Whether it runs on another machine or in a container, so that its paths are not ours."""
    set: tuple[tuple[str, str], ...] = ()
    """Variables that the line sets only for it."""
    code: str | None = None
    """The code that an interpreter runs, if the line contains it."""
    made: Made | None = None
    """The files that the line makes. All programs of a line share it, since one that waits may read what is written
    later."""


class UnreadError(Exception):
    """Reading a line takes more than it may; the text says what. What was read until then counts."""


class ShellLine(Record):
    """Everything that a shell line would run, in order."""

    programs: tuple[Program, ...]
    unknown: tuple[str, ...]
    """What could not be known: `program from $X`, `eval of $X`, `not read: …`."""
    cwd: str | None
    """The shell's folder afterwards."""
    unread: tuple[str, ...] = ()
    """Those of `unknown` that say that a part was not read at all: anything may be in it."""
    assigned: tuple[tuple[str, str], ...] = ()
    """Every value that it gives to a variable with a name in capitals; unknown parts as they were written."""
    steps: int = 0
    """How many steps it took to read it."""
    of_files: tuple[tuple[str, Program], ...] = ()
    """What runs in files that it reads into its shell, each with the file: `. ./FILE`, and functions from there."""
