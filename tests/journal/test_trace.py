"""Trace context: hooks receive it, their child processes join their span, and an export uses the same ids."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_box import Box
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from test_export import Collector, running

from anyhook import Event
from anyhook.journal.journal import Trace, parent_of
from anyhook.model.lean_json import short_digest
from anyhook.model.words import TRACEPARENT
from anyhook.tables.registry import DIALECTS, dialect
from conftest import World
from each_of import each_of

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
NATIVE = {name: dialect(name).row_for("pre_tool").native for name in DIALECTS}  # type: ignore[union-attr]
CLOSED = [name for name in DIALECTS if dialect(name).closed_env]


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with running(Collector()) as server:
        yield server


def show(world: World) -> str:
    """A script that prints the trace context it got."""
    return f'echo "$TRACEPARENT|$TRACESTATE" > "{world.home}/seen"'


def seen(world: World) -> tuple[str, str]:
    context, _, state = (world.home / "seen").read_text().strip().partition("|")
    return context, state


@pytest.mark.parametrize("name", [name for name in DIALECTS if name not in CLOSED])
def test_the_callers_context_is_taken_over(world: World, name: str) -> None:
    world.hook(name, NATIVE[name], show(world))
    world.env.update(TRACEPARENT=GIVEN, TRACESTATE="a=1")
    world.fire("pre_tool", "--tool", "Bash")
    context, state = seen(world)
    assert (context[:36], context[52:], state) == (GIVEN[:36], GIVEN[52:], "a=1")
    assert context[36:52] != GIVEN[36:52]
    (record,) = world.journal()
    assert (record["parent"], record["calls"][0]["trace"]) == (GIVEN, context)


@pytest.mark.parametrize("name", CLOSED)
def test_dialects_that_list_every_variable_get_none(world: World, name: str) -> None:
    world.hook(name, NATIVE[name], show(world))
    world.fire("pre_tool", "--tool", "Bash")
    assert seen(world) == ("", "")
    assert "trace" not in world.journal()[0]["calls"][0]


def test_kodes_four_variables_stay_four(world: World) -> None:
    world.hook("kode", "tool_call_pre", f'env > "{world.home}/seen"')
    world.env.update(TRACEPARENT=GIVEN, TRACESTATE="a=1")
    world.fire("pre_tool", "--tool", "Bash")
    assert "TRACE" not in (world.home / "seen").read_text()


def test_without_a_caller_a_session_is_a_trace(world: World) -> None:
    world.hook("kodik", "PreToolUse", show(world))
    world.env.update(TRACEPARENT="00-nonsense", TRACESTATE="a=1")
    contexts = []
    for session in ("s", "s", "t"):
        world.fire("pre_tool", "--tool", "Bash", "--session", session)
        context, state = seen(world)
        assert parent_of({TRACEPARENT: context}) == context
        assert state == "", "a state without a context belongs to nothing"
        contexts.append(context)
    traces, spans = [context[3:35] for context in contexts], {context[36:52] for context in contexts}
    assert traces == [short_digest("s"), short_digest("s"), short_digest("t")]
    assert len(spans) == 3
    assert all("parent" not in record for record in world.journal())


def test_bridges_and_background_hooks_join(world: World) -> None:
    world.hook("agenthooks", "before_tool", show(world), "user", "it", **{"async": True})
    world.env["TRACEPARENT"] = GIVEN
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {}})
    assert world.command("bridge", "claude", "PreToolUse", stdin=payload).returncode == 0
    deadline = time.monotonic() + 120
    while len(world.journal()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    event, background = world.journal()
    assert background["trace"] == event["calls"][0]["trace"] == seen(world)[0]
    assert event["parent"] == GIVEN


def test_explain_shows_it(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    world.hook("kode", "tool_call_pre", "true")
    found = json.loads(world.command("explain", "pre_tool", "--tool", "Bash", "--json").stdout)["hooks"]
    assert {hook["dialect"]: TRACEPARENT in hook["env"] for hook in found} == {"kode": False, "kodik": True}


CHILD = """
import os, sys
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
context = TraceContextTextMapPropagator().extract({"traceparent": os.environ["TRACEPARENT"]})
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(sys.argv[1] + "/v1/traces")))
provider.get_tracer("child").start_span("what the hook does", context).end()
provider.shutdown()
"""


def test_spans_of_a_hooks_own_children_join(box: Box, collector: Collector) -> None:
    """A traced caller, our export and a hook that traces itself with OpenTelemetry all end up in one trace."""
    world = box.world
    script = world.write(world.home / "child.py", CHILD)
    world.hook("kodik", "PreToolUse", f"cat > /dev/null; {sys.executable} {script} {collector.address}", timeout=240)
    world.env["TRACEPARENT"] = f"{GIVEN[:-2]}01"
    world.fire("pre_tool", "--tool", "Bash")
    for _ in range(2):  # the second export has the same trace again
        assert box.json("export", "--format", "otlp", "--endpoint", collector.address)["exported"] == 2
    sent = [ExportTraceServiceRequest.FromString(body) for body in collector.taken["/v1/traces"]]
    spans = [
        span for each in sent for group in each.resource_spans for scope in group.scope_spans for span in scope.spans
    ]
    assert {span.trace_id.hex() for span in spans} == {world.env["TRACEPARENT"][3:35]}
    ids: dict[str, set[str]] = {}
    above: dict[str, set[str]] = {}
    for span in spans:
        kind = span.name.split(" ", 1)[0]
        ids.setdefault(kind, set()).add(span.span_id.hex())
        above.setdefault(kind, set()).add(span.parent_span_id.hex())
    assert above["hooks"] == {GIVEN[36:52]}, "the event belongs to the caller's span"
    assert above["hook"] == ids["hooks"]
    assert above["what"] == ids["hook"], "what the hook did belongs to the hook's span"
    assert {kind: len(found) for kind, found in ids.items()} == {"hooks": 1, "hook": 1, "what": 1}


def test_a_library_with_many_sessions(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    engine = world.engine()
    for number in range(3):
        engine.fire_sync(Event.pre_tool("Bash", {}, session=f"s{number}"))
    engine.close_sync()
    told: list[Any] = [record["calls"][0]["trace"] for record in world.journal()]
    assert [context[3:35] for context in told] == [short_digest(f"s{number}") for number in range(3)]
    assert len({context[36:52] for context in told}) == 3


hexes = st.text("0123456789abcdef")


@given(st.one_of(st.text(), st.builds("-".join, st.lists(hexes, max_size=5))))
def test_whatever_the_caller_has_is_right_or_left(text: str) -> None:
    found = parent_of({TRACEPARENT: text})
    assert found in ("", f"00{text[2:55]}")
    env = {TRACEPARENT: text}
    Trace(env).enter(env, "s")
    assert parent_of(env) == env[TRACEPARENT]


@each_of(
    ("text", "right"),
    [
        (GIVEN, GIVEN),
        (GIVEN.upper(), ""),
        (GIVEN[:-3], ""),
        (GIVEN + "-x", ""),
        ("01" + GIVEN[2:] + "-more", GIVEN),
        ("ff" + GIVEN[2:], ""),
        ("00-" + "0" * 32 + GIVEN[35:], ""),
        (GIVEN[:36] + "0" * 16 + GIVEN[52:], ""),
        ("", ""),
    ],
)
def test_which_contexts_are_right(text: str, right: str) -> None:
    assert parent_of({TRACEPARENT: text}) == right
