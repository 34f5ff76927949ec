"""Words without a grammar: for commands where only the words matter, and for lines that no grammar understands."""

from __future__ import annotations

from anyhook.programs.quick import SHELLS

SEPARATORS = ("&&", "||", ";", "|", "&", "\n")
RESERVED = frozenset({
    "[[", "case", "coproc", "declare", "do", "done", "elif", "else", "esac", "export", "fi", "for", "function", "if",
    "in", "local", "readonly", "select", "then", "time", "typeset", "unset", "unsetenv", "until", "while",
})  # fmt: skip
"""Words that make more of a line than a simple command."""
HIDDEN = ("$(", "`", "<(", ">(")
"""Marks of commands inside a command, whose words cannot be found without a shell."""


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable."""
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()


def joined(text: str) -> str:
    """The text without the continuations in it."""
    if "\\\n" not in text:
        return text
    from anyhook.programs import continuations

    return continuations.joined(text)


def loose_words(command: str) -> list[str]:
    """The words of a shell line, split without a shell."""
    import shlex

    command = joined(command)
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return command.split()


def loose_commands(text: str) -> list[list[str]]:
    """The parts between the operators of a text, as commands: for what no grammar understands."""
    found: list[list[str]] = [[]]
    for line in joined(text).splitlines():
        for word in loose_words(line):
            if word in ("{", "}") or (word and all(sign in ";&|()<>" for sign in word)):
                found.append([])
            elif word not in ("then", "do", "else", "fi", "done", "!"):
                found[-1].append(word.strip("'\"`$()"))
        found.append([])
    return [words for words in found if words and words[0]]


COMPUTED = ("$(", "`", "{", "=", "<<", "''", '""', "$'", "\\")
"""Characters of words that a shell would expand."""


def words_read(command: str) -> list[str]:
    """The words without the files that the line only writes: they change with every run and are not run. If the line
    computes words, the computed ones come after the others."""
    words = loose_words(command)
    found = [word for before, word in zip(["", *words], words, strict=False) if not before.endswith(">")]
    if not any(sign in command.replace("${", "$") for sign in COMPUTED):
        return found
    from anyhook.programs.program import UNKNOWN
    from anyhook.programs.statements import read_line

    made: list[str] = []
    for program in read_line(command, None, "~").programs:
        reads = [each.target.text for each in program.redirections if each.reads]
        made += [program.path, *(word.text for word in program.words), *reads]
    return list(dict.fromkeys([*found, *(text.replace(UNKNOWN, "$_") for text in made)]))


def argv_read(argv: list[str]) -> list[str]:
    """The same for a program that is started without a shell. If it is a shell with a line, the line is read too."""
    is_line = len(argv) > 2 and argv[0].rpartition("/")[2] in SHELLS and argv[1] in ("-c", "-ec", "-lc")
    return [*argv[:2], *words_read(argv[2]), *argv[3:]] if is_line else [*argv]


def plain_parts(line: str) -> list[str] | None:
    """The commands of a line as text, without variables in front; None if commands hide inside of commands."""
    if any(sign in line for sign in HIDDEN):
        return None
    line = joined(line)
    for separator in SEPARATORS:
        line = line.replace(separator, "\0")
    return [_without_assignments(part) for part in line.split("\0")]


def _without_assignments(command: str) -> str:
    words = command.split()
    while words and is_assignment(words[0]):
        words = words[1:]
    return " ".join(words)
