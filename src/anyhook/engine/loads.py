"""What a hook runs besides the files that its declaration names: scripts that it sources or starts, modules that it
imports, makefiles that it includes, the command behind `npm test` or `make check`. It is read from the texts, within
bounds, and nothing is started. What cannot be known from them is said."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from anyhook.documents.files import Files
from anyhook.documents.pins import json_keys
from anyhook.engine import script_loads
from anyhook.engine.python_loads import PythonSearch, python_modules
from anyhook.model.record import Record
from anyhook.programs.collect import Collector
from anyhook.programs.named import named_files, on_project_path, within
from anyhook.programs.program import Program, Word
from anyhook.programs.project_files import MakeCall, PackageCall, Recipes, package_scripts
from anyhook.programs.row_check import options_with_value
from anyhook.programs.rows import ProgramRow
from anyhook.programs.statements import NAMED_BY_VARIABLE
from anyhook.programs.table import row_of
from anyhook.state.start_variables import KINDS
from anyhook.tables.rows import Roots

MAX_SCRIPTS = 200
"""How many scripts and modules of one hook are read."""
MAX_UNKNOWN = 8
SHELL, PYTHON, MAKE, OTHER = "sh", "python", "make", "other"
NODE, RUBY, PERL = script_loads.NODE, script_loads.RUBY, script_loads.PERL
"""Languages of scripts, as the rows of programs name them."""
KINDS_READ = {"othersh": SHELL, **{kind: kind for kind in (SHELL, PYTHON, NODE, RUBY, PERL)}}
SUFFIXES = {
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), SHELL),
    **dict.fromkeys((".py", ".pyw"), PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), NODE),
    **dict.fromkeys((".rb",), RUBY),
    **dict.fromkeys((".pl", ".pm"), PERL),
}
OTHER_PACKAGES = frozenset({
    "-C", "--prefix", "--cwd", "-w", "--workspace", "-F", "--filter", "-ws", "--workspaces", "-r", "--recursive",
})  # fmt: skip
"""Options with which package managers run the lines of other folders."""
RUN_WORDS = ((NODE, "run"), (NODE, "test"))
"""Words before the script."""
CODE_WORDS = ("--eval", "--print", "--run", "--execute")
"""Words after which there is code, besides the letters in the rows. So is `-`; a shell takes it for the end of its
options."""
PERL_LETTERS = re.compile(r"^-[wWtTUcnpals]+(?=[IMm])")
"""Options of Perl that may stand before one that loads something, in the same word."""
SHELL_VARIABLES = ("BASH_ENV", "ENV")
MODULE_VARIABLES = {RUBY: ("RUBYLIB",), PERL: ("PERL5LIB", "PERLLIB"), NODE: ("NODE_PATH",), PYTHON: ("PYTHONPATH",)}
"""The variables with the folders in which interpreters look for modules."""
SEARCH_VARIABLES = frozenset({"PATH", *(name for names in MODULE_VARIABLES.values() for name in names)})
VARIABLES_THAT_LOAD = frozenset({*KINDS, *SHELL_VARIABLES, *SEARCH_VARIABLES})
"""Variables that decide what programs load or run."""


class Loads(Record):
    """What a hook runs besides the files that its declaration names."""

    files: tuple[str, ...] = ()
    parts: Mapping[str, bytes] = {}
    """Parts of folders and files whose other parts may change. `FOLDER/` has the modules there that take the place of
    installed ones, `FILE#KEYS` has some keys of a JSON file."""
    unknown: tuple[str, ...] = ()
    """What it runs as well and cannot be known, each as the end of "this hook also runs …"."""


class Reader:
    """Follows what one hook runs."""

    def __init__(self, roots: Roots, files: Files, variables: Mapping[str, str]) -> None:
        self.roots, self.files, self.variables = roots, files, variables
        self.found: dict[str, None] = {}
        self.parts: dict[str, bytes] = {}
        self.unknown: dict[str, None] = {}
        self.deciding = VARIABLES_THAT_LOAD
        self._folders: dict[str, dict[str, None]] = {}
        self._read: set[tuple[str, str]] = set()
        self._bins: dict[str, None] = {}
        """Folders whose programs come first for a line of `package.json`, and for the scripts that it starts."""
        self.has_closed_env = False
        """Whether the hook gets none of our variables, so that Python takes compiled files beside its sources."""

    def result(self) -> Loads:
        told = tuple(self.unknown)
        rest = (f"{len(told) - MAX_UNKNOWN} more",) if len(told) > MAX_UNKNOWN else ()
        return Loads(tuple(self.found), self.parts, told[:MAX_UNKNOWN] + rest)

    def unsure(self, what: str) -> None:
        self.unknown[what] = None

    def pin(self, path: str) -> None:
        self.files.look(path)
        self.found[path] = None

    def is_ours(self, path: str) -> bool:
        """Whether a file belongs to the project or its user, and not to the system."""
        bases = [self.roots.project, self.roots.outer or self.roots.project, *filter("/".__ne__, [self.roots.home])]
        return any(within(path, base) or within(self.files.real_path(path), base) for base in bases)

    def absolute(self, text: str, cwd: str | None) -> str:
        path = os.path.join(cwd or self.roots.project, text)
        return path if ".." in path.split("/") else os.path.normpath(path)

    # -- what a line runs

    def line(self, text: str, cwd: str | None, where: str = "", **more: str) -> None:
        """A shell line or script."""
        collector = Collector(self.roots.home, {**self.variables, "PWD": cwd or self.roots.project, **more})
        collector.shell(text, cwd)
        self.collected(collector, where)

    def collected(self, collector: Collector, where: str) -> None:
        place = f" ({os.path.basename(where)})" if where else ""
        for note in collector.unknown:
            if note.startswith(NAMED_BY_VARIABLE):
                continue  # `environment` looks for the file
            if note.startswith(("program from", "code from", "eval of", "not read", "code that")):
                self.unsure(f"what only shows when it runs: {_short(note)}{place}")
        # A value counts from the beginning: a function that is called later may have been read earlier.
        for name, value in dict.fromkeys(collector.assigned):
            self.environment({name: value}, None)
        for program in collector.runs:
            if not program.remote:
                self.program(program)

    def program(self, program: Program) -> None:
        """One program that is started: the script that it is, or that it runs."""
        name, cwd = program.name, program.cwd
        if not name:
            return
        words = [word for word in program.words if word.known]
        self._started(program)
        self._own_script(program)
        row, texts = row_of(name), [word.text for word in words]
        kind = _kind_of(row)
        if row.language and row.reads:  # `source`
            for text in texts[:1]:
                self._each(text, cwd, SHELL)
        elif row.makes:
            self.targets(program.name, texts, cwd)
        elif kind is not None:
            self.interpreted(kind, row, program, texts)
        elif row.has("scripts"):
            self.package_script(name, texts, cwd)
        elif row.has("project"):
            self._whatever(name, texts)

    def _started(self, program: Program) -> None:
        """What decides which program it is, and what it reads before anything else."""
        name, cwd = program.name, program.cwd
        self.environment(dict(program.set), cwd)
        for outer in program.via:
            if row_of(outer).has("environment"):
                self.unsure(f"the packages that `{outer}` takes for the project")
        for beside in row_of(name).beside.split():
            self.pin(self.absolute(beside, cwd))
        for each in (*program.via, *([name] if "/" not in program.path else [])):
            self._on_path(each.partition(" ")[0], cwd)

    def _own_script(self, program: Program) -> None:
        """A program of the project that is started by its path."""
        has_slash = "/" in program.path
        is_script = has_slash or os.path.splitext(program.name)[1] in SUFFIXES  # `uv run x.py`
        if not is_script or "$" in program.path or "`" in program.path:
            return
        path = self.absolute(program.path, program.cwd)
        if self.is_ours(path) and (has_slash or self.files.is_file(path)):
            self.script(path, program.cwd)
            self._environment(path)

    def _whatever(self, name: str, words: Sequence[str]) -> None:
        self.unsure(f"whatever `{shlex.join([name, *words[:2]])}` runs")

    def environment(self, variables: Mapping[str, str], cwd: str | None) -> None:
        """What variables make programs load, where a line, a script or a declaration sets them."""
        for name, value in variables.items():
            if name in SHELL_VARIABLES and value:
                self._each(value, cwd, SHELL)
            elif name in SEARCH_VARIABLES:
                self._looked_for_in(name, value, cwd)
            elif name in KINDS and value:
                self.unsure(f"what `{name}={value[:60]}` makes programs load")

    def _looked_for_in(self, name: str, value: str, cwd: str | None) -> None:
        """Folders in which programs or modules are looked for, unless the person's own environment has them too."""
        known = {*self.roots.env.get(name, "").split(":")}
        for folder in value.split(":") if value else ():
            if folder in known and folder.startswith("/"):
                continue
            if "$" in folder or "`" in folder:
                self.unsure(f"what is in a folder that only shows when it runs (`{name}={_cut(value)}`)")
                continue
            for base in dict.fromkeys((cwd or self.roots.project, self.roots.project)):
                path = self.absolute(os.path.expanduser(folder) if folder.startswith("~/") else folder or ".", base)
                if self.is_ours(path):
                    self._folders.setdefault(name, {})[path] = None

    def search(self, *names: str) -> list[str]:
        """The folders that the hook itself gives these variables."""
        return [folder for name in names for folder in self._folders.get(name, ())]

    def folders(self, kind: str) -> list[str]:
        """Where an interpreter looks before its own folders: by options, by variables, by the scripts' own words."""
        return [*self._folders.get(kind, ()), *self.search(*MODULE_VARIABLES[kind])]

    def searched(self, kind: str, folders: Iterable[str]) -> None:
        """Folders that an interpreter searches first: what is in them may take the place of what is installed."""
        for folder in folders:
            self._folders.setdefault(kind, {})[folder] = None
        for folder in self.folders(kind):
            key = f"{folder}/#{kind}"
            if key not in self.parts and self.is_ours(folder) and self.files.is_folder(folder):
                self.parts[key] = script_loads.shadowing(self, kind, folder)

    def _on_path(self, name: str, cwd: str | None) -> None:
        """The program of the project that this name finds."""
        for path in self._shadowing(name):
            self.pin(path)
        found = on_project_path([name], self.roots.env.get("PATH", ""), self.roots.project, self.files)
        found += [path for folder in self.search("PATH") if self.files.is_file(path := f"{folder}/{name}")]
        for path in found:
            self.script(path, cwd)

    def _shadowing(self, name: str) -> list[str]:
        return [path for folder in self._bins if self.files.is_file(path := f"{folder}/{name}")]

    def _environment(self, path: str) -> None:
        """A virtual environment of the project: its settings are pinned, what is installed in it is not."""
        folder = os.path.dirname(path)
        for place in (f"{folder}/pyvenv.cfg", f"{os.path.dirname(folder)}/pyvenv.cfg"):
            if self.files.is_file(place):
                self.pin(place)
                self.unsure(f"the packages of the virtual environment {os.path.basename(os.path.dirname(place))}")

    def _each(self, word: str, cwd: str | None, kind: str) -> None:
        """The script that a word names, or all that a pattern matches."""
        for path in self._matches(word, cwd):
            self.script(path, cwd, kind)

    def _matches(self, word: str, cwd: str | None) -> Sequence[str]:
        if any(sign in word for sign in "*?["):
            found = named_files([word], cwd or self.roots.project, "", {}, self.files)
            return [path for path in found if self.files.is_file(path)]
        return [self.absolute(word, cwd)]

    def interpreted(self, kind: str, row: ProgramRow, program: Program, texts: Sequence[str]) -> None:
        """An interpreter: its script, its code, and what its options load."""
        cwd = program.cwd
        script, loads, module = _arguments(kind, row, texts)
        for option, value in sorted(loads, key=lambda load: load[0] != "-I"):
            self._loaded_first(kind, option, value, cwd)
        if kind == PYTHON:
            self.python_started(program, texts, script, module)
        elif kind == NODE and self._runs_task(program.name, row, texts, script, cwd):
            return
        elif script and (kind != OTHER or self.files.is_file(self.absolute(script, cwd))):
            self._each(script, cwd, kind)
        elif program.code is not None and kind in (NODE, RUBY, PERL):
            script_loads.look_at_script(self, kind, self.absolute("-", cwd), program.code, cwd)

    def _runs_task(self, name: str, row: ProgramRow, texts: Sequence[str], script: str, cwd: str | None) -> bool:
        """Whether Node and its relatives run a line of `package.json`, or a script that they find by a part of its
        name."""
        if "--run" in texts:
            self.package_script(name, ["run", *texts[texts.index("--run") + 1 :]], cwd)
            return True
        if "--test" in texts or (row.beside and texts[:1] in (["task"], ["test"])):
            self._whatever(name, texts)
            return True
        if script and script_loads.node_file(self, self.absolute(script, cwd), cwd):
            return True
        if row.has("scripts") and script:
            self.package_script(name, texts, cwd)
            return True
        return False

    def _loaded_first(self, kind: str, option: str, value: str, cwd: str | None) -> None:
        """What an interpreter's options load. Folders come first, whatever their place."""
        name = value.partition("=")[0]
        if option == "-I" or (kind == PERL and name == "lib"):
            folders = value.partition("=")[2].split(",") if option != "-I" else value.split(":")
            self.searched(kind, [self.absolute(folder, cwd) for folder in folders if folder])
        elif kind == NODE:
            script_loads.node_module(self, value, cwd or self.roots.project, cwd)
        elif kind == RUBY:
            script_loads.ruby_module(self, value, cwd)
        elif kind == PERL:
            script_loads.perl_module(self, name.lstrip("-"), cwd)

    # -- a script

    def script(self, path: str, cwd: str | None, kind: str = "") -> None:
        """A script that runs: it is pinned, and read for what it runs."""
        if not self.is_ours(path):
            return
        self.pin(path)
        seen = self.files.fingerprint(path)
        if not seen.digest or seen.digest.startswith("!") or seen.binary:
            return
        kind = kind or _kind_of_script(path, seen.head)
        if (kind, path) in self._read:
            return
        self._read.add((kind, path))
        for word in _first_line(seen.head) if self._bins or self.search("PATH") else ():
            self._on_path(os.path.basename(word), cwd)
        name = os.path.basename(path)
        if len(self._read) > MAX_SCRIPTS or seen.size > len(seen.head):
            self.unsure(f"what {name} loads (it is too much to be read)")
            return
        text = seen.head.decode("utf-8", "replace")
        readers: dict[str, Callable[[], None]] = {
            SHELL: lambda: self.line(text, cwd, path, **{"0": path, "BASH_SOURCE": path}),
            PYTHON: lambda: self.python(path, text, cwd),
            **dict.fromkeys((NODE, RUBY, PERL), lambda: script_loads.look_at_script(self, kind, path, text, cwd)),
            MAKE: lambda: self.targets(MAKE, ["-f", path], cwd),
        }
        if kind in readers:
            readers[kind]()
        elif kind:
            self.unsure(f"what {name} loads")

    # -- Python

    def python_started(self, program: Program, texts: Sequence[str], script: str, module: str) -> None:
        cwd = program.cwd or self.roots.project
        flags = "".join(text[1:] for text in texts if re.fullmatch(r"-[A-Za-z]+", text))
        is_safe = bool({"I", "P"} & {*flags})
        ignores_variables = bool({"I", "E"} & {*flags})
        search = self._python_search(() if ignores_variables else self.search(*MODULE_VARIABLES[PYTHON]))
        search.ignores_variables = ignores_variables
        if script:
            path = self.absolute(script, cwd)
            if self.files.is_folder(path):
                path, folder = f"{path}/__main__.py", path
            else:
                folder = os.path.dirname(self.files.real_path(path))
            if not is_safe:
                search.first(folder)
            self.python_file(path, cwd, search)
            return
        if not is_safe and self.is_ours(cwd):
            search.first(cwd)
        if module:
            search.wanted(module, ("__main__",))
        elif program.code is not None:
            search.code(program.code, self.absolute("-c", cwd), Collector(self.roots.home), cwd)
        self.modules(search, cwd)

    def python(self, path: str, text: str, cwd: str | None) -> None:
        """A script that is started by its own name."""
        search = self._python_search(self.search(*MODULE_VARIABLES[PYTHON]))
        search.first(os.path.dirname(self.files.real_path(path)))
        self.python_file(path, cwd, search)

    def _python_search(self, folders: Sequence[str]) -> PythonSearch:
        """`folders` are those of PYTHONPATH, which come before the standard library."""
        search = PythonSearch(self.files, self.roots.home, [])
        for folder in reversed(folders):
            search.first(folder)
        return search

    def python_file(self, path: str, cwd: str | None, search: PythonSearch) -> None:
        if not self.is_ours(path):
            return
        self.pin(path)
        self._read.add((PYTHON, path))
        collector = self._python_collector(cwd)
        search.file(path, collector, cwd or self.roots.project)
        self.collected(collector, path)
        self.modules(search, cwd)

    def _python_collector(self, cwd: str | None) -> Collector:
        return Collector(self.roots.home, {**self.variables, "PWD": cwd or self.roots.project})

    def callable(self, module: str, project: str) -> None:
        """A Python callable: the project is searched last, so nothing in it takes the place of an installed module."""
        search = PythonSearch(self.files, self.roots.home, [project])
        search.wanted(module, ())
        self.modules(search, project)

    def modules(self, search: PythonSearch, cwd: str | None) -> None:
        for path, collector in python_modules(search, self._python_collector, cwd, MAX_SCRIPTS):
            self.pin(path)
            if (search.ignores_variables or self.has_closed_env) and path.endswith(".py"):
                self.unsure(f"compiled files beside {os.path.basename(path)}, if there are any")
            if collector is not None:
                self.collected(collector, path)
        for path in search.scripts:
            self.script(path, cwd, PYTHON)
        for path in search.beside:
            self.pin(path)
        self.parts.update(search.parts())
        for note in search.unknown:
            self.unsure(note)

    # -- package.json

    def upward(self, folder: str) -> Iterator[str]:
        outer = self.roots.outer or self.roots.project
        while within(folder, outer):
            yield folder
            if folder == outer:
                return
            folder = os.path.dirname(folder)

    def pin_keys(self, path: str, keys: Iterable[str]) -> None:
        """Some keys of a JSON file: its others may change. A key whose name has a dot of its own pins the whole."""
        if any(key.count(".") > key.startswith("scripts.") or "," in key or "#" in key for key in keys):
            self.pin(path)
            return
        before = next((name for name in self.parts if name.startswith(f"{path}#")), "")
        pinned = {*before[len(path) + 1 :].split(","), *keys} - {""}
        self.parts.pop(before, None)
        self.parts[f"{path}#{','.join(sorted(pinned))}"] = json_keys(self.files.fingerprint(path).head, sorted(pinned))

    def json(self, path: str) -> dict[str, object]:
        try:
            document = json.loads(self.files.fingerprint(path).head)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def package_script(self, name: str, words: Sequence[str], cwd: str | None) -> None:
        """`npm test`, `npm run lint`, `yarn lint`: the line in `package.json`."""
        plain = [word for word in words if not word.startswith("-")]
        call = PackageCall.of([Word(word, word) for word in words])
        places = (f"{place}/package.json" for place in self.upward(cwd or self.roots.project))
        path = next(filter(self.files.is_file, places), "")
        listed = package_scripts(self.files.fingerprint(path).head.decode("utf-8", "replace")) if path else {}
        if call.looks and call.script not in listed:
            return
        if call.script not in listed or OTHER_PACKAGES.intersection(words):
            self._whatever(name, plain)
            return
        more = ["packageManager"] if row_of(name).has("managed") else []
        self.pin_keys(path, [*(f"scripts.{each}" for each in call.names), *more])
        called = shlex.join([name, *plain[:2]])
        for each in filter(listed.__contains__, call.names):
            self._once_package_line(path, each, listed[each], called)

    def _once_package_line(self, path: str, script: str, line: str, called: str) -> None:
        if (path, script) not in self._read:
            self._read.add((path, script))
            self._package_line(line, os.path.dirname(path), called)
            if "npm_package_" in line:
                self.pin(path)  # the line contains other parts of it

    def _package_line(self, line: str, folder: str, called: str) -> None:
        """Its programs come from `node_modules/.bin` first, and so does the shell that reads it."""
        self._bins |= dict.fromkeys(f"{at}/node_modules/.bin" for at in self.upward(folder))
        self._on_path("sh", folder)
        collector = Collector(self.roots.home, self.variables)
        collector.shell(line, folder)
        names = {program.name for program in collector.runs if program.name and "/" not in program.path}
        around = {each.partition(" ")[0] for program in collector.runs for each in program.via}
        for name in sorted(names | around):
            if self._shadowing(name) or not _is_known(name):
                self.unsure(f"whatever `{called}` runs (`{line[:60]}`)")
        self.collected(collector, f"{folder}/package.json")

    # -- make and just

    def targets(self, name: str, words: Sequence[str], cwd: str | None) -> None:
        """The recipes of the targets that are named, and of those they need; of the first one, if none is named."""
        row = row_of(name)
        call = MakeCall.of([Word(word, word) for word in words], row)
        folder = cwd or self.roots.project
        if call.folder:
            folder = self.absolute(call.folder.text, folder)
        files = [self.absolute(word.text, folder) for word in call.files] or self._usual(row, folder)
        if not files or (key := (" ".join((MAKE, *call.wanted)), files[0])) in self._read:
            return
        self._read.add(key)
        recipes = Recipes(row, lambda name: self._makefiles(name, folder))
        for path in files:
            recipes.include(path)
        if recipes.is_cut:
            self.unsure(f"what else {os.path.basename(files[0])} includes (it is too much to be read)")
        for target in call.wanted:
            if target not in recipes.needs:
                self.unsure(f"whatever `{name} {target}` runs")
        self._made(recipes, call.wanted, folder)

    def _made(self, recipes: Recipes, wanted: Sequence[str], folder: str) -> None:
        made = [line for _, lines in recipes.reached(wanted, {}) for line in lines]
        for line in [*(recipes.filled(line, {}) for line in recipes.asked), *made]:
            self.line(line, folder, recipes.path)

    def _usual(self, row: ProgramRow, folder: str) -> list[str]:
        """The makefile of a folder, if none is named."""
        usual = (self.absolute(each, folder) for each in row.reads_here.split())
        return [path for path in usual if self.files.is_file(path)][:1]

    def _makefiles(self, name: str, folder: str) -> Iterator[tuple[str, str]]:
        """The makefiles that are included by this name, with their texts."""
        if "$" in name:
            self.unsure(f"a makefile that only shows when it runs (`{name}`)")
            return
        for path in self._matches(name, folder):
            self.pin(path)
            yield path, self.files.fingerprint(path).head.decode("utf-8", "replace")


def _kind_of(row: ProgramRow) -> str | None:
    """The kind of script that a program runs: a language whose scripts are read here, or `OTHER`."""
    return KINDS_READ.get(row.language, OTHER) if row.language else MAKE if row.makes else None


def _first_line(head: bytes) -> list[str]:
    """The words of a script's first line that may be programs."""
    words = head[2:4096].split(b"\n", 1)[0].decode("utf-8", "replace").split() if head.startswith(b"#!") else []
    return [word for word in words if not word.startswith("-") and "=" not in word]


def _kind_of_script(path: str, head: bytes) -> str:
    """The language of a script, by its first line or its name; "" if neither says."""
    for word in _first_line(head):
        row = row_of(os.path.basename(word))
        if (kind := _kind_of(row)) or row.wraps is None:  # `env` and its relatives run what comes next
            return kind or OTHER
    return SUFFIXES.get(os.path.splitext(path)[1].lower(), "")


def _arguments(kind: str, row: ProgramRow, texts: Sequence[str]) -> tuple[str, list[tuple[str, str]], str]:
    """The script of an interpreter's command line, what its options load, and its module (`-m`)."""
    loads: list[tuple[str, str]] = []
    loading, valued = row.loads.split(), options_with_value(row) if kind != OTHER else ()
    rest = iter(texts)
    for word in rest:
        name, equals, value = word.partition("=")
        text = PERL_LETTERS.sub("-", word) if kind == PERL else word
        if name in loading:
            loads.append((name, value if equals else next(rest, "")))
        elif text[:2] in loading:
            loads.append((text[:2], text[2:]))
        elif kind == PYTHON and re.fullmatch(r"-[A-Za-z]*m", text):
            return "", loads, next(rest, "")
        elif _is_code_next(kind, row, text):
            break
        elif text.replace("+", "-", 1) in valued:
            next(rest, "")
        elif not text.startswith(("-", "+")) and (kind, text) not in RUN_WORDS:
            return text, loads, ""
    return "", loads, ""


def _is_code_next(kind: str, row: ProgramRow, option: str) -> bool:
    letters = row.code_by or ("c" if kind == SHELL else "re")
    is_letter = re.fullmatch(rf"-[A-Za-z0-9]*[{letters}]", option) is not None
    return is_letter or option in CODE_WORDS or (option == "-" and kind != SHELL)


def _is_known(name: str) -> bool:
    """Whether a line's program is the shell's own or a program of the system."""
    row = row_of(name)
    is_read = bool(row.language) or row.has("builtin") or row.makes or row.has("scripts")
    return is_read or shutil.which(name) is not None


def _short(note: str) -> str:
    text = note.partition(" from ")[2] or note
    return f"`{_cut(text)}`"


def _cut(text: str) -> str:
    return text[:60]
