"""Secret commands: which words of a command line are passwords. An option means a password to one program and a port to
the next, so there is a table of programs."""

from __future__ import annotations

from anyhook.journal.secret_values import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = tuple[int, int]
    """Which word, and from which letter on it is secret."""

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
MAX_COMMAND = 4_096
"""How many characters of a command are checked."""
_ENDS = frozenset("\n;|&")
_BLANKS = frozenset(" \t")


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
                spans = [(place, end), *_words(text, end, _quote_around(text, place))]
                for at, offset in of_words([text[a:b] for a, b in spans]):
                    begin, stop = spans[at]
                    found.append(_unquoted(text, begin + offset, stop))
                line_end = text.find("\n", end)  # a long line of nothing but programs is walked once
                end = max(end, spans[-1][1] if line_end < 0 else min(spans[-1][1], line_end))
            place = text.find(program, end)
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


def _words(text: str, place: int, around: str) -> list[tuple[int, int]]:
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
        elif char in _BLANKS:
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
    words = _words(text, low.find(" ", start), _quote_around(text, start))
    words = [(a, b) for a, b in words if not _stands_for(text[a:b]) and text[a] != "-" and "%" not in text[a:b]]
    return [_unquoted(text, words[0][0], words[-1][1])] if words else []
