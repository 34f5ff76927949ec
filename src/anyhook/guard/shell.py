"""Whether a shell line would change what is protected: whose paths its commands write, by a table of commands. It looks
at links, and never runs anything; what it cannot know it lets pass, unless the rest of the word names us."""

from __future__ import annotations

import os

from anyhook.documents.places import home_of, real_path
from anyhook.model.record import Record
from anyhook.shell.commands import SHELLS
from anyhook.shell.steps import UNKNOWN, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.shell.steps import CommandStep

DECIDING = ("trust", "install", "uninstall", "enable", "disable")
"""Our verbs that only a person may use,"""
LOOKING = {"trust": "--list", "install": "--dry-run", "uninstall": "--dry-run"}
"""but for these options, with which they only show something."""
READERS = frozenset(
    {
        "cat", "ls", "head", "tail", "grep", "egrep", "fgrep", "rg", "less", "more", "wc", "stat", "file", "jq", "diff",
        "cmp", "md5sum", "sha1sum", "sha256sum", "echo", "printf", "test", "[", "[[", "tree", "du", "nl", "od", "xxd",
        "hexdump", "strings", "basename", "dirname", "readlink", "realpath", "which", "type", "cut", "uniq", "tr",
        "awk", "sed", "sort", "find", "git", "export", "pwd", "true", "false", "column", "bat", "fold", "comm", "cd",
        "pushd", "popd", "set", "sleep",
    }
)  # fmt: skip
"""Programs that only look, but for the options below."""
DESTROYERS = frozenset({"rm", "rmdir", "unlink", "shred", "mv", "chmod", "chown", "chattr"})
"""Programs whose every argument is changed, with everything below it."""
TO_LAST = frozenset({"cp", "install", "rsync", "scp"})
"""Programs that write to their last argument, or to the one after -t."""
IN_PLACE = {
    "sed": ("-i", "--in-place"), "awk": ("inplace",), "sort": ("-o", "--output"), "perl": ("-i", "-pi", "-ni"),
    "ruby": ("-i", "-pi", "-ni"), "find": ("-delete", "-exec", "-execdir", "-ok", "-fprint"),
}  # fmt: skip
"""Programs that write what they are given when they get an option that begins so."""
GIT_CHANGES = frozenset(
    {"checkout", "restore", "clean", "reset", "rm", "mv", "apply", "stash", "switch", "pull", "am", "merge"}
)
CODE = frozenset({"python", "python3", "node", "perl", "ruby", "deno", "bun", "php", "lua"})
"""Interpreters, whose programs can only be searched for words."""
AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
"""Readers that may write to a file that their program names in quotes."""
WRITING = (
    "write", "'w", '"w', "'a", '"a', "unlink", "remove", "rmtree", "rename", "replace", "dump", "truncate", "chmod",
    "touch", "system", "subprocess", "spawn", "mkdir", "copy", "move", "delete", "rmSync", "exec(",
)  # fmt: skip
"""Words without which a program is taken to read only."""
HARMLESS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")


class Protected(Record):
    """Where a line would run, and what must stay as it is."""

    env: Mapping[str, str]
    cwd: str
    folders: tuple[str, ...]
    """Folders in which everything is protected."""
    files: tuple[str, ...]
    """Single files."""

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.folders, *self.files)


def runs(line: str, protected: Protected) -> str | None:
    """Why the line may not be run; None where it may."""
    for step in steps(line, protected.env, protected.cwd):
        for target in step.command.targets:
            if target not in HARMLESS and _hit(target, step.cwd, protected):
                return f"The command would write to {target}, which is anyhook's or holds its entry."
        why = _decides(step.name, step.words) or _changes(step, protected) if step.words else None
        if why:
            return why
    return None


def _decides(name: str, words: tuple[str, ...]) -> str | None:
    """A verb that only a person may use."""
    if name.startswith("python") and "-m" in words:
        words = words[words.index("-m") + 1 :]
        name = words[0] if words else ""
    verb = next((word for word in words[1:] if not word.startswith("-")), "") if name == "anyhook" else ""
    looks = LOOKING.get(verb) in words and "--yes" not in words and "--revoke" not in words
    return f"`anyhook {verb}` is for people." if verb in DECIDING and not looks else None


def _changes(step: CommandStep, protected: Protected) -> str | None:
    name, words, command, cwd = step.name, step.words, step.command, step.cwd
    for word, above in _written(name, words):
        if _hit(word, cwd, protected) or (above and _hit(word, cwd, protected, above=True)):
            return f"`{name}` would change {_shown(word)}, which is anyhook's, or holds it or its entry."
    if name in CODE and any(mark in text for text in (*words[1:], command.text) for mark in WRITING):
        texts = "\n".join((*words[1:], command.text))
        if any(spelled in texts for spelled in _spellings(protected)):
            return f"The {name} program names files of anyhook, or one that holds its entry, and may change them."
    if name in AWKS and any(
        f'"{spelled}' in text for text in words[1:] if ">" in text for spelled in _spellings(protected)
    ):
        return f"The {name} program writes to a file of anyhook, or to one that holds its entry."
    return None


def _written(name: str, words: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """The words that name what a command writes, and whether that includes everything below."""
    named = [word for word in words[1:] if not word.startswith("-")]
    options = [word for word in words[1:] if word.startswith("-")]
    if name == "git":
        yield from _by_git(words)
    elif name in DESTROYERS:
        yield from ((word, True) for word in named)
    elif name in TO_LAST:
        flags = [index for index, word in enumerate(words[:-1]) if word in ("-t", "--target-directory")]
        target = [words[index + 1] for index in flags]
        yield from ((word, "--delete" in options) for word in target or named[-1:])
    elif name == "dd":
        yield from ((word.partition("=")[2], False) for word in named if word.startswith("of="))
    elif name in IN_PLACE and any(word.startswith(IN_PLACE[name]) for word in words[1:]):
        yield from ((word, name == "find") for word in named)
    elif name not in (*READERS, *CODE, *SHELLS, "anyhook"):
        yield from ((word.partition("=")[2] or word if word.startswith("-") else word, False) for word in words[1:])


def _by_git(words: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    rest, folder = list(words[1:]), ""
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-C", "-c", "--git-dir", "--work-tree") and rest:
            value = rest.pop(0)
            folder = os.path.join(folder, value) if option == "-C" else folder
    if not rest or rest[0] not in GIT_CHANGES:
        return
    if folder:
        yield folder, False
    for word in rest[1:]:
        if not word.startswith("-"):
            yield (os.path.join(folder, word) if folder else word), False


# -- paths


def _hit(word: str, cwd: str | None, protected: Protected, above: bool = False) -> bool:
    """Whether a word names something protected, or with `above` a folder that holds it."""
    if not word or word == "-":
        return False
    if UNKNOWN in word or (cwd is None and not word.startswith("/")):
        return not above and _ends_like_ours(word.rpartition(UNKNOWN)[2], protected)
    if not word.startswith("/") and "/" in word and not above and _ends_like_ours(word, protected):
        return True  # the agent's shell may stand elsewhere than its payload says
    path = os.path.normpath(os.path.join(cwd or "/", word))
    spelled = {path, real_path(path)}
    for own in protected.all:
        for real in {own, os.path.realpath(own)}:
            for each in spelled:
                inside = own in protected.folders and each.startswith(f"{real}/")
                if (
                    each == real
                    or inside
                    or (above and real.startswith(f"{each.rstrip('/')}/"))
                    or _globs(each, real, above)
                ):
                    return True
    return False


def _globs(pattern: str, path: str, above: bool) -> bool:
    """Whether a pattern with `*`, `?` or `[` covers the path, or with `above` a folder that holds it."""
    if not any(sign in pattern for sign in "*?["):
        return False
    from fnmatch import fnmatchcase

    parts, wanted = path.split("/"), pattern.split("/")
    if len(wanted) > len(parts):
        wanted = wanted[: len(parts)]  # something inside of it
    elif len(wanted) < len(parts) and not above:
        return False
    return all(
        fnmatchcase(part, each) and not (part.startswith(".") and each[:1] in ("*", "?"))
        for part, each in zip(parts, wanted, strict=False)
    )


def _ends_like_ours(tail: str, protected: Protected) -> bool:
    """Whether what is known of a path's end names one of our files: our folder's name at once, or its last two names
    in a row, or those of a file."""
    tail = tail.lstrip("/")
    for folder in protected.folders:
        above, name = folder.rsplit("/", 2)[1:]
        if tail == name or tail.startswith(f"{name}/") or f"/{above}/{name}/" in f"/{tail}/":
            return True
    return "/" in tail and any(path.endswith(f"/{tail}") for path in protected.files)


def _spellings(protected: Protected) -> Iterator[str]:
    """The ways in which a program may name what is protected."""
    home = home_of(protected.env)
    for path in protected.all:
        yield path
        if path.startswith(f"{home}/"):
            yield path[len(home) + 1 :]


def _shown(word: str) -> str:
    return word.replace(UNKNOWN, "…")
