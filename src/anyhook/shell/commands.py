"""Commands as dialects write them: split into words, and searched for the files they name. Nothing is started here."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

# The `echo` of other shells expands escapes, which breaks hooks that pass the payload through it.
SHELL = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
"""What runs a shell line."""
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
INTERPRETERS = SHELLS | {"python", "python3", "node", "ruby", "perl", "deno", "bun"}
"""Programs that run the script that is named after them."""


def check_text(value: Json) -> str | None:
    """What is wrong with a value that must be a text with something in it."""
    if not isinstance(value, str):
        return "must be text"
    if not value.strip():
        return "is empty"
    return "holds a NUL character" if "\0" in value else None


def check_command(value: Json) -> str | None:
    """The same for a command that is split like a shell's argument list."""
    wrong = check_text(value)
    if wrong or not isinstance(value, str):
        return wrong
    import shlex

    try:
        return None if shlex.split(value) else "is empty"
    except ValueError as error:
        return f"cannot be split into words ({error})"


def check_argv(value: Json) -> str | None:
    """The same where a list of words will do as well."""
    if not isinstance(value, list):
        return check_command(value)
    if not value or not all(isinstance(word, str) and "\0" not in word for word in value) or not value[0]:
        return "must be text or a list of texts with a program first"
    return None


def split(value: Json) -> list[str]:
    """The words of a checked command."""
    import shlex

    return [str(word) for word in value] if isinstance(value, list) else shlex.split(str(value))


def argv_of(hook: Hook) -> list[str]:
    """The words of a loaded command hook."""
    words = hook.spec["argv"]
    return [str(word) for word in words] if isinstance(words, list) else []


def expand_home(word: str, home: str) -> str:
    """`~` and `~/…` only: no variable, no glob, no shell."""
    return home + word[1:] if word == "~" or word.startswith("~/") else word


def loose_words(command: str) -> list[str]:
    """The words of a shell line as far as they can be told apart without a shell."""
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return command.split()


def words_read(command: str) -> list[str]:
    """The same without the files that the line only writes: they change with every run, and nobody runs them."""
    words = loose_words(command)
    return [word for before, word in zip(["", *words], words, strict=False) if not before.endswith(">")]


def named_files(
    words: Sequence[str], cwd: str, home: str, variables: Mapping[str, str], files: Files
) -> tuple[str, ...]:
    """The files that a command's words name, absolute."""
    from anyhook.shell.named import files_named

    return files_named(words, cwd, home, variables, files)
