"""What a model may read: a value whose secrets are replaced by what they are, `[secret: AWS access key]`. Everything
else stays as it is, byte for byte. Placeholders and published examples do not count as secrets."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Collection, Iterator
from urllib.parse import unquote

from anyhook.journal.redact import INSTEAD, redacted, spans_in
from anyhook.journal.secret_names import is_secret_name, names_secret
from anyhook.journal.secrets import Span, is_hex, is_placeholder, is_uuid, looks_random
from anyhook.journal.suspect import OPENS, is_suspect_text
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.record import Record

KINDS_BY_START = (
    ("AKIA", "AWS access key"), ("ASIA", "AWS access key"), ("ghp_", "GitHub token"), ("gho_", "GitHub token"),
    ("ghu_", "GitHub token"), ("ghs_", "GitHub token"), ("ghr_", "GitHub token"), ("github_pat_", "GitHub token"),
    ("glpat-", "GitLab token"), ("xox", "Slack token"), ("sk-ant-", "API key"), ("sk-", "API key"),
    ("sk_live_", "Stripe key"), ("rk_live_", "Stripe key"), ("AIza", "Google API key"), ("ya29.", "Google token"),
    ("npm_", "npm token"), ("pypi-", "PyPI token"), ("hf_", "Hugging Face token"), ("dop_v1_", "DigitalOcean token"),
    ("SG.", "SendGrid key"), ("eyJ", "JSON web token"), ("-----BEGIN", "private key"), ("hvs.", "Vault token"),
)  # fmt: skip
"""How a secret begins, and what it is."""
NAME_BEFORE = re.compile(r"([A-Za-z][\w.-]{1,40})[\"'`]?\s*(?:[:=]|=>|\s)\s*[\"'`\[(]?\s*$")
"""A name right before a value."""
WORDS = frozenset({
    "changeme", "change-me", "password", "secret", "token", "dummy", "test", "testing", "none", "null", "todo", "value",
    "redacted", "hidden", "masked", "unset", "default", "string", "true", "false", "empty", "undefined",
})  # fmt: skip
"""Values that people write where a secret belongs."""
STAND_INS = (
    "example",
    "placeholder",
    "changeme",
    "your_",
    "your-",
    "my_",
    "my-",
    "<",
    "dummy",
    "xxxx",
    "redacted",
    "****",
    "fake-",
    "fake_",
    "not-a-real",
)
PUBLISHED = ("4eC39HqLyjWDarjtT1zdp7dc", "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l", "TYooMQauvdEDq54NiTphI7jx")
"""Parts of examples in vendors' documents."""
SERVICES = (
    ("ghp_", "api.github.com"), ("gho_", "api.github.com"), ("github_pat_", "api.github.com"),
    ("sk-ant-", "api.anthropic.com"), ("sk-proj-", "api.openai.com"), ("AIza", "generativelanguage.googleapis.com"),
    ("glpat-", "gitlab.com"), ("xox", "slack.com"), ("sk_live_", "api.stripe.com"), ("sk_test_", "api.stripe.com"),
    ("hf_", "huggingface.co"), ("npm_", "registry.npmjs.org"), ("SG.", "api.sendgrid.com"),
    ("dop_v1_", "api.digitalocean.com"),
)  # fmt: skip
"""How a secret begins, and where it is used."""
HOST = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^\s/@\"']*@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
AROUND_HOST = 250
"""How many characters before and after a secret an address is beside it."""
OF_A_VISIT = re.compile(r"(?i)(?:csrf|xsrf|session[_-]?(?:id)?|\bsid)[\w-]*[\"']?\s*[:=]\s*[\"']?$")
IN_NAME, IN_PATH = (
    re.compile(r"[\w-]$|:[ \t]*[\r\n]\s*$"),
    re.compile(r"(?:^|[\s\"'=(`:])(?!\w+://)[~.\w-]*/(?:[\w.@+-]+/)*$"),
)
"""Right before what is a part of a longer name, or after a question; and before the name of a file."""
MADE_NAME = re.compile(r"(?:[a-z]{2,}\d?|\d{1,4})(?:[-_](?:[a-z]{2,}\d?|\d{1,4})){2,}")
"""Such as that of a branch: words and numbers."""
WORDS_ONLY = re.compile(r"[A-Za-z_]+(?:(?:[.-]|::)[A-Za-z_]+)*")
FOR_ALL = re.compile(r"\b(?:NEXT_PUBLIC|NUXT_PUBLIC|EXPO_PUBLIC|REACT_APP|VITE|PUBLIC)_[^\n]*")
"""Variables that are compiled into a page."""
LINE_NUMBER = re.compile(r"^\s*\d+(?:→|[|:](?=\s|[A-Za-z#]))", re.MULTILINE)
"""Before each line, as file tools and grep print it."""
ENDS, PARTED = re.compile(r"[\s\"'`,;(){}\[\]<>|&]+"), re.compile(r"[=:@/?]")
"""What ends a word in a text, and what parts it further."""
HEX, BASE64 = re.compile("(?:[0-9a-fA-F]{2}){8,}"), re.compile(r"[A-Za-z0-9+/_-]{11,}={0,2}")
HEX_COLOUR = re.compile("#(?:[0-9a-fA-F]{3,4}){1,2}")
"""Themes call their colours tokens."""
VARIABLE_NAME = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
"""The name of a variable that has a secret: `api_key_env = "OPENAI_API_KEY"`."""
PART_OF_CODE = re.compile(r"[A-Za-z_]{2,}(?:\.[A-Za-z_]{2,})+")
BLOCK_BEFORE = re.compile(r":[ \t]*\n\s*$")
NAME_IN_CODE = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:\(\))?,?")
CALL_IN_CODE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*[(\[]")
"""What of source code stands where a secret might: a part of a variable; the first word of a block; another name; what
is called."""
OF_A_PROGRAM = re.compile(
    r"^[\d\s|:→+-]*(?:(?:async )?def \w+\(|class \w.*[:{]$|import [\w.]+(?: as \w+|, [\w.]+)*;?$|import [{*\"]"
    r"|from [\w.]+ import |(?:export )?(?:const|let) [\w{\[].*=|function \w*\(|func [\w(]+.*\{$|(?:pub )?fn \w+[<(]"
    r"|(?:public|private|protected|static|interface) .*[{;]$)",
    re.MULTILINE,
)
"""A line of a language in which a word without quotes is a name; in a shell it is a text."""
AROUND_VALUE = 1_500
MIN_SECRET, MIN_RANDOM = 8, 12
FEW_LETTERS = 3
"""A value with so few different characters is none."""
LONG, BEGIN = 16_384, 256
"""A text of an object that is longer than the first is represented by its begin, where only keys matter."""


def without_secrets(value: Json) -> tuple[Json, tuple[str, ...]]:
    """The value as a model may read it, and the kinds of secrets in it; the same object if there is none."""
    kinds: list[str] = []
    made = _made(value, kinds)
    if isinstance(value, (dict, list)):
        made = _by_keys(value, made, redacted(_begun(value)), "", kinds)
    return made if kinds else value, tuple(dict.fromkeys(kinds))


def all_known(text: str) -> bool | None:
    """Whether a text has secrets, if all of them are known again when they come back; None if there may be others. What
    frameworks show to everybody is none."""
    found = [each for each in secrets_in(text) if not VARIABLE_NAME.fullmatch(each)]
    known = {each.value for each in memorable_in(text)}
    for secret in found:
        text = text.replace(secret, " ")
    text = FOR_ALL.sub(" ", LINE_NUMBER.sub(" ", text))
    words = (part for word in ENDS.split(text) for part in PARTED.split(word))
    if not known.issuperset(found) or any(looks_random(word, MIN_RANDOM) for word in words):
        return None
    return bool(known)


class Memorable(Record):
    """A secret that is worth remembering."""

    value: str
    hosts: tuple[str, ...]
    """Those in the lines around it, and those of its vendor."""

    def parts(self) -> tuple[str, ...]:
        """The secret, and its halves, if they do not look like words."""
        middle = len(self.value) // 2
        halves = (self.value[:middle], self.value[middle:])
        return (self.value, *(half for half in halves if looks_random(half, MIN_SECRET)))


def memorable_in(value: Json) -> Iterator[Memorable]:
    """The secrets in a value that are known again when they come back: no short ones, no plain words, and nothing that
    counts for one session of a web site."""
    for text in lean_json.every_text(value):
        for begin, end, _ in _real(text):
            secret = text[begin:end].strip("\"'` ")
            before = text[max(0, begin - 64) : begin]
            if len(secret) < MIN_SECRET or OF_A_VISIT.search(before) or _is_name(secret, text[:begin]):
                continue
            around = text[max(0, begin - AROUND_HOST) : end + AROUND_HOST]
            hosts = [*HOST.findall(around), *(host for start, host in SERVICES if secret.startswith(start))]
            yield Memorable(secret, tuple(dict.fromkeys(hosts)))


def alone_in(output: Json, given: Json) -> Iterator[str]:
    """A secret that is all that a call printed, with the name that only the call has: `printenv SERVICE_TOKEN`."""
    for text in map(str.strip, lean_json.every_text(output)):
        is_random = looks_random(text, MIN_RANDOM) and not is_hex(text) and not is_uuid(text)
        if is_random and any(names_secret(each.lower()) for each in lean_json.every_text(given)):
            yield f"secret={text}"


def _is_name(word: str, before: str) -> bool:
    """Whether a word has only words and short numbers, is a part of a longer one, or is a file's."""
    if WORDS_ONLY.fullmatch(word) or MADE_NAME.fullmatch(word):
        return True
    return any(each.search(before[-AROUND_HOST:]) is not None for each in (IN_NAME, IN_PATH))


def secrets_in(value: Json) -> Iterator[str]:
    """The secrets themselves."""
    if isinstance(value, str):
        for begin, end, _ in _real(value):
            yield value[begin:end].strip("\"'` ")
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from secrets_in(each)


def spelled_in(text: str, sizes: Collection[int]) -> Iterator[str]:
    """What may be a secret of one of these lengths in a text: its words, their parts, the begin and the end of each;
    the same in what is escaped for a URL, in base64 or in hex."""
    for word in _words_in(text):
        yield from _ends(word, sizes)
        for inner in _decoded(word):
            for part in (inner, *_words_in(inner)):
                yield from _ends(part, sizes)


def _words_in(text: str) -> Iterator[str]:
    for word in ENDS.split(text):
        if len(word) >= MIN_SECRET:
            yield word
            yield from (part for part in PARTED.split(word) if MIN_SECRET <= len(part) < len(word))


def _ends(word: str, sizes: Collection[int]) -> Iterator[str]:
    for size in sizes:
        if len(word) >= size:
            yield word[:size]
            yield word[-size:]


def _decoded(word: str) -> Iterator[str]:
    """A word that is escaped for a URL, or is a text in base64 or in hex, or is written backwards."""
    yield word[::-1]
    if "%" in word:
        yield unquote(word)
    try:
        if HEX.fullmatch(word):
            yield bytes.fromhex(word).decode()
    except ValueError:
        pass
    try:
        if BASE64.fullmatch(word):
            plain = word.rstrip("=").replace("-", "+").replace("_", "/")
            yield b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except ValueError:
        pass


def _made(value: Json, kinds: list[str]) -> Json:
    if isinstance(value, str):
        return _in_json(_in_text(value, kinds), kinds)
    if isinstance(value, list):
        return [_made(each, kinds) for each in value]
    if isinstance(value, dict):
        return {key: _made(item, kinds) for key, item in value.items()}
    return value


def _by_keys(value: Json, made: Json, hidden: Json, key: str, kinds: list[str]) -> Json:
    """The value, also without what only keys and fields beside it show to be a secret: `hidden` lacks these."""
    if isinstance(value, dict) and isinstance(made, dict) and isinstance(hidden, dict):
        pairs = zip(value.items(), hidden.values(), strict=True)
        return {name: _by_keys(item, made[name], other, name, kinds) for (name, item), other in pairs}
    if isinstance(value, list) and isinstance(made, list) and isinstance(hidden, list):
        triples = zip(value, made, hidden, strict=True)
        return [_by_keys(one, two, three, key, kinds) for one, two, three in triples]
    if value == hidden or made != value or (isinstance(value, str) and (_is_harmless(value) or not _is_whole(hidden))):
        return made
    kinds.append(key or "of an unknown kind")
    return f"[secret: {kinds[-1]}]"


def _begun(value: Json) -> Json:
    """The value with only the begin of long texts: what keys show to be a secret does not depend on the rest."""
    if isinstance(value, str):
        return value if len(value) <= LONG else value[:BEGIN]
    if isinstance(value, list):
        return [_begun(each) for each in value]
    return {key: _begun(item) for key, item in value.items()} if isinstance(value, dict) else value


def _is_whole(hidden: Json) -> bool:
    """Whether a text was left out as a whole, or up to its end in one word: its place shows that it is a secret, and
    nothing in it does."""
    return isinstance(hidden, str) and hidden.endswith(INSTEAD) and not any(map(str.isspace, hidden[: -len(INSTEAD)]))


def _in_text(text: str, kinds: list[str]) -> str:
    parts: list[str] = []
    done = 0
    for begin, end, instead in _real(text):
        kind = _kind(text[begin:end], text[max(0, begin - 64) : begin])
        kinds.append(kind)
        parts += (text[done:begin], instead.replace(INSTEAD, f"[secret: {kind}]"))
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _real(text: str) -> Iterator[Span]:
    """The secrets in a text, in order; one inside another goes with it."""
    done = 0
    for begin, end, instead in sorted(spans_in(text), key=lambda span: (span[0], -span[1])):
        value = text[begin:end].strip("\"'` ")
        if begin >= done and not _is_harmless(value) and not _is_code(text, begin, value):
            yield begin, end, instead
            done = end


def _in_json(text: str, kinds: list[str]) -> str:
    """JSON in a text: what only its keys show to be a secret. The text stays as it is around it."""
    if text[:1] not in OPENS or not is_suspect_text(text):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    made, inner = without_secrets(value)
    kinds.extend(inner)
    for old, new in _changed(value, made):
        for spelled in (json.dumps(old), json.dumps(old, ensure_ascii=False)):
            text = text.replace(spelled, json.dumps(new, ensure_ascii=False))
    return text


def _changed(old: Json, new: Json) -> Iterator[tuple[str, str]]:
    """The texts that differ between two values of one shape."""
    if isinstance(old, str) and isinstance(new, str):
        if old != new:
            yield old, new
    elif isinstance(new, str) and isinstance(old, (dict, list)):  # all of it is left out
        for each in old.values() if isinstance(old, dict) else old:
            yield from _changed(each, new)
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new, strict=True):
            yield from _changed(one, other)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            yield from _changed(old[key], new[key])


def _is_code(text: str, begin: int, value: str) -> bool:
    """Whether a value without quotes is source code; a word with digits is not taken for it."""
    before = text[max(0, begin - 64) : begin]
    if not text.startswith(value, begin) or before.endswith(("'", '"', "`")):
        return False
    if PART_OF_CODE.fullmatch(value) is not None:
        return True
    word = value.rstrip(":")
    if word.isalpha() and word.islower() and BLOCK_BEFORE.search(before) is not None:
        return True
    is_name = NAME_IN_CODE.fullmatch(value) is not None and (before[-1:] == " " or value[-1] in "),")
    is_call = CALL_IN_CODE.match(text, begin, begin + len(value) + 1) is not None
    return (is_name or is_call) and OF_A_PROGRAM.search(
        text, max(0, begin - AROUND_VALUE), begin + AROUND_VALUE
    ) is not None


def _is_harmless(value: str) -> bool:
    """Whether it stands for a secret, or is published."""
    low = value.lower()
    return (
        is_placeholder(value)
        or low in WORDS
        or len(set(low)) <= FEW_LETTERS
        or any(part in low for part in STAND_INS)
        or any(part in value for part in PUBLISHED)
        or HEX_COLOUR.fullmatch(value) is not None
        or (VARIABLE_NAME.fullmatch(value) is not None and is_secret_name(value))
    )


def _kind(secret: str, before: str) -> str:
    """What a secret is: by how it begins, else by the name before it."""
    bare = secret.strip("\"'` ")
    for start, kind in KINDS_BY_START:
        if bare.startswith(start):
            return kind
    if "-----BEGIN" in before:
        return "private key"
    named = NAME_BEFORE.search(before)
    return named[1] if named is not None else "of an unknown kind"
