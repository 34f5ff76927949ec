"""Collect the facts of a shell line, program by program, with each path as the system would resolve it."""

from __future__ import annotations

import os

from anyhook.programs.facts import Facts
from anyhook.programs.paths import STREAMS, resolve
from anyhook.programs.program import UNKNOWN, Word
from anyhook.programs.secrets import kind_of_path
from anyhook.programs.special import look_at
from anyhook.programs.statements import read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.programs.facts import GitOperation
    from anyhook.programs.program import Program

NO_FOLDER = "path from the folder of"
"""The start of a note about a path whose folder is not known."""
MAX_LINES = 50
"""How many shell lines inside other languages' code are read."""


def is_below(text: str) -> bool:
    """Whether the unknown part of a path is below a known folder: `build/$X`, but not `$X/a` or `/$X`."""
    return bool(text.partition(UNKNOWN)[0].rpartition("/")[0].strip("/"))


class Collector:
    """Collects the facts of one call."""

    def __init__(self, home: str, variables: Mapping[str, str] | None = None) -> None:
        self.home, self.variables = home, variables or {}
        self.runs: list[Program] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.deletes: list[str] = []
        self.makes_executable: list[str] = []
        self.changes: list[str] = []
        self.connects: list[str] = []
        self.git: list[GitOperation] = []
        self.secrets: list[str] = []
        self.unknown: list[str] = []
        self.unread: list[str] = []
        self.assigned: list[tuple[str, str]] = []
        self.doers: list[tuple[str, str, str]] = []
        self.links: list[str] = []
        self.trees: list[tuple[str, str]] = []
        self.cleans: list[str] = []
        self.doer = ""
        self.lines = 0

    def shell(self, text: str, cwd: str | None, remote: bool = False, via: tuple[str, ...] = ()) -> None:
        """The facts of a line."""
        line = read_line(text, cwd, self.home, self.variables)
        self.unknown.extend(line.unknown)
        self.unread.extend(line.unread)
        self.assigned.extend(line.assigned)
        for found in line.programs:
            program = found.replace(remote=remote or found.remote, via=(*via, *found.via)) if remote or via else found
            self.program(program)

    def program(self, program: Program) -> None:
        """One program. If reading it fails, that is an `unknown` fact, and the others are still read."""
        self.runs.append(program)
        before, self.doer = self.doer, program.name
        try:
            look_at(program, self)
            if program.code is not None:
                from anyhook.programs.code import look_at_code  # it has most of the patterns

                look_at_code(program, self)
        except Exception as error:  # noqa: BLE001
            self.give_up(f"{type(error).__name__} while reading `{program.name}`")
        finally:
            self.doer = before

    def give_up(self, why: str) -> None:
        """Notes that a part of the call is not read."""
        self.unread.append(f"not read: {why}")
        self.unknown.append(self.unread[-1])

    def line(self, text: str, program: Program) -> None:
        """A shell line inside the code of another language."""
        self.lines += 1
        if self.lines > MAX_LINES:
            self.give_up("too many lines inside code")
            return
        self.shell(text, program.cwd, program.remote, (*program.via, program.name))

    def _path(self, word: Word | str, cwd: str | None, follow: bool = True) -> str:
        word = Word(word, word) if isinstance(word, str) else word
        if word.text == "~" or word.text.startswith(
            "~/"
        ):  # a shell does not expand it in quotes, but this is what was meant
            word = Word(self.home + word.text[1:], self.home + word.source[1:], word.globs)
        if not word.known and not is_below(word.text):
            self.unknown.append(f"path from {word.source}")
            return word.source
        elif cwd is None and not word.text.startswith("/"):
            self.unknown.append(f"{NO_FOLDER} {word.source}")
        return resolve(word, cwd, follow)

    def _add(self, field: str, path: str) -> None:
        found: list[str] = getattr(self, field)
        found.append(path)
        self.doers.append((field, path, self.doer))

    def read(self, word: Word | str, cwd: str | None, lists: bool = False) -> None:
        if (word if isinstance(word, str) else word.text) not in STREAMS:
            path = self._path(word, cwd)
            self._add("reads", path)
            kind = kind_of_path(path, self.home)
            if kind and not lists:
                self.secrets.append(kind)

    def write(self, word: Word | str, cwd: str | None) -> None:
        if (word if isinstance(word, str) else word.text) not in STREAMS:
            self._add("writes", self._path(word, cwd))

    def delete(self, word: Word | str, cwd: str | None) -> None:
        text = word if isinstance(word, str) else word.text
        self._add("deletes", self._path(word, cwd, follow=text.endswith("/")))  # `rm -r LINK/` empties its folder

    def empty(self, word: Word | str, cwd: str | None) -> None:
        """A file that stays but loses its contents."""
        path = self._path(word, cwd)
        if path not in STREAMS and not path.startswith("/dev/"):
            self._add("deletes", path)

    def change(self, word: Word | str, cwd: str | None) -> None:
        self._add("changes", self._path(word, cwd))

    def link(self, word: Word | str, cwd: str | None) -> None:
        """A path that gets a second name."""
        self.links.append(self._path(word, cwd))

    def tree(
        self, folder: Word | str, source: Word | str | None, cwd: str | None, *, only_if_new: bool = False
    ) -> None:
        """A tree that is copied or unpacked over a folder. `only_if_new`: unless the folder is there, as then the tree
        goes below it."""
        place = self._path(folder, cwd)
        if only_if_new and os.path.isdir(place):
            return
        is_known = source is not None and (isinstance(source, str) or source.known)
        self.trees.append((place, self._path(source, cwd) if source is not None and is_known else ""))

    def make_executable(self, word: Word | str, cwd: str | None) -> None:
        self._add("makes_executable", resolve(word, cwd))

    def connect(self, address: str) -> None:
        self.connects.append(address)

    def note(self, action: str, path: Word | str, cwd: str | None) -> None:
        """One of `read`, `write`, `delete`, `change`, `empty`, `link`."""
        if action == "empty":
            self.write(path, cwd)
        elif action == "link":
            self.read(path, cwd)
        acts = {"link": self.link, "read": self.read, "write": self.write, "delete": self.delete, "change": self.change}
        acts.get(action, self.empty)(path, cwd)

    def facts(self) -> Facts:
        def once(values: list[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys([value for value in values if value])) if values else ()

        return Facts(
            tuple([program for program in self.runs if program.name or program.path]),
            once(self.reads), once(self.writes), once(self.deletes), once(self.makes_executable),
            once(self.changes), once(self.connects), tuple(self.git), once(self.secrets), once(self.unknown),
            tuple(self.doers), once(self.links), tuple(dict.fromkeys(self.trees)), once(self.unread), once(self.cleans),
        )  # fmt: skip
