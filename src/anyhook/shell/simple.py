"""Simple commands: what one is, what it changes in the scope, and what else it runs."""

from __future__ import annotations

import re

from anyhook.shell import expand
from anyhook.shell.commands import SHELLS
from anyhook.shell.found import producers_words
from anyhook.shell.made_files import FETCHERS, LINKERS, MadeFiles
from anyhook.shell.outputs import output_of
from anyhook.shell.program import UNKNOWN, Program, Redirection, Word
from anyhook.shell.scope import NOTHING, Scope, Stream
from anyhook.shell.wrapper_table import FOR_EACH, LINE_VARIABLES
from anyhook.shell.wrappers import argument_file, inner_commands, likely_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from anyhook.shell.wrappers import InnerCommand

CODE_OPTIONS = {
    "python": "c", "node": "ep", "perl": "eE", "ruby": "e", "php": "r", "deno": "", "bun": "e", "lua": "e",
    "osascript": "e", "tclsh": "", "Rscript": "e", "R": "e", "julia": "eE", "elixir": "e", "groovy": "e",
    "tsx": "ep", "ts-node": "ep",
}  # fmt: skip
"""Interpreters, and their options whose value is a program."""
INTERPRETER = re.compile(
    r"(python|pypy|node|nodejs|perl|ruby|php|deno|bun|lua|osascript|tclsh|Rscript|R|julia|elixir|groovy|tsx"
    r"|ts-node)[0-9.]*"
)
STDIN = ("-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Arguments that make an interpreter read its program from stdin."""
MOVERS = ("cd", "pushd", "chdir", "z")
DECLARERS = ("export", "declare", "local", "readonly", "typeset")
CHANGERS = frozenset({*MOVERS, *DECLARERS, *LINKERS, "popd", "eval", "trap", "read", "hash", "alias", "printf", "set"})
"""Commands that change the state of the shell."""


class Commands(MadeFiles):
    """The part of the interpreter for simple commands."""

    def __init__(self, home: str) -> None:
        self.programs: list[Program] = []
        self.unknown: list[str] = []
        self.home, self.depth = home, 0
        self.via: tuple[str, ...] = ()
        self.remote = False
        self.traps: list[Word] = []
        self.unknowns = expand.Unknowns()
        self.values = expand.Values(self.unknowns, home)
        self.values.lookup = self._lookup
        self.values.output = self._substituted
        self.values.assign = self._assign
        self.scope = Scope(None, {})

    def command(
        self,
        words: Sequence[Word],
        redirections: tuple[Redirection, ...],
        set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> Stream:
        """One simple command: what it is, what it changes in the scope, and what else it runs."""
        if self.scope.links:
            words = [self._followed(words[0], True), *(self._followed(word, False) for word in words[1:])]
        first = words[0]
        name = _name_of(first)
        if not first.known:
            self.unknown.append(f"program from {first.source}")
        if first.globs and (meant := likely_programs(name)):
            self.unknown.append(f"program from {first.source}")
            outs = [self.command([each, *words[1:]], redirections, set_, stdin) for each in meant]
            return Stream(None, tuple(origin for out in outs for origin in out.origins))
        if name in self.scope.functions and "/" not in first.text:
            return self._call(name, words, stdin)
        for redirection in redirections:
            if redirection.sign == "<" and redirection.target.known:
                path = self._absolute(redirection.target.text)
                stdin = self.scope.files.get(path, Stream("") if path == "/dev/null" else stdin)
        for key, value in set_:
            self._run_later(key, value)
        self.scope.variables["_"] = (words[-1].text.replace(UNKNOWN, self.unknowns.sign(words[-1].source)),)
        if name == "xargs" and (file := argument_file(words)) is not None:
            stdin = self._behind(file) or Stream(None, file.origins)
        given = self._handed_words(stdin) if name in FOR_EACH else []
        inner = inner_commands(name, words, given, self._word_of(stdin))
        if inner:
            return self._wraps(inner, words, redirections, set_, stdin)
        program = self._tell(first, words[1:], redirections, set_, stdin, ())
        if name in CHANGERS:
            self._change(name, words, stdin)
        self._fetch(program)
        return Stream(output_of(program, self.scope.cwd, self._file), (program,))

    def _wraps(
        self,
        inner: Sequence[InnerCommand],
        words: Sequence[Word],
        redirections: tuple[Redirection, ...],
        set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> Stream:
        """A command that runs others."""
        first = words[0]
        lines = [each.line for each in inner if each.line is not None]
        if any(not line.known and not _readable(line) for line in lines):
            self.unknown.append(f"code from {lines[0].source[:80]}")
            self._tell(first, words[1:], redirections, set_, stdin, lines[0].origins)
            return Stream(None, lines[0].origins)
        if any(each.keep for each in inner):
            program = self._tell(first, words[1:], redirections, set_, stdin, ())
            return Stream(None, (*self._inside(inner, set_, stdin).origins, program))
        if redirections:
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
        return self._inside(inner, set_, stdin)

    def _run_later(self, key: str, value: str) -> None:
        """A variable whose value another program will run as a line."""
        if key in LINE_VARIABLES and value:
            self._apart(lambda: self._via(key, lambda: self._text(self.unknowns.word(value), NOTHING)))

    def _handed_words(self, stdin: Stream) -> list[Word]:
        """The words that a program reads from its input, if they are known."""
        given = [self.unknowns.word(each) for each in (stdin.text or "").split()]
        return given or producers_words(stdin.origins)

    def _word_of(self, stdin: Stream) -> Word | None:
        return None if stdin.text is None else self.unknowns.word(stdin.text)

    def _inside(self, inner: Sequence[InnerCommand], set_: tuple[tuple[str, str], ...], stdin: Stream) -> Stream:
        """What a program runs."""
        outs: list[Stream] = []
        for each in inner:
            before = self.via, self.remote
            self.via, self.remote = (*self.via, each.label), self.remote or each.remote
            try:
                outs.append(self._apart(lambda each=each: self._inner(each, set_, stdin)))  # type: ignore[misc]
            finally:
                self.via, self.remote = before
        return outs[0] if len(outs) == 1 else Stream(None, tuple(origin for out in outs for origin in out.origins))

    def _inner(self, inner: InnerCommand, outer: tuple[tuple[str, str], ...], stdin: Stream) -> Stream:
        if inner.folder is not None:
            self.scope.cwd = self._moved(inner.folder)
        for key, word in inner.set:
            self._assign(key, [word.text.replace(UNKNOWN, self.unknowns.sign(word.source))])
        if inner.line is None:
            set_ = (*outer, *((key, word.source) for key, word in inner.set))
            return self.command(inner.words, (), set_, stdin)
        for place, word in enumerate(inner.params):
            self.scope.variables[str(place)] = (word.text.replace(UNKNOWN, self.unknowns.sign(word.source)),)
        self.scope.variables["@"] = self.scope.variables["*"] = tuple(
            word.text.replace(UNKNOWN, self.unknowns.sign(word.source)) for word in inner.params[1:]
        )
        return self._text(inner.line, stdin)

    def _text(self, word: Word, stdin: Stream) -> Stream:
        """A shell line in a word, if it can be read."""
        if not word.known:
            self.unknown.append(f"code from {word.source[:80]}")
        return self.line(word.text.replace(UNKNOWN, "$__unknown__"), self.scope, stdin)

    def _tell(
        self, first: Word, rest: Sequence[Word], redirections: tuple[Redirection, ...],
        set_: tuple[tuple[str, str], ...],
        stdin: Stream, fed: tuple[Program, ...],
    ) -> Program:  # fmt: skip
        """Notes one program."""
        name = _name_of(first)
        if first.text == first.source == "" and not redirections:
            return Program("")
        origins = (
            *stdin.origins,
            *fed,
            *[origin for word in rest if word.origins and _is_handed(name, word) for origin in word.origins],
        )
        code, where = self._code(first, rest, stdin)
        program = Program(
            name, tuple([word.source for word in rest]), tuple(rest), first.source, self.via, (*origins, *where),
            stdin.text and self._shown(stdin.text), redirections, self.scope.cwd, self.remote, set_, code,
        )  # fmt: skip
        self.programs.append(program)
        if code is not None and _runs_code(name, first):
            if not (name in SHELLS and rest and rest[0].text == "-n"):  # it only checks the syntax
                self._apart(lambda: self.line(code, self.scope))
        elif where and any(origin.name in FETCHERS for origin in where):
            self.unknown.append(f"downloaded code, run as {' '.join([first.source, *program.args[:1]])}")
        elif code is None and program.stdin_from and _reads_code(name, rest):
            self.unknown.append(f"code from the output of {program.stdin_from[-1].name or '…'}")
        return program

    def _code(self, first: Word, rest: Sequence[Word], stdin: Stream) -> tuple[str | None, tuple[Program, ...]]:
        """The code that an interpreter runs, if it can be read, and the programs that wrote it."""
        name = first.text.rpartition("/")[2]
        is_shell = name in SHELLS or name in ("source", ".")
        found = INTERPRETER.fullmatch(name)
        if not is_shell and not found:
            return self._kept(self.scope.files.get(self._absolute(first.text)) if "/" in first.text else None)
        letters = "" if is_shell or found is None else CODE_OPTIONS.get(found[1].removesuffix("js"), "")
        texts: list[str] = []
        for place, word in enumerate(rest):
            if word.text in STDIN:
                break
            if word.text.startswith("-") and not word.text.startswith("--") and letters:
                if word.text[-1:] in letters and place + 1 < len(rest):
                    texts.append(rest[place + 1].source)
                elif word.text[1:2] in letters and len(word.text) > 2:
                    texts.append(word.source[2:])
            elif word.text in ("--eval", "--print", "eval") and place + 1 < len(rest):
                texts.append(rest[place + 1].source)
            elif not word.text.startswith("-") and not texts:
                return self._kept(self._behind(word))
        if texts:
            return "\n".join(texts), ()
        reads_stdin = name not in ("source", ".") or bool(rest)  # they read it only if they are told to
        return (self._shown(stdin.text) if stdin.text is not None and reads_stdin else None), ()

    def _behind(self, word: Word) -> Stream | None:
        """What the line has put into a file that it has written, or the output of `<(…)`."""
        if word.source.startswith("<(") and word.origins:
            return Stream(output_of(word.origins[-1], self.scope.cwd, self._file))
        return self.scope.files.get(self._absolute(word.text))

    def _kept(self, kept: Stream | None) -> tuple[str | None, tuple[Program, ...]]:
        """The code in a file that the line has written."""
        if kept is None:
            return None, ()
        return (None if kept.text is None else self._shown(kept.text)), kept.origins

    def _shown(self, text: str) -> str:
        return self.unknowns.word(text).source

    def _change(self, name: str, words: Sequence[Word], stdin: Stream) -> None:
        """What one of the CHANGERS does."""
        texts = [word.text for word in words]
        if name in MOVERS:
            named = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
            self.scope.cwd = self._moved(named[0]) if named else self.home
        elif name == "popd":
            self.scope.cwd = None
        elif name == "eval":
            joined = Word(" ".join(texts[1:]), " ".join(word.source for word in words[1:]))
            if not joined.known:
                self.unknown.append(f"code from eval of {joined.source[:80]}")
            if _readable(joined):
                self._via("eval", lambda: self._text(joined, stdin))
        elif name == "trap" and len(texts) > 2 and texts[1] not in ("-", "-p", "-l"):
            self.traps.append(words[1])
            if not {"EXIT", "0"}.issuperset(texts[2:]):  # it may run earlier, too
                self._via("trap", lambda: self._text(words[1], NOTHING))
        elif name == "read":
            for word in words[1:]:
                if word.text.isidentifier():
                    given = (stdin.text or "").split() if stdin.text is not None else []
                    named = producers_words(stdin.origins) if stdin.origins else []
                    if named and all(each.known for each in named):
                        given = given or [each.text for each in named]
                    self._assign(word.text, given or [self.unknowns.sign(f"${word.text}", stdin.origins)])
        elif name in LINKERS:
            self._link(name, words)
        elif name == "hash" and texts[1:2] == ["-p"] and len(texts) > 3:
            self.scope.functions[texts[3]] = texts[2]
        elif name == "alias":
            for text in texts[1:]:
                key, sign, value = text.partition("=")
                if sign:
                    self.scope.functions[key] = value
        elif name == "printf" and texts[1:2] == ["-v"] and len(texts) > 3:
            out = output_of(Program("printf", tuple(texts[3:]), tuple(words[3:])), self.scope.cwd, self._file)
            self._assign(texts[2], [out if out is not None else self.unknowns.sign(f"${texts[2]}")])
        elif name == "set" and "--" in texts:
            self.scope.variables["@"] = self.scope.variables["*"] = tuple(texts[texts.index("--") + 1 :])
            for place, text in enumerate(texts[texts.index("--") + 1 :], 1):
                self.scope.variables[str(place)] = (text,)
        elif name in DECLARERS:
            for text in texts[1:]:
                key, sign, value = text.partition("=")
                if sign:
                    self._declare(key, [value])

    def _via(self, label: str, act: Callable[[], Stream]) -> Stream:
        before, self.via = self.via, (*self.via, label)
        try:
            return act()
        finally:
            self.via = before

    def _call(self, name: str, words: Sequence[Word], stdin: Stream) -> Stream:
        """A function of the line itself."""
        if name in self.scope.calls:
            self.unknown.append(f"the function {name} calls itself")
            return NOTHING
        body = self.scope.functions[name]
        calls, kept = self.scope.calls, {key: self.scope.variables.get(key) for key in ("@", "*", *"123456789")}
        self.scope.calls = (*calls, name)
        given = [word.text.replace(UNKNOWN, self.unknowns.sign(word.source)) for word in words[1:]]
        self.scope.variables["@"] = self.scope.variables["*"] = tuple(given)
        for place in range(1, 10):
            self.scope.variables[str(place)] = (given[place - 1] if place <= len(given) else "",)
        try:
            if isinstance(body, str):
                return self.line(" ".join([body, *given]), self.scope, stdin)
            return self.run(body, stdin)
        finally:
            self.scope.calls = calls
            for key, value in kept.items():
                if value is None:
                    self.scope.variables.pop(key, None)
                else:
                    self.scope.variables[key] = value

    def _apart(self, act: Callable[[], Stream]) -> Stream:
        """In a temporary scope."""
        before = self.scope
        self.scope = before.copy()
        try:
            return act()
        finally:
            self.scope = before

    @staticmethod
    def _all_of(first: Stream, second: Stream) -> Stream:
        text = None if first.text is None or second.text is None else first.text + second.text
        return Stream(text, first.origins + second.origins)

    def _moved(self, folder: Word) -> str | None:
        if folder.text == "-":
            return None
        if not folder.known:
            self.unknown.append(f"folder from {folder.source}")
            return None
        return self._absolute(folder.text) if self.scope.cwd or folder.text.startswith("/") else None

    def _lookup(self, name: str) -> Sequence[str] | None:
        if name == "PWD":
            return (self.scope.cwd,) if self.scope.cwd else None
        found = self.scope.variables.get(name)
        return ("/tmp",) if found is None and name == "TMPDIR" else found  # noqa: S108

    def _declare(self, name: str, values: Sequence[str]) -> None:
        """A variable that the line sets for what follows. If other programs run its value, that counts as run."""
        self._assign(name, values)
        for value in values:
            self._run_later(name, value)

    def _assign(self, name: str, values: Sequence[str]) -> None:
        self.scope.variables[name] = tuple(plain(value) for value in values)[: expand.MAX_WORDS]

    def _substituted(self, node: Node) -> tuple[str | None, tuple[Program, ...]]:
        """The output of a substitution."""
        raise NotImplementedError

    def line(self, text: str, scope: Scope, stdin: Stream = NOTHING) -> Stream:
        """Walks through one line."""
        raise NotImplementedError

    def run(self, node: Node, stdin: Stream) -> Stream:
        """Walks through one part of the tree."""
        raise NotImplementedError


def plain(marked: str) -> str:
    """A word without the marks of what was quoted."""
    return marked.translate(expand.PLAIN)


def _name_of(program: Word) -> str:
    """A program's base name; "" if only running the line would show it."""
    return program.text.rpartition("/")[2] if program.known else ""


def _readable(word: Word) -> bool:
    """Whether enough of a line is known to read it: more than one expansion."""
    return bool(word.text.replace(UNKNOWN, "").strip())


def _is_handed(name: str, word: Word) -> bool:
    """Whether a word passes other programs' output to a program to read or to run, not only as a name."""
    return word.source.startswith(("<(", ">(")) or name in SHELLS or name == "eval" or bool(INTERPRETER.fullmatch(name))


def _runs_code(name: str, program: Word) -> bool:
    """Whether a program's code is shell code: for a shell, or for a script that is run directly."""
    return name in SHELLS or name in ("source", ".") or ("/" in program.text and not INTERPRETER.match(name))


def _reads_code(name: str, rest: Sequence[Word]) -> bool:
    """Whether an interpreter takes its program from its input or from a substitution."""
    if name not in (*SHELLS, "source", ".") and not INTERPRETER.fullmatch(name):
        return False
    named = [word for word in rest if not word.text.startswith("-")]
    return not named or any(word.origins for word in rest) or rest[0].text in ("-s", "-")
