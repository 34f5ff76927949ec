"""Programs in other languages that stand in a line: Python by its own grammar, the rest by the calls that open, write,
delete and start things. What is computed cannot be known, and says so."""

from __future__ import annotations

import ast
import os
import re

from anyhook.facts.paths import HERE
from anyhook.facts.programs import URL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

PYTHON = re.compile(r"(python|pypy)[0-9.]*")
OTHERS = re.compile(r"(node|nodejs|perl|ruby|php|deno|bun|lua|osascript|Rscript|tclsh)[0-9.]*")

DELETERS = {
    "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "unlink", "remove", "rmtree", "rmdir",
    "send2trash.send2trash",
}  # fmt: skip
WRITERS = {
    "os.truncate": 0,
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
    "subprocess.Popen",
    "subprocess.getoutput", "subprocess.getstatusoutput", "os.execvp", "os.execv", "os.execl", "os.execlp",
    "os.spawnlp", "os.spawnvp", "system", "popen", "run", "call", "check_call", "check_output", "Popen", "pty.spawn",
    "asyncio.create_subprocess_shell",
}  # fmt: skip
CODERS = {"exec", "eval", "compile", "__import__", "runpy.run_path"}
PATH_METHODS = {
    "unlink": "delete", "rmdir": "delete", "write_text": "write", "write_bytes": "write", "touch": "write",
    "mkdir": "write", "read_text": "read", "read_bytes": "read", "chmod": "change", "rename": "move",
    "replace": "move", "symlink_to": "write", "hardlink_to": "write",
}  # fmt: skip


def look_at_code(program: Program, into: Collector) -> None:
    """Adds what the program text does that an interpreter is given."""
    if program.code is None:
        return
    if PYTHON.fullmatch(program.name):
        _Python(program, into).read(program.code)
    elif OTHERS.fullmatch(program.name):
        _others(program, into)


class _Python:
    """One program, walked in order with what its names are known to hold."""

    def __init__(self, program: Program, into: Collector) -> None:
        self.program, self.into = program, into
        self.names: dict[str, object] = {}
        self.modules: dict[str, str] = {}

    def read(self, code: str) -> None:
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(_dedented(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.into.unknown.append("code that is not valid Python")
            _others(self.program, self.into)
            return
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
        return ""

    def value(self, node: ast.expr) -> object:
        """A text, a list of texts, or None where it is computed."""
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
        """What a call returns, where it only computes a path."""
        name = self.name(node.func)
        given = [self.value(arg) for arg in node.args]
        short = name.rpartition(".")[2]
        if short in (
            "Path",
            "PurePath",
            "PosixPath",
            "str",
            "abspath",
            "realpath",
            "fspath",
            "expandvars",
            "join",
            "joinpath",
            "resolve",
            "absolute",
        ):
            if isinstance(node.func, ast.Attribute) and short in ("joinpath", "resolve", "absolute"):
                given = [self.value(node.func.value), *given]
            if (
                isinstance(node.func, ast.Attribute)
                and short == "join"
                and isinstance(self.value(node.func.value), str)
                and given
                and isinstance(given[0], list)
            ):
                separator, parts = str(self.value(node.func.value)), given[0]
                return separator.join(map(str, parts)) if all(isinstance(part, str) for part in parts) else None
            return os.path.join(*map(str, given)) if given and all(isinstance(each, str) for each in given) else None
        if short == "expanduser":
            text = given[0] if given else self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
            return str(text).replace("~", self.into.home, 1) if isinstance(text, str) else None
        if short == "home":
            return self.into.home
        if short in ("getcwd", "cwd"):
            return self.program.cwd or HERE
        if name in ("os.environ.get", "os.getenv") and given:
            return self.into.home if given[0] == "HOME" else None
        if short in ("decode", "encode", "strip", "lower", "upper") and isinstance(node.func, ast.Attribute):
            return self.value(node.func.value)
        if short in ("b64decode", "a2b_base64") and given and isinstance(given[0], str):
            import base64
            import binascii

            try:
                return base64.b64decode(given[0]).decode("utf-8", "replace")
            except (ValueError, binascii.Error):
                return None
        if short in ("split",) and isinstance(node.func, ast.Attribute):
            text = self.value(node.func.value)
            return text.split() if isinstance(text, str) and not given else None
        if short == "chr" and given and isinstance(given[0], int):
            return chr(given[0] & 0xFFFF)
        return None

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
        elif name in RUNNERS:
            self._start(node)
        elif name in CODERS and args:
            code = self.value(args[0])
            if isinstance(code, str) and name != "runpy.run_path":
                self.read(code)
            elif code is None:
                self.into.unknown.append(f"code from Python's {name}")
        elif name in DELETERS:
            self.note("delete", args[:1])
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

    def _start(self, node: ast.Call) -> None:
        value = self.value(node.args[0]) if node.args else None
        if isinstance(value, list):
            import shlex

            texts = [str(each) if isinstance(each, (str, int)) else "$…" for each in value]
            self.into.line(" ".join(text if text == "$…" else shlex.quote(text) for text in texts), self.program)
        elif isinstance(value, str):
            self.into.line(value, self.program)
        else:
            self.into.unknown.append(f"program from Python's {self.name(node.func)}")

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


def _in_order(tree: ast.AST) -> list[ast.AST]:
    """Every node, outer ones first, in the order of the text: an assignment before its use."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(reversed([*ast.iter_child_nodes(node)]))
    return found


def _dedented(code: str) -> str:
    import textwrap

    return textwrap.dedent(code).strip("\n")


# -- other languages: by their calls

TEXT = r"\s*\(?\s*(?:[A-Z]\w*\s*,\s*)?(['\"])(?P<path>(?:(?!\1)[^\\\n]|\\.)*)\1"
CALLS: tuple[tuple[str, str], ...] = (
    ("delete", r"\b(?:unlinkSync|unlink|rmSync|rmdirSync|rmdir|rm_rf|rm_r|rm_f|rm|remove_tree|rmtree|removeSync|"
        r"remove|delete|removeAll|Deno\.remove(?:Sync)?)"),
    ("write", r"\b(?:writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|file_put_contents|"
        r"mkdirSync|mkdir|truncateSync|Deno\.writeTextFile(?:Sync)?|Bun\.write|outputFileSync|touch|File\.write|"
            r"IO\.write|chmodSync|symlinkSync)"),
    ("read", r"\b(?:readFileSync|readFile|createReadStream|file_get_contents|readFileSync|"
        r"Deno\.readTextFile(?:Sync)?|File\.read|IO\.read|slurp|require|readlines)"),
    ("line", r"\b(?:execSync|exec|system|spawnSync|spawn|popen|shell_exec|passthru|qx|backtick|os\.execute|"
        r"io\.popen|do shell script)"),
)  # fmt: skip
_PATTERNS = tuple((action, re.compile(pattern + TEXT, re.DOTALL)) for action, pattern in CALLS)
TWO = re.compile(
    r"\b(renameSync|rename|copyFileSync|copyFile|copy|cp|mv|move|cpSync)"
    + TEXT
    + r"\s*,\s*(['\"])(?P<to>(?:(?!\3).)*)\3"
)
OPENED = re.compile(
    r"\bopen(?:Sync)?\s*\(?\s*(?:my\s+)?(?:\$?\w+\s*,\s*)?(['\"])(?P<a>[^'\"]*)\1(?:\s*,\s*(['\"])(?P<b>[^'\"]*)\3)?"
)
TICKS = re.compile(r"(?:`([^`]+)`|%x[({]([^)}]+)[)}]|qx[({/]([^)}/]+)[)}/])")


def _others(program: Program, into: Collector) -> None:
    code = program.code or ""
    for action, pattern in _PATTERNS:
        for found in pattern.finditer(code):
            path = found["path"]
            if action == "line":
                into.line(_with_list(code, found, path), program)
            elif action == "read" and "require" in found[0] and "/" not in path:
                continue
            elif not program.remote:
                into.note(action, path, program.cwd)
    for found in TWO.finditer(code):
        if not program.remote:
            into.note(
                "delete" if found[1] in ("rename", "renameSync", "mv", "move") else "read", found["path"], program.cwd
            )
            into.note("write", found["to"], program.cwd)
    for found in OPENED.finditer(code):
        _opened(found, program, into)
    if not program.name.startswith(("node", "deno", "bun")):
        for groups in TICKS.findall(code):
            into.line("".join(groups), program)
    for url in URL.findall(code):
        into.connect(url)
    if re.search(r"\b(?:eval|exec|system|spawn|unlink|writeFile)\w*\s*\(?\s*[$@\w]+\s*[,)]", code):
        into.unknown.append(f"arguments computed by {program.name}")


def _with_list(code: str, found: re.Match[str], first: str) -> str:
    """`spawnSync("rm", ["-rf", "/"])` and `system("rm", "-rf", "/")` as one line."""
    import shlex

    tail = code[found.end() : found.end() + 500]
    listed = re.match(r"\s*,\s*\[([^\]]*)\]", tail) or re.match(r"((?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))+)\s*\)", tail)
    if listed is None:
        return first
    words = [single or double for single, double in re.findall(r"'([^']*)'|\"([^\"]*)\"", listed[1])]
    return " ".join([first, *map(shlex.quote, words)])


def _opened(found: re.Match[str], program: Program, into: Collector) -> None:
    first, second = found["a"], found["b"]
    if program.remote:
        return
    if second is None:
        piece = re.match(r"\s*(\+?[<>]{1,2})?\s*(.+?)\s*(\|)?$", first)
        if piece and piece[3]:
            into.line(piece[2], program)
        elif piece:
            into.note("write" if ">" in (piece[1] or "") else "read", piece[2], program.cwd)
        return
    if re.fullmatch(r"\s*\+?[<>|-]{1,2}.*", first):  # perl: the mode comes first
        if "|" in first:
            into.line(second, program)
        else:
            into.note("write" if ">" in first else "read", second, program.cwd)
    else:
        into.note("write" if any(sign in second for sign in "wax+") else "read", first, program.cwd)
