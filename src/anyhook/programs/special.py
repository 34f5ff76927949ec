"""The files that a patch names: in the form of `apply_patch`, or a unified diff."""

from __future__ import annotations

import re

from anyhook.platform.places import head as first_bytes
from anyhook.programs.effects import (
    EFFECTS,
    READ,
    TEXT_ONLY,
    URL,
    Effect,
    below,
    by_table,
    copied,
    is_address,
    is_stream,
)
from anyhook.programs.found import found_files, search_roots
from anyhook.programs.git import changed_paths, operation_of, remotes
from anyhook.programs.links import look_at_links
from anyhook.programs.options import look_at_outputs, sort_options
from anyhook.programs.paths import STREAMS, resolve
from anyhook.programs.program import Word
from anyhook.programs.trees import look_at_trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.programs.collect import Collector
    from anyhook.programs.program import Program, Word

LINE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)

DIFF = re.compile(r"^--- (\S+)[^\n]*\n\+\+\+ (\S+)", re.MULTILINE)


def patched(text: str) -> list[tuple[str, str]]:
    """`write` or `delete`, and the path as it is written."""
    found: list[tuple[str, str]] = []
    for kind, path, target in LINE.findall(text):
        if kind == "Delete":
            found.append(("delete", path))
        else:
            found.append(("write", path or target))
    for old, new in DIFF.findall(text):
        is_gone = new == "/dev/null"
        found.append(("delete", old.removeprefix("a/")) if is_gone else ("write", new.removeprefix("b/")))
    return found


# Files in the languages of database clients and editors: `sqlite3 X '.output FILE'`, `psql -c '\o FILE'`, `emacs
# --eval '(delete-file "FILE")'`; and whether a client of a database in a file only looks at it.


NAMED = r"""(?:"([^"\n]+)"|'([^'\n]+)'|([^\s'";|][^\s;]*))"""

ELISP = r'"((?:[^"\\]|\\.)+)"'

FILES: dict[tuple[str, ...], tuple[tuple[str, re.Pattern[str]], ...]] = {
    ("sqlite3", "sqlite", "duckdb"): (
        ("write", re.compile(
            r"^\s*\.(?:output|once|log|backup|save|excel|trace|clone)(?:\s+-\w+)*(?:\s+(?:main|temp)(?=\s))?"
            rf"\s+(?!(?:stdout|stderr|off)\b){NAMED}|\b(?:vacuum(?:\s+\w+)?\s+into|copy\b[^;]*?\bto)\s*'([^']+)'"
            r"|\bwritefile\s*\(\s*'([^']+)'", re.I | re.M)),
        ("read", re.compile(rf"^\s*\.(?:read|restore|import)(?:\s+-\w+)*\s+{NAMED}|\breadfile\s*\(\s*'([^']+)'",
            re.I | re.M)),
    ),
    ("psql", "pgcli", "cockroach"): (
        ("write", re.compile(
            rf"\\(?:o|out|g|gx|w|write)\s+{NAMED}|\\copy\b[^\n]*?\bto\s+(?!stdout|program){NAMED}", re.I)),
        ("read", re.compile(rf"\\(?:i|include|ir)\s+{NAMED}|\\copy\b[^\n]*?\bfrom\s+(?!stdin|program){NAMED}", re.I)),
    ),
    ("mysql", "mariadb", "mycli"): (
        ("write", re.compile(rf"(?:\\T|^\s*tee)\s+{NAMED}|\binto\s+(?:out|dump)file\s+'([^']+)'", re.I | re.M)),
        ("read", re.compile(rf"(?:\\\.|^\s*source)\s+{NAMED}", re.I | re.M)),
    ),
    ("emacs", "emacsclient"): (
        ("delete", re.compile(rf"\((?:delete-file|delete-directory|rename-file)\s+{ELISP}")),
        ("write", re.compile(
            rf"\((?:write-file|set-visited-file-name|make-symbolic-link\s+{ELISP}|copy-file\s+{ELISP}|rename-file\s+{ELISP}"
            rf"|(?:write-region|append-to-file)\s+(?:{ELISP}|\S+)\s+\S+)\s+{ELISP}")),
    ),
}  # fmt: skip

"""By program: where its own language names a file, and what happens to it."""

BY_NAME = {name: patterns for names, patterns in FILES.items() for name in names}


def look_at_files(program: Program, into: Collector) -> None:
    """Adds the files that a program is told about in its own language."""
    patterns = BY_NAME.get(program.name)
    if patterns is None or program.remote:
        return
    for text in (*program.args, program.stdin or ""):
        for action, pattern in patterns:
            for found in pattern.finditer(text.removeprefix("--eval=")):
                named = [group for group in found.groups() if group]
                into.note(action, named[-1], program.cwd)


LOOKING = re.compile(
    r"(?:select\b|explain\b|values\b|pragma\s+\w+(?:\s*\(\s*'?\w+'?\s*\))?$|with\b(?!.*\b(?:insert|update|delete)\b)"
    r"|\.(?:tables|schema|fullschema|index(?:es)?|indices|databases|dump|mode|headers?|width|stats|show|help|print|separator"
    r"|nullvalue|timer|quit|exit|output|once)\b|--|$)",
    re.I | re.S,
)

"""How a statement begins that changes nothing in the database itself."""


def look_at_database(program: Program, into: Collector) -> None:
    """A client with a database in a file: it writes there, unless all that it is told only looks."""
    effect = EFFECTS["sqlite3"]
    told = sort_options(program.words, effect.values).rest[1:]
    texts = [*(word.text for word in told), *([] if program.stdin is None else [program.stdin])]
    is_told = bool(texts) and all(word.known for word in told) and not {"-init", "-cmd"} & {*program.args}
    looks = is_told and all(LOOKING.match(each.strip()) for text in texts for each in _statements(text))
    by_table(program, LOOKS if looks or "-readonly" in program.args else effect, into)


LOOKS = Effect(EFFECTS["sqlite3"].values, reads="first")


def _statements(text: str) -> list[str]:
    lines = text.strip().split("\n")
    commands = [line for line in lines if line.lstrip().startswith(".")]
    return [*commands, *"\n".join(line for line in lines if line not in commands).split(";")]


# Shell lines inside the languages of editors, database clients, debuggers and build tools: `vim -c '!LINE'`, `psql -c
# '\! LINE'`, `sqlite3 X '.shell LINE'`, the recipes of a makefile on the input.


STRING = r"\s*\(?\s*[\"']((?:[^\"'\\]|\\.)+)[\"']"

COMMAND = r"^(?:-c|\+)?[\s:]*(?:sil(?:ent)?!?[\s:]*)*"

"""The start of a command of an editor: alone, after `+`, or glued to its option."""

EDITOR = re.compile(
    rf"{COMMAND}(?:r(?:ead)?\s*|w(?:rite)?\s+|[%$.,\d]+\s*)?!(.+)|{COMMAND}term(?:inal)?\s+(?:\+\+\S+\s+)*(?![\"'(])(.+)"
    rf"|\bexe(?:cute)?\s*[\"']:?!(.+?)[\"']|\b(?:system|systemlist|term(?:inal)?|os\.execute|io\.popen){STRING}",
    re.M,
)

PAGER = re.compile(r"\A\+.*?(?:!|\|.)(.+)", re.S)

"""`+!LINE`, also after other commands; `+|xLINE` pipes the text up to a mark."""

BANG = re.compile(r"^\s*!\s*(.+)", re.M)

SSH = re.compile(r"(?:^-o)?(?:Proxy|Local|KnownHosts)Command[= ]\s*(.+)", re.I)

CALLED = re.compile(rf"\b(?:system2?|popen|shell_exec|shell-command(?:-to-string)?|call-process|unix|dos){STRING}")

TCL = re.compile(r"\b(?:exec|spawn|system)\s+(?:--?\w*\s+)*(.+?)\]?\s*(?:[;}\n]|$)")

ESCAPES: dict[tuple[str, ...], re.Pattern[str]] = {
    ("vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff", "rvim", "vim.tiny", "vim.basic", "hx"): EDITOR,
    ("psql", "pgcli", "cockroach"): re.compile(r"\\!\s*(.+)|\bprogram\s+'([^']+)'", re.I),
    ("mysql", "mariadb", "mycli"): re.compile(r"(?:\\!|(?:^|;)\s*system)\s+([^;\n]+)", re.M),
    ("sqlite3", "sqlite", "duckdb"): re.compile(r"^\s*\.(?:shell|system)\s+(.+)", re.M),
    ("gdb", "lldb"): re.compile(rf"^\s*(?:shell\s+|!|platform shell\s+)(.+)|\bsystem{STRING}", re.M),
    ("ftp", "lftp", "ed", "mail", "mailx", "mutt", "ipython", "dc"): BANG,
    ("less", "more", "most"): PAGER,
    ("ssh", "scp", "slogin", "sshfs"): SSH,
    ("sftp",): re.compile(f"{BANG.pattern}|{SSH.pattern}", re.M | re.I),
    ("tar", "gtar", "bsdtar"): re.compile(r"^--checkpoint-action=exec=(.+)"),
    ("socat",): re.compile(r"(?:^|,)(?:exec|system|shell):\"?([^,\"]+)", re.I),
    ("fzf", "sk"): re.compile(r"\b(?:execute(?:-silent)?|become|reload(?:-sync)?)\((.+?)\)(?:\+|,|$)|^--preview=(.+)"),
    ("apt", "apt-get", "aptitude"): re.compile(r"Invoke[^=]*=(.+)"),
    ("git",): re.compile(r"^ext::(.+)"),
    ("tclsh", "expect", "wish"): TCL,
    ("emacs", "R", "Rscript", "octave", "gnuplot", "maxima", "ghci", "irb", "jshell", "matlab", "scilab"): CALLED,
    ("julia",): re.compile(r"\brun\(\s*`([^`]+)`"),
    ("make", "gmake"): re.compile(
        r"^(?:\t|[^\s#:=][^#:=]*::?[^=;]*;)[ \t]*[@+-]*(.+)|\$\(shell\s+(.+?)\)|^SHELL=(.+)", re.M
    ),
}

"""By program: a pattern that finds shell lines in its own language."""

LINE_OPTIONS: dict[tuple[str, ...], str] = {
    ("man",): "-P --pager -H --html",
    ("bat", "batcat", "delta"): "--pager",
    ("tar", "gtar", "bsdtar"): "-I -F --use-compress-program --to-command --rsh-command --info-script"
    " --new-volume-script",
    ("rsync",): "-e --rsh",
    ("scp", "sftp"): "-S",
    ("zip",): "-TT --unzip-command",
    ("sort",): "--compress-program",
    ("split",): "--filter",
    ("wget",): "--use-askpass",
    ("nc", "ncat", "netcat"): "-e -c --exec --sh-exec",
    ("fzf", "sk"): "--preview",
}

"""By program: its options whose value is a shell line."""

OPTIONS_BY_NAME = {name: tuple(options.split()) for names, options in LINE_OPTIONS.items() for name in names}

ARGUMENT_VARIABLES = {"less": "LESS", "more": "MORE", "man": "MANOPT", "tar": "TAR_OPTIONS", "fzf": "FZF_DEFAULT_OPTS"}

"""Variables with arguments that a program gets before its own."""

PREFIX = re.compile(r"--(?:eval|eval-command|init-eval-command|command|cmd|execute|expression|one-line)=")

BY_NAME_ESCAPES = {name: pattern for names, pattern in ESCAPES.items() for name in names}


def look_at_escapes(program: Program, into: Collector) -> None:
    """Add the facts of shell lines that a program runs from its own language."""
    pattern, options = BY_NAME_ESCAPES.get(program.name), OPTIONS_BY_NAME.get(program.name, ())
    if pattern is None and not options:
        return
    args = program.args
    for name, value in program.set:
        if name == ARGUMENT_VARIABLES.get(program.name):
            args = (*_own_words(value), *args)
    for line in _option_lines(args, options):
        if line.split()[:1] != ["ssh"]:  # how it connects, which its own facts say
            into.line(line, program)
    if pattern is None:
        return
    for text in (*args, program.stdin or ""):
        for found in pattern.findall(PREFIX.sub("", text, count=1)):
            into.line("".join(found).replace("% ", " "), program)


def _own_words(value: str) -> tuple[str, ...]:
    """The arguments in a variable: those with blanks are not split, because a line may follow."""
    return tuple(value.split()) if not value.startswith("+") else (value,)


def _option_lines(args: tuple[str, ...], options: tuple[str, ...]) -> Iterator[str]:
    for place, text in enumerate(args):
        for option in options:
            is_last = len(option) == 2 and text[1:].isalpha() and text.startswith("-") and text.endswith(option[1])
            if text == option or is_last:  # `-e LINE`, `-avze LINE`
                yield from args[place + 1 : place + 2]
            elif text.startswith(f"{option}=" if option.startswith("--") else option) and not text.startswith("---"):
                yield text[len(option) :].removeprefix("=")


# Programs whose arguments need more than a table.


MAKES_EXECUTABLE = re.compile(r"[ugoa]*[+=][rwst]*[xX]")


def _git(program: Program, into: Collector) -> None:
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
    for path in writes:
        into.write(Word(path, path), cwd)
    for path in deletes:
        into.delete(Word(path, path), cwd)
    if operation.verb in ("apply", "am"):
        folder = options.values("--directory")
        base = resolve(folder[0], cwd) if folder else cwd
        for action, path in patched(program.stdin or ""):
            into.note(action, path, base)
        for word in folder:
            into.write(Word(f"{word.text}/**", f"{word.source}/**", True), cwd)
        for word in options.values("--include"):
            into.write(Word(word.text, word.source, True), base)


def _dd(program: Program, into: Collector) -> None:
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


TAR_VALUES = "fCTXbgKNVFLH file directory files-from exclude exclude-from transform strip-components owner group mode"


def _tar(program: Program, into: Collector) -> None:
    words = list(program.words)
    if words and not words[0].text.startswith("-") and words[0].known:
        words[0] = Word(f"-{words[0].text}", f"-{words[0].source}")  # `tar xf`, the old style without a dash
    options = sort_options(words, TAR_VALUES)
    if program.remote:
        return
    archive, folder = options.values("-f", "--file"), options.values("-C", "--directory")
    if options.has("-x", "--extract", "--get"):
        for word in archive:
            into.read(word, program.cwd)
        if not options.has("-O", "--to-stdout"):
            for word in folder or [Word(".", ".")]:
                into.write(Word(f"{word.text}/**", f"{word.source}/**", True), program.cwd)
            for word in options.rest:
                into.write(below(folder, word), program.cwd)
    elif options.has("-t", "--list"):
        for word in archive:
            into.read(word, program.cwd)
    else:
        for word in archive:
            if not is_stream(word):
                into.write(word, program.cwd)
        base = resolve(folder[0], program.cwd) if folder else program.cwd
        for word in options.rest:
            into.read(word, base)
            if options.has("--remove-files"):
                into.delete(word, base)


def _cpio(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["cpio"], into)
    options = sort_options(program.words, EFFECTS["cpio"].values)
    if not program.remote and options.has("-i", "--extract"):
        for word in options.rest or [Word("**", "**", True)]:
            into.write(below(options.values("-D", "--directory"), word), program.cwd)


def _deletes(texts: list[str]) -> bool:
    """Whether `find` deletes what it finds, unless that is empty anyway."""
    return texts.count("-delete") > texts.count("-empty")


def _find(program: Program, into: Collector) -> None:
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


def _chmod(program: Program, into: Collector) -> None:
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


def _curl(program: Program, into: Collector) -> None:
    effect = EFFECTS["curl"]
    options = sort_options(program.words, effect.values)
    by_table(program, effect, into)
    for word in options.values("--url"):
        into.connect(word.source)
    if program.remote:
        return
    for word in options.rest:
        if word.text.startswith("file://"):
            into.read(word, program.cwd)
    for name, value in options.named:
        if name in ("-d", "--data", "--data-binary", "--data-ascii", "--json", "-F", "--form", "--data-urlencode"):
            _, sign, path = value.text.partition("@")
            if sign and path and (value.text.startswith("@") or "=@" in value.text or name == "--data-urlencode"):
                into.read(Word(path.partition(";")[0], path.partition(";")[0]), program.cwd)
    for name, word in options.named:
        for path in _outputs_in_config(program, word) if name in ("-K", "--config") else ():
            into.write(path, program.cwd)
    if options.has("-O", "--remote-name"):
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if name:
                into.write(below(options.values("--output-dir"), Word(name, name)), program.cwd)


CONFIG_OUTPUT = re.compile(
    r"""^\s*(?:-o|-?-?(?:output|dump-header|cookie-jar|trace|stderr|trace-ascii|etag-save))\s*[=:\s]\s*"?([^"\n]+?)"?\s*$""",
    re.M,
)

MAX_CONFIG_BYTES = 65_536


def _outputs_in_config(program: Program, named: Word) -> list[str]:
    """The files that a config of curl writes: from its input, or from a file that is there."""
    text = program.stdin or ""
    if named.text and named.text not in STREAMS and named.known:
        text = (first_bytes(resolve(named, program.cwd), MAX_CONFIG_BYTES) or b"").decode("utf-8", "replace")
    return CONFIG_OUTPUT.findall(text)


def _split(program: Program, into: Collector) -> None:
    """`split FILE PREFIX` and `csplit -f PREFIX`: files whose names begin with it."""
    effect = EFFECTS[program.name]
    by_table(program, effect, into)
    options = sort_options(program.words, effect.values)
    prefixes = options.values("-f", "--prefix") if program.name == "csplit" else options.rest[1:2]
    for word in prefixes:
        if not program.remote:
            into.write(Word(f"{word.text}*", f"{word.source}*", True), program.cwd)


def _wget(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["wget"], into)
    options = sort_options(program.words, EFFECTS["wget"].values)
    if not program.remote and not options.has("-O", "--output-document", "--spider"):
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if "/" in word.source.partition("://")[2] and name:
                into.write(below(options.values("-P", "--directory-prefix"), Word(name, name)), program.cwd)


def _socat(program: Program, into: Collector) -> None:
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


def _awk(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["awk"], into)
    for word in program.words:
        for path in re.findall(r">{1,2}\s*\"([^\"]+)\"", word.source):
            into.write(Word(path, path), program.cwd)
        for name, value, more in re.findall(r"system\(\s*(?:(\w+)\)|\"((?:[^\"\\]|\\.)*)\"([^)]*))", word.source):
            made = re.search(rf"\b{name}\s*=\s*\"((?:[^\"\\]|\\.)*)\"([^;}}]*)", word.source) if name else None
            line, rest = (made[1], made[2]) if made else (value, more)
            into.line(line.replace('\\"', '"') + (" $__unknown__" if rest.strip() else ""), program)
        for line in re.findall(r"\|\s*\"([^\"]+)\"|\"([^\"]+)\"\s*\|\s*getline", word.source):
            into.line("".join(line), program)


def _sed(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["sed"], into)
    for word in program.words:
        for path in re.findall(r"(?:^|[;}/0-9$a-z]|\s)w\s+(/?[\w./~-]+)\s*$", word.source):
            into.write(Word(path, path), program.cwd)
        for line in re.findall(r"(?:^|[;{])\s*(?:[\d,$~+]+|/[^/]*/)?!?\s*e\s+(.+)$", word.source):
            into.line(line, program)
        for _, line in re.findall(r"s([/|#,])(?:(?!\1).)*\1((?:(?!\1).)*)\1[gpiIm0-9]*e", word.source):
            into.line(line.replace("&", "$__unknown__"), program)


def _unzip(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["unzip"], into)
    options = sort_options(program.words, "dx")
    if not program.remote and not options.has("-d", "-l", "-t", "-p"):
        into.write(Word("**", "**", True), program.cwd)


def _patch(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["patch"], into)
    for action, path in patched(program.stdin or ""):
        into.note(action, path, program.cwd)


def _apply_patch(program: Program, into: Collector) -> None:
    text = "\n".join([*program.args, program.stdin or ""])
    found = patched(text)
    for action, path in found:
        into.note(action, path, program.cwd)
    if not found:
        into.unknown.append("path from a patch that is not in the line")


def _in_place(program: Program, into: Collector) -> None:
    """`perl -pi -e … FILE` and the same in ruby."""
    options = sort_options(program.words, "eEIMmFxlr" if program.name == "perl" else "eIrFCKW")
    if not program.remote and options.has("-i"):
        prints_nothing = options.has("-n") and "print" not in (program.code or "")
        for word in options.rest:
            into.note("empty" if prints_nothing else "write", word, program.cwd)
    elif not program.remote and options.has("-n", "-p"):
        for word in options.rest:
            into.read(word, program.cwd)


CLOUD = {
    "aws": (("s3", "cp"), ("s3", "mv"), ("s3", "sync")), "gsutil": (("cp",), ("mv",), ("rsync",)),
    "gcloud": (("storage", "cp"), ("storage", "mv"), ("storage", "rsync")),
    "rclone": (("copy",), ("sync",), ("move",), ("copyto",), ("moveto",)), "docker": (("cp",),), "podman": (("cp",),),
    "kubectl": (("cp",),), "oc": (("cp",),), "s3cmd": (("put",), ("get",), ("sync",)), "mc": (("cp",), ("mirror",)),
}  # fmt: skip

"""Programs that copy between this machine and others, and their sub-commands for it."""


def _cloud(program: Program, into: Collector) -> None:
    options = sort_options(
        program.words, "nc profile region endpoint-url exclude include namespace container acl f config"
    )
    rest = list(options.rest)
    for words in CLOUD[program.name]:
        place = next(
            (at for at in range(len(rest)) if tuple(word.text for word in rest[at : at + len(words)]) == words), -1
        )
        if place >= 0 and not program.remote:
            operands = rest[place + len(words) :]
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


def _az(program: Program, into: Collector) -> None:
    options = sort_options(
        program.words, "fnctgs file source destination name container-name account-name resource-group"
    )
    if any(word.text in ("upload", "upload-batch") for word in options.rest) and not program.remote:
        for word in options.values("-f", "--file", "-s", "--source"):
            into.read(word, program.cwd)
        into.connect("blob.core.windows.net")


def _emptied(program: Program, into: Collector) -> None:
    """`cp /dev/null FILE` and `truncate -s 0 FILE`: what was in the file is gone."""
    effect = EFFECTS[program.name]
    by_table(program, effect, into)
    options = sort_options(program.words, effect.values)
    size = [value.text for value in options.values("-s", "--size")]
    is_copy = program.name == "cp" and options.rest[:1] and options.rest[0].text in ("/dev/null", "/dev/zero")
    if not program.remote and (is_copy or size == ["0"]):
        for word in options.rest[1:] if is_copy else options.rest:
            into.empty(word, program.cwd)


def _tee(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["tee"], into)
    options = sort_options(program.words)
    if program.stdin == "" and not program.remote and not options.has("-a", "--append"):
        for word in options.rest:
            into.empty(word, program.cwd)


ALL_LINES = re.compile(r"(?:^|[\s|:+'\"])(?:%|1,\$|,)\s*d(?:elete)?(?:[\s|'\"]|$)")


SAVES = re.compile(r"(?:^|[|+:'\"\s])(?:w|wq|write|sav|saveas|up|update)!?\s+(?:>>\s*)?(/?[^\s|'\"!]+)")


def _editor(program: Program, into: Collector) -> None:
    """`ex -sc '%d|x' FILE` and `ed FILE <<< ',d'`: all lines are deleted."""
    effect = EFFECTS[program.name]
    options = sort_options(program.words, effect.values)
    is_told = options.has("-c", "-S", "-s", "--cmd") or any(word.text.startswith("+") for word in options.rest)
    if options.has("-R", "-M") and not is_told and not program.stdin_from and not program.stdin:
        by_table(program, READ, into)
        return
    by_table(program, effect, into)
    told = [value.text for value in options.values("-c", "--cmd")] + [w.text for w in options.rest if w.text[:1] == "+"]
    for text in () if program.remote else (*told, program.stdin or ""):
        for path in SAVES.findall(text):
            into.write(path, program.cwd)
    if not program.remote and any(ALL_LINES.search(text) for text in (*program.args, program.stdin or "")):
        for word in options.rest:
            if not word.text.startswith("+"):
                into.empty(word, program.cwd)


def _environment(program: Program, into: Collector) -> None:
    texts = [word.text for word in program.words]
    if not texts or (program.name != "set" and all(text in ("-p", "-0", "-x", "-px") for text in texts)):
        into.secrets.append("environment")


SPECIAL = {
    "git": _git, "dd": _dd, "gdd": _dd, "tar": _tar, "gtar": _tar, "bsdtar": _tar, "find": _find, "gfind": _find,
    "bfs": _find, "chmod": _chmod, "curl": _curl, "wget": _wget, "socat": _socat,
    "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk, "sed": _sed, "gsed": _sed, "unzip": _unzip,
    "patch": _patch, "apply_patch": _apply_patch, "applypatch": _apply_patch,
    "perl": _in_place, "ruby": _in_place, **dict.fromkeys(CLOUD, _cloud), "az": _az,
    "split": _split, "csplit": _split, "cp": _emptied, "truncate": _emptied, "tee": _tee, "cpio": _cpio,
    "sqlite3": look_at_database,
    **dict.fromkeys(("ed", "ex", "vi", "vim", "nvim"), _editor),
    "env": _environment, "printenv": _environment, "set": _environment, "export": _environment, "declare": _environment,
}  # fmt: skip


# One program's facts: the paths, addresses and operations in its command line.


WRITES_DEVICE = re.compile(r"mkfs(\..+)?|mke2fs|newfs(_\w+)?|mkntfs|mkdosfs|mkfs_\w+")


def look_at(program: Program, into: Collector) -> None:
    """Add what one program does."""
    for redirection in program.redirections:
        if program.remote or is_stream(redirection.target):
            continue
        if _network(redirection.target, into):
            continue
        if redirection.writes:
            into.write(redirection.target, program.cwd)
            if redirection.sign in (">", ">|") and _says_nothing(program):
                into.empty(redirection.target, program.cwd)
        if redirection.reads:
            into.read(redirection.target, program.cwd)
    if not program.name:
        return
    special = SPECIAL.get(program.name)
    effect = EFFECTS.get(program.name)
    if effect is None and program.name[:2] in ("mk", "ne") and WRITES_DEVICE.fullmatch(program.name):
        effect = Effect("tLbNiIOmEUFsSc", writes="last")
    if special is not None:
        special(program, into)
    elif effect is not None:
        by_table(program, effect, into)
    look_at_escapes(program, into)
    look_at_files(program, into)
    look_at_outputs(program, into)
    look_at_trees(program, into)
    look_at_links(program, into)
    for redirection in program.redirections:
        if redirection.sign in (">", ">|") and not program.remote and redirection.target.known:
            _overwrites_itself(program, redirection.target, into)
    if program.name not in TEXT_ONLY and special is None and (effect is None or not effect.connects):
        for word in program.words:
            if "://" in word.source:
                for url in URL.findall(word.source):
                    into.connect(url)


def _says_nothing(program: Program) -> bool:
    """Whether it is known to print nothing, so that a file it is redirected to is empty afterwards."""
    texts = [word.text for word in program.words]
    if program.name in ("echo", "printf"):
        return not any(text for text in texts if text != "-n")
    if program.name in ("cat", "head", "tail", "sort", "sed", "grep"):
        return texts[-1:] == ["/dev/null"] or (not texts and program.stdin == "")
    return program.name in (":", "true") or (program.path == "" and program.stdin == "")


def _overwrites_itself(program: Program, target: Word, into: Collector) -> None:
    """`sort FILE > FILE`: a shell empties the file before the program reads it."""
    effect = EFFECTS.get(program.name)
    if effect and effect.reads and any(word.text == target.text for word in program.words):
        into.empty(target, program.cwd)


def _network(word: Word, into: Collector) -> bool:
    """`/dev/tcp/host/port`, which bash opens as a connection."""
    found = re.match(r"/dev/(?:tcp|udp)/([^/]+)(?:/(.*))?", word.source) if word.source.startswith("/dev/") else None
    if found:
        into.connect(f"tcp://{found[1]}:{found[2]}" if found[2] else found[1])
    return found is not None
