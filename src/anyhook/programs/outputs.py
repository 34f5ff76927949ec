"""What simple programs are known to print, without running them: enough to read `$(echo rm)`, `printf … | sh` and the
like."""

from __future__ import annotations

import os

from anyhook.model.pattern import re
from anyhook.platform.places import upward
from anyhook.programs.expand import UNKNOWNS, ansi
from anyhook.programs.program import UNKNOWN, Program
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.programs.rows import Prints


MAX_COMPUTED = 1 << 20
"""How long a text may be: `base64 | base64 | …` grows without end."""


def output_of(program: Program, cwd: str | None, file: Callable[[str], str | None]) -> str | None:
    """The text; None if only running it would show it."""
    known = row_of(program.name).prints
    if not known:
        return None
    act = KNOWN[known]
    if any(not word.known for word in program.words):
        return None
    texts = [word.text for word in program.words]
    stdin = program.stdin
    if stdin is not None and (UNKNOWNS.search(stdin) or UNKNOWN in stdin):
        stdin = None
    if stdin is not None and len(stdin) > MAX_COMPUTED:
        return None
    try:
        text = act(texts, stdin, cwd, file)
        return text if text is None or len(text) <= MAX_COMPUTED else None
    except (ValueError, IndexError, TypeError):
        return None


def _echo(texts: list[str], _stdin: str | None, _cwd: str | None, _file: Callable[[str], str | None]) -> str:
    options = ""
    while texts and re.fullmatch(r"-[neE]+", texts[0]):
        options += texts.pop(0)[1:]
    text = " ".join(texts)
    return (ansi(text) if "e" in options else text) + ("" if "n" in options else "\n")


def _printf(texts: list[str], _stdin: str | None, _cwd: str | None, _file: Callable[[str], str | None]) -> str:
    if texts[:1] == ["--"]:
        texts = texts[1:]
    form, rest = ansi(texts[0]), texts[1:]
    made = ""
    while True:
        before = len(rest)

        def fill(found: re.Match[str]) -> str:
            if found[0] == "%%":
                return "%"
            value = rest.pop(0) if rest else ""
            if found[0].endswith("b"):
                return ansi(value)
            if found[0][-1] in "di":
                return str(int(value or "0", 0))
            if found[0][-1] in "xo":
                return format(int(value or "0", 0), found[0][-1])
            return value

        made += re.sub(r"%%|%[-0-9.]*[sbdixoqc]", fill, form)
        if not rest or len(rest) == before:
            return made


def _cat(texts: list[str], stdin: str | None, _cwd: str | None, file: Callable[[str], str | None]) -> str | None:
    named = [text for text in texts if not text.startswith("-")]
    if not named:
        return stdin
    parts = [file(name) for name in named]
    return None if None in parts else "".join(str(part) for part in parts)


def _base64(texts: list[str], stdin: str | None, cwd: str | None, file: Callable[[str], str | None]) -> str | None:
    import base64

    text = _cat(texts, stdin, cwd, file)
    if text is None:
        return None
    if any(word in ("-d", "-D", "--decode", "-di") for word in texts):
        return base64.b64decode(re.sub(r"\s", "", text)).decode()
    return base64.b64encode(text.encode()).decode() + "\n"


def _xxd(texts: list[str], stdin: str | None, _cwd: str | None, _file: Callable[[str], str | None]) -> str | None:
    joined = "".join(texts)
    return bytes.fromhex(re.sub(r"\s", "", stdin)).decode() if stdin and "r" in joined and "p" in joined else None


def _tr(texts: list[str], stdin: str | None, _cwd: str | None, _file: Callable[[str], str | None]) -> str | None:
    if stdin is None or not texts:
        return None
    if texts[0] == "-d":
        return stdin.translate({ord(sign): "" for sign in _signs(texts[1])})
    old, new = _signs(texts[0]), _signs(texts[1])
    return stdin.translate({ord(a): (new[place] if place < len(new) else new[-1]) for place, a in enumerate(old)})


def _signs(text: str) -> str:
    text = ansi(text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z"))
    return re.sub(r"(.)-(.)", lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), text)


def _top(folder: str) -> str:
    """The root of the repository that a folder is in."""
    return next((place for place in upward(folder, "/") if os.path.lexists(f"{place}/.git")), folder)


def _last(texts: list[str]) -> str:
    return [text for text in texts if not text.startswith("-")][-1]


KNOWN: dict[Prints, Callable[[list[str], str | None, str | None, Callable[[str], str | None]], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "base64": _base64,
    "xxd": _xxd,
    "tr": _tr,
    "rev": lambda _texts, stdin, _cwd, _file: (
        None if stdin is None else "".join(f"{line[::-1]}\n" for line in stdin.splitlines())
    ),
    "pwd": lambda _texts, _stdin, cwd, _file: cwd,
    "tee": lambda _texts, stdin, _cwd, _file: stdin,
    "lines": lambda texts, stdin, _cwd, _file: None if {"-c", "--bytes"} & {*texts} else stdin,  # or fewer of them
    "nothing": lambda _texts, _stdin, _cwd, _file: "",
    "which": lambda texts, _stdin, _cwd, _file: f"/usr/bin/{_last(texts)}",
    "command": lambda texts, _stdin, _cwd, _file: f"/usr/bin/{_last(texts)}" if texts[:1] == ["-v"] else None,
    "type": lambda texts, _stdin, _cwd, _file: f"/usr/bin/{_last(texts)}" if texts[:1] in (["-p"], ["-P"]) else None,
    "basename": lambda texts, _stdin, _cwd, _file: os.path.basename(texts[0].rstrip("/")).removesuffix(
        (texts[1:] or [""])[0]
    ),
    "dirname": lambda texts, _stdin, _cwd, _file: os.path.dirname(texts[0]) or ".",
    "realpath": lambda texts, _stdin, cwd, _file: (
        os.path.normpath(os.path.join(cwd or "", _last(texts))) if cwd else None
    ),
    "readlink": lambda texts, _stdin, cwd, _file: (
        os.path.normpath(os.path.join(cwd or "", _last(texts))) if cwd and texts[0] == "-f" else None
    ),
    "git": lambda texts, _stdin, cwd, _file: _top(cwd) if texts == ["rev-parse", "--show-toplevel"] and cwd else None,
    "mktemp": lambda texts, _stdin, _cwd, _file: f"/tmp/mktemp{len(texts)}",  # noqa: S108
    "seq": lambda texts, _stdin, _cwd, _file: (
        "\n".join(map(str, range(1, min(int(texts[0]), 50) + 1))) if len(texts) == 1 else None
    ),
}
"""By the word in the program's row. None of them reads a real file: `file` knows what the line itself has written."""
