"""What scripts of Node, Ruby and Perl load: the modules of the project, in the order in which each interpreter finds
them. They are read from the texts, and nothing is started. A name that is computed in a way not understood is said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from anyhook.programs.code import look_at_code
from anyhook.programs.collect import Collector
from anyhook.programs.named import Installed
from anyhook.programs.program import Program

if TYPE_CHECKING:
    from anyhook.engine.loads import Reader

NODE, RUBY, PERL = "node", "ruby", "perl"
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
    _pin_keys(reader, _package_above(reader, folder), ("type",))
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
        _pin_keys(reader, above, ("imports",))
        _mapped(reader, own.get("imports"), name, above, cwd)
    elif own.get("name") == package and "exports" in own:
        _pin_keys(reader, above, ("name", "exports"))
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
            _pin_keys(reader, manifest, ("main",))
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


def _pin_keys(reader: Reader, path: str, keys: Sequence[str]) -> None:
    if path:
        reader.pin_keys(path, keys)


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
