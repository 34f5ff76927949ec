"""What one program does: what its row says, shell lines and files in its own language, patches, and functions for
programs whose arguments need one."""

from __future__ import annotations

from anyhook.model.pattern import cached, later, re
from anyhook.platform.places import head as first_bytes
from anyhook.programs.effects import URL, below, by_table, copied, is_address, is_stream
from anyhook.programs.found import found_files, search_roots
from anyhook.programs.git import changed_paths, cleans, operation_of, read_paths, remotes
from anyhook.programs.links import look_at_links
from anyhook.programs.options import SortedOptions, look_at_outputs, option_values, sort_options
from anyhook.programs.paths import STREAMS, resolve
from anyhook.programs.program import Program, Word
from anyhook.programs.scripts import inputs, texts_at
from anyhook.programs.secrets import kind_of_path
from anyhook.programs.table import row_of
from anyhook.programs.trees import copied_between, dashed, look_at_trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.programs.collect import Collector
    from anyhook.programs.facts import GitOperation
    from anyhook.programs.rows import Escape, OwnFiles, ProgramRow, Special

LINE = later(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)

DIFF = later(r"^--- (\S+)[^\n]*\n\+\+\+ (\S+)", re.MULTILINE)


def patched(text: str) -> list[tuple[str, str]]:
    """`write` or `delete`, and the path as it is written. What is deleted and added again is written."""
    found: list[tuple[str, str]] = []
    for kind, path, target in LINE.findall(text):
        if kind == "Delete":
            found.append(("delete", path))
        else:
            found.append(("write", path or target))
    for old, new in DIFF.findall(text):
        is_gone = new == "/dev/null"
        found.append(("delete", old.removeprefix("a/")) if is_gone else ("write", new.removeprefix("b/")))
    return [each for each in found if each[0] == "write" or ("write", each[1]) not in found]


# Files in the languages of database clients and editors: `sqlite3 X '.output FILE'`, `psql -c '\o FILE'`, `emacs
# --eval '(delete-file "FILE")'`; and whether a client of a database in a file only looks at it.


NAMED = r"""(?:"([^"\n]+)"|'([^'\n]+)'|([^\s'";|][^\s;]*))"""

ELISP = r'"((?:[^"\\]|\\.)+)"'

FILES: dict[OwnFiles, tuple[tuple[str, str], ...]] = {
    "sqlite": (
        ("write", r"(?im)^\s*\.(?:output|once|log|backup|save|excel|trace|clone)(?:\s+-\w+)*(?:\s+(?:main|temp)(?=\s))?"
            rf"\s+(?!(?:stdout|stderr|off)\b){NAMED}|\b(?:vacuum(?:\s+\w+)?\s+into|copy\b[^;]*?\bto)\s*'([^']+)'"
            r"|\bwritefile\s*\(\s*'([^']+)'"),
        ("read", rf"(?im)^\s*\.(?:read|restore|import)(?:\s+-\w+)*\s+{NAMED}|\breadfile\s*\(\s*'([^']+)'"),
    ),
    "psql": (
        ("write", rf"(?i)\\(?:o|out|g|gx|w|write)\s+{NAMED}|\\copy\b[^\n]*?\bto\s+(?!stdout|program){NAMED}"),
        ("read", rf"(?i)\\(?:i|include|ir)\s+{NAMED}|\\copy\b[^\n]*?\bfrom\s+(?!stdin|program){NAMED}"),
    ),
    "mysql": (
        ("write", rf"(?im)(?:\\T|^\s*tee)\s+{NAMED}|\binto\s+(?:out|dump)file\s+'([^']+)'"),
        ("read", rf"(?im)(?:\\\.|^\s*source)\s+{NAMED}"),
    ),
    "emacs": (
        ("delete", rf"\((?:delete-file|delete-directory|rename-file)\s+{ELISP}"),
        ("write", rf"\((?:write-file|set-visited-file-name|make-symbolic-link\s+{ELISP}|copy-file\s+{ELISP}"
            rf"|rename-file\s+{ELISP}|(?:write-region|append-to-file)\s+(?:{ELISP}|\S+)\s+\S+)\s+{ELISP}"),
    ),
}  # fmt: skip
"""Where the language of some programs names a file, and what happens to it."""


@cached
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled on first use: most calls need none of these."""
    return re.compile(pattern)


def look_at_files(program: Program, row: ProgramRow, into: Collector) -> None:
    """Adds the files that a program is told about in its own language."""
    if not row.own_files or program.remote:
        return
    for text in (*program.args, program.stdin or ""):
        for action, pattern in FILES[row.own_files]:
            for found in _compiled(pattern).finditer(text.removeprefix("--eval=")):
                named = [group for group in found.groups() if group]
                into.note(action, named[-1], program.cwd)


LOOKING = (
    r"(?is)(?:select\b|explain\b|values\b|pragma\s+\w+(?:\s*\(\s*'?\w+'?\s*\))?$|with\b(?!.*\b(?:insert|update|delete)\b)"
    r"|\.(?:tables|schema|fullschema|index(?:es)?|indices|databases|dump|mode|headers?|width|stats|show|help|print|separator"
    r"|nullvalue|timer|quit|exit|output|once)\b|--|$)"
)

"""How a statement begins that changes nothing in the database itself."""


def _database(program: Program, row: ProgramRow, into: Collector) -> None:
    """A client with a database in a file: it writes there, unless all that it is told only looks."""
    told = sort_options(program.words, row.values).rest[1:]
    texts = [*(word.text for word in told), *([] if program.stdin is None else [program.stdin])]
    is_told = bool(texts) and all(word.known for word in told) and not {"-init", "-cmd"} & {*program.args}
    looks = is_told and all(_compiled(LOOKING).match(each.strip()) for text in texts for each in _statements(text))
    by_table(program, row.replace(writes="") if looks or "-readonly" in program.args else row, into)


def _statements(text: str) -> list[str]:
    lines = text.strip().split("\n")
    commands = [line for line in lines if line.lstrip().startswith(".")]
    return [*commands, *"\n".join(line for line in lines if line not in commands).split(";")]


# Shell lines inside the languages of editors, database clients, debuggers and build tools: `vim -c '!LINE'`, `psql -c
# '\! LINE'`, `sqlite3 X '.shell LINE'`, the recipes of a makefile on the input.


STRING = r"\s*\(?\s*[\"']((?:[^\"'\\]|\\.)+)[\"']"

COMMAND = r"^(?:-c|\+)?[\s:]*(?:sil(?:ent)?!?[\s:]*)*"

"""The start of a command of an editor: alone, after `+`, or glued to its option."""

BANG = r"^\s*!\s*(.+)"
SSH = r"(?:^-o)?(?:Proxy|Local|KnownHosts)Command[= ]\s*(.+)"

ESCAPES: dict[Escape, str] = {
    "editor": rf"(?m){COMMAND}(?:r(?:ead)?\s*|w(?:rite)?\s+|[%$.,\d]+\s*)?!(.+)"
    rf"|{COMMAND}term(?:inal)?\s+(?:\+\+\S+\s+)*(?![\"'(])(.+)"
    rf"|\bexe(?:cute)?\s*[\"']:?!(.+?)[\"']|\b(?:system|systemlist|term(?:inal)?|os\.execute|io\.popen){STRING}",
    "psql": r"(?i)\\!\s*(.+)|\bprogram\s+'([^']+)'",
    "mysql": r"(?m)(?:\\!|(?:^|;)\s*system)\s+([^;\n]+)",
    "sqlite": r"(?m)^\s*\.(?:shell|system)\s+(.+)",
    "debugger": rf"(?m)^\s*(?:shell\s+|!|platform shell\s+)(.+)|\bsystem{STRING}",
    "bang": rf"(?m){BANG}",
    # `+!LINE`, also after other commands; `+|xLINE` pipes the text up to a mark.
    "pager": r"(?s)\A\+.*?(?:!|\|.)(.+)",
    "ssh": rf"(?i){SSH}",
    "sftp": rf"(?mi){BANG}|{SSH}",
    "tar": r"^--checkpoint-action=exec=(.+)",
    "socat": r"(?i)(?:^|,)(?:exec|system|shell):\"?([^,\"]+)",
    "finder": r"\b(?:execute(?:-silent)?|become|reload(?:-sync)?)\((.+?)\)(?:\+|,|$)|^--preview=(.+)",
    "apt": r"Invoke[^=]*=(.+)",
    "git": r"^ext::(.+)",
    "tcl": r"(?:\b|\A-c)(?:exec|spawn|system)\s+(?:--?\w*\s+)*(.+?)\]?\s*(?:[;}\n]|$)"
    r"|\bsend\s+(?:--?\w*\s+)*[\"{](.+?)(?:\\[rn])*[\"}]",
    "scripts": r"^scripts\.[^=]+=(.+)",
    "called": rf"\b(?:system2?|exec|popen|shell_exec|shell-command(?:-to-string)?|call-process|unix|dos){STRING}",
    "julia": r"\brun\(\s*`([^`]+)`",
    "make": r"(?m)^(?:\t|[^\s#:=][^#:=]*::?[^=;]*;)[ \t]*[@+-]*(.+)|\$\(shell\s+(.+?)\)|^SHELL=(.+)",
}
"""Patterns that find shell lines in a program's own language."""

NO_CODE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-"
"""A text of these signs alone holds no such line."""
PREFIX = r"--(?:eval|eval-command|init-eval-command|command|cmd|execute|expression|one-line)="


def look_at_escapes(program: Program, row: ProgramRow, into: Collector) -> None:
    """Add the facts of shell lines that a program runs from its own language."""
    if not row.escape and not row.line_by:
        return
    args = program.args
    for name, value in program.set:
        if name == row.arguments_in:
            args = (*_own_words(value), *args)
    for option in row.line_by.split():
        elsewhere = program.replace(remote=True) if option.endswith("-path") else program
        for line in option_values(args, [option]):
            if line.split()[:1] != ["ssh"]:  # how it connects, which its own facts say
                into.line(line, elsewhere)
    if not row.escape:
        return
    for text in (*args, program.stdin or ""):
        if not text.strip(NO_CODE):
            continue
        for found in _compiled(ESCAPES[row.escape]).findall(_compiled(PREFIX).sub("", text, count=1)):
            into.line("".join(found).replace("% ", " "), program)


def _own_words(value: str) -> tuple[str, ...]:
    """The arguments in a variable: those with blanks are not split, because a line may follow."""
    return tuple(value.split()) if not value.startswith("+") else (value,)


# Programs whose arguments need more than a table.


MAKES_EXECUTABLE = later(r"[ugoa]*[+=][rwst]*[xX]")


def _git(program: Program, _row: ProgramRow, into: Collector) -> None:
    found = operation_of(program)
    if found is None:
        return
    operation, options = found
    into.git.append(operation)
    for address in remotes(operation):
        into.connect(address)
    if program.remote:
        return
    writes, deletes = changed_paths(operation)
    cwd = operation.folder or program.cwd
    for path in read_paths(operation):
        into.read(Word(path, path), cwd)
    for path in writes:
        into.write(Word(path, path), cwd)
    for path in deletes:
        into.delete(Word(path, path), cwd)
    if cleans(operation):
        into.cleans.append(resolve(".", cwd))
    if operation.verb in ("apply", "am"):
        _git_patch(program, operation, options, into)


def _git_patch(program: Program, operation: GitOperation, options: SortedOptions, into: Collector) -> None:
    """The files in a patch that git applies."""
    cwd = operation.folder or program.cwd
    folder = options.values("--directory")
    base = resolve(folder[0], cwd) if folder else cwd
    for action, path in patched(program.stdin or ""):
        into.note(action, path, base)
    for word in folder:
        into.write(Word(f"{word.text}/**", f"{word.source}/**", True), cwd)
    for word in options.values("--include"):
        into.write(Word(word.text, word.source, True), base)


def _dd(program: Program, _row: ProgramRow, into: Collector) -> None:
    for word in program.words:
        key, sign, value = word.text.partition("=")
        named = Word(value, word.source.partition("=")[2])
        if sign and not program.remote and not is_stream(named):
            if key == "of":
                into.write(named, program.cwd)
                if any(word.text in ("if=/dev/zero", "if=/dev/null", "if=/dev/urandom") for word in program.words):
                    into.empty(named, program.cwd)
            elif key == "if":
                into.read(named, program.cwd)


def _tar(program: Program, row: ProgramRow, into: Collector) -> None:
    if program.remote:
        return
    options = sort_options(dashed(program.words), row.values)
    archive, folder = options.values("-f", "--file"), options.values("-C", "--directory")
    is_unpacked, is_listed = options.has("-x", "--extract", "--get"), options.has("-t", "--list")
    if is_unpacked or is_listed:
        for word in archive:
            into.read(word, program.cwd)
        for word in options.rest if is_unpacked and not options.has("-O", "--to-stdout") else ():
            into.write(below(folder, word), program.cwd)
        return
    for word in archive:
        if not is_stream(word):
            into.write(word, program.cwd)
    base = resolve(folder[0], program.cwd) if folder else program.cwd
    for word in options.rest:
        into.read(word, base)
        if options.has("--remove-files"):
            into.delete(word, base)


def _deletes(texts: list[str]) -> bool:
    """Whether `find` deletes what it finds, unless that is empty anyway."""
    return texts.count("-delete") > texts.count("-empty")


def _find(program: Program, _row: ProgramRow, into: Collector) -> None:
    if program.remote:
        return
    roots = search_roots((Word("find", "find"), *program.words))
    texts = [word.text for word in program.words]
    for found in found_files((Word("find", "find"), *program.words)) if _deletes(texts) else ():
        into.delete(found, program.cwd)
    for root in roots:
        into.read(root, program.cwd, lists=True)
    for place, text in enumerate(texts[:-1]):
        if text in ("-fprint", "-fprintf", "-fls", "-fprint0"):
            into.write(program.words[place + 1], program.cwd)


def _chmod(program: Program, _row: ProgramRow, into: Collector) -> None:
    if program.remote:
        return
    words = [
        word
        for word in program.words
        if not re.fullmatch(r"-[Rcfv]+|--(recursive|silent|quiet|changes|verbose|reference=.*)", word.text)
    ]
    if not words:
        return
    for word in words[1:]:
        into.change(word, program.cwd)
        if (
            MAKES_EXECUTABLE.search(words[0].text)
            if not words[0].text.isdigit()
            else any(digit in "1357" for digit in words[0].text[-3:])
        ):
            into.make_executable(word, program.cwd)


def _curl(program: Program, row: ProgramRow, into: Collector) -> None:
    options = sort_options(program.words, row.values)
    by_table(program, row, into)
    for word in options.values("--url"):
        into.connect(word.source)
    if program.remote:
        return
    for word in options.rest:
        if word.text.startswith("file://"):
            into.read(word, program.cwd)
    for name, value in options.named:
        if name in SENT and (path := _sent_file(name, value.text)):
            into.read(Word(path, path), program.cwd)
        for path in _outputs_in_config(program, value) if name in ("-K", "--config") else ():
            into.write(path, program.cwd)
    if options.has("-O", "--remote-name"):
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if name:
                into.write(below(options.values("--output-dir"), Word(name, name)), program.cwd)


SENT = ("-d", "--data", "--data-binary", "--data-ascii", "--json", "-F", "--form", "--data-urlencode")
"""Options of curl whose value may name a file to send."""


def _sent_file(option: str, text: str) -> str:
    _, sign, path = text.partition("@")
    is_file = text.startswith("@") or "=@" in text or option == "--data-urlencode"
    return path.partition(";")[0] if sign and is_file else ""


CONFIG_OUTPUT = (
    r"(?m)^\s*(?:-o|-?-?(?:output|dump-header|cookie-jar|trace|stderr|trace-ascii|etag-save))"
    r"""\s*[=:\s]\s*"?([^"\n]+?)"?\s*$"""
)

MAX_CONFIG_BYTES = 65_536


def _outputs_in_config(program: Program, named: Word) -> list[str]:
    """The files that a config of curl writes: from its input, or from a file that is there."""
    texts = [program.stdin or ""]
    for word in inputs(program) if named.text in STREAMS else (named,):
        if word.text and word.known:
            data = first_bytes(resolve(word, program.cwd), MAX_CONFIG_BYTES) or b""
            texts.append(data.decode("utf-8", "replace"))
    return _compiled(CONFIG_OUTPUT).findall("\n".join(texts))


def _split(program: Program, row: ProgramRow, into: Collector) -> None:
    """`split FILE PREFIX` and `csplit -f PREFIX`: files whose names begin with it."""
    by_table(program, row, into)
    options = sort_options(program.words, row.values)
    prefixes = options.values(*row.name_by.split()) if row.name_by else options.rest[1:2]
    for word in prefixes:
        if not program.remote:
            into.write(Word(f"{word.text}*", f"{word.source}*", True), program.cwd)


def _wget(program: Program, row: ProgramRow, into: Collector) -> None:
    by_table(program, row, into)
    options = sort_options(program.words, row.values)
    if not program.remote and not options.has("-O", "--output-document", "--spider"):
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if "/" in word.source.partition("://")[2] and name:
                into.write(below(options.values("-P", "--directory-prefix"), Word(name, name)), program.cwd)


def _socat(program: Program, _row: ProgramRow, into: Collector) -> None:
    for word in program.words:
        kind, sign, rest = word.source.partition(":")
        if (
            sign
            and kind.upper().startswith(("TCP", "UDP", "OPENSSL", "SSL", "SOCKS", "PROXY"))
            and "LISTEN" not in kind.upper()
        ):
            into.connect(rest.partition(",")[0])
        elif sign and kind.upper() in ("FILE", "OPEN", "CREATE"):
            into.write(Word(rest.partition(",")[0], rest.partition(",")[0]), program.cwd)


def _code_words(program: Program, row: ProgramRow) -> list[Word]:
    """The words of a program, and what is in the file that tells it what to do."""
    is_told = any(word.text in row.told_by.split() for word in program.words)
    return [*program.words, *([Word(program.stdin, program.stdin)] if is_told and program.stdin else [])]


def _awk(program: Program, row: ProgramRow, into: Collector) -> None:
    by_table(program, row, into)
    for word in _code_words(program, row):
        for path in re.findall(r">{1,2}\s*\"([^\"]+)\"", word.source):
            into.write(Word(path, path), program.cwd)
        for line in re.findall(r"\bprintf?\s*\(?\s*\"((?:[^\"\\]|\\.)*)\"\s*\|&?\s*\"(?:ba|z|da)?sh\"", word.source):
            into.line(line, program)
        if _compiled(r"system\(\s*\$0\s*\)|print(?:\s+\$0)?\s*\|\s*\"(?:ba|z|da)?sh\"").search(word.source):
            _run_input(program, into)
        for name, value, more in re.findall(r"system\(\s*(?:(\w+)\)|\"((?:[^\"\\]|\\.)*)\"([^)]*))", word.source):
            given = next((each.source for each in program.words if name and each.text.startswith(f"{name}=")), "")
            made = re.search(rf"\b{name}\s*=\s*\"((?:[^\"\\]|\\.)*)\"([^;}}]*)", word.source) if name else None
            made = made or re.match(r"\w+=(.*)()", given, re.DOTALL)
            line, rest = (made[1], made[2]) if made else (value, more)
            into.line(line.replace('\\"', '"') + (" $__unknown__" if rest.strip() else ""), program)
        for line in re.findall(r"\|\s*\"([^\"]+)\"|\"([^\"]+)\"\s*\|\s*getline", word.source):
            into.line("".join(line), program)


def _sed(program: Program, row: ProgramRow, into: Collector) -> None:
    by_table(program, row, into)
    for word in _code_words(program, row):
        for path in re.findall(r"(?m)(?:^|[;}/0-9$a-z]|\s)w\s+(/?[\w./~-]+)\s*$", word.source):
            into.write(Word(path, path), program.cwd)
        for line in re.findall(r"(?m)(?:^|[;{])\s*(?:[\d,$~+]+|/[^/]*/)?!?\s*e\s+(.+)$", word.source):
            into.line(line, program)
        if _compiled(r"(?:^|[;{])\s*[\d,$]*e\s*$|s([/|#,])[^/|#,]*\1(?:&|\\1)\1[gpiIm0-9]*e").search(word.source):
            _run_input(program, into)
        for sign, line in re.findall(
            r"s([/|#,])(?:(?!\1)(?:\\.|.))*\1((?:(?!\1)(?:\\.|.))*)\1[gpiIm0-9]*e", word.source
        ):
            into.line(line.replace(f"\\{sign}", sign).replace("&", "$__unknown__"), program)


def _run_input(program: Program, into: Collector) -> None:
    """Each line that it reads is run: of a known text, or of files."""
    files = [*inputs(program), *sort_options(program.words, row_of(program.name).values).rest[1:]]
    texts = [program.stdin or "", *(text for word in files for _, text in texts_at(word, program))]
    if into.budget is not None and not program.remote and any(texts):
        into.line("\n".join(texts), program)


def _desktop(program: Program, _row: ProgramRow, into: Collector) -> None:
    """What a tool of the desktop throws away."""
    verb, *named = [word for word in program.words if not word.text.startswith("-")] or [Word("", "")]
    for word in named if verb.text in ("trash", "remove", "rm") and not program.remote else ():
        into.delete(word, program.cwd)


def _patch(program: Program, row: ProgramRow, into: Collector) -> None:
    by_table(program, row, into)
    for action, path in patched(program.stdin or ""):
        into.note(action, path, program.cwd)


def patch_of(program: Program) -> str | None:
    """The text of the patch that it applies; None if it applies none."""
    given = "\n".join([*program.args, program.stdin or ""])
    return given if row_of(program.name).special == "apply_patch" else None


def _apply_patch(program: Program, _row: ProgramRow, into: Collector) -> None:
    found = patched(patch_of(program) or "")
    for action, path in found:
        into.note(action, path, program.cwd)
    if not found:
        into.unknown.append("path from a patch that is not in the line")


def _in_place(program: Program, row: ProgramRow, into: Collector) -> None:
    """`perl -pi -e … FILE` and the same in ruby."""
    options = sort_options(program.words, row.values)
    if not program.remote and options.has("-i"):
        prints_nothing = options.has("-n") and "print" not in (program.code or "")
        for word in options.rest:
            into.note("empty" if prints_nothing else "write", word, program.cwd)
    elif not program.remote and options.has("-n", "-p"):
        for word in options.rest:
            into.read(word, program.cwd)


def _cloud(program: Program, row: ProgramRow, into: Collector) -> None:
    """A copy between this machine and others."""
    if not program.remote and (operands := copied_between(program, row)):
        for word in operands[:-1]:
            if not is_address(word, into):
                into.read(word, program.cwd)
        for word in copied(operands[-1:], operands[:-1], program.cwd, is_folder=False):
            if not is_address(word, into):
                into.write(word, program.cwd)
        return
    for word in program.words:
        for url in URL.findall(word.source):
            into.connect(url)


def _az(program: Program, _row: ProgramRow, into: Collector) -> None:
    options = sort_options(
        program.words, "fnctgs file source destination name container-name account-name resource-group"
    )
    if any(word.text in ("upload", "upload-batch") for word in options.rest) and not program.remote:
        for word in options.values("-f", "--file", "-s", "--source"):
            into.read(word, program.cwd)
        into.connect("blob.core.windows.net")


def _emptied(program: Program, row: ProgramRow, into: Collector) -> None:
    """`cp /dev/null FILE` and `truncate -s 0 FILE`: what was in the file is gone."""
    by_table(program, row, into)
    options = sort_options(program.words, row.values)
    size = [value.text for value in options.values("-s", "--size")]
    is_copy = row.writes == "copied" and options.rest[:1] and options.rest[0].text in ("/dev/null", "/dev/zero")
    if not program.remote and (is_copy or size == ["0"]):
        for word in options.rest[1:] if is_copy else options.rest:
            into.empty(word, program.cwd)


def _tee(program: Program, row: ProgramRow, into: Collector) -> None:
    by_table(program, row, into)
    options = sort_options(program.words)
    if program.stdin == "" and not program.remote and not options.has("-a", "--append"):
        for word in options.rest:
            into.empty(word, program.cwd)


ALL_LINES = r"(?:^|[\s|:+'\"])(?:%|1,\$|,)\s*d(?:elete)?(?:[\s|'\"]|$)"
INSERTS = r"(?:^|[|+:'\"\s])\d*r(?:ead)?\s+(?!!)(/?[^\s|'\"!]+)"
SAVES = r"(?:^|[|+:'\"\s])(?:w|wq|write|sav|saveas|up|update)!?\s+(?:>>\s*)?(/?[^\s|'\"!]+)"


def _editor(program: Program, row: ProgramRow, into: Collector) -> None:
    """`vim -R FILE` only reads, unless it is told something."""
    options = sort_options(program.words, row.values)
    told = [word for word in options.rest if word.text.startswith("+")]
    is_told = told or options.has("-c", "-S", "-s", "--cmd") or program.stdin_from or program.stdin
    only_reads = options.has("-R", "-M") and not is_told
    files = program.replace(words=tuple(word for word in program.words if word not in told))
    by_table(files, row.replace(reads=row.writes, writes="") if only_reads else row, into)
    if not only_reads and not program.remote:
        _edits(program, [*options.values("-c", "--cmd"), *told], into)
        _all_lines(program, [word for word in options.rest if word not in told], into)


def _edits(program: Program, told: list[Word], into: Collector) -> None:
    """`ex -sc 'r FILE' -c 'w FILE'`: files that an editor is told to read and to write."""
    for text in (*(word.text for word in told), program.stdin or ""):
        for path in _compiled(INSERTS).findall(text):
            into.read(path, program.cwd)
        for path in _compiled(SAVES).findall(text):
            into.write(path, program.cwd)


def _all_lines(program: Program, files: list[Word], into: Collector) -> None:
    """`ex -sc '%d|x' FILE` and `ed FILE <<< ',d'`: all lines are deleted."""
    if any(_compiled(ALL_LINES).search(text) for text in (*program.args, program.stdin or "")):
        for word in files:
            into.empty(word, program.cwd)


def _environment(program: Program, _row: ProgramRow, into: Collector) -> None:
    texts = [word.text for word in program.words]
    if not texts or (program.name != "set" and all(text in ("-p", "-0", "-x", "-px") for text in texts)):
        into.secrets.append("environment")


def _powershell(program: Program, _row: ProgramRow, into: Collector) -> None:
    starts = (at for at, word in enumerate(program.args, 1) if "-command".startswith(word.lower()) and len(word) > 1)
    if line := " ".join(program.args[next(starts, len(program.args)) :]):
        into.powershell(line, program)


SPECIAL: dict[Special, Callable[[Program, ProgramRow, Collector], None]] = {
    "git": _git, "dd": _dd, "tar": _tar, "find": _find, "chmod": _chmod, "curl": _curl, "wget": _wget, "socat": _socat,
    "awk": _awk, "sed": _sed, "patch": _patch, "apply_patch": _apply_patch, "in_place": _in_place,
    "cloud": _cloud, "az": _az, "split": _split, "emptied": _emptied, "tee": _tee, "database": _database,
    "editor": _editor, "environment": _environment, "desktop": _desktop, "powershell": _powershell,
}  # fmt: skip


# One program's facts: the paths, addresses and operations in its command line.


def look_at(program: Program, into: Collector) -> None:
    """Add what one program does."""
    _look_at_redirections(program, into)
    if not program.name:
        return
    row = row_of(program.name)
    if row.special:
        SPECIAL[row.special](program, row, into)
    elif row.files_known:
        by_table(program, row, into)
    else:
        _look_at_keys(program, into)
    look_at_escapes(program, row, into)
    look_at_files(program, row, into)
    look_at_outputs(program, row, into)
    look_at_trees(program, row, into)
    look_at_links(program, row, into)
    for redirection in program.redirections:
        if redirection.sign in (">", ">|") and not program.remote and redirection.target.known:
            _overwrites_itself(program, row, redirection.target, into)
    if not row.special and not row.connects and not row.has("text"):
        for word in program.words:
            if "://" in word.source:
                for url in URL.findall(word.source):
                    into.connect(url)


USED_BY = r"(?i)-+\w*(?:key|cert|pem|ident|ssl|tls|auth|cred|config|env|store|ks)[\w-]*|-[ikcCKE]"
"""Options by which programs get a key that they only use: to connect with it, or to sign."""


def _look_at_keys(program: Program, into: Collector) -> None:
    """A program of whose files we know nothing reads a key or stored credentials among its arguments, unless their
    option says that it only uses them."""
    before = ""
    for word in () if program.remote else program.words:
        name, sign, value = word.text.rpartition("=")
        text, option = (value, name) if sign else (word.text, before)
        before = word.text
        is_key = "/" in text and kind_of_path(resolve(text, program.cwd), into.home) in SHOWN_TO_NOBODY
        if is_key and word.known and not text.endswith(".pub") and not _compiled(USED_BY).fullmatch(option):
            into.read(Word(text, text, word.globs), program.cwd)


SHOWN_TO_NOBODY = ("private key", "credentials", "password hashes")


def _look_at_redirections(program: Program, into: Collector) -> None:
    for redirection in program.redirections:
        if program.remote or is_stream(redirection.target) or _network(program, redirection.target, into):
            continue
        if redirection.writes:
            into.write(redirection.target, program.cwd)
            if redirection.sign in (">", ">|") and _says_nothing(program):
                into.empty(redirection.target, program.cwd)
        if redirection.reads:
            into.read(redirection.target, program.cwd)


def _says_nothing(program: Program) -> bool:
    """Whether it is known to print nothing, so that a file it is redirected to is empty afterwards."""
    row, texts = row_of(program.name), [word.text for word in program.words]
    if row.prints in ("echo", "printf"):
        return not any(text for text in texts if text != "-n")
    if row.has("filters"):
        return texts[-1:] == ["/dev/null"] or (not texts and program.stdin == "")
    return row.prints == "nothing" or (program.path == "" and program.stdin == "")


def _overwrites_itself(program: Program, row: ProgramRow, target: Word, into: Collector) -> None:
    """`sort FILE > FILE`: a shell empties the file before the program reads it."""
    if row.reads and any(word.text == target.text for word in program.words):
        into.empty(target, program.cwd)


def _network(program: Program, word: Word, into: Collector) -> bool:
    """`/dev/tcp/host/port`, which bash opens as a connection: as a stream, unless it only sees whether it can."""
    found = re.match(r"/dev/(?:tcp|udp)/([^/]+)(?:/(.*))?", word.source) if word.source.startswith("/dev/") else None
    if found:
        is_tried = _says_nothing(program)
        into.connect(f"{'' if is_tried else 'tcp://'}{found[1]}:{found[2]}" if found[2] else found[1])
    return found is not None
