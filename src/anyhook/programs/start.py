"""What would go wrong if a command's program were started, found without starting it. It never waits for a pipe or
device."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from itertools import dropwhile

from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.places import head as first_bytes
from anyhook.programs.commands import expand_home
from anyhook.programs.loose import RESERVED, is_assignment, loose_words
from anyhook.programs.scripts import STANDS_FOR
from anyhook.programs.table import row_of

SCRIPT_ENDINGS = (".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
_SHELL_SIGNS = frozenset("$`*?[]{}()<>|&;!#\n")
_OPERATOR = re.compile(r"\|\|?|&&?|;|[0-9]?(>>?|<<?<?)(&[0-9-])?|&>>?")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Fault(Record):
    """Why a command would not start."""

    code: str
    what: str
    fix: str


class StartContext(Record):
    """What a command is started in."""

    env: Mapping[str, str]
    cwd: str
    elsewhere: tuple[str, ...] = ()
    """Folders that its author may have had in mind instead of `cwd`."""


def fault_of(argv: Sequence[str], context: StartContext, *, in_shell: bool = False) -> Fault | None:
    """Why this command cannot be started; None if nothing is wrong, or if only the shell can know."""
    program = argv[0]
    fault = _program_fault(program, context, in_shell)
    if fault is not None:
        return fault
    name = os.path.basename(program)
    if name == "env":
        rest = [word for word in argv[1:] if not is_assignment(word)]
        return fault_of(rest, context, in_shell=in_shell) if rest and not rest[0].startswith("-") else None
    row = row_of(name)
    if row.is_shell and len(argv) > 2 and argv[1] in ("-c", "-ec", "-lc"):
        return _line_fault(argv[2], context)
    return _script_fault(name, argv[1:], context) if row.language else None


def _program_fault(program: str, context: StartContext, in_shell: bool) -> Fault | None:
    if "/" not in program:
        return _not_found(program, context)
    if program.startswith("~"):
        fix = "Write the whole path; no shell expands `~` here."
        return Fault("program-missing", f"`{program}` does not exist", fix)
    path = os.path.normpath(os.path.join(context.cwd, program))
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return _nothing_there(program, path, context)
    if not stat.S_ISREG(mode):
        what = f"{path} is {'a directory' if stat.S_ISDIR(mode) else 'not a regular file'}"
        return Fault("program-missing", f"{what}, so it cannot be started", "Name the program itself.")
    if not os.access(path, os.X_OK):
        return Fault("not-executable", f"{path} is not executable", f"chmod +x {shlex.quote(path)}")
    return _first_line_fault(path, context, in_shell)


def _not_found(program: str, context: StartContext) -> Fault | None:
    if shutil.which(program, path=context.env.get("PATH", os.defpath)):
        return None
    fix = "Install it, or write its whole path."
    if os.path.isfile(os.path.join(context.cwd, program)):
        fix = f"There is a file of this name in {context.cwd}: write `./{program}`."
    elif shutil.which(f"{program}3", path=context.env.get("PATH", os.defpath)):
        fix = f"`{program}3` is there: use it instead."
    return Fault("program-missing", f"`{program}` is not on the PATH", fix)


def _nothing_there(program: str, path: str, context: StartContext) -> Fault:
    if os.path.islink(path):
        fix = "Restore what it names, or correct the path."
        return Fault("program-missing", f"{path} is a link that leads nowhere", fix)
    fix = "Correct the path, or create the file."
    if not os.path.isabs(program):
        fix = f"Relative paths start in {context.cwd}; correct it, or write the whole path."
        for folder in context.elsewhere:
            other = os.path.normpath(os.path.join(folder, program))
            if os.path.isfile(other):
                fix = f"Hooks start in {context.cwd}, and the file is at {other}: write that path."
                break
    return Fault("program-missing", f"{path} does not exist", fix)


def _first_line_fault(path: str, context: StartContext, in_shell: bool) -> Fault | None:
    head = first_bytes(path)
    if head is None or b"\0" in head:
        return None  # not ours to read, or a compiled program
    first = head.split(b"\n", 1)[0]
    if not first.startswith(b"#!"):
        what = f"{path} is empty" if not head else f"{path} does not say what runs it"
        # A shell that starts a script without such a line runs it itself.
        return None if in_shell else Fault("bad-first-line", what, "Begin it with a line such as #!/bin/sh.")
    if first.endswith(b"\r"):
        what = f"the first line of {path} ends in a carriage return, so its interpreter is not found"
        return Fault("bad-first-line", what, f"Save it with Unix line ends: sed -i 's/\\r$//' {shlex.quote(path)}")
    words = os.fsdecode(first[2:]).split()
    if not words or not os.path.isfile(os.path.join(context.cwd, words[0])):
        what = f"the first line of {path} names {words[0] if words else 'no interpreter'}, which is not there"
        return Fault("bad-first-line", what, "Name an interpreter that exists, such as #!/usr/bin/env python3.")
    return _env_line_fault(path, words[1:], context) if os.path.basename(words[0]) == "env" else None


def _env_line_fault(path: str, words: list[str], context: StartContext) -> Fault | None:
    """`env` looks the interpreter up on the PATH, and gets the rest of the line as one word."""
    split = words[:1] in (["-S"], ["--split-string"])
    if not split and len(words) > 1 and sys.platform.startswith("linux"):
        what = f"the first line of {path} gives env more than one word, which it takes for one name"
        return Fault("bad-first-line", what, f"Write #!/usr/bin/env -S {' '.join(words)}")
    names = [word for word in words[split:] if not word.startswith("-") and not is_assignment(word)]
    if not names or "/" in names[0]:
        return None
    fault = _not_found(names[0], context)
    return fault and Fault("bad-first-line", f"{path} is run by {names[0]}, and {fault.what}", fault.fix)


def _is_plain_option(word: str) -> bool:
    """Whether it is an option of shells and of Python that takes no value and still leaves the script next."""
    return len(word) > 1 and word[0] == "-" and set(word[1:]) <= set("BEISOPqux")


def _script_fault(interpreter: str, words: Sequence[str], context: StartContext) -> Fault | None:
    """The script argument of an interpreter, if it certainly is one."""
    words = [*dropwhile(_is_plain_option, words)]
    if not words or words[0].startswith("-"):
        return None
    script = words[0]
    if _SHELL_SIGNS & set(script) or not ("/" in script or script.endswith(SCRIPT_ENDINGS)):
        return None
    path = os.path.normpath(os.path.join(context.cwd, script))
    if any(os.path.isfile(f"{path}{end}") for end in STANDS_FOR.get(row_of(interpreter).language, ())):
        return None
    if not os.path.exists(path):
        return _nothing_there(script, path, context)
    if os.path.isdir(path) or not os.access(path, os.R_OK):
        what = f"{path} is a directory" if os.path.isdir(path) else f"{path} cannot be read"
        return Fault("program-missing", f"{what}, so {interpreter} cannot run it", "Name a script that can be read.")
    head = first_bytes(path) or b""
    if row_of(interpreter).is_shell and head.split(b"\n", 1)[0].endswith(b"\r"):
        what = f"the lines of {path} end in carriage returns, which {interpreter} takes for part of each word"
        return Fault("bad-first-line", what, f"Save it with Unix line ends: sed -i 's/\\r$//' {shlex.quote(path)}")
    return None


def _line_fault(line: str, context: StartContext) -> Fault | None:
    """The first command of a shell's line, if it is plain."""
    words = [_expanded(word, context) for word in loose_words(line)]
    has_own_path = False
    while words and is_assignment(words[0]):
        has_own_path |= words.pop(0).startswith("PATH=")
    if has_own_path and words and "/" not in words[0]:
        return None
    if not words or _is_of_shell(words[0]) or _SHELL_SIGNS & set(words[0]) or words[1:2] == ["()"]:
        return None
    end = next((place for place, word in enumerate(words) if _OPERATOR.fullmatch(word)), len(words))
    return fault_of(words[:end], context, in_shell=True) if end and words[0] else None


def _is_of_shell(word: str) -> bool:
    """Whether a shell finds it without looking on the PATH: a command of its own, or a word of its grammar."""
    return word in RESERVED or row_of(word).has("builtin")


def _expanded(word: str, context: StartContext) -> str:
    def value(found: re.Match[str]) -> str:
        return context.env.get(found[1] or found[2], found[0])

    home = context.env.get("HOME", "")
    expanded = expand_home(word, home) if home else word
    return expanded if expanded != word else _VARIABLE.sub(value, word)


def shell_signs(command: Json) -> list[str]:
    """The words of a command that only a shell would understand."""
    if isinstance(command, list):
        return [str(word) for word in command[1:] if isinstance(word, str) and _OPERATOR.fullmatch(word)]
    try:
        words = shlex.split(str(command), posix=False)
    except ValueError:
        return []
    if words and row_of(os.path.basename(words[0].strip("'\""))).is_shell:
        return [word for word in words if _OPERATOR.fullmatch(word)]
    return [word for word in words if _is_sign(word)] or [word for word in words[:1] if is_assignment(word)]


def _is_sign(word: str) -> bool:
    if word.startswith("'"):
        return False
    if re.search(r"\$[A-Za-z_{(]|`", word):
        return True
    if word.startswith('"'):
        return False
    return bool(_OPERATOR.fullmatch(word)) or (word.endswith(";") and len(word) > 1) or "*" in word
