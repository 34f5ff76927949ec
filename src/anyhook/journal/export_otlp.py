"""OTLP: a span for each event, with one for each hook under it, and metrics of the runs, sent to a collector. It reads
the journal, so no agent ever waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from anyhook.journal.journal import parent_of
from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision, RecordedRun
from anyhook.model.json_types import Json
from anyhook.model.lean_json import digest, short_digest
from anyhook.model.words import TRACEPARENT

if TYPE_CHECKING:
    from opentelemetry.context import Context


SPANS_AT_ONCE = 500


class NotSent(Exception):  # noqa: N818 (it says what happened)
    """The collector did not accept it."""


def send(lines: Iterable[JournalLine], endpoint: str, timeout_s: float = 10.0) -> int:
    """Send the lines; returns the number of spans. NotSent if no collector accepts them."""
    base = endpoint.rstrip("/")
    resource = Resource.create({"service.name": "anyhook"})
    ended, reader = InMemorySpanExporter(), InMemoryMetricReader()
    ids = SpanIds()
    tracing = TracerProvider(
        sampling.ALWAYS_ON, resource=resource, shutdown_on_exit=False, id_generator=ids
    )  # an export contains everything, whatever the caller's tracing had sampled
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

    for number, line in enumerate(lines, 1):
        for hook, verdict, spent_s, failed in _spans(tracer, line, ids):
            about = {"hook.id": hook, "hook.verdict": verdict, "hook.failed": failed}
            runs.add(1, about)
            durations.record(spent_s, {"hook.id": hook})
        if number % SPANS_AT_ONCE == 0:
            sent += flush()
    sent += flush()
    figures = reader.get_metrics_data()
    if figures is not None and sent:
        taken = OTLPMetricExporter(f"{base}/v1/metrics", timeout=int(timeout_s)).export(figures)
        if taken is not MetricExportResult.SUCCESS:
            raise NotSent(f"{base}/v1/metrics")
    return sent


def _spans(tracer: Tracer, line: JournalLine, ids: SpanIds) -> Iterator[tuple[str, str, float, str]]:
    """Makes the spans of one line, and gives each run: hook, verdict, seconds, cause of failure."""
    at, calls, decision = line.at_ns, line.calls, line.decision
    if at is None:
        return
    verdicts = {hook.id: str(hook.verdict) for hook in decision.hooks} if decision is not None else {}
    spent = [_times(call.run, at) for call in calls]
    start = min([at, *(begun for begun, _ in spent)])
    name = f"hooks {line.event if line.background is None else 'background'}"
    span = tracer.start_span(name, ids.of_event(line, calls), start_time=start, attributes=_attributes(line, decision))
    inside = set_span_in_context(span)
    for call, (begun, ended) in zip(calls, spent, strict=True):
        if call.run is None:
            continue
        verdict = verdicts.get(call.hook, "none")
        about = {"hook.id": call.hook, "hook.verdict": verdict, "hook.ending": call.run.ending}
        ids.of_call(line, call)
        child = tracer.start_span(f"hook {call.hook}", inside, start_time=begun, attributes=about)
        if call.cause:
            child.set_status(Status(StatusCode.ERROR, call.cause))
        child.end(ended)
        yield call.hook, verdict, (ended - begun) / 1e9, call.cause
    span.end(max([at, *(ended for _, ended in spent)]))


def _times(run: RecordedRun | None, at: int) -> tuple[int, int]:
    if run is None:
        return at, at
    start = run.started_ns or at
    return start, start + int((run.duration_s or 0.0) * 1e9)


def _attributes(line: JournalLine, decision: RecordedDecision | None) -> dict[str, str | int]:
    """No payloads: names, the verdict and who gave it."""
    named = {
        "hook.event": line.event,
        "hook.host": line.host,
        "hook.project": line.project,
        "session.id": line.session,
        "gen_ai.tool.name": line.tool,
    }
    if decision is not None:
        named.update(
            {"hook.decision": decision.verdict, "hook.effect": decision.effect, "hook.blocked_by": decision.hook}
        )
    made: dict[str, str | int] = {key: value for key, value in named.items() if value is not None}
    return {**made, "hook.record": line.n} if line.n is not None else made


class SpanIds(IdGenerator):
    """The ids of spans: those that hooks had in their environment, and for the rest ids derived from the record, so
    that exporting a record twice gives the same trace."""

    def __init__(self) -> None:
        self._trace = self._span = 1

    def generate_trace_id(self) -> int:
        return self._trace

    def generate_span_id(self) -> int:
        return self._span

    def of_event(self, line: JournalLine, calls: Sequence[RecordedCall]) -> Context | None:
        """The next span is the event's; the context that it is in, if its caller had one."""
        contexts = [_context(line.parent), *(_context(call.trace) for call in calls)]
        self._trace = int(next((each[3:35] for each in contexts if each), short_digest(str(line.session))), 16)
        self._span = _made(line.at_ns, line.n, line.session)
        if not contexts[0]:
            return None
        above = SpanContext(self._trace, int(contexts[0][36:52], 16), is_remote=True, trace_flags=TraceFlags(1))
        return set_span_in_context(NonRecordingSpan(above))

    def of_call(self, line: JournalLine, call: RecordedCall) -> None:
        """The next span is this call's."""
        context = _context(call.trace)
        made = _made(line.at_ns, line.n, call.hook, "call")
        self._span = int(context[36:52], 16) if context else made


def _context(value: str) -> str:
    """A trace context that was written down; "" for anything else."""
    return parent_of({TRACEPARENT: value})


def _made(*parts: Json) -> int:
    return int(digest(repr(parts).encode())[:16], 16) or 1
