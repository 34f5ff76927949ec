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
from itertools import takewhile

from anyhook.documents.files import Files
from anyhook.documents.pins import json_keys
from anyhook.engine.python_loads import PythonSearch
from anyhook.model.record import Record
from anyhook.programs.code import look_at_code
from anyhook.programs.collect import Collector
from anyhook.programs.named import Installed, named_files, on_project_path, within
from anyhook.programs.options import SortedOptions, sort_options
from anyhook.programs.program import Program, Word
from anyhook.programs.project_files import MakeCall, PackageCall, Recipes, package_scripts
from anyhook.programs.rows import ProgramRow
from anyhook.programs.statements import NAMED_BY_VARIABLE
from anyhook.programs.table import row_of
from anyhook.state.start_variables import KINDS
from anyhook.tables.rows import Roots

MAX_SCRIPTS = 200
"""How many scripts and modules of one hook are read."""
MAX_UNKNOWN = 8
SHELL, PYTHON, MAKE, OTHER = "sh", "python", "make", "other"
NODE, RUBY, PERL = "node", "ruby", "perl"
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
CODE_WORDS = ("--eval", "--print", "--execute")
"""Options before code, besides the letters in the rows."""
COPY_ENDS = re.compile(r"^(-[A-Za-z0-9]*?i)[^A-Za-z].*")
"""The ending of the copies that Perl and Ruby keep of files that they change: not an option."""
OPTION_START = re.compile(r"^\+(?=.)")
"""Of some options of shells."""
SHELL_VARIABLES = ("BASH_ENV", "ENV")
MODULE_VARIABLES = {RUBY: ("RUBYLIB",), PERL: ("PERL5LIB", "PERLLIB"), NODE: ("NODE_PATH",), PYTHON: ("PYTHONPATH",)}
"""The variables with the folders in which interpreters look for modules."""
SEARCH_VARIABLES = frozenset({"PATH", *(name for names in MODULE_VARIABLES.values() for name in names)})
VARIABLES_THAT_LOAD = frozenset({*KINDS, *SHELL_VARIABLES, *SEARCH_VARIABLES})
"""Variables that decide what programs load or run."""


NODE_OWN = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module",
    "net", "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
    "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
    "worker_threads", "zlib",
})  # fmt: skip
"""Modules that no file can take the place of."""
NODE_ENDS = (".js", ".json", ".node", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx")
OWN_VARIABLE = re.compile(
    r"""(?:\benv\.|\bENV\s*[\[{]\s*['":]?|\benv\[\s*['"]|[{,]\s*['"]?)(?P<name>[A-Z][A-Z0-9_]+)['"]?\s*[\]}]?"""
    r"""\s*(?:\|\|)?(?:=>|=(?![=~>])|:(?!:))\s*(?:(?P<sign>['"])(?P<value>[^'"$#`\n]*)(?P=sign)\s*(?:[;,}\n]|$))?"""
)
"""A variable for the programs that code starts: `process.env.X = …`, `ENV['X'] = …`, `$ENV{X} = …`, `{X: …}`."""
STARTS_PROGRAMS = re.compile(r"child_process|Bun\.\$|\bzx\b|\b(?:system|exec|spawn|popen\w*|qx)\b|`")
COMPUTED_START = {
    NODE: re.compile(r"""\b(?:exec|execSync|execFile|execFileSync|spawn|spawnSync)\s*\(\s*(?!['"`\[)])"""),
    RUBY: re.compile(r"""(?<![\w.:'"])(?:system|exec|spawn|IO\.popen|Open3\.\w+)\b[ \t]*\(?[ \t]*(?=[a-z@$_*])"""),
    PERL: re.compile(r"""(?<![\w.>:'"$@%&{])(?:system|exec)\b[ \t]*\(?[ \t]*(?=[$@%&])"""),
}
"""A program whose name is computed is started."""
EVALUATED = {
    NODE: re.compile(
        r"(?<![\w.$])(?:eval|new\s+Function|Function)\s*\(|\b(?:runIn\w*Context|compileFunction)\s*\(|\bvm\.Script\b"
    ),
    RUBY: re.compile(r"\b(?:eval|instance_eval|class_eval|module_eval)\b[ \t]*(?![ \t]*(?:[{'\"|\n]|do\b|\(\s*['\"]))"),
    PERL: re.compile(r"(?<![\w$@%&>{-])eval\b(?!\s*(?:[{;)'}]|\"[^\"$@]*\"|q[qw]?\b))"),
}
"""Code that is computed is run."""


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
        collector = self.collector(cwd, **more)
        collector.shell(text, cwd)
        self.collected(collector, where)

    def collector(self, cwd: str | None, **more: str) -> Collector:
        return Collector(self.roots.home, {**self.variables, "PWD": cwd or self.roots.project, **more})

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
                self.parts[key] = shadowing(self, kind, folder)

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
        script, options = _arguments(kind, row, program)
        for option in sorted(row.loads.split(), key="-I".__ne__):  # folders come first, whatever their place
            for value in options.values(option):
                self._loaded_first(kind, option, value.text, cwd)
        if kind == PYTHON:
            self.python_started(program, options, script)
        elif kind == NODE and self._runs_task(program.name, row, texts, script, cwd):
            return
        elif script and (kind != OTHER or self.files.is_file(self.absolute(script, cwd))):
            self._each(script, cwd, kind)
        elif program.code is not None and kind in (NODE, RUBY, PERL):
            look_at_script(self, kind, self.absolute("-", cwd), program.code, cwd)

    def _runs_task(self, name: str, row: ProgramRow, texts: Sequence[str], script: str, cwd: str | None) -> bool:
        """Whether Node and its relatives run a line of `package.json`, or a script that they find by a part of its
        name."""
        if "--run" in texts:
            self.package_script(name, ["run", *texts[texts.index("--run") + 1 :]], cwd)
            return True
        if "--test" in texts or (row.beside and texts[:1] in (["task"], ["test"])):
            self._whatever(name, texts)
            return True
        if script and node_file(self, self.absolute(script, cwd), cwd):
            return True
        if row.has("scripts") and script:
            self.package_script(name, texts, cwd)
            return True
        return False

    def _loaded_first(self, kind: str, option: str, value: str, cwd: str | None) -> None:
        """What an interpreter's options load."""
        name = value.partition("=")[0]
        if option == "-I" or (kind == PERL and name == "lib"):
            folders = value.partition("=")[2].split(",") if option != "-I" else value.split(":")
            self.searched(kind, [self.absolute(folder, cwd) for folder in folders if folder])
        elif kind == NODE:
            node_module(self, value, cwd or self.roots.project, cwd)
        elif kind == RUBY:
            ruby_module(self, value, cwd)
        elif kind == PERL:
            perl_module(self, name.lstrip("-"), cwd)

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
            **dict.fromkeys((NODE, RUBY, PERL), lambda: look_at_script(self, kind, path, text, cwd)),
            MAKE: lambda: self.targets(MAKE, ["-f", path], cwd),
        }
        if kind in readers:
            readers[kind]()
        elif kind:
            self.unsure(f"what {name} loads")

    # -- Python

    def python_started(self, program: Program, options: SortedOptions, script: str) -> None:
        cwd, module = program.cwd or self.roots.project, "".join(word.text for word in options.values("-m")[:1])
        is_safe, ignores_variables = options.has("-I", "-P"), options.has("-I", "-E")
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
        self._python_source(path, cwd, search)
        self.modules(search, cwd)

    def _python_source(self, path: str, cwd: str | None, search: PythonSearch) -> None:
        collector = self.collector(cwd)
        search.file(path, collector, cwd or self.roots.project)
        self.collected(collector, path)

    def callable(self, module: str, project: str) -> None:
        """A Python callable: the project is searched last, so nothing in it takes the place of an installed module."""
        search = PythonSearch(self.files, self.roots.home, [project])
        search.wanted(module, ())
        self.modules(search, project)

    def modules(self, search: PythonSearch, cwd: str | None) -> None:
        for path in search.modules(MAX_SCRIPTS):
            self.pin(path)
            if not path.endswith(".py"):
                continue
            if search.ignores_variables or self.has_closed_env:
                self.unsure(f"compiled files beside {os.path.basename(path)}, if there are any")
            self._python_source(path, cwd, search)
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
        if not path:
            return
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


def _arguments(kind: str, row: ProgramRow, program: Program) -> tuple[str, SortedOptions]:
    """The script of an interpreter's command line, and the options before it; "" for code that is in the line."""
    rest, options = _sorted(kind, row, program)
    code = [f"-{letter}" for letter in row.code_by or ("c" if kind == SHELL else "re")]
    if kind == PYTHON:  # what follows is not its own
        last = [place for place, (name, _) in enumerate(options.named, 1) if name in ("-m", *code)]
        options = options.replace(named=options.named[: last[0] if last else None])
    is_named = rest and rest[0].text != "-" and not options.has(*code, *CODE_WORDS, *(["-m"] if kind == PYTHON else []))
    return rest[0].text if is_named else "", options


def _sorted(kind: str, row: ProgramRow, program: Program) -> tuple[Sequence[Word], SortedOptions]:
    """The words from its script on, and the options before it."""
    words = [Word(OPTION_START.sub("-", COPY_ENDS.sub(r"\1", word.text)), "") for word in program.words if word.known]
    rest = sort_options(words, row.values).rest
    rest = rest[1:] if rest and rest[0].text in ("-" if kind == SHELL else row.script_after).split() else rest
    return rest, sort_options([*takewhile(lambda word: not rest or word is not rest[0], words)], row.values)


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


# -- what scripts of Node, Ruby and Perl load, in the order in which each of them finds it


class Text:
    """One text of a language, and what its expressions for paths are worth."""

    def __init__(self, kind: str, text: str, path: str, cwd: str) -> None:
        self.kind, self.text, self.cwd = kind, text, cwd
        here = os.path.dirname(path)
        names: dict[str, dict[str, str]] = {
            NODE: {"__dirname": here, "__filename": path, "import.meta.dirname": here, "import.meta.filename": path,
                   "import.meta.url": path, "process.cwd()": cwd},
            RUBY: {"__dir__": here, "__FILE__": path, "Dir.pwd": cwd},
            PERL: {"__FILE__": path, "$FindBin::Bin": here, "$FindBin::RealBin": here, "$Bin": here, "$RealBin": here,
                   "$0": path},
        }  # fmt: skip
        self.names = names[kind]

    def value(self, at: int) -> tuple[str | None, int]:
        """The value of the expression at this place, or None; and where it ends."""
        found, at = self._term(at)
        while (sign := self.next(r"\.(?=[\s'\"$])|\." if self.kind == PERL else r"\+", at)) is not None:
            more, at = self._term(sign)
            found = None if found is None or more is None else found + more
        return found, at

    def next(self, pattern: str, at: int) -> int | None:
        found = re.compile(rf"\s*(?:{pattern})").match(self.text, at)
        return found.end() if found else None

    def _term(self, at: int) -> tuple[str | None, int]:
        if (inner := self.next(r"\(", at)) is not None:
            found, at = self.value(inner)
            end = self.next(r"\)", at)
            return (found, end) if end is not None else (None, at)
        if quoted := _QUOTED.match(self.text, at):
            return self._filled(quoted["text"], quoted["sign"]), quoted.end()
        for name in sorted(self.names, key=len, reverse=True):
            place = self.next(rf"{re.escape(name)}(?![\w(:])", at)
            if place is not None:
                return self.names[name], place
        if (call := _CALLED.match(self.text, at)) is not None:
            return self._called(call["name"], call.end())
        return None, at

    def _filled(self, text: str, sign: str) -> str | None:
        """A string, with the names that are known in it."""
        if sign == "'":
            return text
        for name, value in self.names.items():
            bare = name.lstrip("$")
            for spelling in (f"${{{bare}}}", f"#{{{name}}}", *([name] if name.startswith("$") else [])):
                text = text.replace(spelling, value)
        mark = {NODE: "${", RUBY: "#{", PERL: "$"}[self.kind]
        has_code = mark in text and (self.kind != NODE or sign == "`")
        return None if has_code or (self.kind == PERL and "@" in text) else text

    def _called(self, name: str, at: int) -> tuple[str | None, int]:
        """A function that puts a path together."""
        words: list[str | None] = []
        while self.next(r"\)", at) is None:
            found, at = self.value(at)
            words.append(found)
            comma = self.next(",", at)
            if comma is None:
                break
            at = comma
        end = self.next(r"\)", at)
        short = re.split(r"\.|::|->|\s", name)[-1]
        if end is None or None in words or not words:
            return None, end or at
        known = [word for word in words if word is not None]
        if short in ("join", "resolve", "catfile", "catdir"):
            return os.path.join(*known), end
        if short == "dirname":
            return os.path.dirname(known[0]), end
        if short == "expand_path":
            return os.path.normpath(os.path.join(*reversed(known))), end
        if short == "URL":  # new URL('./x', import.meta.url)
            return os.path.join(os.path.dirname(known[-1]), known[0]) if len(known) > 1 else known[0], end
        return (known[0], end) if short in ("fileURLToPath", "pathToFileURL", "realpath", "abs_path", "String") else (
            None, end
        )  # fmt: skip


_QUOTED = re.compile(r"""\s*(?P<sign>['"`])(?P<text>(?:(?!(?P=sign))[^\\\n])*)(?P=sign)""")
_CALLED = re.compile(r"\s*(?P<name>(?:new\s+)?[A-Za-z_][\w.:]*(?:->\w+)?)\s*\(")


def look_at_script(reader: Reader, kind: str, path: str, text: str, cwd: str | None) -> None:
    """What one script loads and starts."""
    name = os.path.basename(path)
    read = Text(kind, text, reader.files.real_path(path), cwd or reader.roots.project)
    {NODE: _node, RUBY: _ruby, PERL: _perl}[kind](reader, read, path)
    if EVALUATED[kind].search(text):
        reader.unsure(f"code that only shows when it runs ({name})")
    if not STARTS_PROGRAMS.search(text):
        return
    if COMPUTED_START[kind].search(text) and (kind != NODE or "child_process" in text):
        reader.unsure(f"programs that only show when it runs ({name})")
    for found in OWN_VARIABLE.finditer(text):
        if found["name"] in reader.deciding:
            value = found["value"] if found["sign"] is not None else "$"
            reader.environment({found["name"]: value}, cwd)
    collector = Collector(reader.roots.home, reader.variables)
    look_at_code(Program(kind, code=text, cwd=cwd), collector)
    reader.collected(collector, path)


def _computed(reader: Reader, path: str) -> None:
    reader.unsure(f"modules that only show when it runs ({os.path.basename(path)})")


# -- Node

_IMPORTING = re.compile(r"(?<![\w$])(?:(?:module\.|require\.main\.)?require(?:\.resolve)?|import)\s*\(")
_FROM = re.compile(r"""(?:^|[;}\s])(?:import|export)\b[^'"`;()]*(['"])(?P<name>[^'"\n]+)\1""")
_BY_FILE = re.compile(r"(?:\bWorker\)?|\bfork)\s*\(")
_SECOND_NAME = re.compile(r"=\s*(?:module\.)?require\s*[;,\n)]")


def _node(reader: Reader, read: Text, path: str) -> None:
    text, folder = read.text, os.path.dirname(reader.files.real_path(path))
    reader.pin_keys(_package_above(reader, folder), ("type",))
    for found in _FROM.finditer(text):
        node_module(reader, found["name"], folder, read.cwd)
    for found in _IMPORTING.finditer(text):
        name, end = read.value(found.end())
        if name is not None and re.compile(r"\s*[,)]").match(text, end):
            node_module(reader, name, folder, read.cwd)
        elif not re.compile(r"\s*(?:\)|\.\.\.)").match(text, found.end()):
            _computed(reader, path)
    for found in _BY_FILE.finditer(text):
        name, _ = read.value(found.end())
        if name is not None:
            is_url = "URL" in text[found.end() : found.end() + 40]
            node_module(reader, os.path.join(folder if is_url else read.cwd, name), folder, read.cwd)
        elif found[0].startswith("Worker") or "child_process" in text:
            _computed(reader, path)
    if _SECOND_NAME.search(text):
        _computed(reader, path)


def node_module(reader: Reader, name: str, folder: str, cwd: str | None) -> None:
    """What `require(NAME)` or `import NAME` loads in a script of this folder."""
    name = name.partition("?")[0]
    if name.startswith(("./", "../", "/", "file:")) or name in (".", ".."):
        node_file(reader, reader.absolute(name.removeprefix("file://"), folder), cwd)
        return
    if name.startswith(("node:", "bun:", "data:", "http:", "https:")) or name.partition("/")[0] in NODE_OWN:
        return
    above = _package_above(reader, folder)
    own = reader.json(above) if above else {}
    package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    if name.startswith("#"):
        reader.pin_keys(above, ("imports",))
        _mapped(reader, own.get("imports"), name, above, cwd)
    elif own.get("name") == package and "exports" in own:
        reader.pin_keys(above, ("name", "exports"))
        exports, wanted = own["exports"], f".{name[len(package) :]}"
        has_paths = isinstance(exports, dict) and any(str(key).startswith(".") for key in exports)
        _mapped(reader, exports if has_paths else {".": exports}, wanted, above, cwd)
    else:
        _package(reader, name, package, folder, cwd)


def _mapped(reader: Reader, table: object, name: str, above: str, cwd: str | None) -> None:
    """What `imports` or `exports` of a `package.json` lead to, under all conditions."""
    for key, given in table.items() if isinstance(table, dict) else ():
        before, star, after = str(key).partition("*")
        if key != name and not (star and name.startswith(before) and name.endswith(after)):
            continue
        middle = name[len(before) : len(name) - len(after)] if star else ""
        for target in _targets(given):
            node_module(reader, target.replace("*", middle), os.path.dirname(above), cwd)


def _targets(given: object) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, (dict, list)):
        for each in given.values() if isinstance(given, dict) else given:
            yield from _targets(each)


def _package(reader: Reader, name: str, package: str, folder: str, cwd: str | None) -> None:
    """A package that is installed, or a module in a folder of `NODE_PATH`."""
    places = [f"{place}/node_modules/{package}" for place in reader.upward(folder)]
    installed = [place for place in places if reader.files.look(place) is not None]  # each, so that a new one counts
    if not installed:
        found = [node_file(reader, f"{place}/{name}", cwd) for place in reader.search("NODE_PATH")]
        if True in found:
            return
    reader.unsure(f"the package `{package}` of node_modules")


def node_file(reader: Reader, stem: str, cwd: str | None) -> bool:
    """The file that a path stands for, as Node finds it: with an ending, or in a folder."""
    files = reader.files
    places = [stem, *(f"{stem}{end}" for end in NODE_ENDS)]
    if stem.endswith((".js", ".mjs", ".cjs")):
        places.append(re.sub(r"js$", "ts", stem))  # as `tsx` and others find it
    place = next((place for place in places if files.is_file(place)), "")
    if not place and files.is_folder(stem):
        manifest = f"{stem}/package.json"
        files.look(manifest)
        if files.is_file(manifest):
            reader.pin_keys(manifest, ("main",))
            main = reader.json(manifest).get("main")
            if isinstance(main, str) and main.strip("./") and node_file(reader, reader.absolute(main, stem), cwd):
                return True
        place = next((f"{stem}/index{end}" for end in NODE_ENDS if files.is_file(f"{stem}/index{end}")), "")
    if place:
        reader.script(place, cwd, NODE if not place.endswith((".json", ".node")) else "data")
    return bool(place)


def _package_above(reader: Reader, folder: str) -> str:
    """The nearest `package.json`, which says how Node reads the scripts of a folder."""
    return next(
        (f"{at}/package.json" for at in reader.upward(folder) if reader.files.is_file(f"{at}/package.json")), ""
    )


# -- Ruby

_REQUIRED = re.compile(r"""(?<![\w.:@$'"-])(require_relative|require|load|autoload)\b[ \t]*\(?[ \t]*(?::\w+\s*,\s*)?""")
_LOAD_PATH = re.compile(r"(?:\$LOAD_PATH|\$:)\s*(?:<<|\.(?:unshift|push|append|prepend|concat|insert)\b\s*\(?)\s*")
_ENDS_HERE = re.compile(r"[ \t]*(?:$|[\n;#})\],]|(?:if|unless|rescue|and|or|do|end|&&|\|\|)(?![\w]))")


def _ruby(reader: Reader, read: Text, path: str) -> None:
    folders = [*reader.folders(RUBY)]
    for found in _LOAD_PATH.finditer(read.text):
        folder, _ = read.value(found.end())
        if folder is None:
            _computed(reader, path)
        else:
            folders.insert(0, reader.absolute(folder, read.cwd))
    reader.searched(RUBY, folders)
    for found in _REQUIRED.finditer(read.text):
        if _is_comment(read.text, found.start()):
            continue
        name, end = read.value(found.end())
        if name is None or not _ENDS_HERE.match(read.text, end):
            _computed(reader, path)
        elif found[1] == "require_relative":
            ruby_file(reader, reader.absolute(name, os.path.dirname(reader.files.real_path(path))), read.cwd)
        else:
            ruby_module(reader, name, read.cwd, is_load=found[1] == "load")


def ruby_module(reader: Reader, name: str, cwd: str | None, *, is_load: bool = False) -> None:
    if name.startswith("bundler"):
        reader.unsure("the packages that `bundler` takes for the project")
    if name.startswith(("./", "../", "/", "~")):
        ruby_file(reader, reader.absolute(name, cwd), cwd)
        return
    for folder in (*reader.folders(RUBY), *([cwd or reader.roots.project] if is_load else [])):
        ruby_file(reader, f"{folder}/{name}", cwd)


def ruby_file(reader: Reader, stem: str, cwd: str | None) -> None:
    for path in (f"{stem}.rb", stem, f"{stem}.so"):
        if reader.files.is_file(path):
            reader.script(path, cwd, RUBY)
            return


def _is_comment(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


# -- Perl

_LIB = re.compile(r"\buse\s+lib\b\s*|\b(?:unshift|push)\s*\(?\s*@INC\s*,\s*")
_QUOTED_WORDS = re.compile(
    r"\s*\(?\s*qw\s*(?:\(([^)]*)\)|\[([^\]]*)\]|\{([^}]*)\}|<([^>]*)>|([/|!])(.*?)\5)", re.DOTALL
)
_MODULE = re.compile(r"(?<![\w$@%&>:'\"-])(?:use|require)\s+(?P<name>[A-Za-z_]\w*(?:::\w+)*)(?![\w(']|\s*=>)")
_PARENTS = re.compile(r"\buse\s+(?:parent|base)\b(?!\s+-norequire)\s*")
_REQUIRED_FILE = re.compile(
    r"(?<![\w$@%&>:'\"-])(?:require|do)\b(?!\s*[{;=])\s*\(?\s*(?=[$'\"_]|dirname|File::|catfile)"
)
_PRAGMAS = ("lib", "parent", "base", "v5", "v6", "if")


def _perl(reader: Reader, read: Text, path: str) -> None:
    read.text = re.split(r"^__(?:END|DATA)__$", read.text, maxsplit=1, flags=re.MULTILINE)[0]
    folders = [*reader.folders(PERL)]
    for found in _LIB.finditer(read.text):
        listed = _listed(read, found.end())
        if not listed or None in listed:
            _computed(reader, path)
        folders[:0] = [reader.absolute(folder, read.cwd) for folder in listed if folder is not None]
    reader.searched(PERL, folders)
    for found in _MODULE.finditer(read.text):
        if not _is_comment(read.text, found.start()) and found["name"] not in _PRAGMAS:
            perl_module(reader, found["name"], read.cwd)
    for found in _PARENTS.finditer(read.text):
        for name in _listed(read, found.end()):
            if name is None:
                _computed(reader, path)
            else:
                perl_module(reader, name, read.cwd)
    for found in _REQUIRED_FILE.finditer(read.text):
        if _is_comment(read.text, found.start()):
            continue
        name, _ = read.value(found.end())
        if name is None:
            _computed(reader, path)
        else:
            _perl_file(reader, name, read.cwd)


def _listed(read: Text, at: int) -> list[str | None]:
    """The strings of a list."""
    if words := _QUOTED_WORDS.match(read.text, at):
        return [*"".join(filter(None, words.group(1, 2, 3, 4, 6))).split()]
    inner = read.next(r"\(", at)
    found: list[str | None] = []
    place: int | None = at if inner is None else inner
    while place is not None:
        value, end = read.value(place)
        found.append(value)
        place = re_end.end() if (re_end := re.compile(r"\s*(?:,|=>)\s*(?=\S)(?!\))").match(read.text, end)) else None
    return found


def perl_module(reader: Reader, name: str, cwd: str | None) -> None:
    _perl_file(reader, f"{name.replace('::', '/')}.pm", cwd)


def _perl_file(reader: Reader, name: str, cwd: str | None) -> None:
    if name.startswith(("./", "../", "/")):
        places = [reader.absolute(name, cwd)]
    else:
        places = [f"{folder}/{name}" for folder in reader.folders(PERL)]
        places += [] if name.endswith(".pm") else [reader.absolute(name, cwd)]  # `do` before 5.26
    for place in places:
        if reader.files.is_file(place):
            reader.script(place, cwd, PERL)


# -- folders that come before the installed modules


def shadowing(reader: Reader, kind: str, folder: str) -> bytes:
    """The modules of a folder that take the place of installed ones, by name."""
    installed, found = Installed(kind), list[str]()
    waiting = [""]
    for inner in waiting:  # grows while it is walked
        for name in reader.files.names(f"{folder}/{inner}".rstrip("/")):
            path = f"{inner}{name}"
            if reader.files.is_folder(f"{folder}/{path}"):
                waiting += [f"{path}/"] if path.count("/") < 4 and installed.has_folder(path) else []
            elif installed.has(path):
                found.append(path)
    return "\n".join(sorted(found)).encode()
