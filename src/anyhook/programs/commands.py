"""Commands as dialects declare them: whether they are valid, and their words. Nothing is started here."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

# The `echo` of other shells expands escapes, which breaks hooks that pass the payload through it.
SHELL = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
"""What runs a shell line."""
STARTERS = frozenset({
    "sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "ruby", "perl", "deno", "bun", "uv", "npx", "env",
})  # fmt: skip
"""Programs that no hook is named after. (Not read from the table: a new row would rename hooks.)"""
LANGUAGES = {
    "python": "python3", "py": "python3", "javascript": "node", "js": "node", "node": "node", "ruby": "ruby",
    "perl": "perl", "bash": "bash", "sh": "bash", "shell": "bash", "workflow": "node",
}  # fmt: skip
"""What tools call the languages that they run → the program."""
POWERSHELL = ("powershell", "pwsh", "cmd.exe")


def is_powershell(name: str) -> bool:
    """Whether a tool or a shell of this name has a grammar that differs from that of POSIX shells."""
    return any(each in name.lower() for each in POWERSHELL)


def check_text(value: Json) -> str | None:
    """What is wrong with a value that must be a text with something in it."""
    if not isinstance(value, str):
        return "must be text"
    if not value.strip():
        return "is empty"
    return "holds a NUL character" if "\0" in value else None


QUOTING = ("'", '"', "\\")


def check_command(value: Json) -> str | None:
    """The same for a command that is split like a shell's argument list."""
    wrong = check_text(value)
    if wrong or not isinstance(value, str):
        return wrong
    try:
        return None if words_of(value) else "is empty"
    except ValueError as error:
        return f"cannot be split into words ({error})"


def check_argv(value: Json) -> str | None:
    """The same, but a list of words is allowed too."""
    if not isinstance(value, list):
        return check_command(value)
    if not value or not all(isinstance(word, str) and "\0" not in word for word in value) or not value[0]:
        return "must be text or a list of texts with a program first"
    return None


def split(value: Json) -> list[str]:
    """The words of a checked command."""
    return [str(word) for word in value] if isinstance(value, list) else words_of(str(value))


def words_of(line: str) -> list[str]:
    """Like `shlex.split`, which is slow and loaded only for a line that needs it; most lines have plain words. Raises
    ValueError for an unclosed quote."""
    if line.isascii() and line.isprintable() and not any(sign in line for sign in QUOTING):
        return line.split()
    import shlex

    return shlex.split(line)


def argv_of(hook: Hook) -> list[str]:
    """The words of a loaded command hook."""
    words = hook.spec["argv"]
    return [str(word) for word in words] if isinstance(words, list) else []


def expand_home(word: str, home: str) -> str:
    """`~` and `~/…` only: no variable, no glob, no shell."""
    return home + word[1:] if word == "~" or word.startswith("~/") else word


def calls_us(command: Json) -> bool:
    """Whether a command, a shell line or a list of words, is the one that `anyhook install` writes."""
    words = command.split() if isinstance(command, str) else [*map(str, command if isinstance(command, list) else ())]
    return any(
        word == "bridge" and before.strip("'\"").rsplit("/", 1)[-1] == "anyhook"
        for before, word in zip(["", *words], words, strict=False)
    )
