"""Recognises a command that only runs a Python script: which interpreter, which file, which arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from anyhook.model.record import Record
from anyhook.platform.places import head
from anyhook.programs.table import row_of

PIECE = re.compile(r"""([ \t]+)|'([^']*)'|"([^"`\\]*)"|([\w@+:,./^${}~-]+)""")
VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
PLAIN = re.compile(r"[\w@+:,./^-]+")
"""Parts of shell words that need no quotes."""
FLAGS = re.compile(r"-[uBEIsPO]+")
"""Options that change how the interpreter starts, but not what it runs."""


class PythonScript(Record):
    """`INTERPRETER [FLAG…] SCRIPT [ARGUMENT…]`."""

    interpreter: str
    """The path that was found."""
    words: tuple[str, ...]
    """The argv of the process, starting with the interpreter's name."""
    at: int
    """The index of the script in `words`."""
    shell: str = ""
    """The shell that would start it, or ""."""
    command: str = ""
    """What that shell would start: the interpreter, or a script with a shebang."""

    @property
    def path(self) -> str:
        return self.words[self.at]


def read_script(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> PythonScript | None:
    """None if the command does anything else."""
    words: list[str] | None = list(argv)
    shell = argv[0] if len(argv) == 3 and argv[1] == "-c" and row_of(os.path.basename(argv[0])).is_shell else ""
    if shell:
        words = _shell_words(argv[2], env)
    if not words:
        return None
    command = words[0]
    if not os.path.basename(words[0]).startswith("python"):
        words = _by_first_line(words, cwd)
        if words is None:
            return None
    at = 1
    while at < len(words) and FLAGS.fullmatch(words[at]):
        at += 1
    if at >= len(words) or words[at].startswith("-") or not os.path.isfile(os.path.join(cwd, words[at])):
        return None
    interpreter = _found(words[0], cwd, env)
    return PythonScript(interpreter, tuple(words), at, shell, command) if interpreter else None


def _by_first_line(words: list[str], cwd: str) -> list[str] | None:
    """What the system starts for a script with a shebang: `#!/usr/bin/env python3` or the path of an interpreter."""
    begin = head(os.path.join(cwd, words[0]), 200) or b""
    first = begin.partition(b"\n")[0].decode("utf-8", "replace").split()
    if not first or not first[0].startswith("#!") or len(first) > 2 or "python" not in first[-1]:
        return None
    if len(first) == 2 and row_of(os.path.basename(first[0])).wraps is None:
        return None
    return [first[-1] if len(first) == 2 else first[0][2:], *words]


def _found(name: str, cwd: str, env: Mapping[str, str]) -> str:
    """The interpreter as execvp would find it, or ""."""
    folders = [""] if "/" in name else env.get("PATH", os.defpath).split(":")
    for folder in folders:
        path = os.path.join(cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def _shell_words(line: str, env: Mapping[str, str]) -> list[str] | None:
    """The words of a line that uses only quotes and variables; None if it uses more of the shell."""
    words: list[str] = []
    end, between = 0, True
    for piece in PIECE.finditer(line):
        text = _said(piece, env, begins=between)
        if text is None or piece.start() != end:
            return None
        end = piece.end()
        is_space = bool(piece[1])
        if between and not is_space:
            words.append(text)
        elif not is_space:
            words[-1] += text
        between = is_space
    return words if end == len(line) else None


def _said(piece: re.Match[str], env: Mapping[str, str], *, begins: bool) -> str | None:
    """What a part of a word is with its variables, "" for space; None if it uses more of the shell."""
    _, exact, quoted, bare = piece.groups()
    if exact is not None:
        return exact
    if bare and begins and bare.startswith("~/") and env.get("HOME"):
        bare = f"$HOME{bare[1:]}"
    said = quoted or bare or ""
    text = VARIABLE.sub(lambda name: env.get(name[1] or name[2], ""), said)
    is_more = "$" in VARIABLE.sub("", said) or (bare and not PLAIN.fullmatch(text))
    return None if is_more else text
