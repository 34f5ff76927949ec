"""Programs whose arguments need more than a table."""

from __future__ import annotations

import re

from anyhook.facts.by_table import URL, below, by_table, copied, is_address, is_stream
from anyhook.facts.clients import look_at_database
from anyhook.facts.effects import EFFECTS, READ
from anyhook.facts.git import changed_paths, operation_of, remotes
from anyhook.facts.options import sort_options
from anyhook.facts.patches import patched
from anyhook.facts.paths import resolve
from anyhook.shell.found import found_files, search_roots
from anyhook.shell.program import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.facts.collect import Collector
    from anyhook.shell.program import Program

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
    if options.has("-O", "--remote-name"):
        for word in options.rest:
            name = word.source.rstrip("/").rpartition("/")[2].partition("?")[0]
            if name:
                into.write(below(options.values("--output-dir"), Word(name, name)), program.cwd)


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
        for line in re.findall(r"(?:^|;)\s*(?:\d+|\$)?e\s+(.+)$", word.source):
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


def _editor(program: Program, into: Collector) -> None:
    """`ex -sc '%d|x' FILE` and `ed FILE <<< ',d'`: all lines are deleted."""
    effect = EFFECTS[program.name]
    options = sort_options(program.words, effect.values)
    is_told = options.has("-c", "-S", "-s", "--cmd") or any(word.text.startswith("+") for word in options.rest)
    if options.has("-R", "-M") and not is_told and not program.stdin_from and not program.stdin:
        by_table(program, READ, into)
        return
    by_table(program, effect, into)
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
    "cp": _emptied, "truncate": _emptied, "tee": _tee, "cpio": _cpio, "sqlite3": look_at_database,
    **dict.fromkeys(("ed", "ex", "vi", "vim", "nvim"), _editor),
    "env": _environment, "printenv": _environment, "set": _environment, "export": _environment, "declare": _environment,
}  # fmt: skip
