"""The ids of spans: those that hooks were told when they ran, and for the rest ids made of the record, so that a record
that is exported twice is the same trace twice. It sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from anyhook.model.digest import hasher
from anyhook.model.trace import parent_of, trace_id
from anyhook.model.words import TRACEPARENT

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from anyhook.model.json_types import Json


class SpanIds(IdGenerator):
    """Gives out the ids that it was told to."""

    def __init__(self) -> None:
        self._trace = self._span = 1

    def generate_trace_id(self) -> int:
        return self._trace

    def generate_span_id(self) -> int:
        return self._span

    def of_event(self, record: dict[str, Json], calls: list[dict[str, Json]]) -> Context | None:
        """The next span is the event's; the context that it is in, if its caller had one."""
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
