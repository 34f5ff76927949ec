"""What Python code imports: the modules beside a script, in the order in which Python finds them. They are read with
Python's own grammar, and nothing is imported."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Sequence

from anyhook.documents.files import Files
from anyhook.programs.code import PythonCode
from anyhook.programs.collect import Collector
from anyhook.programs.named import is_standard, stands_alone
from anyhook.programs.program import Program

Import = tuple[str, int, tuple[str, ...], str]
"""The module, the number of dots before it, the names taken from it, and the file that imports it."""

ENDS = (".py", ".pyc", ".so", ".pyd")
INSTALLED_IN = ("site-packages", "dist-packages")
MAX_MODULE_BYTES = 262_144


class ImportingCode(PythonCode):
    """One file's code: its imports, the folders that it adds to the search, and the files that it runs."""

    def __init__(self, program: Program, into: Collector, path: str) -> None:
        super().__init__(program, into)
        self.path = path
        self.names["__file__"] = path
        self.imports: list[Import] = []
        self.folders: list[tuple[str, bool]] = []
        """And whether each comes before the standard library."""
        self.files: list[str] = []
        self.computed = False
        self.own: set[str] = set()

    def read(self, code: str) -> bool:
        try:
            nodes = [*ast.walk(ast.parse(code))]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        self.own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        is_read = super().read(code)
        for node in nodes:
            for name, value in _variables(node):
                given = self.value(value) if value is not None else None
                self.into.assigned.append((name, given if isinstance(given, str) else "$"))
        return is_read

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        super()._import(node)
        if isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            self.imports.append((node.module or "", node.level, names, self.path))
        else:
            self.imports += [(alias.name, 0, (), self.path) for alias in node.names]

    def value(self, node: ast.expr) -> object:
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            inner = self.value(node.value)
            return os.path.dirname(inner) if isinstance(inner, str) else None
        if isinstance(node, ast.Subscript):
            return self._item(node)
        return super().value(node)

    def _item(self, node: ast.Subscript) -> object:
        """`Path(…).parents[N]`, `sys.path[0]`, `os.environ["NAME"]`."""
        key = self.value(node.slice)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "parents" and isinstance(key, int):
            inner = self.value(node.value.value)
            for _ in range(min(key + 1, 64)) if isinstance(inner, str) else ():
                inner = os.path.dirname(str(inner))
            return inner
        name = self.name(node.value)
        if name == "os.environ" and isinstance(key, str):
            return self.into.variables.get(key)
        return os.path.dirname(self.path) if name == "sys.path" and key == 0 else None

    def called(self, node: ast.Call) -> object:
        name = self.name(node.func)
        if name.endswith("dirname") and node.args:
            inner = self.value(node.args[0])
            return os.path.dirname(inner) if isinstance(inner, str) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "with_name" and node.args:
            owner, other = self.value(node.func.value), self.value(node.args[0])
            both = isinstance(owner, str) and isinstance(other, str)
            return os.path.join(os.path.dirname(str(owner)), str(other)) if both else None
        if name in ("os.environ.get", "os.getenv") and node.args:
            return self.into.variables.get(str(self.value(node.args[0])))
        return super().called(node)

    def call(self, node: ast.Call) -> None:
        name = self.name(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in self.own:
            return  # a function of its own, not the one of that name which starts programs
        if name in ("sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir"):
            self._add_folder(node, 1 if name == "sys.path.insert" else 0)
        elif name in ("importlib.import_module", "__import__", "runpy.run_module"):
            module = self.value(node.args[0]) if node.args else None
            if isinstance(module, str):
                self.imports.append((module.lstrip("."), len(module) - len(module.lstrip(".")), (), self.path))
            else:
                self.computed = True
        elif name in ("runpy.run_path",) or name.endswith(("spec_from_file_location", "SourceFileLoader")):
            place = 0 if name == "runpy.run_path" else 1
            path = self.value(node.args[place]) if len(node.args) > place else None
            if isinstance(path, str):
                self.files.append(os.path.join(self.program.cwd or "/", path))
            else:
                self.computed = True
        else:
            super().call(node)

    def _add_folder(self, node: ast.Call, place: int) -> None:
        given = self.value(node.args[place]) if len(node.args) > place else None
        for folder in given if isinstance(given, list) else [given]:
            if isinstance(folder, str):
                path = os.path.normpath(os.path.join(self.program.cwd or "/", folder))
                self.folders.append((path, place == 1))
            else:
                self.computed = True


def _variables(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Variables in capitals that code may set for the programs that it starts: `os.environ["X"] = …`, `{"X": …}`,
    `dict(os.environ, X=…)`, `os.putenv("X", …)`. None for a value that is added to another."""
    if isinstance(node, ast.Assign):
        yield from ((name, node.value) for target in node.targets for name in _key(target))
    elif isinstance(node, ast.AugAssign):
        yield from ((name, None) for name in _key(node.target))
    elif isinstance(node, ast.Dict):
        both = zip(node.keys, node.values, strict=True)
        yield from ((str(key.value), value) for key, value in both if isinstance(key, ast.Constant))
    elif isinstance(node, ast.Call):
        yield from _given(node)


def _given(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    yield from ((each.arg, each.value) for each in node.keywords if each.arg is not None and each.arg.isupper())
    if len(node.args) == 2 and isinstance(node.args[0], ast.Constant) and _attribute(node.func) in SETTERS:
        yield str(node.args[0].value), node.args[1]


def _key(target: ast.expr) -> list[str]:
    """`x["NAME"]`"""
    is_plain = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
    return [str(target.slice.value)] if is_plain else []  # type: ignore[attr-defined]


SETTERS = ("putenv", "setdefault", "setenv", "__setitem__")


def _attribute(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else ""


class PythonSearch:
    """Where one interpreter looks for modules, and what it is asked for."""

    def __init__(self, files: Files, home: str, folders: Sequence[str]) -> None:
        self.files, self.home = files, home
        self.folders = [*folders]
        self.heads: list[str] = []
        """Folders that come before the standard library."""
        self.imports: list[Import] = []
        self.scripts: list[str] = []
        self.beside: list[str] = []
        """Files that Python runs at every start, or would."""
        self.unknown: list[str] = []
        self.asked: set[str] = set()
        """The names of modules that are not found in the folders."""
        self.ignores_variables = False
        """Whether an option makes the interpreter ignore variables, also the one that keeps compiled files apart."""
        self._list_customs()

    def first(self, folder: str) -> None:
        self.folders.insert(0, folder)
        self.heads.append(folder)

    def wanted(self, module: str, names: tuple[str, ...]) -> None:
        self.imports.append((module, 0, names, ""))

    def file(self, path: str, into: Collector, cwd: str) -> None:
        """Read one file."""
        seen = self.files.fingerprint(path)
        if not seen.digest or seen.digest.startswith("!") or seen.binary:
            return
        if seen.size > min(len(seen.head), MAX_MODULE_BYTES):
            self.unknown.append(f"what {os.path.basename(path)} loads (it is too large to be read)")
            return
        self.code(seen.head.decode("utf-8", "replace"), path, into, cwd)

    def code(self, text: str, path: str, into: Collector, cwd: str) -> None:
        code = ImportingCode(Program("python3", cwd=cwd), into, path)
        name = os.path.basename(path)
        if not code.read(text):
            self.unknown.append(f"what {name} loads (it cannot be read as Python)")
        self.imports += code.imports
        self.scripts += code.files
        for folder, is_first in code.folders:
            if folder not in self.folders:
                self.folders.append(folder)
            if is_first and folder not in self.heads:
                self.heads.append(folder)
        if code.computed:
            self.unknown.append(f"modules that only show when it runs ({name})")
        into.unknown[:] = [note for note in into.unknown if not note.startswith("code that")]

    def names(self, folder: str) -> list[str]:
        return self.files.names(folder) if self.files.is_folder(folder) else []

    def found(self, folder: str, name: str) -> list[str]:
        """The files of one module or package in a folder, all that there are; Python takes one of them."""
        listed = self.names(folder)
        here = [f"{folder}/{each}" for each in listed if each.split(".", 1)[0] == name and each.endswith(ENDS)]
        if name in listed and self.files.is_folder(f"{folder}/{name}"):
            inner = [each for each in self.names(f"{folder}/{name}") if each.split(".", 1)[0] == "__init__"]
            here += [f"{folder}/{name}/{each}" for each in inner if each.endswith(ENDS)]
        return [path for path in here if self.files.is_file(path)] + self._compiled(folder, name)

    def _compiled(self, folder: str, name: str) -> list[str]:
        """Compiled files that Python would run without comparing them with the source."""
        found = []
        for cache, stem in ((f"{folder}/__pycache__", name), (f"{folder}/{name}/__pycache__", "__init__")):
            for each in self.names(cache):
                if each.split(".", 1)[0] == stem and stands_alone(f"{cache}/{each}", self.files):
                    found.append(f"{cache}/{each}")
        return found

    def resolve(self, wanted: Import) -> list[str]:
        """The files of one import, parents first."""
        module, level, names, importer = wanted
        parts = [part for part in module.split(".") if part]
        if level:
            folder = os.path.dirname(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._inside([folder], parts, names)
        if not parts or any("/" in part or "\0" in part for part in parts):
            return []
        found = self._inside(self.folders, parts, names)
        if not found and parts[0] not in sys.stdlib_module_names:
            self.asked.add(parts[0])
            for folder in self.folders:
                self.files.look(f"{folder}/{parts[0]}.py")  # a file written there changes what is imported
        return found

    def _inside(self, folders: Sequence[str], parts: Sequence[str], names: Sequence[str]) -> list[str]:
        for folder in folders:
            here, found = folder, list[str]()
            for part in parts:
                found += self.found(here, part)
                here = f"{here}/{part}"
            if parts and not found and not self.files.is_folder(f"{folder}/{parts[0]}"):
                continue
            for name in names:
                found += self.found(here, name) if name != "*" else []
            if found:
                return found
        return []

    def shadows(self) -> Iterator[tuple[str, str]]:
        """Modules in the folders that come first, with the name of one that is installed: Python takes these instead,
        also for the imports of installed modules."""
        for folder in self.heads:
            for each in self.names(folder):
                name = each.split(".", 1)[0]
                if (each == name or each.endswith(ENDS)) and takes_place(name, self.asked, self.home):
                    yield folder, name

    def modules(self, limit: int) -> Iterator[str]:
        """Every file that is imported. It grows while its caller reads the files."""
        done: set[Import] = set()
        seen: set[str] = set()
        shadowed: set[str] = set()
        while True:
            waiting = [each for each in dict.fromkeys(self.imports) if each not in done]
            if not waiting:
                waiting = [(name, 0, (), "") for _, name in self.shadows() if name not in shadowed]
                shadowed.update(name for name, *_ in waiting)
                if not waiting:
                    return
            for wanted in waiting:
                done.add(wanted)
                for path in self.resolve(wanted):
                    if path in seen:
                        continue
                    seen.add(path)
                    if len(seen) > limit:
                        self.unknown.append("more modules than are read")
                        return
                    yield path

    def parts(self) -> dict[str, bytes]:
        shadowing: dict[str, set[str]] = {folder: set() for folder in self.heads if self.files.is_folder(folder)}
        for folder, name in self.shadows():
            if folder in shadowing and self.found(folder, name):
                shadowing[folder].add(name)
        return {f"{folder.rstrip('/')}/": "\n".join(sorted(names)).encode() for folder, names in shadowing.items()}

    def _list_customs(self) -> None:
        """`usercustomize` and `sitecustomize` of the user, and lines of `.pth` files: they run before any script."""
        base = f"{self.home.rstrip('/')}/.local/lib"
        own = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        for version in {own, *(name for name in self.names(base) if name.startswith("python"))}:
            folder = f"{base}/{version}/site-packages"
            for name in ("usercustomize", "sitecustomize"):
                self.files.look(f"{folder}/{name}.py")
                self.beside += self.found(folder, name)
            for name in self.names(folder):
                path = f"{folder}/{name}"
                if name.endswith(".pth") and b"import" in self.files.fingerprint(path).head:
                    self.beside.append(path)


def takes_place(name: str, asked: set[str], home: str) -> bool:
    """Whether a module of this name, in a folder that is searched first, takes the place of an installed one."""
    return is_standard(name) or name in asked or (bool(asked) and _is_installed(name, home))


def _is_installed(name: str, home: str) -> bool:
    """Whether any of the usual folders has a package or module of this name."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    bases = dict.fromkeys([f"{sys.prefix}/lib", "/usr/lib", "/usr/local/lib", f"{home}/.local/lib"])
    folders = [f"{base}/{inner}/{each}" for base in bases for inner in (version, "python3") for each in INSTALLED_IN]
    return any(os.path.exists(f"{folder}/{name}{end}") for folder in folders for end in ("", ".py"))
