"""Files: reads the files that declare hooks, and remembers every path it looked at and every problem it found."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from anyhook.documents.budget import BYTES, HASHED, HOOKS, LOOKS, NAMES, PROBLEMS, VALUES, Budget
from anyhook.documents.locate import lines_of
from anyhook.documents.parse import parse_json, parse_toml, parse_yaml, repeated_key, split_front_matter, syntax_of
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.record import Record
from anyhook.model.words import HookScope, Severity
from anyhook.platform.places import MAX_HASHED_BYTES, NO_WAIT, Stamp, content, head, lies_in, names_digest, stamp

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

MAX_KEPT_BYTES = 262_144
"""How many bytes of a file are kept with its digest, to show it and what changed in it."""
MAX_SENTENCE = 1000
"""How many characters of a document a problem quotes."""
MAX_PROBLEMS = 100
"""How many problems of one file are reported one by one."""
MAX_LOCATED_BYTES = 4 * 1024 * 1024
"""How many bytes of documents are searched for line numbers; beyond that, problems name only the file."""
MAX_REMEMBERED_BYTES = 32 * 1024 * 1024
"""How many bytes of files are cached, so that a file that many hooks name is read once."""
UNPINNED = "!"
"""The prefix of a text in place of a digest, if there is none: such a file never counts as unchanged."""


class Fingerprint(Record):
    """A file's fingerprint."""

    digest: str
    """SHA-256; "" if there is no file; after `!` why there cannot be one."""
    binary: bool = False
    size: int = 0
    head: bytes = b""
    """Its first bytes; all bytes of a file of ordinary size."""


class Files:
    """A snapshot of the disk. `stamps` and `contents` are what a compiled catalog depends on."""

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp | None] = {}
        """Every path that was looked at."""
        self.contents: dict[str, str] = {}
        """What was read, as `places.content` tells it: a stamp alone does not prove that it is still the same."""
        self.budget: Budget | None = None
        """The budget for reading. None for the user's own files, which have no limit."""
        self._problems: list[Problem] = []
        self._unplaced: dict[str, list[tuple[int, Place]]] = {}
        self._told: dict[str, int] = {}
        self._untold: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}
        self._prints: dict[str, Fingerprint] = {}
        self._inside: dict[str, dict[str, bool]] = {}
        self._real: dict[str, str] = {}
        self._listed: dict[str, list[str]] = {}
        self._remembered = self._located = 0
        self.owner: tuple[str, HookScope] = ("", "")
        """Dialect and scope of the layer that is being read."""

    def charge(self, kind: str, amount: int = 1) -> None:
        """Count a cost, if there is a budget; raises TooLarge if it is too much."""
        if self.budget is not None:
            self.budget.charge(kind, amount)

    def made_hook(self) -> None:
        """One more hook was found."""
        self.charge(HOOKS)

    def problem(
        self,
        code: str,
        what: str,
        where: str,
        why: str = "",
        fix: str = "",
        severity: Severity = ERROR,
        dialect: str = "",
        scope: HookScope = "",
    ) -> None:
        self.charge(PROBLEMS)
        owner = (dialect, scope) if dialect or scope else self.owner
        self._problems.append(Problem(code, _clipped(what), where, _clipped(why), _clipped(fix), severity, *owner))

    @property
    def errors(self) -> int:
        """The number of errors so far."""
        return sum(problem.severity == ERROR for problem in self._problems)

    def full(self, path: str) -> bool:
        """Whether further problems of this document are only counted, so they need no details."""
        return self._told.get(path, 0) >= MAX_PROBLEMS

    def problem_at(
        self, code: str, what: str, path: str, place: Place, *, fix: str = "", severity: Severity = ERROR,
        event: str = "",
    ) -> None:  # fmt: skip
        """A problem at a place in a document. Its line is looked up later, together with all others of that document.
        Beyond a limit, problems are only counted, so that a document full of mistakes stays cheap."""
        told = self._told[path] = self._told.get(path, 0) + 1
        if told > MAX_PROBLEMS:
            self._untold.setdefault(path, []).append(severity)
            return
        self.charge(PROBLEMS)
        self._unplaced.setdefault(path, []).append((len(self._problems), place))
        self._problems.append(Problem(code, _clipped(what), path, "", _clipped(fix), severity, *self.owner, event))

    @property
    def problems(self) -> list[Problem]:
        """All problems so far, with their lines."""
        for path, waiting in self._unplaced.items():
            lines = self.lines(path, [place for _, place in waiting])
            for index, place in waiting:
                if place in lines:
                    self._problems[index] = self._problems[index].replace(where=f"{path}:{lines[place]}")
        self._unplaced = {}
        rest = [
            Problem("more-problems", f"{len(severities)} more problem(s) in this file", path,
                    severity=ERROR if ERROR in severities else WARNING)
            for path, severities in self._untold.items()
        ]  # fmt: skip
        return [*self._problems, *rest]

    def look(self, path: str) -> Stamp | None:
        """The stamp of a path, cached; None if there is nothing."""
        if path not in self.stamps:
            self.stamps[path] = stamp(path)
            self.charge(LOOKS)
        return self.stamps[path]

    def watch(self, path: str) -> None:
        """For a file that someone else is about to read: what depends on it ends with its contents."""
        if self.look(path) is not None:
            self.contents[path] = content(path)

    def lies_in(self, path: str, folder: str) -> bool:
        """`places.lies_in`, with a cache of folders."""
        return lies_in(path, folder, self._inside.setdefault(folder, {}))

    def real_path(self, path: str) -> str:
        """`os.path.realpath`, cached."""
        if path not in self._real:
            self._real[path] = os.path.realpath(path)
        return self._real[path]

    def text(self, path: str) -> str | None:
        """The text of a declaration, or None if there is no such file or it cannot be read (then with a problem)."""
        if self.look(path) is None and not self._is_there(path):
            return None
        try:
            data = read_bytes(path)
            self.contents[path] = lean_json.digest(data)
            if path not in self._texts:
                self.charge(BYTES, len(data))
            text = data.decode("utf-8")
        except FileNotFoundError:
            self.problem("dangling-link", "this link leads nowhere", path, fix="Remove it or restore what it names.")
            return None
        except UnicodeDecodeError as error:
            self.problem("not-utf8", "this file is not UTF-8 text", path, str(error), "Save it as UTF-8.")
            return None
        except Unreadable as error:
            self.problem("unreadable", error.what, path, fix=error.fix)
            return None
        self._texts[path] = text
        return text

    def _is_there(self, path: str) -> bool:
        """Whether something exists although it has no stamp: a dangling link. If a folder above cannot be read, that is
        unknown, and a problem."""
        try:
            os.lstat(path)
        except PermissionError as error:
            fix = "Let its user look into the folders above it."
            self.problem("unreadable", "whether there are hooks here cannot be seen", path, error.strerror or "", fix)
            return False
        except (OSError, ValueError):
            return False
        return True

    def head(self, path: str) -> bytes:
        """The first bytes of a regular file; empty for anything else."""
        self.look(path)
        return head(path) or b""

    def digest(self, path: str) -> tuple[str, bool]:
        """SHA-256 of a file ("" if it cannot be read), and whether it is a binary and not text."""
        seen = self.fingerprint(path)
        return ("" if seen.digest.startswith(UNPINNED) else seen.digest), seen.binary

    def fingerprint(self, path: str) -> Fingerprint:
        """A file's bytes, read once: what is hashed is what can be shown."""
        known = self._prints.get(path)
        if known is None:
            known = self._fingerprint(path)
            if self._remembered + len(known.head) <= MAX_REMEMBERED_BYTES:
                self._remembered += len(known.head)
                self._prints[path] = known
        return known

    def _fingerprint(self, path: str) -> Fingerprint:
        self.look(path)
        try:
            handle = os.open(path, os.O_RDONLY | NO_WAIT)
        except (FileNotFoundError, NotADirectoryError):
            return Fingerprint("")
        except (OSError, ValueError) as error:
            return Fingerprint(f"{UNPINNED}it cannot be read ({getattr(error, 'strerror', None) or error})")
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):  # a folder cannot be opened as a file
            os.close(handle)
            folder = stat.S_ISDIR(state.st_mode)
            what = "a folder, with more in it than can be looked at" if folder else "no regular file"
            return Fingerprint(f"{UNPINNED}it is {what}")
        if state.st_size > MAX_HASHED_BYTES:
            os.close(handle)
            return Fingerprint(f"{UNPINNED}it is larger than {MAX_HASHED_BYTES:,} bytes", True)
        with open(handle, "rb") as file:
            hashed, also, size, kept = hashlib.sha256(), lean_json.hasher(), 0, b""
            try:
                while chunk := file.read(1 << 20):
                    self.charge(HASHED, len(chunk))
                    hashed.update(chunk)
                    also.update(chunk)
                    size += len(chunk)
                    kept = kept or chunk[:MAX_KEPT_BYTES]
                    if size > MAX_HASHED_BYTES:
                        return Fingerprint(f"{UNPINNED}it is larger than {MAX_HASHED_BYTES:,} bytes", True)
            except OSError as error:
                return Fingerprint(f"{UNPINNED}it cannot be read ({error.strerror})")
        self.contents[path] = also.hexdigest()
        return Fingerprint(hashed.hexdigest(), b"\0" in kept[:8192], size, kept)

    def texts(self) -> list[str]:
        """The files that were read as text."""
        return list(self._texts)

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted; [] if it does not exist. Listed once: it counts each name."""
        if folder in self._listed:
            return self._listed[folder]
        if self.look(folder) is None:
            self._is_there(folder)
            return []
        try:
            with os.scandir(folder) as entries:
                found = sorted(self._counted(entries))
            self.contents[folder] = names_digest(found)
            self._listed[folder] = found
            return found
        except OSError as error:
            self.problem(
                "unreadable", "this folder cannot be read", folder, error.strerror or "", "Check its permissions."
            )
            return []

    def _counted(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[str]:
        """Counts name by name, so that a folder with millions of names is not listed to its end."""
        for entry in entries:
            self.charge(NAMES)
            yield entry.name

    def is_file(self, path: str) -> bool:
        seen = self.look(path)
        return seen is not None and stat.S_ISREG(seen[4])

    def is_folder(self, path: str) -> bool:
        seen = self.look(path)
        return seen is not None and stat.S_ISDIR(seen[4])

    def is_executable(self, path: str) -> bool:
        seen = self.look(path)
        return seen is not None and stat.S_ISREG(seen[4]) and bool(seen[4] & 0o111)

    def document(self, path: str, syntax: str) -> Json:
        """A parsed declaration; None if it does not exist or does not parse (then with a problem)."""
        text = self.text(path)
        return None if text is None else self.parse(path, text, syntax)

    def parse(self, path: str, text: str, syntax: str, first_line: int = 0) -> Json:
        parser = {"json": parse_json, "yaml": self.yaml, "toml": parse_toml}[syntax]
        try:
            document = parser(text)
        except Unreadable as error:
            where = f"{path}:{error.line + first_line}" if error.line else path
            self.problem(f"invalid-{syntax}", error.what, where, fix=error.fix)
            return None
        if syntax == "json" and (twice := repeated_key(text, document)):
            what = f"`{twice[0]}` is here for the second time; what is under the first is lost"
            self.problem("repeated-key", what, f"{path}:{twice[1]}", fix="Put everything under one of them.")
        return document

    def yaml(self, text: str) -> Json:
        """A YAML document; raises Unreadable. Its values are counted even if it fails, because they take the time."""
        return parse_yaml(text, lambda count: self.charge(VALUES, count))

    def line(self, path: str, place: Place) -> int | None:
        """The line of a declaration."""
        return self.lines(path, [place]).get(place)

    def lines(self, path: str, places: Iterable[Place]) -> dict[Place, int]:
        """The lines of many declarations in one file; looked up only if they are shown."""
        text = self._texts.get(path)
        try:
            text = read_bytes(path).decode("utf-8") if text is None else text
            self._located += len(text)
            if self._located > MAX_LOCATED_BYTES:
                return {}
            front = split_front_matter(text) if path.endswith(".md") else None
            if front is None:
                return lines_of(text, syntax_of(path, text), places)
            return {place: line + front[1] for place, line in lines_of(front[0], "yaml", places).items()}
        except Exception:  # noqa: BLE001 (a line is a comfort: looking for it must not cost a layer)
            return {}


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_SENTENCE else f"{text[:MAX_SENTENCE]}…"
