"""Parquet: one row per event, for analysis elsewhere; by DuckDB, which reads rows from our file and never the
journal itself."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from typing import Protocol

import duckdb

from anyhook.journal.read import JournalLine
from anyhook.model.json_types import Json


class FileSystem(Protocol):
    """The part of fsspec's interface that is needed here."""

    def put_file(self, lpath: str, rpath: str) -> object: ...


COLUMNS = {
    "n": "BIGINT", "at": "TIMESTAMP_NS", "host": "VARCHAR", "project": "VARCHAR", "session": "VARCHAR",
    "mode": "VARCHAR", "event": "VARCHAR", "tool": "VARCHAR", "verdict": "VARCHAR", "effect": "VARCHAR",
    "hook": "VARCHAR", "reason": "VARCHAR", "runs": "INTEGER", "failures": "INTEGER", "waited_s": "DOUBLE",
    "data": "VARCHAR", "calls": "VARCHAR", "decision": "VARCHAR",
}  # fmt: skip
"""The last three as JSON texts, which DuckDB and others read on demand."""


def row_of(line: JournalLine) -> dict[str, Json]:
    """The flat row of one line."""
    record, decision = line.record or {}, line.decision
    background = line.background is not None
    calls = [(call.cause, run) for call in line.calls if (run := call.run) is not None]
    kept: dict[str, Json] = {} if decision is None else decision.raw
    return {
        "n": line.n,
        "at": line.at_ns,
        **{key: _text(record.get(key)) for key in ("host", "project", "session", "mode")},
        "event": "background" if background else _text(record.get("event")),
        "tool": _text(line.data.get("tool")),
        **{key: _text(kept.get(key)) for key in ("verdict", "effect", "hook", "reason")},
        "runs": len(calls),
        "failures": sum(1 for cause, _ in calls if cause),
        "waited_s": sum([run.duration_s or 0.0 for _, run in calls], 0.0),
        "data": json.dumps(record.get("data")),
        "calls": json.dumps([record] if background else record.get("calls")),
        "decision": json.dumps(record.get("decision")),
    }


def _text(value: Json) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def write_parquet(lines: Iterable[JournalLine], path: str, store: FileSystem | None = None) -> int:
    """Write the rows; returns their number. With `store`, `path` is an object in it, which appears as a whole. OSError
    if the file cannot be written."""
    folder = os.path.dirname(os.path.abspath(path)) if store is None else None
    count = 0
    with tempfile.TemporaryDirectory(dir=folder) as place:  # for its owner only, like the journal
        rows, done = os.path.join(place, "rows.jsonl"), os.path.join(place, "rows.parquet")
        with open(rows, "w", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(row_of(line)) + "\n")
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
        if store is not None:
            store.put_file(done, path)
            return count
        os.chmod(done, 0o600)
        os.replace(done, path)
    return count
