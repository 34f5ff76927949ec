"""Words of commands without a grammar."""

from __future__ import annotations

import pytest

from anyhook.shell.loose import loose_words, plain_parts, words_read


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("git push && A=1 B= ls -l", ["git push", "ls -l"]),
        ("a|b;c&d\ne", ["a", "b", "c", "d", "e"]),
        ("echo $(rm x)", None), ("echo `rm x`", None), ("cat <(rm x)", None),
    ],
)  # fmt: skip
def test_the_parts_of_a_line_as_text(line: str, parts: list[str] | None) -> None:
    assert plain_parts(line) == parts


def test_words_that_are_only_written_are_left_out() -> None:
    assert loose_words("a 'b c'>d; e") == ["a", "b c", ">", "d", ";", "e"]
    assert words_read("a b > c 2>>d < e") == ["a", "b", ">", "2", ">>", "<", "e"]
    assert loose_words("a 'b") == ["a", "'b"]
