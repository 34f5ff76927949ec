"""The words of a command, without loading `shlex` for a plain line: the result is the same."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anyhook.programs.commands import words_of

LINES = st.text(alphabet=st.sampled_from(" \t\n\r\x0b\x0c\xa0\x85\x00abé#'\"\\$|;&<>(){}*?~=/-.,"), max_size=12)


@given(LINES)
@example("check 1  --now #x")
@example("a\xa0b")
@example("a\x0bb")
@example("it's")
@example('say "a b"')
def test_the_words_are_those_of_shlex(line: str) -> None:
    try:
        expected = shlex.split(line)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            words_of(line)
    else:
        assert words_of(line) == expected
