"""Many small cases as one test: every row is run, and each failing row is reported by name. A separate test costs as
much as a hundred rows that only compare values."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from _pytest.mark import ParameterSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def each_of(
    names: str | Sequence[str], rows: Iterable[object], ids: Callable[[Any], object] | Sequence[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, for a test that changes nothing: all rows share the fixtures."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    named = [*_named(rows, len(keys), ids)]
    assert named, "a table without rows tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(**fixtures: object) -> None:
            failures: list[Exception] = []
            for name, values in named:
                try:
                    test(**dict(zip(keys, values, strict=True)), **fixtures)
                except Exception as error:  # noqa: BLE001 (the other rows still run, and all failures are reported)
                    error.add_note(f"row: {name}")
                    failures.append(error)
            if failures:
                shown = "; ".join(error.__notes__[-1].removeprefix("row: ") for error in failures)
                raise ExceptionGroup(f"{len(failures)} of {len(named)} rows: {shown}", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every

    return decorate


def _named(
    rows: Iterable[object], width: int, ids: Callable[[Any], object] | Sequence[str] | None
) -> Iterator[tuple[str, tuple[object, ...]]]:
    for number, row in enumerate(rows):
        values, name = (row if width > 1 else (row,)), None
        if isinstance(row, ParameterSet):
            assert not row.marks, "a row with a mark has to be a test of its own"
            values, name = row.values, str(row.id)
        assert isinstance(values, tuple | list)
        if name is None and callable(ids):
            name = "-".join(str(ids(value)) for value in values)
        elif name is None and not callable(ids) and ids is not None:
            name = ids[number]
        short = "-".join(str(value) for value in values if isinstance(value, str | int))
        yield str(name or f"{number} {short[:100]}".strip()), tuple(values)
