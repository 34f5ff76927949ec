"""Every kind of secret in `tests/data/secrets.json` stays out of the journal, wherever it appears. Text that only looks
similar is kept."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from anyhook.journal.record import ALL_KEPT, clean
from anyhook.journal.redact import redacted
from anyhook.journal.suspect import is_suspect
from anyhook.model.json_types import Json
from each_of import each_of

TABLE = json.loads((Path(__file__).parents[1] / "data" / "secrets.json").read_text(encoding="utf-8"))
KINDS: dict[str, tuple[str, str]] = {
    row["kind"]: (row["text"].replace("{secret}", "".join(row["secret"])), "".join(row["secret"]))
    for row in TABLE["kinds"]
}
INNOCENT: list[str] = TABLE["innocent"]


def contexts(text: str) -> list[Json]:
    """A text in the payloads where agents and tools would put it."""
    made: list[Json] = [
        {"tool": "Bash", "input": {"command": text, "description": "Run it"}},
        {"x": [{"y": text}]},
        {"stdout": json.dumps({"log": text, "n": [1]})},
        {"stdout": json.dumps({"log": json.dumps([text])})},
        {"stdout": json.dumps(text)},
        {"input": {"content": f"first line\n{text}\nlast line\n"}},
        {"result": {"stdout": f"$ run\n\n{text}", "stderr": ""}},
        {"prompt": f"Please look at this:\n{text}\nand go on."},
    ]
    try:
        made.append({"parsed": json.loads(text)})
    except ValueError:
        pass
    return made


def holds(line: str, secret: str) -> bool:
    """Whether a line contains a secret or its second half, however many times it is escaped."""
    whole, half = secret, secret[len(secret) // 2 :]
    for _ in range(6):
        if whole in line or half in line:
            return True
        whole, half = json.dumps(whole)[1:-1], json.dumps(half)[1:-1]
    return False


def test_the_table_is_large_enough_to_say_something() -> None:
    assert len(KINDS) >= 90
    assert len(INNOCENT) >= 80
    assert all(secret in text for text, secret in KINDS.values())


@each_of("kind", KINDS)
def test_no_secret_of_the_table_is_written(kind: str) -> None:
    text, secret = KINDS[kind]
    for value in contexts(text):
        assert is_suspect(value)
        assert not holds(clean(value, ALL_KEPT), secret), value


def test_what_looks_similar_stays() -> None:
    """One in fifty may be redacted by mistake: that loses a word, not a secret."""
    touched = [
        text for text in INNOCENT if any(clean(value, ALL_KEPT) != json.dumps(value) for value in contexts(text))
    ]
    assert len(touched) * 50 <= len(INNOCENT), touched


@each_of(
    "argv",
    [
        ["curl", "-u", "me:{}", "https://x"],
        ["/usr/bin/curl", "-sSu", "me:{}", "https://x"],
        ["sshpass", "-p", "{}", "ssh", "h"],
        ["mysql", "-ume", "-p{}", "app"],
        ["redis-cli", "-a", "{}"],
        ["openssl", "rsa", "-passin", "pass:{}"],
        ["docker", "login", "-u", "me", "-p", "{}"],
        ["htpasswd", "-bc", "f", "me", "{}"],
        ["keytool", "-storepass", "{}"],
    ],
    ids=" ".join,
)
def test_words_of_a_command(argv: list[str]) -> None:
    """The secret is redacted in a list, in a command line, and in a line quoted for another shell."""
    secret = "Kiwi7plum9Fig"
    words: list[Json] = [word.format(secret) for word in argv]
    line = " ".join(map(str, words))
    values: list[Json] = [
        {"argv": words},
        {"command": line},
        {"command": f"bash -c {shlex.quote(line)}"},
        {"command": f"cd a && {line} | x"},
    ]
    for value in values:
        assert not holds(clean(value, ALL_KEPT), secret), value


@given(
    kind=st.sampled_from(sorted(KINDS)),
    wraps=st.lists(st.sampled_from(["list", "field", "text", "line"]), max_size=4),
    ascii_only=st.booleans(),
)
def test_at_any_depth(kind: str, wraps: list[str], ascii_only: bool) -> None:
    text, secret = KINDS[kind]
    value: Json = text
    for wrap in wraps:
        if wrap == "list":
            value = ["a", value, 1]
        elif wrap == "field":
            value = {"é": value, "b": None}
        else:
            said = json.dumps(value, ensure_ascii=ascii_only)
            value = (
                said
                if wrap == "text"
                else f"got\n{said}\n"
                if isinstance(value, (dict, list)) and len(wraps) < 2
                else said
            )
    line = clean({"data": value, "end": "here"}, ALL_KEPT)
    assert not holds(line, secret)
    assert json.loads(line)["end"] == "here"


@given(kind=st.sampled_from(sorted(KINDS)))
def test_what_is_redacted_stays_so(kind: str) -> None:
    """Redacting a second time does not bring a secret back: hooks that read the journal record its lines again."""
    once = redacted({"x": KINDS[kind][0]})
    assert not holds(json.dumps(redacted(once)), KINDS[kind][1])


pieces = st.sampled_from(
    ["password", "pw", "auth", "pass", "<", ">", "</key>", "<string>", "value", "name", "is ", "login ", "set ",
     "machine ",
     "curl -u ", "mysql -p", "echo ", " | sudo -S", "kind: Secret", "data:", '"kty"', '"d"', "identified by ",
     "jdbc:oracle:",
     "/", "@", "?sig=", "&key=", "1//0", "Q~", "s.", "private-lines: ", "Cookie: ", "Authorization: Token ",
     "hooks.slack.com/services/",
     "'", '"', "\\", ":", "=", " ", "\n", "{", "}", "(", ",", "-", "$", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7", "7"]
)  # fmt: skip


@given(st.lists(pieces, max_size=20).map("".join))
def test_no_text_is_too_odd_to_be_redacted(text: str) -> None:
    """Redacting never raises, whatever the text: otherwise the record would be lost."""
    made = redacted([text, {text: text}, ["curl", "-u", text], {"name": text, "value": text}])
    assert json.loads(json.dumps(made)) == made
