"""The types of the cells in an agent's tables, checked against the annotations of the row types. A mistake names the
cell: `DIALECT.limits[command]: it must be a Limits, not 10`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from anyhook.model.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "bool": ((bool,), "True or False"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
}
ROW_NAMES = ("native", "path", "key", "kind", "name", "field")
"""The fields by which a row is named, the first that it has."""


def mistyped(cell: str, row: Record) -> Iterator[str]:
    """A sentence for each cell of a row, and of the rows in it, that has a value of another type."""
    for name, annotation in _annotations(type(row)).items():
        yield from _mistakes(f"{cell}.{name}", getattr(row, name), annotation)


@cache
def _annotations(kind: type[Record]) -> dict[str, ast.expr]:
    return {name: ast.parse(text, mode="eval").body for name, text in kind.__annotations__.items()}


def _mistakes(cell: str, value: object, wanted: ast.expr) -> Iterator[str]:
    match wanted:
        case ast.BinOp(left, ast.BitOr(), right):
            found = [[*_mistakes(cell, value, each)] for each in (left, right)]
            if all(found):
                yield from max(found, key=lambda each: each[0].index(":"))  # what is wrong in a row, not that it is one
        case ast.Constant(None):
            if value is not None:
                yield _sentence(cell, "None", value)
        case ast.Name(name):
            yield from _named(cell, value, name)
        case ast.Subscript(ast.Name("tuple"), ast.Tuple([each, ast.Constant(x)])) if x is ...:
            yield from _listed(cell, value, each)
        case ast.Subscript(ast.Name("Mapping" | "dict"), ast.Tuple([_, each])):
            if not isinstance(value, Mapping):
                yield _sentence(cell, "a mapping", value)
            for key, item in value.items() if isinstance(value, Mapping) else ():
                yield from _mistakes(f"{cell}[{key}]", item, each)
        case ast.Subscript(ast.Name("Callable")):
            if not callable(value):
                yield _sentence(cell, "a function", value)
        case _:  # a set, or a tuple of a fixed length: others check what is in it
            return


def _named(cell: str, value: object, name: str) -> Iterator[str]:
    if name in PLAIN:
        kinds, words = PLAIN[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            yield _sentence(cell, words, value)
    elif name in _row_types():
        if type(value).__name__ != name:
            yield _sentence(cell, f"a {name}", value)
        elif isinstance(value, Record):
            yield from mistyped(cell, value)


def _listed(cell: str, value: object, each: ast.expr) -> Iterator[str]:
    if not isinstance(value, tuple):
        yield _sentence(cell, "a tuple", value)
        return
    for index, item in enumerate(value):
        label = next(
            (getattr(item, name) for name in ROW_NAMES if isinstance(item, Record) and name in item.fields), index
        )
        yield from _mistakes(f"{cell}[{'.'.join(label) if isinstance(label, tuple) else label}]", item, each)


def _sentence(cell: str, wanted: str, value: object) -> str:
    shown = repr(value)
    return f"{cell}: it must be {wanted}, not {shown if len(shown) <= 60 else f'{shown[:60]}…'}"


@cache
def _row_types() -> frozenset[str]:
    """The names of the row types; any other name in an annotation stands for several types, or for words."""
    from anyhook.tables import host_rows, rows, shapes

    return frozenset(
        name
        for module in (rows, host_rows, shapes)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Record)
    )
