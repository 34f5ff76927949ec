"""Scripts and makefiles that a line runs and that are on disk: they are read as if their lines were in the call."""

from __future__ import annotations

import re

from anyhook.guard.own_programs import OURS
from anyhook.model import lean_json
from anyhook.platform.places import head
from anyhook.programs.collect import Collector
from anyhook.programs.options import sort_options
from anyhook.programs.paths import resolve
from anyhook.programs.program import Program, Word
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anyhook.programs.rows import ProgramRow

MAX_BYTES = 262_144
START_VARIABLES = ("BASH_ENV", "ENV")
"""Variables that name a script which a shell runs first."""
TARGET = re.compile(r"^([^\s#=:][^=:#]*?)\s*::?(?!=)\s*([^=;#]*)(?:;(.*))?$")


def run_by(program: Program, home: str, launchers: Collection[str]) -> Iterator[Program]:
    """The programs that a script runs which this program runs; nothing if it runs none, or none that can be read.
    `launchers` are the files of our command. One may be a script, and what it does is decided by its verb."""
    if "/" in program.path and resolve(program.path, program.cwd) in launchers:
        return
    if (verb := _after_launcher(program, launchers)) is not None:
        args = tuple(word.text for word in verb)
        yield Program(OURS[0], args, verb, OURS[0], (*program.via, program.name), cwd=program.cwd)
        return
    for text, name, cwd in _code_of(program):
        into = Collector(home)
        if row_of(name).language == "sh":
            into.shell(text, cwd, via=(*program.via, program.name))
        else:
            into.program(Program(name, cwd=cwd, code=text, path=name, via=(*program.via, program.name)))
        yield from into.runs


def _after_launcher(program: Program, launchers: Collection[str]) -> tuple[Word, ...] | None:
    """The words after our command, if an interpreter runs it as a script."""
    if program.code is not None or program.remote or row_of(program.name).language in ("", "othersh"):
        return None
    place = next((at for at, word in enumerate(program.words) if not word.text.startswith("-")), None)
    if place is None or resolve(program.words[place], program.cwd) not in launchers:
        return None
    return program.words[place + 1 :]


def _code_of(program: Program) -> Iterator[tuple[str, str, str | None]]:
    """Code, its language, and the folder that it runs in."""
    name, cwd = program.name, program.cwd
    if program.remote:
        return
    for variable, value in program.set:
        if variable in START_VARIABLES and (text := _text(resolve(value, cwd))):
            yield text, "sh", cwd
    if program.code is not None:
        return
    row = row_of(name)
    if row.has("makes"):
        yield from _recipes(program, row)
    elif row.has("scripts"):
        yield from ((line, "sh", cwd) for line in _package_lines(program))
    elif row.language not in ("", "othersh"):
        for word in _read_as_code(program):
            if text := _text(resolve(word, cwd)):
                yield text, "sh" if row.language == "sh" else name, cwd
    elif "/" in program.path and (text := _text(resolve(program.path, cwd))):
        first = text.partition("\n")[0]
        known = re.findall(r"[\w.-]+", first) if first.startswith("#!") else ["sh"]
        language = next((each for each in known if row_of(each).language not in ("", "othersh")), "")
        if language:
            yield text, language, cwd


def _read_as_code(program: Program) -> Iterator[Word]:
    """The files that an interpreter runs: its first argument, what its input is read from, what a variable names."""
    first = next((word for word in program.words if not word.text.startswith("-")), None)
    inputs = [each.target for each in program.redirections if each.reads]
    printed = [word for each in program.stdin_from if row_of(each.name).has("filters") for word in each.words]
    for word in (*([first] if first is not None else ()), *inputs, *printed):
        if word.known and not word.text.startswith("-"):
            yield word


def _text(path: str) -> str:
    """What a script says; "" if it is not a text, or not there."""
    data = head(path, MAX_BYTES) or b""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def _recipes(program: Program, row: ProgramRow) -> Iterator[tuple[str, str, str | None]]:
    """The lines of the targets that `make` is told to make, and of what they need."""
    options = sort_options(program.words, row.values)
    folders = options.values("-C", "--directory")
    cwd = resolve(folders[-1], program.cwd) if folders else program.cwd
    files = options.values("-f", "--file", "--makefile") or [Word(name, name) for name in row.reads_here.split()]
    text = next(filter(None, (_text(resolve(word, cwd)) for word in files)), "")
    needs, lines = _targets(text, ("\t", " ") if row.name == "just" else ("\t",))
    wanted = [word.text for word in options.rest if "=" not in word.text] or [*needs][:1]
    seen: list[str] = []
    while wanted:
        target = wanted.pop()
        if target not in seen:
            seen.append(target)
            wanted.extend(needs.get(target, ()))
    if wanted_lines := [line for target in seen for line in lines.get(target, ())]:
        yield "\n".join(wanted_lines), "sh", cwd


def _targets(text: str, indent: tuple[str, ...]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What the targets of a makefile need, and their lines."""
    needs: dict[str, list[str]] = {}
    lines: dict[str, list[str]] = {}
    targets: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith(indent):
            recipe = line.strip().lstrip("@-+").replace("$(MAKE)", "make").replace("$$", "$")
            for target in targets:
                lines.setdefault(target, []).append(recipe)
        elif found := TARGET.match(line):
            targets = found[1].split()
            for target in targets:
                needs.setdefault(target, []).extend(found[2].split())
                lines.setdefault(target, []).extend([found[3].strip()] if found[3] else [])
    return needs, lines


def _package_lines(program: Program) -> Iterator[str]:
    """The scripts of `npm run NAME` in package.json, with those that run before and after it."""
    options = sort_options(program.words, "CFw prefix dir cwd filter workspace")
    folders = options.values("-C", "--prefix", "--dir", "--cwd")
    texts = [word.text for word in options.rest]
    name = texts[1] if texts[:1] in (["run"], ["run-script"]) and texts[1:] else texts[0] if texts else ""
    folder = resolve(folders[-1], program.cwd) if folders else program.cwd or "/"
    try:
        found = lean_json.loads_any(_text(f"{folder}/package.json") or "{}")
    except (ValueError, RecursionError):
        return
    scripts = found.get("scripts") if isinstance(found, dict) else None
    for key in (name, f"pre{name}", f"post{name}"):
        if isinstance(scripts, dict) and isinstance(line := scripts.get(key), str):
            yield line
