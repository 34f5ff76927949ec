"""Tables of cases: every row is run, and each failing row is named."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from each_of import each_of


def test_every_row_is_tried_and_each_that_fails_is_named() -> None:
    tried: list[int] = []

    @each_of(("number", "name"), [(1, "one"), (2, "two"), pytest.param(3, "three", id="the third"), (4, "four")])
    def fails_twice(number: int, name: str) -> None:
        tried.append(number)
        assert number in (1, 4), name

    with pytest.raises(ExceptionGroup, match=r"2 of 4 rows: 1 2-two; the third") as caught:
        fails_twice()
    assert tried == [1, 2, 3, 4]
    assert [str(error).splitlines()[0] for error in caught.value.exceptions] == ["two", "three"]


def test_tables_above_one_another_are_a_product() -> None:
    tried: list[tuple[int, str]] = []

    @each_of("number", [1, 2])
    @each_of("letter", ["a", "b"])
    def takes_all(number: int, letter: str) -> None:
        tried.append((number, letter))

    takes_all()
    assert sorted(tried) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_what_a_table_does_not_give_is_a_fixture(tmp_path: Path) -> None:
    @each_of("number", [1])
    def takes(tmp_path: Path, number: int) -> None:
        assert (tmp_path, number) == (folder, 1)

    folder = tmp_path
    assert [*inspect.signature(takes).parameters] == ["tmp_path"]
    takes(tmp_path=tmp_path)


def test_a_table_that_tests_nothing_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        each_of("number", [])
    with pytest.raises(AssertionError, match="mark"):
        each_of("number", [pytest.param(1, marks=pytest.mark.skip)])
