"""Edits of JSON texts that belong to others: what is put in can be read, what was there stays, to the byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.documents.json_text import Malformed, added, removed, replaced, scan

LAYOUTS = [
    "{}", "{ }", '{"a": 1}', '{ "a": 1 }', '{\n  "a": 1\n}\n', '{\n\t"a": 1, // note, with a comma\n}\n',
    '{\n  "a": 1 // last\n  // end\n}\n', '{\n    "a": [1, 2],\n    "b": {"c": null}\n}', '\ufeff{"a": 1}',
    '/* head */ {"a": 1} // tail', '{\r\n  "a": 1\r\n}\r\n', '{"a": "// no comment", "b": "{"}', '{"a": {}}',
]  # fmt: skip


@pytest.mark.parametrize("text", LAYOUTS)
def test_a_member_comes_and_goes(text: str) -> None:
    made = added(text, (), "new", {"k": ["ü"]})
    assert scan(made).value == {**scan(text).value, "new": {"k": ["ü"]}}  # type: ignore[dict-item]
    assert removed(made, ("new",)) == (text if text != "{ }" else "{}")


@pytest.mark.parametrize("text", ["[1, 2, 3]", "[\n  1,\n  2, // two\n  3\n]", "[\n 1,\n 2,\n 3,\n]", "[1,2,3]"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_an_item_goes(text: str, index: int) -> None:
    left = scan(removed(text, (index,)))
    assert left.value == [number for number in (1, 2, 3) if number != index + 1]
    if "//" not in text and not text.endswith(",\n]"):
        json.loads(removed(text, (index,)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 1, 2, 4, "\t"])


@given(st.dictionaries(st.text(), JSON, max_size=4), JSON, INDENT, st.booleans())
def test_any_document(document: dict[str, object], value: object, indent: int | str | None, plain: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=plain)
    document.pop("new", None)
    text = json.dumps(document, indent=indent, ensure_ascii=plain)
    made = added(text, (), "new", value)  # type: ignore[arg-type]
    assert json.loads(made) == {**document, "new": value}, "strict JSON stays strict JSON"
    assert removed(made, ("new",)) == text
    assert json.loads(replaced(made, ("new",), [1])) == {**document, "new": [1]}
    items = json.dumps([1, document], indent=indent, ensure_ascii=plain)
    longer = added(items, (), None, value)  # type: ignore[arg-type]
    assert json.loads(longer) == [1, document, value]
    assert removed(longer, (2,)) == items


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1), ("{", 1), ('{\n"a" 1}', 2), ('{"a": 1 "b": 2}', 1), ("[1 2]", 1), ("{} x", 1), ("/* ", 1),
        ("[" * 100_000, 1), ('{\n\n"a": nope}', 3), ("{1: 2}", 1), ('{"a": 01}', 1),
    ],
)  # fmt: skip
def test_what_is_no_json(text: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        scan(text)
    assert caught.value.line == line


def test_the_last_of_two_members_of_one_name_counts() -> None:
    node = scan('{"a": 1, "a": {"b": 2}}')
    assert node.value == {"a": {"b": 2}}
    found = node.at(("a", "b"))
    assert found is not None
    assert found.value == 2
