"""`anyhook export`: records for other programs, as JSON Lines, Parquet or OpenTelemetry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from logging import WARNING, getLogger
from logging.handlers import BufferingHandler

from anyhook.cli import BadCall, render
from anyhook.cli.journal_input import RecordFilter, check_not_journal, sound, wanted_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import of_extra, verb
from anyhook.cli.view.progress import progress
from anyhook.journal.files import UnreadableJournal
from anyhook.journal.read import JournalLine
from anyhook.journal.redact import redacted
from anyhook.journal.search import record_of, search
from anyhook.platform.places import state_dir
from anyhook.tables.isolation import error_line

FORMATS = ("jsonl", "parquet", "otlp")
MAX_LOGGED = 100
S3 = "s3://"


class ExportOptions(JsonOptions, RecordFilter):
    format: str | None = option("--format", "jsonl (default), parquet or otlp.", "FORMAT", choices=FORMATS)
    output: str | None = option(
        "--output",
        "The file to write; default for jsonl: stdout. For parquet also s3://BUCKET/KEY.",
        "FILE",
        short="-o",
    )
    endpoint: str | None = option("--endpoint", "The collector, for otlp; default: OTEL_EXPORTER_OTLP_ENDPOINT.", "URL")


@verb("export", ExportOptions, "anyhook export --since 30d --format parquet -o hooks.parquet")
def export(options: ExportOptions) -> int:
    """Write records of the journal for other programs: as JSON Lines, as Parquet with one row per event (needs
    `anyhook[analytics]`; for an address in an S3-compatible store also `anyhook[s3]`), or as OpenTelemetry traces and
    metrics to a collector (needs `anyhook[otel]`)."""
    kind, path = options.format or "jsonl", options.output
    if wrong := _wrong(kind, path, options.endpoint):
        raise BadCall(wrong)
    folder = state_dir(os.environ)
    if path is not None and not _is_object(path):
        check_not_journal("--output", path, folder)
    found = sound(search(folder, wanted_of(options)))
    if kind == "otlp" or path is not None:
        found = _with_a_bar(found, folder)
    if kind == "otlp":
        count = _otlp(found, options.endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "")
    elif path is None:
        render.many_out(each.raw.decode("utf-8", "replace").rstrip("\n") for each in found)
        return 0
    else:
        count = _to_object(found, path) if _is_object(path) else _to_file(kind, found, path)
    if options.json:
        render.json_out({"format": kind, "exported": count})
    else:
        render.say(f"{count} {'spans' if kind == 'otlp' else 'records'} exported")
    return 0


def _wrong(kind: str, path: str | None, endpoint: str | None) -> str:
    """Why these options do not go together; "" if they do."""
    if kind == "parquet" and path is None:
        return "--format parquet needs a file: --output FILE."
    if kind == "jsonl" and _is_object(path):
        return "--output s3://… is for --format parquet."
    if kind == "otlp" and path is not None:
        return "--format otlp goes to a collector (--endpoint URL), not into a file."
    return "--endpoint is for --format otlp." if kind != "otlp" and endpoint is not None else ""


def _with_a_bar(found: Iterator[JournalLine], folder: str) -> Iterator[JournalLine]:
    """The same records, with a progress bar based on their numbers."""
    newest = record_of(folder, "last")
    last, first = newest.number if newest is not None else 0, None
    with progress("exporting") as tell:
        for each in found:
            first = each.number if first is None else first
            tell(each.number - first, last + 1 - first)
            yield each


def _is_object(path: str | None) -> bool:
    """Whether it is an object in an S3-compatible store."""
    return (path or "").startswith(S3)


def _to_object(found: Iterator[JournalLine], path: str) -> int:
    """Where the store is, and who may write, is what the variables and files of AWS's own tools say."""
    parquet = of_extra("anyhook.journal.export_parquet", "analytics", "--format parquet needs DuckDB")
    stores, faults = (of_extra(name, "s3", f"--output {path} needs s3fs") for name in ("s3fs", "botocore.exceptions"))
    try:
        count: int = parquet.write_parquet(found, path, stores.S3FileSystem())
    except UnreadableJournal:
        raise
    except (OSError, faults.BotoCoreError, faults.ClientError) as error:
        raise BadCall(str(redacted(f"--output {path}: the store did not take it ({error_line(error)})."))) from None
    return count


def _to_file(kind: str, found: Iterator[JournalLine], path: str) -> int:
    try:
        if kind == "parquet":
            parquet = of_extra("anyhook.journal.export_parquet", "analytics", "--format parquet needs DuckDB")
            count: int = parquet.write_parquet(found, path)
            return count
        count = 0
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            for each in found:
                file.write(each.raw)
                count += 1
        return count
    except UnreadableJournal:
        raise
    except OSError as error:
        raise BadCall(f"--output {path}: the file cannot be written ({error.strerror}).") from None


def _otlp(lines: Iterator[JournalLine], endpoint: str) -> int:
    if not endpoint.startswith(("http://", "https://")):
        raise BadCall(f"--endpoint {endpoint or '(none)'}: name a collector, such as http://localhost:4318.")
    otlp = of_extra("anyhook.journal.export_otlp", "otel", "--format otlp needs the exporter")
    told = BufferingHandler(MAX_LOGGED)  # the exporter would print it to stderr again and again
    told.setLevel(WARNING)
    getLogger().addHandler(told)
    try:
        count: int = otlp.send(lines, endpoint)
    except otlp.NotSent as error:
        why = f"{error}; {told.buffer[-1].getMessage()}" if told.buffer else str(error)
        said = f"--endpoint {endpoint}: the collector did not take it ({why}). Is it running, and is this its address?"
        raise BadCall(str(redacted(said))) from None
    else:
        return count
    finally:
        getLogger().removeHandler(told)
