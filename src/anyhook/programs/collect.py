"""Collect the facts of a shell line, program by program, with each path as the system would resolve it."""

from __future__ import annotations

import os

from anyhook.programs.facts import Facts, GitOperation
from anyhook.programs.paths import STREAMS, resolve, slashed
from anyhook.programs.program import UNKNOWN, Program, Word
from anyhook.programs.scripts import FileCode, imported, scripts_of, told
from anyhook.programs.secrets import kind_of_path
from anyhook.programs.special import look_at
from anyhook.programs.statements import MAX_FILE_STEPS, read_line
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


NO_FOLDER = "path from the folder of"
"""The start of a note about a path whose folder is not known."""
MAX_LINES = 50
"""How many shell lines inside other languages' code are read."""
MAX_SCRIPTS, MAX_SCRIPT_SIZE, MAX_FILES_DEEP = 200, 131_072, 5
"""How many pieces of code in files are read for one call, how long they may be together, and how deep files that run
files are read. What is more is not read: files that people wrote are long."""


def is_below(text: str) -> bool:
    """Whether the unknown part of a path is below a known folder: `build/$X`, but not `$X/a` or `/$X`."""
    return bool(text.partition(UNKNOWN)[0].rpartition("/")[0].strip("/"))


class ScriptBudget:
    """How much of the files that a call runs was read."""

    def __init__(self) -> None:
        self.seen: set[tuple[object, ...]] = set()
        self.size = self.steps = 0

    def texts(self) -> tuple[str, ...]:
        """What was read of files."""
        return tuple([str(key[1]) for key in self.seen])

    def taken(self, script: FileCode) -> str:
        """As much of a script as may be read; nothing if it was read before, or if too much was."""
        key = (script.path, script.text, script.cwd, script.params)
        if key in self.seen or len(self.seen) >= MAX_SCRIPTS or self.steps >= MAX_FILE_STEPS:
            return ""
        self.seen.add(key)
        text = script.text
        if len(text) > (left := MAX_SCRIPT_SIZE - self.size):
            text = text[: text.rfind("\n", 0, left) + 1]
        self.size += len(text)
        return text


class Collector:
    """Collects the facts of one call, or of one part of a script that it runs."""

    def __init__(
        self, home: str, variables: Mapping[str, str] | None = None, budget: ScriptBudget | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.home, self.variables = slashed(home, "/"), variables or {}
        self.budget, self.inside = budget, inside
        """Without a budget, files that are run are not read. `inside`: the files that this is in, outermost first."""
        self.parts: list[Facts] = []
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
        self.folders: dict[str, str] = {}
        """Folders with their links followed."""

    def shell(
        self, text: str, cwd: str | None, *, remote: bool = False, via: tuple[str, ...] = (), is_bash: bool = True
    ) -> None:
        """The facts of a line."""
        line = read_line(text, cwd, self.home, self.variables, sources=self._sources, is_bash=is_bash)
        self._line(line.programs, remote=remote, via=via)
        for path, found in line.of_files:
            self._part((*self.inside, path), found, remote=remote, via=via)
        self.unknown.extend(line.unknown)
        self.unread.extend(line.unread)
        self.assigned.extend(line.assigned)

    def _line(self, programs: tuple[Program, ...], *, remote: bool, via: tuple[str, ...]) -> None:
        for found in programs:
            program = found.replace(remote=remote or found.remote, via=(*via, *found.via)) if remote or via else found
            self.program(program)

    def program(self, program: Program) -> None:
        """One program. If reading it fails, that is an `unknown` fact, and the others are still read."""
        if self.budget is not None and (typed := told(program, row_of(program.name))) is not None:
            program = program.replace(stdin=typed)
        self.runs.append(program)
        self._look(program)
        if self.budget is not None and len(self.inside) < MAX_FILES_DEEP:
            for script in scripts_of(program):
                self._read(script, program)

    def _look(self, program: Program) -> None:
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

    def script(self, script: FileCode, program: Program) -> None:
        """Everything that is in a file which a program runs."""
        via = (*program.via, program.name or program.path)
        if script.language != "sh":
            self.runs.append(code := Program(script.language, cwd=script.cwd, code=script.text, via=via))
            self._look(code)
            return
        line = read_line(script.text, script.cwd, self.home, self.variables, file_params=script.params)
        self._line(line.programs, remote=script.remote, via=via)

    def _read(self, script: FileCode, program: Program) -> None:
        """The parts of a file that a program runs: each program in it by itself, with those whose output it reads. What
        one part of a file does says nothing about another, and what cannot be known there is not asked about."""
        budget = self.budget
        if budget is None or not (text := budget.taken(script)):
            return
        inside = (*self.inside, script.path)
        via = (*program.via, program.name) if script.remote else program.via
        if script.language != "sh":
            part = Collector(self.home, self.variables, budget, inside)
            words = tuple([Word(each, each) for each in script.params])
            part._look(Program(script.language, words=words, cwd=script.cwd, code=text, via=via))
            self._take(part)
            folders = (os.path.dirname(script.path), script.cwd or "")
            for each in imported(text, script.language, folders, program) if len(inside) < MAX_FILES_DEEP else ():
                part._read(each, program)
            self.parts.extend(part.parts)
            return
        left = MAX_FILE_STEPS - budget.steps
        line = read_line(
            text, script.cwd, self.home, self.variables, file_params=script.params, max_steps=left,
            sources=self._sources, made=program.made,
        )  # fmt: skip
        budget.steps += line.steps
        for found in line.programs:
            self._part(inside, found, remote=script.remote, via=via)
        for path, found in line.of_files:
            self._part((*inside, path), found, remote=script.remote, via=via)

    def _part(self, inside: tuple[str, ...], found: Program, *, remote: bool, via: tuple[str, ...]) -> None:
        """One program in a file, with those whose output it reads."""
        part = Collector(self.home, self.variables, self.budget, inside)
        part._line((*sources_of(found), found), remote=remote, via=via)
        self._take(part)

    def _sources(self, program: Program) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The files that a program reads into its shell."""
        if self.budget is not None and len(self.inside) < MAX_FILES_DEEP:
            for script in scripts_of(program):
                if script.language == "sh" and (text := self.budget.taken(script)):
                    yield script.path, text, script.params

    def _take(self, part: Collector) -> None:
        """The facts of a part of a file, and of the files that it runs."""
        part.unknown.clear()
        part.unread.clear()
        facts = part.facts()
        if facts.runs or facts.reads or facts.all_changed or facts.connects:
            self.parts.append(facts.replace(parts=()))
        self.parts.extend(part.parts)

    def line(self, text: str, program: Program) -> None:
        """A shell line inside the code of another language."""
        self.lines += 1
        if self.lines > MAX_LINES:
            self.give_up("too many lines inside code")
            return
        if self.inside:
            script = FileCode(self.inside[-1], text, "sh", program.cwd, remote=program.remote)
            self._read(script, program)
        else:
            self.shell(text, program.cwd, remote=program.remote, via=(*program.via, program.name))

    def powershell(self, line: str, program: Program) -> None:
        """A line of PowerShell, which has a grammar of its own; but programs and most arguments are the same."""
        text = line.replace("\\", "/").replace("`\n", " ").replace("`", "")
        via = (*program.via, program.name) if program.name else ()
        self.shell(text, program.cwd, remote=program.remote, via=via, is_bash=False)

    def _path(self, word: Word | str, cwd: str | None, follow: bool = True) -> str:
        word = Word(word, word) if isinstance(word, str) else word
        if word.text == "~" or word.text.startswith(
            "~/"
        ):  # a shell does not expand it in quotes, but this is what was meant
            word = Word(self.home + word.text[1:], self.home + word.source[1:], word.globs)
        if self.inside and not word.known:
            return ""
        if not word.known and not is_below(word.text):
            self.unknown.append(f"path from {word.source}")
            return word.source
        elif cwd is None and not slashed(word.text, cwd).startswith("/"):
            self.unknown.append(f"{NO_FOLDER} {word.source}")
        return resolve(word, cwd, follow=follow, known=self.folders)

    def _add(self, field: str, path: str) -> None:
        if not path or (self.inside and path[0] in "$`"):
            return
        found: list[str] = getattr(self, field)
        found.append(path)
        self.doers.append((field, path, self.doer))

    def read(self, word: Word | str, cwd: str | None, *, lists: bool = False) -> None:
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
        if place:
            self.trees.append((place, self._path(source, cwd) if source is not None and is_known else ""))

    def make_executable(self, word: Word | str, cwd: str | None) -> None:
        is_left_out = self.inside and isinstance(word, Word) and not word.known
        self._add("makes_executable", "" if is_left_out else resolve(word, cwd))

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
            self.inside, tuple(self.parts),
        )  # fmt: skip


def sources_of(program: Program) -> tuple[Program, ...]:
    """The programs whose output it reads, directly or through others, first ones first."""
    found = [*program.stdin_from]
    known = {id(each) for each in found}  # comparing long pipes by what is in them takes minutes
    for each in found:  # grows while it is walked
        found.extend(source for source in each.stdin_from if id(source) not in known)
        known.update(map(id, each.stdin_from))
    return tuple(reversed(found))
