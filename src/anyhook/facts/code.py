"""Code in other languages inside a line: Python is read with its own grammar, the rest by the calls that open, write,
delete and start things. Computed values are reported as unknown."""

from __future__ import annotations

import re

from anyhook.facts.by_table import URL
from anyhook.facts.python_code import PythonCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

PYTHON = re.compile(r"(python|pypy)[0-9.]*")
OTHERS = re.compile(
    r"(node|nodejs|perl|ruby|php|deno|bun|lua|osascript|Rscript|R|tclsh|julia|elixir|groovy|tsx|ts-node)[0-9.]*"
)


def look_at_code(program: Program, into: Collector) -> None:
    """Add what the code on an interpreter's command line does."""
    if program.code is None:
        return
    if PYTHON.fullmatch(program.name):
        if not PythonCode(program, into).read(program.code):
            into.unknown.append("code that is not valid Python")
            _others(program, into)
    elif OTHERS.fullmatch(program.name):
        _others(program, into)


# -- other languages: by their calls

TEXT = r"\s*\(?\s*(?:[A-Z]\w*\s*,\s*)?(['\"])(?P<path>(?:(?!\1)[^\\\n]|\\.)*)\1"
CALLS: tuple[tuple[str, str], ...] = (
    ("delete", r"\b(?:rimraf['\"]?\)?(?:\.sync)?|emptyDirSync|emptyDir|file\.remove|File\.rm_rf!?|"
        r"unlinkSync|unlink|rmSync|rmdirSync|rmdir|rm_rf|rm_r|rm_f|rm|remove_tree|rmtree|removeSync|"
        r"remove|delete|removeAll|Deno\.remove(?:Sync)?)"),
    ("write", r"\b(?:writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|file_put_contents|"
        r"mkdirSync|mkdir|truncateSync|Deno\.writeTextFile(?:Sync)?|Bun\.write|outputFileSync|touch|File\.write|"
            r"IO\.write|chmodSync|symlinkSync)"),
    ("read", r"\b(?:readFileSync|readFile|createReadStream|file_get_contents|readFileSync|"
        r"Deno\.readTextFile(?:Sync)?|File\.read|IO\.read|slurp|require|readlines)"),
    ("line", r"\b(?:execSync|exec|system|spawnSync|spawn|popen|shell_exec|passthru|qx|backtick|os\.execute|"
        r"io\.popen|do shell script)"),
)  # fmt: skip
NAMED = r"(?:(?<!['\"])|(?<=\[['\"])|(?=rimraf))"
"""A function's name, not a string in a list of words: `fs.rm`, `fs['rm']`."""
_PATTERNS = tuple((action, re.compile(NAMED + named + r"(?:['\"]\])?" + TEXT, re.DOTALL)) for action, named in CALLS)
TWO = re.compile(
    r"\b(renameSync|rename|copyFileSync|copyFile|copy|cp|mv|move|cpSync)"
    + TEXT
    + r"\s*,\s*(['\"])(?P<to>(?:(?!\3).)*)\3"
)
OPENED = re.compile(
    r"\bopen(?:Sync)?\s*\(?\s*(?:my\s+)?(?:\$?\w+\s*,\s*)?(['\"])(?P<a>[^'\"]*)\1(?:\s*,\s*(['\"])(?P<b>[^'\"]*)\3)?"
)
TICKS = re.compile(r"(?:`([^`]+)`|%x[({]([^)}]+)[)}]|qx[({/]([^)}/]+)[)}/])")


SCRIPT_TICKS = re.compile(r"\$\\?`([^`]+?)\\?`")
"""A line in a template that some libraries run: $`LINE`."""


def _others(program: Program, into: Collector) -> None:
    code = _with_home(program.code or "", into.home)
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
    is_script = program.name.startswith(("node", "deno", "bun", "ts"))
    for groups in SCRIPT_TICKS.findall(code) if is_script else TICKS.findall(code):
        into.line("".join(groups), program)
    for url in URL.findall(code):
        into.connect(url)
    if re.search(r"\b(?:eval|exec|system|spawn|unlink|writeFile)\w*\s*\(?\s*[$@\w.]+\s*[,)]", code):
        into.unknown.append(f"code or path computed by {program.name}")


HOME_CALL = (
    r"(?:\b(?:os|require\(['\"](?:node:)?os['\"]\))\.homedir\(\)|process\.env\.HOME|Dir\.home|(?<![\w.])homedir\(\)"
    r"|ENV\[['\"]HOME['\"]\]|getenv\(['\"]HOME['\"]\))"
)
HOMES = (
    (re.compile(r"File\.expand_path\(\s*(['\"])~/([^'\"]*)\1\s*\)"), r"\1{home}/\2\1"),
    (re.compile(HOME_CALL + r"\s*[+.,]\s*(['\"`])/?"), r"\1{home}/"),
    (re.compile(r"(?<=[,(])\s*\$ENV\{['\"]?HOME['\"]?\}(?=\s*[,)])"), "'{home}'"),
    (re.compile(r"[#$]\{" + HOME_CALL + r"\}|\$ENV\{['\"]?HOME['\"]?\}"), "{home}"),
    (re.compile(r"(?:path\.)?join\(\s*(['\"])([^'\"]*)\1\s*,\s*(['\"])([^'\"]*)\3\s*\)"), r"\1\2/\4\1"),
    (re.compile(HOME_CALL), "'{home}'"),
)
"""How other languages spell the home folder."""


def _with_home(code: str, home: str) -> str:
    for pattern, text in HOMES:
        code = pattern.sub(text.replace("{home}", home), code)
    return code.replace("`", "'") if "homedir" in code else code


WORD = r"'([^']*)'|\"([^\"]*)\"|[$@]?([A-Za-z_]\w*)"
"""A string, or a variable whose value is known only at run time."""


def _with_list(code: str, found: re.Match[str], first: str) -> str:
    """`spawnSync("rm", ["-rf", "/"])` and `system("rm", "-rf", "/")` as one line."""
    import shlex

    tail = code[found.end() : found.end() + 500]
    listed = re.match(r"\s*,\s*\[([^\]]*)\]", tail) or re.match(rf"((?:\s*,\s*(?:{WORD}))+)\s*(?:[);]|$)", tail)
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
            into.line(second, program)
        else:
            into.note("write" if ">" in first else "read", second, program.cwd)
    else:
        into.note("write" if any(sign in second for sign in "wax+") else "read", first, program.cwd)
