"""The nouns of a shell line that was read: words, redirections, and the programs that would run."""

from __future__ import annotations

from anyhook.model.record import Record

UNKNOWN = "\0"
"""Replaces the part of a word that only running the line would show."""


class Word(Record):
    """One word of a command after expansion."""

    text: str
    """Quotes gone, what is known filled in, `UNKNOWN` in place of the rest."""
    source: str
    """The same with what is not known as it was written: `$X/a`."""
    globs: bool = False
    """Whether it holds a `*`, `?` or `[` that a shell would expand."""
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


class Program(Record):
    """One program that runs."""

    name: str
    """Its base name, `git`; "" if only running the line would show it, or where a line only redirects."""
    args: tuple[str, ...] = ()
    """The words after it; what is not known is kept as it was written."""
    words: tuple[Word, ...] = ()
    """The same with what is known about each."""
    path: str = ""
    """The program as it was written, `/usr/bin/git`; unknown parts as in `args`."""
    via: tuple[str, ...] = ()
    """The programs that it runs through, outermost first: `sudo`, `xargs`, `bash -c`."""
    stdin_from: tuple[Program, ...] = ()
    """The programs whose output it reads: those before it in a pipe, and those in substitutions that it is handed as
    files or as code."""
    stdin: str | None = None
    """What it reads, where that is known: a here-document, the output of an `echo`, "" for a line that only
    redirects."""
    redirections: tuple[Redirection, ...] = ()
    cwd: str | None = None
    """Where it runs; None if that is not known."""
    remote: bool = False
    """Whether it runs on another machine or in a container, so that its paths are not ours."""
    set: tuple[tuple[str, str], ...] = ()
    """Variables that the line sets for it alone."""
    code: str | None = None
    """The program text that an interpreter is given, where the line holds it."""


class ShellLine(Record):
    """All that a shell line would run, in order."""

    programs: tuple[Program, ...]
    unknown: tuple[str, ...]
    """What could not be known: `program from $X`, `eval of $X`, `not read: …`."""
    cwd: str | None
    """The shell's folder afterwards."""
