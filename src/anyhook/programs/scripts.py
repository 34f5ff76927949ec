"""Files that a line runs and that are on disk: scripts, makefiles, the scripts of packages, commands for a database.
What is in them is read as if it were in the call."""

from __future__ import annotations

import os
from itertools import islice

from anyhook.model.pattern import later, re
from anyhook.model.record import Record
from anyhook.platform.places import head
from anyhook.programs.options import SortedOptions, option_values, sort_options
from anyhook.programs.paths import resolve
from anyhook.programs.program import UNKNOWN, Made, Program, Word
from anyhook.programs.project_files import MakeCall, PackageCall, Recipes, package_scripts
from anyhook.programs.rows import ProgramRow, Wraps
from anyhook.programs.statements import expanded, is_evaluated
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.programs.rows import Language, RecipeKind

MAX_SCRIPT_BYTES = 262_144
"""How much of a file is read: its first lines."""
MAX_FILES_OF_PATTERN = 16
"""How many files of one pattern are read."""
MAX_FOLDERS_ABOVE = 12
"""In how many folders above we look for a package.json."""
PYTHON_PROGRAM = "python3"
LOADED_FIRST = later(r"(?:^|\s)(?:-r|-M|--require|--import|--loader)[ =]?\s*['\"]?([^\s'\"]+)")
OPTIONS_IN = {"NODE_OPTIONS": "node", "RUBYOPT": "ruby", "PERL5OPT": "perl"}
"""Variables with options, one of which names what is loaded first, and the program that gets them."""
START_VARIABLES = {
    "BASH_ENV": ("sh", ""), "ENV": ("sh", ""), "PYTHONSTARTUP": (PYTHON_PROGRAM, ""),
    "PYTHONPATH": (PYTHON_PROGRAM, "/sitecustomize.py"), "ZDOTDIR": ("sh", "/.z*"),
}  # fmt: skip
"""Variables that name a script which a shell or an interpreter runs first, or its folder; and its language."""
STANDS_FOR: dict[Language, tuple[str, ...]] = {
    "python": ("/__main__.py",),
    "node": (".js", ".json", ".node", "/index.js", "/index.json", "/index.node", "/package.json"),
    "other": (".java",),
}
"""Languages whose interpreters find a script in a folder, or without its ending."""
IMPORTS: dict[Language, re.Pattern[str]] = {
    "python": later(r"^[ \t]*(?:from[ \t]+\.*([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.M),
    "node": later(r"(?:\brequire\(|\bfrom\s|\bimport\s*\(?|\bfork\()\s*['\"](\.{1,2}/[^'\"\n]+)"),
}
ADDED = later(r"sys\.path\.(?:insert\(\s*0,|append\()\s*['\"]([^'\"\n]+)['\"]")
MORE_ENDS = ("", ".js", ".mjs", ".cjs", ".ts", "/index.js", ".rb", ".pm", ".pl", ".lua", ".php")
"""Folders in which Python looks for modules too, and the ends that names of files may lack in other languages."""
BY_PATH = later(
    r"\b(?:require(?:_relative|_once)?|include(?:_once)?|load|dofile|source|do|run_path)\b\s*\(?\s*['\"]([^'\"\n]+)['\"]"
)
"""How code names other files of the project that it runs."""
HARMFUL = later(
    r"rmtree|unlink|removeSync|rmSync|rmdir|RemoveAll|os\.remove|os\.system|subprocess|child_process|\.ssh\b|\.aws\b"
    r"|expanduser|homedir|\bHOME\b|Path\.home"
)
"""Such a file is read if it has one of these: most have none, and reading takes time."""
MAX_COPIES = 8
"""How often a file that is read may be a copy of another."""
MAX_IMPORTS = 16
"""How many files one piece of code may name."""


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
            language, name = START_VARIABLES[variable]
            yield from _read_scripts(Word(value + name, value + name, "*" in name), language, program)
        for name in LOADED_FIRST.findall(value) if variable in OPTIONS_IN else ():
            for end in MORE_ENDS:
                yield from _read_scripts(Word(name + end, name + end), OPTIONS_IN[variable], program)
    if program.code is not None:
        yield from imported(program.code, program.name, (program.cwd or "",), program)
    else:
        yield from _run_by(program, row_of(program.name)) if program.name or program.path else _held(program)


def language_of(name: str) -> Language:
    """The language of the files that a program runs."""
    return row_of(name).language or row_of(name).files_in


def scripts_named(program: Program) -> Iterator[Word]:
    """The files that a shell or an interpreter is told to run, whatever is in them."""
    row = row_of(program.name)
    if program.code is None and row.language not in ("", "othersh"):
        yield from (word for word, _ in _read_as_code(program, row))
    elif row.state == "eval" or row.has("fed"):
        yield from inputs(program)


def _run_by(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    if found := [*_of_project(program, row)]:
        yield from found
    elif row.language:
        for word, params in _read_as_code(program, row):
            yield from _read_scripts(word, _known_as(row, program.name), program, params)
    elif row.state == "eval" or row.has("fed"):
        yield from _fed(program, row)
    elif program.via and program.via[-1].endswith(" -m"):
        yield from _module(program)
    elif "/" in program.path or (program.via and program.path.endswith(SCRIPT_ENDS)):
        yield from _started(program)


def _of_project(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """What a project's files say: makefiles and the like, lists of scripts, tests."""
    if row.makes:
        yield from _recipes(program, row)
    elif row.recipes == "setup":
        yield from _built(program, row)
    elif row.recipes:
        yield from _listed_lines(program, row)
    elif row.files_in:
        yield from _given_files(program, row)
    elif row.has("scripts") or (row.language == "node" and "--run" in program.args[:2]):
        yield from _package_lines(program)


def _known_as(row: ProgramRow, name: str) -> str:
    """The program whose language the files of a program are in."""
    return "sh" if row.language in ("sh", "othersh") else name


def _given_files(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """The files that a test runner or the like is given, and those that it finds by itself in a folder."""
    rest = sort_options(program.words, row.values).rest
    given = [word.text.partition("::")[0] for word in rest if word.known]
    if row.script_after and {*row.script_after.split()}.isdisjoint(program.args):
        return
    known = {end: name for end, name in BY_ENDING.items() if language_of(name) == row.files_in}
    named = [name for name in given if os.path.splitext(name)[1] in known]
    for each in dict.fromkeys([*_files_in(given, program, row), *named]):
        language = known.get(os.path.splitext(each)[1], row.files_in)
        yield from _read_scripts(Word(each, each, "*" in each), language, program)


def _files_in(given: Sequence[str], program: Program, row: ProgramRow) -> list[str]:
    """The files that a program finds by itself, here and in the folders that it is given; to test or to build, only
    those for that."""
    folders = ["", *(each for each in given if os.path.isdir(resolve(each, program.cwd)))]
    found = [os.path.join(folder, name) for folder in folders for name in row.reads_here.split()]
    verb = next((each for each in ("test", "build") if each in given and each in row.script_after.split()), "")
    return [each for each in found if verb in each]


def _listed_lines(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """The lines of a Taskfile's tasks, of the scripts in a JSON file, of the services in a compose file, or the code of
    tasks."""
    from anyhook.programs.tasks import tasks_of

    kind, options = row.recipes, sort_options(program.words, row.values)
    folder = (*options.values("-C", "--prefix", "--dir", "--cwd", "-d"), None)[0]
    wanted, names = _wanted(program, row, options)
    for path, text in _nearest(names, resolve(folder, program.cwd) if folder else program.cwd, program.made):
        for code in tasks_of(kind, text, wanted):
            yield FileCode(path, code, LANGUAGE_OF.get(kind, "sh"), os.path.dirname(path))


def _wanted(program: Program, row: ProgramRow, options: SortedOptions) -> tuple[list[str], list[str]]:
    """The tasks that are named, and the files that may have them."""
    wanted, names = [word.text for word in options.rest], row.reads_here.split()
    if row.recipes == "compose":
        starts = "compose" in (*wanted, program.name.rpartition("-")[2]) and not STARTING.isdisjoint(wanted)
        return wanted, [word.text for word in options.values("-f", "--file")] or names if starts else []
    if row.recipes == "keys":
        return wanted, names if not {*row.script_after.split()}.isdisjoint(wanted) else []
    if row.recipes in WANTED_BY_OPTIONS:
        wanted = [each for word in program.words for each in (word.text, *word.text.split(","))]
    return wanted, [each for each in wanted if each.endswith((".yml", ".yaml"))] if row.recipes == "play" else names


def _built(program: Program, row: ProgramRow) -> Iterator[FileCode]:
    """The `setup.py` of the folders that are built or installed. It runs in every case."""
    folders = [word.text.partition("[")[0] for word in program.words if word.known]
    for path in [f"{each}/{row.reads_here}" for each in folders if "/" in each or each == "."]:
        for script in _read_scripts(Word(path, path), PYTHON_PROGRAM, program):
            yield script.replace(cwd=os.path.dirname(script.path))


STARTING = frozenset({"up", "run", "start"})
LANGUAGE_OF: dict[RecipeKind, str] = {
    "rake": "ruby", "nox": PYTHON_PROGRAM, "invoke": PYTHON_PROGRAM, "gradle": "groovy", "gulp": "node",
}  # fmt: skip
"""Files whose tasks are code, and the program whose language it is."""
WANTED_BY_OPTIONS = (*LANGUAGE_OF, "tox", "play")
"""Where options name what is wanted too."""


def imported(code: str, name: str, folders: tuple[str, ...], program: Program) -> Iterator[FileCode]:
    """The files of the project that code loads, if anything in them may do harm."""
    language = language_of(name)
    if language == "sh" or not language:
        return
    is_python = language == "python"
    if is_python:
        folders = (*folders, *(os.path.join(folder, found[1]) for found in ADDED.finditer(code) for folder in folders))
    for each in dict.fromkeys(_named_by(code, language)):
        stem = each.partition(" ")[0].replace(".", "/") if is_python else each
        ends = (".py", "/__init__.py") if is_python else MORE_ENDS
        paths = [os.path.normpath(f"{folder}/{stem}{end}") for folder in folders if folder for end in ends]
        found = next(filter(None, ([*texts_of(path, program.made)] for path in paths)), ())
        yield from (FileCode(path, text, name, program.cwd) for path, text in found if HARMFUL.search(text))


def _named_by(code: str, language: Language) -> Iterator[str]:
    """The modules and files that code names."""
    for found in islice(IMPORTS.get(language, BY_PATH).finditer(code), MAX_IMPORTS):
        yield from (each.strip() for each in str(found[found.lastindex or 0]).split(","))
    for found in BY_PATH.finditer(code) if language == "python" else ():
        yield found[1].removesuffix(".py")


def _held(program: Program) -> Iterator[FileCode]:
    """What a variable gets from a file: a shell that counts with it runs the substitutions in its subscripts."""
    for word in inputs(program):
        for path, text in texts_at(word, program):
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
    ".py": "python3", ".pyx": "python3", ".rb": "ruby", ".pl": "perl", ".pm": "perl", ".go": "go", ".sh": "sh",
    ".php": "php", ".lua": "lua", ".exs": "elixir", ".ex": "elixir",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts"), "node"),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".m"), "tcc"),
    ".rs": "cargo", ".java": "java", ".swift": "swift", ".kt": "kotlin", ".cs": "dotnet", ".zig": "zig",
    ".nim": "nim", ".nims": "nim", ".hs": "runghc", ".ml": "ocaml", ".dart": "dart", ".erl": "erl", ".scala": "scala",
    ".clj": "clojure", ".rkt": "racket", ".scm": "guile", ".cr": "crystal", ".raku": "raku",
}  # fmt: skip
"""The program that runs a file, by the end of its name."""
BUILT_FROM = (".c", ".cc", ".cpp", ".rs", ".go", ".swift", ".nim", ".hs", ".zig", ".ml")
"""The sources of a program that has the same name, or of `a.out`."""


def told(program: Program, row: ProgramRow) -> str | None:
    """What is in the files that tell a client of a database what to do; None if there is none that can be read."""
    if not row.told_by or (program.stdin is not None and program.stdin.strip()):
        return None
    words = [] if program.remote else [*_told_files(program, row)]
    words += [*inputs(program)] if "<" in row.told_by else []
    found = [text for word in words if word.known for _, text in texts_at(word, program)]
    return _without_new("\n".join(found)) if found else None


def _told_files(program: Program, row: ProgramRow) -> Iterator[Word]:
    """The files that its options, its arguments or its own language name."""
    named = [*option_values(program.args, [each for each in row.told_by.split() if each[0] == "-"])]
    for text in program.args if row.own_files else ():
        named += INCLUDED.findall(text)
    yield from (Word(each, each) for each in named)
    if "*" in row.told_by:
        yield from sort_options(program.words, row.values).rest


INCLUDED = later(r"(?im)^\s*(?:\.read|\\ir?|\\include|source|\\\.)\s+['\"]?([^\s'\";]+)")
"""A file that is named in the language of a database client."""
DROPPED_AND_MADE = later(
    r"(?i)\bdrop\s+(\w+)\s+if\s+exists\s+([\w.\"`]+)\s*(?:cascade\s*)?;(?=.*?\bcreate\s+\1\s+\2(?![\w.]))", re.S
)


def _without_new(text: str) -> str:
    """Without the drops of what the same file then creates, as files with a schema begin."""
    return DROPPED_AND_MADE.sub(";", text) if "drop" in text.lower() else text


def _read_scripts(word: Word, language: str, program: Program, params: tuple[str, ...] = ()) -> Iterator[FileCode]:
    for path, text in texts_at(word, program):
        yield FileCode(path, text, language, program.cwd, params)


def texts_at(word: Word, program: Program) -> Iterator[tuple[str, str]]:
    """The texts that a word names, with their paths."""
    cwd = program.cwd
    if not word.known or (cwd is None and not word.text.startswith(("/", "~"))):
        return
    for path in _matches(resolve(word, cwd)) if word.globs else [resolve(word, cwd)]:
        yield from texts_of(path, program.made)


def texts_of(path: str, made: Made | None, copies: int = MAX_COPIES) -> Iterator[tuple[str, str]]:
    """What is in a file: what the line puts there, or copies there, or what was there before."""
    versions = made.get(path, ()) if made and copies else ()
    for text, origins in reversed(versions):
        if text is not None:
            yield path, text
        for each in origins if text is None else ():
            for word in inputs(Program("", stdin_from=(each,))):
                source = resolve(word, each.cwd)
                yield from texts_of(source, made, copies - 1 if source != path else 0)
    if not versions and (text := _text_at(path)):
        yield path, text


def _matches(pattern: str) -> list[str]:
    """The first files that a pattern matches."""
    from glob import iglob
    from itertools import islice

    if "**" in pattern:  # what `find` names
        folder, _, name = pattern.partition("/**/")
        pattern = f"{folder}/{name}" if name and "/" not in name else ""
    return sorted(islice(iglob(pattern), MAX_FILES_OF_PATTERN)) if pattern else []


def _text_at(path: str) -> str:
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
    for end in STANDS_FOR.get(row.language, ()) if rest else ():
        yield Word(f"{rest[0].text}{end}", f"{rest[0].source}{end}"), ()
    if not _is_script(rest, program) or options.has("-s"):
        yield from ((word, ()) for word in inputs(program))


def _is_script(rest: tuple[Word, ...], program: Program) -> bool:
    """Whether the first of these arguments is a file, so that an interpreter does not read its input."""
    is_named = bool(rest) and rest[0].known and rest[0].text not in ("-", "/dev/stdin")
    return is_named and os.path.exists(resolve(rest[0], program.cwd))


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
    found = [*texts_at(name, program)] if UNKNOWN not in program.path else []
    for path, text in found or _built_from(program):
        first = text.partition("\n")[0]
        language = _language_of(first) if first.startswith("#!") else BY_ENDING.get(os.path.splitext(path)[1], "sh")
        if language:
            params = (path, *(word.source for word in program.words if word.known))
            yield FileCode(path, text, language, program.cwd, params)


def _built_from(program: Program) -> Iterator[tuple[str, str]]:
    """The sources of a program that a compiler made, by its name."""
    path = resolve(program.path, program.cwd)
    if os.path.isfile(path) or os.path.basename(path) == "a.out":
        for end in BUILT_FROM:
            name = f"{os.path.dirname(path)}/*{end}" if os.path.basename(path) == "a.out" else f"{path}{end}"
            yield from texts_at(Word(name, name, "*" in name), program)


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
        return texts_at(Word(filled, filled, globs="*" in filled), program.replace(cwd=cwd))

    recipes = Recipes(row, find)
    recipes.values.update(program.set)
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
    folder = resolve(call.folder, program.cwd) if call.folder else program.cwd
    for path, text in _nearest(["package.json"], folder, program.made):
        scripts = package_scripts(text)
        for name in filter(scripts.__contains__, call.names):
            more = _quoted(call.given) if name == call.script else ""
            yield FileCode(path, f"{scripts[name]} {more}".strip(), "sh", os.path.dirname(path))


def _nearest(names: Sequence[str], folder: str | None, made: Made | None) -> Iterator[tuple[str, str]]:
    """The first of these files in a folder or above it, with its text."""
    for _ in range(MAX_FOLDERS_ABOVE):
        if not folder:
            break
        for path in (f"{folder.rstrip('/')}/{name}" for name in names):
            if found := [*texts_of(path, made)]:
                yield from found
                return
        folder = os.path.dirname(folder) if folder != "/" else None
