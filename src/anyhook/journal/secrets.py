"""Secret values: whether a value in the place of a secret is one, or is code, a placeholder, a number, a version.
`redact` finds where a value starts and ends."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from anyhook.journal.secret_names import (
    HEX_TOKENS,
    HOOKS,
    LETTERS,
    OPEN_HOOKS,
    PEM,
    PEM_KIND,
    QUERY,
    SCHEMES,
    TOKENS,
    is_auth,
    is_secret_name,
    names_secret,
    places,
    whole,
)
from anyhook.journal.suspect import like_tokens
from anyhook.model.record import Record
from anyhook.programs import hiding
from anyhook.programs.quick import HIDING
from anyhook.programs.quick import hiding as programs_in

Place = tuple[int, int]
Span = tuple[int, int, str]
"""Start, end, and the replacement."""

WORDS_OF_CODE = frozenset(
    {
        "null", "true", "false", "none", "nil", "undefined", "str", "string", "bytes", "int", "number", "bool",
        "boolean", "any", "object", "optional", "secretstr", "buffer", "char", "text", "required", "yes", "no", "on",
        "off", "include", "omit", "same-origin", "keep-alive", "varchar", "unknown", "never", "void", "new", "await",
        "self", "this", "not", "is", "and", "or", "if", "in", "return", "function", "lambda", "async", "const", "let",
        "var",
    }
)  # fmt: skip

ROOTS = (
    "self.", "this.", "process.", "os.", "config.", "settings.", "env.", "request.", "req.", "args.", "options.",
    "opts.", "ctx.", "data.", "response.", "res.", "user.", "params.", "props.", "state.", "secrets.", "var.", "local.",
    "module.", "app.", "form.", "event.", "vault.", "github.", "import.meta.", "System.", "cls.", "getpass.", "body.",
    "payload.", "credentials.", "auth.", "session.", "result.", "cfg.", "conf.", "db.", "client.", "each.",
    "random_password.",
)  # fmt: skip

CODE_OPENERS = ("$", "{{", "<%", "%(", "[redacted]", "@{", "#{")

_VERSION = frozenset("0123456789.^~>=<*x| ")

_BASE64 = LETTERS | frozenset("+/=_-")

_HEX = frozenset("0123456789abcdefABCDEF")


_PLACEHOLDERS = (("{{", "}}"), ("${{", "}}"), ("$(", ""), ("<", ">"), ("your-", ""), ("your_", ""), ("your ", ""),
    ("<your", ""), ("my-secret-name", ""))  # fmt: skip
"""How placeholders begin and end."""

_SAID_INSTEAD = ("%s", "%d", "{}", "...", "…", "[redacted]")


def is_placeholder(text: str) -> bool:
    """Whether a whole value is a placeholder: a variable, a mask, a version number."""
    if not text or len(text) > 120:
        return False
    if (shown := _as_variable(text)) is not None:
        return shown
    low = text.lower()
    return (
        text in _SAID_INSTEAD
        or any(low.startswith(start) and low.endswith(end) for start, end in _PLACEHOLDERS)
        or (len(text) >= 3 and len(set(text)) == 1 and text[0] in "*xX.•-_#")
        or _is_version(text)
    )


def _as_variable(text: str) -> bool | None:
    """Whether a text is `$NAME`, `$name` or `${NAME}`, to its end; None if it does not begin like one."""
    name = text.strip("${}@%#()").replace("_", "").replace(":-", "").replace(":?", "")
    if text[0] != "$" or (name and not name.isalnum()):
        return None
    if text.startswith("${"):
        return text[-1] == "}"
    return True if name.isupper() or name.islower() else None


def _is_version(text: str) -> bool:
    return not set(text) - _VERSION and (text[0] in "^~><=" or text.count(".") > 1) and any(map(str.isdigit, text))


def is_code(word: str, after: str, name: str) -> bool:
    """Whether a value without quotes is something else: a number, a keyword, a type, a call, a variable of a program.
    `after` is the letter behind it."""
    low = word.lower().rstrip("?")
    if not word or low in WORDS_OF_CODE or word.startswith(CODE_OPENERS) or is_placeholder(word):
        return True
    if word.replace(".", "", 1).lstrip("-").isdigit() and len(word) < 16:
        return True
    if _is_expression(word, after) or low == name.lower() or low in _KINDS_OF_SECRETS:
        return True
    plain = word.replace("_", "").replace("-", "")
    return plain.isalpha() and ("_" in word or word[0].islower()) and not word.isupper() and names_secret(low)


_KINDS_OF_SECRETS = ("password", "passwd", "token", "tokens", "secret", "apikey", "api_key", "pw", "pwd")


def _is_expression(word: str, after: str) -> bool:
    """Whether a word is called, or a part is taken of it, or it is a part of one of the usual variables."""
    plain = word.replace(".", "").replace("_", "")
    has_root = word.startswith(ROOTS)
    return (has_root and plain.isalnum()) or (after in ("(", "[") and (has_root or plain.isalpha()))


def looks_random(text: str, least: int = 16) -> bool:
    """Whether a text looks random: long, with letters and digits."""
    return (
        len(text) >= least
        and any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and " " not in text
        and not is_uuid(text)
        and text[:1] not in "/.$<{"
    )


def looks_chosen(text: str) -> bool:
    """Whether a word of a sentence may be a password: no plain word, no number."""
    return len(text) >= 6 and any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and text[:1] not in "$<{/("


def looks_encoded(text: str, least: int = 16) -> bool:
    """Whether a text looks random and has only the letters of hexadecimal digits or base 64."""
    plain = text.rstrip("=").replace("+", "").replace("/", "")
    return looks_random(text, least) and plain.isalnum() and plain.isascii()


def is_uuid(text: str) -> bool:
    return (
        len(text) == 36
        and text[8:9] == text[13:14] == text[18:19] == text[23:24] == "-"
        and is_hex(text.replace("-", ""))
    )


def is_hex(text: str) -> bool:
    return bool(text) and not set(text) - _HEX


def is_user_and_password(text: str) -> bool:
    """Whether a text is `user:password` in base 64, as basic authentication and docker's settings have it."""
    if len(text) < 8 or set(text) - _BASE64:
        return False
    try:
        said = a2b_base64(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        return False
    name, colon, _ = said.partition(b":")
    return bool(colon) and said.isascii() and bytes(said).decode("ascii").isprintable() and name != b""


# Secret shapes: secrets that are recognised by their own form: tokens, private keys, passwords and keys in URLs. It
# finds places; `redact` replaces them.


class Shape(Record):
    """One form. The secret is the group `s`, or all of it. No two parts of a pattern match the same letters: the author
    of a text could otherwise keep the search busy."""

    pattern: str
    check: Callable[[str], object] = bool
    """What the secret must be as well."""
    signs: tuple[str, ...] = ()
    """A text without any of these has no such secret; all but words are looked for in lower case."""
    before: int = -1
    """How far before its sign it begins at most, if it has no blank behind that."""


OUTSIDE_A_WORD = r"(?:(?<![A-Za-z0-9])|(?<=\\[ntr]))(?<!base64,)"
"""Where a token may begin; also after an escaped line break."""
IN_WORD = r"\w.-"
IN_HEAD = "(?:(?!-----).)*"
IN_ADDRESS, IN_PATH, IN_QUERY = (
    rf"[^\s\"'\\<>,;()\[\]{{}}`{more}]" for more in ("/?#", "|", "|&#")
)  # fmt: skip
"""What a URL's host, path or query may have."""


def _any(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, texts))


def _whole(word: str) -> str:
    return rf"(?:(?<![\w.-])|(?<=\\[ntr])){word}(?![\w.-])"


OF_WORDS = (
    *(Shape(rf"{OUTSIDE_A_WORD}{re.escape(start)}[{IN_WORD}]{{{least},}}", signs=(start,)) for start, least in TOKENS),
    *(
        Shape(rf"{OUTSIDE_A_WORD}{start}[0-9a-fA-F]{{{size}}}(?![{IN_WORD}])", signs=(start,))
        for start, size in HEX_TOKENS
    ),
    Shape(rf"[\w-]{{10,20}}\.atlasv1\.[{IN_WORD}]{{50,}}", signs=("atlasv1.",)),  # HCP: the token begins before
    Shape(_whole(r"s\.(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{24}"), looks_random, ("s.",)),  # Vault
    Shape(_whole(r"[MNO][\w-]{22,29}\.[\w-]{5,7}\.(?=[\w-]*[0-9])[\w-]{27,}"), signs=(".",)),  # Discord
    Shape(_whole(r"pat[\w-]{14}\.[0-9a-fA-F]{64}"), signs=("pat",)),  # Airtable
    Shape(_whole(r"[0-9a-fA-F]{32}-us[0-9]+"), signs=("-us",)),  # Mailchimp
    Shape(rf"(?<![0-9])[0-9]{{6,14}}:AA[{IN_WORD}]{{31,}}", signs=("AA",)),  # Telegram
)
"""Those that are found at a long word that is like a token."""
BEFORE_WORD = 15
"""How far before such a word one of them begins at most."""
OF_SIGNS = (
    Shape(rf"1//0[{IN_WORD}]{{30,}}", signs=("1//0",)),  # Google
    Shape(rf"[{IN_WORD}]{{0,40}}Q~[\w.~/+=-]{{31,}}", signs=("q~",), before=40),  # Azure
    Shape(r"(?i:bearer|basic) (?P<s>[\w.~/+=-]{12,})", lambda said: not said.isalpha(), SCHEMES, before=0),
    Shape(r"(?i:basic) (?P<s>[\w.~/+=-]{8,})", is_user_and_password, SCHEMES, before=0),
    Shape(rf"{PEM}{IN_HEAD}?{PEM_KIND}{IN_HEAD}-----(?P<s>.*?)(?=-----END |(?<!\\)\\*\"|\Z)", signs=(PEM.lower(),)),
    # `scheme://user:password@host`. A long user name without a password may be a token.
    Shape(rf"://(?:(?!:){IN_ADDRESS})*:(?P<s>(?!\$){IN_ADDRESS}+)@", signs=("://",)),
    Shape(rf"://(?P<s>(?:(?!:){IN_ADDRESS}){{16,}})@", signs=("://",)),
    Shape(
        rf"(?i:{_any(HOOKS)}|://hook\.[^/]*/)(?P<s>{IN_PATH}+)",
        lambda said: looks_random(said, 12), (*HOOKS, "://hook."), before=0,
    ),
    Shape(rf"(?i:{_any(OPEN_HOOKS)})(?P<s>{IN_PATH}{{30,}})", signs=OPEN_HOOKS, before=0),
    Shape(
        rf"(?<![A-Za-z0-9_])(?i:{_any(QUERY)}|(?<=[?&])key)=(?P<s>{IN_QUERY}{{16,}})",
        looks_random, tuple(f"{name}=" for name in (*QUERY, "key")), before=0,
    ),
    Shape(r"(?i:jdbc:oracle:)[^/@ \n\t]*/(?P<s>[^@ \n\t]*)@", signs=("jdbc:oracle",)),
)  # fmt: skip
OF_PORTS = (
    # `host:port:database:user:password` alone on its line; with the usual port or any port, also as a word.
    Shape(r"(?m:^)[ \t]*[^\s/:]+:(?:\*|[0-9]{4,5}):(?![0-9]+:)[^ :\n]+:[^ :\n]+:(?P<s>[^ \n]+)[ \t\r]*(?m:$)"),
    Shape(
        r"(?:(?<![^\s'\"])|(?<=\\n))[^\s/:'\"\\]+:(?:543[0-9]|\*):[^\s:'\"]+:[^\s:'\"]+:"
        r"(?P<s>(?:(?!\\n|\\*(?:[\s'\"]|\Z))[^\s'\"])+)"
    ),
)
PORT = re.compile(r":(?:\*|[0-9]{4,5}):")
WORD_END = re.compile(r"\s|\Z")


class Clues(Record):
    """What in a text shows that there may be a secret, and where: the first look at all of it."""

    names: tuple[tuple[int, int, bool], ...]
    """What may name a secret, as `places` has it."""
    words: tuple[Place, ...]
    """Those that are like tokens."""
    programs: tuple[Place, ...]
    """Those that take a secret on their command line."""
    ports: tuple[Place, ...]
    """Numbers between colons."""

    def places(self) -> Iterator[int]:
        """Where all of them begin."""
        yield from (each[0] for found in (self.names, self.words, self.programs, self.ports) for each in found)


def clues_of(text: str, low: str) -> Clues:
    words = like_tokens(text.encode("ascii", "replace"))
    ports = (found.span() for found in PORT.finditer(low))
    return Clues((*sorted(places(low)),), (*words,), (*programs_in(text),), (*ports,))


def shapes(line: str, low: str, clues: Clues) -> Iterator[Place]:
    """Start and end of everything that has the form of a secret."""
    where = [(max(0, begin - BEFORE_WORD), end) for begin, end in clues.words]
    said = " ".join([line[begin:end] for begin, end in clues.words])
    for shape in OF_WORDS:
        if any(sign in said for sign in shape.signs):
            yield from _of_shape(shape, line, where)
    for shape in OF_SIGNS:
        if shape.before >= 0:
            yield from _of_shape(shape, line, _near(shape, low))
        elif any(sign in low for sign in shape.signs):
            yield from _of_shape(shape, line, [(0, len(line))])
    for shape in OF_PORTS if clues.ports else ():
        yield from _of_shape(shape, line, [(0, len(line))])


def _near(shape: Shape, low: str) -> Iterator[Place]:
    """Where in a text such a secret may be, as its signs show."""
    for sign in shape.signs:
        place = low.find(sign)
        while place >= 0:
            blank = WORD_END.search(low, place + len(sign))
            end = blank.start() if blank is not None else len(low)
            yield max(0, place - shape.before), end
            place = low.find(sign, max(end, place + 1))


def _of_shape(shape: Shape, line: str, where: Iterable[Place]) -> Iterator[Place]:
    for start, stop in where:
        regex = re.compile(shape.pattern, re.ASCII | re.DOTALL)
        group = "s" if "s" in regex.groupindex else 0
        for found in regex.finditer(line, start, stop):
            begin, end = found.span(group)
            if shape.check(line[begin:end]):
                yield begin, end


def run(line: str, place: int, letters: frozenset[str]) -> int:
    """Where the run of these characters ends."""
    while place < len(line) and line[place] in letters:
        place += 1
    return place


def until(line: str, place: int, ends: frozenset[str]) -> int:
    while place < len(line) and line[place] not in ends:
        place += 1
    return place


def backslashes(line: str, place: int) -> int:
    """How many backslashes are right before a place."""
    start = place
    while start > 0 and line[start - 1] == "\\":
        start -= 1
    return place - start


# Secret named: what follows the name of a secret in a text, in all ways in which people and programs write names and
# values, at any depth of JSON inside JSON. It finds places; `redact` replaces them.


INSTEAD = "[redacted]"

_BLANKS, _BACKSLASH = frozenset(" \t"), frozenset("\\")

_GAP = _BLANKS | frozenset("\r\n")
"""What may be between a name's sign and its value, which some write on the next line."""

_ENDS_BARE = frozenset(" \t\r\n\"',;&|<>(){}[]`")

_AFTER_TEXT = frozenset({"", *" ),;\n\r+"})
"""What stands behind the closing quote of a text in source code."""

_ENDS_LINE = frozenset("\r\n\"'`")

_ENDS_WORD = frozenset(" \t\r\n\"'`")

_HEADERS = ("authorization", "cookie")

_HEADER_WORDS = (
    "token ", "digest ", "apikey ", "api-key ", "key ", "negotiate ", "aws4-", "bearer ", "basic ", "bot ", "ntlm ",
    "hawk ", "signature ", "sharedkey ", "sso-key ", "genie",
)  # fmt: skip

_SETS = ("set ", "config ", "setenv ", "login ")


def named(line: str, low: str, clues: Clues) -> Iterator[Span]:
    """The values of all names of secrets."""
    stop = taken = -1
    for start, end, _ in clues.names:
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
    dashes = begin < stop and (line[begin] == "-" or _behind_option(low, begin))
    if line[sign : sign + 1] in (":", "=") and line[sign : sign + 2] != "==":
        span = _behind_sign(line, low, begin, sign, level, name)
    elif _in_tag(line, begin):
        span = _element(line, stop, name)
    elif dashes and sign > place and line[sign : sign + 1] not in ("-", ""):
        span = value_at(line, sign, name)
    elif dashes and level >= 0 and line.startswith(", ", place):  # the next word of an argv
        span = value_at(line, place + 2, name)
    else:
        span = _beside(line, low, begin, place, level, name)
    return span if span is None or is_secret_name(name) or _is_credential(line[span[0] : span[1]], name) else None


def _behind_option(low: str, begin: int) -> bool:
    """Whether a long option is shortly before a name, in its line."""
    _, dashes, option = low[max(0, begin - 24) : begin].rpartition("--")
    return bool(dashes) and option[:1].isalpha() and "\n" not in option


def _in_tag(line: str, begin: int) -> bool:
    """Whether `<` or `<prefix:` is before a name."""
    before = line[begin - 1 : begin]
    return before == "<" or (before == ":" and "<" in line[max(0, begin - 12) : begin])


def _is_credential(said: str, name: str) -> bool:
    """Whether the value of a name that may also mean something else is secret by itself."""
    return not is_auth(name) or is_user_and_password(said) or looks_random(said, 20)


def _behind_sign(line: str, low: str, begin: int, sign: int, level: int, name: str) -> Span | None:
    """`"name": "value"` at any depth, `NAME=value`, `Name: value`."""
    value = run(line, sign + (2 if line[sign : sign + 2] in (":=", "=>") else 1), _GAP)
    colon = line[sign] == ":"
    if colon and level < 0 and line[value : value + 1] not in ("\\", "'", '"'):
        if value == sign + 1:
            return _glued(line, value, name, line[begin:sign].isupper())
        if _is_header(low, value, name):
            return value, _end_of_header(line, begin, value), INSTEAD
    if _is_no_value(line, begin, value, name, colon, level):
        return None
    if name.endswith("private-lines"):
        return _key_of_putty(line, low, value)
    if (end := _end_of_line(line, low, begin, sign, value, name)) >= 0:
        said = line[value:end].rstrip("" if colon else ";,")
        return None if is_placeholder(said.strip()) or is_code(said, "", name) else (value, end, INSTEAD)
    return (None if colon else _in_braces(line, value)) or value_at(line, value, name)


def _glued(line: str, value: int, name: str, is_upper: bool) -> Span | None:
    """`secret:name` is a name with a colon in it, unless what follows looks like a secret."""
    said = line[value : until(line, value, _ENDS_BARE | _BACKSLASH)]
    is_value = looks_chosen(said) if "pass" in name or is_upper else looks_encoded(said)
    return (value, value + len(said), INSTEAD) if is_value and ":" not in said else None


def _is_no_value(line: str, begin: int, value: int, name: str, colon: bool, level: int) -> bool:
    """Whether this is the shell's working directory, the result of a test, the next line of an env file, or the text is
    over."""
    if not colon and line[value - 1 : value] == "\n" and _begins_line(line, begin):
        return True
    if name in ("pwd", "oldpwd"):
        return line[value : value + 1] in ("/", "~", ".", "$") or line[value + 1 : value + 2] == ":"
    if colon and name == "pass" and line[begin : begin + 4] == "PASS":
        return True
    return level < 0 and _ends_quote(line, begin, value)


def _ends_quote(line: str, begin: int, value: int) -> bool:
    """Whether the quote at this place ends the text that the name is in: `getpass("Password: ")`."""
    quote, start = line[value : value + 1], max(line.rfind("\n", 0, begin), begin - 200)
    if quote not in ("'", '"') or line[value + 1 : value + 2] not in _AFTER_TEXT:
        return False
    return line.count(quote, start + 1, begin) % 2 == 1


def _end_of_header(line: str, begin: int, value: int) -> int:
    """A header ends with its line, or with the quotes that it is in."""
    around = line[begin - 1 : begin]
    end = until(line, value, frozenset({"\n", "\r", around if around in ("'", '"') else "\n"}))
    return end - (backslashes(line, end) if end < len(line) and line[end] == around else 0)


def _key_of_putty(line: str, low: str, value: int) -> Span:
    """The lines of a private key, after their number."""
    begin = run(line, value, frozenset("0123456789"))
    stops = [stop for stop in (low.find("private-mac", begin), line.find('"', begin)) if stop >= 0]
    end = min(stops, default=len(line))
    return (
        begin,
        end - backslashes(line, end),
        f" {INSTEAD} ",
    )  # after a newline that is escaped, its letter comes first


def _end_of_line(line: str, low: str, begin: int, sign: int, value: int, name: str) -> int:
    """Where a value ends that takes the rest of its line, a phrase or a line of an env file; -1 if it is not one."""
    if line[value : value + 1] in ("\\", "'", '"', "{", "["):
        return -1
    if line[sign] == ":":
        is_phrase = ("phrase" in name or name == "mnemonic") and value > sign + 1
        return until(line, value, _ENDS_LINE) if is_phrase else -1
    if value != sign + 1 or not _begins_line(low, begin):
        return -1
    end = until(line, value, _ENDS_WORD | _BACKSLASH)
    after = line[end : end + 1] if line[end : end + 1] != "\\" else line[run(line, end, _BACKSLASH) :][:1]
    return end if after in ("", " ", "\t", "\r", "\n", "n", "r", '"') and "&&" not in line[value:end] else -1


def _in_braces(line: str, value: int) -> Span | None:
    """`PWD={value}`, as ODBC has it."""
    end = line.find("}", value, value + 100) if line.startswith("{", value) else -1
    is_value = end >= 0 and looks_chosen(line[value + 1 : end]) and not set(line[value:end]) & set(" .\"'\\(:")
    return (value + 1, end, INSTEAD) if is_value else None


def _is_header(low: str, value: int, name: str) -> bool:
    if not name.endswith(_HEADERS):
        return False
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
    if pair > place and not any(map(str.isalnum, line[place:pair].replace("\\n", ""))):
        after, _ = quoted(line, pair + 5)
        sign = run(line, after, _BLANKS)
        return value_at(line, run(line, sign + 1, _BLANKS), name) if line[sign : sign + 1] in (":", "=") else None
    if level >= 0:
        return _second_of_pair(line, begin, place, name)
    blank = run(line, place, _GAP)
    if blank == place:
        return None
    if line[blank : blank + 1] in ("'", '"') and name in ("password", "passwd") and line[place - 1] not in "'\"":
        return value_at(line, blank, name)
    return _told(line, low, begin, blank, name)


def _second_of_pair(line: str, begin: int, place: int, name: str) -> Span | None:
    """`("name", "value")`."""
    if line[place : place + 1] != "," or not any(sign in "([" for sign in line[max(0, begin - 3) : begin]):
        return None
    span = value_at(line, run(line, place + 1, _GAP), name)
    is_value = span is not None and line[span[0] - 1] in "'\"" and looks_chosen(line[span[0] : span[1]])
    return span if is_value else None


def _told(line: str, low: str, begin: int, blank: int, name: str) -> Span | None:
    """The next word, or the one behind `is`, if what stands around it says that it is a value."""
    end = until(line, blank, _ENDS_WORD)
    word = line[blank:end].rstrip(".,;:!?)")
    if name == "requirepass" and word:
        return blank, end, INSTEAD
    before = low[max(0, begin - 60) : begin]
    in_netrc = "machine" in before and before.split()[-2:-1] == ["login"] and not is_placeholder(word)
    if in_netrc or (_sets_before(before) and looks_chosen(word) and not word.startswith("-")):
        return blank, blank + len(word), INSTEAD
    if low.startswith(("is ", "was "), blank):
        begin = quoted(line, run(line, blank + 3, _BLANKS))[0]
        word = line[begin : until(line, begin, _ENDS_WORD)].rstrip(".,;:!?)")
        return (begin, begin + len(word), INSTEAD) if looks_chosen(word) else None
    return None


def _sets_before(before: str) -> bool:
    """Whether the words before a name log in, or set something in the same line."""
    near = before.rpartition("\n")[2]
    return any(word in before for word in ("login", "machine", "user")) or any(word in near for word in _SETS)


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


# Secret objects: values that are secret because of their surroundings in a text: the data of a Kubernetes secret, the
# private parts of a JSON web key, a password of SQL. It finds places; `redact` replaces them.


OF_KEY = ("d", "p", "q", "dp", "dq", "qi", "k")
"""The secret parts of a JSON web key."""


def manifests(text: str, low: str) -> Iterator[Span]:
    if "kind: secret" in low:
        yield from _yaml(text)
    if (
        "kind" in low
        and "data" in low
        and any(low[begin:end] == "secret" for begin, end, _ in _fields(text, low, "kind"))
    ):
        yield from (span for name in ("data", "stringdata") for span in islice(_fields(text, low, name), 1))
    if "kty" in low and next(_fields(text, low, "kty"), None) is not None:
        yield from (span for name in OF_KEY for span in _fields(text, low, name) if span[1] - span[0] >= 20)
    for found in re.compile(r"identified by\s*(?=\\*['\"])").finditer(low):
        span = value_at(text, found.end())
        if span is not None:
            yield span


def _fields(text: str, low: str, name: str) -> Iterator[Span]:
    """The values of all fields of JSON with this name."""
    for found in re.compile(rf"{name}\\*['\"]\s*:\s*").finditer(low):
        span = value_at(text, found.end()) if low[found.start() - 1 : found.start()] in ("'", '"') else None
        if span is not None:
            yield span


def _yaml(text: str) -> Iterator[Span]:
    """The data of a Kubernetes secret: whatever the names are."""
    place, inside = 0, -1
    for row in text.split("\n"):
        indent = len(row) - len(row.lstrip(" "))
        if row.strip() in ("data:", "stringData:"):
            inside = indent
        elif row.strip() and indent <= inside:
            inside = -1
        elif inside >= 0 and row.strip():
            sign = row.find(": ")
            begin = sign + 2 if sign >= 0 else indent
            if row[begin:].strip() not in ("", "|", ">", "|-"):
                yield place + begin, place + len(row), INSTEAD
        place += len(row) + 1


# Secrets on command lines: `programs/hiding.py` finds the places.


def is_token(before: Sequence[str], word: str) -> bool:
    """Whether the word after `-t` is a token: for a command that logs in, anything with letters and digits;
    otherwise only what looks random, and not for programs whose `-t` is a name."""
    plain = word.strip("'\"")
    looks = looks_random(plain, 8) if not hiding.LOGINS.isdisjoint(before) else looks_encoded(plain)
    return looks and not stands_for(word) and not hiding.is_name_after_t(before)


def stands_for(text: str) -> bool:
    """Whether a word of a command line is nothing, a variable or a placeholder."""
    plain = text.strip("'\"")
    return not plain or is_placeholder(plain) or plain.startswith("$")


def of_words(words: Sequence[str]) -> list[Place]:
    """The secrets of one command, the program first: which word, and from which letter on."""
    if words[0].rpartition("/")[2] not in HIDING:
        return []
    return [(at, begin) for at, begin in hiding.in_words(words) if not stands_for(words[at][begin:])]


def in_text(text: str, low: str, clues: Clues) -> list[Place]:
    """Start and end of the secrets of all commands in a text."""
    found = [(begin, end) for begin, end in hiding.in_text(text, clues.programs) if not stands_for(text[begin:end])]
    found += [(begin, end) for before, begin, end in hiding.after_t(text) if is_token(before, text[begin:end])]
    for words in hiding.piped(text, low):
        left = [span for span in words if not stands_for(text[slice(*span)])]
        found += [(left[0][0], left[-1][1])] if left else []
    return [(begin, end) for begin, end in found if end > begin]
