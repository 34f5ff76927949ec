"""Files that a line runs and that are on disk: scripts, makefiles, the scripts of packages, commands for a database.
What is in them is read as if it were in the call."""

from __future__ import annotations

import os
import re
from shlex import quote

from anyhook.model import lean_json
from anyhook.model.record import Record
from anyhook.platform.places import head
from anyhook.programs.options import option_values, sort_options
from anyhook.programs.paths import resolve
from anyhook.programs.program import UNKNOWN, Program, Word
from anyhook.programs.rows import Wraps
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anyhook.programs.rows import ProgramRow

    Targets = dict[str, tuple[list[str], list[str]]]
    """What each target needs, and its lines."""

MAX_SCRIPT_BYTES = 262_144
"""How much of a file is read: its first lines."""
MAX_FILES_OF_PATTERN = 16
"""How many files of one pattern are read."""
MAX_NAMED = 8
"""How often the value of a variable in a makefile may name another."""
MAX_FOLDERS_ABOVE = 12
"""In how many folders above we look for a package.json."""
START_VARIABLES = ("BASH_ENV", "ENV")
"""Variables that name a script which a shell runs first."""
TARGET = re.compile(r"^([^\s#=:][^=:#]*?)\s*::?(?!=)\s*([^=;#]*)(?:;(.*))?$")
RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)\s*([^#]*)")
"""The first line of a recipe for `just`."""
MAKE_VARIABLE = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)\s*(?:::?|\?)?=\s*(.*)$")
REFERENCE = re.compile(r"\$(?:\(([^()\s]+)\)|\{(\w+)\}|([@<^]))|\$\((\w+ (?:[^()]|\([^()]*\))*)\)")
"""A variable of a makefile, or a call of a function in one."""
SCRIPT_OF_VERB = {
    "test": "test", "t": "test", "tst": "test", "start": "start", "stop": "stop", "restart": "restart",
    "install": "install", "i": "install", "ci": "install", "": "",
}  # fmt: skip
"""Sub-commands of the managers of packages that run a script of the package, and its name."""
INSTALLING = ("preinstall", "install", "postinstall", "prepare")
"""The scripts that an installation runs."""


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
        yield from _run_by(program, row_of(program.name))


def _run_by(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    if row.has("makes"):
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


DROPPED_AND_MADE = re.compile(
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
    for each in program.stdin_from:
        if row_of(each.name).has("filters") and not each.remote:
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


# Makefiles.


def _recipes(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """The lines of the targets that `make` or `just` is told to make, and of what they need. Each line is run by
    itself."""
    options = sort_options(program.words, row.values)
    folders = options.values("-C", "--directory", "-d", "--working-directory")
    cwd = resolve(folders[-1], program.cwd) if folders else program.cwd
    if cwd is None or options.has("-n", "--dry-run", "--just-print", "--recon"):
        return
    path, text = _first_text(options.values("-f", "--file", "--makefile", "--justfile"), row, cwd)
    wanted = [word.text for word in options.rest if "=" not in word.text]
    if row.name == "just":
        yield from _of_just(path, _just_targets(text), wanted, cwd)
        return
    targets = _make_targets(text)
    values = {**_variables(text), **dict(word.text.split("=", 1) for word in options.rest if "=" in word.text)}
    for name in _needed(wanted or [*targets][:1], targets):
        needs, lines = targets[name]
        yield from (FileCode(path, _filled(line, values, name, needs), "sh", cwd) for line in lines)


def _first_text(files: list[Word], row: ProgramRow, cwd: str) -> tuple[str, str]:
    """The makefile that is used, and what it says."""
    files = files or [Word(name, name) for name in row.reads_here.split()]
    return next((found for word in files for found in _texts_at(word, cwd)), ("", ""))


def _of_just(path: str, targets: Targets, wanted: list[str], cwd: str) -> Iterator[FileCode]:
    for name in _needed(wanted[:1] or [*targets][:1], targets):  # what follows are parameters
        lines = targets[name][1]
        if lines[:1] and lines[0].startswith("#!"):
            language = _language_of(lines[0])
            yield from [FileCode(path, "\n".join(lines), language, cwd)] if language else []
        else:
            made = (re.sub(r"\{\{.*?\}\}", "$__just__", line) for line in lines)
            yield from (FileCode(path, line, "sh", cwd) for line in made)


def _needed(wanted: Iterable[str], targets: Targets) -> list[str]:
    """The targets that are made, with those that they need."""
    seen: dict[str, None] = {}
    left = [*wanted]
    while left:
        name = left.pop()
        if name in targets and name not in seen:
            seen[name] = None
            left.extend(targets[name][0])
    return [*seen]


def _make_targets(text: str) -> Targets:
    found: Targets = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in current:
                found[target][1].append(line.strip().lstrip("@-+"))
        elif made := TARGET.match(line):
            current = [name for name in made[1].split() if not name.startswith(".") or "/" in name]
            for target in current:
                needs, lines = found.setdefault(target, ([], []))
                needs.extend(made[2].split())
                lines.extend([made[3].strip()] if made[3] else [])
    return found


def _just_targets(text: str) -> Targets:
    found: Targets = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith((" ", "\t")):
            current.append(line.strip().lstrip("@-"))
        elif made := RECIPE.match(line):
            current = []
            found[made[1]] = (re.findall(r"[\w-]+", made[2]), current)
    return found


def _variables(text: str) -> dict[str, str]:
    found = [MAKE_VARIABLE.match(line) for line in text.replace("\\\n", " ").splitlines()]
    return {each[1]: each[2].partition(" #")[0].strip() for each in found if each is not None}


def _filled(line: str, values: dict[str, str], target: str, needs: list[str]) -> str:
    """A line with the values of its variables. Those that are not known become variables of the shell, without one."""
    own = {"@": target, "<": (needs or [""])[0], "^": " ".join(needs), "MAKE": "make"}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        if not name:
            return "$__make__"
        known = own.get(name, values.get(name))
        return known if known is not None else f"${{{name}}}" if name.isidentifier() else "$__make__"

    line = line.replace("$$", "\0")
    for _ in range(MAX_NAMED):
        if not REFERENCE.search(line):
            break
        line = REFERENCE.sub(value, line)
    return REFERENCE.sub("$__make__", line).replace("\0", "$").lstrip("@-+")


# Packages of JavaScript.


def _package_lines(program: Program) -> Iterator[FileCode]:
    """The scripts of `npm run NAME` in package.json, with those that run before and after it."""
    options = sort_options(program.words, "CFw prefix dir cwd filter workspace")
    folders = options.values("-C", "--prefix", "--dir", "--cwd")
    rest = [word.source for word in options.rest]
    is_run = rest[:1] in (["run"], ["run-script"])
    name = (rest[1:2] or [""])[0] if is_run else SCRIPT_OF_VERB.get((rest or [""])[0], (rest or [""])[0])
    given = rest[2:] if is_run else rest[1:]
    path, scripts = _package(resolve(folders[-1], program.cwd) if folders else program.cwd)
    names: tuple[str, ...] = (f"pre{name}", name, f"post{name}")
    if name == "install" and not is_run:
        names, given = () if given else INSTALLING, []
    for key in names:
        line = scripts.get(key)
        if isinstance(line, str) and key:
            more = " ".join(map(quote, given)) if key == name else ""
            yield FileCode(path, f"{line} {more}".strip(), "sh", os.path.dirname(path))


def _package(folder: str | None) -> tuple[str, dict[str, object]]:
    """The nearest package.json, and its scripts."""
    for _ in range(MAX_FOLDERS_ABOVE):
        if not folder:
            break
        if text := text_at(f"{folder.rstrip('/')}/package.json"):
            try:
                found = lean_json.loads_any(text)
            except (ValueError, RecursionError):
                break
            scripts = found.get("scripts") if isinstance(found, dict) else None
            return f"{folder.rstrip('/')}/package.json", {**scripts} if isinstance(scripts, dict) else {}
        folder = os.path.dirname(folder) if folder != "/" else None
    return "", {}
