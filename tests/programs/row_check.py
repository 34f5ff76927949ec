"""The check of the table of programs: options that are said to take a value and not to take one, names that occur
twice, rows without an example. Tests call it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anyhook.programs.rows import TRAITS, ProgramRow

TAKING_VALUES = ("read_by", "write_by", "delete_by", "name_by", "folder_by", "target", "links_by", "loads")
"""Fields of options that take a value."""
TAKING_NONE = ("deletes_if", "moves_if", "not_if", "links_if")
"""Fields of options that take none."""
ACTING = ("writes", "deletes", "changes", "wraps", "runs", "language", "escape", "line_by", "output_by", "write_by")
"""What a program that only looks has nothing in."""


def mistakes(rows: Iterable[ProgramRow]) -> list[str]:
    """The mistakes in the table, one sentence each."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for row in rows:
        found += [f"{row.name}: {each}" for each in _of_row(row)]
        for name in row.names.split():
            if name in seen:
                found.append(f"{name}: it is in the rows of {seen[name]} and {row.name}")
            seen[name] = row.name
    return found


def _of_row(row: ProgramRow) -> Iterator[str]:
    yield from _of_options(row, options_with_value(row))
    if row.code_by and not row.language:
        yield "code_by without a language"
    if row.has("looks") and (acts := [field for field in ACTING if getattr(row, field)]):
        yield f"it only looks, and has {', '.join(acts)}"
    yield from (f"{trait!r} is not a trait" for trait in row.traits if trait not in TRAITS)
    if [*row.traits] != sorted(set(row.traits)):
        yield "the traits are not in order, or one is there twice"
    yield from _of_examples(row)


def _of_options(row: ProgramRow, valued: frozenset[str]) -> Iterator[str]:
    for field in TAKING_VALUES:
        for option in _missing(getattr(row, field), valued):
            yield f"{field} has {option}, which is not in `values`"
    for field in TAKING_NONE:
        for option in valued.intersection(getattr(row, field).split()):
            yield f"{field} has {option}, which takes a value"
    if row.wraps is not None:
        wrapped = valued if row.wraps.values is None else options_with_value(row.replace(values=row.wraps.values))
        for option in _missing(f"{row.wraps.line} {row.wraps.folder}", wrapped):
            yield f"{option} is followed by what it runs, and is not in `values`"
    for option in _missing(" ".join(f"-{letter}" for letter in row.code_by), valued) if row.values else ():
        yield f"code_by has {option}, which is not in `values`"


def _missing(options: str, known: frozenset[str]) -> list[str]:
    return [option for option in options.split() if option not in known]


def _of_examples(row: ProgramRow) -> Iterator[str]:
    if not row.examples:
        yield "it has no example"
    for example in row.examples:
        line, arrow, expected = example.partition(" -> ")
        if not arrow or not expected:
            yield f"the example {example!r} says nothing"
        elif not any(name in line for name in row.names.split()):
            yield f"the example {example!r} is of another program"


def options_with_value(row: ProgramRow) -> frozenset[str]:
    """All spellings of the options that take a value."""
    found: set[str] = set()
    for text in (row.values, row.output_by):
        letters, _, names = text.partition(" ")
        found.update(f"-{letter}" for letter in letters)
        found.update(f"{dash}{name}" for name in names.split() for dash in ("-", "--"))
    return frozenset(found)
