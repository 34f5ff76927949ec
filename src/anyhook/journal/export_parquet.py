"""Parquet: one row per event, for analysis elsewhere; by DuckDB, which reads rows from a file of ours and never the
journal itself."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING

import duckdb

from anyhook.journal.read import seconds, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.model.json_types import Json

COLUMNS = {
    "n": "BIGINT", "at": "TIMESTAMP_NS", "host": "VARCHAR", "project": "VARCHAR", "session": "VARCHAR",
    "mode": "VARCHAR", "event": "VARCHAR", "tool": "VARCHAR", "verdict": "VARCHAR", "effect": "VARCHAR",
    "hook": "VARCHAR", "reason": "VARCHAR", "runs": "INTEGER", "failures": "INTEGER", "waited_s": "DOUBLE",
    "data": "VARCHAR", "calls": "VARCHAR", "decision": "VARCHAR",
}  # fmt: skip
"""The last three as JSON texts, which DuckDB and others read on demand."""


def row_of(record: dict[str, Json]) -> dict[str, Json]:
    """The flat row of one record."""
    data, calls, decision = record.get("data"), record.get("calls"), record.get("decision")
    if "background" in record:
        calls, record = [record], {**record, "event": "background"}
    listed = calls if isinstance(calls, list) else []
    runs = [call for call in listed if isinstance(call, dict) and isinstance(call.get("run"), dict)]
    made = decision if isinstance(decision, dict) else {}
    return {
        **{key: whole_number(record.get(key)) for key in ("n", "at")},
        **{key: _text(record.get(key)) for key in ("host", "project", "session", "mode", "event")},
        "tool": _text(data.get("tool")) if isinstance(data, dict) else None,
        **{key: _text(made.get(key)) for key in ("verdict", "effect", "hook", "reason")},
        "runs": len(runs),
        "failures": sum(1 for call in runs if call.get("failed")),
        "waited_s": sum(map(_seconds, runs)),
        "data": json.dumps(data),
        "calls": json.dumps(calls),
        "decision": json.dumps(decision),
    }


def _seconds(call: dict[str, Json]) -> float:
    run = call.get("run")
    return seconds(run.get("duration_s")) if isinstance(run, dict) else 0.0


def _text(value: Json) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def write_parquet(records: Iterable[dict[str, Json]], path: str) -> int:
    """Write the records' rows; how many. OSError where the file cannot be written."""
    folder = os.path.dirname(os.path.abspath(path))
    count = 0
    with tempfile.TemporaryDirectory(dir=folder) as place:  # for its owner only, like the journal
        rows, done = os.path.join(place, "rows.jsonl"), os.path.join(place, "rows.parquet")
        with open(rows, "w", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(row_of(record)) + "\n")
                count += 1
        types = ", ".join(f"'{name}': '{'BIGINT' if name == 'at' else kind}'" for name, kind in COLUMNS.items())
        shown = ", ".join('make_timestamp_ns("at") AS "at"' if name == "at" else f'"{name}"' for name in COLUMNS)
        quoted = done.replace("'", "''")
        query = (
            f"COPY (SELECT {shown} FROM read_json(?, format='newline_delimited', columns={{{types}}}, "  # noqa: S608
            f"maximum_object_size=268435456)) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)"
        )
        with duckdb.connect() as base:
            base.execute(query, [rows])
        os.chmod(done, 0o600)
        os.replace(done, path)
    return count
