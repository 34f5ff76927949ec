"""Secret named: what follows the name of a secret in a text, in all ways in which people and programs write names and
values, at any depth of JSON inside JSON. It finds places; `redact` replaces them."""

from __future__ import annotations

from anyhook.journal.secret_names import SCHEMES, is_auth, is_secret_name, places, whole
from anyhook.journal.secret_shapes import backslashes, run, until
from anyhook.journal.secret_values import is_code, is_placeholder, is_user_and_password, looks_chosen, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]
    """Start, end, and the replacement."""

INSTEAD = "[redacted]"
_BLANKS, _BACKSLASH = frozenset(" \t"), frozenset("\\")
_GAP = _BLANKS | frozenset("\r\n")
"""What may be between a name's sign and its value, which some write on the next line."""
_ENDS_BARE = frozenset(" \t\r\n\"',;&|<>(){}[]`")
_ENDS_LINE = frozenset("\r\n\"'`")
_ENDS_WORD = frozenset(" \t\r\n\"'`")
_HEADERS = ("authorization", "cookie")
_HEADER_WORDS = (
    "token ", "digest ", "apikey ", "api-key ", "key ", "negotiate ", "aws4-", "bearer ", "basic ", "bot ", "ntlm ",
    "hawk ",
    "signature ", "sharedkey ", "sso-key ", "genie",
)  # fmt: skip
_SETS = ("set ", "config ", "setenv ", "login ")


def named(line: str, low: str) -> Iterator[Span]:
    """The values of all names of secrets."""
    stop = taken = -1
    for start, end, _ in sorted(places(low)):
        if start < stop:  # another part of the name before
            continue
        begin, stop = whole(line, start, end)
        if stop + 2 <= taken:  # it and where its value begins are part of the value before
            continue
        if is_secret_name(line[begin:stop]) or is_auth(line[begin:stop]):
            span = _of_name(line, low, begin, stop)
            if span is not None and span[1] > span[0]:
                taken = max(taken, span[1])
                yield span


def _of_name(line: str, low: str, begin: int, stop: int) -> Span | None:
    name = line[begin:stop].lower().strip(".-_")
    place, level = quoted(line, stop)
    sign = run(line, place, _BLANKS)
    dashes = begin < stop and (line[begin] == "-" or "--" in low[max(0, begin - 24) : begin])
    if line[sign : sign + 1] in (":", "=") and line[sign : sign + 2] != "==":
        span = _behind_sign(line, low, begin, sign, level, name)
    elif line[begin - 1 : begin] == "<" or (line[begin - 1 : begin] == ":" and "<" in line[max(0, begin - 12) : begin]):
        span = _element(line, stop, name)
    elif dashes and sign > place and line[sign : sign + 1] not in ("-", ""):
        span = value_at(line, sign, name)
    elif dashes and level >= 0 and line.startswith(", ", place):  # the next word of an argv
        span = value_at(line, place + 2, name)
    else:
        span = _beside(line, low, begin, place, level, name)
    if span is not None and is_auth(name) and not is_secret_name(name):
        said = line[span[0] : span[1]]
        return span if is_user_and_password(said) or looks_random(said, 20) else None
    return span


def _behind_sign(line: str, low: str, begin: int, sign: int, level: int, name: str) -> Span | None:
    """`"name": "value"` at any depth, `NAME=value`, `Name: value`."""
    value = run(line, sign + (2 if line[sign : sign + 2] in (":=", "=>") else 1), _GAP)
    colon = line[sign] == ":"
    first = line[value : value + 1]
    quoted = first in ("\\", "'", '"')
    if colon and level < 0 and value == sign + 1 and not quoted:
        # `secret:name` is a name with a colon in it.
        said = line[value : until(line, value, _ENDS_BARE)]
        return (
            (value, value + len(said), INSTEAD) if "pass" in name and looks_chosen(said) and ":" not in said else None
        )
    if name in ("pwd", "oldpwd") and (first in ("/", "~", ".", "$") or line[value + 1 : value + 2] == ":"):
        return None  # the shell's working directory
    if colon and line[begin : begin + 4] == "PASS" and name == "pass":
        return None  # a test's result
    if colon and level < 0 and not quoted and name.endswith(_HEADERS) and _is_header(low, value, name):
        around = line[begin - 1 : begin]
        end = until(line, value, frozenset({"\n", "\r", around if around in ("'", '"') else "\n"}))
        end -= backslashes(line, end) if end < len(line) and line[end] == around else 0
        return value, end, INSTEAD
    bare = not quoted and first not in ("{", "[")
    if colon and ("phrase" in name or name == "mnemonic") and value > sign + 1 and bare:
        end = until(line, value, _ENDS_LINE)
        return (
            None
            if is_placeholder(line[value:end].strip()) or is_code(line[value:end], "", name)
            else (value, end, INSTEAD)
        )
    if name.endswith("private-lines"):  # after a newline that is escaped, its letter comes first
        begin = run(line, value, frozenset("0123456789"))
        stops = [stop for stop in (low.find("private-mac", begin), line.find('"', begin)) if stop >= 0]
        end = min(stops, default=len(line))
        return begin, end - backslashes(line, end), f" {INSTEAD} "
    if not colon and value == sign + 1 and _begins_line(low, begin) and bare:
        end = until(line, value, _ENDS_WORD | _BACKSLASH)  # a line of an env file: all of it is the value
        after = line[end : end + 1] if line[end : end + 1] != "\\" else line[run(line, end, _BACKSLASH) :][:1]
        if after in ("", " ", "\t", "\r", "\n", "n", "r", '"') and "&&" not in line[value:end]:
            return None if is_code(line[value:end].rstrip(";,"), "", name) else (value, end, INSTEAD)
    if not colon and first == "{" and "}" in line[value : value + 100]:  # ODBC
        end = line.find("}", value)
        if looks_chosen(line[value + 1 : end]) and not set(line[value:end]) & set(" .\"'\\(:"):
            return value + 1, end, INSTEAD
    return value_at(line, value, name)


def _is_header(low: str, value: int, name: str) -> bool:
    if name.endswith("cookie"):
        return "=" in low[value : until(low, value, _ENDS_WORD)]
    return low.startswith(_HEADER_WORDS, value)


def _begins_line(low: str, begin: int) -> bool:
    start = max(low.rfind("\n", 0, begin) + 1, low.rfind("\\n", 0, begin + 1) + 2)  # as it is, or escaped
    return low[start:begin].strip() in ("", "export", "set", "env", "declare -x")


def _element(line: str, stop: int, name: str) -> Span | None:
    """`<name>value</name>`."""
    begin = line.find(">", stop, stop + 200)
    end = line.find("<", begin)
    if begin < 0 or end < 0 or line[begin - 1] == "/" or line[begin + 1 : end].strip() == "":
        return None
    said = line[begin + 1 : end].strip()
    return None if is_placeholder(said) or is_code(said, "", name) else (begin + 1, end, INSTEAD)


def _beside(line: str, low: str, begin: int, place: int, level: int, name: str) -> Span | None:
    """A value without a sign: `- name: NAME` and `value: …` below it, `("name", "value")`, `IDENTIFIED BY '…'`, `login
    me password …`, `set NAME …`, `my password is …`."""
    if line.startswith("</key>", place):
        text = low.find("<string>", place, place + 40)
        return (text + 8, line.find("<", text + 8), INSTEAD) if text >= 0 and line.find("<", text + 8) > 0 else None
    pair = low.find("value", place, place + 40)
    if pair >= 0 and not any(map(str.isalnum, line[place:pair].replace("\\n", ""))) and pair > place:
        after, _ = quoted(line, pair + 5)
        sign = run(line, after, _BLANKS)
        if line[sign : sign + 1] in (":", "="):
            return value_at(line, run(line, sign + 1, _BLANKS), name)
        return None
    blank = run(line, place, _GAP)
    if level >= 0:
        if line[place : place + 1] == "," and any(sign in "([" for sign in line[max(0, begin - 3) : begin]):
            span = value_at(line, run(line, place + 1, _GAP), name)
            return (
                span
                if span is not None and line[span[0] - 1] in "'\"" and looks_chosen(line[span[0] : span[1]])
                else None
            )
        return None
    if blank == place:
        return None
    if line[blank : blank + 1] in ("'", '"') and name in ("password", "passwd") and line[place - 1] not in "'\"":
        return value_at(line, blank, name)
    end = until(line, blank, _ENDS_WORD)
    word = line[blank:end].rstrip(".,;:!?)")
    if name == "requirepass" and word:
        return blank, end, INSTEAD
    before = low[max(0, begin - 60) : begin]
    if "machine" in before and before.split()[-2:-1] == ["login"] and not is_placeholder(word):  # as in ~/.netrc
        return blank, blank + len(word), INSTEAD
    near = before.rpartition("\n")[2]
    told = (
        "login" in before or "machine" in before or "user" in before or (near.strip() and any(s in near for s in _SETS))
    )
    if told and looks_chosen(word) and not word.startswith("-"):
        return blank, blank + len(word), INSTEAD
    if low.startswith(("is ", "was "), blank):
        begin = run(line, blank + 3, _BLANKS)
        inside, depth = quoted(line, begin)
        begin = inside if depth >= 0 else begin
        word = line[begin : until(line, begin, _ENDS_WORD)].rstrip(".,;:!?)")
        return (begin, begin + len(word), INSTEAD) if looks_chosen(word) else None
    return None


def quoted(line: str, place: int) -> tuple[int, int]:
    """The place after a quote at this position, and how many backslashes are before it; -1 if there is no quote."""
    end = run(line, place, _BACKSLASH)
    return (end + 1, end - place) if line[end : end + 1] in ('"', "'") else (place, -1)


def value_at(line: str, place: int, name: str = "") -> Span | None:
    """The value at this position, without its quotes."""
    inside, level = quoted(line, place)
    if level >= 0:
        end = _end_of_text(line, inside, level) if line[inside - 1] == '"' else _end_of_single(line, inside)
        said = line[inside:end]
        return (inside, end, INSTEAD) if end > inside and not is_placeholder(said) and not _is_word(said) else None
    if line[place : place + 1] in ("{", "["):
        schema = line[place : place + 60].replace("\\", "").replace(" ", "").replace("\n", "")
        return None if schema.startswith(('{"type":"string"', '{"type":"object"')) else _nested(line, place)
    for scheme in SCHEMES:
        if line[place : place + len(scheme)].lower() == scheme:
            place += len(scheme)
    if line[place : place + 1] == "<" and line.find(">", place) > 0:
        return None
    end = _end_of_bare(line, place)
    word = line[place:end]
    return None if is_code(word, line[end : end + 1], name) else (place, end, INSTEAD)


def _is_word(said: str) -> bool:
    """Whether a text in quotes is one of the few that say how, and not what."""
    return said in ("include", "omit", "same-origin", "none", "required", "optional", "string")


def _end_of_bare(line: str, place: int) -> int:
    """Where a value without quotes ends. A letter that JSON has escaped, at whatever depth, belongs to it."""
    while place < len(line) and line[place] not in _ENDS_BARE:
        if line[place] == "\\":
            after = run(line, place, _BACKSLASH)
            if line[after : after + 1] != "u":
                return place
            place = after + 5
        else:
            place += 1
    return place


def _end_of_single(line: str, place: int) -> int:
    """A text in single quotes ends with one, or with the JSON text that it is in."""
    double = line.find('"', place)
    double = len(line) if double < 0 else double
    single = line.find("'", place, double)
    return single if single >= 0 else double - backslashes(line, double)


def _end_of_text(line: str, place: int, level: int) -> int:
    """Where a text ends that a quote with this many backslashes before it opened."""
    while True:
        end = line.find('"', place)
        if end < 0:
            return len(line)
        count = backslashes(line, end)
        if _closes(count, level):
            return end - min(count, level)  # further backslashes are the text's own
        place = end + 1


def _closes(count: int, level: int) -> bool:
    """Whether a quote with this many backslashes before it closes a text that was opened with `level` of them, or what
    is around that text. With each depth of JSON inside JSON, k backslashes before a quote become 2k + 1, and one
    backslash of the text itself takes 2(k + 1)."""
    return count < level or (count - level) % (2 * (level + 1)) == 0


def _nested(line: str, place: int) -> Span | None:
    """An object or a list as a whole; what stands for it is a text at the same depth. None if it holds no text at
    all, or where it does not end before the text that it is in."""
    end = place
    level, depth, outside = -1, 0, True
    while end < len(line):
        char = line[end]
        if char == '"':
            count = backslashes(line, end)
            level = count if level < 0 else level
            if count < level:
                return None
            outside = outside != _closes(count, level)
        elif outside and char in "{[":
            depth += 1
        elif outside and char in "}]":
            depth -= 1
            if depth == 0:
                quote = "\\" * level + '"'
                return None if level < 0 else (place, end + 1, f"{quote}{INSTEAD}{quote}")
        end += 1
    return None
