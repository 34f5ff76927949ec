"""Anything that looks like a secret is removed from a line, however deep it is in nested JSON. The line stays valid
JSON, and everything else is unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_strategies import texts, values

from anyhook.journal import record
from anyhook.journal.record import ALL_KEPT, RECORDED_OUTPUT, JournalPolicy, clean, clip, clipped, secrets_of
from anyhook.journal.redact import INSTEAD, redacted
from anyhook.journal.secrets import is_placeholder
from anyhook.journal.suspect import TEXT_LIMIT, TOKENS, is_suspect
from anyhook.model.json_types import Json
from each_of import each_of

CANARY = "Zebra7Canary9Secret0x"

NAMED = [
    "{name}={secret}",
    "export {name}='{secret}'",
    'export {name}="{secret}"',
    "{name}: {secret}",
    "curl -H '{name}: Bearer {secret}' x",
    "tool --{name} {secret} -v",
    "tool --{name}={secret}",
    "{{'{name}': '{secret}'}}",
    "x?{name}={secret}&y=1",
    "{name}:\n  {secret}",
    '"{name}":\r\n "{secret}"}} and more',
]
NAMES = ["password", "DB_PASSWORD", "api_key", "X-Api-Key", "github_token", "client_secret", "Authorization", "apiKey"]


def redact(line: str) -> str:
    """Redact this JSON text as part of a journal line."""
    return clean(json.loads(line), ALL_KEPT)


def deep(value: Json, depth: int) -> str:
    """A line of JSON with the value nested in this many levels of JSON text."""
    for _ in range(depth):
        value = {"stdout": json.dumps({"inner": value})}
    return json.dumps({"v": 1, "data": value, "end": "here"})


def opened(line: str, depth: int) -> Json:
    value: Json = json.loads(line)["data"]
    for _ in range(depth):
        assert isinstance(value, dict)
        value = json.loads(str(value["stdout"]))["inner"]
    return value


@each_of("form", NAMED)
def test_a_named_secret_in_a_text(form: str) -> None:
    for name, depth in product(NAMES, range(5)):
        line = redact(deep(form.format(name=name, secret=CANARY), depth))
        assert CANARY not in line, (name, depth)
        assert INSTEAD in str(opened(line, depth)), (name, depth)


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
@given(secret=texts.filter(lambda text: len(text) > 0), shape=st.integers(0, 3))
def test_a_named_secret_as_a_value(depth: int, secret: str, shape: int) -> None:
    """It works whatever the secret contains, including quotes and backslashes."""
    secret = f"{secret}{CANARY}{secret}"
    assume(not is_placeholder(secret))  # `YOUR-…` is a placeholder, not a secret
    shapes: list[Json] = [secret, [1, secret], {"user": "me", "is": secret}, {"x": [{"y": secret}]}]
    held = shapes[shape]
    line = redact(deep({"before": 1, "db_password": held, "after": [secret[:0], "kept"]}, depth))
    assert opened(line, depth) == {"before": 1, "db_password": INSTEAD, "after": ["", "kept"]}
    assert json.loads(line)["end"] == "here"


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_token_by_its_shape(depth: int) -> None:
    kept: Json = ["run", f"git clone {INSTEAD}\nnext", f"({INSTEAD})", f"a\n{INSTEAD}", f"ü\t{INSTEAD}"]
    for start, least in TOKENS:
        token = start + ("a1B2" * 20)[: least + 4]
        line = redact(deep(["run", f"git clone {token}\nnext", f"({token})", f"a\n{token}", f"ü\t{token}"], depth))
        assert token not in line, start
        assert opened(line, depth) == kept, start


def test_a_token_in_json_that_was_cut() -> None:
    for start, least in TOKENS:
        token = start + ("a1B2" * 20)[: least + 4]
        assert token not in redact(json.dumps({"stdout": json.dumps({"log": f"x\n{token}"})[:-2]})), start


CUT = {
    **{start: start + ("A1B2" * 20)[: least + 4] for start, least in TOKENS},
    "https://user:": f"https://user:{CANARY}@host/",
    "Bearer ": f"Bearer {CANARY}",
    "": CANARY,
}


def halves(start: str, inside: int, limits: tuple[int, int]) -> None:
    """No part of a secret is left if a text, or a program's output, is cut this many characters into it."""
    secret, policy = CUT[start], JournalPolicy(secrets=secrets_of({"MY_TOKEN": CANARY}))
    cutters: list[Callable[[str], Json]] = [clipped, lambda text: clip(text.encode())]
    for limit, what in zip(limits, cutters, strict=True):
        text = ("word " * (limit // 5 + 1))[: limit - inside - 1] + f" {secret} and more"
        kept, mark, _ = json.loads(clean(what(text), policy)).partition("… [")
        assert mark
        left = [size for size in range(len(start) + 4, len(secret) + 1) if kept.endswith(secret[:size])]
        assert not left, (start, inside, limit)


def test_no_half_of_a_secret_stays_where_a_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try every position of the cut, with short limits. The last secret is the value of a secret variable."""
    limit = 2 * record.MAX_WORD
    monkeypatch.setattr(record, "TEXT_LIMIT", limit)
    monkeypatch.setattr(record, "RECORDED_OUTPUT", limit)
    for start, secret in CUT.items():
        for inside in range(1, len(secret) + 1):
            halves(start, inside, (limit, limit))


@each_of("start", ["ghp_", "https://user:", "Bearer ", ""])
def test_no_half_of_a_secret_stays_where_a_long_text_is_cut(start: str) -> None:
    for inside in (1, len(CUT[start]) // 2, len(CUT[start])):
        halves(start, inside, (TEXT_LIMIT, RECORDED_OUTPUT))


@each_of(
    "text",
    [
        f"İ token={CANARY}",  # a letter that becomes two in lower case
        f'{{"to\\u006ben": "{CANARY}"}}',
        f'["https:\\/\\/me:{CANARY}@example.org"]',
        f"to\u212aen={CANARY}",
    ],
)
def test_letters_that_hide_a_name(text: str) -> None:
    assert CANARY not in redact(json.dumps([text]))


@pytest.mark.parametrize("sign", ["", "+", "-"])
@pytest.mark.parametrize("lines", [1, 1_000])
def test_a_command_in_a_diff_of_any_length(sign: str, lines: int) -> None:
    text = "a line\n" * lines + f"{sign}curl -u me:Zx81kQp0aa https://example.com\n"
    assert "Zx81kQp0aa" not in str(redacted(text))


def test_a_program_may_give_what_becomes_json() -> None:
    value: Json = {"argv": ("tool", "--password", CANARY), 7: {"token": CANARY}}  # type: ignore[dict-item]
    assert CANARY not in clean(value, ALL_KEPT)


def test_a_secret_that_is_a_number_leaves_the_line_json() -> None:
    policy = JournalPolicy(secrets_of({"DOOR_KEY": "12345678", 'A"TOKEN': 'se"cret\\10'}))
    value: Json = {"pin": 12345678, "12345678": "x12345678y", "said": ['se"cret\\10', json.dumps('se"cret\\10')]}
    found = json.loads(clean(value, policy))
    assert found["pin"] == "[DOOR_KEY]"
    assert found["[DOOR_KEY]"] == "x[DOOR_KEY]y"
    assert "cret" not in json.dumps(found["said"])


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_other_shapes(depth: int) -> None:
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n{CANARY}\n-----END RSA PRIVATE KEY-----"
    cases: dict[str, Json] = {
        "address": f"postgres://me:{CANARY}@db.example/x?y=1",
        "user": f"https://{CANARY}@example.org/x.git",
        "header": f"authorisation is Bearer {CANARY}",
        "pem": pem,
        "cut": pem[:60],
        "argv": ["tool", "--password", CANARY, "--verbose"],
    }
    line = redact(deep(cases, depth))
    assert CANARY not in line
    found = opened(line, depth)
    assert isinstance(found, dict)
    assert found["address"] == f"postgres://me:{INSTEAD}@db.example/x?y=1"
    assert found["argv"] == ["tool", "--password", INSTEAD, "--verbose"]


PLAIN: list[Json] = [
    {"usage": {"input_tokens": 512, "max_tokens": "4096 tokens"}},
    {"id": "kodik:plugin:secret-guard:PreToolUse:token-check", "env": ["GITHUB_TOKEN", "PATH"]},
    "the tokenizer and the secretary have passwordless logins",
    "see https://example.org/a@b and mail me@example.org",
    {"token": None, "password": "", "secret": False, "api_key": 12},
    "sk-short AKIA and eyJ are no tokens",
    "echo $PASSWORD; token=$TOKEN",
    "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
]


@each_of("value", PLAIN, ids=str)
@each_of("depth", [0, 1, 2])
def test_what_is_no_secret_stays(value: Json, depth: int) -> None:
    line = deep(value, depth)
    assert redact(line) == line


ENDINGS = ["my secret:", "my secret=", "secret: ", "secret:\\", "--password", "x --password ", 'password="', "token='"]


@each_of("text", ENDINGS)
@each_of("depth", [0, 1, 2, 3])
def test_a_text_that_ends_with_a_name_takes_nothing_with_it(text: str, depth: int) -> None:
    value: Json = {"first": text, "second": ["x", text], "third": text}
    line = deep(value, depth)
    assert redact(line) == line


words = st.sampled_from(
    ["password", "token", '"', "'", "\\", ":", "=", " ", "{", "}", "[", "]", ",", "--", "\n", "://", "@", "Bearer ",
     "é", "-----BEGIN PRIVATE KEY-----", "-----END ", "sk-" + "a" * 24, "x1"]
)  # fmt: skip


@given(st.lists(words, max_size=25).map("".join), st.integers(0, 3))
def test_hostile_texts_never_break_the_line(text: str, depth: int) -> None:
    line = redact(deep([text, {text: text}], depth))
    found = json.loads(line)
    assert (found["v"], found["end"]) == (1, "here")


@given(st.lists(words, max_size=12).map("".join), st.lists(words, max_size=6).map("".join), st.integers(0, 2))
def test_what_is_not_suspected_holds_nothing(text: str, key: str, depth: int) -> None:
    value: Json = [text, {key: text}, ["--x", text]]
    for _ in range(depth):
        value = {"stdout": json.dumps(value)}
    assert is_suspect(value) or redacted(value) is value


@given(values)
def test_any_value_stays_json(value: Json) -> None:
    line = json.dumps({"data": value, "end": "here"})
    assert json.loads(redact(line))["end"] == "here"


@pytest.mark.parametrize(
    "line",
    [
        '{"usage": {"input_tokens": 650, "output_tokens": 65}}',
        '{"why": "tokens: about-900", "secretary": "Ann", "passwordless": "yes"}',
    ],
)
def test_names_that_only_look_like_secrets(line: str) -> None:
    assert not is_suspect(json.loads(line))


@each_of("name", ["tokens_token", "token_count_secret", "tokensecret", "secretary_password"])
def test_a_secret_behind_a_name_that_only_looks_like_one(name: str) -> None:
    assert CANARY not in redact(json.dumps({name: CANARY}))
    assert CANARY not in redact(json.dumps({"stdout": f"{name}={CANARY}"}))
