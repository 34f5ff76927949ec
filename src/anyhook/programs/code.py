"""Code in other languages inside a line: Python is read with its own grammar, the rest by the calls that open, write,
delete and start things. Computed values are reported as unknown."""

from __future__ import annotations

import ast
import base64
import os
import re
import shlex
import textwrap
import warnings
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from anyhook.programs.commands import is_powershell
from anyhook.programs.effects import URL
from anyhook.programs.paths import HERE
from anyhook.programs.program import Program
from anyhook.programs.scripts import language_of
from anyhook.programs.special import ESCAPES

if TYPE_CHECKING:
    from anyhook.programs.collect import Collector
    from anyhook.programs.rows import Language


def look_at_code(program: Program, into: Collector) -> None:
    """Add what the code on an interpreter's command line does."""
    if program.code is None:
        return
    language = language_of(program.name)
    if language == "python":
        if not PythonCode(program, into).read(program.code):
            into.unknown.append("code that is not valid Python")
            _others(program, into)
    elif is_powershell(program.name):  # the grammar is different, but programs and most arguments are the same
        into.shell(program.code.replace("\\", "/"), program.cwd, remote=program.remote, is_bash=False)
    elif language not in NOT_BY_CALLS:
        _others(program, into)


NOT_BY_CALLS: tuple[Language, ...] = ("", "sh", "othersh", "powershell")
"""Languages that are not read by their calls."""


# -- other languages: by their calls

TEXT = r"\s*\(?\s*(?:[A-Z]\w*\s*,\s*|\w+:\s*|\[\s*)?(?P<q>['\"])(?P<path>(?:(?!(?P=q))[^\\\n]|\\.)*)(?P=q)"

BY_OWNER = r"(?:(?<![.>:])|{})"
"""Before names that objects of all kinds have: alone, or of one of these. (`cache.delete('/')` deletes no file.)"""
OF_MODULE = r"(?<=['\"\]]\)[.])"
"""The end of `require('fs').`"""
OF_FILES = BY_OWNER.format(
    rf"(?<=[Ff]s[.])|(?<=fsp[.])|(?<=fse[.])|(?<=[Pp]romises[.])|(?<=\bFile[.])|(?<=\bDir[.])|(?<=\bos[.])"
    rf"|(?<=Utils[.])|(?<=shell[.])|{OF_MODULE}"
)
OF_CHILDREN = BY_OWNER.format(rf"(?<=process[.])|(?<=\bcp[.])|(?<=shell[.])|{OF_MODULE}")

CALLS: tuple[tuple[str, str], ...] = (
    ("delete", r"\b(?:rimraf['\"]?\)?(?:\.sync)?|emptyDirSync|emptyDir|file\.remove|File\.rm_rf!?|"
        r"unlinkSync|unlink|rmSync|rmdirSync|rmdir|rm_rf|rm_r|rm_f|rmtree|removeSync|RemoveAll|"
        r"remove_(?:tree|dir|file|dir_all|entry|entry_secure)|rmdir_all|removeDir|removeFile|removeItem|deleteTree\w*|"
        r"delete-(?:tree|directory|file)|(?:Directory|File|Files)\.[dD]elete\w*|"
        rf"{OF_FILES}(?:rm|remove|delete|removeAll)|Deno\.remove(?:Sync)?)"),
    ("write", r"\b(?:writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|file_put_contents|"
        r"mkdirSync|mkdir|truncateSync|Deno\.writeTextFile(?:Sync)?|Bun\.write|outputFileSync|touch|File\.write|"
            r"IO\.write|chmodSync|symlinkSync)"),
    ("read", r"\b(?:readFileSync|readFile|createReadStream|file_get_contents|readfile|fpassthru|"
        r"Deno\.readTextFile(?:Sync)?|File\.read|IO\.read|slurp|require|readlines)"),
    ("line", rf"\b(?:execSync|execFileSync|execFile|execa(?:Sync|Command|CommandSync|\.command)?|"
        rf"{OF_CHILDREN}exec|system|"
        r"commandLine(?:\s*=\s*)?(?:\s*(?:listOf\(|\[))?|spawnSync|spawn|exec\.Command|popen|proc_open|capture2e?|capture3|shell_exec|passthru|qx|"
        r"backtick|(?<![\w.])sh|os\.execute|io\.popen|do shell script|do script|pcntl_exec|readpipe|exec[lv]p?e?|"
        r"Command::new|Deno\.Command|ProcessBuilder|Process\.(?:run|start|Start|spawn)|getRuntime\(\)\.exec|System\.cmd|"
        r"os:cmd|:os\.cmd|Sys\.command|callCommand|spawnCommand|open3|exec(?:Shell)?Cmd|run-program|shell(?:/sh)?)"),
)  # fmt: skip

NAMED = r"(?:(?<!['\"])|(?<=\[['\"])|(?=rimraf))"

"""A function's name, not a string in a list of words: `fs.rm`, `fs['rm']`."""

_PATTERNS = tuple((action, re.compile(NAMED + named + r"(?:['\"]\])?" + TEXT, re.DOTALL)) for action, named in CALLS)

TWO = re.compile(
    r"\b(?P<act>renameSync|rename|copyFileSync|copyFile|copy|cp|mv|move|cpSync)"
    + TEXT
    + r"\s*,\s*(?P<r>['\"])(?P<to>(?:(?!(?P=r)).)*)(?P=r)"
)

OPENED = re.compile(
    r"\bf?open(?:Sync)?\s*\(?\s*(?:my\s+)?(?:\$?\w+\s*,\s*)?(['\"])(?P<a>[^'\"]*)\1(?:\s*,\s*(['\"])(?P<b>[^'\"]*)\3)?"
)

TICKS = re.compile(r"(?:`([^`]+)`|%x[({]([^)}]+)[)}]|qx[({/]([^)}/]+)[)}/])")


SCRIPT_TICKS = re.compile(r"\$\\?`([^`]+?)\\?`")

"""A line in a template that some libraries run: $`LINE`."""


WORD_LISTS = re.compile(r"\*?(?:\bqw|%[wW])\s*(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|<([^>]*)>)")
"""`qw(rm -rf x)` of perl, `%w[rm -rf x]` of ruby."""
OTHER_QUOTES: dict[Language, re.Pattern[str]] = {
    "perl": re.compile(r"\bqq?\s*(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|<([^>]*)>|([|/!])([^|/!]*)[|/!])"),
    "ruby": re.compile(r"(?<![\w)\]])%[qQ]?(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|<([^>]*)>|([|!])([^|!]*)[|!])"),
    "lua": re.compile(r"\[=*\[(.*?)\]=*\]", re.DOTALL),
    "php": re.compile(r"<<<\s*['\"]?\w+['\"]?\n(.*?)\n\s*\w+", re.DOTALL),
    "node": re.compile(r"(?<!\$)`([^`$]*)`"),
}
"""Quotes of some languages besides the usual two. The text is in the last group that matched."""


def _plainly_quoted(code: str, language: Language) -> str:
    """The code with its texts in double quotes."""

    def inside(found: re.Match[str]) -> str:
        return found[found.lastindex or 0]

    def quoted(found: re.Match[str]) -> str:
        return '"' + inside(found).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "; ") + '"'

    if language in ("perl", "ruby"):
        code = WORD_LISTS.sub(lambda found: ", ".join(f'"{word}"' for word in inside(found).split()), code)
    return OTHER_QUOTES[language].sub(quoted, code) if language in OTHER_QUOTES else code


GIT_MODULES = re.compile(r"['\"](?:isomorphic-git|simple-git(?:/promise)?|nodegit)['\"]")
FORCED_PUSH = re.compile(
    r"\.push\([^;]*?(?:\bforce:\s*true|['\"](?:--force|-f)['\"]|['\"]\+)"
    r"|\.raw\([^;]*?['\"]push['\"][^;]*?['\"](?:--force|-f)['\"]"
)
"""A forced push by a library for Node."""
EXECUTED = re.compile(r"(['\"])((?:(?!\1)[^\n])*)\1\.(?:execute\(\)|!)")
"""A text that Groovy or Scala runs."""
DELETED = re.compile(
    r"\b(?:File|Directory|Path(?:name)?)(?:\.new|\.of|s\.get)?\(\s*(['\"])([^'\"\n]*)\1\s*\)"
    r"\.(?:delete\w*|rmtree|unlink)\b"
)
"""A file that is made an object and deleted."""
BY_NAME = re.compile(r"\b(?:call_user_func(?:_array)?|(?:public_)?send|__send__)\s*\(?\s*[:'\"](\w+)['\"]?\s*,")
"""A function that is called by its name."""
EVALUATED_TEXT = re.compile(
    r"\b(?:eval|load(?:string)?|runInThisContext|runInNewContext|Function|EVAL)\b\s*\(?\s*(?:%?q?q?[{(\[]|['\"])"
)
"""Where a text begins that code evaluates."""
OF_COMPUTED = re.compile(
    r"\b(?:eval|exec|system|spawn|unlink|writeFile)\w*\s*\(?\s*[$@\w.]+\s*[,)]|\b(?:exec|system)\s+[$@]\w+"
)


def _others(program: Program, into: Collector) -> None:
    language = language_of(program.name)
    written = BY_NAME.sub(r"\1(", _with_values(_with_home(program.code or "", into.home), language))
    if EVALUATED_TEXT.search(written):  # once more, with what it evaluates out of its quotes
        written += "\n" + EVALUATED_TEXT.sub("; ", re.sub(r"\\(['\"])", r"\1", written))
    code = _plainly_quoted(written, language)
    if folder := CHANGES_FOLDER.search(code):
        program = program.replace(cwd=os.path.join(program.cwd or "", folder[2]))
    _by_calls(code, program, into)
    for found in OPENED.finditer(code):
        _opened(found, program, into)
    for groups in SCRIPT_TICKS.findall(written) if language == "node" else TICKS.findall(written):
        into.line("".join(groups), program)
    _by_libraries(code, language, program, into)
    for url in URL.findall(code):
        into.connect(url)
    if OF_COMPUTED.search(code):
        into.unknown.append(f"code or path computed by {program.name}")


def _by_libraries(code: str, language: Language, program: Program, into: Collector) -> None:
    """What only one language has."""
    if language == "node" and GIT_MODULES.search(code) and FORCED_PUSH.search(code):
        into.line("git push --force", program)
    for line in re.findall(ESCAPES["tcl"], code) if language == "tcl" else ():
        into.line("".join(line), program)
    for _, line in EXECUTED.findall(code) if language in ("groovy", "other") else ():
        into.line(line, program)
    for _, path in DELETED.findall(code) if not program.remote else ():
        into.note("delete", path, program.cwd)


def _by_calls(code: str, program: Program, into: Collector) -> None:
    """The files and lines in calls of known functions."""
    for action, pattern in _PATTERNS:
        for found in pattern.finditer(code):
            is_module = action == "read" and "require" in found[0] and "/" not in found["path"]
            if action == "line":
                into.line(_with_list(code, found, found["path"]), program)
            elif not program.remote and not is_module:
                into.note(action, found["path"], program.cwd)
    for found in TWO.finditer(code) if not program.remote else ():
        moves = found["act"] in ("rename", "renameSync", "mv", "move")
        into.note("delete" if moves else "read", found["path"], program.cwd)
        into.note("write", found["to"], program.cwd)


HOME_CALL = (
    r"(?:\b(?:os|require\(['\"](?:node:)?os['\"]\))\.homedir\(\)|process\.env\.HOME|Dir\.home|(?<![\w.])homedir\(\)"
    r"|ENV\[['\"]HOME['\"]\]|(?:os\.|System\.)?[gG]etenv\(['\"]HOME['\"]\)|System\.getProperty\(['\"]user\.home['\"]\))"
)

JOINED_PATH = re.compile(
    r"(?:(?:path|require\(['\"](?:node:)?path['\"]\))\.)?join\(\s*(['\"])([^'\"]*)\1\s*,\s*(['\"])([^'\"]*)\3\s*\)"
)
HOMES = (
    (re.compile(r"File\.expand_path\(\s*(['\"])~/([^'\"]*)\1\s*\)"), r"\1{home}/\2\1"),
    (re.compile(HOME_CALL + r"\s*[+.,]\s*(['\"`])/?"), r"\1{home}/"),
    (re.compile(r"(?<=[,(])\s*\$ENV\{['\"]?HOME['\"]?\}(?=\s*[,)])"), "'{home}'"),
    (re.compile(r"[#$]\{" + HOME_CALL + r"\}|\$ENV\{['\"]?HOME['\"]?\}"), "{home}"),
    (JOINED_PATH, r"\1\2/\4\1"),
    (re.compile(HOME_CALL), "'{home}'"),
)

"""How other languages spell the home folder."""


def _with_home(code: str, home: str) -> str:
    for pattern, text in HOMES:
        code = pattern.sub(text.replace("{home}", home), code)
    return code.replace("`", "'") if "homedir" in code else code


CHANGES_FOLDER = re.compile(r"(?:\bchdir\(?\s*|\bcwd:\s*)(['\"])([^'\"\n]+)\1")
"""Where code says in which folder it works."""
ASSIGNED: dict[Language, str] = {
    "node": r"(?m)(?:\b(?:const|let|var)\s|,)\s*(\w+)\s*(?::\s*\w+\s*)?=\s*(['\"])([^'\"\n]*)\2\s*(?=[;,\n)]|$)",
    "perl": r"(?m)\b(?:my|our)\s+(\$\w+)\s*=\s*(['\"])([^'\"\n]*)\2\s*(?=;|$)",
    "php": r"(?m)(\$\w+)\s*=\s*(['\"])([^'\"\n]*)\2\s*(?=;|$)",
    "ruby": r"(?m)^\s*([a-z_]\w*)\s*=\s*(['\"])([^'\"\n]*)\2\s*(?=;|$)",
}
"""A variable that is given a text."""
MAX_VALUES, MAX_ROUNDS = 32, 3
JOINED_TEXTS = re.compile(r"(['\"])([^'\"\n]*)\1\s*[+.]\s*(['\"])([^'\"\n]*)\3")
NODE_MODULE = r"['\"](?:node:)?(child_process|fs|fs/promises|fs-extra)['\"]"
OF_MODULES = re.compile(
    rf"(?:\{{([^{{}}]*)\}}|(\w+))\s*=\s*(?:await\s+import|require)\({NODE_MODULE}\)(?![.\w])"
    rf"|\bimport\s+(?:\{{([^{{}}]*)\}}|(?:\*\s*as\s+)?(\w+))\s+from\s+{NODE_MODULE}"
)
OF_ONE = re.compile(
    rf"\b(\w+)\s*=\s*(?:[\w.]*promisify\()?\s*(?:require\({NODE_MODULE}\)|\w+)?\.?"
    r"\b(exec|execSync|execFile|spawn|spawnSync|rm|rmSync|unlink)\b\s*\)?\s*(?=[;,\n]|$)"
)
"""How code for Node names the functions of these modules, all together and one by one."""
OF_FUNCTIONS = re.compile(
    r"(?:\b(\w+)\s*=\s*(?:async\s*)?\(?\s*(\w+)[^)=\n]*\)?\s*=>|\bfunction\s+(\w+)\s*\(\s*(\w+)[^)]*\)\s*\{)"
    r"[^;}]*?\b(execSync|exec|rmSync)\(\s*(?:\2|\4)\b"
)
"""A function of its own that runs or deletes what it is given."""
JS_TEXT = r"'[^'\n]*'|\"[^\"\n]*\""
JS_TEXTS = r"\[(?:\s*(?:'[^'\n]*'|\"[^\"\n]*\")\s*,?)+\s*\]"
OF_LISTS = re.compile(rf"\b(\w+)\s*=\s*({JS_TEXTS})")
OF_LOOPS = re.compile(
    rf"\bof\s+(?P<over>{JS_TEXTS})\s*\)[^;]*?\b(?P<act>execSync|exec|rmSync)\("
    rf"|(?P<list>{JS_TEXTS})\.(?:forEach|map)\([^;]*?\b(?P<does>execSync|exec|rmSync)\("
)
"""A list of texts, and a loop that runs or deletes each of them."""


def _with_lists(code: str) -> str:
    """Code for Node with its lists of texts where they are used, and what a loop does to each of them."""
    for name, texts in OF_LISTS.findall(code)[:MAX_VALUES]:
        used = rf"(?<=,)\s*{name}\b(?!\s*[=(.\w])|(?<=\bof ){name}\b(?=\s*\))|\b{name}(?=\.(?:forEach|map)\()"
        code = re.sub(used, texts.replace("\\", r"\\"), code)
    for found in OF_LOOPS.finditer(code):
        texts, act = found["over"] or found["list"], found["act"] or found["does"]
        calls = [f"\n{'fs' if act == 'rmSync' else 'cp'}.{act}({each});" for each in re.findall(JS_TEXT, texts)]
        code += "".join(calls[:MAX_VALUES])
    return code


def _by_own_names(code: str) -> str:
    """Code for Node with the functions of its modules by their own names, however it calls them."""
    named: dict[str, str] = {alias: own for alias, _, own in OF_ONE.findall(code)}
    for first, whole, module, second, other, from_ in OF_MODULES.findall(code):
        short, listed = "cp" if "child" in (module or from_) else "fs", first or second
        if alias := whole or other:
            code = re.sub(rf"(?<![\w.$]){alias}(?=\.)", short, code)
        for own, renamed in re.findall(r"(\w+)(?:\s*(?::|\bas\b)\s*(\w+))?", listed):
            named.setdefault(renamed or own, f"{short}.{own}")
    for first, _, second, _, own in OF_FUNCTIONS.findall(code):
        named.setdefault(first or second, f"{'fs' if own == 'rmSync' else 'cp'}.{own}")
    code = _with_lists(code)
    for alias, own in [*named.items()][:MAX_VALUES]:
        code = re.sub(rf"(?<![\w.$]){alias}(?=\s*\()", own, code)
    return code


def _with_values(code: str, language: Language) -> str:
    """The code with the texts of variables that get one, and once only, where they are used."""
    if language not in ASSIGNED:
        return code
    code = _by_own_names(code) if language == "node" else code
    for _ in range(MAX_ROUNDS):
        before = code
        for name, _, text in re.findall(ASSIGNED[language], code)[:MAX_VALUES]:
            if len(re.findall(rf"(?<![\w$.]){re.escape(name)}\s*=(?![=>])", code)) == 1:
                code = _with_value(code, re.escape(name), text)
        for _ in range(MAX_ROUNDS):
            code = JOINED_TEXTS.sub(r"'\2\4'", code)
        code = JOINED_PATH.sub(r"\1\2/\4\1", code)
        if code == before:
            break
    return code


def _with_value(code: str, name: str, text: str) -> str:
    code = re.sub(rf"(?<=[(,+.\[])(\s*){name}\b(?!\s*[(:=.\w])", lambda found: f"{found[1]}'{text}'", code)
    return re.sub(rf"[$#]\{{{name}\}}", lambda _: text, code)


IN_QUOTES = r"'[^']*'|\"[^\"]*\""
WORD = r"'([^']*)'|\"([^\"]*)\"|[$@]?(?<![.\w])([A-Za-z_]\w*)(?!\w*\()"

"""A string, or a variable whose value is known only at run time."""


def _with_list(code: str, found: re.Match[str], first: str) -> str:
    """`spawnSync("rm", ["-rf", "/"])` and `system("rm", "-rf", "/")` as one line."""
    tail = code[found.end() : found.end() + 500]
    listed = (
        re.match(r"\s*,\s*(?:\{\s*args:\s*)?\[([^\]]*)\]", tail)
        or re.match(rf"((?:\s*,\s*(?:{WORD})|\s+(?:{IN_QUOTES}))+)\s*(?:[);,\n\]}}]|$)", tail)
        or re.match(r"\s*\)((?:\s*\.args?\([^()]*\))+)", tail)
    )
    if listed is None:
        return first
    words = [
        f"${name}" if name else shlex.quote(single or double) for single, double, name in re.findall(WORD, listed[1])
    ]
    return " ".join([first, *words])


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
            into.line(_with_list(found.string, found, second), program)
        else:
            into.note("write" if ">" in first else "read", second, program.cwd)
    else:
        into.note("write" if any(sign in second for sign in "wax+") else "read", first, program.cwd)


# Python code inside a line, read with Python's own grammar: the calls that open, write, delete and start things, with
# the known values of its names. Nothing is imported or run.


ACTS: dict[str, tuple[tuple[str, int], ...]] = {
    **dict.fromkeys(
        ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "unlink", "remove", "rmtree", "rmdir",
         "send2trash.send2trash"), (("delete", 0),),
    ),
    **dict.fromkeys(("os.mkdir", "os.makedirs", "os.mkfifo", "makedirs"), (("write", 0),)),
    **dict.fromkeys(("os.chmod", "os.chown"), (("change", 0),)),
    **dict.fromkeys(("os.rename", "os.replace", "shutil.move", "os.renames"), (("delete", 0), ("write", 1))),
    **dict.fromkeys(
        ("shutil.copy", "shutil.copy2", "shutil.copyfile", "copy", "copyfile", "shutil.copymode"),
        (("read", 0), ("write", 1)),
    ),
    **dict.fromkeys(("os.symlink", "os.link"), (("link", 0), ("write", 1))),
    "os.truncate": (("empty", 0),),
}  # fmt: skip
"""What functions do to the files in their arguments, by the argument's position."""

OPEN_CALLS = ("open", "io.open", "codecs.open", "os.open")
UNPACKERS = {"unpack_archive", "extractall", "copytree"}

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


COMPUTED_PART = "$__computed__"
JOINING = frozenset({
    "Path", "PurePath", "PosixPath", "str", "abspath", "realpath", "fspath", "expandvars", "join", "joinpath",
    "resolve", "absolute", "normpath",
})  # fmt: skip

"""Functions and methods that build a path from strings."""


MAX_CALLS = 50
"""How many calls of its own functions are followed."""
RUN_A_TASK = ("run", "run_always", "local", "sudo")
OF_TASKS = {"nox", "invoke", "fabric"}
OF_GIT = {"git", "dulwich", "pygit2"}
"""Modules whose `run` runs a line or words, and those whose `push` is git's."""


class Each(list[object]):
    """The values that a variable has, one after the other."""


class PythonCode:
    """One piece of code, walked in order with the known values of its names."""

    def __init__(self, program: Program, into: Collector) -> None:
        self.program, self.into = program, into
        self.names: dict[str, object] = {}
        self.modules: dict[str, str] = {}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = {}
        """By their names, methods behind a dot."""
        self.calls = 0
        self.inside: tuple[str, ...] = ()
        """The functions that are being called."""

    def read(self, code: str) -> bool:
        """Add what the code does; False if it is not valid Python."""
        try:
            imports, statements = _parsed(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        for node in imports:
            self._import(node)
        for each in ast.iter_child_nodes(_tree(code)):
            for inner in each.body if isinstance(each, ast.ClassDef) else [each]:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.functions[inner.name if inner is each else f".{inner.name}"] = inner
        self._walk(statements)
        for url in URL.findall(code):
            self.into.connect(url)
        return True

    def _walk(self, statements: list[ast.AST]) -> None:
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                    self.functions[name] = function
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self.names[name] = self.value(statement.value)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
                    self.names[name] = _combined(self.names.get(name), self.value(statement.value), joins=False)
                case ast.For(target=target, iter=each) | ast.comprehension(target=target, iter=each):
                    self._loop(target, each)
                case ast.withitem(optional_vars=ast.Name(id=name)):
                    self.names[name] = self.value(statement.context_expr)
                case ast.Call():
                    self.call(statement)
                case _:
                    pass

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        """The variables of a loop: each value of a list, or what a walk through a folder finds."""
        value = self.value(over)
        if isinstance(target, ast.Name):
            self.names[target.id] = Each(value) if isinstance(value, list) else value
        elif isinstance(target, ast.Tuple) and isinstance(over, ast.Call) and _attribute(over.func) == "walk":
            root = self.value(over.args[0]) if over.args else None
            for place, each in enumerate(target.elts):
                if isinstance(each, ast.Name) and isinstance(root, str):
                    self.names[each.id] = "*" if place else os.path.join(root, "**")

    def _own_function(self, node: ast.Call, name: str) -> bool:
        """Whether it is a function of this code, which is read with what it is given."""
        if isinstance(node.func, ast.Attribute) and name.partition(".")[0] not in self.modules.values():
            name = f".{node.func.attr}"
        function = self.functions.get(name)
        self.calls += function is not None
        if function is None or name in self.inside or self.calls > MAX_CALLS:
            return function is not None
        kept, outer = dict(self.names), self.inside
        named = [each.arg for each in function.args.args][name.startswith(".") :]
        values = [self.value(each.value if isinstance(each, ast.Starred) else each) for each in node.args]
        self.names |= dict(zip(named, values, strict=False))
        self.names |= {each.arg: self.value(each.value) for each in node.keywords if each.arg in named}
        if function.args.vararg is not None:
            self.names[function.args.vararg.arg] = values[len(named) :]
        self.inside = (*self.inside, name)
        body: list[ast.stmt] = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
        self._walk(_mattering(ast.Module(body, []))[1])
        self.names, self.inside = kept, outer
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
        match node:
            case ast.Constant(value=bytes() as data):
                return data.decode("utf-8", "replace")
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.names.get(node.id)
            case ast.List() | ast.Tuple():
                return self._elements(node.elts)
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return _filled(self.value(left), self.value(right))
            case ast.Subscript(slice=ast.Constant(value=place)):
                return self._given(self.name(node.value), place)
            case ast.Attribute(value=ast.Name(id=name), attr="path") if isinstance(self.names.get(name), str):
                return self.names[name]
            case ast.JoinedStr():
                parts = [
                    self.value(each.value if isinstance(each, ast.FormattedValue) else each) for each in node.values
                ]
                return "".join(map(str, parts)) if all(isinstance(part, (str, int)) for part in parts) else None
            case ast.BinOp(op=ast.Add() | ast.Div()):
                return _combined(self.value(node.left), self.value(node.right), joins=isinstance(node.op, ast.Div))
            case ast.Call():
                return self.called(node)
            case _:
                return None

    def _given(self, name: str, place: object) -> str | None:
        """The home folder, or one of the script's own arguments."""
        if place == "HOME" and name in ("os.environ", "environ"):
            return self.into.home
        given = [word for word in self.program.words if word.text != "-c"]
        is_there = name == "sys.argv" and isinstance(place, int) and 0 < place < len(given)
        return given[place].text if is_there and isinstance(place, int) and given[place].known else None

    def _elements(self, nodes: list[ast.expr]) -> list[object]:
        found: list[object] = []
        for each in nodes:
            value = self.value(each.value if isinstance(each, ast.Starred) else each)
            found += value if isinstance(each, ast.Starred) and isinstance(value, list) else [value]
        return found

    def line_of(self, node: ast.expr) -> object:
        """A shell line, with a variable of the shell for each part that is computed."""
        match node:
            case ast.BinOp(op=ast.Add()) if self.value(node) is None:
                return "".join(str(self.line_of(each)) for each in (node.left, node.right))
            case ast.JoinedStr() if self.value(node) is None:
                parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
                return "".join(str(self.line_of(each)) for each in parts)
        value = self.value(node)
        return COMPUTED_PART if value is None else value

    def called(self, node: ast.Call) -> object:
        """What a call returns, if it only computes a path or a string."""
        given = [self.value(arg) for arg in node.args]
        owner = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        short = node.func.attr if isinstance(node.func, ast.Attribute) else self.name(node.func).rpartition(".")[2]
        if many := next((each for each in (*given, owner) if isinstance(each, Each)), None):
            places = [[one if each is many else each for each in (owner, *given)] for one in many[:MAX_CALLS]]
            return Each([self._returned(short, owner, given) for owner, *given in places])
        return self._returned(short, owner, given)

    def _returned(self, short: str, owner: object, given: list[object]) -> object:
        if short == "home" or (short in ("get", "getenv") and given[:1] == ["HOME"]):
            return self.into.home
        if short in ("getcwd", "cwd"):
            return self.program.cwd or HERE
        if short == "expanduser":
            texts = _texts(owner, given)
            return texts[0].replace("~", self.into.home, 1) if texts else None
        act = RETURNS.get(short)
        return act(short, owner, given) if act is not None else None

    def call(self, node: ast.Call) -> None:
        name = self.name(node.func)
        named = [each.value for each in node.keywords if each.arg in ("file", "path", "src", "dst", "args")]
        args = [*node.args, *named]
        last = _attribute(node.func)
        if self._own_function(node, name) or self._starts(node, name, last) or self._changes(node, name, last):
            return
        if name in OPEN_CALLS or (last == "open" and name != last):
            self._open(node, name)
        elif name in CODERS:
            self._coded(name, args)
        elif name in ACTS:
            for action, place in ACTS[name]:
                self.note(action, args[place : place + 1])
        elif last == "close":
            self.note("empty", _emptied_by_open(node.func))
        elif last in UNPACKERS:
            self._tree(node, last)
        elif last in PATH_METHODS:
            self._method(node, name)

    def _starts(self, node: ast.Call, name: str, last: str) -> bool:
        """Whether it starts a program."""
        if name.startswith(REPLACERS):
            self._start(node.args[2 if name.startswith("os.spawn") else 1 :], name)
        elif name in RUNNERS or (last == "system" and node.args):
            named = {each.arg: each.value for each in node.keywords}
            inner, self.program = self.program, self._in_folder([named[key] for key in ("cwd",) if key in named])
            self._start([*node.args, *(named[key] for key in ("args",) if key in named)][:1], name)
            self.program = inner
        else:
            return self._by_library(node, name, last)
        return True

    def _by_library(self, node: ast.Call, name: str, last: str) -> bool:
        """Whether it starts a program with the words of the call."""
        if last == "urlretrieve":
            self._line_of_words(["curl", "-o"], ast.Call(node.func, node.args[1::-1], []))
        elif name == "asyncio.create_subprocess_exec" or (last in RUN_A_TASK and self._has(OF_TASKS)):
            self._start(node.args, name)
        elif name.startswith("sh.") and self._has({"sh"}):
            self._line_of_words([*name.split(".")[1:]], node)
        elif self._has(OF_GIT) and (last == "push" or (".git." in f".{name}" and not name.startswith("git."))):
            self._line_of_words(["git", last.replace("_", "-")], node)
        else:
            return False
        return True

    def _has(self, modules: set[str]) -> bool:
        """Whether the code has one of these modules."""
        return not modules.isdisjoint([each.partition(".")[0] for each in self.modules.values()])

    def _in_folder(self, nodes: list[ast.expr]) -> Program:
        """The program, in the folder that is named last."""
        folder = self.value(nodes[-1]) if nodes else None
        if not isinstance(folder, str):
            return self.program
        return self.program.replace(cwd=os.path.normpath(os.path.join(self.program.cwd or "", folder)))

    def _changes(self, node: ast.Call, name: str, last: str) -> bool:
        """Whether it changes the folder or a list for what follows."""
        if name == "os.chdir":
            self.program = self._in_folder(node.args[:1])
        elif last in ("append", "extend"):
            self._longer(node)
        return name == "os.chdir" or last in ("append", "extend")

    def _longer(self, node: ast.Call) -> None:
        """A list that gets more values."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb), args=[added]):
                before, value = self.names.get(name), self.value(added)
                if isinstance(before, list):
                    more = value if verb == "extend" and isinstance(value, list) else [value]
                    self.names[name] = [*before, *more][:MAX_CALLS]
            case _:
                pass

    def _line_of_words(self, words: list[str], node: ast.Call) -> None:
        """A call whose name and arguments are the words of a line, as some libraries have it."""
        given = [self.value(each) for each in node.args]
        flat = [word for each in given for word in (each if isinstance(each, list) else [each])]
        flags = [each.arg for each in node.keywords if each.arg and self.value(each.value) is True]
        specs = [self.value(each.value) for each in node.keywords if each.arg in ("refspec", "refspecs")]
        texts = [word for word in (*flat, *specs) if isinstance(word, str)]
        options = [f"-{flag}" if len(flag) == 1 else f"--{flag.replace('_', '-')}" for flag in flags]
        self.into.line(shlex.join([*words, *options, *texts]), self.program)

    def _coded(self, name: str, args: list[ast.expr]) -> None:
        """Code that is run as a text."""
        code = self.value(args[0]) if args else ""
        if isinstance(code, str) and name != "runpy.run_path":
            self.read(code)
        elif code is None:
            self.into.unknown.append(f"code from Python's {name}")

    def _tree(self, node: ast.Call, short: str) -> None:
        """A tree that is copied, or an archive that is unpacked, over a folder."""
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        if short == "copytree":
            self.note("read", node.args[:1])
            self.note("write", node.args[1:2])
        given = node.args if short == "extractall" else node.args[1:2]
        into = [*given[:1], *(named[key] for key in ("path", "extract_dir", "dst") if key in named)]
        folder = self.value(into[0]) if into else "."
        source = self.value(node.args[0]) if node.args and short != "extractall" else None
        if isinstance(folder, str) and not self.program.remote:
            self.into.tree(folder, source if isinstance(source, str) else None, self.program.cwd)

    def _method(self, node: ast.Call, name: str) -> None:
        """A method of a path."""
        func = node.func
        if not isinstance(func, ast.Attribute) or name.startswith("os."):
            return
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
        if isinstance(value, Each):
            for each in value:
                self._run(each)
        elif not self._run(value):
            self.into.unknown.append(f"program from Python's {name}")
            line = str(self.line_of(args[0])) if len(args) == 1 else COMPUTED_PART
            if line.partition(COMPUTED_PART)[0].strip():  # which program is known
                self.into.line(line, self.program)

    def _run(self, value: object) -> bool:
        """Whether it is a line or a list of words, which is run."""
        if isinstance(value, list) and value:
            texts = [str(each) if isinstance(each, (str, int)) else "$…" for each in value]
            self.into.line(" ".join(text if text == "$…" else shlex.quote(text) for text in texts), self.program)
        elif isinstance(value, str):
            self.into.line(value, self.program)
        else:
            return False
        return True

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


def _combined(left: object, right: object, *, joins: bool) -> object:
    """Two texts or two lists as one; with `joins`, two parts of a path."""
    if isinstance(right, Each):
        return Each([_combined(left, each, joins=joins) for each in right])
    if isinstance(left, str) and isinstance(right, str):
        return os.path.join(left, right) if joins else left + right
    return left + right if isinstance(left, list) and isinstance(right, list) else None


def _texts(owner: object, given: list[object]) -> list[str]:
    return [each for each in (owner, *given) if isinstance(each, str)]


def _joined(short: str, owner: object, given: list[object]) -> str | None:
    if short == "join" and isinstance(owner, str):
        if not given or not isinstance(given[0], list):
            return None
        return owner.join(given[0]) if all(isinstance(each, str) for each in given[0]) else None
    texts = _texts(owner, given)
    return os.path.join(*texts) if texts and len(texts) >= len(given) else None


def _listed(short: str, owner: object, given: list[object]) -> str | None:
    texts = _texts(owner, given)
    place = texts if owner is None else [*texts, "*"][:2]
    if not place or not (owner is not None or given):
        return None
    return os.path.join(place[0], *(["**"] if short == "rglob" else []), *place[1:])


def _filled(text: object, given: object) -> str | None:
    """A text with the values of its places."""
    try:
        made = text % (tuple(given) if isinstance(given, list) else given) if isinstance(text, str) else None
    except (TypeError, ValueError):
        return None
    return made if given is not None and not (isinstance(given, list) and None in given) else None


def _formatted(_short: str, owner: object, given: list[object]) -> str | None:
    try:
        return owner.format(*given) if isinstance(owner, str) and None not in given else None
    except (LookupError, ValueError, AttributeError):
        return None


def _names_in(short: str, owner: object, given: list[object]) -> str | None:
    return "*" if short == "listdir" else _listed(short, owner, given)


def _split(short: str, owner: object, given: list[object]) -> list[object] | None:
    """The words of a text, as `shlex.split(TEXT)` too, or its lines."""
    match owner, given:
        case str(), []:
            return [*(owner.split() if short == "split" else owner.splitlines())]
        case None, [str(text)]:
            try:
                return [*shlex.split(text)]
            except ValueError:
                return None
        case _:
            return None


def _from_base64(_short: str, owner: object, given: list[object]) -> object:
    texts = _texts(owner, given)
    return _decoded(texts[0]) if texts else None


def _character(_short: str, _owner: object, given: list[object]) -> str | None:
    return chr(given[0] & 0xFFFF) if given and isinstance(given[0], int) else None


RETURNS: dict[str, Callable[[str, object, list[object]], object]] = {
    **dict.fromkeys(JOINING, _joined),
    **dict.fromkeys(("glob", "rglob", "iterdir", "iglob"), _listed),
    **dict.fromkeys(("decode", "encode", "strip"), lambda _short, owner, _given: owner),
    "listdir": _names_in, "scandir": _names_in, "format": _formatted, "CDLL": lambda *_: None,
    "split": _split, "splitlines": _split, "b64decode": _from_base64, "chr": _character,
}  # fmt: skip
"""What functions and methods return that only compute a path or a text."""


def _attribute(func: ast.expr) -> str:
    """The last part of a function's name, whatever it belongs to."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _emptied_by_open(func: ast.expr) -> list[ast.expr]:
    """The path in `open(path, "w").close()`, which leaves an empty file."""
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Call):
        return []
    modes = [arg.value for arg in func.value.args[1:] if isinstance(arg, ast.Constant)]
    return func.value.args[:1] if "w" in modes or "wb" in modes else []


@lru_cache(4)  # self-protection and the rules read the same code
def _parsed(code: str) -> tuple[list[ast.Import | ast.ImportFrom], list[ast.AST]]:
    """The imports, outer ones first; and the nodes that can matter, in the order in which they run: an assignment
    before its use, and the iterable of a comprehension before its body."""
    return _mattering(_tree(code))


@lru_cache(4)
def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(_dedented(code))


def _mattering(tree: ast.AST) -> tuple[list[ast.Import | ast.ImportFrom], list[ast.AST]]:
    imports: list[tuple[int, ast.Import | ast.ImportFrom]] = []
    found: list[ast.AST] = []
    stack: list[tuple[int, ast.AST]] = [(0, tree)]
    while stack:
        depth, node = stack.pop()
        if isinstance(node, MATTERING):
            found.append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append((depth, node))
        children = [
            (depth + 1, child)
            for value in [getattr(node, field, None) for field in node._fields]
            for child in (value if isinstance(value, list) else (value,))
            if isinstance(child, ast.AST) and child._fields and not isinstance(child, LEAVES)
        ]
        if isinstance(node, COMPREHENSIONS):
            children.sort(key=lambda each: not isinstance(each[1], ast.comprehension))
        stack.extend(reversed(children))
    imports.sort(key=itemgetter(0))
    return [node for _, node in imports], found


MATTERING = (ast.Assign, ast.AugAssign, ast.For, ast.comprehension, ast.withitem, ast.Call)
LEAVES = (ast.Constant, ast.Name)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _dedented(code: str) -> str:
    return textwrap.dedent(code).strip("\n")


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except ValueError:
        return None
