"""Secret values: whether a value in the place of a secret is one, or is code, a placeholder, a number, a version.
`redact` finds where a value starts and ends."""

from __future__ import annotations

from anyhook.journal.secret_names import (
    HEX_TOKENS,
    HOOKS,
    LETTERS,
    OF_NAME,
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[int, int]
    Span = tuple[int, int, str]
    """Start, end, and the replacement."""
    from collections.abc import Sequence

    Found = tuple[int, int]
    """Which word, and from which letter on it is secret."""

WORDS_OF_CODE = frozenset(
    {
        "null", "true", "false", "none", "nil", "undefined", "str", "string", "bytes", "int", "number", "bool",
        "boolean",
        "any", "object", "optional", "secretstr", "buffer", "char", "text", "required", "yes", "no", "on",
        "off",
        "include", "omit", "same-origin", "keep-alive", "varchar", "unknown", "never", "void", "new", "await", "self",
        "this",
        "not", "is", "and", "or", "if", "in", "return", "function", "lambda", "async", "const", "let", "var",
    }
)  # fmt: skip

ROOTS = (
    "self.", "this.", "process.", "os.", "config.", "settings.", "env.", "request.", "req.", "args.", "options.",
    "opts.",
    "ctx.", "data.", "response.", "res.", "user.", "params.", "props.", "state.", "secrets.", "var.", "local.",
    "module.",
    "app.", "form.", "event.", "vault.", "github.", "import.meta.", "System.", "cls.", "getpass.", "body.", "payload.",
    "credentials.", "auth.", "session.", "result.", "cfg.", "conf.", "db.", "client.", "each.", "random_password.",
)  # fmt: skip

OPENERS = ("$", "{{", "<%", "%(", "[redacted]", "@{", "#{")

_VERSION = frozenset("0123456789.^~>=<*x| ")

_BASE64 = LETTERS | frozenset("+/=_-")

_HEX = frozenset("0123456789abcdefABCDEF")


def is_placeholder(text: str) -> bool:
    """Whether a whole value is a placeholder: a variable, a mask, a version number."""
    if not text or len(text) > 120:
        return False
    name = text.strip("${}@%#()").replace("_", "").replace(":-", "").replace(":?", "")
    if text[:1] == "$" and (name == "" or name.isalnum()) and (text[:2] == "${" or name.isupper() or name.islower()):
        return text[:2] != "${" or text[-1] == "}"
    if (text[:2] == "{{" and text[-2:] == "}}") or (text[:3] == "${{" and text[-2:] == "}}") or text[:2] == "$(":
        return True
    if text[:1] == "<" and text[-1:] == ">":
        return True
    if (len(text) >= 3 and len(set(text)) == 1 and text[0] in "*xX.•-_#") or text in ("%s", "%d", "{}", "...", "…"):
        return True
    low = text.lower()
    if low.startswith(("your-", "your_", "your ", "<your", "my-secret-name")) or text == "[redacted]":
        return True
    return not set(text) - _VERSION and (text[0] in "^~><=" or text.count(".") > 1) and any(map(str.isdigit, text))


def is_code(word: str, after: str, name: str) -> bool:
    """Whether a value without quotes is something else: a number, a keyword, a type, a call, a variable of a program.
    `after` is the letter behind it."""
    low = word.lower().rstrip("?")
    if not word or low in WORDS_OF_CODE or word.startswith(OPENERS) or is_placeholder(word):
        return True
    if word.replace(".", "", 1).lstrip("-").isdigit() and len(word) < 16:
        return True
    if after and after in "([" and (word.replace(".", "").replace("_", "").isalpha() or word.startswith(ROOTS)):
        return True
    if word.startswith(ROOTS) and word.replace(".", "").replace("_", "").isalnum():
        return True
    if low == name.lower() or low in (
        "password",
        "passwd",
        "token",
        "tokens",
        "secret",
        "apikey",
        "api_key",
        "pw",
        "pwd",
    ):
        return True
    plain = word.replace("_", "").replace("-", "")
    return plain.isalpha() and ("_" in word or word[0].islower()) and not word.isupper() and names_secret(low)


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
    from binascii import Error, a2b_base64

    try:
        said = a2b_base64(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        return False
    name, colon, _ = said.partition(b":")
    return bool(colon) and said.isascii() and bytes(said).decode("ascii").isprintable() and name != b""


# Secret shapes: secrets that are recognised by their own form: tokens, private keys, passwords and keys in URLs. It
# finds places; `redact` replaces them.


_OF_BASE64 = LETTERS | frozenset("_-.+/=~")

_ENDS_ADDRESS = frozenset(" \t\r\n\"'\\/?#<>,;()[]{}`")

_ENDS_PATH = frozenset(" \t\r\n\"'\\<>,;()[]{}`|")

_ENDS_QUERY = _ENDS_PATH | frozenset("&#")

_ESCAPED = ("\\n", "\\t", "\\r")


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


def shapes(line: str, low: str) -> Iterator[Place]:
    """Start and end of everything that has the form of a secret."""
    for start, min_letters in TOKENS:
        yield from _tokens(line, start, min_letters)
    for start, size in HEX_TOKENS:
        for begin, end in _tokens(line, start, size):
            if end - begin == len(start) + size and is_hex(line[begin + len(start) : end]):
                yield begin, end
    for scheme in SCHEMES:
        yield from _after_scheme(line, low, scheme)
    yield from _pem_blocks(line)
    yield from _words(line)
    if "://" in line:
        yield from _addresses(line)
        yield from _hooks(line, low)
    if "=" in line:
        yield from _queries(line, low)
    if "jdbc:oracle" in low:
        yield from _oracle(line, low)
    if line.count(":") > 3:
        yield from _pgpass(line)


def _alone(line: str, place: int) -> bool:
    return place == 0 or line[place - 1] not in LETTERS or line[place - 2 : place] in _ESCAPED


def _tokens(line: str, start: str, min_letters: int) -> Iterator[Place]:
    place = line.find(start)
    while place >= 0:
        end = run(line, place + len(start), OF_NAME)
        if end - place - len(start) >= min_letters and _alone(line, place) and line[place - 7 : place] != "base64,":
            begin = place
            if start == "atlasv1.":  # the token begins before
                while begin > 0 and line[begin - 1] in OF_NAME:
                    begin -= 1
            yield begin, end
        place = line.find(start, max(end, place + 1))


def _words(line: str) -> Iterator[Place]:
    """Long words that are tokens by the sizes of their parts."""
    place = 0
    size = len(line)
    while place < size:
        if line[place] not in OF_NAME:
            place += 1
            continue
        end = run(line, place, OF_NAME)
        if end - place >= 24:
            begin = place + 1 if line[place - 1 : place] == "\\" and line[place] in "ntr" else place
            if _is_token(line[begin:end]):
                yield begin, end
            elif line[place - 1 : place] == ":" and end - place >= 33 and line.startswith("AA", place):  # Telegram
                begin = place - 1
                while begin > 0 and line[begin - 1].isdigit():
                    begin -= 1
                if 6 <= place - 1 - begin <= 14:
                    yield begin, end
            elif line[place - 3 : place] == "1//" and line[place] == "0" and end - place > 30:  # Google
                yield place - 3, end
        if line[end - 1 : end + 1] == "Q~" and run(line, end + 1, _OF_BASE64) - end > 30:  # Azure
            yield place, run(line, end + 1, _OF_BASE64)
        place = end


def _is_token(word: str) -> bool:
    if word[:2] == "s." and len(word) == 26:  # Vault before 1.10
        body = word[2:]
        return body.isalnum() and looks_random(body) and body.lower() != body != body.upper()
    parts = word.split(".")
    if len(parts) == 3 and 23 <= len(parts[0]) <= 30 and 5 <= len(parts[1]) <= 7 and len(parts[2]) >= 27:  # Discord
        return parts[0][0] in "MNO" and looks_random(parts[2]) and not parts[0].islower()
    if len(parts) == 2 and len(word) == 82 and word.startswith("pat"):  # Airtable
        return is_hex(parts[1])
    return word[32:35] == "-us" and word[35:].isdigit() and is_hex(word[:32])  # Mailchimp


def _after_scheme(line: str, low: str, scheme: str) -> Iterator[Place]:
    place = low.find(scheme)
    while place >= 0:
        begin = place + len(scheme)
        end = run(line, begin, _OF_BASE64)
        said = line[begin:end]
        if (end - begin >= 12 and not said.isalpha()) or (scheme == "basic " and is_user_and_password(said)):
            yield begin, end
        place = low.find(scheme, begin)


def _addresses(line: str) -> Iterator[Place]:
    """`scheme://user:password@host`: the password. A long user name without a password may be a token, and counts
    too."""
    place = line.find("://")
    while place >= 0:
        begin = place + 3
        end = until(line, begin, _ENDS_ADDRESS)
        user = line[begin:end].rpartition("@")[0]
        name, colon, password = user.partition(":")
        if (password and not password.startswith("$")) or len(user) >= 16:
            yield begin + (len(name) + 1 if colon else 0), begin + len(user)
        place = line.find("://", begin)


def _hooks(line: str, low: str) -> Iterator[Place]:
    for hook in HOOKS:
        place = low.find(hook)
        while place >= 0:
            begin = place + len(hook)
            if hook == "://hook.":
                begin = max(begin, low.find("/", begin) + 1)
            end = until(line, begin, _ENDS_PATH)
            if looks_random(line[begin:end], 12) or (hook[0] == "/" and end - begin >= 30):
                yield begin, end
            place = low.find(hook, place + 1)


def _queries(line: str, low: str) -> Iterator[Place]:
    """`?sig=…`, `&key=…`, `; session=…`."""
    for name in QUERY:
        place = low.find(name + "=")
        while place >= 0:
            begin = place + len(name) + 1
            before = line[place - 1 : place]
            end = until(line, begin, _ENDS_QUERY)
            if (
                before not in LETTERS
                and before != "_"
                and looks_random(line[begin:end])
                and (name != "key" or before in ("?", "&"))
            ):
                yield begin, end
            place = low.find(name + "=", begin)


def _oracle(line: str, low: str) -> Iterator[Place]:
    """`jdbc:oracle:thin:user/password@host`."""
    place = low.find("jdbc:oracle:")
    while place >= 0:
        slash = line.find("/", place)
        at = line.find("@", place)
        if 0 <= slash < at and not set(line[place:at]) & set(" \n\t"):
            yield slash + 1, at
        place = low.find("jdbc:oracle:", place + 1)


def _pgpass(line: str) -> Iterator[Place]:
    """`host:port:database:user:password` alone on its line; with the usual port or any port (`*`), also as a word."""
    begin = 0
    for row in line.split("\n"):
        parts = row.strip().split(":", 4)
        if len(parts) == 5 and all(parts) and " " not in row.strip():
            port = parts[1]
            if (
                (port == "*" or (port.isdigit() and 4 <= len(port) <= 5))
                and not parts[2].isdigit()
                and "/" not in parts[0]
            ):
                end = begin + len(row.rstrip())
                yield end - len(parts[4]), end
        elif ":543" in row or ":*:" in row:
            for word in row.replace("'", " ").replace('"', " ").replace("\\n", "  ").split():
                parts = word.rstrip("\\").split(":", 4)
                numbered = len(parts) == 5 and (parts[1].isdigit() or parts[1] == "*")
                if numbered and all(parts) and "/" not in parts[0]:
                    place = begin + row.find(word)
                    yield place + len(":".join(parts[:4])) + 1, place + len(word.rstrip("\\"))
        begin += len(row) + 1


def _pem_blocks(line: str) -> Iterator[Place]:
    """The body of a private key: up to its last line, or to the end of the text that it is in."""
    place = line.find(PEM)
    while place >= 0:
        head = line.find("-----", place + len(PEM))
        if head >= 0 and PEM_KIND in line[place:head]:
            begin = head + 5
            stops = [stop for stop in (line.find("-----END ", begin), line.find('"', begin)) if stop >= 0]
            end = min(stops, default=len(line))
            end -= backslashes(line, end) if line[end : end + 1] == '"' else 0
            if end > begin:
                yield begin, end
        place = line.find(PEM, place + 1)


# Secret named: what follows the name of a secret in a text, in all ways in which people and programs write names and
# values, at any depth of JSON inside JSON. It finds places; `redact` replaces them.


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
        said = line[value : until(line, value, _ENDS_BARE | _BACKSLASH)]
        is_value = looks_chosen(said) if "pass" in name or line[begin:sign].isupper() else looks_encoded(said)
        return (value, value + len(said), INSTEAD) if is_value and ":" not in said else None
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


# Secret objects: values that are secret because of their surroundings in a text: the data of a Kubernetes secret, the
# private parts of a JSON web key, a password of SQL. It finds places; `redact` replaces them.


OF_KEY = ("d", "p", "q", "dp", "dq", "qi", "k")

"""The secret parts of a JSON web key."""

_GAP_SECRET_OBJECTS = frozenset(" \t\r\n")


def manifests(text: str, low: str) -> Iterator[Span]:
    if "kind: secret" in low:
        yield from _yaml(text)
    if "kind" in low and "secret" in low and "data" in low:
        kind = _field(text, low, "kind", 0)
        while kind is not None:
            if low.startswith("secret", kind[0]) and kind[1] - kind[0] == 6:
                for name in ("data", "stringdata"):
                    data = _field(text, low, name, 0)
                    if data is not None:
                        yield data
                break
            kind = _field(text, low, "kind", kind[1])
    if "kty" in low and _field(text, low, "kty", 0) is not None:
        for name in OF_KEY:
            part = _field(text, low, name, 0)
            while part is not None:
                if part[1] - part[0] >= 20:
                    yield part
                part = _field(text, low, name, part[1])
    place = low.find("identified by")
    while place >= 0:
        begin = run(text, place + 13, _GAP_SECRET_OBJECTS)
        if quoted(text, begin)[1] >= 0:
            span = value_at(text, begin)
            if span is not None:
                yield span
        place = low.find("identified by", place + 1)


def _field(text: str, low: str, name: str, place: int) -> Span | None:
    """The value of the next field of JSON with this name."""
    place = low.find(name, place)
    while place >= 0:
        after, level = quoted(text, place + len(name))
        sign = run(text, after, _GAP_SECRET_OBJECTS)
        if level >= 0 and text[sign : sign + 1] == ":" and text[place - 1 : place] in ('"', "'"):
            span = value_at(text, run(text, sign + 1, _GAP_SECRET_OBJECTS))
            if span is not None:
                return span
        place = low.find(name, place + 1)
    return None


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


# Secret commands: which words of a command line are passwords. An option means a password to one program and a port to
# the next, so there is a table of programs.


_BEHIND: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "curl",
        {"-u": ":", "--user": ":", "-U": ":", "--proxy-user": ":", "-b": "=", "--cookie": "=", "--oauth2-bearer": ""},
    ),
    ("http https xh xhs", {"-a": ":", "--auth": ":"}),
    ("redis-cli valkey-cli", {"-a": "", "--pass": ""}),
    ("openssl", {"-k": "", "-K": ""}),
    ("sshpass twine cqlsh mongo mongosh mongodump mongorestore mongoexport mongoimport", {"-p": ""}),
    ("docker podman nerdctl helm buildah skopeo oras crane az", {"-p": ""}),
    ("ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami", {"-w": ""}),
    ("sqlcmd bcp osql isql tsql mssql-cli zip unzip zipcloak ipmitool mosquitto_pub mosquitto_sub", {"-P": ""}),
    ("smbclient rpcclient smbget smbmap", {"-U": "%"}),
    ("lftp", {"-u": ","}),
    ("gh", {"--body": "", "-b": ""}),
    ("netlify", {"-a": "", "--auth": ""}),
    ("codecov codecovcli codecov-cli vercel doppler", {"-t": ""}),
    ("kubectl oc", {"--from-literal": "="}),
)

NEXT = {program: options for programs, options in _BEHIND for program in programs.split()}

"""Programs with options that are followed by a secret, and the character in that word after which it starts."""

ONLY_WITH = {"gh": "secret", "kubectl": "secret", "oc": "secret", **dict.fromkeys(_BEHIND[5][0].split(), "login")}

"""Programs that take one only together with this word."""

ATTACHED = frozenset(
    {
        "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mariadb", "mariadb-dump", "mariadb-admin",
        "7z", "7za", "7zz", "rar", "unrar",
    }
)  # fmt: skip

"""Programs that take it only right after `-p`."""

PROGRAMS = frozenset({*NEXT, *ATTACHED, "htpasswd", "rabbitmqctl"})

PIPED = ("sudo -s", "--password-stdin", "chpasswd", "--with-token", "passphrase-fd 0", "passwd --stdin")

"""Commands that read a secret from what is piped into them."""

NAMES_WITH_T = frozenset({"docker", "podman", "nerdctl", "buildah", "tmux", "screen", "git", "ssh", "mount", "kaniko"})

LOGINS = frozenset({"login", "auth", "signin", "authenticate"})

MAX_COMMAND = 4_096

"""How many characters of a command are checked."""

_ENDS = frozenset("\n;|&")

_BLANKS_SECRET_COMMANDS = frozenset(" \t")


def of_words(words: Sequence[str]) -> list[Found]:
    """The secrets of one command, the program first."""
    program, rest = words[0].rpartition("/")[2], words[1:]
    found: list[Found] = []
    if program == "htpasswd":
        at_once = any(word[:1] == "-" and "b" in word for word in rest)
        return [(len(words) - 1, 0)] if at_once and len(words) > 3 else []
    if program == "rabbitmqctl":
        return [(len(words) - 1, 0)] if rest and rest[0] in ("add_user", "change_password") and len(words) > 3 else []
    if program in ATTACHED:
        return [
            (at, 2) for at, word in enumerate(words) if word[:2] == "-p" and len(word) > 2 and not _stands_for(word[2:])
        ]
    if program in ONLY_WITH and ONLY_WITH[program] not in rest:
        return []
    options = NEXT[program]
    for at, word in enumerate(words):
        if program == "openssl" and word.startswith("pass:"):
            found.append((at, 5))
        sign = options.get(word)
        if sign is None and program == "curl" and word[:1] == "-" and word[1:].isalpha():
            sign = options.get("-" + word[-1])  # `-sSu`
        if sign is not None and at + 1 < len(words):
            begin = words[at + 1].find(sign) + 1 if sign else 0
            if (begin or not sign) and not _stands_for(words[at + 1][begin:]):
                found.append((at + 1, begin))
        elif word[:2] == "--" and (option := word.partition("=")[0]) in options and option != word:
            begin = word.find(options[option], len(option) + 1) + 1 if options[option] else len(option) + 1
            if begin and not _stands_for(word[begin:]):
                found.append((at, begin))
        elif word[:2] in options and len(word) > 2 and word[1] != "-" and word not in options:
            begin = word.find(options[word[:2]], 2) + 1 if options[word[:2]] else 2
            if begin >= 2 and not _stands_for(word[begin:]):
                found.append((at, begin))
    return found


def is_token(before: Sequence[str], word: str) -> bool:
    """Whether the word after `-t` is a token: for a command that logs in, anything with letters and digits;
    otherwise only what looks random, and not for programs whose `-t` is a name."""
    program = before[0].rpartition("/")[2] if before else ""
    if program in NAMES_WITH_T or _stands_for(word):
        return False
    plain = word.strip("'\"")
    return looks_random(plain, 8) if not LOGINS.isdisjoint(before) else looks_encoded(plain)


def _after_t(text: str) -> Iterator[tuple[int, int]]:
    """The tokens after `-t`: as the next word, after `=`, or in the same word."""
    place = text.find(" -t")
    while place >= 0:
        start = max([text.rfind(sign, 0, place) for sign in _ENDS]) + 1
        begins = place + 3 + (text[place + 3 : place + 4] in (" ", "="))
        words = _words_secret_commands(text, begins, _quote_around(text, place))[:1]
        before = text[max(start, place - MAX_COMMAND) : place].replace('"', " ").replace("\\n", "  ").split()
        for begin, end in words:
            if is_token([word for word in before if word != "$"], text[begin:end].rstrip("\\")):
                yield _unquoted(text, begin, end)
        place = text.find(" -t", place + 1)


def _stands_for(text: str) -> bool:
    return not text.strip("'\"") or is_placeholder(text.strip("'\"")) or text.strip("'\"").startswith("$")


def in_text(text: str, low: str) -> list[tuple[int, int]]:
    """Start and end of the secrets of all commands in a text."""
    found: list[tuple[int, int]] = []
    for program in PROGRAMS:
        place = text.find(program)
        while place >= 0:
            end = place + len(program)
            if text[end : end + 1] in (" ", "\t") and (
                place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "-_.@")
            ):
                spans = [(place, end), *_words_secret_commands(text, end, _quote_around(text, place))]
                for at, offset in of_words([text[a:b] for a, b in spans]):
                    begin, stop = spans[at]
                    found.append(_unquoted(text, begin + offset, stop))
                line_end = text.find("\n", end)  # a long line of nothing but programs is walked once
                end = max(end, spans[-1][1] if line_end < 0 else min(spans[-1][1], line_end))
            place = text.find(program, end)
    found.extend(_after_t(text))
    for reader in PIPED:
        place = low.find(reader)
        while place >= 0:
            found += _piped(text, low, place)
            place = low.find(reader, place + 1)
    return [(begin, end) for begin, end in found if end > begin]


def _quote_around(text: str, place: int) -> str:
    """The quote around a command, which ends it."""
    line = text[text.rfind("\n", max(0, place - MAX_COMMAND), place) + 1 : place][-MAX_COMMAND:]
    for quote in ("'", '"'):
        if line.count(quote) % 2:
            return quote
    return ""


def _words_secret_commands(text: str, place: int, around: str) -> list[tuple[int, int]]:
    """Start and end of the words up to the end of a command."""
    found: list[tuple[int, int]] = []
    start, quote = -1, ""
    limit = min(len(text), place + MAX_COMMAND)
    while place < limit:
        char = text[place]
        if quote:
            quote = "" if char == quote else quote
        elif char == around:
            break
        elif char == "\\" and text[place + 1 : place + 2] == "\n":
            if start >= 0:
                found.append((start, place))
            start, place = -1, place + 1
        elif char in "'\"":
            start, quote = (place if start < 0 else start), char
        elif char in _ENDS:
            break
        elif char in _BLANKS_SECRET_COMMANDS:
            if start >= 0:
                found.append((start, place))
            start = -1
        elif start < 0:
            start = place
        place += 1
    if start >= 0:
        found.append((start, place))
    return found


def _unquoted(text: str, begin: int, end: int) -> tuple[int, int]:
    """The same without the quotes around it."""
    if text[begin : begin + 1] in ("'", '"'):
        begin += 1
    if end > begin and text[end - 1] in "'\"\\":
        end -= 1
    return begin, end


def _piped(text: str, low: str, place: int) -> list[tuple[int, int]]:
    """What an `echo` or a `printf` pipes into a command that reads a secret."""
    pipe = text.rfind("|", 0, place)
    start = max(low.rfind("echo ", 0, max(pipe, 0)), low.rfind("printf ", 0, max(pipe, 0)))
    if pipe < 0 or start < 0 or pipe - start > 400 or "\n" in text[start:place]:
        return []
    words = _words_secret_commands(text, low.find(" ", start), _quote_around(text, start))
    words = [(a, b) for a, b in words if not _stands_for(text[a:b]) and text[a] != "-" and "%" not in text[a:b]]
    return [_unquoted(text, words[0][0], words[-1][1])] if words else []
