"""The lean JSON module agrees with the standard one on every value and every text."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from law_strategies import values

from anyhook.model import lean_json
from anyhook.model.json_types import Json
from each_of import each_of

scraps = st.text(alphabet=' \t\n"\\{}[],:0-eE.+u\x00/nfNaI', max_size=3)
nearly = (
    values.map(json.dumps)
    .flatmap(lambda text: st.tuples(st.just(text), st.integers(0, len(text)), scraps))
    .map(lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :])
)


def strict(name: str) -> None:
    raise ValueError(name)


def finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


@given(values, st.booleans())
def test_dumps(value: Json, ascii_only: bool) -> None:
    made = lean_json.dumps(value, ensure_ascii=ascii_only)
    assert made == json.dumps(value, ensure_ascii=ascii_only)
    assert lean_json.loads(made) == value


@given(values, st.booleans())
@example({"a": ["\ud800", {}]}, True)
@example({"a": {"b": "x" * 70_000, "c": [1, {"d": ": , "}]}}, True)
def test_without_spaces(value: Json, long: bool) -> None:
    made = lean_json.encode(value, long=long, dense=True)
    assert json.loads(made) == value
    if "\\ud8" not in json.dumps(value):  # text that is not valid Unicode is written in ASCII, with spaces
        assert made.decode() == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(nearly | st.text(max_size=30))
@example('{"a": 1} x')
@example("\ufeff{}")
@example('"\\ud800"')
@example('"a\nb"')
@example("NaN")
@example("[Infinity]")
@example("")
@example(" ")
@example('{"a":1,"a":2}')
@example("[1,]")
@example("01")
@example("1" * 5000)
@example("1E309")
@example("\u2028{}")
@example("{}\u00a0")
def test_loads(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=strict, parse_float=finite)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 (the wording of the error is not tested)
            lean_json.loads(text)
        return
    found = lean_json.loads(text)
    assert found == expected
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_too_deep_is_an_error_like_any_other(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        lean_json.loads(text)


@each_of("value", [{1, 2}, b"bytes", object(), {"a": {1}}, {(1, 2): 3}])
def test_what_is_no_json_is_a_type_error(value: Json) -> None:
    with pytest.raises(TypeError):
        lean_json.dumps(value)


BAD = ['{"a": 1', '{"a" 1}', '"a', '"\\x"', "[1,]", '"\x01"', "{,}", '{"a":}']


def test_errors_while_the_standard_package_is_not_there() -> None:
    """The scanner takes its exception from a package that this process has not imported. It is still a ValueError."""
    script = (
        "import sys\nfrom anyhook.model import lean_json\nassert 'json' not in sys.modules\n"
        f"for text in {BAD!r}:\n    try:\n        lean_json.loads(text)\n    except ValueError:\n        continue\n"
        "    raise SystemExit(f'{text!r} was read')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
