"""OTLP: a span for each event with one for each hook under it, and figures of the runs, sent to a collector. From the
journal, so never on a path that an agent waits on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from anyhook.journal.read import seconds, whole_number
from anyhook.model.digest import hasher
from anyhook.model.trace import parent_of, trace_id
from anyhook.model.words import TRACEPARENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer

    from anyhook.model.json_types import Json

BATCH = 500


class NotSent(Exception):  # noqa: N818 (it says what happened)
    """The collector did not take it."""


def send(records: Iterable[dict[str, Json]], endpoint: str, timeout_s: float = 10.0) -> int:
    """Send the records; how many spans. NotSent where nobody takes them."""
    base = endpoint.rstrip("/")
    resource = Resource.create({"service.name": "anyhook"})
    ended, reader = InMemorySpanExporter(), InMemoryMetricReader()
    ids = SpanIds()
    tracing = TracerProvider(
        sampling.ALWAYS_ON, resource=resource, shutdown_on_exit=False, id_generator=ids
    )  # whoever asks for an export wants all of it, whatever the caller's tracing had chosen
    tracing.add_span_processor(SimpleSpanProcessor(ended))
    measuring = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    meter = measuring.get_meter("anyhook")
    runs = meter.create_counter("anyhook.hook.runs", description="Runs of hooks")
    durations = meter.create_histogram("anyhook.hook.duration", unit="s", description="How long hooks took")
    spans = OTLPSpanExporter(f"{base}/v1/traces", timeout=int(timeout_s))
    tracer = tracing.get_tracer("anyhook")
    sent = 0

    def flush() -> int:
        made: tuple[ReadableSpan, ...] = ended.get_finished_spans()
        if made and spans.export(made) is not SpanExportResult.SUCCESS:
            raise NotSent(f"{base}/v1/traces")
        ended.clear()
        return len(made)

    for number, record in enumerate(records, 1):
        for hook, verdict, spent_s, failed in _spans(tracer, record, ids):
            about = {"hook.id": hook, "hook.verdict": verdict, "hook.failed": failed}
            runs.add(1, about)
            durations.record(spent_s, {"hook.id": hook})
        if number % BATCH == 0:
            sent += flush()
    sent += flush()
    figures = reader.get_metrics_data()
    if figures is not None and sent:
        taken = OTLPMetricExporter(f"{base}/v1/metrics", timeout=int(timeout_s)).export(figures)
        if taken is not MetricExportResult.SUCCESS:
            raise NotSent(f"{base}/v1/metrics")
    return sent


def _spans(tracer: Tracer, record: dict[str, Json], ids: SpanIds) -> Iterator[tuple[str, str, float, str]]:
    """Makes the spans of one record, and gives each run: hook, verdict, seconds, cause of failure."""
    at = whole_number(record.get("at"))
    if at is None:
        return
    background = "background" in record
    found = [{**record, "hook": record["background"]}] if background else record.get("calls")
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    decision = record.get("decision")
    made = decision if isinstance(decision, dict) else {}
    rows = made.get("hooks")
    verdicts = (
        {str(row.get("id")): row.get("verdict") for row in rows if isinstance(row, dict)}
        if isinstance(rows, list)
        else {}
    )
    spent = [_times(call.get("run"), at) for call in calls]
    start = min([at, *(begun for begun, _ in spent)])
    name = f"hooks {'background' if background else record.get('event')}"
    span = tracer.start_span(name, ids.of_event(record, calls), start_time=start, attributes=_about(record, made))
    inside = set_span_in_context(span)
    for call, (begun, ended) in zip(calls, spent, strict=True):
        run = call.get("run")
        if not isinstance(run, dict):
            continue
        identity, failed = str(call.get("hook")), str(call.get("failed") or "")
        verdict = str(verdicts.get(identity, "none"))
        about = {"hook.id": identity, "hook.verdict": verdict, "hook.ending": str(run.get("ending"))}
        ids.of_call(record, call)
        child = tracer.start_span(f"hook {identity}", inside, start_time=begun, attributes=about)
        if failed:
            child.set_status(Status(StatusCode.ERROR, failed))
        child.end(ended)
        yield identity, verdict, (ended - begun) / 1e9, failed
    span.end(max([at, *(ended for _, ended in spent)]))


def _times(run: Json, at: int) -> tuple[int, int]:
    if not isinstance(run, dict):
        return at, at
    start = whole_number(run.get("started_ns")) or at
    return start, start + int(seconds(run.get("duration_s")) * 1e9)


def _about(record: dict[str, Json], decision: dict[str, Json]) -> dict[str, str | int]:
    """No payloads: names, the verdict and who gave it."""
    data, number = record.get("data"), whole_number(record.get("n"))
    named: dict[str, Json] = {
        "hook.event": record.get("event"),
        "hook.host": record.get("host"),
        "hook.project": record.get("project"),
        "session.id": record.get("session"),
        "gen_ai.tool.name": data.get("tool") if isinstance(data, dict) else None,
        "hook.decision": decision.get("verdict"),
        "hook.effect": decision.get("effect"),
        "hook.blocked_by": decision.get("hook"),
    }
    made: dict[str, str | int] = {key: str(value) for key, value in named.items() if value is not None}
    return {**made, "hook.record": number} if number is not None else made


class SpanIds(IdGenerator):
    """The ids of spans: those that hooks were told when they ran, and for the rest ids made of the record, so that a
    record that is exported twice is the same trace twice."""

    def __init__(self) -> None:
        self._trace = self._span = 1

    def generate_trace_id(self) -> int:
        return self._trace

    def generate_span_id(self) -> int:
        return self._span

    def of_event(self, record: dict[str, Json], calls: list[dict[str, Json]]) -> Context | None:
        """The next span is the event's; the context that it stands in, where its caller had one."""
        told = [_context(record.get("parent")), *(_context(call.get("trace")) for call in calls)]
        self._trace = int(next((text[3:35] for text in told if text), trace_id(str(record.get("session")))), 16)
        self._span = _made(record.get("at"), record.get("n"), record.get("session"))
        if not told[0]:
            return None
        above = SpanContext(self._trace, int(told[0][36:52], 16), is_remote=True, trace_flags=TraceFlags(1))
        return set_span_in_context(NonRecordingSpan(above))

    def of_call(self, record: dict[str, Json], call: dict[str, Json]) -> None:
        """The next span is this call's."""
        told = _context(call.get("trace"))
        made = _made(record.get("at"), record.get("n"), call.get("hook"), "call")
        self._span = int(told[36:52], 16) if told else made


def _context(value: Json) -> str:
    """A trace context that was written down; "" for anything else."""
    return parent_of({TRACEPARENT: value}) if isinstance(value, str) else ""


def _made(*parts: Json) -> int:
    return int(hasher()(repr(parts).encode())[:16], 16) or 1
