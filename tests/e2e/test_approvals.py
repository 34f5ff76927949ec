"""A person elsewhere answers what hooks ask (`[ask]` in the settings): a call waits, and runs only after a yes to
exactly that call. Everything else refuses it, and says why."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from person_box import at_a_terminal

from anyhook import Engine, Event
from anyhook.engine import dedupe, hold
from anyhook.platform import store
from anyhook.platform.store import Store
from anyhook.state.approvals import Approvals, PersonsAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.firing import Answer
    from anyhook.model.json_types import Json
    from conftest import World

RULES = '[[rule]]\nname = "ask about ls"\nwhen = "runs ls"\nthen = "ask"\nbecause = "It lists."\n'
DENY = '\n[[rule]]\nname = "no -a"\nwhen = "runs ls -a"\n'
LINE = "ls -l"
PAYLOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": LINE}, "permission_mode": "dontAsk"}),
    "codex": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": LINE}}),
    "goose": ("PreToolUse", {"tool_name": "developer__shell", "tool_input": {"command": LINE}}),
    "kimi": ("PreToolUse", {"tool_name": "Shell", "tool_input": {"command": LINE}}),
}
"""An agent's event, and what it sends about a shell line."""
DEADLINE_S = 120.0


def settings(where: str = "elsewhere", wait_s: int = 50, more: str = "") -> str:
    return f'[ask]\nwhere = "{where}"\nwait_s = {wait_s}\n{more}'


@pytest.fixture
def asks(world: World) -> World:
    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULES + DENY)
    world.config(settings())
    return world


class Call:
    """One call of an agent, in a separate process."""

    def __init__(self, world: World, agent: str = "codex", **changes: Any) -> None:
        event, payload = PAYLOADS[agent]
        given = {"session_id": "s1", "cwd": str(world.project), "hook_event_name": event, **payload, **changes}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anyhook", "bridge", agent, event],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**world.env, "ANYHOOK_WARM": "off"},
            cwd=world.project,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(given).encode())
        self.process.stdin.close()
        self.process.stdin = None

    def ended(self) -> tuple[int, str]:
        """Its exit status, and what it said."""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, (out + err).decode()

    def refused(self) -> str:
        """What the agent reads; the call must be refused."""
        status, said = self.ended()
        assert status == 2 or '"deny"' in said or '"block"' in said, (status, said)
        return said

    def runs(self) -> bool:
        return self.ended() == (0, "")


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + DEADLINE_S
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def waiting(world: World) -> dict[str, Any]:
    """The one call that waits, as `anyhook approvals --json` has it."""
    approvals = Approvals(str(world.state))
    until(approvals.waiting)
    (found,) = json.loads(world.command("approvals", "--json").stdout)
    return dict(found)


def answer(world: World, *words: str, typed: bytes = b"") -> tuple[int, str]:
    return at_a_terminal(world, typed, ("approvals", *words))


def last(world: World) -> dict[str, Any]:
    return dict(json.loads(world.command("log", "--json").stdout.splitlines()[-1])["decision"])


@pytest.mark.parametrize("agent", PAYLOADS)
def test_a_call_waits_and_runs_after_a_yes(asks: World, agent: str) -> None:
    call = Call(asks, agent)
    told = waiting(asks)
    assert set(told) == {"id", "at", "agent", "project", "session", "tool", "what", "reason", "rule", "until"}
    assert (told["agent"], told["project"], told["session"]) == (agent, str(asks.project), "s1")
    assert (told["what"], told["rule"]) == (LINE, "ask-about-ls")
    assert "It lists." in told["reason"]
    assert told["at"] < told["until"] <= told["at"] + 50 * 10**9
    status, said = answer(asks, "allow", told["id"])
    assert (status, LINE in said, "Allowed once." in said) == (0, True, True), said
    assert call.runs()
    decision = last(asks)
    assert (decision["verdict"], decision["answered"]["by"]) == ("none", "terminal")
    assert told["at"] < decision["answered"]["at"] < told["until"]


def test_a_yes_counts_once(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    assert answer(asks, "allow", told["id"])[0] == 0
    assert answer(asks, "allow", told["id"])[0] == 1, "a second answer is not taken"
    assert answer(asks, "deny", told["id"])[0] == 1
    assert call.runs()
    again = Call(asks)
    other = waiting(asks)["id"]
    assert other != told["id"], "the same call waits anew"
    assert answer(asks, "allow", told["id"])[0] == 1, "an old id answers nothing"
    assert answer(asks, "deny", other, "--because", "not now")[0] == 0
    said = again.refused()
    assert "a person refused it: not now" in said
    assert "do not try to reach the same in another way" in said
    assert last(asks)["answered"]["by"] == "terminal"


def test_nobody_answers(asks: World) -> None:
    asks.config(settings(wait_s=1))
    said = Call(asks).refused()
    assert "nobody answered within 1 s" in said
    decision = last(asks)
    assert "answered" not in decision
    assert [problem["code"] for problem in decision["problems"]] == ["not-answered"]
    assert json.loads(asks.command("approvals", "--json").stdout) == []


def test_only_a_person_at_a_terminal_answers(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    for words in (("allow", told["id"]), ("deny", told["id"])):
        done = asks.command("approvals", *words)
        assert (done.returncode, "at a terminal" in done.stderr) == (3, True)
    asks.env["CLAUDECODE"] = "1"  # as an agent sets it for what it starts
    assert answer(asks, "allow", told["id"])[0] == 3
    del asks.env["CLAUDECODE"]
    assert answer(asks, "allow", "../trust.json")[0] == 1
    assert answer(asks, "allow")[0] == 3
    assert answer(asks, "perhaps", told["id"])[0] == 3
    assert waiting(asks)["id"] == told["id"], "it still waits"
    assert answer(asks, "deny", told["id"])[0] == 0
    call.refused()


def test_the_agents_own_tools_cannot_answer(asks: World) -> None:
    asks.config("protect = true\n")
    for line in ("anyhook approvals allow 3f9c2a10", "anyhook approvals deny 3f9c2a10", "anyhook serve"):
        done = asks.command(
            "bridge", "claude", "PreToolUse",
            stdin=json.dumps({**PAYLOADS["claude"][1], "tool_input": {"command": line}, "session_id": "s"}),
        )  # fmt: skip
        assert '"deny"' in done.stdout, line
    looks = {**PAYLOADS["claude"][1], "tool_input": {"command": "anyhook approvals --json"}, "session_id": "s"}
    assert asks.command("bridge", "claude", "PreToolUse", stdin=json.dumps(looks)).stdout == ""


def test_what_was_asked_about_must_not_change(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    file = asks.state / "asked" / told["id"]
    file.write_text(file.read_text().replace("ls -l", "ls -x"))
    changed = Approvals(str(asks.state)).waiting()[0]
    assert changed.told["what"] == "ls -x"
    assert Approvals(str(asks.state)).answer(changed, PersonsAnswer(allows=True, by="terminal"))
    assert "is none to what was asked" in call.refused()


FORGED = (
    "", "yes", "[]", '{"allows": true}', '{"allows": true, "by": "terminal", "at": 1, "digest": "0"}',
)  # fmt: skip


@pytest.mark.parametrize("text", FORGED)
def test_a_forged_answer_is_none(text: str, asks: World) -> None:
    asks.config(settings(wait_s=2))
    call = Call(asks)
    told = waiting(asks)
    (asks.state / "asked" / f"{told['id']}.answer").write_text(text)
    call.refused()


def test_an_answer_of_another_user_is_none(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = _ask(asks, wait_s=50)
    monkeypatch.setattr("anyhook.platform.store.user_id", lambda: os.geteuid() + 1)
    assert Approvals(str(asks.state)).find(told) is None


def _ask(world: World, wait_s: float) -> str:
    now = time.time_ns()
    return Approvals(str(world.state)).ask({"at": now, "until": now + int(wait_s * 1e9)}).id


def test_who_asked_is_gone(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    call.process.send_signal(signal.SIGKILL)
    call.ended()
    assert json.loads(asks.command("approvals", "--json").stdout) == []
    assert answer(asks, "allow", told["id"])[0] == 1


def _engine(world: World, monkeypatch: pytest.MonkeyPatch) -> Engine:
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    return Engine.open(world.project)


SHELL = Event.pre_tool("Bash", {"command": LINE})


def in_another_thread(world: World, then: Callable[[Approvals, Any], None]) -> threading.Thread:
    """Do something as soon as a call waits."""

    def work() -> None:
        approvals = Approvals(str(world.state))
        then(approvals, until(approvals.waiting)[0])

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_computer_that_slept(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The monotonic clock stands still then, and the other one does not: an answer that is read later counts for
    nothing."""
    engine, later = _engine(asks, monkeypatch), time.time_ns() + 3600 * 10**9

    def yes_and_sleep(approvals: Approvals, found: Any) -> None:
        monkeypatch.setattr(hold, "time_ns", lambda: later)
        assert approvals.answer(found, PersonsAnswer(allows=True, by="page"))

    thread = in_another_thread(asks, yes_and_sleep)
    decision = engine.fire_sync(SHELL)
    thread.join()
    assert (decision.verdict, decision.effect) == ("block", "deny_tool")
    assert "the answer came when its time was over" in (decision.reason or "")


def test_a_yes_is_as_if_the_rule_had_not_matched(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asks.hook("claude", "PreToolUse", "echo from-another-hook", matcher="Bash")
    engine = _engine(asks, monkeypatch)
    thread = in_another_thread(asks, assert_taken)
    decision = engine.fire_sync(SHELL)
    thread.join()
    assert (decision.verdict, decision.reason, decision.hook) == ("none", None, None)
    assert decision.answered is not None
    assert decision.answered["by"] == "page"
    assert decision.as_dict()["answered"] == decision.answered


def assert_taken(approvals: Approvals, found: Any) -> None:
    assert approvals.answer(found, PersonsAnswer(allows=True, by="page"))


def test_what_another_hook_refuses_waits_for_nobody(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    decision = _engine(asks, monkeypatch).fire_sync(Event.pre_tool("Bash", {"command": "ls -a"}))
    assert (decision.verdict, decision.hook) == ("block", "anyhook:user:pre_tool:no-a")
    assert "answered" not in decision.as_dict()


def test_a_failure_of_ours_does_not_let_a_call_run(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(hold, "_told", fail)
    decision = _engine(asks, monkeypatch).fire_sync(SHELL)
    assert decision.verdict == "ask"
    assert "not-answered" in {problem.code for problem in decision.problems}


def test_a_state_folder_that_cannot_be_written(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asks.state.mkdir(parents=True)
    (asks.state / "asked").write_text("a file where the folder would be")
    decision = _engine(asks, monkeypatch).fire_sync(SHELL)
    assert (decision.verdict, "could not be shown to a person" in (decision.reason or "")) == ("block", True)


def test_both(asks: World) -> None:
    """An agent that can ask asks; one that cannot waits."""
    asks.config(settings("both"))
    assert '"ask"' in Call(asks, "claude").ended()[1]
    call = Call(asks, "codex")
    assert answer(asks, "allow", waiting(asks)["id"])[0] == 0
    assert call.runs()


def test_the_agent_is_asked_if_nothing_is_set(asks: World) -> None:
    asks.config("")
    assert '"ask"' in Call(asks, "claude").ended()[1]
    assert "cannot be asked here" in Call(asks, "codex").refused()


def test_for_the_rest_of_a_session(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    status, said = answer(asks, "allow", told["id"], "--session", typed=b"y\n")
    assert (status, "ask-about-ls" in said, "Allowed for this session." in said) == (0, True, True), said
    assert call.runs()
    assert [each["code"] for each in _problems(Call(asks, tool_input={"command": "ls -x"}), asks)] == [
        "allowed-for-session"
    ]
    other = Call(asks, session_id="another")
    assert answer(asks, "deny", waiting(asks)["id"])[0] == 0
    other.refused()


def _problems(call: Call, world: World) -> list[dict[str, str]]:
    assert call.ended()[0] == 0
    return list(last(world)["problems"])


def test_a_no_to_the_session_answers_nothing(asks: World) -> None:
    call = Call(asks)
    told = waiting(asks)
    assert answer(asks, "allow", told["id"], "--session", typed=b"n\n")[0] == 1
    assert waiting(asks)["id"] == told["id"]
    assert answer(asks, "deny", told["id"])[0] == 0
    call.refused()


def test_two_entries_of_one_agent_ask_once(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one waits for the answer to the first."""
    event, payload = PAYLOADS["codex"]
    given = {"session_id": "s1", "cwd": str(asks.project), "tool_use_id": "c1", **payload}
    monkeypatch.setattr(dedupe, "REMEMBERED_S", DEADLINE_S)
    monkeypatch.setattr(dedupe, "DECIDES_S", DEADLINE_S)
    monkeypatch.setitem(store.KINDS, "firings", (DEADLINE_S, *store.KINDS["firings"][1:]))
    engine, joined, real = _engine(asks, monkeypatch), threading.Event(), dedupe.Recent._holds

    def holds(self: dedupe.Recent, pid: Json) -> bool:
        found = real(self, pid)
        joined.set()
        return found

    monkeypatch.setattr(dedupe.Recent, "_holds", holds)
    said: list[Answer] = []
    both = [threading.Thread(target=lambda: said.append(engine.bridge("codex", event, given))) for _ in range(2)]
    both[0].start()
    approvals = Approvals(str(asks.state))
    (found,) = until(approvals.waiting)
    both[1].start()
    assert joined.wait(DEADLINE_S)
    assert approvals.answer(found, PersonsAnswer(allows=False, by="page", because="not now"))
    for thread in both:
        thread.join()
    assert ["not now" in answer.stdout for answer in said] == [True, True], said
    assert len(Store(str(asks.state), "asked").names()) == 1, "nothing else waited"


def test_an_edit_is_shown_as_a_diff(asks: World) -> None:
    asks.write(asks.home / "config" / "anyhook" / "hooks.toml", RULES.replace("runs ls", "writes **/*.py"))
    asks.write(asks.project / "a.py", "one = 1\ntwo = 2\n")
    given = {"file_path": str(asks.project / "a.py"), "old_string": "two = 2", "new_string": "two = 3"}
    call = Call(asks, "claude", tool_name="Edit", tool_input=given)
    told = waiting(asks)
    said = asks.command("approvals").stdout
    assert "-two = 2" in said
    assert "+two = 3" in said
    assert answer(asks, "deny", told["id"])[0] == 0
    call.refused()


def test_no_secret_is_written_down_or_sent(asks: World) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    call = Call(asks, tool_input={"command": f"ls --token {secret}"})
    told = waiting(asks)
    files = [file.read_text() for file in (asks.state / "asked").iterdir() if file.is_file()]
    assert any("ls --token" in text for text in files)
    assert not any(secret in text for text in files)
    assert answer(asks, "deny", told["id"])[0] == 0
    call.refused()


class Heard(BaseHTTPRequestHandler):
    posts: ClassVar[list[tuple[str, dict[str, str], str]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.posts.append((self.path, dict(self.headers), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def test_a_person_is_told(asks: World) -> None:
    server = HTTPServer(("127.0.0.1", 0), Heard)
    heard = Heard.posts
    heard.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    asks.config(settings(more=f'notify = ["ntfy:{place}/topic", "{place}/hook", "http://127.0.0.1:1/"]\n'))
    call = Call(asks)
    told = waiting(asks)
    until(lambda: len(heard) == 2)
    by_path = {path: (headers, body) for path, headers, body in heard}
    text = by_path["/topic"][1]
    assert LINE in text
    assert "It lists." in text
    assert f"anyhook approvals allow {told['id']}" in text
    sent = json.loads(by_path["/hook"][1])
    assert sent["text"] == text
    assert "It lists." in sent["reason"]
    assert answer(asks, "allow", told["id"])[0] == 0
    call.ended()
    (problem,) = last(asks)["problems"]
    assert (problem["code"], problem["where"]) == ("notice-failed", "http://127.0.0.1:1/")
    assert len(heard) == 2, "one each"
    server.shutdown()
    server.server_close()


SLIPS = {
    '[ask]\nwhere = "elswhere"': "ask.where", "[ask]\nwhere = 1": "ask.where", "ask = 1": "ask",
    "[ask]\nwehre = 1": "ask.wehre",
    '[ask]\nwait_s = 0': "ask.wait_s", '[ask]\nwait_s = "1"': "ask.wait_s", "[ask]\nwait_s = true": "ask.wait_s",
    '[ask]\nnotify = "desktop"': "ask.notify", '[ask]\nnotify = ["mail"]': "ask.notify",
    '[ask]\nnotify = ["ntfy:topic"]': "ask.notify", '[ask]\nnotify = ["file:///x"]': "ask.notify",
}  # fmt: skip
"""A wrong value in the settings, and the key that `check` names."""


@pytest.mark.parametrize("text", SLIPS)
def test_a_slip_leaves_the_agent_to_ask(asks: World, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    asks.config(f"{text}\n")
    [problem] = json.loads(asks.command("check", "--format", "json").stdout)["problems"]
    assert (problem["code"], f"`{SLIPS[text]}`" in problem["what"]) == ("bad-setting", True), problem
    assert _engine(asks, monkeypatch).fire_sync(SHELL).verdict == "ask"


def test_a_host_that_cannot_ask_waits(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asks.config(settings("both"))
    engine = _engine(asks, monkeypatch)
    assert engine.fire_sync(SHELL).verdict == "ask"
    thread = in_another_thread(asks, assert_taken)
    assert engine.fire_sync(SHELL, can_ask=False).verdict == "none"
    thread.join()


def test_an_input_that_is_no_object_is_not_taken() -> None:
    with pytest.raises(TypeError, match="must be a dict"):
        Event.pre_tool("Bash", "git push --force")  # type: ignore[arg-type]


@pytest.mark.slow
def test_nothing_runs_without_an_answer_whoever_is_killed(asks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 calls. Two answer each of them at the same time, and of the calls and of those who answer, one in three is
    killed at any moment."""
    engine, chance = _engine(asks, monkeypatch), random.Random(7)
    asks.write(asks.root / "ran", "")
    asks.write(asks.root / "taken", "")

    def note(name: str, text: str) -> None:
        with open(asks.root / name, "ab", buffering=0) as file:
            file.write(f"{text}\n".encode())

    def forked(work: Callable[[], None]) -> int:
        if pid := os.fork():
            return pid
        try:
            work()
        finally:
            os._exit(0)

    def call(number: int) -> None:
        if engine.fire_sync(Event.pre_tool("Bash", {"command": f"ls {number}"})).verdict == "none":
            note("ran", str(number))

    def person() -> None:
        for found in (approvals := Approvals(str(asks.state))).waiting():
            number = str(found.told["what"]).removeprefix("ls ")
            allows = int(number) % 2 == 0
            note("tried", number)  # before: this process may be killed right after its answer
            if approvals.answer(found, PersonsAnswer(allows=allows, by="terminal")):
                note("taken", number)

    asks.config(settings(wait_s=2))
    engine, approvals = _engine(asks, monkeypatch), Approvals(str(asks.state))
    for first in range(0, 1_000, 20):
        calls = [forked(partial(call, number)) for number in range(first, first + 20)]
        until(approvals.waiting)
        people = [forked(person) for _ in range(2)]
        for pid in chance.sample([*calls, *people], 7):
            os.kill(pid, signal.SIGKILL)
        for pid in (*people, forked(person), *calls):
            os.waitpid(pid, 0)
    ran, taken, tried = ((asks.root / name).read_text().split() for name in ("ran", "taken", "tried"))
    assert len(ran) == len(set(ran)), "each ran once"
    assert all(int(number) % 2 == 0 for number in ran), "only what was allowed ran"
    assert len(taken) == len(set(taken)), "nothing was answered twice"
    assert set(ran) <= set(tried), "nothing ran that nobody answered"
    assert taken, "some were answered"
