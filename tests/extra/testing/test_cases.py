"""Case files: how they are read, and that every mistake is reported with its line and a likely fix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.documents.dump_yaml import to_yaml
from anyhook.documents.parse import parse_yaml
from anyhook.extra.testing.kit.cases import BadCases, Case, cases_in, find_files, read_cases
from anyhook.extra.testing.kit.sandbox import LEFT_OUT
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

ONE = """\
cases:
  - name: one
    event: pre_tool
    tool: Bash
    expect: {verdict: none}
"""
DOCS = Path(__file__).parents[3] / "docs" / "testing.md"


def read(text: str) -> list[Case]:
    return cases_in(parse_yaml(text), "x.hooktest.yaml", text)


def mistakes(text: str) -> str:
    with pytest.raises(BadCases) as caught:
        read(text)
    return str(caught.value)


def test_a_plain_case() -> None:
    (case,) = read(ONE)
    assert (case.name, case.line, case.event, case.given) == ("one", 2, "pre_tool", {"tool": "Bash"})
    assert case.expect == {"verdict": "none"}


def test_defaults_are_added_to_and_replaced() -> None:
    text = """\
defaults:
  event: PreToolUse
  tool: Bash
  env: {A: "1", B: "2"}
  expect: {verdict: none, problems: []}
cases:
  - name: one
    tool: Edit
    env: {B: "3", C: null}
    expect: {verdict: block}
"""
    (case,) = read(text)
    assert (case.event, case.given, case.env) == ("PreToolUse", {"tool": "Edit"}, {"A": "1", "B": "3", "C": None})
    assert case.expect == {"verdict": "block", "problems": []}


def test_a_table_makes_one_case_of_each_row() -> None:
    text = """\
cases:
  - name: "{command} is {verdict}"
    event: pre_tool
    input: {command: "{command}", n: "{n}", both: "{n} {command}", other: "{elsewhere}"}
    table:
      - {command: ls, verdict: none, n: 1}
      - {command: "{n}", verdict: block, n: 2}
    expect: {verdict: "{verdict}"}
"""
    first, second = read(text)
    assert (first.name, second.name) == ("ls is none", "{n} is block")
    assert first.given["input"] == {"command": "ls", "n": 1, "both": "1 ls", "other": "{elsewhere}"}
    assert second.given["input"] == {"command": "{n}", "n": 2, "both": "2 {n}", "other": "{elsewhere}"}
    assert second.expect == {"verdict": "block"}


def test_rows_without_a_place_in_the_name_are_told_apart() -> None:
    text = ONE.replace("tool: Bash", 'tool: "{t}"\n    table: [{t: A}, {t: B}]')
    assert [case.name for case in read(text)] == ["one [A]", "one [B]"]


def test_a_text_among_texts() -> None:
    (case,) = read(ONE.replace("verdict: none", "context: be careful"))
    assert case.expect["context"] == {"$has": {"$has": "be careful"}}


WRONG: list[tuple[str, str]] = [
    (ONE.replace("expect", "expct"), "x.hooktest.yaml:5: there is no key `expct` here. Did you mean `expect`?"),
    (ONE.replace("verdict", "verdikt"), ":5: there is no key `verdikt` here. Did you mean `verdict`?"),
    (ONE.replace("    tool: Bash\n", "    tool: 3\n"), ":4: `tool` takes a text, not a number."),
    (ONE.replace("tool: Bash", "input: ls"), ":4: `input` takes a mapping, not text."),
    (ONE.replace("pre_tool", "PreTolUse"), ":3: unknown event `PreTolUse`. Did you mean `PreToolUse`?"),
    (ONE.replace("tool: Bash", "dialect: kodix"), ":4: there is no dialect `kodix`. Did you mean `kodik`?"),
    (ONE.replace("tool: Bash", "agent: claud"), ":4: there is no agent `claud`. Did you mean `claude`?"),
    (ONE.replace("tool: Bash", "agent: claude"), ":3: claude has no event `pre_tool`."),
    (
        ONE.replace("pre_tool", "PreToolUse").replace("tool: Bash", "agent: codex\n    prompt: x"),
        ":5: Codex CLI sends no `prompt` with PreToolUse, only: ",
    ),
    (
        ONE.replace("tool: Bash", "data: {stepcount: 1}"),
        ":4: no dialect knows the field `stepcount`. Did you mean `step_count`",
    ),
    (ONE.replace("tool: Bash", "env: {A: 1}"), ":4: `A` under `env` takes a text, not a number. Put it in quotes."),
    (ONE.replace("none", "blok"), ":5: there is no verdict `blok`. Did you mean `block`?"),
    (ONE.replace("verdict: none", "effect: deny"), ":5: there is no effect `deny`. Did you mean `deny_tool`?"),
    (ONE.replace("verdict: none", "files: {/etc/x: y}"), ":5: files: '/etc/x' should be a path inside the project."),
    (ONE.replace("tool: Bash", "payload: {}"), ":2: `payload` needs `agent`"),
    (ONE.replace("tool: Bash", "mode: loud"), ":4: `mode` is one of enforce, shadow, not 'loud'."),
    (ONE.replace("tool: Bash", "limit_s: 0"), ":4: `limit_s` takes a number above 0"),
    (ONE.replace("tool: Bash", "files: {../x: y}"), ":4: files: '../x' should be a path inside the directory."),
    (ONE.replace("none", "{$hass: x}"), ":5: verdict: unknown operator $hass"),
    (ONE.replace("none", "{$re: '('}"), ":5: verdict: $re takes a pattern that compiles"),
    (ONE.replace("    expect: {verdict: none}\n", ""), ":2: the case has no `expect`: what has to come."),
    (ONE.replace("{verdict: none}", "{}"), ":2: the case has no `expect`"),
    (ONE + ONE.partition("\n")[2], ":6: there is another case named 'one'."),
    (ONE.replace("tool: Bash", "table: [{a: 1}]"), ":4: no text of the case has `{a}` in it."),
    (ONE.replace("Bash", "'{a}{b}'\n    table: [{a: 1, b: 1}, {a: 1}]"), ":5: every row has the same columns: a, b."),
    (ONE.replace("tool: Bash", "mode: '{m}'\n    table: [{m: loud}]"), ":4: `mode` is one of enforce, shadow"),
    ("- 1", ":1: a case file is a mapping with the key `cases`, not a list."),
    ("cases: []", ":1: `cases` takes a list of mappings"),
    ("defaults: {}", ":1: the key `cases` is missing"),
    ("cases: [1]", ":1: a case is a mapping, not a number."),
]


@each_of(("text", "told"), WRONG, ids=[told for _, told in WRONG])
def test_a_mistake_is_told(text: str, told: str) -> None:
    found = mistakes(text)
    assert told in found
    assert len(found.splitlines()) == 1


def test_all_mistakes_of_a_file_at_once() -> None:
    found = mistakes("cases:\n  - {nam: a}\n  - {evnt: b}\n")
    assert [line.split(": ")[0] for line in found.splitlines()] == ["x.hooktest.yaml:2", "x.hooktest.yaml:3"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"cases:\n  - {name: [}\n", ":2: not valid YAML"),
        (b"\xff", "this is not UTF-8 text"),
        (b"a: 1\na: 2\n", ":2: the key 'a' appears twice"),
    ],
)
def test_a_file_that_is_no_yaml(tmp_path: Path, text: bytes, told: str) -> None:
    path = tmp_path / "hooktest.yaml"
    path.write_bytes(text)
    with pytest.raises(BadCases, match=r"hooktest\.yaml") as caught:
        read_cases(str(path))
    assert told in str(caught.value)


def test_files_are_found_beside_hidden_hooks_and_not_in_what_is_left_out(tmp_path: Path) -> None:
    for name in (".kodik/hooks/a.hooktest.yaml", "hooktest.yml", "node_modules/x/b.hooktest.yaml", "nohooktest.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(ONE)
    found = find_files([str(tmp_path), str(tmp_path / "hooktest.yml")], LEFT_OUT)
    assert [Path(path).name for path in found] == ["hooktest.yml", "a.hooktest.yaml"]
    for path, told in (("gone", "no such file"), ("nohooktest.yaml", "ends with hooktest.yaml")):
        with pytest.raises(BadCases, match=told):
            find_files([str(tmp_path / path)], LEFT_OUT)


def test_the_examples_of_the_page_are_cases() -> None:
    parts = DOCS.read_text().split("```yaml\n")[1:]
    assert len(parts) >= 3
    for part in parts:
        text = part.partition("```")[0]
        assert read(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e9, 1e9)
    | st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\ufffe\uffff"))
    | st.text(st.sampled_from("ab :#-\n'\"{}0_xo"))
    | st.sampled_from(["0o17", "1_000", "yes", "~", "", "=", "<<", "1e3"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from("ab:. 1")), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(values)
def test_what_is_written_is_read_back(value: Json) -> None:
    document: Json = {"cases": [value]}
    assert parse_yaml(to_yaml(document)) == document
