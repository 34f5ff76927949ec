"""Documents: what is read, what is rejected, and the messages. No test measures time; pytest-timeout ends a hang."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anyhook.documents import read
from anyhook.documents.parse import parse_json, parse_toml, parse_yaml, repeated_key, split_front_matter
from anyhook.documents.read import MAX_DEPTH, Unreadable, read_bytes
from anyhook.model.json_types import Json
from each_of import each_of
from examples import examples

PARSERS: dict[str, Callable[[str], Json]] = {"json": parse_json, "yaml": parse_yaml, "toml": parse_toml}
MANY = 100_000
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


def depth(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


# --- reading files ---------------------------------------------------------------------------------------------------


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    file.write_bytes(b"x" * 100)
    assert read_bytes(str(file), 100) == b"x" * 100
    with pytest.raises(Unreadable, match="larger than 99 bytes"):
        read_bytes(str(file), 99)
    (tmp_path / "link").symlink_to(file)
    assert read_bytes(str(tmp_path / "link")) == b"x" * 100
    file.write_bytes(b"")
    assert read_bytes(str(file)) == b""


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(tmp_path)  # socket paths must be short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        for name, said in (("pipe", "named pipe"), ("socket", "socket"), (".", "a directory")):
            with pytest.raises(Unreadable, match=said):
                read_bytes(str(tmp_path / name))
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        with pytest.raises(Unreadable):
            read_bytes(device)


def test_a_large_sparse_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as out:
        out.truncate(50_000_000)
    with pytest.raises(Unreadable, match="larger than"):
        read_bytes(str(file))


def test_missing_files_and_broken_ways_to_them(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(str(tmp_path / "absent"))
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "file").write_text("x")
    for name, said in (("a", "circle"), ("gone", "to nothing"), ("file/x", "is a file"), ("n" * 300, "cannot be read"),
                       ("a\0b", "cannot be read"), ("\udfff\ud800", "cannot be read")):  # fmt: skip
        with pytest.raises(Unreadable, match=said):
            read_bytes(str(tmp_path / name))


def test_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", deny)  # a test run by root could read the file
    with pytest.raises(Unreadable, match="permission"):
        read_bytes(str(tmp_path))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_kernel_files_announce_no_size_and_handles_are_closed() -> None:
    assert b"Pid:" in read_bytes("/proc/self/status")
    with pytest.raises(Unreadable, match="larger than 10 bytes"):
        read_bytes("/proc/self/status", 10)
    before = len(os.listdir("/proc/self/fd"))
    for path in ("/proc/self/mem", "/dev/zero", "/proc/self", "/proc/self/status"):
        with pytest.raises(Unreadable):
            read_bytes(path, 10)
    assert len(os.listdir("/proc/self/fd")) == before


# --- bounds that hold for all three ----------------------------------------------------------------------------------

DEEP = {
    "json": ("[" * MANY, '{"a":' * MANY, '["]",' * MANY, '["\\"]",' * MANY, '["\\\\",' * MANY, "[{" * MANY,
             '["\\\\",' + "[" * MANY, '["\\"",' + "[" * MANY, '["\\\\\\"",' + "[" * MANY, '["\\u005c",' + "[" * MANY),
    "yaml": ("[" * MANY, "{a: " * MANY, "- " * MANY, "? " * MANY, "[a: " * MANY, "{" * MANY, "? - " * MANY,
             "".join(" " * level + "a:\n" for level in range(1_000)), "- &a " * MANY, "[? " * MANY),
    "toml": ("a=" + "[" * MANY, "a=" + "{a=" * MANY, "a" + ".a" * MANY + "=1", "[" + "a." * MANY + "a]",
             'a=["""]""""' + ',["""]""""' * MANY, "a=[\"]\",'''\n]'''',#]\n" * MANY, "a={b" + ".b" * MANY + "=1}",
             "".join(f"[{'a.' * 15}a]\n" for _ in range(1_000))),
}  # fmt: skip


@each_of(("syntax", "index"), [(syntax, i) for syntax, all_ in DEEP.items() for i in range(len(all_))])
def test_depth_never_reaches_a_parser(syntax: str, index: int) -> None:
    refused(PARSERS[syntax], DEEP[syntax][index])


@each_of("syntax", ["json", "yaml", "toml"])
@each_of("core", ["", "1"])
def test_the_depth_limit_is_the_same_everywhere(syntax: str, core: str) -> None:
    prefix, used = ("a = ", 1) if syntax == "toml" else ("", 0)

    def nested(levels: int) -> str:
        return prefix + "[" * (levels - used) + core + "]" * (levels - used)

    assert depth(PARSERS[syntax](nested(MAX_DEPTH))) == MAX_DEPTH
    assert "levels deep" in refused(PARSERS[syntax], nested(MAX_DEPTH + 1)).what


@examples(300)
@given(
    VALUES,
    st.lists(st.booleans(), max_size=8) | st.lists(st.booleans(), min_size=58, max_size=70),
    WORDS,
    st.sampled_from([None, 1]),
)
def test_json_is_refused_by_its_true_depth_only(value: Json, wraps: list[bool], word: str, indent: int | None) -> None:
    for as_list in wraps:
        value = [word, value, word] if as_list else {word: value}
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if depth(value) > MAX_DEPTH:
        assert "levels deep" in refused(parse_json, text).what
    else:
        assert parse_json(text) == value


@examples(400)
@given(
    st.sampled_from(sorted(PARSERS)),
    st.text() | TASTY | st.binary().map(lambda b: b.decode("utf-8", "surrogateescape")),
)
def test_any_text_gives_plain_data_or_unreadable(syntax: str, text: str) -> None:
    value: Json | Unreadable
    try:
        value = PARSERS[syntax](text)
    except Unreadable as error:
        value = error
    if isinstance(value, Unreadable):
        assert value.line is None or 1 <= value.line <= text.count("\n") + 1
        return
    assert json.loads(json.dumps(value, allow_nan=False).encode()) == value


# --- JSON ------------------------------------------------------------------------------------------------------------


@each_of(
    ("text", "line", "fix"),
    [
        ("", None, "write {}"),
        ('{\n"a": 1,\n}', 3 if sys.version_info < (3, 13) else 2, "remove the comma"),
        ("[1,\n]", 2 if sys.version_info < (3, 13) else 1, "remove the comma"),
        ("{\n'a': 1}", 2, "double quotes"),
        ('{\n“a”: 1}', 2, "double quotes"),
        ('{"a": \'b\'}', 1, "double quotes"),
        ('{"a": 1 // why\n}', 1, "comment"),
        ('# why\n{"a": 1}', 1, "comment"),
        ('{"a": 1}\n/* why */', 2, "comment"),
        ('{"a": [1\n', 1, "close every"),
        ('{"a": 1\n\n\n', 1, "close every"),
        ('{\n"a": "b\n}', 2, "close the quote"),
        ('{"a": "b', 1, "close the quote"),
        ('{"a" 1}', 1, "colon"),
        ('{"a": 1\n"b": 2}', 2, "comma before this"),
        ("{a: 1}", 1, "around the key"),
        ('{"a": True}', 1, "true, false or null"),
        ('{"a": "\\."}', 1, "backslash twice"),
        ('{"a": 1}\n{"b": 2}', 2, "keep one value"),
        ('{"a": nope}', 1, "in double quotes"),
        ('{\n<<<<<<< ours\n"a": 1\n=======\n>>>>>>> theirs\n}', 2, "conflict"),
        ('{"a": "NaN",\n"b": NaN}', 2, "finite"),
        ("[-Infinity]", 1, "finite"),
        ('["1e999",\n1e999]', 2, "finite"),
        ("[1,\n" + "9" * 5_000 + "]", 2, "shorter"),
        ('["\\ud83d\\ude00",\n"\\\\ud800",\n"\\ud800"]', 3, "the character itself"),
    ],
)  # fmt: skip
def test_json_mistakes_are_named_with_line_and_cure(text: str, line: int | None, fix: str) -> None:
    error = refused(parse_json, text)
    assert error.line == line
    assert fix in error.fix


def test_json_keeps_the_last_of_equal_keys_and_tolerates_a_byte_order_mark() -> None:
    assert parse_json('\ufeff{"a": 1, "a": 2, "b": "\\ud83d\\ude00 \\\\ud800"}') == {"a": 2, "b": "😀 \\ud800"}


# --- TOML ------------------------------------------------------------------------------------------------------------


def test_toml_values() -> None:
    text = 'a = 1979-05-27T07:32:00Z\nb = 07:32:00\nc = 1979-05-27\r\n[d."e.f"]\ng = [1, 2.5, "x", true, {h = []}]\n'
    assert parse_toml("\ufeff" + text) == {
        "a": "1979-05-27T07:32:00+00:00",
        "b": "07:32:00",
        "c": "1979-05-27",
        "d": {"e.f": {"g": [1, 2.5, "x", True, {"h": []}]}},
    }


@each_of(
    ("text", "line", "fix"),
    [
        ("a = 1\nb = inf", 2, "finite"), ("b = 1\na = [1,\nnan]", 3, "finite"),
        ("a = 1\nb = 0x" + "f" * 5_000, 2, "shorter"),
        ("a = " + "9" * 5_000, 1, "shorter"), ("a = 1\na = 2", 2, "keep one"), ("[a]\n[a]", 2, "keep one"),
        ('a = "\\."', 1, "single quotes"), ("a = 1\nb = True", 2, "lower case"), ("a = x", 1, "in quotes"),
        ("a", 1, "key = value"), ('a = 1\nb = "x', 2, "close the quote"), ("a = [1\n", 1, "close"),
        ("a = \ud800", 1, "UTF-8"),
        ("<<<<<<< ours\na = 1", 1, "conflict"),
    ],
)  # fmt: skip
def test_toml_mistakes_are_named_with_line_and_cure(text: str, line: int, fix: str) -> None:
    error = refused(parse_toml, text)
    assert fix in error.fix
    assert error.line == line


@examples(300)
@given(st.text(alphabet="[]{}\"'\\,.=# \nab1", max_size=80))
def test_the_bounds_of_toml_stop_nothing_shallow(text: str) -> None:
    """Few brackets and dots, so any error must come from the parser."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        refused(parse_toml, text)
    else:
        assume(depth(value) <= MAX_DEPTH and text.count(".") < 16)
        assert parse_toml(text) == value


# --- front matter ----------------------------------------------------------------------------------------------------


@each_of(
    ("text", "split"),
    [
        ("---\na: 1\nb: 2\n---\n# Title\n---\n", ("a: 1\nb: 2\n", 1)),
        ("\ufeff---\r\na: 1\r\n---\r\nbody", ("a: 1\r\n", 1)),
        ("--- \na: 1\n... \nbody", ("a: 1\n", 1)), ("---\n---", ("", 1)),
        ("---\na: |\n  ---\n---\n", ("a: |\n  ---\n", 1)),
        ("", None), ("a: 1\n---\n", None), ("\n---\na: 1\n---\n", None),
        ("----\na\n---\n", None), (" ---\na\n---\n", None),
    ],
)  # fmt: skip
def test_front_matter(text: str, split: tuple[str, int] | None) -> None:
    assert split_front_matter(text) == split


@each_of("text", ["---", "---\n", "---\na: 1\n", "---\na: 1\n ---\n", "---\n----\n"])
def test_front_matter_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="has no end"):
        split_front_matter(text)


# --- what is loaded --------------------------------------------------------------------------------------------------


def test_importing_the_module_loads_no_parser() -> None:
    code = (
        "import sys; before = set(sys.modules); import anyhook.documents.parse; "
        "print(sorted("
        "{'re', 'json', 'yaml', 'tomllib', 'typing', 'itertools', 'datetime'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env={
        **os.environ, "PYTHONPATH": str(Path(read.__file__).parents[2])})  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_very_many_keys_are_not_looked_for_one_by_one() -> None:
    class Text(str):
        __slots__ = ()

        def count(self, part: str, *places: object) -> int:
            assert not part.startswith('"key'), "one search for each key"
            return str(self).count(part)

    keys: Json = {f"key{number}": 1 for number in range(1_000)}
    text = json.dumps({"hooks": keys})
    assert repeated_key(Text(text), {"hooks": keys}) is None
    assert repeated_key(Text(text[:-2] + ', "key7": 1}}'), {"hooks": keys}) == ("key7", 1)
