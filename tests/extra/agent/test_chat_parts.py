"""Parts of the chat that need no terminal: reports of what hooks did, lasting answers, hook drafts in every dialect,
and approvals of exactly what was shown."""

from __future__ import annotations

import asyncio
import hashlib
import io
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from anyhook.cli.verb_trust import ProjectReview, approve_one
from anyhook.extra.agent.chat.activity import lines
from anyhook.extra.agent.chat.commands import is_command, past_sessions
from anyhook.extra.agent.chat.loop import Chat
from anyhook.extra.agent.chat.new_hook import Draft, check_draft, write_hook
from anyhook.extra.agent.chat.screen import Screen, call_line
from anyhook.extra.agent.permission import ALWAYS, NO, ONCE, Permission
from anyhook.extra.agent.session import BLOCKED, TurnResult
from anyhook.extra.agent.settings import Failed
from anyhook.extra.agent.undo import Snapshots
from anyhook.extra.frameworks.pydantic_ai import Hooked
from anyhook.extra.testing.hook_script import Lang, Script, brief, text
from anyhook.gates.review import review
from anyhook.model.decision import Decision, Report
from anyhook.state.conversations import Conversation, Conversations
from anyhook.state.ledger import Item, Ledger
from anyhook.tables.registry import DIALECTS, dialect
from conftest import World
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import OwnScope

GUARD = Report("kodik:user:PreToolUse:guard", "guard", "kodik", "user", "hooks.json", "ran")

OTHER = GUARD.replace(id="kodik:user:PreToolUse:other", name="other")


@each_of(
    ("decided", "said"),
    [
        ({}, []),
        (
            {"verdict": "block", "effect": "deny_tool", "reason": "Never.", "hook": GUARD.id},
            ["hook guard denied the tool (pre_tool): Never."],
        ),
        (
            {"verdict": "block", "effect": "advisory", "hook": "gone"},
            ["hook gone objects, which stops nothing here (pre_tool)"],
        ),
        (
            {
                "verdict": "block",
                "effect": "keep_working",
                "reason": "Test it.",
                "hook": GUARD.id,
                "context": ("[stop hook] Test it.",),
            },
            ["hook guard keeps the agent working (pre_tool): Test it."],
        ),
        (
            {"verdict": "block", "effect": "deny_tool", "hook": GUARD.id, "tool_input": {}, "context": ("a",)},
            ["hook guard denied the tool (pre_tool)", "hook guard added context (pre_tool)"],
        ),
        (
            {"verdict": "block", "effect": "deny_tool", "hook": GUARD.id, "context": ("a",), "hooks": (GUARD, OTHER)},
            ["hook guard denied the tool (pre_tool)", "hook other added context (pre_tool)"],
        ),
        ({"tool_input": {"command": "ls"}}, ["hook guard rewrote the input (pre_tool)"]),
        (
            {"verdict": "block", "effect": "deny_tool", "hook": GUARD.id, "tool_input": {"command": "never run"}},
            ["hook guard denied the tool (pre_tool)"],
        ),
        ({"context": ("a",), "prompt": "b"}, ["hook guard rewrote the prompt, added context (pre_tool)"]),
        ({"verdict": "ask", "reason": "Sure?"}, ["hook guard wants you to be asked (Sure?) (pre_tool)"]),
        ({"verdict": "allow", "end_turn": True}, ["hook guard allowed it, ended the turn (pre_tool)"]),
        (
            {"verdict": "block", "effect": "skip", "hook": GUARD.id, "enforced": False},
            ["hook guard skipped it (pre_tool, shadow mode)"],
        ),
    ],
)
def test_what_hooks_did(decided: dict[str, Any], said: list[str]) -> None:
    assert [line for _, line in lines(Decision("pre_tool", **{"hooks": (GUARD,), **decided}))] == said


def test_a_line_for_a_call() -> None:
    assert call_line("shell", {"command": "ls", "timeout_seconds": 5}) == "shell  ls  timeout_seconds=5"
    assert call_line("list_files", {}) == "list_files"
    assert Screen.fitted("  1\tx = 2") == "  1 x = 2", "a tab is a blank, not an escape"
    assert call_line("write_file", {"path": "a", "content": "x" * 100}).endswith(f"content={'x' * 60}…")


def test_results_of_tools_that_run_at_once_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(False, {})
    for tool in ("list_files", "shell"):
        screen.stream(FunctionToolCallEvent(ToolCallPart(tool, {}, tool_call_id=tool)))
    for tool in ("list_files", "shell"):
        screen.stream(FunctionToolResultEvent(ToolReturnPart(tool, "some text", tool_call_id=tool)))
    screen.stream(FunctionToolCallEvent(ToolCallPart("shell", {}, tool_call_id="3")))
    screen.stream(FunctionToolResultEvent(ToolReturnPart("shell", "its own", tool_call_id="3")))
    shown = "● list_files\n● shell\n  list_files: some text\n  shell: some text\n● shell\n  its own\n"
    assert capsys.readouterr().out == shown


def test_an_image_of_a_tool_is_named_and_not_spelled_out(capsys: pytest.CaptureFixture[str]) -> None:
    screen, image = Screen(False, {}), BinaryContent(bytes(1500), media_type="image/png")
    for content in (image, ["Here it is:", image]):
        screen.stream(FunctionToolCallEvent(ToolCallPart("shot", {}, tool_call_id="1")))
        screen.stream(FunctionToolResultEvent(ToolReturnPart("shot", content, tool_call_id="1")))
    shown = "● shot\n  [image/png, 1,500 bytes]\n● shot\n  Here it is:\n  [image/png, 1,500 bytes]\n"
    assert capsys.readouterr().out == shown


def test_a_model_that_writes_no_hook() -> None:
    """Our own message says what the model should have written. The framework's message is about retries."""

    def chatter(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("I would rather not.")])

    with pytest.raises(Failed, match="asked 3 times, and its answers were not a draft"):
        asyncio.run(write_hook(FunctionModel(chatter), "", "refuse pushes", lambda draft: []))


@each_of(
    ("line", "command"),
    [("/help", True), ("/greet a/b", True), ("/etc/hosts is broken", False), ("and/or", False), ("", False)],
)
def test_commands_and_paths(line: str, command: bool) -> None:
    assert is_command(line) is command


def test_a_project_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(False, {})
    screen.line("said \x1b[2J\x07")
    assert capsys.readouterr().out == "said \\x1b[2J\\x07\n"
    with screen.hold():
        screen.line("meanwhile")
        assert "meanwhile" not in capsys.readouterr().out
    screen.line(screen.fitted("a\nb\x1b]0;title\x07"))
    assert capsys.readouterr().out == "meanwhile\na\\nb\\x1b]0;title\\x07\n"


def test_a_terminal_that_lacks_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is lost because of a character that cannot be printed. Surrogates are escaped too."""
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1"))
    Screen(True, {}).line("● \udcff café", "red")
    assert written.getvalue() == b"\x1b[31m\\u25cf \\udcff caf\xe9\x1b[0m\n"


# -- permission


def test_one_answer_for_all_calls_of_a_step(world: World) -> None:
    """Tools run in parallel. A person who says `always` is asked once, and asked again if a hook has doubts."""
    asked: list[tuple[str, bool]] = []

    async def ask(tool: str, given: dict[str, Any], reason: str, *, lasting: bool) -> str:
        asked.append((tool, lasting))
        await asyncio.sleep(0)
        return ALWAYS if tool == "shell" else NO

    async def all_at_once() -> list[object]:
        gate, hooked = Permission("ask", ask), Hooked(world.engine())
        calls = [gate.refuses(hooked, tool, {}, "1") for tool in ("shell", "shell", "write_file", "read_file")]
        answers: list[object] = await asyncio.gather(*calls)
        return [*answers, await gate.confirms(hooked, "shell", {}, "Sure?")]

    assert asyncio.run(all_at_once()) == [None, None, "the user said no", None, True]
    assert asked == [("shell", True), ("write_file", True), ("shell", False)]


def test_a_yes_for_once(world: World) -> None:
    asked: list[str] = []

    async def ask(tool: str, given: dict[str, Any], reason: str, *, lasting: bool) -> str:
        asked.append(tool)
        return ONCE

    async def twice() -> None:
        gate, hooked = Permission("ask", ask), Hooked(world.engine())
        assert await gate.refuses(hooked, "shell", {}, "1") is None
        assert await gate.refuses(hooked, "shell", {}, "2") is None

    asyncio.run(twice())
    assert asked == ["shell", "shell"]


# -- hooks from descriptions


SCOPES = [
    (name, scope)
    for name in DIALECTS
    for scope in ("project", "user")
    if (made := dialect(name).scaffold) and made.shape != "rules" and scope in made.scripts
]


@pytest.mark.parametrize("lang", ["bash", "python"])
@pytest.mark.parametrize(("name", "scope"), SCOPES)
def test_a_draft_in_every_dialect(world: World, name: str, lang: Lang, scope: OwnScope) -> None:
    """What `anyhook new` would write is a valid draft in every scope, and leaves nothing behind."""
    table = dialect(name)
    row = next(row for row in table.events if row.block == "deny_tool")
    sample = {field.key: {"command": "ls"} if field.cell == "input" else "x" for field in row.payload}
    written = text(Script("it", table, row), lang)
    draft = Draft(name="it", event=row.native, lang=lang, script=written, explanation="", sample=sample)
    tried = check_draft(draft, table, world.setup(), scope)
    assert (tried.errors, tried.warnings) == ([], [])
    assert any(name in line for line in tried.explained)
    assert not any("anyhook-" in line for line in tried.explained)
    assert list(world.project.iterdir()) == []
    assert row.native in brief(table)
    assert written.splitlines()[-1] in brief(table)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "../up"}, "is not a valid name for a hook"),
        ({"event": "PreToolUze"}, "Did you mean `PreToolUse`?"),
        ({"tool": "("}, "--tool ("),
        ({"lang": "python", "script": "#!/usr/bin/env python3\nif\n"}, "not valid Python"),
        ({"script": "#!/usr/bin/env bash\nfi\n"}, "not valid bash"),
        ({"script": "exit 0\n"}, "first line"),
        ({"script": "#!/nowhere/bash\nexit 0\n"}, "/nowhere/bash"),
        ({"sample": {"tool_name": "Read"}}, "would not run"),
        ({"sample": {"tool_name": "Bash", "tool_input": "ls"}}, "must be a JSON object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_drafts_with_faults(world: World, wrong: dict[str, Any], said: str) -> None:
    good: dict[str, Any] = {
        "name": "it", "event": "PreToolUse", "tool": "Bash", "lang": "bash", "explanation": "",
        "script": "#!/usr/bin/env bash\nexit 0\n", "sample": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    }  # fmt: skip
    assert check_draft(Draft(**good), dialect("kodik"), world.setup(), "project").errors == []
    errors = check_draft(Draft(**{**good, **wrong}), dialect("kodik"), world.setup(), "project").errors
    assert said in "; ".join(errors)


# -- approvals


def look(world: World) -> ProjectReview:
    from anyhook.engine.catalog import open_ledger, read

    setup = world.setup()
    loaded = read(setup)
    tables = [(dialect(name), loaded.layers[name]) for name in setup.dialects]
    ledger = open_ledger(setup, loaded.files)
    return ProjectReview(setup, ledger, review(tables, ledger, loaded.roots, loaded.files), [])


def test_one_hook_more_is_approved(world: World) -> None:
    """Approve one hook exactly as it was shown, and nothing else. Answers about other hooks stay."""
    paths = {}
    for name in ("first", "second", "third"):
        path = world.write(world.project / f"{name}.sh", "#!/bin/sh\n", 0o755)
        paths[name] = {str(path.resolve()): b"#!/bin/sh\n"}
        world.hook("kodik", "Stop", f'"$KODIK_PROJECT_ROOT"/{name}.sh', "project")
    ids = {name: f"kodik:project:Stop:{name}.sh" for name in paths}
    assert approve_one(look(world), ids["first"], paths["first"])
    assert approve_one(look(world), ids["second"], paths["second"])
    assert {entry.item.id: entry.status for entry in look(world).entries} == {
        ids["first"]: "approved", ids["second"]: "approved", ids["third"]: "new",
    }  # fmt: skip
    found = look(world)
    world.write(world.project / "third.sh", "#!/bin/sh\nrm -rf ~\n", 0o755)
    assert not approve_one(look(world), ids["third"], paths["third"])
    assert not approve_one(found, "kodik:project:Stop:none", {})
    assert approve_one(found, ids["third"], paths["third"])  # as it was when `look` read it
    assert {entry.item.id: entry.status for entry in look(world).entries}[ids["third"]] == "changed"


def test_a_no_is_kept(world: World) -> None:
    state, files = str(world.state), {"/x": hashlib.sha256(b"x").hexdigest()}
    one, other = Item("a", "{}", files), Item("b", "{}", {})
    Ledger(state).decline("/p", [one, other])
    assert Ledger(state).has_declined("/p", [other, one])
    assert not Ledger(state).has_declined("/p", [one])
    assert not Ledger(state).has_declined("/p", [one.replace(definition="{} "), other])
    assert not Ledger(state).has_declined("/q", [one, other])
    Ledger(state).approve("/q", [one], {})
    assert Ledger(state).has_declined("/p", [one, other])
    Ledger(state).revoke("/p")
    assert not Ledger(state).has_declined("/p", [one, other])
    Ledger(state).decline("/q", [other])
    assert Ledger(state).items("/q") == {"a": one}
    Ledger(state).approve("/q", [one, other], {})
    assert not Ledger(state).has_declined("/q", [other])


# -- earlier sessions


def test_earlier_sessions(world: World) -> None:
    """Sessions that cannot be read are left out."""
    kept = Conversations(str(world.state), str(world.project))
    said: dict[str, Any] = {"part_kind": "user-prompt", "content": "Say\n  hello."}
    kept.save(Conversation("one", str(world.project), "m", 2, (), [{"kind": "request", "parts": [said]}]))
    kept.save(Conversation("odd", str(world.project), "m", 1, (), [{"kind": "nonsense"}]))
    world.write(Path(kept.path("broken")), "{")
    assert [(each.id, each.turns, each.began) for each in past_sessions(kept)] == [("one", 2, "Say hello.")]


def test_a_turn_that_ended_without_a_reason() -> None:
    """A missing reason is not shown as `None`."""
    shown: list[str] = []

    async def work(_turn: object) -> TurnResult:
        return TurnResult(stop=BLOCKED)

    screen = SimpleNamespace(prose=lambda text, _style: shown.append(text))
    chat: Any = SimpleNamespace(work=work, session=None, screen=screen, snapshots=Snapshots("/", "/nowhere", {}))
    turn = work(None)
    asyncio.run(Chat.take_turn(chat, turn))
    turn.close()
    assert shown == ["A hook ended the turn: it gave no reason"]
