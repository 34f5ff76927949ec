"""The named tasks of a project's files: of a Rakefile, a noxfile, a `tox.ini`, a build for Gradle, `pyproject.toml`, a
Procfile, a playbook. Only the part of what is asked for is read, with what runs in every case."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from anyhook.model.pattern import later, re
from anyhook.programs.program import Word
from anyhook.programs.project_files import PackageCall, package_scripts, service_lines, task_lines

if TYPE_CHECKING:
    from anyhook.programs.rows import RecipeKind

NAMED_PART: dict[RecipeKind, re.Pattern[str]] = {
    "rake": later(r"^([ \t]*)(?:multi)?task\b[ \t]*\(?[ \t]*:?['\"]?([\w-]+(?::[\w-]+)*)", re.M),
    "nox": later(
        r"^([ \t]*)@[\w.]*(?:session|task)\b(?:[^\n]*?\bname[ \t]*=[ \t]*['\"]([\w.-]+)|[^\n]*)\n(?:\1@[^\n]*\n){0,9}"
        r"\1(?:async )?def[ \t]+(\w+)", re.M),
    "invoke": later(r"^([ \t]*)@task\b[^\n]*\n(?:\1@[^\n]*\n){0,9}\1(?:async )?def[ \t]+(\w+)", re.M),
    "gradle": later(
        r"^([ \t]*)(?:def[ \t]+|val[ \t]+)?(?:task\b[ \t]*\(?[ \t]*|\w+[ \t]*\([ \t]*type:[^\n]*|"
        r"tasks\.(?:register|create|named)\b[^'\"\n]*)['\"]?([\w-]+)", re.M),
    "gulp": later(r"^([ \t]*)(?:exports\.|(?:async )?function[ \t]+|gulp\.task\([ \t]*['\"])([\w:-]+)", re.M),
}  # fmt: skip
"""Where a task begins: how far it is indented, and its name or names. It ends before the next line that is not
indented more."""
NAMES_OTHERS = later(
    r"^[ \t]*(?:multi)?task\b|dependsOn|finalizedBy|\.invoke\b|\.execute\b|notify|\bpre[ \t]*=|series|parallel"
)
"""A line that names other tasks."""
LISTING = frozenset({"-l", "--list", "-T", "--tasks", "--list-sessions", "-P", "-h", "--help", "--version"})
"""Options with which a runner runs none of them."""
ALL_OF = ("nox",)
"""Runners that run everything if nothing is named,"""
DEFAULT = "default"
"""and what the others run."""


def parts(kind: RecipeKind, text: str, wanted: Sequence[str]) -> str:
    """The text without the tasks that are not asked for."""
    found = _found(kind, text)
    names = {name for own, _, _ in found for name in own}
    asked = [] if not LISTING.isdisjoint(wanted) else _last(wanted)
    if asked != [] or not wanted:
        asked = asked if names.intersection(asked) else [*names] if kind in ALL_OF else [DEFAULT]
    kept: set[int] = set()
    for name in asked:  # grows while it is walked
        for place, (own, begin, stop) in enumerate(found):
            if name in own and place not in kept:
                kept.add(place)
                asked += names.intersection(_named_in(text[begin:stop]))
    for place, (_, begin, stop) in reversed([*enumerate(found)]):
        if place not in kept:
            text = text[:begin] + text[stop:]
    return text


def _found(kind: RecipeKind, text: str) -> list[tuple[set[str], int, int]]:
    """The tasks of a file: their names, and where they begin and end."""
    found: list[tuple[set[str], int, int]] = []
    end = 0
    for start in NAMED_PART[kind].finditer(text):
        if start.start() >= end:
            next_line = text.find("\n", start.end()) + 1 or len(text)
            after = re.compile(rf"^(?!{start[1]}[ \t]|[ \t]*$)", re.M).search(text, next_line)
            end = after.start() if after else len(text)
            found.append(({*_last([name for name in start.groups()[1:] if name])}, start.start(), end))
    return found


def _named_in(text: str) -> Iterator[str]:
    """The words of the lines that name other tasks."""
    for line in text.splitlines():
        if NAMES_OTHERS.search(line):
            yield from re.findall(r"[\w-]+", line)


def _last(names: Sequence[str]) -> list[str]:
    """Names without the projects and namespaces that they are in."""
    return [each.rpartition(":")[2] for each in names]


def tox_lines(text: str, wanted: Sequence[str]) -> Iterator[str]:
    """The commands of the environments of a `tox.ini` that are named, or of those that it lists itself."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    of_own = {each.partition(":")[2] for each in parser.sections() if each.startswith("testenv:")}
    asked = [each for word in wanted for each in word.split(",")]
    listed = re.findall(r"[\w.-]+", parser.get("tox", "envlist", fallback=parser.get("tox", "env_list", fallback="")))
    named = of_own.intersection(asked) or ({*()} if {"-e"} & {*asked} else of_own.intersection(listed))
    for section in ["testenv", *(f"testenv:{name}" for name in sorted(named))]:
        for key in ("commands_pre", "commands", "commands_post"):
            given = parser.get(section, key, fallback="") if parser.has_section(section) else ""
            for line in given.replace("\\\n", " ").splitlines():
                filled = re.sub(r"\{env:(\w+)(?::[^}]*)?\}", r"$\1", line.strip().lstrip("-! "))
                yield re.sub(r"\{[^{}$]*\}", "$__tox__", filled)


TASK_TABLES = (
    "tool.poe.tasks", "tool.pdm.scripts", "tool.rye.scripts", "tool.taskipy.tasks", "tool.hatch.envs.*.scripts",
    "tool.pixi.tasks", "tasks", "scripts",
)  # fmt: skip
"""Where files in TOML have tasks."""
RUN_BY_TASK = (
    "cmd", "shell", "run", "sequence", "composite", "script", "chain", "all", "depends", "deps", "depends-on",
)  # fmt: skip


def table_lines(text: str, wanted: Sequence[str]) -> Iterator[str]:
    """The lines of tasks in `pyproject.toml` and the like: of those that are named, and of those that they name."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    tasks: dict[str, object] = {}
    for place in TASK_TABLES:
        for table in _tables(document, place.split(".")):
            tasks = {**table, **tasks}
    waiting, seen = [name for name in _last(wanted) if name in tasks], set[str]()
    for name in waiting:  # grows while it is walked
        for line in _texts(tasks[name]) if name not in seen else ():
            if line.partition(" ")[0] in tasks:
                waiting.append(line.partition(" ")[0])
            yield line
        seen.add(name)


def _tables(document: object, place: Sequence[str]) -> Iterator[dict[str, object]]:
    if not isinstance(document, dict):
        return
    if not place:
        yield document
    for key in ([*document] if place[:1] == ["*"] else [key for key in place[:1] if key in document]) if place else ():
        yield from _tables(document[key], place[1:])


def _texts(value: object) -> Iterator[str]:
    """The lines of one task, however it is written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key in RUN_BY_TASK:
            yield from _texts(value.get(key))


def procfile_lines(text: str, wanted: Sequence[str]) -> Iterator[str]:
    """The processes of a Procfile: those that are named, or all."""
    lines = {name.strip(): line.strip() for name, _, line in (each.partition(":") for each in text.splitlines())}
    named = [lines[name] for name in wanted if name in lines]
    yield from named or (lines.values() if "start" in wanted else ())


PLAY_LINES = ("shell", "command", "raw", "script", "win_shell", "win_command")
OF_MACHINE = ("localhost", "127.0.0.1", "localhost,")


def play_lines(text: str, wanted: Sequence[str]) -> Iterator[str]:
    """What the tasks of a playbook run and delete: here, or as lines of `ssh` on other machines."""
    import yaml

    try:
        plays = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return
    for play in plays if isinstance(plays, list) else ():
        if isinstance(play, dict):
            here = "local" in (play.get("connection"), *wanted) or str(play.get("hosts")) in OF_MACHINE
            for line in _play_tasks(play):
                yield line if here else f"ssh {shlex.quote(str(play.get('hosts')))} {shlex.quote(line)}"


def _play_tasks(inside: object) -> Iterator[str]:
    if isinstance(inside, list):
        for each in inside:
            yield from _play_tasks(each)
    for key, value in inside.items() if isinstance(inside, dict) else ():
        name = str(key).rpartition(".")[2]
        if name in PLAY_LINES:
            line = value.get("cmd", value.get("argv", "")) if isinstance(value, dict) else value
            line = shlex.join(map(str, line)) if isinstance(line, list) else str(line)
            yield re.sub(r"\{\{.*?\}\}", "$__play__", line)
        elif name == "file" and isinstance(value, dict) and value.get("state") == "absent":
            yield f"rm -rf {re.sub(r'{{.*?}}', '$__play__', str(value.get('path', value.get('dest', ''))))}"
        elif name in ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always"):
            yield from _play_tasks(value)


def _wanted_scripts(text: str, wanted: Sequence[str]) -> list[str]:
    scripts = package_scripts(text)
    named = dict.fromkeys([*PackageCall.of([Word(each, each) for each in wanted]).names, *wanted])
    return [scripts[name] for name in named if name in scripts]


RUN_BY_KEY = ("run", "entry", "cmd")


def key_lines(text: str, _wanted: Sequence[str]) -> Iterator[str]:
    """What is under these keys anywhere in a file in YAML: the hooks of pre-commit and lefthook, the stages of dvc."""
    import yaml

    try:
        waiting: list[object] = [yaml.safe_load(text)]
    except (yaml.YAMLError, RecursionError):
        return
    for each in waiting:  # grows while it is walked
        if isinstance(each, list):
            waiting += each
        for key, value in each.items() if isinstance(each, dict) else ():
            if isinstance(value, str) and key in RUN_BY_KEY:
                yield re.sub(r"\{[^{}]*\}", "$__file__", value)
            elif isinstance(value, (dict, list)):
                waiting.append(value)


LINES_OF: dict[RecipeKind, Callable[[str, Sequence[str]], Iterable[str]]] = {
    "json": _wanted_scripts, "task": task_lines, "compose": service_lines, "tox": tox_lines, "toml": table_lines,
    "procfile": procfile_lines, "play": play_lines, "keys": key_lines,
}  # fmt: skip


def tasks_of(kind: RecipeKind, text: str, wanted: Sequence[str]) -> Iterable[str]:
    """The lines or the code of the tasks that are wanted, in a file of this kind."""
    return LINES_OF[kind](text, wanted) if kind in LINES_OF else [parts(kind, text, wanted)]
