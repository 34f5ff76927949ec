"""Records are values: they compare by their fields, are copied with `replace`, and have a readable repr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_strategies import outcomes, texts, values

from anyhook.model.json_types import Json
from anyhook.model.outcome import Failure, Outcome
from anyhook.model.problem import Problem
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.model.words import Cause


class Point(Record):
    x: Json
    y: Json = 0


class Other(Record):
    x: Json
    y: Json = 0


@given(values, values)
def test_equality_is_by_type_and_fields(x: Json, y: Json) -> None:
    assert Point(x, y) == Point(x=x, y=y)
    assert Point(x, y) != Other(x, y)
    assert (Point(x) == Point(y)) == (x == y)
    assert Point(x, y) != (x, y)


@given(outcomes(), texts)
def test_replace_changes_one_field_and_nothing_else(outcome: Outcome, reason: str) -> None:
    before = {field: getattr(outcome, field) for field in outcome.fields}
    changed = outcome.replace(reason=reason)
    assert changed.reason == reason
    assert {field: getattr(outcome, field) for field in outcome.fields} == before
    assert changed.replace(reason=outcome.reason) == outcome
    assert outcome.replace() == outcome
    assert outcome.replace() is not outcome


@given(st.sampled_from(["exit", "output"]), texts)
def test_repr_shows_every_field_and_reads_back(cause: Cause, detail: str) -> None:
    failure = Failure(cause, detail)
    assert eval(repr(failure), {"Failure": Failure}) == failure


def test_repr_of_a_nested_record() -> None:
    shown = repr(Outcome(problems=(Problem("a", "b"),)))
    assert shown.startswith("Outcome(verdict='none', reason=None, ")
    assert (
        "problems=(Problem(code='a', what='b', where='', why='', fix='', severity='error', dialect='', scope='', "
        "event=''),)" in shown
    )


def test_a_record_has_its_fields_and_no_others() -> None:
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1).replace(z=1)
    with pytest.raises(AttributeError):
        Point(1).z = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        hash(Point(1))
