"""Paths as the system would resolve them: relative to the folder that a program runs in, with links followed."""

from __future__ import annotations

import os
import stat

from anyhook.model.pattern import later
from anyhook.programs.program import UNKNOWN, Word

HERE = "$PWD"
"""Replaces a folder that is not known."""
STREAMS = frozenset(
    {"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full", "/dev/zero"}
)


def slashed(path: str, cwd: str | None = None) -> str:
    """A path on a drive of Windows as a shell there writes it: `C:\\a` and `C:/a` are `/c/a`. Any other stays, as does
    `h:/a` unless the folder is on a drive: it may be on a host."""
    if path[1:2] != ":" or not path[0].isalpha() or path[2:3] not in ("\\", "/", ""):
        return path
    if path[2:3] != "\\" and path[0].islower() and not (cwd is not None and cwd[2:3] in ("/", "")):
        return path
    return f"/{path[0].lower()}/{path[3:]}".replace("\\", "/").rstrip("/")


def resolve(
    word: Word | str, cwd: str | None, *, follow: bool = True, known: dict[str, str] | None = None
) -> str:  # fmt: skip
    """The absolute path of a word. Without `follow`, a link as the last part is not followed. `known` are folders with
    their links followed, those that were asked about before: a call may name many files of one."""
    if isinstance(word, str):
        word = Word(word, word)
    text, source = slashed(word.text, cwd), slashed(word.source, cwd)
    if text.startswith("file://"):
        text, source = _decoded(text[7:]), _decoded(source[7:])
    if "/proc/" in text[:8]:
        text, source = _without_proc(text, cwd), _without_proc(source, cwd)
    if text.startswith(UNKNOWN):
        return source
    if not text.startswith("/"):
        if cwd is None:
            return f"{HERE}/{source}"
        text, source = f"{cwd}/{text}", f"{cwd}/{source}"
    if UNKNOWN in text:
        text = text.replace(UNKNOWN, "*")
    place = min((text.find(sign) for sign in "*?[" if sign in text), default=-1)
    if place >= 0:
        folder, rest = text[:place].rpartition("/")[0], text[text[:place].rfind("/") + 1 :]
        path = real(folder or "/", follow=True).rstrip("/") + "/" + rest
        return os.path.normpath(path) if ".." in rest else path
    return real(text, follow=follow, known=known)


PROC = later(r"/+proc/+[^/]+/+(?:[^/]+/+\.\./+)*(?:task/+[^/]+/+)?(?P<what>root|cwd)(?=/|$)")


def _without_proc(text: str, cwd: str | None) -> str:
    """`/proc/1/root/a` is `/a`, `/proc/self/cwd/a` is in the program's folder, whichever process is meant."""
    while found := PROC.match(text):
        text = (cwd or HERE if found["what"] == "cwd" else "") + text[found.end() :] or "/"
    return text


def _decoded(text: str) -> str:
    """The path of a URL, decoded: `%2E` is a dot."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def real(path: str, *, follow: bool, known: dict[str, str] | None = None) -> str:
    """The path with links followed; a link as the last part only with `follow`. Characters that no path can contain are
    left out."""
    path = path.replace("\0", "")
    try:
        folder, _, name = path.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            return _real_path(path)
        if known is None:
            place = _real_path(folder or "/")
        elif (place := known.get(folder, "")) == "":
            place = known[folder] = _real_path(folder or "/")
        made = f"{place.rstrip('/')}/{name}"
        return os.path.realpath(made) if follow and os.path.islink(made) else made
    except (ValueError, OSError):
        return os.path.normpath(path.encode("utf-8", "replace").decode())


def _real_path(path: str) -> str:
    """`os.path.realpath` for absolute paths, faster if there is no link in the path, as in most."""
    parts = [part for part in path.split("/") if part and part != "."]
    if ".." in parts or not path.startswith("/"):
        return os.path.realpath(path)
    place = ""
    try:
        for part in parts:
            place = f"{place}/{part}"
            if stat.S_ISLNK(os.lstat(place).st_mode):
                return os.path.realpath(path)
    except OSError:
        pass  # nothing below it can be a link
    return f"/{'/'.join(parts)}"
