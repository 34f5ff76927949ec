"""Secret shapes: secrets that are recognised by their own form: tokens, private keys, passwords and keys in URLs. It
finds places; `redact` replaces them."""

from __future__ import annotations

from anyhook.journal.secret_names import HEX_TOKENS, HOOKS, LETTERS, OF_NAME, PEM, PEM_KIND, QUERY, SCHEMES, TOKENS
from anyhook.journal.secret_values import is_hex, is_user_and_password, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[int, int]

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
    """`host:port:database:user:password` alone on its line."""
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
