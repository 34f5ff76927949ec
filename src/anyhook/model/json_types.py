"""Json: what a JSON document can hold, as a type; JsonView: the same, to be read or printed only. They are names for
type checkers and do nothing at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonView: TypeAlias = "bool | int | float | str | Sequence[JsonView] | Mapping[str, JsonView] | None"
