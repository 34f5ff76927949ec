"""YAML: the resulting values, how mistakes are reported, and what the escaping of backslashes affects."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from anyhook.documents import yaml_tree
from anyhook.documents.parse import escape_backslashes, parse_yaml
from anyhook.documents.read import Unreadable, clean
from anyhook.model.json_types import Json
from each_of import each_of
from examples import examples

TASTY = st.text(alphabet="[]{}\"'\\:,-#&*!|>?%@`=.~ \n\t\rab10ueE+_<\ufeff\u2028é", max_size=60)
WORDS = st.text(alphabet='[]{}"\\,:#ntu/ aé', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def refused(parse: Callable[[str], Json], text: str) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        parse(text)
    assert caught.value.what
    assert caught.value.fix
    return caught.value


YAML_VALUES = [
    ("on: yes\nno: off", {"on": "yes", "no": "off"}),
    ("[true, False, TRUE, null, ~, Null, truE]", [True, False, True, None, None, None, "truE"]),
    ("[2020-01-01, 2020-01-01T10:00:00Z, 12:30, 1:2:3.5]", ["2020-01-01", "2020-01-01T10:00:00Z", "12:30", "1:2:3.5"]),
    ("[5000, -1, +1, 0x1F, 0o17, 30_000, 010, 0b11]", [5000, -1, 1, 31, 15, 30000, 10, "0b11"]),
    ("[1.5, 1e3, .5, -2., 1.2.3, +, -, ., e5]", [1.5, 1000.0, 0.5, -2.0, "1.2.3", "+", "-", ".", "e5"]),
    ("[.inf, -.INF, .nan, 1e999, -1e999]", [".inf", "-.INF", ".nan", "1e999", "-1e999"]),
    (f"[{'9' * 5_000}, 0x{'f' * 5_000}, {'9' * 4_300}]", ["9" * 5_000, "0x" + "f" * 5_000, int("9" * 4_300)]),
    ("a: !!str 5\nb: !!int '7'", {"a": "5", "b": 7}),
    ("a: '5'\nb: \"yes\"\nc: |\n  1\nd: >-\n  true", {"a": "5", "b": "yes", "c": "1\n", "d": "true"}),
    ("a:\nb: ''\nc: {}\nd: []", {"a": None, "b": "", "c": {}, "d": []}),
    ("matcher: '*'\nrun: a && b  # *x &y", {"matcher": "*", "run": "a && b"}),
    ("a: &unused 1", {"a": 1}),
    ("", None), ("---\n...\n", None), ("# nothing", None), ("\ufeffa: 1\r\nb: é\r\n", {"a": 1, "b": "é"}),
]  # fmt: skip

YAML_MISTAKES = [
    ("a: 1\nb: *x", 2, "begins with *"),
    ("a: 1\ntool: *", 2, "quotes"),
    ("tool: *unknown", 1, "quotes"),
    ("a: 1\nb: !!python/object/apply:os.system [x]", 2, "remove the tag"),
    ("a: !mine 1", 1, "remove the tag"), ("a: !!binary aGk=", 1, "remove the tag"),
    ("a: !!set {x}", 1, "remove the tag"),
    ("a: !!int x", 1, "remove the tag"), ("!!map [a]", 1, "remove the tag"), ("!!str [a]", 1, "remove the tag"),
    ("a: 1\nb: 2\na: 3", 3, "remove one"), ('{a: 1, "a": 2}', 1, "remove one"),
    ("a: 1\n2: b", 2, "around the key"), ("true: b", 1, "around the key"), ("~: b", 1, "around the key"),
    ("? [a]\n: b", 1, "around the key"), ("? {a: b}\n: c", 1, "around the key"),
    ("a: 1\nb: c: d", 2, "colon"), ("a:\n\tb: 1", 2, "not with a tab"), ('a: "\\."', 1, "single quotes"),
    ('a: 1\nb: "x', 2, "close the quote"), ("a: [1\n", 1, "close the bracket"), ("a: 1\n---\nb: 2", 2, "one document"),
    ("a: @x", 1, "quotes"), ("a: 1\nb: \x01", 2, "control character"), ("a:\n  b: 1\n c: 2", 3, "same column"),
    ('a: "\\ud800"', 1, "near this line"), ("a: \ud800", 1, "UTF-8"),
]  # fmt: skip


@pytest.fixture(params=["c", "pure"], scope="module")
def load(request: pytest.FixtureRequest) -> Callable[[str], Json]:
    """Both loaders: the library may be built without its C extension."""
    if request.param == "c":
        assert yaml_tree._Loader.__mro__[1].__name__ == "CSafeLoader"
        return parse_yaml
    spec = importlib.util.find_spec("anyhook.documents.yaml_tree")
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader")
        spec.loader.exec_module(copy)
    assert copy._Loader.__mro__[1].__name__ == "SafeLoader"
    return lambda text: copy.load(clean(text))


@pytest.mark.parametrize(("text", "value"), YAML_VALUES)
def test_yaml_values(load: Callable[[str], Json], text: str, value: Json) -> None:
    found = load(text)
    assert found == value
    assert json.dumps(found) == json.dumps(value)  # 1 is not True


@pytest.mark.parametrize(("text", "line", "fix"), YAML_MISTAKES)
def test_yaml_mistakes_are_named_with_line_and_cure(
    load: Callable[[str], Json], text: str, line: int, fix: str
) -> None:
    error = refused(load, text)
    if load is parse_yaml:  # the other loader words some errors in its own way
        assert fix in error.fix
        assert error.line == line


def test_an_alias_bomb_is_refused(load: Callable[[str], Json]) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert refused(load, "\n".join(lines)).line == 2
    assert "levels deep" in refused(load, "a: &a [*a]").what
    refused(load, "a: &a [*a, *a, *a]")


def test_aliases_and_merge_keys_are_read(load: Callable[[str], Json]) -> None:
    assert load("a: &a {x: 1}\nb: *a\nc: [*a, *a]") == {"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}, {"x": 1}]}
    assert load("a: &a {x: 1, y: 1}\nb: {y: 2, <<: *a}") == {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2}}
    assert load("a: {<<: [{x: 1}, {x: 2, y: 2}]}") == {"a": {"x": 1, "y": 2}}
    assert load("a: {'<<': 1}") == {"a": {"<<": 1}}
    assert "`<<` needs" in refused(load, "a: {<<: 1}").what


@pytest.mark.parametrize("text", ["[" * 5_000, "{a: " * 5_000, "- " * 5_000, "? " * 5_000])
def test_both_loaders_stop_at_the_depth_limit(load: Callable[[str], Json], text: str) -> None:
    assert "levels deep" in refused(load, text).what


@examples(200)
@given(VALUES, st.booleans())
def test_yaml_reads_what_the_library_writes(value: Json, flow: bool) -> None:
    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, _data: object) -> bool:
            return True

    text = yaml.dump(value, Dumper=Dumper, default_flow_style=flow, allow_unicode=True)
    assert parse_yaml(text) == value


@each_of(
    ("text", "escaped"),
    [
        ('a: "\\.py$"', 'a: "\\\\.py$"'), ('"\\.": x', '"\\\\.": x'), ('- "\\d"\n- "\\s"', '- "\\\\d"\n- "\\\\s"'),
        ('a: "\\" \\d \\\\ x"', 'a: "\\" \\\\d \\\\ x"'), ('a: "x\\\n  y"', 'a: "x\\\n  y"'),
        ('a: ["\\.", x, {b: "\\d"}]', 'a: ["\\\\.", x, {b: "\\\\d"}]'),
        ("a: '\\.'", "a: '\\.'"), ('a: \\. "\\."', 'a: \\. "\\."'), ("# \"\\.\"\na: 1", "# \"\\.\"\na: 1"),
        ('a: b, "\\."', 'a: b, "\\."'), ("a: it's \"\\.\"", "a: it's \"\\.\""),
        ("a: 'it''s' # \"\\.\"", "a: 'it''s' # \"\\.\""),
        ('a: |\n  "\\."\nb: "\\."', 'a: |\n  "\\."\nb: "\\\\."'),
        ('- a: >-\n    "\\."\n  b: "\\."', '- a: >-\n    "\\."\n  b: "\\\\."'),
        ('- |2 # c\n\n  "\\."\n- "\\."', '- |2 # c\n\n  "\\."\n- "\\\\."'), ('a: "\\.', 'a: "\\\\.'),
        ("a: [x, 'y", "a: [x, 'y"),
    ],
)  # fmt: skip
def test_backslashes_are_doubled_in_double_quotes_only(text: str, escaped: str) -> None:
    assert escape_backslashes(text) == escaped


@examples(200)
@given(
    st.lists(st.sampled_from(["\\.", "\\d", "\\b", "\\n", "\\x", "a", " ", "$", "(", "#", "'"]), max_size=12).map(
        "".join
    )
)
def test_escaped_text_reads_as_it_is_written(pattern: str) -> None:
    text = f'name: "a"\nmatcher: {{tool: Shell, pattern: "{pattern}"}}\nlist:\n  - "{pattern}" # "\\q"\n'
    value = parse_yaml(escape_backslashes(text))
    assert value == {"name": "a", "matcher": {"tool": "Shell", "pattern": pattern}, "list": [pattern]}


@examples(200)
@given(TASTY)
def test_escaping_keeps_the_lines_and_only_adds_backslashes(text: str) -> None:
    escaped = escape_backslashes(text)
    assert escaped.count("\n") == text.count("\n")
    assert escaped.replace("\\", "") == text.replace("\\", "")
