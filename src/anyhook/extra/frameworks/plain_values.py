"""Values of a framework → the JSON and the text that hooks see. It changes no value and fails on none."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json, to_jsonable_python

from anyhook.model.json_types import Json


def text_of(value: Any) -> str:
    """A tool's result as hooks see it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return to_json(value, fallback=str).decode()


def jsonable(value: Any) -> Json:
    made: Json = to_jsonable_python(value, fallback=str)
    return made


def mistakes(error: ValidationError) -> str:
    """What is wrong with a value, and where, in one line."""
    rows = ((".".join(map(str, row["loc"])), row["msg"].removeprefix("Value error, ")) for row in error.errors())
    return "; ".join(f"{where}: {what}" if where else what for where, what in rows)


def fields_of(value: Any) -> dict[str, Json]:
    """A tool's arguments, as an object in any case."""
    made = jsonable(value)
    return made if isinstance(made, dict) else {"input": made}
