"""Programs that run other programs: the other program comes after their options, in a word that is a shell line, or
between `-exec` and `;`."""

from __future__ import annotations

from fnmatch import fnmatchcase

from anyhook.model.record import Record
from anyhook.shell.commands import SHELLS
from anyhook.shell.found import EXECS, fd_files, found_files
from anyhook.shell.program import Word
from anyhook.shell.wrapper_table import (
    COMPOSE,
    FED_SHELLS,
    FOR_EACH,
    GIT_LINE_ENDS,
    GIT_LINE_SETTINGS,
    GIT_LINES,
    OFTEN_HIDDEN,
    OTHER_SHELLS,
    PARALLEL,
    PLAIN,
    WRAPPERS,
    XARGS,
    Wrapper,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class InnerCommand(Record):
    """What a program runs: words, or a shell line."""

    label: str
    words: tuple[Word, ...] = ()
    line: Word | None = None
    params: tuple[Word, ...] = ()
    """The values of `$0`, `$1` … in the line."""
    folder: Word | None = None
    set: tuple[tuple[str, Word], ...] = ()
    remote: bool = False
    keep: bool = False


FINDERS = ("find", "gfind", "fd", "fdfind", "bfs")
RUNNERS = frozenset(
    {*WRAPPERS, *FED_SHELLS, *SHELLS, *OTHER_SHELLS, *FOR_EACH, *FINDERS, *COMPOSE, "crontab", "git"}
)  # fmt: skip
"""Programs that run others."""
GIT_WORDS = frozenset({"foreach", "run", "-c", *GIT_LINES})
"""A call of git that runs a line has one of these words."""


def inner_commands(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """The commands that a command runs. `script` is its input, if that is known."""
    if name not in RUNNERS and not name.startswith(("python", "pypy")):
        return []
    fed = WRAPPERS.get(name)
    if name in FED_SHELLS and script is not None and not (fed is not None and _wrapped(name, fed, words)):
        return [_fed(name, fed or PLAIN, words, script)]
    if name == "crontab" and script is not None:
        return list(_scheduled(script))
    if name in SHELLS or name in OTHER_SHELLS:
        return _shell(name, words)
    if name in FOR_EACH:
        return _for_each(name, words, stdin, script)
    if name in FINDERS:
        return list(_found(name, words))
    if name == "git":
        return [] if GIT_WORDS.isdisjoint([word.text for word in words]) else list(_by_git(words))
    if name.startswith(("python", "pypy")):
        return _module(name, words)
    wrapper = WRAPPERS.get("docker" if name in COMPOSE else name)
    if wrapper is None or (name == "command" and words[1:] and words[1].text in ("-v", "-V")):
        return []
    return _wrapped(name, wrapper, words)


def likely_programs(pattern: str) -> list[Word]:
    """The harmful programs that a name with wildcards may match: `r[m]`, `/???/c?t`."""
    return [Word(name, name) for name in OFTEN_HIDDEN if fnmatchcase(name, pattern)] if pattern.strip("*") else []


def _fed(name: str, wrapper: Wrapper, words: Sequence[Word], script: Word) -> InnerCommand:
    """What a program runs if it reads shell lines from its input."""
    rest = _past_options(words[1:], wrapper.values)[0]
    label = " ".join([name, *(word.source for word in rest[:1])])
    return InnerCommand(label, line=script, remote=wrapper.remote, keep=True)


def _scheduled(table: Word) -> Iterator[InnerCommand]:
    """The lines of a table for `crontab`, without their times."""
    for line in table.text.splitlines():
        words = line.split(None, 1 if line.startswith("@") else 5)
        if len(words) == (2 if line.startswith("@") else 6) and not line.startswith("#"):
            yield InnerCommand("crontab", line=Word(words[-1], words[-1]), keep=True)


def _wrapped(name: str, wrapper: Wrapper, words: Sequence[Word]) -> list[InnerCommand]:
    rest, label = list(words[1:]), name
    if name == "docker" and rest[:1] and rest[0].text in ("compose", "container"):
        rest.pop(0)
    if wrapper.verbs:
        place = next((at for at, word in enumerate(rest) if word.text in wrapper.verbs), -1)
        if place < 0:
            return []
        label = f"{name} {rest[place].text}"
        rest = rest[place + 1 :]
    assigned: list[tuple[str, Word]] = []
    rest, options = _past_options(rest, wrapper.values)
    folder = next((value for option, value in options if option in wrapper.folder), None)
    line = next((value for option, value in (*options, *_later(rest, wrapper)) if option in wrapper.line), None)
    if name == "screen" and (stuffed := _after(rest, "stuff")):
        return [InnerCommand("screen -X stuff", line=stuffed[0])]
    if line is not None and name != "env":
        return [InnerCommand(f"{label} -c", line=line, remote=wrapper.remote, keep=wrapper.keep)]
    if name in ("su", "script", "runuser") and (
        name != "runuser" or not any(option in ("-u", "--user") for option, _ in options)
    ):
        return []
    if wrapper.remote and wrapper.skip and rest:
        label = f"{label} {rest[0].source}"
    if name == "chroot" and rest[:1] and rest[0].text == "/":
        wrapper = wrapper.replace(remote=False)
    rest = rest[wrapper.skip :]
    if rest[:1] and rest[0].text == "--":
        rest = rest[1:]
    while rest and name in ("env", "sudo", "doas", "cross-env", "systemd-run") and _is_assignment(rest[0]):
        word = rest.pop(0)
        key, _, given = word.text.partition("=")
        assigned.append((key, Word(given, word.source.partition("=")[2])))
    if line is not None:  # env -S
        return [InnerCommand("env -S", line=_joined([line, *rest]), folder=folder, set=tuple(assigned))]
    if not rest:
        return []
    if wrapper.packages:
        rest[0] = _without_version(rest[0])
    if wrapper.joined and (len(rest) > 1 or " " in rest[0].text or wrapper.remote):
        return [InnerCommand(label, line=_joined(rest), remote=wrapper.remote, keep=wrapper.keep)]
    return [
        InnerCommand(label, tuple(rest), folder=folder, set=tuple(assigned), remote=wrapper.remote, keep=wrapper.keep)
    ]


def _later(words: Sequence[Word], wrapper: Wrapper) -> list[tuple[str, Word]]:
    """The options with a shell line that come after other words: `su postgres -c LINE`. (Not for `env`: what it runs
    has its own options.)"""
    if "--split-string" in wrapper.line:
        return []
    texts = [word.text for word in words]
    found = [(text, words[place + 1]) for place, text in enumerate(texts[:-1]) if text in wrapper.line]
    for word in words:
        name, sign, value = word.text.partition("=")
        if sign and name.startswith("--") and name in wrapper.line:
            found.append((name, Word(value, word.source.partition("=")[2])))
    return found


def _after(words: Sequence[Word], text: str) -> list[Word]:
    """The words after this one; empty without it."""
    texts = [word.text for word in words]
    return list(words[texts.index(text) + 1 :]) if text in texts else []


def _without_version(word: Word) -> Word:
    """The program of a package: `rimraf` for `rimraf@5`."""
    place = word.text.find("@", 1)
    return Word(word.text[:place], word.text[:place]) if place > 0 and word.known else word


def _module(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """`python -m MODULE`, which is the program of that name."""
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-") and not rest[0].text.startswith("--") and rest[0].text != "-":
        letters = rest.pop(0).text[1:]
        place = next((at for at, letter in enumerate(letters) if letter in "mcWX"), len(letters))
        value = letters[place + 1 :]
        if letters[place : place + 1] == "m":
            made = [Word(value, value), *rest] if value else rest
            return [InnerCommand(f"{name} -m", tuple(made), keep=True)] if made else []
        if letters[place : place + 1] == "c":
            return []
        if place < len(letters) and not value and rest:
            rest.pop(0)
    return []


def _past_options(words: Sequence[Word], values: str) -> tuple[list[Word], list[tuple[str, Word]]]:
    """The words after the options, and the options that have a value."""
    short, *long = values.split(" ")
    rest, found = list(words), []
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        word = rest.pop(0)
        text = word.text
        if text == "--":
            break
        name, sign, value = text.partition("=")
        if text.startswith("--"):
            if sign:
                found.append((name, Word(value, word.source.partition("=")[2])))
            elif name[2:] in long and rest:
                found.append((name, rest.pop(0)))
            else:
                found.append((name, Word("", "")))
            continue
        for place, letter in enumerate(text[1:], 1):
            if letter in short:
                value = text[place + 1 :]
                if value:
                    found.append((f"-{letter}", Word(value, value)))
                elif rest:
                    found.append((f"-{letter}", rest.pop(0)))
                break
            found.append((f"-{letter}", Word("", "")))
    return rest, found


def _is_assignment(word: Word) -> bool:
    name, sign, _ = word.text.partition("=")
    return bool(sign) and name.isidentifier()


def _joined(words: Sequence[Word]) -> Word:
    origins = tuple(origin for word in words for origin in word.origins)
    return Word(" ".join(word.text for word in words), " ".join(word.source for word in words), False, origins)


def _shell(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """`bash -c LINE`, also as `-lc`, `-o pipefail -c` or `--norc -c`."""
    rest = list(words[1:])
    while rest and rest[0].text[:1] in ("-", "+") and len(rest[0].text) > 1:
        text = rest.pop(0).text
        if text in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O") and rest:
            rest.pop(0)
        elif text in ("-n", "-nc"):  # it only checks the syntax
            return []
        elif not text.startswith("--") and text[0] == "-" and "c" in text[1:]:
            while rest and rest[0].text[:1] == "-" and len(rest[0].text) > 1:
                rest.pop(0)
            return [InnerCommand(f"{name} -c", line=rest[0], params=tuple(rest[1:]))] if rest else []
    return []


def _for_each(name: str, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """`xargs` and `parallel` with the words that they add: at the end, or for a placeholder."""
    rest, options = _past_options(words[1:], (XARGS if name == "xargs" else PARALLEL).values)
    sign = next((value.text for option, value in options if option in ("-I", "-i", "--replace")), "")
    given = list(stdin)
    if sign and script is not None:  # it then uses whole lines
        given = [Word(line, line) for line in script.text.splitlines() if line] if script.known else [script]
    if name == "parallel":
        sign = sign or "{}"
        marks = [place for place, word in enumerate(rest) if word.text in (":::", "::::")]
        if marks:
            given = [word for word in rest[marks[0] + 1 :] if word.text not in (":::", "::::")]
            if rest[marks[0]].text == "::::":  # files that contain them
                given = [Word("\0", f"$(cat {word.source})") for word in given]
            rest = rest[: marks[0]]
    if not rest:
        if name == "parallel" and stdin:
            return [InnerCommand(name, line=word) for word in stdin]
        return []
    if sign and any(sign in word.text for word in rest):
        made = [part for word in rest for part in _filled(word, sign, given)]
    else:
        made = [*rest, *given]
    if name == "parallel" and len(rest) == 1 and " " in rest[0].text:
        return [InnerCommand(name, line=_joined(made))]
    return [InnerCommand(name, tuple(made))]


def argument_file(words: Sequence[Word]) -> Word | None:
    """The file of `xargs -a FILE`, which it reads instead of its input."""
    options = _past_options(words[1:], XARGS.values)[1]
    return next((value for option, value in options if option in ("-a", "--arg-file")), None)


def _filled(word: Word, sign: str, given: Sequence[Word]) -> list[Word]:
    """A word with the placeholder replaced. Some programs print names and some print paths, so after a folder
    (`DIR/{}`) a name alone counts too."""
    if sign not in word.text:
        return [word]
    names = [Word(each.text.rpartition("/")[2], each.source.rpartition("/")[2], each.globs, each.origins)
             for each in given if f"/{sign}" in word.text and "/" in each.text]  # fmt: skip
    return [
        Word(word.text.replace(sign, each.text), word.source.replace(sign, each.source), each.globs, each.origins)
        for each in (*given, *names)
    ] or [word]


def _found(name: str, words: Sequence[Word]) -> Iterator[InnerCommand]:
    """What `find` runs for each file: the placeholder stands for anything below the start folders."""
    below = found_files(words) if "find" in name or name == "bfs" else fd_files(words)
    place = 0
    while place < len(words):
        if words[place].text in EXECS:
            end = next((at for at in range(place + 1, len(words)) if words[at].text in (";", "+")), len(words))
            made = [part for word in words[place + 1 : end] for part in _filled(word, "{}", below)]
            if name in ("fd", "fdfind") and not any("{" in word.text for word in words[place + 1 : end]):
                made += below
            if made:
                yield InnerCommand(f"{name} {words[place].text}", tuple(made), keep=True)
            place = end
        place += 1


def _by_git(words: Sequence[Word]) -> Iterator[InnerCommand]:
    """Lines that git runs: `submodule foreach`, `bisect run`, `rebase --exec`, filters, `!` aliases."""
    texts = [word.text for word in words]
    for place, text in enumerate(texts[:-1]):
        following = words[place + 1]
        if text == "foreach" and "submodule" in texts[:place]:
            rest = [word for word in words[place + 1 :] if not word.text.startswith("--")]
            yield InnerCommand("git submodule foreach", line=_joined(rest), keep=True)
        elif text == "run" and "bisect" in texts[:place]:
            yield InnerCommand("git bisect run", tuple(words[place + 1 :]), keep=True)
        elif text == "-c":
            yield from _set_for_git(following, words[place + 2 :])
    for verb, options in GIT_LINES.items():
        if verb in texts:
            lines = _later(_after(words, verb), Wrapper(line=options))
            yield from (InnerCommand(f"git {option}", line=line, keep=True) for option, line in lines)


def _set_for_git(setting: Word, rest: Sequence[Word]) -> Iterator[InnerCommand]:
    """What a git setting for one call runs."""
    key, _, text = setting.text.partition("=")
    value = Word(text, setting.source.partition("=")[2])
    name = key.lower().removeprefix("alias.")
    if name == key.lower():
        if name in GIT_LINE_SETTINGS or name.endswith(GIT_LINE_ENDS):
            yield InnerCommand(
                f"git -c {key}", line=Word(text.removeprefix("!"), value.source.removeprefix("!")), keep=True
            )
    elif text.startswith("!"):
        yield InnerCommand(
            "git alias", line=_joined([Word(text[1:], value.source[1:]), *_after(rest, name)]), keep=True
        )
    elif any(word.text == name for word in rest):
        yield InnerCommand("git alias", line=_joined([Word("git", "git"), value, *_after(rest, name)]), keep=True)
