"""`anyhook serve`: who is let in, what the page is given, and the page itself in a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, program
from journal_box import Box, made
from starlette.testclient import TestClient
from test_watch import ODD_RECORDS

from anyhook.cli.live.server import FILES, page
from anyhook.journal.index import index_path
from conftest import World

TOKEN = "a-token-of-this-test"
BLOCKS = [("kodik:user:PreToolUse:guard", "block", 0.012, "exited")]
SCRIPT = "document.title='owned'"
HOSTILE = f"\x1b[2J\x1b]0;owned\x07 \u202e <script>{SCRIPT}</script><img src=x onerror={SCRIPT}>"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


@pytest.fixture
def client(box: Box) -> TestClient:
    return TestClient(page(str(box.world.state), TOKEN, 8080), base_url=f"http://127.0.0.1:8080/{TOKEN}/")


# --- who is let in


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


# --- what it is given


def test_one_record(client: TestClient, box: Box) -> None:
    box.write(made(1, hooks=BLOCKS))
    answer = client.get("record/1").json()
    assert "\n".join(answer["lines"]).rstrip() == box.call("explain", "1")[1].rstrip()
    assert json.loads(answer["json"]) == box.world.journal()[0]
    gone = client.get("record/7")
    assert (gone.status_code, "no record 7" in gone.json()["problem"]) == (404, True)
    assert client.get(f"record/{10**30}").status_code == 404


def test_figures_are_those_of_stats(client: TestClient, box: Box) -> None:
    box.write(made(2, hooks=BLOCKS), made(1, hooks=[("kode:user:x", "none", 0.5, "timed_out")]))
    answer = client.get("hooks").json()
    told = box.json("stats")
    assert [_without_span(hook) for hook in answer["hooks"]] == [_without_span(hook) for hook in told["hooks"]]
    assert [hook["hook"] for hook in client.get("hooks?q=hook:guard").json()["hooks"]] == [BLOCKS[0][0]]
    assert client.get("hooks?q=words").json()["regardless_of_text"] is True
    bad = client.get("hooks?q=since:soon")
    assert (bad.status_code, "no moment" in bad.json()["problem"]) == (400, True)


def _without_span(hook: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in hook.items() if key != "over_time"}


def test_figures_without_an_index(client: TestClient, box: Box) -> None:
    """Where none can be kept, the journal itself is read."""
    box.write(made(1, hooks=[("a", "none", 0.1, "exited")]))
    os.mkdir(index_path(str(box.world.state)))
    (hook,) = client.get("hooks").json()["hooks"]
    assert (hook["hook"], hook["runs"]) == ("a", 1)


def test_records_of_any_shape(client: TestClient, box: Box) -> None:
    box.write(*ODD_RECORDS)
    for number, record in enumerate(ODD_RECORDS, 1):
        answer = client.get(f"record/{number}")
        if "NaN" in json.dumps(record):  # no JSON, so the line is a damaged one
            assert (answer.status_code, "damaged" in answer.json()["problem"]) == (404, True)
        else:
            assert answer.status_code == 200
    assert client.get("hooks").status_code == 200, "times and names that no index can hold are left out of it"


# --- a real server


class Served:
    """`anyhook serve`, running."""

    def __init__(self, world: World) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anyhook", "serve"],
            env=world.env, cwd=world.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)", self.address)
        assert found, self.address
        self.port, self.start = int(found[1]), found[2]
        self._open: list[HTTPConnection | HTTPResponse] = []

    def get(self, path: str, **headers: str) -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", self.start + path, headers=headers)
        answer = connection.getresponse()
        self._open.extend((answer, connection))
        return answer

    def end(self, number: int) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=30)
        for each in self._open:  # not before: the server has to end while somebody listens
            each.close()
        return self.process.returncode, err


@contextmanager
def served(world: World, number: int = signal.SIGTERM) -> Iterator[Served]:
    server = Served(world)
    try:
        yield server
    finally:
        status, err = server.end(number)
    assert (status, "Traceback" in err) == (0, False), err


def messages(stream: HTTPResponse) -> Iterator[tuple[str, Any]]:
    kind = ""
    while line := stream.readline().decode().strip("\r\n") or "-":
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield kind, json.loads(line[6:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_events_as_they_come_and_a_clean_end(world: World, box: Box, number: int) -> None:
    """A hook really blocks while somebody listens; with the listener still there, the server ends when it is told."""
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
        assert (kind, "no moment" in answer["problem"]) == ("problem", True)
        assert server.get("", Host="evil.test").status == 403
        with socket.socket() as elsewhere, pytest.raises(OSError, match="refused"):
            elsewhere.connect(("127.0.0.2", server.port))


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


# --- the page in a browser


needs_browser = pytest.mark.skipif(program() is None, reason="no Chromium on this machine")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    opened = Browser(tmp_path / "profile")
    try:
        yield opened
    finally:
        opened.close()


def rows_are(count: int) -> str:
    return f"document.querySelectorAll('#rows tr').length === {count}"


STATE = "document.getElementById('state').dataset.state"


@needs_browser
def test_the_page(world: World, box: Box, browser: Browser) -> None:
    """As a person would: look, wait for an event, pause, search, open one record, and lose the server."""
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live' && document.getElementById('nothing').checkVisibility()")
        box.write(*(made(600 - n, data={"tool": f"T{n}"}) for n in range(550)), made(1, hooks=BLOCKS, tag="needle"))
        browser.wait(rows_are(500))
        first = browser.value("document.querySelector('#rows tr').innerText")
        assert "✗ block" in first
        assert BLOCKS[0][0] in first, "the newest is the first"
        browser.wait("document.querySelector('#hooks li svg.over-time rect.usual')")
        assert "runs 1" in browser.value("document.querySelector('#hooks li').innerText")

        browser.value("document.getElementById('pause').click()")
        box.write(made(1, data={"tool": "Late"}))
        browser.wait("document.getElementById('pause').textContent === 'Resume (1)'")
        assert "Late" not in browser.value("document.getElementById('rows').innerText")
        browser.value("document.getElementById('pause').click()")
        browser.wait("document.querySelector('#rows tr').innerText.includes('Late')")

        browser.value("document.getElementById('query').focus()")
        browser.type("needle verdict:bl")
        browser.wait("document.getElementById('problem').textContent.includes('verdict:bl: one of')")
        assert browser.value(rows_are(500)), "what was there stays"
        browser.type("ock")
        browser.wait(rows_are(1))
        browser.value("document.querySelector('#rows tr').click()")
        browser.wait("document.getElementById('full').open")
        told = browser.value("document.getElementById('full-lines').textContent")
        assert told.rstrip() == box.call("explain", "551")[1].rstrip()
        assert browser.value("location.hash") == "#551"
        assert browser.troubles == []
        assert {address.split("/")[2] for address in browser.asked_for} == {f"127.0.0.1:{server.port}"}
    browser.wait(f"{STATE} === 'lost'")


@needs_browser
def test_hostile_text_is_only_text(world: World, box: Box, browser: Browser) -> None:
    hooks = [(HOSTILE, "block", 0.01, "exited")]
    decision = {"verdict": "block", "hook": HOSTILE, "reason": HOSTILE, "enforced": True, "hooks": [{"id": HOSTILE}]}
    box.write(made(1, event=HOSTILE, host=HOSTILE, data={"tool": HOSTILE}, hooks=hooks, decision=decision))
    with served(world) as server:
        browser.open(f"{server.address}#1")
        browser.wait("document.getElementById('full').open && document.querySelector('#hooks li')")
        browser.wait(rows_are(1))
        browser.value("document.querySelector('details').open = true")
        assert browser.value("document.querySelectorAll('body script, body img[onerror], img[src=x]').length") == 0
        text = browser.value("document.body.innerText")
        assert text.count(f"<script>{SCRIPT}</script>") >= 5
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert browser.value("document.title") == "anyhook"
        assert browser.troubles == []


@needs_browser
def test_the_policy_holds(world: World, browser: Browser) -> None:
    """Should the page ever make markup out of a text, the browser refuses it; else the policy would prove nothing."""
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live'")
        attempt = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch { return 'refused' } })()"
        assert browser.value(attempt) == "refused"
        browser.value("document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.2:9/x' })), 1")
        deadline = time.monotonic() + 30
        while not any("Content Security Policy" in trouble for trouble in browser.troubles):
            assert time.monotonic() < deadline, browser.troubles
            browser.value("1")
            time.sleep(0.05)
