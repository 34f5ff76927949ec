"""Export: the journal's contents for other programs. An export has no secrets that the journal does not have."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from journal_box import Box, made
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from conftest import World


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def several(box: Box) -> None:
    box.write(
        made(30, hooks=[("a", "block", 0.25, "exited"), ("b", "none", 0.5, "timed_out")], session='it\'s "x" é'),
        made(20, event="stop", data={}),
        made(10, background="c", run={"ending": "exited", "exit_code": 0, "started_ns": 5, "duration_s": 2.0}),
    )


def test_json_lines(box: Box, tmp_path: Path) -> None:
    several(box)
    status, out, _ = box.call("export")
    journal = (box.world.state / "journal.jsonl").read_text()
    assert (status, out) == (0, journal)
    path = tmp_path / "out.jsonl"
    assert box.json("export", "-o", str(path), "--event", "stop") == {"format": "jsonl", "exported": 1}
    assert path.read_text() == journal.splitlines(keepends=True)[1]
    assert path.stat().st_mode & 0o777 == 0o600


def test_parquet(box: Box, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    several(box)
    folder = tmp_path / "it's here"
    folder.mkdir()
    path = folder / "out.parquet"
    assert box.json("export", "--format", "parquet", "-o", str(path))["exported"] == 3
    with duckdb.connect() as base:
        rows = base.execute(
            'SELECT n, epoch_ns("at"), session, event, tool, verdict, runs, waited_s, data '
            "FROM read_parquet(?) ORDER BY n",
            [str(path)],
        ).fetchall()
    first, second, third = rows
    record = json.loads((box.world.state / "journal.jsonl").read_text().splitlines()[0])
    assert first[:8] == (1, record["at"], 'it\'s "x" é', "pre_tool", "Bash", "block", 2, 0.75)
    assert json.loads(first[8]) == {"tool": "Bash"}
    assert (second[3], second[4], second[6]) == ("stop", None, 0)
    assert (third[3], third[6], third[7]) == ("background", 1, 2.0)
    assert os.listdir(folder) == ["out.parquet"]


@pytest.mark.slow
def test_parquet_in_an_s3_store(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several machines put their files into one bucket of a server that speaks S3, and DuckDB reads them all."""
    duckdb, s3fs = pytest.importorskip("duckdb"), pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("ACCESS_KEY_ID", "k"), ("SECRET_ACCESS_KEY", "s"), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    try:
        store = s3fs.S3FileSystem(skip_instance_cache=True)
        store.mkdir("fleet")
        several(box)
        for machine in ("one", "two"):
            assert box.json("export", "--format", "parquet", "-o", f"s3://fleet/{machine}.parquet")["exported"] == 3
        with duckdb.connect() as base:
            base.register_filesystem(store)
            rows = base.execute(
                "SELECT parse_filename(filename, true), count(*), count(*) FILTER (verdict = 'block') "
                "FROM read_parquet('s3://fleet/*.parquet', filename = true) GROUP BY 1 ORDER BY 1"
            ).fetchall()
        assert rows == [("one", 3, 1), ("two", 3, 1)]
        status, _, err = box.call("export", "--format", "parquet", "-o", "s3://none/x.parquet")
        assert (status, err.count("\n"), "the store did not take it" in err) == (3, 1, True)
    finally:
        server.stop()
    status, _, err = box.call("export", "--format", "parquet", "-o", "s3://fleet/x.parquet")
    assert (status, "the store did not take it" in err) == (3, True)
    assert box.call("export", "-o", "s3://fleet/x.jsonl")[0] == 3


class Collector(ThreadingHTTPServer):
    """An HTTP server that accepts what an OTLP collector accepts."""

    def __init__(self, status: int = 200) -> None:
        self.taken: dict[str, list[bytes]] = {}
        self.status = status
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        self.server.taken.setdefault(self.path, []).append(body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def running(server: Collector) -> Iterator[Collector]:
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with running(Collector()) as server:
        yield server


def test_spans_and_figures(box: Box, collector: Collector) -> None:
    several(box)
    assert box.json("export", "--format", "otlp", "--endpoint", collector.address) == {"format": "otlp", "exported": 6}
    (body,) = collector.taken["/v1/traces"]
    sent = ExportTraceServiceRequest.FromString(body)
    spans = [span for all_of in sent.resource_spans for scope in all_of.scope_spans for span in scope.spans]
    event = next(span for span in spans if span.name == "hooks pre_tool")
    children = {span.name: span for span in spans if span.parent_span_id == event.span_id}
    assert set(children) == {"hook a", "hook b"}
    assert children["hook a"].trace_id == event.trace_id
    assert children["hook a"].end_time_unix_nano - children["hook a"].start_time_unix_nano == 250_000_000
    assert {pair.key: pair.value.string_value for pair in event.attributes}["hook.decision"] == "block"
    (body,) = collector.taken["/v1/metrics"]
    metrics = ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0].metrics
    counted = next(metric for metric in metrics if metric.name == "anyhook.hook.runs")
    assert sum(point.as_int for point in counted.sum.data_points) == 3


def test_a_collector_that_refuses(box: Box, collector: Collector) -> None:
    several(box)
    collector.status = 401
    address = collector.address.replace("://", "://me:Zebra7Canary@")
    status, out, err = box.call("export", "--format", "otlp", "--endpoint", address)
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert "the collector did not take it" in err
    assert "401" in err
    assert "Zebra7Canary" not in err


WRONG = {
    "--format parquet": "--format parquet needs a file",
    "--format otlp -o x": "--format otlp goes to a collector",
    "--format otlp": "--endpoint (none): name a collector",
    "--format otlp --endpoint ftp://x": "--endpoint ftp://x: name a collector",
    "-o /no/such/folder/x": "--output /no/such/folder/x: the file cannot be written",
    "--format parquet -o /no/such/folder/x": "--output /no/such/folder/x: the file cannot be written",
    "--since never": "--since: 'never' is not a time",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_calls(box: Box, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    if words.startswith("--format parquet -o"):
        pytest.importorskip("duckdb")
    status, out, err = box.call("export", *words.split())
    assert (status, out) == (3, "")
    assert err.startswith(f"anyhook export: {WRONG[words]}")
