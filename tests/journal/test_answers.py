"""Answers on the page of `anyhook serve`, and the line in `anyhook watch`: what a person sees of a call that waits, and
who may answer it."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

from serve_box import Served, served

from anyhook.state.approvals import Approvals, Waiting

if TYPE_CHECKING:
    from conftest import World

HOSTILE = "\x1b[2J <script>document.title='owned'</script> \u202e"


def ask(world: World, **changes: Any) -> Waiting:
    """A call that waits in this process."""
    now = time.time_ns()
    told: dict[str, Any] = {
        "at": now, "until": now + 300 * 10**9, "agent": "codex", "project": str(world.project), "session": "s1",
        "tool": "Bash", "what": "git reset --hard", "reason": "It throws work away.", "rule": "git/hard-reset",
        "facts": {"writes": ["/p"]}, "diff": [], "may_last": True, "always": [],
    }  # fmt: skip
    return Approvals(str(world.state)).ask({**told, **changes})


def post(server: Served, waiting: Waiting, answer: str = "allow", path: str = "", **changes: Any) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", **changes.pop("headers", {})}
    body = json.dumps({"id": waiting.id, "digest": waiting.digest, "answer": answer, **changes})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=240)
    connection.request("POST", path or f"{server.start}approvals", body, headers)
    got = connection.getresponse()
    text = got.read().decode()
    connection.close()
    return got.status, json.loads(text) if text.startswith("{") else text


def test_the_page_answers_once(world: World) -> None:
    waiting, approvals = ask(world), Approvals(str(world.state))
    with served(world) as server:
        shown = json.loads(server.get("approvals").read())
        (call,) = shown["waiting"]
        assert (call["id"], call["what"], shown["closed"]) == (waiting.id, "git reset --hard", "")
        assert any("It throws work away." in line for line in call["lines"])
        assert post(server, waiting, "perhaps")[0] == 400
        assert post(server, waiting, digest="0")[0] == 409
        assert approvals.reply(waiting) == {}
        assert post(server, waiting) == (200, {"taken": True, "why": ""})
        status, told = post(server, waiting, "deny")
        assert (status, told["taken"]) == (409, False)
        assert json.loads(server.get("approvals").read())["waiting"] == []
    reply = approvals.reply(waiting)
    assert (reply["allows"], reply["by"], reply["digest"]) == (True, "page", waiting.digest)


def test_who_does_not_know_the_address_cannot_answer(world: World) -> None:
    waiting = ask(world)
    with served(world) as server:
        for path in ("/approvals", "/wrong/approvals", "/waiting", "/waiting.js"):
            assert post(server, waiting, path=path)[0] == 401, path
        assert post(server, waiting, headers={"Origin": "http://127.0.0.1:1"})[0] == 403
        assert post(server, waiting, headers={"Host": "evil.example"})[0] == 403
        assert Approvals(str(world.state)).reply(waiting) == {}
        connection = HTTPConnection("127.0.0.1", server.port, timeout=240)
        connection.request("GET", "/waiting")
        text = connection.getresponse().read().decode()
        connection.close()
        assert "anyhook approvals" in text
        assert server.start.strip("/") not in text, "the way in is not told"
    assert server.start.strip("/") not in "".join(
        file.read_text("utf-8", "replace") for file in world.state.rglob("*") if file.is_file()
    ), "nor is it anywhere on disk"


def test_a_page_that_an_agent_started_only_shows(world: World) -> None:
    world.env["CLAUDECODE"] = "1"
    waiting = ask(world)
    with served(world) as server:
        shown = json.loads(server.get("approvals").read())
        assert "an agent started this page" in shown["closed"]
        assert [call["id"] for call in shown["waiting"]] == [waiting.id]
        status, told = post(server, waiting)
        assert (status, told["taken"]) == (400, False)
    assert Approvals(str(world.state)).reply(waiting) == {}


def test_hostile_text_is_only_text(world: World) -> None:
    ask(world, what=HOSTILE, reason=HOSTILE, diff=[HOSTILE])
    said = world.command("approvals").stdout
    assert "<script>" in said
    assert not {"\x1b", "\u202e"} & set(said)
    with served(world) as server:
        (call,) = json.loads(server.get("approvals").read())["waiting"]
        assert not {"\x1b", "\u202e"} & set("".join(call["lines"]))
