"""The journal with a hostile user: unreadable files, meaningless arguments, missing paths. Every verb reports the
mistake in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from journal_box import Box, made
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.metrics.export import MetricExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from conftest import World
from satellite import has


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_loop(path: Path) -> None:
    path.symlink_to(path)


VERBS = (
    "log", "log --json", "log -n 3", "log -f", "log --search x", "stats", "verify", "explain last", "explain 1",
    "replay", "export", "export -o there", *(["record"] if has("testing") else []),
)  # fmt: skip


@pytest.mark.parametrize("name", ["journal.jsonl", "journal-000000000007.jsonl"])
@pytest.mark.parametrize("what", [a_folder, a_pipe, a_device, a_loop])
def test_something_else_in_the_place_of_a_file(world: World, what: Callable[[Path], None], name: str) -> None:
    world.state.mkdir(parents=True)
    what(world.state / name)
    for verb in VERBS:
        done = world.command(*verb.split())
        assert (done.returncode, done.stdout) == (3, ""), (verb, done.stderr)
        assert done.stderr.startswith(f"anyhook {verb.split()[0]}: the journal cannot be read: {world.state / name} (")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(world: World) -> None:
    world.command("fire", "stop")
    (world.state / "journal.jsonl").chmod(0)
    assert "(Permission denied)" in world.command("verify").stderr


# -- arguments that a person may type


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--head", ""),
        ("verify", "--export-head", ""),
        ("export", "-o", ""),
        ("export", "--endpoint", "http://localhost:1"),
        ("explain", "9" * 5000),
    ],
)
def test_words_that_mean_nothing_are_not_passed_over(box: Box, words: tuple[str, ...]) -> None:
    box.write(made())
    status, out, err = box.call(*words)
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"anyhook {words[0]}: ")


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_a_day_far_away(box: Box, option: str) -> None:
    box.write(made(hooks=[("h", "none", 0.1, "exited")]))
    far = [hook["runs"] for hook in box.json("stats", option, "9999-12-31")["hooks"]]
    assert far == ([] if option == "--since" else [1])


@pytest.mark.parametrize("words", ["export -o", "export --format parquet -o", "verify --export-head"])
def test_the_journal_is_not_written_over(box: Box, words: str) -> None:
    box.write(made())
    path = box.world.state / "journal.jsonl"
    (box.world.project / "link").symlink_to(path)
    before = path.read_bytes()
    for name in (str(path), "link"):
        status, _, err = box.call(*words.split(), name)
        assert (status, err.endswith("this is a file of the journal. Name another one.\n")) == (3, True)
    assert path.read_bytes() == before


def test_an_export_says_what_it_leaves_out(box: Box, tmp_path: Path) -> None:
    box.write(made(), made())
    path = box.world.state / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    for words in (["export"], ["export", "-o", str(tmp_path / "x")]):
        status, _, err = box.call(*words)
        assert status == 0
        assert "a line of the journal is damaged: 'rubbish" in err


def test_decisions_for_a_second_entry_are_forgotten_by_the_next_event(world: World) -> None:
    """They are stored unredacted, with the hooks' output, so they must be deleted."""
    world.hook("kodik", "PreToolUse", "echo password=Zebra7Canary >&2; exit 2")
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(world.project)}
    folder = world.state / "firings"
    for call in ("a", "b", "c"):
        world.command("bridge", "claude", "PreToolUse", stdin=json.dumps({**payload, "tool_use_id": call}))
        kept = list(folder.iterdir())
        assert sum(b"Zebra7Canary" in path.read_bytes() for path in kept) == 1
        for path in kept:
            os.utime(path, (1, 1))
        payload = {**payload, "tool_input": {"command": call}}


def test_json_for_people_does_not_steer_a_terminal(box: Box) -> None:
    evil = "ä \x1b[2J \x9b31m \u202e \u2028 \x7f \U000e0041 日本"
    box.write(made(data={"prompt": evil}))
    _, out, _ = box.call("explain", "1", "--json")
    assert [char for char in out if char != "\n" and not char.isprintable()] == []
    assert "日本" in out
    assert json.loads(out)["data"]["prompt"] == evil


NAMED = {
    "API_KEY=Zebra7Canary ./run.sh": "run.sh",
    "A=1 TOKEN=Zebra7Canary python3 x/run.py": "run.py",
    "TOKEN=Zebra7Canary": "hook",
    "https://me:Zebra7Canary@example.org/": "example.org",
    "https://example.org/hook?token=Zebra7Canary": "hook",
    "./run@2.sh": "run@2.sh",
}


@pytest.mark.parametrize("command", NAMED)
def test_no_secret_becomes_a_name(world: World, command: str) -> None:
    """Ids appear in the journal, in statistics and in spans."""
    world.hook("kodik", "PreToolUse", command)
    (hook,) = json.loads(world.command("list", "--json").stdout)["hooks"]
    assert hook["name"] == NAMED[command]
    assert "Zebra7Canary" not in hook["id"]


@pytest.mark.parametrize("hooked", [True, False])
def test_a_bridge_says_what_it_could_not_record(world: World, hooked: bool) -> None:
    if hooked:
        world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    given = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {}, "cwd": str(world.project)})
    assert world.command("bridge", "claude", "PreToolUse", stdin=given).stderr == ""
    (world.state / "journal.jsonl").unlink()
    (world.state / "journal.jsonl").mkdir()
    for _ in range(2):
        done = world.command("bridge", "claude", "PreToolUse", stdin=given)
        assert done.returncode == 0
        assert ("deny" in done.stdout) is hooked
        assert done.stderr.startswith("anyhook bridge: events are not recorded: ")


RUN = {"ending": "exited", "exit_code": 0, "stdout": "", "stderr": "", "duration_s": 1.0, "started_ns": 5}
ALIEN: dict[str, dict[str, Any]] = {
    "calls is a number": {"calls": 1.5},
    "calls is true": {"calls": True},
    "a hook without a name": {"calls": [{"hook": [], "dialect": {}, "argv": 1, "run": RUN}]},
    "rows without ids": {"decision": {"verdict": [], "hooks": [{"id": {}, "status": "ran"}, {"id": [], "status": []}]}},
    "times out of range": {"at": 10**30},
    "a run out of range": {"calls": [{"hook": "h", "run": {**RUN, "started_ns": 10**30, "duration_s": 1e300}}]},
    "names that are none": {"host": {}, "session": [1], "event": None, "project": 7, "data": {"tool": {"a": 1}}},
}


@pytest.mark.parametrize("how", ALIEN)
def test_a_record_of_another_make_stops_no_verb(box: Box, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records around it are shown, judged and exported."""
    exporters = "opentelemetry.exporter.otlp.proto.http."
    monkeypatch.setattr(f"{exporters}trace_exporter.OTLPSpanExporter.export", lambda _, spans: _encoded(spans))
    monkeypatch.setattr(f"{exporters}metric_exporter.OTLPMetricExporter.export", lambda *_: MetricExportResult.SUCCESS)
    box.write(made(), made(**ALIEN[how]), made())
    for words in (
        "log", "log --json", "log --search x", "log -n 2", "stats --since 90d", "verify", "explain 2",
        "replay", "export", "export --format otlp --endpoint http://127.0.0.1:9",
        *(["record --untried"] if has("testing") else []),
    ):  # fmt: skip
        status, _, err = box.call(*words.split())
        assert status == 0, (words, err)
    assert box.json("replay")["judged"] >= 2


@pytest.mark.parametrize("how", ALIEN)
def test_nor_an_export_as_a_table(box: Box, how: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    box.write(made(), made(**ALIEN[how]), made())
    status, _, err = box.call("export", "--format", "parquet", "-o", f"{tmp_path}/x.parquet")
    assert status == 0, err


def _encoded(spans: Sequence[ReadableSpan]) -> SpanExportResult:
    encode_spans(spans)
    return SpanExportResult.SUCCESS


def test_a_damaged_line_is_counted_among_what_is_not_judged(box: Box) -> None:
    box.write(made(), made())
    path = box.world.state / "journal.jsonl"
    path.write_bytes(b"rubbish\n" + path.read_bytes())
    assert box.json("replay")["not_judged"] == {"its line is damaged": 1}
