"""What programs run because a project's files say so: the recipes of makefiles, the scripts of `package.json`. Texts
are read here; `scripts` finds the files for a call, and `engine/loads.py` finds them for an approval."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.pattern import later, re
from anyhook.model.record import Record
from anyhook.programs.options import sort_options
from anyhook.programs.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from anyhook.model.json_types import Json
    from anyhook.programs.rows import ProgramRow

MACHINE_FOLDER = later(r"(?:/|~/?|\$\{?HOME\}?/?|/(?:home|root|etc)/?|.*/\.(?:ssh|gnupg)/?)$")
MAX_MAKEFILES = 64
"""How many makefiles one call reads, with those that they include."""
MAX_NAMED = 8
"""How often the value of a variable in a makefile may name another."""
MAKE_RULE = later(r"^ *([^\s#=:][^#:=]*?)\s*::?(?!=)\s*([^=;#]*)(?:;(.*)|#.*)?$")
JUST_RULE = later(r"^@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)\s*([^#]*)")
"""The first line of a recipe for `just`."""
MAKE_VARIABLE = later(r"^ *(?:export\s+|override\s+)*(\.RECIPEPREFIX|[A-Za-z_]\w*)\s*(\+|!|:{0,3}|\?)=\s*(.*)$")
REFERENCE = later(r"\$(?:\(([^()\s]+)\)|\{(\w+)\}|([@<^]))|\$\((\w+ (?:[^()]|\([^()]*\))*)\)")
"""A variable of a makefile, or a call of a function in one."""
ASKS_SHELL = later(r"\$[({]shell ((?:[^(){}]|\([^()]*\)|\{[^{}]*\})*)[)}]")
INCLUDE = later(r"^ *(?:-|s)?include\s+([^#]+)|^(?:import|mod)\??\s+(?:\w+\s+)?['\"]([^'\"]+)['\"]")
RUN_VERBS = ("run", "run-script", "rum", "urn")
SHORT_VERBS = {"t": "test", "tst": "test"}
LOOKING_VERBS = ("ls", "list", "view", "version", "config", "pkg", "")
INSTALL_VERBS = ("install", "i", "ci")
INSTALLING = ("preinstall", "install", "postinstall", "prepare")
"""The scripts that an installation runs."""
OPTIONS_OF_MANAGERS = "CFw prefix dir cwd filter workspace"


class MakeCall(Record):
    """What a command line of `make` or `just` asks for."""

    folder: Word | None
    files: tuple[Word, ...]
    """The makefiles that it names."""
    wanted: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    """Variables that it sets."""
    only_shows: bool

    @classmethod
    def of(cls, words: Sequence[Word], row: ProgramRow) -> MakeCall:
        options = sort_options(words, row.values)
        folders = options.values("-C", "--directory", "-d", "--working-directory")
        files = options.values("-f", "--file", "--makefile", "--justfile")
        texts = [word.text for word in options.rest]
        return cls(
            folders[-1] if folders else None,
            tuple(files),
            tuple(text for text in texts if "=" not in text),
            tuple((name, value) for name, sign, value in (text.partition("=") for text in texts) if sign),
            options.has("-n", "--dry-run", "--just-print", "--recon"),
        )


class Recipes:
    """The recipes of makefiles, or of files for `just`: what each target needs and runs. As much of the grammar as that
    takes."""

    def __init__(self, row: ProgramRow, find: Callable[[str], Iterable[tuple[str, str]]]) -> None:
        """`find` gives the paths and texts of what an include names."""
        self.of_just = row.recipes == "just"
        self.is_cut = False
        """Whether more files are included than are read."""
        self.path = ""
        """The first file that is read."""
        self._find = find
        self._seen: set[tuple[str, str]] = set()
        self.needs: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}
        self.values: dict[str, str] = {}
        """Variables, the last value of each."""
        self.asked: list[str] = []
        """The shell lines that run while the file is read, whatever the target."""
        self._current: Sequence[str] = ()

    def include(self, name: str) -> None:
        """Read the files that this names, here, as `make` does: the first target may be one of theirs."""
        for path, text in self._find(name):
            if (path, text) in self._seen:
                continue
            if len(self._seen) >= MAX_MAKEFILES:
                self.is_cut = True
                return
            self.path = self.path or path
            self._seen.add((path, text))
            self._current = ()
            self._read(text)

    def _read(self, text: str) -> None:
        for line in text.replace("\\\n", " ").split("\n"):
            if line[:1] in (" \t" if self.of_just else self.values.get(".RECIPEPREFIX", "")[:1] or "\t") and line:
                self._add(line[1:].strip())
                continue
            self.asked += [] if self.of_just else ASKS_SHELL.findall(line)
            if found := INCLUDE.match(line):
                for name in found[1].split() if found[1] else [found[2]]:
                    self.include(name)
            elif not self.of_just and (found := MAKE_VARIABLE.match(line)):
                self._set(found[1], found[2], found[3].partition(" #")[0].strip())
            elif found := (JUST_RULE if self.of_just else MAKE_RULE).match(line):
                self._target(found)

    def _set(self, name: str, sign: str, value: str) -> None:
        if sign == "+":
            value = f"{self.values.get(name, '')} {value}".strip()
        if sign == "!":
            self.asked.append(value)
        else:
            self.values[name] = value

    def _target(self, found: re.Match[str]) -> None:
        if self.of_just:
            self._current, needs = [found[1]], re.findall(r"[\w-]+", found[2])
        else:
            self._current, needs = [*dict.fromkeys(found[1].split())], found[2].replace("|", " ").split()
        for target in self._current:
            self.needs.setdefault(target, []).extend(needs)
        if not self.of_just and found[3]:
            self._add(found[3].strip())

    def _add(self, line: str) -> None:
        for target in self._current if line else ():
            self.lines.setdefault(target, []).append(line)

    def reached(self, wanted: Sequence[str], values: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
        """The targets that are made, and their lines with these values of variables; those of the first target, if
        none is wanted."""
        firsts = (each for each in self.needs if self.of_just or (not each.startswith(".") and "%" not in each))
        waiting = [*wanted] or [*firsts][:1]
        seen: set[str] = set()
        for target in waiting:  # grows while it is walked
            if target in self.needs and target not in seen:
                seen.add(target)
                waiting.extend(self.needs[target])
                own = self.lines.get(target, ())
                own = [*(asked for line in own for asked in ASKS_SHELL.findall(line)), *own]
                lines = [self.filled(line, values, target) for line in own]
                is_one = ".ONESHELL" in self.needs or any(line.startswith("#!") for line in lines[:1])
                yield target, ["\n".join(lines)] if is_one else lines

    def filled(self, line: str, values: Mapping[str, str], target: str = "") -> str:
        """A line with the values of its variables. Those that are not known become variables of the shell, without
        one."""
        if self.of_just:
            return re.sub(r"\{\{.*?\}\}", "$__just__", line).lstrip("@-")
        needs = self.needs.get(target, [])
        own = {"@": target, "<": (needs or [""])[0], "^": " ".join(needs), "MAKE": "make"}
        values = {"RM": "rm -f", **values}

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2] or found[3]
            if not name:
                return "$__make__"
            known = own.get(name, values.get(name))
            return known if known is not None else f"\0{{{name}}}" if name.isidentifier() else "$__make__"

        line = line.replace("$$", "\0")
        for _ in range(MAX_NAMED):
            if not REFERENCE.search(line):
                break
            line = REFERENCE.sub(value, line)
        return REFERENCE.sub("$__make__", line).replace("\0", "$").lstrip("@-+")


def package_scripts(text: str) -> dict[str, str]:
    """The scripts that a `package.json` has, or the tasks of a `deno.json`."""
    try:
        document = lean_json.loads_any(text)
    except (ValueError, RecursionError):
        return {}
    scripts = document.get("scripts", document.get("tasks")) if isinstance(document, dict) else None
    lines = {key: _one_line(line) for key, line in scripts.items()} if isinstance(scripts, dict) else {}
    return {key: line for key, line in lines.items() if line}


def _one_line(value: Json) -> str:
    """A script, which composer may have as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "\n".join([line for line in lines if isinstance(line, str)])


def task_lines(text: str, wanted: Sequence[str]) -> Iterator[str]:
    """The lines of a Taskfile's tasks: of those that are wanted, and of those that they need."""
    import yaml

    try:
        tasks = yaml.safe_load(text)["tasks"]
        waiting, seen = [*wanted] or ["default"], set[str]()
        for name in waiting:  # grows while it is walked
            task = tasks.get(name) if name not in seen else None
            seen.add(name)
            task = task if isinstance(task, dict) else {"cmds": task}
            commands = _list_of(task.get("cmds", task.get("cmd")))
            named = [each.get("task") if isinstance(each, dict) else each for each in _list_of(task.get("deps"))]
            named += [each.get("task") for each in commands if isinstance(each, dict)]
            waiting += [each for each in named if isinstance(each, str)]
            for each in commands:
                line = each.get("cmd") if isinstance(each, dict) else each
                yield re.sub(r"\{\{.*?\}\}", "$__task__", line if isinstance(line, str) else "")
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return


def service_lines(text: str, _wanted: Sequence[str]) -> Iterator[str]:
    """The services of a compose file that have folders of the machine which no project is in, as lines of `docker`."""
    import yaml

    try:
        for service in yaml.safe_load(text)["services"].values():
            volumes = [each for each in _list_of(service.get("volumes")) if MACHINE_FOLDER.match(_source_of(each))]
            command = service.get("command") or ""
            for each in volumes:
                words = " ".join(map(str, command)) if isinstance(command, list) else command
                yield f"docker run -v {_source_of(each)}:/mounted {service.get('image') or 'image'} {words}"
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return


def _source_of(volume: Json) -> str:
    source = volume.get("source") if isinstance(volume, dict) else str(volume).rpartition(":ro")[0] or str(volume)
    return str(source).partition(":")[0]


def _list_of(value: object) -> list[Json]:
    return value if isinstance(value, list) else [] if value is None else [value]  # type: ignore[list-item]


class PackageCall(Record):
    """What a command line of a package manager runs from `package.json`."""

    folder: Word | None
    names: tuple[str, ...]
    """The scripts, in their order: one with those before and after it; all of an installation; or none."""
    given: tuple[str, ...]
    """What the script gets, as it is written."""
    looks: bool = False
    """Whether the verb runs nothing, unless it is the name of a script."""

    @property
    def script(self) -> str:
        """The script that is named; "" if none is."""
        return self.names[1] if len(self.names) > 1 and self.names != INSTALLING else ""

    @classmethod
    def of(cls, words: Sequence[Word]) -> PackageCall:
        options = sort_options(words, OPTIONS_OF_MANAGERS)
        folders = options.values("-C", "--prefix", "--dir", "--cwd")
        names: tuple[str, ...] = ()
        verb, *given = [word.source for word in options.rest] or [""]
        if verb in INSTALL_VERBS:
            names, given = () if given else INSTALLING, []
        else:
            name = "".join(given[:1]) if verb in RUN_VERBS else SHORT_VERBS.get(verb, verb)
            names = (f"pre{name}", name, f"post{name}") if name else ()
            given = given[1:] if verb in RUN_VERBS else given
        return cls(folders[-1] if folders else None, names, tuple(given), verb in LOOKING_VERBS)
