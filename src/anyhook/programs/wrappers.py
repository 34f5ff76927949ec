"""Programs that run other programs: the other program comes after their options, in a word that is a shell line, or
between `-exec` and `;`. Its row says how it names them."""

from __future__ import annotations

from itertools import pairwise

from anyhook.model.record import Record
from anyhook.programs.found import EXECS, fd_files, found_files
from anyhook.programs.loose import is_assignment
from anyhook.programs.program import Word
from anyhook.programs.rows import ProgramRow, Wraps
from anyhook.programs.table import named, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anyhook.programs.rows import Runs

    Words = Sequence[Word]
    Running = Callable[[str, ProgramRow, Words, Words, Word | None], list["InnerCommand"]]

GIT_LINES = {
    "rebase": ("-x", "--exec"), "filter-branch": (
        "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter",
        "--tag-name-filter", "--setup",
    ),
    "difftool": ("-x", "--extcmd"), "grep": ("--open-files-in-pager",),
    **dict.fromkeys(("clone", "fetch", "pull", "ls-remote", "fetch-pack"), ("-u", "--upload-pack", "--exec")),
    **dict.fromkeys(("push", "send-pack"), ("--receive-pack", "--exec")), "archive": ("--exec",),
}  # fmt: skip

"""By sub-command, the options of git whose value is a shell line."""

GIT_LINE_SETTINGS = (
    "core.sshcommand", "core.pager", "core.editor", "core.fsmonitor", "core.askpass", "core.gitproxy", "diff.external",
    "sequence.editor", "gpg.program", "credential.helper", "uploadpack.packobjectshook", "interactive.difffilter",
)  # fmt: skip

"""Settings of git whose value is a shell line,"""

GIT_LINE_ENDS = (".cmd", ".textconv", ".clean", ".smudge", ".process", ".command", ".driver", ".helper")

"""and the ends of others."""

LINE_VARIABLES = frozenset(
    {
        "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF",
        "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
        "SUDO_EDITOR", "LESSOPEN", "PROMPT_COMMAND", "RSYNC_RSH", "FZF_DEFAULT_COMMAND", "BROWSER", "CVS_RSH",
        "SVN_SSH", "LESSCLOSE", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "BAT_PAGER", "DELTA_PAGER", "AWS_PAGER", "GH_PAGER",
        "GH_EDITOR", "KUBE_EDITOR", "FCEDIT", "HGEDITOR", "SVN_EDITOR",
        "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC", "npm_config_script_shell", "NPM_CONFIG_SCRIPT_SHELL",
    }
)  # fmt: skip

"""Variables whose value others run as a shell line."""


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


GIT_WORDS = frozenset({"foreach", "run", "-c", *GIT_LINES})

"""A call of git that runs a line has one of these words."""


def inner_commands(
    name: str, row: ProgramRow, words: Sequence[Word], stdin: Sequence[Word], script: Word | None
) -> list[InnerCommand]:
    """The commands that a command runs. `script` is its input, if that is known."""
    if not row.names:
        return _handed_on(words)
    if row.wraps is None and not row.runs and not row.has("fed"):
        return []
    if row.has("fed") and script is not None and not (row.wraps is not None and _wrapped(name, row, words)):
        return [_fed(name, row, words, script)]
    return RUN_BY[row.runs](name, row, words, stdin, script)


def _handed_on(words: Sequence[Word]) -> list[InnerCommand]:
    """What an unknown program may run: `TOOL … rm -rf X`, `TOOL --hook 'rm -rf X'`."""
    name = words[0].source
    for place, word in enumerate(words[1:-1], 1):
        is_path = word.text.startswith("/") and not words[place - 1].text.startswith("-")
        if (is_path or words[place + 1].text.startswith("-")) and _is_harmful(word.text):
            return [InnerCommand(name, words=tuple(words[place:]), keep=True)]
    return [*_hooks(name, words)][:1]


def _hooks(name: str, words: Sequence[Word]) -> Iterator[InnerCommand]:
    for before, word in pairwise(words):
        option, sign, value = word.text.partition("=") if word.text.startswith("--") else (before.text, "=", word.text)
        line = value.lstrip(" ;|&!")
        first, _, rest = line.partition(" ")
        if sign and rest[:1] == "-" and _is_harmful(first) and option.startswith("-") and option not in TEXT_OPTIONS:
            yield InnerCommand(f"{name} {option}", line=Word(line, line), keep=True)


TEXT_OPTIONS = (
    "-m", "-p", "-t", "-d", "--message", "--prompt", "--title", "--body", "--description", "--text", "--note",
)  # fmt: skip
"""Options of unknown programs whose value is a text."""


def _is_harmful(text: str) -> bool:
    """Whether a word is a program that deletes, or runs what it is given."""
    row = row_of(text.rpartition("/")[2])
    return row.deletes == "all" or row.is_shell or row.runs == "found" or row.special == "dd"


def likely_programs(pattern: str) -> list[Word]:
    """The harmful programs that a name with wildcards may match: `r[m]`, `/???/c?t`."""
    from fnmatch import fnmatchcase

    return [Word(name, name) for name in named("hidden") if fnmatchcase(name, pattern)] if pattern.strip("*") else []


def _fed(name: str, row: ProgramRow, words: Sequence[Word], script: Word) -> InnerCommand:
    """What a program runs if it reads shell lines from its input."""
    rest = _past_options(words[1:], row.values)[0]
    label = " ".join([name, *(word.source for word in rest[:1])])
    return InnerCommand(label, line=script, remote=row.wraps is not None and row.wraps.remote, keep=True)


def _scheduled(table: Word) -> Iterator[InnerCommand]:
    """The lines of a table for `crontab`, without their times."""
    for line in table.text.splitlines():
        words = line.split(None, 1 if line.startswith("@") else 5)
        if len(words) == (2 if line.startswith("@") else 6) and not line.startswith("#"):
            yield InnerCommand("crontab", line=Word(words[-1], words[-1]), keep=True)


def _wrapped(name: str, row: ProgramRow, words: Sequence[Word]) -> list[InnerCommand]:
    """The program after the options of another, or the shell line in one of them."""
    wraps = row.wraps or Wraps()
    rest, label = _after_verb(name, wraps, list(words[1:]))
    if rest is None:
        return []
    rest, options = _past_options(rest, row.values if wraps.values is None else wraps.values)
    given = {option for option, _ in options}
    keep = wraps.keep or not given.isdisjoint(wraps.writes.split())
    line = _line_of(row, wraps, rest, options)
    if line is not None and not row.has("assigns"):
        return [InnerCommand(f"{label} -c", line=line, remote=wraps.remote, keep=keep)]
    if wraps.program_if is not None and given.isdisjoint(wraps.program_if.split()):
        return []
    folder = next((value for option, value in options if option in wraps.folder.split()), None)
    inner = InnerCommand(label, folder=folder, remote=wraps.remote, keep=keep)
    inner = _placed(wraps, inner, rest)
    rest, assigned = _assigned(row, _past_operands(row, wraps, rest))
    if line is not None:  # env -S
        return [inner.replace(label="env -S", line=_joined([line, *rest]), set=assigned)]
    return [_as_command(wraps, rest, inner.replace(set=assigned))] if rest else []


def _placed(wraps: Wraps, inner: InnerCommand, rest: Sequence[Word]) -> InnerCommand:
    """The same with the name of the other place. (Below `/`, `chroot` stays here, and `ssh localhost` too.)"""
    if not (rest and wraps.remote and wraps.skip):
        return inner
    is_here = rest[0].text in ("/", "localhost", "127.0.0.1", "::1")
    return inner.replace(label=f"{inner.label} {rest[0].source}", remote=not is_here)


def _past_operands(row: ProgramRow, wraps: Wraps, rest: list[Word]) -> list[Word]:
    """The words after those that the program takes itself, and after its options behind them."""
    rest = rest[wraps.skip :]
    if wraps.skip and rest[:1] and rest[0].text[:1] == "-":
        return _past_options(rest, row.values if wraps.values is None else wraps.values)[0]
    return rest[1:] if rest[:1] and rest[0].text == "--" else rest


def _as_command(wraps: Wraps, rest: list[Word], inner: InnerCommand) -> InnerCommand:
    """The words that are run, as words or as one line."""
    if wraps.packages:
        rest = [_without_version(rest[0]), *rest[1:]]
    if wraps.joined and (len(rest) > 1 or " " in rest[0].text or inner.remote):
        return InnerCommand(inner.label, line=_joined(rest), remote=inner.remote, keep=inner.keep)
    return inner.replace(words=tuple(rest))


def _line_of(row: ProgramRow, wraps: Wraps, rest: Sequence[Word], options: Sequence[tuple[str, Word]]) -> Word | None:
    """The shell line in an option: before the other words, after them, or in one word with it."""
    if wraps.typed_after:
        return next(iter(_after(rest, wraps.typed_after)), None)
    lines = wraps.line.split()
    if not lines:
        return None
    if found := next((value for option, value in (*options, *_later(rest, lines)) if option in lines), None):
        return found
    places = rest if wraps.program_if is not None else rest[wraps.skip : wraps.skip + 1]
    short = [] if row.has("assigns") else [option for option in lines if len(option) == 2]
    return next((Word(word.text[2:], word.source[2:]) for word in places if word.text[:2] in short), None)


def _after_verb(name: str, wraps: Wraps, rest: list[Word]) -> tuple[list[Word] | None, str]:
    """The words after the sub-command that runs something, and what to call it; None without one."""
    if not wraps.verbs:
        return rest, name
    verbs = wraps.verbs.split()
    place = next((at for at, word in enumerate(rest) if word.text in verbs), -1)
    return (rest[place + 1 :], f"{name} {rest[place].text}") if place >= 0 else (None, name)


def _assigned(row: ProgramRow, rest: list[Word]) -> tuple[list[Word], tuple[tuple[str, Word], ...]]:
    """The words from the program on, and the variables before it."""
    found: list[tuple[str, Word]] = []
    while rest and row.has("assigns") and is_assignment(rest[0].text):
        key, _, given = rest[0].text.partition("=")
        found.append((key, Word(given, rest[0].source.partition("=")[2])))
        rest = rest[1:]
    return rest, tuple(found)


def _later(words: Sequence[Word], options: Sequence[str]) -> list[tuple[str, Word]]:
    """The options with a shell line that come after other words: `su postgres -c LINE`. (Not for `env`: what it runs
    has its own options.)"""
    if "--split-string" in options:
        return []
    texts = [word.text for word in words]
    found = [(text, words[place + 1]) for place, text in enumerate(texts[:-1]) if text in options]
    for word in words:
        name, sign, value = word.text.partition("=")
        if sign and name.startswith("--") and name in options:
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


def _joined(words: Sequence[Word]) -> Word:
    origins = tuple(origin for word in words for origin in word.origins)
    return Word(" ".join(word.text for word in words), " ".join(word.source for word in words), False, origins)


def _glued(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """A line that is in one word with its option, as shells other than POSIX ones take it."""
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    long = (text.partition("=")[2] for text in options if text.startswith(("--command=", "--init-command=")))
    short = (text[2:] for text in options if text[:2] in ("-c", "-C") and len(text) > 2)
    lines = [*(Word(line, line) for line in (*long, *short)), *_values_after(words, LINES_OF_OTHERS)]
    return [InnerCommand(f"{name} -c", line=line) for line in lines]


LINES_OF_OTHERS = ("-c", "-C", "--command", "--commands", "--init-command", "--execute")
"""Options of such shells whose value is a line."""


def _values_after(words: Sequence[Word], options: Sequence[str]) -> Iterator[Word]:
    return (after for before, after in pairwise(words) if before.text in options)


def _shell(name: str, words: Sequence[Word]) -> list[InnerCommand]:
    """`bash -c LINE`, also as `-lc`, `-o pipefail -c` or `--norc -c`."""
    rest, first = list(words[1:]), list[InnerCommand]()
    while rest and rest[0].text[:1] in ("-", "+") and len(rest[0].text) > 1:
        text = rest.pop(0).text
        if text in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O"):
            value = rest[:1]
            rest = rest[1:]
            first += [InnerCommand(name, words=(Word(".", "."), each)) for each in value if text[:2] == "--"]
        elif text in ("-n", "-nc"):  # it only checks the syntax
            return []
        elif not text.startswith("--") and text[0] == "-" and "c" in text[1:]:
            while rest and rest[0].text[:1] == "-" and len(rest[0].text) > 1:
                rest.pop(0)
            return [*first, InnerCommand(f"{name} -c", line=rest[0], params=tuple(rest[1:]))] if rest else []
    return []


def _for_each(row: ProgramRow, words: Sequence[Word], stdin: Sequence[Word], script: Word | None) -> list[InnerCommand]:
    """`xargs` and `parallel` with the words that they add: at the end, or for a placeholder."""
    name = row.name
    rest, options = _past_options(words[1:], row.values)
    sign = next((value.text or "{}" for option, value in options if option in ("-I", "-i", "--replace")), "")
    given = [*stdin] if script is None or not sign else _by_line(script)
    if row.runs == "each":
        return [InnerCommand(name, tuple(_with_given(rest, sign, given)))] if rest else []
    rest, listed = _listed(rest, given)
    if not rest:
        lines = listed if listed is not given or script is None else _by_line(script)
        return [InnerCommand(name, line=word) for word in lines]
    made = _with_given(rest, sign or "{}", listed)
    is_line = len(rest) == 1 and " " in rest[0].text
    return [InnerCommand(name, line=_joined(made)) if is_line else InnerCommand(name, tuple(made))]


def _by_line(script: Word) -> list[Word]:
    """The input of a program that adds whole lines."""
    return [Word(line, line) for line in script.text.splitlines() if line] if script.known else [script]


def _with_given(rest: Sequence[Word], sign: str, given: Sequence[Word]) -> list[Word]:
    """The words of a command with those that are added: for a placeholder, or at the end."""
    is_filled = bool(sign) and any(sign in word.text for word in rest)
    return [part for word in rest for part in _filled(word, sign, given)] if is_filled else [*rest, *given]


def _listed(rest: list[Word], given: list[Word]) -> tuple[list[Word], list[Word]]:
    """The command of `parallel`, and the words after `:::` or in the files after `::::`."""
    place = next((at for at, word in enumerate(rest) if word.text in (":::", "::::")), -1)
    if place < 0:
        return rest, given
    named_ = [word for word in rest[place + 1 :] if word.text not in (":::", "::::")]
    if rest[place].text == "::::":
        named_ = [Word("\0", f"$(cat {word.source})") for word in named_]
    return rest[:place], named_


def argument_file(row: ProgramRow, words: Sequence[Word]) -> Word | None:
    """The file of `xargs -a FILE`, which it reads instead of its input."""
    options = _past_options(words[1:], row.values)[1]
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


def _found(name: str, row: ProgramRow, words: Sequence[Word]) -> Iterator[InnerCommand]:
    """What `find` runs for each file: the placeholder stands for anything below the start folders."""
    is_fd = row.finds == "fd"
    below = fd_files(words) if is_fd else found_files(words)
    place = 0
    while place < len(words):
        if words[place].text in EXECS:
            end = next((at for at in range(place + 1, len(words)) if words[at].text in (";", "+")), len(words))
            made = [part for word in words[place + 1 : end] for part in _filled(word, "{}", below)]
            if is_fd and not any("{" in word.text for word in words[place + 1 : end]):
                made += below
            if made:
                yield InnerCommand(f"{name} {words[place].text}", tuple(made), keep=True)
            place = end
        place += 1


def _by_git(words: Sequence[Word]) -> Iterator[InnerCommand]:
    """Lines that git runs: `submodule foreach`, `bisect run`, `rebase --exec`, filters, `!` aliases."""
    texts = [word.text for word in words]
    if GIT_WORDS.isdisjoint(texts):
        return
    for place, text in enumerate(texts[:-1]):
        yield from (found := [*_behind_git(text, texts[:place], words[place + 1 :])])
        if found and text != "-c":  # the rest is in it
            break
    pagers = [word for word in words if word.text[:2] == "-O" and word.text[2:]] if "grep" in texts else []
    for word in pagers:
        yield InnerCommand("git grep -O", line=Word(word.text[2:], word.source[2:]), keep=True)
    for verb in dict.fromkeys(texts):
        for option, line in _later(_after(words, verb), GIT_LINES.get(verb, ())):
            yield InnerCommand(f"git {option}", line=line, keep=True)


def _behind_git(text: str, before: Sequence[str], after: Sequence[Word]) -> Iterator[InnerCommand]:
    """What follows one word."""
    if text == "foreach" and "submodule" in before:
        rest = [word for word in after if not word.text.startswith("--")]
        yield InnerCommand("git submodule foreach", line=_joined(rest), keep=True)
    elif text == "run" and "bisect" in before:
        yield InnerCommand("git bisect run", tuple(after), keep=True)
    elif text == "-c":
        yield from _set_for_git(after[0], after[1:])


YES_OR_NO = ("true", "false", "yes", "no", "on", "off", "1", "0", "")


def _set_for_git(setting: Word, rest: Sequence[Word]) -> Iterator[InnerCommand]:
    """What a git setting for one call runs."""
    key, _, text = setting.text.partition("=")
    source = setting.source.partition("=")[2]
    name = key.lower().removeprefix("alias.")
    if name == key.lower():
        pages = name.startswith("pager.") and text.lower() not in YES_OR_NO
        updates = name.startswith("submodule.") and name.endswith(".update") and text.startswith("!")
        if pages or updates or name in GIT_LINE_SETTINGS or name.endswith(GIT_LINE_ENDS):
            yield InnerCommand(f"git -c {key}", line=Word(text.removeprefix("!"), source.removeprefix("!")), keep=True)
    elif text.startswith("!"):
        yield InnerCommand("git alias", line=_joined([Word(text[1:], source[1:]), *_after(rest, name)]), keep=True)
    elif any(word.text == name for word in rest):
        line = _joined([Word("git", "git"), Word(text, source), *_after(rest, name)])
        yield InnerCommand("git alias", line=line, keep=True)


def _any_wrapped(
    name: str, row: ProgramRow, words: Sequence[Word], _stdin: Sequence[Word], _script: Word | None
) -> list[InnerCommand]:
    only_looks = words[1:] and words[1].text in row.not_if.split()
    return [] if row.wraps is None or only_looks else _wrapped(name, row, words)


RUN_BY: dict[Runs, Running] = {
    "": _any_wrapped,
    "schedule": lambda _name, _row, _words, _stdin, script: [] if script is None else list(_scheduled(script)),
    "shell": lambda name, row, words, _stdin, _script: (
        (not row.is_shell and _glued(name, words)) or _shell(name, words)
    ),
    "each": lambda _name, row, words, stdin, script: _for_each(row, words, stdin, script),
    "listed": lambda _name, row, words, stdin, script: _for_each(row, words, stdin, script),
    "found": lambda name, row, words, _stdin, _script: list(_found(name, row, words)),
    "git": lambda _name, _row, words, _stdin, _script: list(_by_git(words)),
    "module": lambda name, _row, words, _stdin, _script: _module(name, words),
}
"""How programs run others, by the word in their row."""
