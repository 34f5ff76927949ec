"""Files that a line runs and that are on disk: scripts, makefiles, the scripts of packages, commands for a database.
What is in them is read as if it were in the call."""

from __future__ import annotations

import os

from anyhook.model.pattern import later, re
from anyhook.model.record import Record
from anyhook.platform.places import head
from anyhook.programs.options import option_values, sort_options
from anyhook.programs.paths import resolve
from anyhook.programs.program import UNKNOWN, Program, Word
from anyhook.programs.project_files import MakeCall, PackageCall, Recipes, package_scripts
from anyhook.programs.rows import Wraps
from anyhook.programs.statements import expanded, is_evaluated
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.programs.rows import ProgramRow

MAX_SCRIPT_BYTES = 262_144
"""How much of a file is read: its first lines."""
MAX_FILES_OF_PATTERN = 16
"""How many files of one pattern are read."""
MAX_FOLDERS_ABOVE = 12
"""In how many folders above we look for a package.json."""
START_VARIABLES = ("BASH_ENV", "ENV")
"""Variables that name a script which a shell runs first."""


class FileCode(Record):
    """Code in a file."""

    path: str
    text: str
    language: str
    """The program whose language it is: `sh`, `python3`."""
    cwd: str | None
    """The folder that it runs in."""
    params: tuple[str, ...] = ()
    """What a shell script gets as `$0`, `$1` …"""
    remote: bool = False


def scripts_of(program: Program) -> Iterator[FileCode]:
    """The files that a program runs, those that can be read."""
    if program.remote:
        return
    for variable, value in program.set:
        if variable in START_VARIABLES:
            yield from _read_scripts(Word(value, value), "sh", program)
    if program.code is None:
        yield from _run_by(program, row_of(program.name)) if program.name or program.path else _held(program)


def scripts_named(program: Program) -> Iterator[Word]:
    """The files that a shell or an interpreter is told to run, whatever is in them."""
    row = row_of(program.name)
    if program.code is None and row.language not in ("", "othersh"):
        yield from (word for word, _ in _read_as_code(program, row))
    elif row.state == "eval" or row.has("fed"):
        yield from inputs(program)


def _run_by(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    if row.recipes:
        yield from _recipes(program, row)
    elif row.has("scripts") and (found := [*_package_lines(program)]):
        yield from found
    elif row.language not in ("", "othersh"):
        for word, params in _read_as_code(program, row):
            yield from _read_scripts(word, "sh" if row.language == "sh" else program.name, program, params)
    elif row.state == "eval" or row.has("fed"):
        yield from _fed(program, row)
    elif program.via and program.via[-1].endswith(" -m"):
        yield from _module(program)
    elif "/" in program.path or (program.via and program.path.endswith(SCRIPT_ENDS)):
        yield from _started(program)


def _held(program: Program) -> Iterator[FileCode]:
    """What a variable gets from a file: a shell that counts with it runs the substitutions in its subscripts."""
    for word in inputs(program):
        for path, text in _texts_at(word, program.cwd):
            if lines := "\n".join(filter(is_evaluated, text.splitlines())):
                yield FileCode(path, expanded(lines), "sh", program.cwd)


def _fed(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """What a program gets as its input and runs as shell lines, unless what it runs is not a shell."""
    wraps = row.wraps or Wraps()
    inner = sort_options(program.words, row.values).rest[wraps.skip :] if row.wraps is not None else ()
    for word in inputs(program) if not inner or row_of(inner[0].text).is_shell else ():
        yield from (each.replace(remote=wraps.remote) for each in _read_scripts(word, "sh", program))


SCRIPT_ENDS = (".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
"""The ends of names by which `uv run x.py` and the like find a script in the current folder."""
BY_ENDING = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".ts": "node",
    ".rb": "ruby",
    ".pl": "perl",
}


def told(program: Program, row: ProgramRow) -> str | None:
    """What is in the files that tell a client of a database what to do; None if there is none that can be read."""
    if not row.told_by or program.remote or (program.stdin is not None and program.stdin.strip()):
        return None
    options = row.told_by.split()
    words = [Word(each, each) for each in option_values(program.args, [each for each in options if each != "<"])]
    words += [*inputs(program)] if "<" in options else []
    found = [text for word in words if word.known for _, text in _texts_at(word, program.cwd)]
    return _without_new("\n".join(found)) if found else None


DROPPED_AND_MADE = later(
    r"(?i)\bdrop\s+(\w+)\s+if\s+exists\s+([\w.\"`]+)\s*(?:cascade\s*)?;(?=.*?\bcreate\s+\1\s+\2(?![\w.]))", re.S
)


def _without_new(text: str) -> str:
    """Without the drops of what the same file then creates, as files with a schema begin."""
    return DROPPED_AND_MADE.sub(";", text) if "drop" in text.lower() else text


def _read_scripts(word: Word, language: str, program: Program, params: tuple[str, ...] = ()) -> Iterator[FileCode]:
    for path, text in _texts_at(word, program.cwd):
        yield FileCode(path, text, language, program.cwd, params)


def _texts_at(word: Word, cwd: str | None) -> Iterator[tuple[str, str]]:
    """The texts that a word names, with their paths."""
    if not word.known or (cwd is None and not word.text.startswith(("/", "~"))):
        return
    for path in _matches(resolve(word, cwd)) if word.globs else [resolve(word, cwd)]:
        if text := text_at(path):
            yield path, text


def _matches(pattern: str) -> list[str]:
    """The first files that a pattern matches."""
    from glob import iglob
    from itertools import islice

    if "**" in pattern:  # what `find` names
        folder, _, name = pattern.partition("/**/")
        pattern = f"{folder}/{name}" if name and "/" not in name else ""
    return sorted(islice(iglob(pattern), MAX_FILES_OF_PATTERN)) if pattern else []


def text_at(path: str) -> str:
    """What a script says, up to the last whole line that is read; "" if it is not a text, or not there."""
    data = head(path, MAX_SCRIPT_BYTES) or b""
    if len(data) >= MAX_SCRIPT_BYTES:
        data = data[: data.rfind(b"\n") + 1]
    return "" if b"\0" in data[:512] else data.replace(b"\0", b"").decode("utf-8", "replace")


def inputs(program: Program) -> Iterator[Word]:
    """The files that a program gets as its input, also through `cat`."""
    yield from (each.target for each in program.redirections if each.reads)
    producers = program.stdin_from
    counted: set[int] = set()
    for last in reversed(producers):  # what it reads includes what those before it read
        if id(last) not in counted and not row_of(last.name).has("filters"):
            counted.update(map(id, last.stdin_from))
    for each in producers:
        if row_of(each.name).has("filters") and not each.remote and id(each) not in counted:
            yield from (word for word in each.words if not word.text.startswith("-"))
            yield from (redirection.target for redirection in each.redirections if redirection.reads)


def _read_as_code(program: Program, row: ProgramRow) -> Iterator[tuple[Word, tuple[str, ...]]]:
    """The files that an interpreter runs: its first argument, what it loads first, what its input is read from; and the
    parameters that they get."""
    words = [*program.words]
    options = sort_options(words, row.values)
    rest = _behind_verb(options.rest, row)
    place = words.index(rest[0]) if rest else len(words)
    if any(word.text in row.not_if.split() for word in words[:place]):
        return
    if rest:
        yield rest[0], tuple(word.source for word in words[place:] if word.known)
    for value in options.values(*row.loads.split()):
        yield value, ()
    is_there = bool(rest) and rest[0].known and os.path.exists(resolve(rest[0], program.cwd))
    if not is_there or rest[0].text in ("-", "/dev/stdin") or options.has("-s"):
        yield from ((word, ()) for word in inputs(program))


def _behind_verb(rest: tuple[Word, ...], row: ProgramRow) -> tuple[Word, ...]:
    """The script of an interpreter and what follows: after `run`, and none after a verb that runs a program."""
    first = rest[0].text if rest else ""
    if row.wraps is not None and first in row.wraps.verbs.split():
        return ()
    return rest[1:] if first in row.script_after.split() else rest


def _module(program: Program) -> Iterator[FileCode]:
    """`python -m NAME`, of a module in the current folder."""
    place = program.name.replace(".", "/")
    for name in (f"{place}.py", f"{place}/__main__.py"):
        yield from _read_scripts(Word(name, name), program.via[-1].partition(" ")[0], program)


def _started(program: Program) -> Iterator[FileCode]:
    """A script that is run by its path: its first line, or its name, says in which language it is."""
    name = Word(program.path, program.path)
    for path, text in _texts_at(name, program.cwd) if UNKNOWN not in program.path else ():
        first = text.partition("\n")[0]
        language = _language_of(first) if first.startswith("#!") else BY_ENDING.get(os.path.splitext(path)[1], "sh")
        if language:
            params = (path, *(word.source for word in program.words if word.known))
            yield FileCode(path, text, language, program.cwd, params)


def _language_of(first: str) -> str:
    """The language that the first line of a script names; "" if that language is not read."""
    known = re.findall(r"[\w.-]+", first)
    name = next((each for each in known if row_of(each).language not in ("", "othersh")), "")
    return "sh" if row_of(name).language == "sh" else name


# What a project's files name.


def _recipes(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """The lines of the targets that `make` or `just` is told to make, and of what they need. Each line is run by
    itself."""
    call = MakeCall.of(program.words, row)
    cwd = resolve(call.folder, program.cwd) if call.folder else program.cwd
    if cwd is None:
        return

    def find(name: str) -> Iterator[tuple[str, str]]:
        filled = recipes.filled(name, recipes.values)
        return _texts_at(Word(filled, filled, globs="*" in filled), cwd)

    recipes = Recipes(row, find)
    named = [word.source for word in call.files]
    for name in named or [name for name in row.reads_here.split() if any(find(name))][:1]:
        recipes.include(name)
    recipes.values.update(call.values)
    lines = [recipes.filled(line, recipes.values) for line in recipes.asked]
    if not call.only_shows:
        lines += [line for _, lines in recipes.reached(call.wanted, recipes.values) for line in lines]
    for line in lines:
        yield from _of_recipe(line, recipes.path, cwd)


def _of_recipe(line: str, path: str, cwd: str) -> Iterator[FileCode]:
    language = _language_of(line.partition("\n")[0]) if line.startswith("#!") else "sh"
    if language:
        yield FileCode(path, line, language, cwd)


def _quoted(words: tuple[str, ...]) -> str:
    import shlex

    return shlex.join(words)


def _package_lines(program: Program) -> Iterator[FileCode]:
    """The scripts of `npm run NAME` in package.json, with those that run before and after it."""
    call = PackageCall.of(program.words)
    path, scripts = _package(resolve(call.folder, program.cwd) if call.folder else program.cwd)
    for name in filter(scripts.__contains__, call.names):
        more = _quoted(call.given) if name == call.script else ""
        yield FileCode(path, f"{scripts[name]} {more}".strip(), "sh", os.path.dirname(path))


def _package(folder: str | None) -> tuple[str, dict[str, str]]:
    """The nearest package.json, and its scripts."""
    for _ in range(MAX_FOLDERS_ABOVE):
        if not folder:
            break
        if text := text_at(path := f"{folder.rstrip('/')}/package.json"):
            return path, package_scripts(text)
        folder = os.path.dirname(folder) if folder != "/" else None
    return "", {}
