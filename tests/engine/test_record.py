"""Record, as a table: what the journal keeps of an event, by the contract and by docs/journal.md. Each part has a line
with the answer that the host got, and no line has a secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from step_box import hook_of

from anyhook.journal.journal import Recorder
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision, Report, Texts
from anyhook.model.event import Event
from anyhook.model.firing import Firing, HookRun, Part
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

HOOK = hook_of("kodik", "pre_tool")
SHELL = Event.pre_tool("Bash", {"command": "ls"})
REPORT = Report(HOOK.id, HOOK.name, "kodik", "user", "/f", "ran", verdict="block")
BLOCKED = Decision(
    "pre_tool", "block", "deny_tool", "no", HOOK.id, hooks=(REPORT,),
    problems=(Problem("hook-failed", "it failed", "/f", "why", "fix"),),
)  # fmt: skip
SAID = Run("exited", 2, b"", b"no", 1_700_000_000_000_000_000, 0.25)


def ran(run: Run | None = SAID) -> HookRun:
    call = Call(("/bin/sh", "-c", "exit 2"), b"{}", {"PATH": "/bin", "MINE": "1"}, "/p", 1.0, "")
    return HookRun(HOOK, call, "native", run=run)


def written(world: World, firing: Firing, settings: dict[str, Json] | None = None) -> list[dict[str, Any]]:
    """The lines for one event."""
    recorder = Recorder(world.env, "/p", "claude", "s-1", firing.mode, settings or {}, one_shot=True)
    told = recorder.write(firing)
    assert told == firing.decision, "what was decided counts, written down or not"
    recorder.close()
    return world.journal()


def one(event: Event = SHELL, decision: Decision = BLOCKED, *runs: HookRun, mode: Any = "enforce") -> Firing:
    return Firing((Part(event, decision, runs),), decision, mode)


def test_the_fields_of_the_contract(world: World) -> None:
    (line,) = written(world, one(SHELL, BLOCKED, ran()))
    assert isinstance(line["at"], int)
    assert (line["event"], line["host"], line["project"], line["session"]) == ("pre_tool", "claude", "/p", "s-1")
    assert line["data"] == {"tool": "Bash", "input": {"command": "ls"}}
    decision = line["decision"]
    assert (decision["verdict"], decision["effect"], decision["reason"]) == ("block", "deny_tool", "no")
    assert [(hook["id"], hook["status"], hook["verdict"]) for hook in decision["hooks"]] == [(HOOK.id, "ran", "block")]
    assert decision["problems"] == [
        {"code": "hook-failed", "what": "it failed", "where": "/f", "why": "why", "fix": "fix"}
    ]
    (call,) = line["calls"]
    assert (call["hook"], call["argv"], call["cwd"]) == (HOOK.id, ["/bin/sh", "-c", "exit 2"], "/p")
    assert call["env"] == ["MINE"], "the names of its own variables, and no values"
    assert (call["run"]["ending"], call["run"]["exit_code"], call["run"]["stderr"]) == ("exited", 2, "no")


def test_a_hook_in_the_background_has_no_run_yet(world: World) -> None:
    (line,) = written(world, one(SHELL, Decision("pre_tool"), ran(None)))
    assert [call["run"] for call in line["calls"]] == [None]


def test_what_is_only_watched(world: World) -> None:
    (line,) = written(world, one(SHELL, BLOCKED.replace(enforced=False), ran(), mode="shadow"))
    assert (line["mode"], line["decision"]["verdict"], line["decision"]["enforced"]) == ("shadow", "block", False)


def test_an_event_names_its_own_session(world: World) -> None:
    (line,) = written(world, one(Event.stop(session="s-2"), Decision("stop")))
    assert line["session"] == "s-2"


def test_every_part_has_a_line_and_the_deciding_one_what_the_host_was_told(world: World) -> None:
    other = Event.pre_tool("Bash", {"command": "rm"})
    quiet, told = Decision("pre_tool"), BLOCKED.replace(reason="rm: no")
    firing = Firing((Part(SHELL, quiet), Part(other, BLOCKED, (ran(),))), told, deciding=1)
    first, second = written(world, firing)
    assert (first["data"]["input"], second["data"]["input"]) == ({"command": "ls"}, {"command": "rm"})
    assert (first["decision"]["verdict"], second["decision"]["reason"]) == ("none", "rm: no")
    assert "own" not in first
    assert (second["own"]["verdict"], second["own"]["reason"]) == ("block", "no"), "and what its hooks alone decided"


SECRET = "sk-hush-0123456789"
PLACES: list[tuple[str, Firing]] = [
    ("the tool's input", one(Event.pre_tool("Bash", {"command": f"curl -H {SECRET}"}), Decision("pre_tool"))),
    ("deep in JSON in JSON", one(Event.pre_tool("Bash", {"a": [json.dumps({"b": SECRET})]}), Decision("pre_tool"))),
    ("the tool's output", one(Event.post_tool("Bash", {}, {"out": SECRET}), Decision("post_tool"))),
    ("the prompt", one(Event.user_prompt_submit(SECRET), Decision("user_prompt_submit"))),
    ("stdout", one(SHELL, Decision("pre_tool"), ran(SAID.replace(stdout=SECRET.encode())))),
    ("stderr", one(SHELL, Decision("pre_tool"), ran(SAID.replace(stderr=f"no {SECRET}".encode())))),
    ("the reason", one(SHELL, BLOCKED.replace(reason=SECRET))),
    ("a rewrite", one(SHELL, Decision("pre_tool", tool_input={"command": SECRET}))),
    ("context", one(SHELL, Decision("pre_tool", context=Texts([SECRET])))),
    ("messages", one(SHELL, Decision("pre_tool", messages=Texts([SECRET])))),
    ("a problem", one(SHELL, Decision("pre_tool", problems=(Problem("c", f"w {SECRET}", "/f", SECRET),)))),
    ("argv", one(SHELL, Decision("pre_tool"), ran().replace(call=ran().call.replace(argv=("x", SECRET))))),
    ("the session", one(Event.stop(session=SECRET), Decision("stop"))),
]  # fmt: skip


@pytest.mark.parametrize("bodies", ["full", "hashed", "none"])
def test_no_secret_of_the_environment_wherever_it_stands(world: World, bodies: str) -> None:
    world.env["SERVICE_API_KEY"] = SECRET
    for _, firing in PLACES:
        written(world, firing, {"bodies": bodies})
    lines = (world.state / "journal.jsonl").read_text().splitlines()
    assert [place for (place, _), line in zip(PLACES, lines, strict=True) if SECRET in line] == []
    if bodies == "full":
        kept = [place for (place, _), line in zip(PLACES, lines, strict=True) if "[SERVICE_API_KEY]" not in line]
        assert kept == [], "the variable's name stands there instead"


def test_a_token_is_known_by_its_format(world: World) -> None:
    token = "ghp_" + "a1B2" * 9
    (line,) = written(world, one(Event.pre_tool("Bash", {"command": f"git push {token}"}), Decision("pre_tool")))
    assert token not in json.dumps(line)
    assert "[redacted]" in line["data"]["input"]["command"]


BODIES = ["a-long-private-text", "and-another-one"]


def test_payloads_may_be_left_out(world: World) -> None:
    event = Event.post_tool("Bash", {"command": BODIES[0]}, BODIES[1])
    decision = Decision("post_tool", "block", "feedback", BODIES[0], HOOK.id, context=Texts([BODIES[1]]))
    firing = one(event, decision, ran(SAID.replace(stdout=BODIES[0].encode())))
    for bodies in ("hashed", "hashed", "none"):
        written(world, firing, {"bodies": bodies})
    text = (world.state / "journal.jsonl").read_text()
    assert [body for body in BODIES if body in text] == []
    first, second, third = world.journal()
    assert [line["bodies"] for line in (first, second, third)] == ["hashed", "hashed", "none"]
    assert first["data"]["input"] == second["data"]["input"], "one sees that two are the same"
    assert {*first["data"]["input"]} == {"blake2b", "bytes"}
    assert "input" not in third["data"]
    assert {(line["decision"]["verdict"], line["data"]["tool"]) for line in (first, third)} == {("block", "Bash")}


def test_what_is_not_json_costs_no_line(world: World) -> None:
    (line,) = written(world, one(Event.stop(last_message={1, 2}), Decision("stop")))  # type: ignore[arg-type]
    assert (line["event"], line["data"]) == ("stop", {})
    assert line["lost"]


def test_a_journal_that_cannot_be_written_changes_no_decision(world: World, tmp_path: Path) -> None:
    world.write(world.state, "a file where the folder should be")
    recorder = Recorder(world.env, "/p", "claude", "s-1", "enforce", {}, one_shot=True)
    told = recorder.write(one())
    assert (told.verdict, told.reason) == ("block", "no")
    assert [problem.code for problem in told.problems] == ["hook-failed", "journal-failed"]
    again = recorder.write(one())
    assert [problem.code for problem in again.problems] == ["hook-failed"], "said once"
