"""The editor: what it adds can be read back, the rest stays the same to the byte, and files that it cannot edit are
refused."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.documents.edit import CannotEdit, append, at, put, read, remove
from anyhook.documents.edit_json import Malformed, scan
from anyhook.documents.parse import syntax_of
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.documents.parse import Syntax

LAYOUTS = [
    "{}", "{ }", '{"a": 1}', '{ "a": 1 }', '{\n  "a": 1\n}\n', '{\n\t"a": 1, // note, with a comma\n}\n',
    '{\n  "a": 1 // last\n  // end\n}\n', '{\n    "a": [1, 2],\n    "b": {"c": null}\n}', '\ufeff{"a": 1}',
    '/* head */ {"a": 1} // tail', '{\r\n  "a": 1\r\n}\r\n', '{"a": "// no comment", "b": "{"}', '{"a": {}}',
    '\ufeff{\r\n\t"a": 1, /* x */\r\n}\r\n', '{\n   "a"  :1\n ,"b":2 }', '{/* only */}', '{\n  // only\n}\n',
]  # fmt: skip


def parts_kept(old: str, new: str, cuts: int = 2) -> bool:
    """Whether the new text is the old one with at most this many insertions."""
    if cuts == 0:
        return old == new
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    rest = old[same:]
    return new.endswith(rest) or any(
        parts_kept(rest, new[start:], cuts - 1) for start in range(same + 1, len(new) - len(rest) + 1)
    )


# -- JSON


@each_of("text", LAYOUTS)
def test_a_member_comes_and_goes(text: str) -> None:
    made = put(text, "json", ("new",), {"k": ["ü"]})
    assert read(made, "json") == {**read(text, "json"), "new": {"k": ["ü"]}}  # type: ignore[dict-item]
    assert parts_kept(text, made) or text == "{ }"
    assert remove(made, "json", ("new",)) == (text if text != "{ }" else "{}")


ITEMS = [
    "[1, 2, 3]", "[\n  1,\n  2, // two\n  3\n]", "[\n 1,\n 2,\n 3,\n]", "[1,2,3]", "[1 /* a */, 2 /* b */, 3 /* c */]",
    "[\n  // first\n  1, // one\n  // second\n  2, // two\n  // third\n  3 // three\n  // end\n]", "[1,\n2\n,3]",
    "[\r\n\t1,\r\n\t2,\r\n\t3 // c\r\n]",
]  # fmt: skip


@each_of("text", ITEMS)
@each_of("index", [0, 1, 2])
def test_an_item_goes_and_comments_stay(text: str, index: int) -> None:
    left = remove(text, "json", (index,))
    assert read(left, "json") == [number for number in (1, 2, 3) if number != index + 1]
    assert parts_kept(left, text, 3), left
    for comment in ("// one", "// second", "/* a */", "/* c */", "// end", "// third"):
        assert (comment in left) == (comment in text)
    if "/" not in text and not text.endswith(",\n]"):
        json.loads(left)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 1, 2, 4, "\t"])


@given(st.dictionaries(st.text(), JSON, max_size=4), JSON, INDENT, st.booleans(), st.booleans())
def test_any_json_document(
    document: dict[str, Any], value: Any, indent: int | str | None, plain: bool, crlf: bool
) -> None:
    document.pop("new", None)
    text = json.dumps(document, indent=indent, ensure_ascii=plain)
    text = text.replace("\n", "\r\n") if crlf else text
    made = put(text, "json", ("new",), value)
    assert json.loads(made) == {**document, "new": value}, "strict JSON stays strict JSON"
    assert ("\r\n" in made) == ("\n" in made) or not crlf or "\n" not in text
    assert remove(made, "json", ("new",)) == text
    assert json.loads(put(made, "json", ("new",), [1])) == {**document, "new": [1]}
    items = json.dumps([1, document], indent=indent, ensure_ascii=plain)
    longer = append(items, "json", (), value)
    assert json.loads(longer) == [1, document, value]
    assert remove(longer, "json", (2,)) == items


GAP = st.sampled_from(["", " ", "  ", "\n", "\r\n", "\t", "\n\n  ", " /* {,} */ ", " // ,]\n", "/**/", "// x\r\n\t"])


@st.composite
def noisy(draw: st.DrawFn, value: Any) -> str:
    """A document with whitespace and comments between any two tokens, and some trailing commas."""

    def gap() -> str:
        return draw(GAP)

    if isinstance(value, list | dict):
        names = [f"{json.dumps(key)}{gap()}:{gap()}" for key in value] if isinstance(value, dict) else [""] * len(value)
        items = value.values() if isinstance(value, dict) else value
        parts = [f"{name}{draw(noisy(item))}{gap()}" for name, item in zip(names, items, strict=True)]
        last = f",{gap()}" if draw(st.booleans()) and parts else ""
        opener, closer = "{}" if isinstance(value, dict) else "[]"
        return f"{opener}{gap()}{f',{gap()}'.join(parts)}{last}{closer}"
    return json.dumps(value)


def comments(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = re.findall(r'"(?:[^"\\]|\\.)*"|(/\*.*?\*/)|(//[^\r\n]*)', text)
    return [each for each in found if any(each)]


SMALL = st.recursive(
    st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)


@given(st.data(), st.dictionaries(st.sampled_from("abc"), SMALL, min_size=1))
def test_any_layout_of_json(data: st.DataObject, document: dict[str, Any]) -> None:
    """No layout is refused, and no comment is lost except inside what is removed."""
    text = data.draw(noisy(document))
    key = data.draw(st.sampled_from(sorted(document)))
    made = [put(text, "json", ("new",), [1]), put(text, "json", ("new", "x"), {"y": 2})]
    remove(text, "json", (key,))
    if isinstance(document[key], list):
        made.append(append(text, "json", (key,), {"z": None}))
        for index in range(len(document[key])):
            left = remove(text, "json", (key, index))
            made += [left] if isinstance(document[key][index], int) else []
    assert [comments(each) for each in made] == [comments(text)] * len(made)


@each_of(
    ("text", "line"),
    [
        ("", 1), ("{", 1), ('{\n"a" 1}', 2), ('{"a": 1 "b": 2}', 1), ("[1 2]", 1), ("{} x", 1), ("/* ", 1),
        ("[" * 100_000, 1), ('{\n\n"a": nope}', 3), ("{1: 2}", 1), ('{"a": 01}', 1),
    ],
)  # fmt: skip
def test_what_is_not_json(text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        scan(text)
    assert caught.value.line == line


def test_the_last_of_two_members_of_one_name_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}}'
    assert read(text, "json") == {"a": {"b": 2}}
    assert put(text, "json", ("a", "b"), 3) == '{"a": 1, "a": {"b": 3}}'


# -- TOML

TABLES = [
    "", "# top\na = 1\n", "a = 1",
    '[[hooks.Pre]]\nm = "x" # y\n[[hooks.Post]]\nm = "y"\n[[hooks.Pre]]\nm = "z"\n# end\n',
    "a = 1\r\n\r\n[other]\r\nb = 2 # c\r\n", "\ufeffa = 1\n", '[t]\n\ta = """\n[[hooks]]\n"""\n', "a.b.c = 1\n",
    "[[hooks.Pre]]\nm = 1\n\n# about other\n[other]\nb = [\n  1, # one\n]\n",
]  # fmt: skip
ENTRY: dict[str, Any] = {"matcher": "a\\d", "x y": [1, {"z": True}], "hooks": [{"command": 'say "é"'}, {"n": 1.5}]}


@each_of("text", TABLES)
def test_a_toml_table_comes_and_goes(text: str) -> None:
    made = append(text, "toml", ("hooks", "Pre"), ENTRY)
    before = read(text, "toml")
    assert isinstance(before, dict)
    hooks: Any = before.get("hooks", {})
    known = hooks.get("Pre", [])
    assert read(made, "toml") == {**before, "hooks": {**hooks, "Pre": [*known, ENTRY]}}
    assert made.startswith(text)
    assert ("\r\n" in text) == ("\r\n" in made)
    assert made.replace("\r\n", "").count("\n") == (0 if "\r\n" in text else made.count("\n"))
    if known:
        gone = remove(made, "toml", ("hooks", "Pre", len(known)))
        assert gone == text or gone == text + "\n"


@each_of(
    ("text", "place", "made"),
    [
        ("a = 1 # x\nb = 2\n", ("a",), "b = 2\n"),
        ("[t]\na = [\n 1,\n] # x\n# y\nb = 2", ("t", "a"), "[t]\n# y\nb = 2"),
        ("a = 1\n\n[[h]]\nx = 1\n# about h\n[[h]]\nx = 2\n", ("h", 0), "a = 1\n# about h\n[[h]]\nx = 2\n"),
        ("[[h]]\nx = 1\n[[h.k]]\ny = 1\n\n[o]\n\n[[h]]\nx = 2\n", ("h", 0), "\n[o]\n\n[[h]]\nx = 2\n"),
        ("a = 1\r\n\r\n[t]\r\nb = 1\r\n", ("t",), "a = 1\r\n"),
    ],
)
def test_toml_lines_go(text: str, place: tuple[str | int, ...], made: str) -> None:
    assert remove(text, "toml", place) == made


@each_of(
    ("text", "place", "value", "made"),
    [
        ("a = 1 # x\n", ("a",), "é", 'a = "é" # x\n'),
        ("[t]\na = [\n 1,\n] # x\nb.c = 2\n", ("t", "a"), [2], "[t]\na = [2] # x\nb.c = 2\n"),
        ("[t]\nb.c = 2.5\n", ("t", "b", "c"), False, "[t]\nb.c = false\n"),
        ("[t] # x\n\n[u]\n", ("t", "k"), 1, "[t] # x\nk = 1\n\n[u]\n"),
        ("# x\n[u]\r\n", ("k",), {"a": 1}, "k = {a = 1}\n# x\n[u]\r\n"),
        ("a = 1", ("b c",), 2, 'a = 1\n"b c" = 2\n'),
    ],
)
def test_toml_values_are_set(text: str, place: tuple[str, ...], value: Any, made: str) -> None:
    assert put(text, "toml", place, value) == made
    assert tomllib.loads(made)


# -- YAML


@each_of(
    ("text", "place", "made"),
    [
        ("a: 1 # x\nb: 2\n", ("a",), "b: 2\n"),
        ("h:\n  - x: 1\n    y: 2\n  # about the next\n  - x: 3\n", ("h", 0), "h:\n  # about the next\n  - x: 3\n"),
        ("h:\n  a: 1\n  b:\n    - c\n# z\n", ("h", "b"), "h:\n  a: 1\n# z\n"),
        ("h:\n  a: 1\n# z\n", ("h", "a"), "h: {}\n# z\n"),
        ("h:\r\n- a\r\nb: 1\r\n", ("h", 0), "h: []\r\nb: 1\r\n"),
    ],
)
def test_yaml_lines_go(text: str, place: tuple[str | int, ...], made: str) -> None:
    assert remove(text, "yaml", place) == made


@each_of(
    ("text", "place", "value", "made"),
    [
        ("a: 1 # x\n", ("a",), "yes: no", 'a: "yes: no" # x\n'),
        ("\ufeffa: 1\r\n", ("b",), {"c": [1, {"d": None}]}, "\ufeffa: 1\r\nb:\r\n  c:\r\n    - 1\r\n    - d: null\r\n"),
        ("h: # x\n  a: 1\n", ("h", "b"), "t", "h: # x\n  a: 1\n  b: t\n"),
        ("h: # x\nz: 1\n", ("h", "b"), "t", "h: # x\n  b: t\nz: 1\n"),
        ("h: [] # x\n", ("h",), [1], "h: # x\n  - 1\n"),
        ("h:\n  a: 1 # x\n", ("h", "a"), [1], "h:\n  a: [1] # x\n"),
    ],
)
def test_yaml_values_are_set(text: str, place: tuple[str, ...], value: Any, made: str) -> None:
    assert put(text, "yaml", place, value) == made


@given(st.dictionaries(st.text(min_size=1), JSON, max_size=4), JSON)
def test_any_yaml_document(document: dict[str, Any], value: Any) -> None:
    """A text in block style, made by the editor itself: additions can be read back, and the rest is unchanged."""
    document.pop("new", None)
    text = "# top\n"
    try:
        for key, item in document.items():
            text = put(text, "yaml", (key,), item)
        made = put(text, "yaml", ("new",), value)
    except CannotEdit:
        return  # it has a character that YAML does not allow
    assert read(made, "yaml") == {**document, "new": value}
    assert made.startswith(text)
    if document:
        assert remove(made, "yaml", ("new",)) == text


# -- refusals


@each_of(
    ("syntax", "text", "place"),
    [
        ("json", "[1]", ("hooks", "a")), ("json", '{"hooks": []}', ("hooks", "a")), ("json", "{ half", ("hooks",)),
        ("json", '{"hooks": {"a": 1}}', ("hooks", "a")), ("json", "null x", ("hooks",)),
        ("toml", "[hooks]\na = []\n", ("hooks", "a")), ("toml", "hooks = 1\n", ("hooks", "a")),
        ("toml", "a = ", ("a",)),
        ("yaml", "hooks: {b: [1]}\n", ("hooks", "a")), ("yaml", "- a\n", ("hooks", "a")), ("yaml", "h: {a\n", ("h",)),
        ("yaml", "hooks: &x\n  b: 1\nz: *x\n", ("z", "c")), ("yaml", "a: 1\n...\n", ("hooks", "a")),
    ],
)  # fmt: skip
def test_what_cannot_be_added_to_is_refused(syntax: Syntax, text: str, place: tuple[str, ...]) -> None:
    with pytest.raises(CannotEdit) as caught:
        append(text, syntax, place, {"x": 1})
    assert str(caught.value)


@pytest.mark.parametrize("syntax", ["json", "toml", "yaml"])
def test_removing_nothing_is_refused(syntax: Syntax) -> None:
    with pytest.raises(CannotEdit, match=r"hooks\.a"):
        remove("{}" if syntax == "json" else "", syntax, ("hooks", "a"))


def test_the_syntax_of_a_file() -> None:
    files = [("a.json", ""), ("a.toml", "{"), ("a.yaml", "a: 1"), ("a.yml", " {}")]
    assert [syntax_of(*each) for each in files] == ["json", "toml", "yaml", "json"]


LISTS = [
    'use = ["git"]\n', "use = ['git', \"a\"]", 'use=["git",]\n', 'use = [ "git" ]\n', "use = []\n",
    'use = [\n    "git",  # first, "x"]\n]\n', 'use = [\n  "git"\n]\n', 'use = [\n  "git" # one\n  , "b"\n]\n',
    'use = [ # all\n\t"git",\n\t# "off",\n]\r\n', 'use = ["git",\n       "b"]\n[x]\ny = 1\n',
    '[t]\nuse = ["a#b", "c"]\n',
]  # fmt: skip


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("many", [1, 2, 5])
def test_texts_added_to_a_toml_list_and_taken_out_leave_it_as_it_was(text: str, many: int) -> None:
    place = ("t", "use") if text.startswith("[t]") else ("use",)
    before = at(read(text, "toml"), place)
    assert isinstance(before, list)
    made = text
    for number in range(many):
        made = append(made, "toml", place, f"new {number}")
    assert at(read(made, "toml"), place) == [*before, *(f"new {number}" for number in range(many))]
    for _ in range(many):
        made = remove(made, "toml", (*place, len(before)))
    assert made == text
