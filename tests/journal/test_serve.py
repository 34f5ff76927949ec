"""`anyhook serve`: which requests are accepted, what data the page gets, and the page itself in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn
from journal_box import SECOND, Box, made
from serve_box import BLOCKS, messages, served
from starlette.testclient import TestClient
from test_watch import ODD_RECORDS

from anyhook.cli.standing import standing_of
from anyhook.cli.web import server as live_server
from anyhook.cli.web.server import FILES, page
from anyhook.journal.machines import MACHINE
from anyhook.journal.run_index import index_path
from conftest import World

TOKEN = "a-token-of-this-test"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


@pytest.fixture
def client(box: Box) -> TestClient:
    return TestClient(page(str(box.world.state), TOKEN, 8080), base_url=f"http://127.0.0.1:8080/{TOKEN}/")


# --- which requests are accepted


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost:8080", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1", 403),
        ("127.0.0.1:80", 403),
        ("evil.test:8080", 403),
        ("127.0.0.1.evil.test:8080", 403),
        ("localhost:8080.evil.test", 403),
        ("", 403),
    ],
)
def test_only_this_machines_names(client: TestClient, host: str, status: int) -> None:
    answer = client.get("", headers={"host": host})
    assert answer.status_code == status
    if status == 403:
        assert "127.0.0.1" in answer.text


PATHS = ["", *FILES, "events", "hooks", "record/1", "nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("start", ["/", "//", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"/{TOKEN.upper()}/", "/ü/", "/%00/"])
def test_nothing_without_the_token(client: TestClient, start: str, path: str) -> None:
    answer = client.get(f"http://127.0.0.1:8080{start}{path}")
    assert answer.status_code == 401
    assert "anyhook serve" in answer.text


@pytest.mark.parametrize(
    "path", ["", "page.js", "hooks", "record/1", "nothing", "../server.py", "server.py", "%2e%2e/x"]
)
def test_every_answer_is_guarded(client: TestClient, box: Box, path: str) -> None:
    box.write(made(1))
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answer.headers
    assert (answer.status_code == 200) == (path in ("", "page.js", "hooks", "record/1"))


def test_an_address_without_its_last_letter(client: TestClient) -> None:
    answer = client.get(f"http://127.0.0.1:8080/{TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/{TOKEN}/")
    assert answer.headers["cache-control"] == "no-store"
    assert client.get(f"http://127.0.0.1:8080/{TOKEN[:-1]}", follow_redirects=False).status_code == 401


def test_streams_are_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_server, "STREAMS", 0)
    answer = client.get("events")
    assert (answer.status_code, answer.text) == (503, "Too many pages are open.\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_can_only_be_read(client: TestClient, method: str) -> None:
    assert client.request(method, "").status_code == 405


def test_the_page_loads_nothing_from_elsewhere() -> None:
    folder = Path(str(sys.modules[page.__module__].__file__)).parent
    for name in FILES:
        text = (folder / name).read_text().replace("http://www.w3.org/2000/svg", "")
        assert re.findall(r"https?:|//\w|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text) == []
    html = (folder / "page.html").read_text()
    assert re.findall(r"<script(?! src)|style=|\son\w+=", html) == [], "nothing inline, which the policy forbids"


# --- what data the page gets


def test_one_record(client: TestClient, box: Box) -> None:
    box.write(made(1, hooks=BLOCKS))
    answer = client.get("record/1").json()
    assert "\n".join(answer["lines"]).rstrip() == box.call("explain", "1")[1].rstrip()
    assert json.loads(answer["json"]) == box.world.journal()[0]
    assert re.fullmatch(r"\d+\.0 s ago", answer["ago"])
    assert answer["like"] == ["session:s", "agent:fire", "tool:Bash"]
    gone = client.get("record/7")
    assert (gone.status_code, "no record 7" in gone.json()["problem"]) == (404, True)
    assert client.get(f"record/{10**30}").status_code == 404


def test_figures_are_those_of_stats(client: TestClient, box: Box) -> None:
    box.write(made(2, hooks=BLOCKS), made(1, hooks=[("kode:user:x", "none", 0.5, "timed_out")]))
    answer = client.get("hooks").json()
    told = box.json("stats")
    assert [_without_span(hook) for hook in answer["hooks"]] == [_without_span(hook) for hook in told["hooks"]]
    assert [hook["hook"] for hook in client.get("hooks?q=hook:guard").json()["hooks"]] == [BLOCKS[0][0]]
    assert client.get("hooks?q=words").json()["note"].endswith(", whatever the text")
    assert answer["told"] == {"waited": "512 ms", "runs": "2", "refused": "1", "failed": "1 (1 timed out)"}
    assert answer["hooks"][1]["told"] == {
        "p50": "12.0 ms", "p95": "12.0 ms", "waited": "12.0 ms", "runs": "1", "refused": "1",
    }  # fmt: skip
    week = client.get("hooks?q=since:7d").json()
    assert week["note"] == "a bar is 12 h"
    assert 7 * 86_400 <= (week["to"] - week["from"]) / SECOND < 7 * 86_400 + 60
    bad = client.get("hooks?q=since:soon")
    assert (bad.status_code, "is not a time" in bad.json()["problem"]) == (400, True)


def test_the_page_of_many_machines(box: Box, tmp_path: Path) -> None:
    """Each machine with its figures; a search narrows them; the directory is left as it is."""
    box.write(made(2, hooks=BLOCKS), made(1))
    for name in ("3f2a", "77aa"):
        (tmp_path / "fleet" / f"{MACHINE}{name}").mkdir(parents=True)
        shutil.copy(box.world.state / "journal.jsonl", tmp_path / "fleet" / f"{MACHINE}{name}")
    before = sorted((tmp_path / "fleet").rglob("*"))
    site = page(str(tmp_path / "fleet"), TOKEN, 8080, index=str(tmp_path / "index"))
    client = TestClient(site, base_url=f"http://127.0.0.1:8080/{TOKEN}/")
    answer = client.get("hooks").json()
    assert [(each["machine"], each["calls"], each["refused"]) for each in answer["machines"]] == [
        ("3f2a", 2, 1), ("77aa", 2, 1),
    ]  # fmt: skip
    (noisy,) = answer["noisy"]
    assert (noisy["hook"], noisy["refused"], noisy["machines"]) == (BLOCKS[0][0], 2, 2)
    (one,) = client.get("hooks?q=machine:77 verdict:block").json()["machines"]
    assert (one["machine"], one["calls"], one["refused"]) == ("77aa", 1, 1)
    record = client.get(f"record/{10**9 + 1}").json()
    assert (record["machine"], record["like"][0]) == ("77aa", "machine:77aa")
    assert sorted((tmp_path / "fleet").rglob("*")) == before


def test_what_setup_tries_is_not_counted(client: TestClient, box: Box) -> None:
    """`setup` proves that it works with one refused call. That call is listed, but no statistic counts it."""
    box.write(made(2, hooks=BLOCKS, host="setup"))
    assert box.json("stats")["hooks"] == client.get("hooks").json()["hooks"] == []
    box.write(made(1, hooks=BLOCKS))
    assert [hook["blocks"] for hook in box.json("stats")["hooks"]] == [1]
    assert client.get("hooks").json()["told"]["refused"] == "1"
    assert [hook["blocks"] for hook in box.json("stats", "--agent", "setup")["hooks"]] == [1], "where it is asked for"


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        ((), ["setup", "fire"]),
        (("--verdict", "block"), ["fire"]),
        (("--verdict", "block", "--agent", "setup"), ["setup"]),
    ],
)
def test_the_list_of_refused_calls_has_those_that_are_counted(
    box: Box, options: tuple[str, ...], hosts: list[str]
) -> None:
    """The page's `refused` link runs the same search: `verdict:block`."""
    box.write(made(2, hooks=BLOCKS, host="setup"), made(1, hooks=BLOCKS, host="fire"))
    assert [record["host"] for record in box.lines(*options)] == hosts


def _without_span(hook: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in hook.items() if key not in ("over_time", "told")}


def test_figures_without_an_index(client: TestClient, box: Box) -> None:
    """If no index can be stored, the journal itself is read."""
    box.write(made(1, hooks=[("a", "none", 0.1, "exited")]))
    os.mkdir(index_path(str(box.world.state)))
    (hook,) = client.get("hooks").json()["hooks"]
    assert (hook["hook"], hook["runs"]) == ("a", 1)


def test_records_of_any_shape(client: TestClient, box: Box) -> None:
    box.write(*ODD_RECORDS)
    for number, record in enumerate(ODD_RECORDS, 1):
        answer = client.get(f"record/{number}")
        if "NaN" in json.dumps(record):  # NaN is not valid JSON, so the line counts as damaged
            assert (answer.status_code, "damaged" in answer.json()["problem"]) == (404, True)
        else:
            assert answer.status_code == 200
    assert client.get("hooks").status_code == 200, "times and names that no index can hold are left out of it"


# --- a real server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_events_as_they_come_and_a_clean_end(world: World, box: Box, number: int) -> None:
    """A hook blocks while a client listens; then the server ends on a signal with the client still connected."""
    world.hook("kodik", "PreToolUse", "echo 'not today' >&2; exit 2")
    box.write(made(5), made(4, event="stop", data={}))
    with served(world, number) as server:
        stream = server.get("events")
        assert stream.headers["content-type"].startswith("text/event-stream")
        told = messages(stream)
        kind, rows = next(told)
        assert (kind, [row["event"] for row in rows]) == ("rows", ["pre_tool", "stop"])
        assert next(told) == ("ready", {})
        assert world.fire("pre_tool", "--tool", "Bash")["verdict"] == "block"
        kind, (row,) = next(told)
        assert (kind, row["n"], row["verdict"], row["reason"]) == ("rows", 3, "block", "not today")
        filtered = messages(server.get("events?q=verdict:block"))
        assert [row["n"] for row in next(filtered)[1]] == [3]
        kind, answer = next(messages(server.get("events?q=since:soon")))
        assert (kind, "is not a time" in answer["problem"]) == ("problem", True)
        assert server.get("", Host="evil.test").status == 403
        with socket.socket() as elsewhere, pytest.raises(OSError, match="refused"):
            elsewhere.connect(("127.0.0.2", server.port))


def test_who_asks_nothing_takes_nothing_away(world: World) -> None:
    """Idle connections and requests that never finish do not affect other clients."""
    with served(world) as server:
        opened = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        for slow in opened[:50]:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert server.get("").status == 200
        assert next(messages(server.get("events"))) == ("ready", {})
        for each in opened:
            each.close()


def test_connections_that_ask_nothing_are_closed(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_server, "REQUEST_S", 0.2)
    box.write(made(1))
    at = socket.create_server(("127.0.0.1", 0))
    port = at.getsockname()[1]
    running = uvicorn.Server(live_server.config_of(str(box.world.state), TOKEN, port))
    thread = Thread(target=running.run, kwargs={"sockets": [at]})
    thread.start()
    try:
        with socket.create_connection(("127.0.0.1", port), 30) as silent:
            assert silent.recv(1) == b""
        with socket.create_connection(("127.0.0.1", port), 30) as slow:
            slow.sendall(b"GET /")
            assert slow.recv(1) == b""
        listener = HTTPConnection("127.0.0.1", port, timeout=240)
        listener.request("GET", f"/{TOKEN}/events")
        told = messages(listener.getresponse())
        assert next(told)[0] == "rows"
        time.sleep(1.0)  # five times the allowed silence
        box.write(made(1, event="stop", data={}))
        assert [next(told)[0], next(told)[1][0]["event"]] == ["ready", "stop"], "who listens is not silent"
        listener.close()
    finally:
        running.should_exit = True
        thread.join(120)


OLD = b"GET %s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n"


@pytest.mark.parametrize("raw", [OLD, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n"])
def test_old_and_odd_requests(world: World, raw: bytes) -> None:
    """An HTTP/1.0 client is served. A request without a Host header, or one that is not HTTP, is rejected."""
    with served(world) as server:
        asked = raw % (server.start.encode(), server.port) if raw is OLD else raw
        with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
            connection.sendall(asked)
            answer = connection.makefile("rb").read(100)
        assert answer.split()[1] == (b"200" if raw is OLD else b"400"), answer
        assert server.get("").status == 200


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5", "٣"])
def test_a_port_that_is_none(world: World, port: str) -> None:
    done = world.command("serve", f"--port={port}")
    assert (done.returncode, "must be a number" in done.stderr) == (3, True), done.stderr


def test_a_port_that_is_taken(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = world.command("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 3
    assert "cannot be used" in done.stderr
    assert done.stdout == ""


def test_the_page_says_first_whether_guards_are_on(box: Box) -> None:
    world = box.world
    asked = page(str(world.state), TOKEN, 8080, standing_of(str(world.project), world.env))
    client = TestClient(asked, base_url=f"http://127.0.0.1:8080/{TOKEN}/")
    told = client.get("standing").json()
    assert (told["protected"], told["line"].endswith("no guard is on. Run: anyhook setup")) == (False, True)
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    told = client.get("standing").json()
    assert told["protected"] is False
    assert "1 guard OFF: " in told["line"]
    assert told["line"].endswith("Run: anyhook trust")
    world.approve()
    told = client.get("standing").json()
    assert (told["protected"], ": 1 guard on, but no agent calls anyhook." in told["line"]) == (False, True)
    assert box.call("install", "claude")[0] == 0
    told = client.get("standing").json()
    assert (told["protected"], told["line"].endswith(": 1 guard on")) == (True, True)
    assert '<p id="standing" role="status" hidden></p>' in client.get("").text
    assert 'fetch("standing")' in client.get("page.js").text
