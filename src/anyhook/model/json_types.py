"""Json: what a JSON document can hold, as a type; JsonView: the same, to be read or printed only. They are names for
type checkers and do nothing at run time. Digits: a number that is neither an int nor a float."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonView: TypeAlias = "bool | int | float | str | Sequence[JsonView] | Mapping[str, JsonView] | None"


class Digits:
    """A number from a host that Python cannot hold or parse quickly, as it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digits) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)
