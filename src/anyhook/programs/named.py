"""The files that a command names, for an approval to pin. Its words are interpreted in several ways, because a file
that is not found could be changed without a new approval. It reads folders and stamps, starts nothing, and expands
nothing that only a shell could."""

from __future__ import annotations

import os
import stat
import sys

from anyhook.programs.commands import expand_home
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anyhook.documents.files import Files

SEPARATORS = {ord(char): " " for char in "\t\n\r;&|<>()=:,@'\"`{}"}
"""What may be between two paths inside one word: a shell line after `-c`, an assignment, a list."""
ENTRY_FILES = ("__main__.py", "index.js", "index.mjs", "index.cjs", "index.ts", "Makefile", "main.go")
"""What runs if a folder is named instead of a script."""
MAX_FOLDERS = 8
GLOB = frozenset("*?[")


STREAMS = frozenset({"/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})


def is_stream(path: str) -> bool:
    """Whether a path names a stream of the process or an empty device: there are no bytes to pin."""
    return path in STREAMS or path.startswith("/dev/fd/")


def named_files(
    words: Sequence[str], cwd: str, home: str, variables: Mapping[str, str], files: Files
) -> tuple[str, ...]:
    """Absolute paths: every word with a slash, whether it exists or not, and every other existing file that a part of a
    word names."""
    return _Search(cwd, home, {"PWD": cwd, "HOME": home, **variables}, files).run(words)


LAUNCHERS = ("bash", "env", "python3", "sh")
"""Programs that a dialect or a shebang puts before a script, and that the declaration does not name."""


def on_project_path(words: Sequence[str], search_path: str, project: str, files: Files) -> list[str]:
    """The programs that a search path finds inside the project, where the project could change or add them."""
    found: list[str] = []
    for folder in search_path.split(":"):
        place = os.path.join(project, folder)
        if not within(place, project) and not within(files.real_path(place), project):
            continue
        for name in {piece for word in words for piece in word.translate(SEPARATORS).split()}:
            path = os.path.normpath(f"{place}/{name}")
            if "/" not in name and "\0" not in name and files.is_file(path):
                found.append(path)
    return sorted(found)


def module_files(module: str, folders: Sequence[str]) -> Iterator[str]:
    """Where Python would find a module: sources, packages and compiled extensions, every parent package included."""
    from importlib.machinery import EXTENSION_SUFFIXES

    parts = module.split(".")
    ends = [".py", ".pyc", *EXTENSION_SUFFIXES]
    for folder in folders:
        for depth in range(len(parts)):
            stem = f"{folder}/{'/'.join(parts[: depth + 1])}"
            for end in ends:
                yield from (f"{stem}{end}", f"{stem}/__init__{end}", f"{stem}/__main__{end}")


NOT_BY_OTHERS = ("test", "this", "idlelib", "turtle", "turtledemo", "lib2to3", "ensurepip", "venv")
"""Modules of the standard library that no other module imports: a project's own `test` package is in nobody's way."""


def is_standard(name: str) -> bool:
    """Whether Python code may load this module of the standard library without naming it."""
    return name in sys.stdlib_module_names and name not in NOT_BY_OTHERS


def stands_alone(path: str, files: Files) -> bool:
    """Whether Python would run this compiled file without comparing it with a source. It does compare the files that it
    writes itself, and those come and go with every run."""
    head = files.fingerprint(path).head
    return len(head) < 8 or head[4] & 0b11 == 0b01


MODULE_ENDS = {"ruby": (".rb", ".so"), "perl": (".pm", ".pl")}
MODULE_FOLDERS = {
    "ruby": ("lib/ruby/*", "lib/ruby/*/*-linux*", "lib/*/ruby/*", "lib/*/ruby/vendor_ruby/*"),
    "perl": ("share/perl5", "share/perl/*", "lib/*/perl5/*", "lib/*/perl/*", "lib/*/perl-base", "lib/perl5",
             "lib/perl5/*"),
}  # fmt: skip
"""Where Ruby and Perl have their own modules, below `/usr` and the like."""


class Installed:
    """The modules of Ruby or Perl that are installed on this machine."""

    def __init__(self, kind: str) -> None:
        from glob import glob
        from shutil import which

        program = os.path.realpath(which(kind) or "/usr/bin/x")
        bases = dict.fromkeys(["/usr", "/usr/local", os.path.dirname(os.path.dirname(program))])
        self.ends = MODULE_ENDS[kind]
        self.folders = [each for base in bases for inner in MODULE_FOLDERS[kind] for each in glob(f"{base}/{inner}")]

    def has(self, path: str) -> bool:
        """Whether a module of this relative path is installed. If none is found at all, any may be."""
        if not path.endswith(self.ends):
            return False
        stem = path.rpartition(".")[0]
        return not self.folders or any(
            os.path.exists(f"{folder}/{stem}{end}") for folder in self.folders for end in self.ends
        )

    def has_folder(self, path: str) -> bool:
        return not self.folders or any(os.path.isdir(f"{folder}/{path}") for folder in self.folders)


def within(path: str, folder: str) -> bool:
    return (path + "/").startswith(folder.rstrip("/") + "/")


class _Search:
    """One command's words."""

    def __init__(self, cwd: str, home: str, variables: Mapping[str, str], files: Files) -> None:
        self.cwd, self.home, self.files = cwd, home, files
        # The longest name first: `$PWD` must not eat the start of `$PWD_ROOT`.
        self.variables = sorted(variables.items(), key=lambda pair: -len(pair[0]))
        self.folders = [cwd]
        self.found: dict[str, None] = {}

    def run(self, words: Sequence[str]) -> tuple[str, ...]:
        plain = [self.substituted(word) for word in words]
        pieces = list(dict.fromkeys(piece for word in plain for piece in self.pieces(word) if piece))
        for piece in pieces:
            path = self.absolute(piece, self.cwd)
            if len(self.folders) < MAX_FOLDERS and path != self.cwd and self.files.is_folder(path):
                self.folders.append(path)
        for word in plain:
            self.whole(word)
        for piece in pieces:
            for folder in self.folders:
                self.take(self.absolute(piece, folder))
        self.conventions(pieces)
        return tuple(self.found)

    def substituted(self, word: str) -> str:
        for name, value in self.variables:
            word = word.replace("${" + name + "}", value).replace("$" + name, value)
        # A hook's current folder is the project, not ours.
        return word.replace("/proc/self/cwd", self.cwd).replace("/proc/thread-self/cwd", self.cwd)

    def pieces(self, word: str) -> Iterator[str]:
        """The word, what is between separators in it, and what follows an expansion or a short option."""
        yield expand_home(word, self.home)
        for piece in word.translate(SEPARATORS).split():
            yield expand_home(piece, self.home)
            before, dollar, after = piece.partition("$")
            if dollar:
                yield before
                yield after.lstrip("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip("/")
            elif piece.startswith("/") and ("$" in word or "`" in word):
                yield piece.lstrip("/")
            elif piece[:1] == "-" and piece[:2] != "--":
                yield piece[2:]

    def absolute(self, piece: str, folder: str) -> str:
        """`..` is kept: after a link it leads somewhere else."""
        path = os.path.join(folder, piece)
        return path if ".." in path.split("/") else os.path.normpath(path)

    def whole(self, word: str) -> None:
        """A word that can only be a path counts even if it does not exist yet."""
        word = expand_home(word.split("=", 1)[1] if word.startswith("--") and "=" in word else word, self.home)
        odd = any(mark in word for mark in ("\0", "$", "`", "://")) or word.startswith("-") or len(word) > 4096
        if "/" in word and not odd and not any(char.isspace() for char in word):
            path = self.absolute(word, self.cwd)
            if self.files.look(path) is None:
                self.found[path] = None

    def take(self, path: str) -> None:
        if "\0" in path or len(path) > 4096:
            return
        if GLOB.intersection(path):
            self.matches(path)
        seen = self.files.look(path)
        if seen is None:
            return
        if not stat.S_ISDIR(seen[4]):
            self.found[path] = None
        elif path != self.cwd:
            self.add(f"{path}/{name}" for name in ENTRY_FILES)

    def matches(self, pattern: str) -> None:
        from fnmatch import fnmatchcase

        folder, _, name = pattern.rpartition("/")
        if not GLOB.intersection(folder) and self.files.is_folder(folder):
            self.add(f"{folder}/{each}" for each in self.files.names(folder) if fnmatchcase(each, name))

    def conventions(self, pieces: Sequence[str]) -> None:
        for place, piece in enumerate(pieces):
            name = piece.rsplit("/", 1)[-1]
            row = row_of(name)
            for read in () if row.wraps else row.reads_here.split():  # (`engine/loads.py` reads a package.json)
                self.add(f"{folder}/{read}" for folder in self.folders)
            module = pieces[place + 1] if piece == "-m" and place + 1 < len(pieces) else ""
            if module and all(part.isidentifier() for part in module.split(".")):
                self.add(module_files(module, self.folders))

    def add(self, paths: Iterator[str]) -> None:
        for path in paths:
            if self.files.is_file(path):
                self.found[path] = None
