"""Python code inside a line, read with Python's own grammar: the calls that open, write, delete and start things, with
the known values of its names. Nothing is imported or run."""

from __future__ import annotations

import ast
import base64
import os
import shlex
import textwrap
import warnings

from anyhook.facts.by_table import URL
from anyhook.facts.paths import HERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

DELETERS = {
    "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "unlink", "remove", "rmtree", "rmdir",
    "send2trash.send2trash",
}  # fmt: skip
WRITERS = {
    "os.mkdir": 0,
    "os.makedirs": 0,
    "os.mkfifo": 0,
    "makedirs": 0,
    "os.chmod": -1,
    "os.chown": -1,
}
MOVERS = {"os.rename", "os.replace", "shutil.move", "os.renames"}
COPIERS = {
    "shutil.copy",
    "shutil.copy2",
    "shutil.copyfile",
    "shutil.copytree",
    "copy",
    "copyfile",
    "os.symlink",
    "os.link",
    "shutil.copymode",
}
RUNNERS = {
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "subprocess.Popen", "subprocess.getoutput", "subprocess.getstatusoutput", "system", "popen", "run", "call",
    "check_call", "check_output", "Popen", "pty.spawn", "asyncio.create_subprocess_shell",
}  # fmt: skip
REPLACERS = ("os.exec", "os.spawn", "os.posix_spawn")
"""Prefixes of functions whose arguments follow the program's path."""
CODERS = {"exec", "eval", "compile", "__import__", "runpy.run_path"}
PATH_METHODS = {
    "unlink": "delete", "rmdir": "delete", "write_text": "write", "write_bytes": "write", "touch": "write",
    "mkdir": "write", "read_text": "read", "read_bytes": "read", "chmod": "change", "rename": "move",
    "replace": "move", "symlink_to": "write", "hardlink_to": "write",
}  # fmt: skip


JOINING = frozenset({
    "Path", "PurePath", "PosixPath", "str", "abspath", "realpath", "fspath", "expandvars", "join", "joinpath",
    "resolve", "absolute", "normpath",
})  # fmt: skip
"""Functions and methods that build a path from strings."""
LISTING = frozenset({"glob", "rglob", "iterdir", "iglob"})
"""Functions that list the files of a folder."""


class PythonCode:
    """One piece of code, walked in order with the known values of its names."""

    def __init__(self, program: Program, into: Collector) -> None:
        self.program, self.into = program, into
        self.names: dict[str, object] = {}
        self.modules: dict[str, str] = {}

    def read(self, code: str) -> bool:
        """Add what the code does; False if it is not valid Python."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(_dedented(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        for statement in _in_order(tree):
            if (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
            ):
                self.names[statement.targets[0].id] = self.value(statement.value)
            elif isinstance(statement, (ast.For, ast.comprehension)) and isinstance(statement.target, ast.Name):
                self.names[statement.target.id] = self.value(statement.iter)
            elif isinstance(statement, ast.withitem) and isinstance(statement.optional_vars, ast.Name):
                self.names[statement.optional_vars.id] = self.value(statement.context_expr)
            elif isinstance(statement, ast.Call):
                self.call(statement)
        for url in URL.findall(code):
            self.into.connect(url)
        return True

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self.modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            else:
                self.modules[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )

    def name(self, node: ast.expr) -> str:
        """The dotted name of a function, with imports followed."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            inner = self.name(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        if (
            isinstance(node, ast.Call)
            and self.name(node.func) in ("__import__", "importlib.import_module")
            and node.args
        ):
            return str(self.value(node.args[0]) or "")
        if isinstance(node, ast.Call) and self.name(node.func) == "getattr" and len(node.args) > 1:
            return f"{self.name(node.args[0])}.{self.value(node.args[1])}"
        return ""

    def value(self, node: ast.expr) -> object:
        """A string, a list of strings, or None if it is computed."""
        if isinstance(node, ast.Constant):
            return node.value.decode("utf-8", "replace") if isinstance(node.value, bytes) else node.value
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.value(each) for each in node.elts]
        if isinstance(node, ast.JoinedStr):
            parts = [
                self.value(each.value) if isinstance(each, ast.FormattedValue) else self.value(each)
                for each in node.values
            ]
            return None if any(not isinstance(part, (str, int)) for part in parts) else "".join(map(str, parts))
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(left, str) and isinstance(right, str):
                return left + right if isinstance(node.op, ast.Add) else os.path.join(left, right)
            if isinstance(left, list) and isinstance(right, list):
                return left + right
            return None
        return self.called(node) if isinstance(node, ast.Call) else None

    def called(self, node: ast.Call) -> object:
        """What a call returns, if it only computes a path or a string."""
        given = [self.value(arg) for arg in node.args]
        owner = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        short = node.func.attr if isinstance(node.func, ast.Attribute) else self.name(node.func).rpartition(".")[2]
        texts = [each for each in (owner, *given) if isinstance(each, str)]
        if short in JOINING:
            if short == "join" and isinstance(owner, str) and given and isinstance(given[0], list):
                parts = [each for each in given[0] if isinstance(each, str)]
                return owner.join(parts) if len(parts) == len(given[0]) else None
            return os.path.join(*texts) if texts and len(texts) >= len(given) else None
        if short in LISTING and (owner is not None or given):
            place = texts if owner is None else [*texts, "*"][:2]
            return os.path.join(*place[:1], *(["**"] if short == "rglob" else []), *place[1:]) if place else None
        if short == "expanduser":
            return texts[0].replace("~", self.into.home, 1) if texts else None
        if short == "home":
            return self.into.home
        if short in ("getcwd", "cwd"):
            return self.program.cwd or HERE
        if short in ("get", "getenv"):
            return self.into.home if given[:1] == ["HOME"] else None
        if short in ("decode", "encode", "strip"):
            return owner
        if short == "split":
            return owner.split() if isinstance(owner, str) and not given else None
        if short == "b64decode":
            return _decoded(texts[0]) if texts else None
        return chr(given[0] & 0xFFFF) if short == "chr" and given and isinstance(given[0], int) else None

    def call(self, node: ast.Call) -> None:
        name = self.name(node.func)
        short = name.rpartition(".")[2]
        args = [
            *node.args,
            *(keyword.value for keyword in node.keywords if keyword.arg in ("file", "path", "src", "dst", "args")),
        ]
        if name in ("open", "io.open", "codecs.open", "os.open") or (
            short == "open" and isinstance(node.func, ast.Attribute)
        ):
            self._open(node, name)
        elif name.startswith(REPLACERS):
            self._start(node.args[2 if name.startswith("os.spawn") else 1 :], name)
        elif name in RUNNERS:
            self._start(node.args[:1], name)
        elif name in CODERS and args:
            code = self.value(args[0])
            if isinstance(code, str) and name != "runpy.run_path":
                self.read(code)
            elif code is None:
                self.into.unknown.append(f"code from Python's {name}")
        elif name in DELETERS:
            self.note("delete", args[:1])
        elif name == "os.truncate":
            self.note("empty", args[:1])
        elif opened := _emptied_by_open(node.func):
            self.note("empty", opened.args[:1])
        elif name in MOVERS:
            self.note("delete", args[:1])
            self.note("write", args[1:2])
        elif name in COPIERS:
            self.note("read", args[:1])
            self.note("write", args[1:2])
        elif name in WRITERS:
            self.note("change" if WRITERS[name] < 0 else "write", args[:1])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in PATH_METHODS and not name.startswith("os."):
            self._method(node, node.func)

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        """A method of a path."""
        action = PATH_METHODS[func.attr]
        value = self.value(func.value)
        if func.attr in ("replace", "mkdir", "touch", "rename") and not isinstance(value, str):
            return
        if action == "move":
            if len(node.args) == 1:  # a text's `replace` has two
                self.note("delete", [func.value])
                self.note("write", node.args[:1])
            return
        self.note(action, [func.value])

    def _open(self, node: ast.Call, name: str) -> None:
        is_method = isinstance(node.func, ast.Attribute) and name not in ("io.open", "codecs.open", "os.open")
        target = [node.func.value] if is_method and isinstance(node.func, ast.Attribute) else node.args[:1]
        rest = node.args if is_method else node.args[1:]
        given = [*rest[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
        mode = self.value(given[0]) if given else "r"
        writes = name == "os.open" or mode is None or any(sign in str(mode) for sign in "wax+")
        self.note("write" if writes else "read", target)

    def _start(self, args: list[ast.expr], name: str) -> None:
        """A started program: a line, a list of words, or for `os.execlp` separate arguments."""
        values = [self.value(arg) for arg in args]
        value = values[0] if len(values) == 1 else values
        if isinstance(value, list) and value:
            texts = [str(each) if isinstance(each, (str, int)) else "$…" for each in value]
            self.into.line(" ".join(text if text == "$…" else shlex.quote(text) for text in texts), self.program)
        elif isinstance(value, str):
            self.into.line(value, self.program)
        else:
            self.into.unknown.append(f"program from Python's {name}")

    def note(self, action: str, nodes: list[ast.expr]) -> None:
        for node in nodes:
            value = self.value(node)
            values = value if isinstance(value, list) else [value]
            for each in values:
                if isinstance(each, str):
                    if not self.program.remote:
                        self.into.note(action, each, self.program.cwd)
                elif not isinstance(each, int):
                    self.into.unknown.append(f"path from Python's {ast.unparse(node)[:60]}")


def _emptied_by_open(func: ast.expr) -> ast.Call | None:
    """The call in `open(path, "w").close()`, which leaves an empty file."""
    if not isinstance(func, ast.Attribute) or func.attr != "close" or not isinstance(func.value, ast.Call):
        return None
    modes = [arg.value for arg in func.value.args[1:] if isinstance(arg, ast.Constant)]
    return func.value if "w" in modes or "wb" in modes else None


def _in_order(tree: ast.AST) -> list[ast.AST]:
    """Every node, outer ones first, in the order in which they run: an assignment before its use, and the iterable of a
    comprehension before its body."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        found.append(node)
        children = sorted(ast.iter_child_nodes(node), key=lambda child: not isinstance(child, ast.comprehension))
        stack.extend(reversed(children))
    return found


def _dedented(code: str) -> str:
    return textwrap.dedent(code).strip("\n")


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except ValueError:
        return None
