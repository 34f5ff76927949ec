"""What a hook runs besides the files that its declaration names: scripts that it sources or starts, modules that it
imports, makefiles that it includes, the command behind `npm test` or `make check`. It is read from the texts, within
bounds, and nothing is started. What cannot be known from them is said."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

from anyhook.engine.python_loads import PythonSearch, python_modules
from anyhook.model.record import Record
from anyhook.programs.collect import Collector
from anyhook.programs.named import named_files, on_project_path, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anyhook.documents.files import Files
    from anyhook.programs.program import Program, Word
    from anyhook.tables.rows import Roots

MAX_SCRIPTS = 200
"""How many scripts and modules of one hook are read."""
MAX_UNKNOWN = 8
SHELL, PYTHON, NODE, RUBY, PERL, MAKE, JUST, OTHER = "sh", "python", "node", "ruby", "perl", "make", "just", "other"
INTERPRETERS = (
    (re.compile(r"(ba|da|z|k|mk|a|fi)?sh"), SHELL),
    (re.compile(r"(python|pypy)[0-9.]*t?"), PYTHON),
    (re.compile(r"node(js)?|bun|deno|tsx|ts-node"), NODE),
    (re.compile(r"ruby[0-9.]*"), RUBY),
    (re.compile(r"perl[0-9.]*"), PERL),
    (re.compile(r"g?make"), MAKE),
    (re.compile(r"just"), JUST),
    (re.compile(r"(php|lua|Rscript|tclsh|julia|elixir|groovy|guile|osascript|pwsh)[0-9.]*"), OTHER),
)
SUFFIXES = {
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), SHELL),
    **dict.fromkeys((".py", ".pyw"), PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), NODE),
    **dict.fromkeys((".rb",), RUBY),
    **dict.fromkeys((".pl", ".pm"), PERL),
}
PROJECT_RUNNERS = frozenset({
    "pytest", "py.test", "tox", "nox", "pre-commit", "lefthook", "rake", "rspec", "bundle", "task", "cargo",
    "go", "mvn", "gradle", "ant", "bazel", "cmake", "ninja", "jest", "vitest", "mocha", "ava", "playwright",
    "cypress", "eslint", "prettier", "biome", "stylelint", "tsc", "turbo", "nx", "lerna", "gulp", "grunt",
    "webpack", "vite", "rollup", "docker", "docker-compose", "podman", "ansible-playbook", "terraform",
    "vagrant", "act", "phpunit", "composer", "mix", "dotnet", "npx", "pnpx", "bunx", "uvx", "invoke", "fab",
})  # fmt: skip
"""Programs that run what the project's files say, in ways that are not read here."""
PACKAGE_MANAGERS = ("npm", "pnpm", "yarn", "bun")
RUN_VERBS = ("run", "run-script", "rum", "urn")
SCRIPT_VERBS = {"test": "test", "t": "test", "tst": "test", "start": "start", "stop": "stop", "restart": "restart"}
VALUED = {
    SHELL: ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"),
    PYTHON: ("-W", "-X", "--check-hash-based-pycs"),
    NODE: ("-C", "--conditions", "--input-type", "--env-file", "--title", "--stack-trace-limit"),
    RUBY: ("-C", "-E", "-F", "-x"),
    PERL: (),
}
"""Options of interpreters whose value is not code."""
LOADING = {
    NODE: ("-r", "--require", "--import", "--loader", "--experimental-loader", "--preload"),
    RUBY: ("-r", "-I"),
    PERL: ("-I",),
}
"""Options of interpreters that name what is loaded first, or where it is looked for."""
CODE = {
    SHELL: re.compile(r"-[A-Za-z]*c"),
    PYTHON: re.compile(r"-[A-Za-z]*c|-"),
    NODE: re.compile(r"-[a-z]*[ep]|--eval|--print|-"),
    **dict.fromkeys((RUBY, PERL), re.compile(r"-[A-Za-z0-9]*[eE]|-")),
    OTHER: re.compile(r"-[re]|--run|--execute"),
}
"""Options of interpreters after which there is code, or that read it from stdin."""
ENVIRONMENTS = frozenset(
    {"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "bundle", "conda", "mamba", "nix", "nix-shell"}
)
"""Programs that run others with packages that the project names."""
SHELL_VARIABLES = ("BASH_ENV", "ENV")
LOADING_VARIABLES = frozenset({
    "NODE_OPTIONS", "NODE_PATH", "RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "PYTHONSTARTUP", "PYTHONHOME",
    "LD_PRELOAD", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "ZDOTDIR",
})  # fmt: skip
"""Variables that name what programs load."""
READ_BESIDE = {
    "bun": ("bunfig.toml",),
    "deno": ("deno.json", "deno.jsonc"),
    **dict.fromkeys(("tsx", "ts-node"), ("tsconfig.json",)),
    **dict.fromkeys(("npm", "pnpm"), (".npmrc",)),
    "yarn": (".yarnrc", ".yarnrc.yml"),
}
"""What some programs read in their folder, and that decides what they run."""
NODE_OWN = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module",
    "net", "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
    "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
    "worker_threads", "zlib",
})  # fmt: skip
IMPORTED = re.compile(
    r"""\b(?:require(?:\.resolve)?|import)\s*\(\s*(['"`])(?P<a>[^'"`\n]+)\1\s*[,)]"""
    r"""|(?:^|[;}\s])(?:import|export)\b[^'"`;()]*(['"])(?P<b>[^'"\n]+)\3"""
)
COMPUTED = re.compile(r"""(?<![\w.])(?:require|import)\s*\(\s*(?!['"`)])""")
STARTS_COMPUTED = re.compile(r"""\b(?:exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)\s*\(\s*(?!['"`\[)])""")
NODE_ENDS = ("", ".js", ".json", ".node", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/package.json", "/index.js")
REQUIRED = re.compile(r"""^\s*(require_relative|require|load)\b\s*\(?\s*(['"])([^'"\n]+)\2""", re.MULTILINE)
USED_LIB = re.compile(r"""^\s*use\s+lib\s+(?:qw\s*)?[('"]+([^'")\n]+)""", re.MULTILINE)
USED = re.compile(
    r"""^\s*(?:use|require)\s+([A-Z][\w:]*)|^\s*(?:require|do)\s*\(?\s*(['"])([^'"\n]+)\2""", re.MULTILINE
)
INCLUDE = re.compile(r"^(?:-|s)?include\s+(.+)$|^(?:import|mod)\??\s+(?:\w+\s+)?['\"]([^'\"]+)['\"]", re.MULTILINE)
RULE = re.compile(r"^@?([^\s#:=][^#:=]*?)\s*(?:::?)(?!=)\s*([^#=]*)(?:#.*)?$")


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
        self._read: set[tuple[str, str]] = set()
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
            if note.startswith(("program from", "code from", "eval of", "not read", "code that")):
                self.unsure(f"what only shows when it runs: {_short(note)}{place}")
        for program in collector.runs:
            if not program.remote:
                self.program(program)

    def program(self, program: Program) -> None:
        """One program that is started: the script that it is, or that it runs."""
        name, cwd = program.name, program.cwd
        if not name:
            return
        words = [word for word in program.words if word.known]
        self.environment(dict(program.set), cwd)
        for outer in ENVIRONMENTS.intersection(program.via):
            self.unsure(f"the packages that `{outer}` takes for the project")
        for beside in READ_BESIDE.get(name, ()):
            self.pin(self.absolute(beside, cwd))
        for path in on_project_path([name], self.roots.env.get("PATH", ""), self.roots.project, self.files):
            self.script(path, cwd)
        is_script = "/" in program.path or os.path.splitext(name)[1] in SUFFIXES  # `uv run x.py`
        if is_script and "$" not in program.path and "`" not in program.path:
            path = self.absolute(program.path, cwd)
            if self.is_ours(path) and ("/" in program.path or self.files.is_file(path)):
                self.script(path, cwd)
                self._environment(path)
        kind = _kind_of_program(name)
        if name in (".", "source"):
            for word in words[:1]:
                self._each(word.text, cwd, SHELL)
        elif kind is not None:
            self.interpreted(kind, program, words)
        elif name in PACKAGE_MANAGERS:
            self.package_script(name, [word.text for word in words], cwd)
        elif name in PROJECT_RUNNERS:
            self.unsure(f"whatever `{shlex.join([name, *(word.text for word in words[:2])])}` runs")

    def environment(self, variables: Mapping[str, str], cwd: str | None) -> None:
        """What variables make programs load, where a line or a declaration sets them."""
        for name, value in variables.items():
            if name in SHELL_VARIABLES and value:
                self._each(value, cwd, SHELL)
            elif name in LOADING_VARIABLES and value:
                self.unsure(f"what `{name}={value[:60]}` makes programs load")

    def _environment(self, path: str) -> None:
        """A virtual environment of the project: its settings are pinned, what is installed in it is not."""
        folder = os.path.dirname(path)
        for place in (f"{folder}/pyvenv.cfg", f"{os.path.dirname(folder)}/pyvenv.cfg"):
            if self.files.is_file(place):
                self.pin(place)
                self.unsure(f"the packages of the virtual environment {os.path.basename(os.path.dirname(place))}")

    def _each(self, word: str, cwd: str | None, kind: str, folders: Sequence[str] = ()) -> None:
        """The script that a word names, or all that a pattern matches."""
        for path in self._matches(word, cwd):
            self.script(path, cwd, kind, folders)

    def _matches(self, word: str, cwd: str | None) -> Sequence[str]:
        if any(sign in word for sign in "*?["):
            found = named_files([word], cwd or self.roots.project, "", {}, self.files)
            return [path for path in found if self.files.is_file(path)]
        return [self.absolute(word, cwd)]

    def interpreted(self, kind: str, program: Program, words: Sequence[Word]) -> None:
        """An interpreter: its script, its code, and what its options load."""
        if kind in (MAKE, JUST):
            self.targets(kind, [word.text for word in words], program.cwd)
            return
        texts = [word.text for word in words]
        script, loads, module = _arguments(kind, texts)
        for option, value in loads:
            self._loaded_first(kind, option, value, program.cwd)
        if kind == PYTHON:
            self.python_started(program, texts, script, module)
        elif script and (kind != OTHER or self.files.is_file(self.absolute(script, program.cwd))):
            self._each(script, program.cwd, kind, _folders(loads, self, program.cwd))
        elif program.code is not None and kind == NODE:
            self.node(self.absolute("-", program.cwd), program.code, program.cwd)

    def _loaded_first(self, kind: str, option: str, value: str, cwd: str | None) -> None:
        if kind == NODE:
            self.node_module(value, cwd or self.roots.project)
        elif kind == RUBY and option == "-r" and ("/" in value or value.endswith(".rb")):
            self.ruby_file(self.absolute(value, cwd), cwd)

    # -- a script

    def script(self, path: str, cwd: str | None, kind: str = "", folders: Sequence[str] = ()) -> None:
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
        name = os.path.basename(path)
        if len(self._read) > MAX_SCRIPTS or seen.size > len(seen.head):
            self.unsure(f"what {name} loads (it is too much to be read)")
            return
        text = seen.head.decode("utf-8", "replace")
        readers: dict[str, Callable[[], None]] = {
            SHELL: lambda: self.line(text, cwd, path, **{"0": path, "BASH_SOURCE": path}),
            PYTHON: lambda: self.python(path, text, cwd),
            NODE: lambda: self.node(path, text, cwd),
            RUBY: lambda: self.ruby(path, text, cwd, folders),
            PERL: lambda: self.perl(path, text, cwd, folders),
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
        added = [value for name, value in program.set if name == "PYTHONPATH"]
        first = [self.absolute(folder, cwd) for folder in ":".join(added).split(":") if folder]
        search = PythonSearch(self.files, self.roots.home, first)
        search.ignores_variables = bool({"I", "E"} & {*flags})
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
        search = PythonSearch(self.files, self.roots.home, [])
        search.first(os.path.dirname(self.files.real_path(path)))
        self.python_file(path, cwd, search)

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

    # -- Node

    def node(self, path: str, text: str, cwd: str | None) -> None:
        folder = os.path.dirname(self.files.real_path(path))
        self._package_type(folder)
        for found in IMPORTED.finditer(text):
            name = found["a"] or found["b"]
            if "${" in name:
                self.unsure(f"modules that only show when it runs ({os.path.basename(path)})")
            else:
                self.node_module(name, folder)
        if COMPUTED.search(text) or ("child_process" in text and STARTS_COMPUTED.search(text)):
            self.unsure(f"what only shows when it runs ({os.path.basename(path)})")
        if "child_process" in text or "Bun.$" in text or "zx" in text:
            from anyhook.programs.code import look_at_code
            from anyhook.programs.program import Program

            collector = Collector(self.roots.home, self.variables)
            look_at_code(Program("node", code=text, cwd=cwd), collector)
            for program in collector.runs:
                self.program(program)

    def node_module(self, name: str, folder: str) -> None:
        if name.startswith(("./", "../", "/", "file:")) or name in (".", ".."):
            stem = self.absolute(name.removeprefix("file://"), folder)
            for end in NODE_ENDS:
                place = f"{stem}{end}"
                if self.files.is_file(place):
                    self.script(place, folder, NODE if not place.endswith((".json", ".node")) else "data")
                    break
        elif not name.startswith(("node:", "bun:", "data:")) and name.partition("/")[0] not in NODE_OWN:
            package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
            for place in self._upward(folder):
                self.files.look(f"{place}/node_modules/{package}")
            self.unsure(f"the package `{package}` of node_modules")

    def _package_type(self, folder: str) -> None:
        """How Node reads a script follows from keys of the nearest `package.json`."""
        for place in self._upward(folder):
            path = f"{place}/package.json"
            if self.files.is_file(path):
                self.parts[f"{path}#type,imports"] = self._keys(path, ("type", "imports"))
                return

    def _upward(self, folder: str) -> Iterator[str]:
        outer = self.roots.outer or self.roots.project
        while within(folder, outer):
            yield folder
            if folder == outer:
                return
            folder = os.path.dirname(folder)

    def _keys(self, path: str, keys: Sequence[str]) -> bytes:
        document = self._json(path)
        kept = {key: document[key] for key in keys if key in document}
        return json.dumps(kept, sort_keys=True, indent=1).encode()

    def _json(self, path: str) -> dict[str, object]:
        try:
            document = json.loads(self.files.fingerprint(path).head)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def package_script(self, name: str, words: Sequence[str], cwd: str | None) -> None:
        """`npm test`, `npm run lint`, `yarn lint`: the line in `package.json`."""
        plain = [word for word in words if not word.startswith("-")]
        verb = plain[0] if plain else ""
        script = plain[1] if verb in RUN_VERBS and len(plain) > 1 else SCRIPT_VERBS.get(verb, "")
        folder = cwd or self.roots.project
        options = [word for word in words if word in ("-C", "--prefix", "--cwd", "-w", "--workspace", "-F", "--filter")]
        path = next((f"{place}/package.json" for place in self._upward(folder) if self._has_package(place)), "")
        scripts = self._json(path).get("scripts") if path else None
        listed = scripts if isinstance(scripts, dict) else {}
        if name in ("yarn", "pnpm", "bun") and verb in listed:
            script = verb
        if not script and verb in ("ls", "list", "view", "version", "config", "--version", ""):
            return
        if not script or options or not isinstance(listed.get(script), str):
            self.unsure(f"whatever `{shlex.join([name, *plain[:2]])}` runs")
            return
        self.pin(path)
        here = os.path.dirname(path)
        for each in (f"pre{script}", script, f"post{script}"):
            if isinstance(listed.get(each), str) and ("package.json", f"{path}:{each}") not in self._read:
                self._read.add(("package.json", f"{path}:{each}"))
                self._package_line(str(listed[each]), here, shlex.join([name, *plain[:2]]))

    def _has_package(self, folder: str) -> bool:
        return self.files.is_file(f"{folder}/package.json")

    def _package_line(self, line: str, folder: str, called: str) -> None:
        """Its programs come from `node_modules/.bin` first."""
        collector = Collector(self.roots.home, self.variables)
        collector.shell(line, folder)
        for program in collector.runs:
            own = f"{folder}/node_modules/.bin/{program.name}"
            if program.name and (self.files.look(own) is not None or not _is_known(program.name)):
                self.unsure(f"whatever `{called}` runs (`{line[:60]}`)")
        self.collected(collector, f"{folder}/package.json")

    # -- Ruby and Perl

    def ruby(self, path: str, text: str, cwd: str | None, folders: Sequence[str]) -> None:
        for found in REQUIRED.finditer(text):
            how, name = found[1], found[3]
            if how == "require_relative":
                self.ruby_file(self.absolute(name, os.path.dirname(self.files.real_path(path))), cwd)
            elif name.startswith(("./", "../", "/")):
                self.ruby_file(self.absolute(name, cwd), cwd)
            else:
                for folder in folders:
                    self.ruby_file(f"{folder}/{name}", cwd)
        self._foreign(RUBY, path, text, cwd)

    def ruby_file(self, stem: str, cwd: str | None) -> None:
        for path in (f"{stem}.rb", stem):
            if self.files.is_file(path):
                self.script(path, cwd, RUBY)
                return

    def perl(self, path: str, text: str, cwd: str | None, folders: Sequence[str]) -> None:
        here = os.path.dirname(self.files.real_path(path))
        own = [re.sub(r"\$(?:FindBin::)?(?:Real)?Bin|\$RealBin", here, found) for found in USED_LIB.findall(text)]
        places = [*(self.absolute(each, cwd) for text_ in own for each in text_.split()), *folders]
        for module, _, file in USED.findall(text):
            names = [f"{place}/{module.replace('::', '/')}.pm" for place in places] if module else []
            for name in names or ([self.absolute(file, cwd)] if file else []):
                if self.files.is_file(name):
                    self.script(name, cwd, PERL, places)
        self._foreign(PERL, path, text, cwd)

    def _foreign(self, name: str, path: str, text: str, cwd: str | None) -> None:
        """The lines that code of another language runs."""
        from anyhook.programs.code import look_at_code
        from anyhook.programs.program import Program

        collector = Collector(self.roots.home, self.variables)
        look_at_code(Program(name, code=text, cwd=cwd), collector)
        self.collected(collector, path)

    # -- make and just

    def targets(self, kind: str, words: Sequence[str], cwd: str | None) -> None:
        """The recipes of the targets that are named, and of those they need; of the first one, if none is named."""
        folder, file, wanted = cwd or self.roots.project, "", []
        rest = iter(words)
        for word in rest:
            if word in ("-C", "--directory", "-d", "--working-directory"):
                folder = self.absolute(next(rest, ""), folder)
            elif word in ("-f", "--file", "--makefile", "--justfile"):
                file = next(rest, "")
            elif not word.startswith("-") and "=" not in word:
                wanted.append(word)
        names = ("GNUmakefile", "makefile", "Makefile") if kind == MAKE else ("justfile", "Justfile", ".justfile")
        path = self.absolute(file, folder) if file else ""
        for name in () if path else names:
            if self.files.is_file(f"{folder}/{name}"):
                path = f"{folder}/{name}"
                break
        if path:
            self._recipes(path, wanted, folder, kind)

    def _recipes(self, path: str, wanted: list[str], folder: str, kind: str) -> None:
        rules = Targets()
        self._included(path, folder, rules)
        waiting, done = wanted or rules.order[:1], set[str]()
        for target in waiting:  # grows while it is walked
            if target in done:
                continue
            done.add(target)
            if target not in rules.needs and wanted and target in wanted:
                self.unsure(f"whatever `{kind} {target}` runs")
            waiting.extend(rules.needs.get(target, ()))
            for line in rules.lines.get(target, ()):
                self.line(re.sub(r"\$[({](\w+)[)}]", r"${\1}", line).replace("$$", "$"), folder, path)

    def _included(self, path: str, folder: str, rules: Targets) -> None:
        if (MAKE, path) in self._read or len(self._read) > MAX_SCRIPTS:
            return
        self._read.add((MAKE, path))
        self.pin(path)
        text = self.files.fingerprint(path).head.decode("utf-8", "replace").replace("\\\n", " ")
        rules.read(text)
        for make, just in INCLUDE.findall(text):
            for name in (make or just).split():
                if "$" in name:
                    self.unsure(f"a makefile that only shows when it runs (`{name}` in {os.path.basename(path)})")
                    continue
                for each in self._matches(name, folder):
                    self._included(each, folder, rules)


class Targets:
    """The targets of makefiles: what each needs and runs. As much of the grammar as that takes."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.needs: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}

    def read(self, text: str) -> None:
        current: list[str] = []
        for line in text.split("\n"):
            if line[:1] in ("\t", " ") and line.strip():
                for target in current:
                    self.lines.setdefault(target, []).append(line.strip().lstrip("@-+"))
                continue
            found = RULE.match(line)
            if not found:
                current = current if not line.strip() or line.startswith("#") else []
                continue
            current = found[1].split()[:1] if "(" not in found[1] and " " in found[1] else found[1].split()
            current = list(dict.fromkeys([*current, *found[1].split()]))
            needed, _, recipe = found[2].partition(";")
            for target in current:
                self.needs.setdefault(target, []).extend(needed.replace("|", " ").split())
                if not target.startswith("."):
                    self.order.append(target)
                if recipe.strip():
                    self.lines.setdefault(target, []).append(recipe.strip())


def _kind_of_program(name: str) -> str | None:
    return next((kind for pattern, kind in INTERPRETERS if pattern.fullmatch(name)), None)


def _kind_of_script(path: str, head: bytes) -> str:
    """The language of a script, by its first line or its name; "" if neither says."""
    if head.startswith(b"#!"):
        words = head[2:4096].split(b"\n", 1)[0].decode("utf-8", "replace").split()
        for word in words:
            name = os.path.basename(word)
            if name != "env" and not name.startswith("-") and "=" not in name:
                return _kind_of_program(name) or OTHER
    return SUFFIXES.get(os.path.splitext(path)[1].lower(), "")


def _arguments(kind: str, texts: Sequence[str]) -> tuple[str, list[tuple[str, str]], str]:
    """The script of an interpreter's command line, what its options load, and its module (`-m`)."""
    loads: list[tuple[str, str]] = []
    rest = iter(texts)
    for text in rest:
        name, equals, value = text.partition("=")
        short = text[:2] if text[:2] in LOADING.get(kind, ()) and not text.startswith("--") else ""
        if name in LOADING.get(kind, ()):
            loads.append((name, value if equals else next(rest, "")))
        elif short:
            loads.append((short, text[2:]))
        elif kind == PYTHON and re.fullmatch(r"-[A-Za-z]*m", text):
            return "", loads, next(rest, "")
        elif kind in CODE and CODE[kind].fullmatch(text):
            return "", loads, ""
        elif text in VALUED.get(kind, ()):
            next(rest, "")
        elif kind == NODE and text in ("run", "test"):
            continue
        elif not text.startswith(("-", "+")):
            return text, loads, ""
    return "", loads, ""


def _folders(loads: Sequence[tuple[str, str]], reader: Reader, cwd: str | None) -> list[str]:
    return [reader.absolute(value, cwd) for option, value in loads if option == "-I"]


def _is_known(name: str) -> bool:
    """Whether a line's program is the shell's own or a program of the system."""
    return _kind_of_program(name) is not None or name in PACKAGE_MANAGERS or shutil.which(name) is not None or name in (
        "cd", "echo", "exit", "export", "set", "unset", "test", "[", "true", "false", ":", ".", "source", "read",
    )  # fmt: skip


def _short(note: str) -> str:
    text = note.partition(" from ")[2] or note
    return f"`{text[:60]}`"
