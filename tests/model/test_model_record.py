"""Records: the first of a class are built by hand, later ones by a compiled constructor. There is no visible
difference."""

from __future__ import annotations

from typing import Any

import pytest

from anyhook.model.record import Compiled, Record


def fresh() -> Any:
    class Point(Record):
        x: int
        y: int = 2
        name: str = ""

    return Point


@pytest.mark.parametrize("before", [0, Compiled.after + 1])
def test_every_way_to_make_one(before: int) -> None:
    point = fresh()
    for _ in range(before):
        point(0)
    for made in (point(1, 2, "a"), point(1, name="a"), point(name="a", x=1), point(0, name="a").replace(x=1)):
        assert (made.x, made.y, made.name) == (1, 2, "a")
    for values, named in (((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 3})):
        with pytest.raises(TypeError):
            point(*values, **named)


def test_a_subclass_without_fields_of_its_own_gets_the_compiled_one_too() -> None:
    point = fresh()
    special = type("Special", (point,), {})
    made = [special(number) for number in range(Compiled.after + 2)]
    assert [each.x for each in made] == list(range(Compiled.after + 2))
    assert point(7).x == 7
