"""One program's facts: the paths, addresses and operations behind its words."""

from __future__ import annotations

import re

from anyhook.facts.effects import EFFECTS, TEXT_ONLY, Effect
from anyhook.facts.git import changed_paths, operation_of, remotes
from anyhook.facts.options import SortedOptions, sort_options
from anyhook.facts.paths import STREAMS, resolve
from anyhook.shell.program import Word
from anyhook.shell.wrappers import search_roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

URL = re.compile(
    r"(?:https?|ftps?|sftp|ssh|git|wss?|s3|gs|rsync|tcp|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|git\+https?|git\+ssh)://[^\s'\"<>|]+"
)
REMOTE = re.compile(r"(?:[\w.-]+@)?([\w.-]{2,}|\[[0-9a-f:]+\]):(?!\\)")
"""`host:path` and `user@host:path`."""
MAKES_EXECUTABLE = re.compile(r"[ugoa]*[+=][rwst]*[xX]|\+x|[0-7]?[0-7]*[1357][0-7]*")
WRITES_DEVICE = re.compile(r"mkfs(\..+)?|mke2fs|newfs(_\w+)?|mkntfs|mkdosfs|mkfs_\w+")


def look_at(program: Program, into: Collector) -> None:
    """Adds what one program does."""
    for redirection in program.redirections:
        if program.remote or _is_stream(redirection.target):
            continue
        if _network(redirection.target, into):
            continue
        if redirection.writes:
            into.write(redirection.target, program.cwd)
        if redirection.reads:
            into.read(redirection.target, program.cwd)
    if not program.name:
        return
    special = SPECIAL.get(program.name)
    effect = EFFECTS.get(program.name)
    if effect is None and WRITES_DEVICE.fullmatch(program.name):
        effect = Effect("tLbNiIOmEUFsSc", writes="last")
    if special is not None:
        special(program, into)
    elif effect is not None:
        by_table(program, effect, into)
    if program.name not in TEXT_ONLY and special is None and (effect is None or not effect.connects):
        for word in program.words:
            for url in URL.findall(word.source):
                into.connect(url)


def by_table(program: Program, effect: Effect, into: Collector, words: Sequence[Word] | None = None) -> None:
    """What the table says of a program."""
    given = program.words if words is None else words
    options = sort_options(given, effect.values)
    rest = list(options.rest)
    if effect.skip_unless and not options.has(*effect.skip_unless):
        rest = rest[1:]
    idle = options.has(*effect.not_if)
    cwd = program.cwd
    for word in _picked(effect.connects, rest):
        into.connect(word.source)
    if program.remote:
        return
    targets = options.values(*effect.target)
    writes = effect.writes
    if targets:
        writes = ""
        for word in targets:
            into.write(word, cwd)
    sources = rest if targets else rest[:-1]
    for word in _picked(effect.reads, rest, sources):
        if not _is_address(word, into):
            into.read(word, cwd)
    for word in options.values(*effect.read_by):
        into.read(word, cwd)
    if idle:
        return
    for word in options.values(*effect.write_by):
        into.write(word, cwd)
    for word in _picked(writes, rest, sources):
        if not _is_address(word, into):
            into.write(word, cwd)
    for word in _picked(effect.deletes, rest, sources):
        into.delete(word, cwd)
    for word in _picked(effect.changes, rest, sources):
        into.change(word, cwd)
    if effect.writes_if and _has_prefix(options, effect.writes_if):
        for word in rest:
            into.write(word, cwd)
    if effect.deletes_if and options.has(*effect.deletes_if):
        for word in rest[-1:]:
            if not _is_address(word, into):
                into.delete(word, cwd)


def _has_prefix(options: SortedOptions, names: tuple[str, ...]) -> bool:
    return options.has(*names) or any(value.text == names[0] for _, value in options.named)


def _picked(which: str, rest: Sequence[Word], sources: Sequence[Word] | None = None) -> Iterable[Word]:
    if which == "all":
        return [word for word in rest if not _is_stream(word)]
    if which == "first":
        return rest[:1]
    if which == "rest":
        return rest[1:]
    if which == "last":
        return rest[-1:]
    if which == "sources":
        return rest[:-1] if sources is None else sources
    if which == "http":
        return [word for word in rest if word.text.upper() != word.text or "." in word.text][:1]
    return ()


def _is_stream(word: Word) -> bool:
    return word.text in STREAMS or word.text.startswith("/dev/fd/") or word.source.startswith(("<(", ">("))


def _network(word: Word, into: Collector) -> bool:
    """`/dev/tcp/host/port`, which shells open as a connection."""
    found = re.match(r"/dev/(?:tcp|udp)/([^/]+)(?:/(.*))?", word.source)
    if found:
        into.connect(f"{found[1]}:{found[2]}" if found[2] else found[1])
    return found is not None


def _is_address(word: Word, into: Collector) -> bool:
    """`host:path` among the arguments of programs that copy."""
    if "://" in word.text or (REMOTE.match(word.text) and not word.text.startswith(("/", "."))):
        into.connect(word.source)
        return True
    return False


# -- programs whose words need more than a table


def _git(program: Program, into: Collector) -> None:
    found = operation_of(program)
    if found is None:
        return
    operation, _ = found
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


def _dd(program: Program, into: Collector) -> None:
    for word in program.words:
        key, sign, value = word.text.partition("=")
        named = Word(value, word.source.partition("=")[2])
        if sign and not program.remote and not _is_stream(named):
            if key == "of":
                into.write(named, program.cwd)
            elif key == "if":
                into.read(named, program.cwd)


TAR_VALUES = "fCTXbgKNVFLH file directory files-from exclude exclude-from transform strip-components owner group mode"


def _tar(program: Program, into: Collector) -> None:
    words = list(program.words)
    if words and not words[0].text.startswith("-") and words[0].known:
        words[0] = Word(f"-{words[0].text}", f"-{words[0].source}")  # `tar xf`, in the old way
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
    elif options.has("-t", "--list"):
        for word in archive:
            into.read(word, program.cwd)
    else:
        for word in archive:
            if not _is_stream(word):
                into.write(word, program.cwd)
        base = resolve(folder[0], program.cwd) if folder else program.cwd
        for word in options.rest:
            into.read(word, base)
            if options.has("--remove-files"):
                into.delete(word, base)


def _find(program: Program, into: Collector) -> None:
    if program.remote:
        return
    roots = search_roots((Word("find", "find"), *program.words))
    texts = [word.text for word in program.words]
    for root in roots:
        into.read(root, program.cwd)
        if "-delete" in texts:
            into.delete(
                Word(
                    f"{root.text.rstrip('/')}/{_pattern(program)}",
                    f"{root.source.rstrip('/')}/{_pattern(program)}",
                    True,
                ),
                program.cwd,
            )
    for place, text in enumerate(texts[:-1]):
        if text in ("-fprint", "-fprintf", "-fls", "-fprint0"):
            into.write(program.words[place + 1], program.cwd)


def _pattern(program: Program) -> str:
    texts = [word.text for word in program.words]
    names = [texts[place + 1] for place, text in enumerate(texts[:-1]) if text in ("-name", "-iname")]
    return f"**/{names[0]}" if len(names) == 1 and "!" not in texts and "-not" not in texts else "**"


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
    for name, value in options.named:
        if name in ("-d", "--data", "--data-binary", "--data-ascii", "--json", "-F", "--form", "--data-urlencode"):
            _, sign, path = value.text.partition("@")
            if sign and path and (value.text.startswith("@") or "=@" in value.text or name == "--data-urlencode"):
                into.read(Word(path.partition(";")[0], path.partition(";")[0]), program.cwd)
    if options.has("-O", "--remote-name"):
        folder = options.values("--output-dir")
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if name:
                into.write(Word(name, name), resolve(folder[0], program.cwd) if folder else program.cwd)


def _wget(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["wget"], into)
    options = sort_options(program.words, EFFECTS["wget"].values)
    if not program.remote and not options.has("-O", "--output-document", "--spider"):
        folder = options.values("-P", "--directory-prefix")
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if "/" in word.source.partition("://")[2] and name:
                into.write(Word(name, name), resolve(folder[0], program.cwd) if folder else program.cwd)


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
        for line in re.findall(r"system\(\s*\"((?:[^\"\\]|\\.)*)\"", word.source):
            into.line(line.replace('\\"', '"'), program)
        for line in re.findall(r"\|\s*\"([^\"]+)\"|\"([^\"]+)\"\s*\|\s*getline", word.source):
            into.line("".join(line), program)


def _sed(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["sed"], into)
    for word in program.words:
        for path in re.findall(r"(?:^|[;}/0-9$a-z]|\s)w\s+(/?[\w./~-]+)\s*$", word.source):
            into.write(Word(path, path), program.cwd)
        for line in re.findall(r"(?:^|;)\s*(?:\d+|\$)?e\s+(.+)$", word.source):
            into.line(line, program)


def _unzip(program: Program, into: Collector) -> None:
    by_table(program, EFFECTS["unzip"], into)
    options = sort_options(program.words, "dx")
    if not program.remote and not options.has("-d", "-l", "-t", "-p"):
        into.write(Word("**", "**", True), program.cwd)


def _patch(program: Program, into: Collector) -> None:
    from anyhook.facts.patches import patched

    by_table(program, EFFECTS["patch"], into)
    for action, path in patched(program.stdin or ""):
        into.note(action, path, program.cwd)


def _apply_patch(program: Program, into: Collector) -> None:
    from anyhook.facts.patches import patched

    text = "\n".join([*program.args, program.stdin or ""])
    found = patched(text)
    for action, path in found:
        into.note(action, path, program.cwd)
    if not found:
        into.unknown.append("path from a patch that is not in the line")


def _environment(program: Program, into: Collector) -> None:
    if not [word for word in program.words if not word.text.startswith("-")]:
        into.secrets.append("environment")


SPECIAL = {
    "git": _git, "dd": _dd, "gdd": _dd, "tar": _tar, "gtar": _tar, "bsdtar": _tar, "find": _find, "gfind": _find,
    "bfs": _find, "chmod": _chmod, "curl": _curl, "wget": _wget, "socat": _socat,
    "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk, "sed": _sed, "gsed": _sed, "unzip": _unzip,
    "patch": _patch, "apply_patch": _apply_patch, "applypatch": _apply_patch,
    "env": _environment, "printenv": _environment, "set": _environment, "export": _environment, "declare": _environment,
}  # fmt: skip
