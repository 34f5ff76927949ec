"""Reading shell lines: the one entry point for what a line would run, for rules, trust and the guard. The tree of the
grammar is walked as a shell would walk it, with what is known about variables, folders, functions and pipes. Nothing is
started, and no file is looked at."""

from __future__ import annotations

import os

from anyhook.model.pattern import later, re
from anyhook.programs import expand
from anyhook.programs.expand import STRANGE
from anyhook.programs.found import producers_words
from anyhook.programs.grammar import SUBSTITUTIONS, text_of
from anyhook.programs.loose import RESERVED, loose_commands
from anyhook.programs.options import sort_options
from anyhook.programs.outputs import output_of
from anyhook.programs.program import UNKNOWN, Made, Program, Redirection, ShellLine, UnreadError, Word
from anyhook.programs.scope import NOTHING, Scope, Stream, together
from anyhook.programs.table import PROGRAMS, row_of
from anyhook.programs.wrappers import LINE_VARIABLES, InnerCommand, argument_file, inner_commands, likely_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from tree_sitter import Node

    from anyhook.programs.rows import ProgramRow, State

    Sources = Callable[[Program], Iterable[tuple[str, str, tuple[str, ...]]]]
    """The files that a program reads into its shell: paths, texts, and the parameters that they get."""
    Found = TypeVar("Found")


PROGRAM_FOLDER = later(r"/(usr/)?(local/)?s?bin/")
SUBSCRIPT = later(r"\w\[")

PROMPTS = frozenset({"PS0", "PS1", "PS2", "PS4", "RPROMPT", "RPS1", "BASH_ENV", "ENV"})
"""Variables whose value a shell expands when it uses it."""

STARTING_SCRIPTS = ("BASH_ENV", "ENV")
"""Variables that name a script which a shell runs first."""
NAMED_BY_VARIABLE = "code from the file that"
"""How the note about such a script begins, if the line itself does not make it."""

STDIN = ("-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
"""Arguments that make an interpreter read its program from stdin."""

MAX_STEPS = 20_000

MAX_FILE_STEPS = 1_500
"""The same for the files that a line runs, all together. What is more is not read."""

MAX_PROGRAMS, MAX_PIPE = 5_000, 500

MAX_SIZE, MAX_TIMES = 200_000, 8
"""How many characters of lines in lines are read: at least the first number, and the second number of times those of
the line itself."""

MAX_DEPTH = 12
"""How deeply nested lines are read."""

TOO_DEEP = "the line is nested too deeply"

MAX_LINE = 1_000_000
"""Longer lines are not read."""

MAX_LOOSE = 100_000
"""How many characters of a line that the grammar does not understand are read without it."""

MISREAD = later(r"\(\(|\bfor\s[^;\n]*[;\n]\s*\{")
"""Forms in which the parts between operators are not the commands: without a tree, such a line is not read."""

HANDLERS = ("command_not_found_handle", "command_not_found_handler")
"""Functions that a shell calls by itself."""

BLOCKS = frozenset({"program", "compound_statement", "do_group", "else_clause", "elif_clause", "ERROR"})

REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")

STATEMENTS = ("pipeline", "command", "list", "redirected_statement", "subshell", "compound_statement")

WATCHED = frozenset({
    *SUBSTITUTIONS, *STATEMENTS, "negated_command", "if_statement", "while_statement", "case_statement", "case_item",
    "for_statement", "c_style_for_statement", "declaration_command", "unset_command",
})  # fmt: skip
"""Nodes that run something. Each one of a tree is run, whatever stands around it."""

OPENERS = later(rb"(?<!\\)((?:\\\\)*)(\$\(|`|[<>]\()")
"""Where a substitution starts in the text."""

HERE_PARTS = ("heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor")


class LineReader:
    """Reads one line: what it runs, and what it changes in the shell that runs it."""

    def __init__(self, home: str) -> None:
        self.programs: list[Program] = []
        self.unknown: list[str] = []
        self.unread: list[str] = []
        self.assigned: dict[tuple[str, str], None] = {}
        self.visited: dict[int, Node] = {}
        """The nodes that were run, by id. Kept, since an id is only unique while its tree lives."""
        self.steps, self.max_steps = 0, MAX_STEPS
        self.size, self.max_size = 0, MAX_SIZE
        self.is_file, self.is_bash = False, True
        self.sources: Sources = _no_sources
        self.path = ""
        """The file that is being read into the shell; "" for the line itself."""
        self.of_files: list[tuple[str, Program]] = []
        self.homes: dict[int, str] = {}
        """The files of functions, by the id of their nodes."""
        self.home, self.depth = home, 0
        self.via: tuple[str, ...] = ()
        self.remote = False
        self.traps: list[Word] = []
        self.unknowns = expand.Unknowns()
        self.made = Made()
        self.values = expand.Values(self.unknowns, home)
        self.values.lookup = self._lookup
        self.values.output = self._substituted
        self.values.assign = self._assign
        self.values.prompt = self.prompt
        self.locals: dict[str, tuple[str, ...] | None] = {}
        """What the variables were that a function, while it is called, has as its own."""
        self.names: dict[str, str] = {}
        """Names that stand for other variables: `declare -n NAME=VARIABLE`."""
        self.scope = Scope(None, {})

    # Files, links and copies that the line makes, for when it reads or runs them later.

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.scope.cwd or "/", path))

    def _keep(self, redirections: Sequence[Redirection], out: Stream) -> None:
        """Remembers what the line writes into a file, for when it runs or reads that file."""
        for each in redirections:
            if each.writes and each.target.known and (out.text is not None or out.origins):
                path = self._absolute(each.target.text)
                if ">>" in each.sign and path not in self.scope.files:
                    self._note(path, self._printed(each.target))  # what is there already
                before = self.scope.files.get(path, Stream("")) if ">>" in each.sign else Stream("")
                self._put(path, before.then(out))

    def _put(self, path: str, what: Stream) -> None:
        """Remembers what is in a file: for this shell, and for the programs that it starts."""
        self.scope.files[path] = what
        self._note(path, what)

    def _note(self, path: str, what: Stream) -> None:
        self.made.setdefault(path, []).append((None if what.text is None else self._shown(what.text), what.origins))

    def _shown(self, text: str) -> str:
        return self.unknowns.word(text).source

    def _fetch(self, program: Program, row: ProgramRow) -> None:
        """Remembers into which file something was downloaded or written by `tee`."""
        if row.special == "tee":
            for word in program.words:
                if word.source.startswith(">("):
                    self._apart(lambda line=word.source[2:-1]: self.line(line, self.scope, Stream(program.stdin)))  # type: ignore[misc]
                if not word.text.startswith("-") and word.known:
                    given = [each.target for each in program.redirections if each.sign == "<"]
                    origins = [origin for each in given for origin in self._printed(each).origins]
                    made = Stream(program.stdin, (*program.stdin_from, *origins))
                    self._put(self._absolute(word.text), made)
        elif row.fetch_to:
            for name in _fetched(program, row):
                if name not in ("-", "") and UNKNOWN not in name:
                    self._put(self._absolute(name), Stream(None, (program,)))

    def _printed(self, word: Word) -> Stream:
        """What `cat` would print of a file."""
        return Stream(None, (Program("cat", (word.source,), (word,), cwd=self.scope.cwd),))

    def _file(self, path: str) -> str | None:
        kept = self.scope.files.get(self._absolute(path))
        return kept.text if kept else None

    def _followed(self, word: Word, is_program: bool) -> Word:
        """A word that names a link or a copy which the line has made, as what it stands for. (A link that is only
        deleted stays a link.)"""
        if not word.known or "/" not in word.text:
            return word
        path, slash = self._absolute(word.text), "/" * word.text.endswith("/")
        for link, target in self.scope.links.items():
            if (path == link and (is_program or slash)) or path.startswith(f"{link}/"):
                return Word(made := target.rstrip("/") + path[len(link) :] + slash, made, word.globs)
        return word

    # Simple commands: what one is, what it changes in the scope, and what else it runs.

    def command(
        self,
        words: Sequence[Word],
        redirections: tuple[Redirection, ...],
        set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> Stream:
        """One simple command: what it is, what it changes in the scope, and what else it runs."""
        self.step()
        starts = next((at for at, word in enumerate(words) if word.source not in ("{", "!")), 0)
        if starts:  # the grammar takes a block for arguments
            self._misread(f"the block in `{' '.join(word.source for word in words[:9])[:60]}`")
            words = words[starts:]
        if self.scope.links:
            words = [self._followed(words[0], True), *(self._followed(word, False) for word in words[1:])]
        first = words[0]
        name = _name_of(first)
        if not first.known:
            self._computed(words, redirections, set_, stdin)
        if first.globs and (meant := likely_programs(name)):
            self.unknown.append(f"program from {first.source}")
            outs = [self.command([each, *words[1:]], redirections, set_, stdin) for each in meant]
            return Stream(None, tuple(origin for out in outs for origin in out.origins))
        redirections = self._from_own_input(redirections, stdin)
        self._set_for(set_)
        out = self._called(words, redirections, set_, stdin) if first.text in self.scope.functions else None
        if out is not None:
            return out
        self.scope.variables["_"] = (self._marked(words[-1]),)
        return self._started(name, words, redirections, set_, self._input(name, words, redirections, stdin))

    def _from_own_input(self, redirections: tuple[Redirection, ...], stdin: Stream) -> tuple[Redirection, ...]:
        """The redirections of a command, with the shell's own input if nothing else is its input."""
        if self.scope.input is None or stdin != NOTHING or any(each.reads for each in redirections):
            return redirections
        return (*redirections, Redirection("<", self.scope.input))

    def _computed(
        self, words: Sequence[Word], redirections: tuple[Redirection, ...], set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> None:  # fmt: skip
        """A command whose program only running the line would show."""
        first = words[0]
        self.unknown.append(f"program from {first.source}")
        if first.text == UNKNOWN and first.origins:  # `$(cat FILE)` runs what is in the file
            self._tell(Word("eval", "eval"), [first], (), (), NOTHING, ())
        if first.text == UNKNOWN and len(words) > 1 and not words[1].text.startswith("-"):
            self._apart(lambda: self.command(words[1:], redirections, set_, stdin))  # `$NOTHING rm x` is `rm x`

    def _input(self, name: str, words: Sequence[Word], redirections: tuple[Redirection, ...], stdin: Stream) -> Stream:
        """What a program reads: a file that the line has written, or what it got. What is read into variables may be
        any file's."""
        row = row_of(name)
        for redirection in redirections:
            if redirection.sign == "<" and redirection.target.known:
                path = self._absolute(redirection.target.text)
                hands_over = row.wraps is not None and row.wraps.remote
                if row.state in ("read", "mapfile") or not name or hands_over:
                    stdin = self._printed(redirection.target)
                stdin = self.scope.files.get(path, Stream("") if path == "/dev/null" else stdin)
        if row.runs in ("each", "listed") and (file := argument_file(row, words)) is not None:
            return self._behind(file) or Stream(None, file.origins)
        return stdin

    def _started(
        self,
        name: str,
        words: Sequence[Word],
        redirections: tuple[Redirection, ...],
        set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> Stream:
        """A program that is started: those that it runs, or itself."""
        row = row_of(name)
        if row.has("builtin") and row.wraps is not None and len(words) == 1:  # `exec < FILE`
            self.scope.input = next((each.target for each in redirections if each.sign == "<"), self.scope.input)
        given = self._handed_words(stdin) if row.runs in ("each", "listed") else []
        inner = inner_commands(name, row, words, given, self._word_of(stdin))
        if inner:
            return self._wraps(inner, words, redirections, set_, stdin)
        program = self._tell(words[0], words[1:], redirections, set_, stdin, ())
        if row.state:
            self._with(set_ if row.state in ("cd", "eval") else (), lambda: STATES[row.state](self, words, stdin))
        if row.language == "sh" and row.runs != "shell" and program.code is None:
            self._source(program)
        self._fetch(program, row)
        return Stream(output_of(program, self.scope.cwd, self._file), (program,))

    def _source(self, program: Program) -> None:
        """Reads files into the shell: their variables, functions, aliases and folder are its own afterwards."""
        for path, text, params in self.sources(program):
            kept, cwd = {key: self.scope.variables.get(key) for key in ("@", "*", *"123456789")}, self.scope.cwd
            if params[1:]:
                self._number(params[1:])
            self._within(path, lambda text=text: self.line(text, self.scope))  # type: ignore[misc]
            self._put_back(kept if params[1:] else {})
            self.scope.cwd = self.scope.cwd or cwd

    def _within(self, path: str, act: Callable[[], Stream]) -> Stream:
        """What a file does. It stays separate, and what cannot be known there is not asked about."""
        kept = self.path, self.programs, self.unknown, self.unread, self.is_file, self.max_steps
        self.path, self.programs, self.unknown, self.unread, self.is_file = path, [], [], [], True
        self.max_steps = min(self.max_steps, self.steps + MAX_FILE_STEPS)
        try:
            return act()
        except UnreadError:
            return NOTHING
        finally:
            self.of_files += [(path, program) for program in self.programs]
            self.path, self.programs, self.unknown, self.unread, self.is_file, self.max_steps = kept

    def give_up(self, why: str) -> None:
        """Notes that a part of the line is not read."""
        self.unread.append(f"not read: {why}")

    def _misread(self, why: str) -> None:
        """Notes that the grammar understands a part of the line otherwise than the shell."""
        if self.is_bash:
            self.give_up(why)

    def step(self) -> None:
        """Counts one statement, so that every line ends: functions that call each other twice double."""
        self.steps += 1
        if self.steps > self.max_steps or len(self.programs) > MAX_PROGRAMS:
            raise UnreadError(f"it has more than {self.max_steps} steps or {MAX_PROGRAMS} programs")

    def weigh(self, size: int) -> None:
        """Counts the characters of what is inside of something else, which is read again: cost is linear."""
        self.size += 0 if self.path else size
        if self.size > self.max_size:
            raise UnreadError(f"what is inside of it has more than {self.max_size} characters together")

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

    def prompt(self, text: str) -> None:
        """A text that a shell expands once more, as it does with a prompt: the substitutions in it run."""
        if "$(" in text or "`" in text:
            self._apart(lambda: self.line(expanded(text), self.scope))

    def evaluate(self, words: Sequence[Word]) -> None:
        """Names of variables: a shell evaluates the subscript of an array, also a quoted one."""
        for word in words:
            self._take(word.origins)
            if "[" in word.text:
                self.prompt(word.text)

    def hold(self, texts: Iterable[str]) -> None:
        """What a variable or a test holds. Wherever a shell counts (`((x))`, `${a[x]}`, `[[ $x -gt 0 ]]`), it evaluates
        that text and the subscripts in it. A substitution in a subscript is written for nothing else."""
        for text in texts:
            if is_evaluated(text):
                self.prompt(text)
            if not text.isascii():
                self._take(self.unknowns.word(text).origins)

    def _take(self, origins: tuple[Program, ...]) -> None:
        """What other programs print becomes a value."""
        if origins:
            self.programs.append(Program("", stdin_from=origins, cwd=self.scope.cwd))

    def _set_for(self, set_: tuple[tuple[str, str], ...]) -> None:
        """Variables that are set for one command."""
        for key, value in set_:
            self._run_later(key, value)
            self.hold((value,))

    def _with(self, set_: tuple[tuple[str, str], ...], act: Callable[[], Found]) -> Found:
        """What runs in this shell while these variables are set."""
        kept = {key: self.scope.variables.get(key) for key, _ in set_}
        for key, value in set_:
            self._assign(key, [value])
        try:
            return act()
        finally:
            self._put_back(kept)

    def _put_back(self, kept: Mapping[str, tuple[str, ...] | None]) -> None:
        for key, value in kept.items():
            if value is None:
                self.scope.variables.pop(key, None)
            else:
                self.scope.variables[key] = value

    def _run_later(self, key: str, value: str) -> None:
        """A variable whose value another program will run as a line, or a shell will expand."""
        if key in PROMPTS:
            self.prompt(value)
        if key in STARTING_SCRIPTS and value:
            kept = self.scope.files.get(self._absolute(value))
            if kept is not None and kept.text is not None:
                self._apart(lambda: self._via(key, lambda: self.line(kept.text or "", self.scope)))
            elif found := [*self.sources(Program("source", words=(Word(value, value),), cwd=self.scope.cwd))]:
                for path, text, _ in found:
                    self._within(path, lambda text=text: self._apart(lambda: self.line(text, self.scope)))  # type: ignore[misc]
            elif "$(" not in value and "`" not in value:
                self.unknown.append(f"{NAMED_BY_VARIABLE} {key} names, {self._shown(value)[:60]}")
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
        self.scope.is_started = True
        for key, value in outer:
            self._assign(key, [value])
        for key, word in inner.set:
            self._assign(key, [self._marked(word)])
        if inner.line is None:
            self.weigh(sum([len(word.text) for word in inner.words]))
            set_ = (*outer, *((key, word.source) for key, word in inner.set))
            return self.command(inner.words, (), set_, stdin)
        for place, word in enumerate(inner.params):
            self.scope.variables[str(place)] = (self._marked(word),)
        self.scope.variables["@"] = self.scope.variables["*"] = tuple(self._marked(word) for word in inner.params[1:])
        self.hold([self._marked(word) for word in inner.params])
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
        handed = [origin for word in rest if word.origins and _is_handed(name, word) for origin in word.origins]
        code, where = self._code(first, rest, stdin)
        program = Program(
            name, tuple([word.source for word in rest]), tuple(rest), first.source, self.via,
            together(stdin.origins, fed, handed, where),
            stdin.text and self._shown(stdin.text), redirections, self.scope.cwd, self.remote, set_, code, self.made,
        )  # fmt: skip
        self.programs.append(program)
        self._run_code(program, first, where)
        return program

    def _run_code(self, program: Program, first: Word, where: tuple[Program, ...]) -> None:
        """The shell code that a program runs, or that it cannot be known."""
        row, code = row_of(program.name), program.code
        if code is not None and (row.language in ("sh", "othersh") or ("/" in first.text and not row.language)):
            if not (row.runs == "shell" and program.args[:1] == ("-n",)):  # it only checks the syntax
                self._apart(lambda: self.line(code, self.scope))
        elif where and any(row_of(origin.name).fetch_to for origin in where):
            self.unknown.append(f"downloaded code, run as {' '.join([first.source, *program.args[:1]])}")
        elif code is None and program.stdin_from and row.language and _reads_code(program.words):
            self.unknown.append(f"code from the output of {program.stdin_from[-1].name or '…'}")

    def _code(self, first: Word, rest: Sequence[Word], stdin: Stream) -> tuple[str | None, tuple[Program, ...]]:
        """The code that an interpreter runs, if it can be read, and the programs that wrote it."""
        row = row_of(first.text.rpartition("/")[2])
        if not row.language:
            return self._kept(self.scope.files.get(self._absolute(first.text)) if "/" in first.text else None)
        texts, script = _code_and_script(rest, row)
        if script is not None:
            return self._kept(self._behind(script))
        if texts:
            return "\n".join(texts), ()
        reads_stdin = row.runs == "shell" or row.language != "sh" or bool(rest)  # `.` reads it only if it is told to
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

    def _marked(self, word: Word) -> str:
        """A finished word as a value."""
        return word.text.replace(UNKNOWN, self.unknowns.sign(word.source, word.origins))

    def _number(self, given: Sequence[str]) -> None:
        """The parameters of a function or a shell."""
        self.scope.variables["@"] = self.scope.variables["*"] = tuple(given)
        for place in range(1, max(len(given), 9) + 1):
            self.scope.variables[str(place)] = (given[place - 1] if place <= len(given) else "",)
        self.hold(given)

    def _via(self, label: str, act: Callable[[], Stream]) -> Stream:
        before, self.via = self.via, (*self.via, label)
        try:
            return act()
        finally:
            self.via = before

    def _called(
        self, words: Sequence[Word], redirections: tuple[Redirection, ...], set_: tuple[tuple[str, str], ...],
        stdin: Stream,
    ) -> Stream | None:  # fmt: skip
        """A function with its redirections and variables, which are around all that it runs."""
        if redirections:
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
            stdin = self._input("", (), redirections, stdin)
        return self._with(set_, lambda: self._call(words[0].text, words, stdin))

    def _call(self, name: str, words: Sequence[Word], stdin: Stream) -> Stream | None:
        """A function of the line itself. None if the program of this name may run as well: behind an alias or
        `hash -p`, which few shells take, in the function itself (`command rm`), and where another program starts it."""
        body = self.scope.functions[name]
        call = name if isinstance(body, str) else f"{name} {body.id}"  # it may define itself again
        if call in self.scope.calls:
            if not isinstance(body, str):
                self.unknown.append(f"the function {name} calls itself")
            return None
        calls, kept = self.scope.calls, {key: self.scope.variables.get(key) for key in ("@", "*", *"123456789")}
        self.scope.calls = (*calls, call)
        outer, self.locals = self.locals, {}
        given = [self._marked(word) for word in words[1:]]
        self._number(given)
        try:
            if isinstance(body, str):
                self.line(" ".join([body, *given]), self.scope, stdin)
                return None
            home = self.homes.get(body.id, "")
            is_elsewhere = bool(home) and home != self.path
            out = self._within(home, lambda: self.called(body, stdin)) if is_elsewhere else self.called(body, stdin)
            return None if self.scope.is_started else out
        finally:
            self.scope.calls = calls
            self._put_back({**self.locals, **kept})
            self.locals = outer

    def _apart(self, act: Callable[[], Stream]) -> Stream:
        """In a temporary scope."""
        before = self.scope
        self.scope = before.copy()
        try:
            return act()
        finally:
            self.scope = before

    def _moved(self, folder: Word) -> str | None:
        if folder.text == "-":
            return None
        if not folder.known:
            self.unknown.append(f"folder from {folder.source}")
            return None
        return self._absolute(folder.text) if self.scope.cwd or folder.text.startswith("/") else None

    def _meant(self, name: str) -> str:
        for _ in range(MAX_DEPTH):
            if name not in self.names:
                break
            name = self.names[name]
        return name

    def _lookup(self, name: str) -> Sequence[str] | None:
        name = self._meant(name)
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
        name = self._meant(name)
        if name.isupper():
            self.assigned.update([((name, self._shown(plain(value))), None) for value in values[: expand.MAX_WORDS]])
        self.scope.variables[name] = tuple(plain(value) for value in values)[: expand.MAX_WORDS]
        self.hold(self.scope.variables[name])

    # The walk over a line's tree: statements in order, with the scope that a shell would have. Branches are all taken,
    # loops once with every value, functions where they are called.

    def line(self, text: str, scope: Scope, stdin: Stream = NOTHING) -> Stream:
        """Walks through one line, and changes the given scope."""
        if self.depth >= MAX_DEPTH:
            self.give_up("lines inside lines go too deep")
            return NOTHING
        self.weigh(len(text))
        before, self.scope = self.scope, scope
        waiting, self.traps = self.traps, []
        self.depth += 1
        try:
            words = plain_words(text)
            root = None if words else _tree_of(text)
            if root is None:
                out = self.command([Word(each, each) for each in words], (), (), stdin)
            else:
                out = self.run(root, stdin)
                self._rest(root)
            for trap in self.traps:
                self._via("trap", lambda trap=trap: self._text(trap, NOTHING))  # type: ignore[misc]
            if root is not None and root.has_error and not self.is_file:
                self._doubt(text)
        finally:
            self.depth -= 1
            self.scope, self.traps = before, waiting
        return out

    def _rest(self, root: Node) -> None:
        """What the walk has not come to: whatever construct hides a command, it is run, in a scope apart."""
        literal: list[tuple[int, int]] = []
        quoted: list[tuple[int, int]] = []
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            kind = node.type
            if kind in ("raw_string", "ansi_c_string", "comment") or (kind == "heredoc_body" and _is_quoted(node)):
                literal.append((node.start_byte, node.end_byte))
                continue
            if kind in ("string", "heredoc_body"):
                quoted.append((node.start_byte, node.end_byte))
            if kind == "function_definition":
                body = node.child_by_field_name("body")
                if body is not None and body.id not in self.visited:  # it is not called
                    literal.append((body.start_byte, body.end_byte))
                    waiting.extend(child for child in node.children if child.id != body.id)
                    continue
            elif kind in WATCHED and node.id not in self.visited:
                self._apart(lambda node=node: self.run(node, NOTHING))  # type: ignore[misc]
            elif kind in ("$(", "`", "``", "<(", ">(", "$(("):
                seen.update(range(node.start_byte, node.end_byte))
            waiting.extend(reversed(node.children))
        self._unseen(root.text or b"", root.start_byte, literal, quoted, seen)

    def _unseen(
        self,
        text: bytes,
        start: int,
        literal: Sequence[tuple[int, int]],
        quoted: Sequence[tuple[int, int]],
        seen: set[int],
    ) -> None:
        """Substitutions that the grammar takes for text, as in a pattern: read as separate lines. In quotes, those of
        processes are text."""
        if b"(" not in text and b"`" not in text:
            return
        place = 0
        while found := OPENERS.search(text, place):
            begin = found.start(2) + start
            place = max([found.end(), *(end - start for first, end in literal if first <= begin < end)])
            texts = (*literal, *quoted) if found[2][:1] in b"<>" else literal
            if begin in seen or any(first <= begin < end for first, end in texts):
                continue
            end = _closing(text, found.end(), found[2])
            inner = text[found.end() : end if end >= 0 else None].decode("utf-8", "replace")
            inner = re.sub(r"\\([`$\\])", r"\1", inner) if found[2] == b"`" else inner
            if end < 0 or _tree_of(inner).has_error:
                self._misread(f"the substitution in `{text[found.start(2) :][:60].decode('utf-8', 'replace')}`")
                if not self.is_bash:
                    self._doubt(inner)
                continue
            self._apart(lambda inner=inner: self.line(inner, self.scope))  # type: ignore[misc]
            place = end + 1

    def _doubt(self, text: str) -> None:
        """A line that the grammar does not understand: the parts between its operators also count as commands, so that
        nothing is missed that a shell might still run."""
        shown = text.strip().splitlines()[0][:60] if text.strip() else ""
        self.unknown.append(f"not read: the grammar does not understand `{shown}`")
        is_other = bool(self.via) and row_of(self.via[-1].partition(" ")[0]).language == "othersh"
        if is_other or MISREAD.search(text):
            self._misread(f"the grammar does not understand `{shown}`")
        if len(text) > MAX_LOOSE:
            self.give_up(f"the grammar does not understand `{shown}`, and it is longer than {MAX_LOOSE} characters")
        seen = {(program.name, program.args) for program in self.programs}
        for words in loose_commands(text[:MAX_LOOSE]):
            spelled = [each for word in words for each in expand.braces(word)]
            made = [self.unknowns.word(meant) for each in spelled for meant in expand._tilde(each, self.values)]
            if made and (os.path.basename(made[0].text), tuple(word.source for word in made[1:])) not in seen:
                self.command(made, (), (), NOTHING)

    def run(self, node: Node, stdin: Stream) -> Stream:
        self.step()
        kind = node.type
        if kind in SUBSTITUTIONS:  # outside a word, so a shell may count with what it prints
            out = Stream(*self._substituted(node, stdin))
            self._take(out.origins)
            return out
        self.visited[node.id] = node
        act: Callable[[Node, Stream], Stream] | None = getattr(self, f"_run_{kind}", None)
        if act is not None:
            return act(node, stdin)
        if kind in BLOCKS:
            return self._all(node.named_children, stdin)
        if kind != "comment":
            self._look_inside(node)
        return NOTHING

    def _all(self, nodes: Sequence[Node], stdin: Stream) -> Stream:
        texts: list[str | None] = []
        origins: tuple[Program, ...] = ()
        for child in nodes:
            if child.type == "comment":
                continue
            try:
                out = self.run(child, stdin)
            except RecursionError:  # this statement; those beside it are read
                self.give_up(TOO_DEEP)
                out = NOTHING
            texts.append(out.text)
            origins = together(origins, out.origins)
        text = None if None in texts or not texts else "".join(str(each) for each in texts)
        return Stream(text, origins)

    def _look_inside(self, node: Node) -> None:
        """Substitutions in tests, arithmetic and other places run too."""
        for child in node.children:
            if child.type in SUBSTITUTIONS:
                self.run(child, NOTHING)
            else:
                self._look_inside(child)

    def _run_test_command(self, node: Node, _stdin: Stream) -> Stream:
        self._look_inside(node)
        self.hold(plain(each) for text in _quoted(node) for each in expand.expand(text, self.values))
        return NOTHING

    def _run_list(self, node: Node, stdin: Stream) -> Stream:
        left, right = node.named_children[0], node.named_children[-1]
        out = self.run(left, stdin)
        if any(child.type == "||" for child in node.children):
            before = self.scope.copy()
            other = self.run(right, stdin)
            kept = self.scope.cwd if before.cwd != self.scope.cwd and _leaves(right) else None
            self.scope.either(before)
            self.scope.cwd = self.scope.cwd or kept
            return Stream(None, together(out.origins, other.origins))
        return out.then(self.run(right, stdin))

    def _run_subshell(self, node: Node, stdin: Stream) -> Stream:
        return self._apart(lambda: self._all(node.named_children, stdin))

    def _run_pipeline(self, node: Node, stdin: Stream) -> Stream:
        stream = stdin
        if len(node.named_children) > MAX_PIPE:  # each program knows all those before it
            self.give_up(f"a pipe of more than {MAX_PIPE} commands")
        for child in node.named_children[:MAX_PIPE]:
            if child.type == "comment":
                continue
            feed, given = child, stream
            if _is_list(child):  # `a && b 2>&1 | c`: the grammar puts `a` into the pipe, but no shell does
                out = self.run(feed, given)
            else:
                out = self._apart(lambda feed=feed, given=given: self.run(feed, given))  # type: ignore[misc]
            stream = Stream(out.text, together(stream.origins, out.origins))
        return stream

    def _run_negated_command(self, node: Node, stdin: Stream) -> Stream:
        return self._all(node.named_children, stdin)

    def _run_if_statement(self, node: Node, stdin: Stream) -> Stream:
        """Every branch starts from the same scope, and the effects of any of them may apply afterwards."""
        branches: list[list[Node]] = [[]]
        for child in node.named_children:
            if child.type in ("elif_clause", "else_clause", "case_item"):
                branches.append([child])
            else:
                branches[0].append(child)
        before = self.scope.copy()
        ends: list[Scope] = []
        origins: tuple[Program, ...] = ()
        for branch in branches:
            self.scope.take(before.copy())
            origins = together(origins, self._all(branch, stdin).origins)
            ends.append(self.scope.copy())
        self.scope.take(before)
        for end in ends:
            self.scope.either(end)
        return Stream(None, origins)

    _run_while_statement = _run_if_statement

    def _run_case_statement(self, node: Node, stdin: Stream) -> Stream:
        """In a file, only the branch that is taken with the parameters which the file gets, if that is certain."""
        chosen = self._chosen(node) if self.is_file else None
        if chosen is None:
            return self._run_if_statement(node, stdin)
        for item in (child for child in node.named_children if child.type == "case_item"):
            if item not in chosen:
                left = [item]
                while left:
                    each = left.pop()
                    self.visited[each.id] = each
                    left.extend(each.children)
        return self._all(chosen, stdin)

    def _chosen(self, node: Node) -> list[Node] | None:
        """The branch of a `case` that is taken, as a list; None if that is not certain."""
        word = node.child_by_field_name("value")
        if word is None or ";&" in text_of(node) or ";;&" in text_of(node):
            return None
        given = {str(place): ("",) for place in range(1, 10)} if "@" in self.scope.variables else {}
        before, self.scope.variables = self.scope.variables, {**given, **self.scope.variables}
        try:
            values = expand.one(word, self.values)
        finally:
            self.scope.variables = before
        if len(values) != 1 or expand.UNKNOWNS.search(values[0]):
            return None
        for item in (child for child in node.named_children if child.type == "case_item"):
            for pattern in item.children_by_field_name("value"):
                texts = expand.one(pattern, self.values)
                if len(texts) != 1 or expand.UNKNOWNS.search(texts[0]):
                    return None
                from fnmatch import fnmatchcase

                if fnmatchcase(plain(values[0]), texts[0]):
                    return [item]
        return []

    def _run_case_item(self, node: Node, stdin: Stream) -> Stream:
        closing = next((at for at, child in enumerate(node.children) if child.type == ")"), 0)
        return self._all([child for child in node.children[closing + 1 :] if child.is_named], stdin)

    def _run_for_statement(self, node: Node, stdin: Stream) -> Stream:
        body = next((child for child in node.named_children if child.type in ("do_group", "compound_statement")), None)
        name = next((text_of(child) for child in node.named_children if child.type == "variable_name"), "")
        items = [
            child
            for child in node.named_children
            if child is not body and child.type not in ("variable_name", "comment")
        ]
        items = [child for child in items if body is None or child.end_byte <= body.start_byte]
        values = [plain(each) for item in items for each in expand.expand(item, self.values)]
        self._assign(name, values or [self.unknowns.sign(f"${name}")])
        return self.run(body, stdin) if body is not None else NOTHING

    def _run_c_style_for_statement(self, node: Node, stdin: Stream) -> Stream:
        for child in node.named_children:
            if child.type == "variable_assignment":
                name = text_of(child).partition("=")[0]
                self._assign(name, [self.unknowns.sign(f"${name}")])
        return self._all(
            [child for child in node.named_children if child.type in ("do_group", "compound_statement")], stdin
        )

    def _run_function_definition(self, node: Node, _stdin: Stream) -> Stream:
        name = text_of(node.named_children[0])
        self.scope.functions[name] = node
        if self.path:
            self.homes[node.id] = self.path
        if name in HANDLERS:
            self._apart(lambda: self.called(node, NOTHING))
        return NOTHING

    def called(self, node: Node, stdin: Stream) -> Stream:
        body = node.child_by_field_name("body")
        around = [child for child in node.named_children if child.type in REDIRECTS]
        if body is None or around:
            return self._redirected(body, around, stdin)
        return self.run(body, stdin)

    def _run_variable_assignment(self, node: Node, _stdin: Stream) -> Stream:
        self._set(node)
        return Stream("")

    def _run_variable_assignments(self, node: Node, _stdin: Stream) -> Stream:
        for child in node.named_children:
            self._set(child)
        return Stream("")

    def _run_declaration_command(self, node: Node, _stdin: Stream) -> Stream:
        words: list[Word] = []
        self._note_own(node)
        for child in node.named_children:
            if any(word.text[:1] == "-" and "n" in word.text for word in words) and not text_of(node).startswith(
                "export"
            ):
                name, _, target = text_of(child).partition("=")
                self.names[name] = target.strip("\"'")
            elif child.type == "variable_assignment":
                self._set(child)
                words.append(Word(text_of(child), text_of(child)))
            else:
                for each in expand.expand(child, self.values):
                    name, sign, value = plain(each).partition("=")
                    if sign and name.isidentifier():
                        self._declare(name, [value])
                    words.append(self.unknowns.word(each))
        self.evaluate(words)
        self._tell(Word(text_of(node.children[0]), ""), words, (), (), NOTHING, ())
        return Stream("")

    def _note_own(self, node: Node) -> None:
        """The variables that a called function declares for itself."""
        names = [text_of(child).partition("=")[0].removesuffix("+") for child in node.named_children]
        is_global = any(name.startswith("-") and "g" in name for name in names)
        if self.scope.calls and node.children[0].type in ("local", "declare", "typeset") and not is_global:
            for name in names:
                self.locals.setdefault(name, self.scope.variables.get(name))

    def _run_unset_command(self, node: Node, _stdin: Stream) -> Stream:
        for child in node.named_children:
            self.evaluate([self.unknowns.word(each) for each in expand.expand(child, self.values)])
            self.scope.variables[text_of(child)] = ("",)
        return Stream("")

    def _run_redirected_statement(self, node: Node, stdin: Stream) -> Stream:
        body = node.child_by_field_name("body")
        nodes = [child for child in node.named_children if body is None or child.id != body.id]
        return self._redirected(body, nodes, stdin)

    def _redirected(self, body: Node | None, nodes: Sequence[Node], stdin: Stream) -> Stream:
        if body is not None:
            self.visited[body.id] = body
        if body is not None and body.type in ("pipeline", "list") and len(body.named_children) > 1:
            return self._ends_in(body, nodes, stdin)
        redirections, given, after = self._redirections(nodes)
        stdin = given if given is not None else stdin
        if body is None:
            self._tell(Word("", ""), (), redirections, (), Stream(""), ())
            out = Stream("")
        elif body.type == "command":
            out = self._command(body, stdin, redirections, [word for node in nodes for word in _words_behind(node)])
        else:
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
            out = self.run(body, self._input("", (), redirections, stdin))
        self._keep(redirections, out)
        for each in after:
            self.run(each, out if each.type in ("pipeline", "process_substitution") else NOTHING)
        return out

    def _ends_in(self, body: Node, nodes: Sequence[Node], stdin: Stream) -> Stream:
        """A pipe or list whose last command is redirected."""
        *first, last = body.named_children
        self.visited[last.id] = last
        stream = stdin
        for child in first:
            out = self.run(child, stream)
            stream = Stream(out.text, together(stream.origins, out.origins)) if body.type == "pipeline" else stdin
        inner = last.child_by_field_name("body") if last.type == "redirected_statement" else last
        own = (
            [child for child in last.named_children if inner is None or child.id != inner.id]
            if inner is not last
            else []
        )
        return self._redirected(inner, [*own, *nodes], stream)

    def _redirections(self, nodes: Sequence[Node]) -> tuple[tuple[Redirection, ...], Stream | None, list[Node]]:
        """The named files, the text of a here-document, and statements that the grammar puts below one."""
        found: list[Redirection] = []
        given: Stream | None = None
        after: list[Node] = []
        for node in nodes:
            last = _last_of(node)
            what: Stream | None = None
            if node.type == "heredoc_redirect":
                what, more, later = self._here(node)
                found.extend(more)
                after += later
            elif last.type == "process_substitution" and text_of(last)[:1] == ">":
                after.append(last)
            else:
                what = self._read_from(node, last)
                found.extend(self._file_redirect(node) if what is None and node.type == "file_redirect" else ())
            descriptor = next((text_of(child) for child in node.children if child.type == "file_descriptor"), "0")
            if what is not None and descriptor != "0":
                self._put(f"/dev/fd/{descriptor}", what)
            elif what is not None:
                given = what
        return tuple(found), given, after

    def _here(self, node: Node) -> tuple[Stream, tuple[Redirection, ...], list[Node]]:
        """What a here-document gives to read, and the redirections and statements that the grammar puts below it."""
        inner = [child for child in node.named_children if child.type not in HERE_PARTS]
        text = self._here_document(node)
        found, other, later = self._redirections([child for child in inner if child.type in REDIRECTS])
        after = [child for child in inner if child.type in STATEMENTS]
        return Stream(text) if other is None else other, found, [*after, *later]

    def _read_from(self, node: Node, last: Node) -> Stream | None:
        """What one redirection gives to read, if that is not a file. (The grammar may take `3<<<` for one.)"""
        if node.type == "herestring_redirect" or "<<<" in text_of(node):
            words = expand.one(last, self.values)
            return Stream("\n".join(plain(each) for each in words) + "\n", self.unknowns.word(words[0]).origins)
        if last.type == "process_substitution":
            return Stream(*self._substituted(last))
        return self.scope.files.get(f"/dev/fd/{text_of(last)}") if last.type == "number" else None

    def _file_redirect(self, node: Node) -> list[Redirection]:
        """The named file. (The grammar also includes words after it; see `_words_behind`.)"""
        sign = "".join(text_of(child) for child in node.children if not child.is_named or child.type == "ERROR").strip()
        named = [child for child in node.named_children if child.type not in ("file_descriptor", "ERROR")]
        if not named:
            return []
        target = named[0]
        if target.type == "number" and "&" in sign:
            return []
        words = [self.unknowns.word(each) for each in expand.one(target, self.values)]
        return [Redirection(sign, word) for word in words if word.text not in ("-", "")]

    def _here_document(self, node: Node) -> str:
        start = next((text_of(child) for child in node.children if child.type == "heredoc_start"), "")
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        if body is None:
            return ""
        if start[:1] in ("'", '"', "\\"):
            text = text_of(body)
        else:
            text = plain(expand._pieces(body, self.values, quoted=True)[0])
            for inner in re.findall(r"(?<!\\)`((?:[^`\\]|\\.)*)`", text_of(body), re.DOTALL):
                self._apart(lambda inner=inner: self.line(inner, self.scope))  # type: ignore[misc]
        return (
            re.sub(r"^\t+", "", text, flags=re.MULTILINE)
            if any(child.type == "<<-" for child in node.children)
            else text
        )

    def _run_command(self, node: Node, stdin: Stream) -> Stream:
        return self._command(node, stdin, (), ())

    def _parts(self, nodes: Sequence[Node]) -> tuple[list[Word], list[tuple[str, str]], list[Node]]:
        """The words of a command, the variables that it sets, and its redirections."""
        words: list[Word] = []
        set_: list[tuple[str, str]] = []
        own: list[Node] = []
        for child, *more_of_it in _touching(nodes):
            kind = child.type
            if kind == "variable_assignment":
                rest = [plain(each) for each in expand.joint(more_of_it, self.values)[:1]] if more_of_it else []
                set_.append((text_of(child).partition("=")[0], "".join([*self._value_of(child)[:1], *rest])))
            elif kind in REDIRECTS:
                own.append(child)
            elif kind != "comment":
                found = (
                    expand.joint([child, *more_of_it], self.values) if more_of_it else expand.expand(child, self.values)
                )
                made = [self.unknowns.word(each) for each in found]
                words += self._one_program(made) if kind == "command_name" and len(made) > 1 else made
        return words, set_, own

    def _command(
        self, node: Node, stdin: Stream, redirections: tuple[Redirection, ...], behind: Sequence[Node]
    ) -> Stream:
        words, set_, own = self._parts((*node.named_children, *behind))
        more, given, after = self._redirections(own) if own else ((), None, [])
        stdin = given if given is not None else stdin
        redirections = (*more, *redirections)
        if not words or (len(words) == 1 and not words[0].text):
            for name, value in set_:
                self._declare(name, [value])
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
            return Stream("")
        out = self.command(words, redirections, tuple(set_), stdin)
        if more:
            self._keep(more, out)
        for each in after:
            self.run(each, out)
        return out

    def _one_program(self, made: list[Word]) -> list[Word]:
        """`${X:-bash}` is either of two programs, and the one that is known counts; the other is not its argument."""
        known = [word for word in made if word.known or "${" not in word.source]
        if known and len(known) < len(made):
            self.unknown.append(f"program from {next(word.source for word in made if word not in known)}")
            return known
        return made

    def _set(self, node: Node) -> None:
        name = text_of(node.named_children[0]) if node.named_children else ""
        values = self._value_of(node)
        if any(child.type == "+=" for child in node.children):
            before = self.scope.variables.get(name, ("",))
            is_list = any(child.type == "array" for child in node.children)
            values = [*before, *values] if is_list else [old + new for old in before for new in values]
        self._declare(name.partition("[")[0], values)

    def _value_of(self, node: Node) -> list[str]:
        children = node.named_children[1:]
        if not children:
            return [""]
        if children[0].type == "array":
            return [plain(each) for child in children[0].named_children for each in expand.expand(child, self.values)]
        return [plain(each) for each in expand.one(children[0], self.values)]

    def _substituted(self, node: Node, stdin: Stream = NOTHING) -> tuple[str | None, tuple[Program, ...]]:
        """Runs what is in `$(…)`, `` `…` `` or `<(…)`; returns its output if that is known."""
        self.visited[node.id] = node
        start = len(self.programs)
        out = self._apart(lambda: self._all([child for child in node.named_children if child.type != "comment"], stdin))
        origins = out.origins or tuple(self.programs[start:])
        if len(node.named_children) == 1 and node.named_children[0].type == "file_redirect":  # $(< file)
            target = self._file_redirect(node.named_children[0])
            origins = (self._tell(Word("cat", "cat"), [each.target for each in target], (), (), NOTHING, ()),)
        return out.text, origins


def _no_sources(_program: Program) -> tuple[()]:
    return ()


def _fetched(program: Program, row: ProgramRow) -> list[str]:
    """The files that a program downloads to: those that it is told, or with the names of the addresses."""
    texts, options = [word.text for word in program.words], row.fetch_to.split()
    named = [texts[place + 1] for place, text in enumerate(texts[:-1]) if text in options or _bundles(text, options[0])]
    if named or not (row.special == "wget" or any(_bundles(text, "-O") or text == "--remote-name" for text in texts)):
        return named
    urls = [text for text in texts if "/" in text and not text.startswith("-")]
    return [url.rstrip("/").rpartition("/")[2].partition("?")[0] for url in urls]


def _bundles(text: str, option: str) -> bool:
    """Whether short options in one word end in this one: `-fsSLo`."""
    return text.startswith("-") and not text.startswith("--") and text.endswith(option[1:]) and len(option) == 2


def is_evaluated(text: str) -> bool:
    """Whether a subscript in a value has a substitution."""
    found = SUBSCRIPT.search(text)
    return found is not None and found.end() <= max(text.rfind("$("), text.rfind("`")) < text.rfind("]")


def expanded(text: str) -> str:
    """A line that does nothing but expand a text."""
    return f": <<__END_OF_TEXT__\n{text}\n__END_OF_TEXT__\n"


def plain(marked: str) -> str:
    """A word without the marks of what was quoted."""
    return marked.translate(expand.PLAIN)


def _name_of(program: Word) -> str:
    """A program's base name; "" if only running the line would show it. A disk that does not tell cases apart runs `rm`
    as `RM`."""
    name = program.text.rpartition("/")[2].removeprefix("=") if program.known else ""
    low = name.lower()
    return low if low in PROGRAMS and name not in PROGRAMS else name


def _quoted(node: Node) -> Iterator[Node]:
    """The quoted texts in a node."""
    for child in node.named_children:
        if child.type in ("raw_string", "ansi_c_string", "string"):
            yield child
        else:
            yield from _quoted(child)


def _readable(word: Word) -> bool:
    """Whether enough of a line is known to read it: more than one expansion."""
    return bool(word.text.replace(UNKNOWN, "").strip())


def _is_handed(name: str, word: Word) -> bool:
    """Whether a word passes other programs' output to a program to read or to run, not only as a name."""
    row = row_of(name)
    if word.source.startswith(("<(", ">(")) or row.state == "eval":
        return True
    return bool(row.language) and (row.language != "sh" or row.runs == "shell")


CODE_SIGNS = frozenset("('\"")
"""Signs of code, and not of the name of a script."""


def _code_and_script(rest: Sequence[Word], row: ProgramRow) -> tuple[list[str], Word | None]:
    """The code on the command line of an interpreter, or its script."""
    texts: list[str] = []
    for place, word in enumerate(rest):
        text = word.text
        if text in STDIN:
            break
        if row.language == "other" and not CODE_SIGNS.isdisjoint(text):
            texts.append(word.source)
            continue
        at = _code_letter(text, row)
        if at == len(text) or text in ("--eval", "--print", "eval"):
            texts += [each.source for each in rest[place + 1 : place + 2]]
        elif at:
            texts.append(word.source[at:])
        elif not text.startswith("-") and not texts:
            return [], word
    return texts, None


def _code_letter(text: str, row: ProgramRow) -> int:
    """Where code begins in a word of short options, `-we'CODE'`: its end if the next word is the code, 0 if it has
    none."""
    if not row.code_by or text[:1] != "-" or text[:2] == "--":
        return 0
    letters, _, _ = row.values.partition(" ")
    for at, letter in enumerate(text[1:], 1):
        if letter in row.code_by:
            return len(text) if set(text[at:]) <= set(row.code_by) else at + 1
        if letter in letters or (letter == "i" and row.special == "in_place"):
            break
    return 0


def _reads_code(rest: Sequence[Word]) -> bool:
    """Whether an interpreter takes its program from its input or from a substitution."""
    named = [word for word in rest if not word.text.startswith("-")]
    return not named or any(word.origins for word in rest) or rest[0].text in ("-s", "-")


# What the commands of a shell change in it.


def _cd(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    named = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
    homes = [shell.unknowns.word(each) for each in shell._lookup("HOME") or (shell.home,)]
    shell.scope.cwd = shell._moved(named[0] if named else homes[-1])


def _popd(shell: LineReader, _words: Sequence[Word], _stdin: Stream) -> None:
    shell.scope.cwd = None


def _eval(shell: LineReader, words: Sequence[Word], stdin: Stream) -> None:
    joined = Word(" ".join(word.text for word in words[1:]), " ".join(word.source for word in words[1:]))
    if not joined.known:
        shell.unknown.append(f"code from eval of {joined.source[:80]}")
    if _readable(joined):
        shell._via("eval", lambda: shell._text(joined, stdin))


def _trap(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    given = words[2:] if words[1:] and words[1].text == "--" else words[1:]
    if len(given) > 1 and given[0].text not in ("-", "-p", "-l"):
        shell.traps.append(given[0])
        if not {"EXIT", "0"}.issuperset([word.text for word in given[1:]]):  # it may run earlier, too
            shell._via("trap", lambda: shell._text(given[0], NOTHING))


def _read(shell: LineReader, words: Sequence[Word], stdin: Stream) -> None:
    shell.evaluate(words[1:])
    given = [*dict.fromkeys(((stdin.text or "").strip("\n"), *(stdin.text or "").split()))] if stdin.text else []
    named = producers_words(stdin.origins) if stdin.origins else []
    if named and all(each.known for each in named):
        given = given or [each.text for each in named]
    for word in words[1:]:
        if word.text.isidentifier():
            shell._assign(word.text, given or [shell.unknowns.sign(f"${word.text}", stdin.origins)])


def _link(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    """Remembers a link, or a copy: of a program by its name, of any other file as what `cat` would print."""
    named = [word for word in words[1:] if not word.text.startswith("-")]
    if len(named) != 2 or not named[1].known:
        return
    path = shell._absolute(named[1].text)
    shell._put(path, shell._behind(named[0]) or shell._printed(named[0]))
    if not named[0].text.startswith("/"):
        return
    if row_of(_name_of(words[0])).links or PROGRAM_FOLDER.match(named[0].text):
        shell.scope.links[path] = named[0].text


def _hash(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    if len(words) > 3 and words[1].text == "-p":
        shell.scope.functions[words[3].text] = words[2].text


def _alias(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    for word in words[1:]:
        key, sign, value = word.text.partition("=")
        if sign:
            shell.scope.functions[key] = value


def _printf(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    if len(words) > 3 and words[1].text == "-v":
        shell.evaluate(words[2:3])
        name, given = words[2].text, words[3:]
        program = Program("printf", tuple(word.text for word in given), tuple(given))
        out = output_of(program, shell.scope.cwd, shell._file)
        origins = tuple(origin for word in given for origin in word.origins)
        shell._assign(name, [out if out is not None else shell.unknowns.sign(f"${name}", origins)])


def _set_options(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    texts = [word.text for word in words]
    if "--" in texts:
        shell._number([shell._marked(word) for word in words[texts.index("--") + 1 :]])


def _shift(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    if "@" in shell.scope.variables:
        by = int(words[1].text) if words[1:] and words[1].text.isdigit() else 1
        shell._number(shell.scope.variables["@"][by:])


def _mapfile(shell: LineReader, words: Sequence[Word], stdin: Stream) -> None:
    """Lines into an array; `-C LINE` is run for some of them."""
    options = sort_options(words[1:], row_of("mapfile").values)
    _run_values(shell, "mapfile", options.values("-C"))
    shell.evaluate(options.rest)
    given = stdin.text.splitlines() if stdin.text is not None else []
    for word in options.rest[-1:]:
        shell._assign(word.text, given or [shell.unknowns.sign(f"${word.text}", stdin.origins)])


def _run_values(shell: LineReader, label: str, lines: Sequence[Word]) -> None:
    for line in lines:
        shell._via(label, lambda line=line: shell._text(line, NOTHING))  # type: ignore[misc]


def _complete(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    """`-C LINE` and the words of `-W` are run when somebody completes a word, at the latest."""
    options = sort_options(words[1:], row_of("complete").values)
    _run_values(shell, "complete", options.values("-C"))
    for word in options.values("-W"):
        shell.prompt(word.text)


def _enable(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    for word in sort_options(words[1:], row_of("enable").values).values("-f"):
        shell.unknown.append(f"code from {word.source}")


def _bind(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    """`-x 'KEYS: LINE'` runs a line; what other keys type is not known."""
    options = sort_options(words[1:], row_of("bind").values)
    given = options.values("-x")
    _run_values(shell, "bind", [Word(each.text.partition(":")[2], each.source.partition(":")[2]) for each in given])
    if options.rest or options.has("-f"):
        shell.unknown.append(f"code from keys, `{' '.join(word.source for word in words)[:60]}`")


def _fc(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    """It runs commands of the history, after an editor has seen them."""
    options = sort_options(words[1:], row_of("fc").values)
    _run_values(shell, "fc", options.values("-e"))
    if not options.has("-l"):
        shell.unknown.append("code from the history")


def _evaluate(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    shell.evaluate(words[1:])


def _declare(shell: LineReader, words: Sequence[Word], _stdin: Stream) -> None:
    for word in words[1:]:
        key, sign, value = word.text.partition("=")
        if sign:
            shell._declare(key, [value])


def _build(shell: LineReader, words: Sequence[Word], stdin: Stream) -> None:
    """Remembers of which sources a program is made: it has the name of an option, of a source, or `a.out`."""
    options = sort_options(words[1:], row_of(_name_of(words[0])).values)
    sources = [word for word in options.rest if word.known]
    outs = [word.text for word in options.values("-o", "--out", "-o-path")]
    outs = outs or ["a.out", *(os.path.splitext(word.text)[0] for word in sources)]
    if stdin.text is not None:
        sources.append(Word(f"{outs[0]}.c", f"{outs[0]}.c"))
        shell._put(shell._absolute(sources[-1].text), stdin)
    for out in outs:
        shell._put(shell._absolute(out), Stream(None, tuple(shell._printed(word).origins[0] for word in sources)))


STATES: dict[State, Callable[[LineReader, Sequence[Word], Stream], None]] = {
    "cd": _cd, "popd": _popd, "eval": _eval, "trap": _trap, "read": _read, "link": _link, "hash": _hash,
    "alias": _alias, "printf": _printf, "set": _set_options, "shift": _shift, "declare": _declare,
    "mapfile": _mapfile, "complete": _complete, "enable": _enable, "bind": _bind, "fc": _fc, "evaluate": _evaluate,
    "build": _build,
}  # fmt: skip


def _tree_of(text: str) -> Node:
    from anyhook.programs.respelled import understood  # most lines are plain, and need no tree

    return understood(text)


def _is_quoted(body: Node) -> bool:
    """Whether a here-document's text is literal."""
    start = next((each for each in (body.parent.children if body.parent else ()) if each.type == "heredoc_start"), None)
    return start is not None and text_of(start)[:1] in ("'", '"', "\\")


def _closing(text: bytes, start: int, opener: bytes) -> int:
    """Where a substitution ends; -1 if it does not."""
    depth = 1
    for found in re.finditer(rb"\\.|`" if opener == b"`" else rb"\\.|'[^']*'|[()]", text[start:], re.DOTALL):
        depth += {b"(": 1, b")": -1, b"`": -1}.get(found[0], 0)
        if depth == 0:
            return start + found.start()
    return -1


def _touching(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes of a command, those in one list that touch: the grammar splits some words that a shell does not."""
    found: list[list[Node]] = []
    apart = ("comment", *REDIRECTS)
    for node in nodes:
        last = found[-1][-1] if found else None
        if last is not None and last.end_byte == node.start_byte and last.type not in apart and node.type not in apart:
            found[-1].append(node)
        else:
            found.append([node])
    return found


def _last_of(node: Node) -> Node:
    """Its last part; itself if it has none, as in lines that the grammar does not understand."""
    return node.named_children[-1] if node.named_children else node


def plain_words(text: str) -> list[str]:
    """The words of a line that is one simple command with nothing to expand: the grammar, which takes a tenth of a call
    that no server answers to load, would say the same. Empty for every other line."""
    words = [] if text.strip(f"{expand.LITERAL} ") else text.split()
    return [] if not words or words[0] in RESERVED or "=" in words[0] else words


def _words_behind(node: Node) -> list[Node]:
    """The arguments of a command after a redirection, which the grammar puts below it."""
    if node.type == "file_redirect":
        named = [child for child in node.named_children if child.type not in ("file_descriptor", "ERROR")]
        following = node.next_sibling
        is_stream = following is not None and following.type in REDIRECTS and named and named[-1].type == "number"
        if is_stream and following is not None and following.start_byte == named[-1].end_byte:
            named = named[:-1]  # the `0` of `>& a 0>&1`
        return named[1:]
    if node.type != "heredoc_redirect":
        return []
    return [
        word
        for child in node.named_children
        for word in ([child] if child.type not in (*HERE_PARTS, *REDIRECTS, *STATEMENTS) else _words_behind(child))
    ]


def _is_list(node: Node) -> bool:
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
    return body is not None and body.type == "list"


def _leaves(node: Node) -> bool:
    """Whether what follows `||` exits or does nothing, so that the left side's folder stays."""
    return text_of(node).split(" ")[0] in ("exit", "return", "true", ":", "echo", "{")


def read_line(
    line: str, cwd: str | None, home: str, variables: Mapping[str, str] | None = None, *,
    file_params: Sequence[str] | None = None, max_steps: int = MAX_STEPS, sources: Sources | None = None,
    is_bash: bool = True, made: Made | None = None,
) -> ShellLine:  # fmt: skip
    """What a line would run, if that can be known. It never raises. `file_params`: it is a file, and these are `$0`,
    `$1` …; `sources` gives the files that a program reads into the shell; `made` has those that were made before.
    Unless `is_bash`, what the grammar does not understand is read without one."""
    text = line.replace("\0", "")
    text = text if text.isascii() else STRANGE.sub("\ufffd", text)
    given = dict(zip(variables, zip(variables.values(), strict=True), strict=True)) if variables else {}
    scope = Scope(cwd, {"HOME": (home,), "IFS": (" ",), **given})
    reader = LineReader(home)
    reader.max_steps, reader.is_file, reader.is_bash = max_steps, file_params is not None, is_bash
    reader.max_size = MAX_SIZE + MAX_TIMES * len(text)
    reader.sources = sources or _no_sources
    reader.made = Made() if made is None else made
    for place, value in enumerate(file_params or ()):
        scope.variables[str(place)] = (value,)
    if file_params:
        scope.variables["@"] = scope.variables["*"] = tuple(file_params[1:])
    try:
        if len(text) > MAX_LINE:
            raise UnreadError(f"the line is longer than {MAX_LINE} characters")
        reader.line(text, scope)
    except UnreadError as error:
        reader.give_up(str(error))
    except RecursionError:
        reader.give_up(TOO_DEEP)
    unread = tuple(dict.fromkeys(reader.unread))
    unknown = tuple(dict.fromkeys([*reader.unknown, *unread]))
    return ShellLine(
        tuple(reader.programs), unknown, scope.cwd, unread, tuple(reader.assigned), reader.steps, tuple(reader.of_files)
    )
