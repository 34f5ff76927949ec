"""Lines of the chat: sentences wrap between words, things to approve are named, and errors keep their own text."""

from __future__ import annotations

import asyncio
import json
from io import StringIO
from typing import TYPE_CHECKING, Any, cast

import pytest
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from anyhook.cli.view.review_text import brief_lines
from anyhook.cli.view.text import wrapped
from anyhook.documents.files import Files
from anyhook.engine.catalog import open_ledger
from anyhook.extra.agent import models
from anyhook.extra.agent.chat import keyboard
from anyhook.extra.agent.chat.approval import counted, outline_lines
from anyhook.extra.agent.chat.screen import Screen
from anyhook.extra.agent.content import review_offers
from anyhook.extra.agent.status_line import WIPE, StatusLine
from anyhook.extra.frameworks.messages import last_size
from anyhook.state.plans import Setup

if TYPE_CHECKING:
    from conftest import World


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("  indented  words", 12, ["  indented ", "words"]),
        ("漢字 漢字 漢字", 9, ["漢字 漢字", "漢字"]),
        ("/a/path/longer/than/that x", 10, ["/a/path/longer/than/that", "x"]),
        ("", 10, [""]),
    ],
)
def test_sentences_break_between_words(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines
    assert " ".join(lines) == text, "nothing is lost"


def test_a_sentence_hangs_below_its_beginning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    Screen(False, {}).prose("/hooks  List the hooks of this chat, and those that wait.", indent="  ", hang=" " * 8)
    assert capsys.readouterr().out.splitlines() == [
        "  /hooks  List the hooks of this chat,",
        "          and those that wait.",
    ]


class _Tty(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "shown"), [(30, "Some words about what it does"), (20, "Some words about w…")])
def test_a_status_that_does_not_fit_says_so(monkeypatch: pytest.MonkeyPatch, columns: int, shown: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = _Tty()
    StatusLine(terminal, {"TERM": "xterm", "NO_COLOR": "1"}).hint("Some words about what it does")
    assert terminal.getvalue() == f"{WIPE}{shown}\r"


def test_each_kind_of_thing_to_approve_has_its_name_in_one_line(world: World) -> None:
    """The name of an interpreter alone says nothing about a server."""
    spec = {"command": "python3", "args": ["-m", "clock"]}
    world.write(world.project / ".mcp.json", json.dumps({"mcpServers": {"time": spec}}))
    world.write(world.project / ".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: r\n---\n")
    setup = Setup.of(str(world.project), world.env)
    entries, _, _ = review_offers(setup, open_ledger(setup, Files()))
    assert (counted(entries), counted(entries[:1])) == ("2 things", "a thing")
    server, agent = brief_lines(entries, 2)
    assert server.split() == ["mcp", "time", "(python3", '["-m",', '"clock"])']
    assert agent.split()[:2] == ["subagent", "reviewer"]


def test_what_is_approved_is_cut_only_if_the_screen_is_full(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    said = "a word or two about what this server does when it is called"
    spec = {"command": "python3", "args": [*said.split()]}
    world.write(world.project / ".mcp.json", json.dumps({"mcpServers": {"time": spec}}))
    setup = Setup.of(str(world.project), world.env)
    entries, _, _ = review_offers(setup, open_ledger(setup, Files()))
    whole = outline_lines(entries, 50, 40)
    assert json.dumps(said.split()) in " ".join(" ".join(whole).split())
    assert max(map(len, whole[:5])) <= 50
    cut = outline_lines(entries, 50, 6)
    assert (len(cut) <= 6, any("…" in line for line in cut)) == (True, True)


def test_a_connection_that_fails_is_named_while_it_is_tried_again() -> None:
    class Endpoint:
        base_url = "http://127.0.0.1:9/v1"

    error = ModelConnectionError("m", "Connection error.")
    error.__cause__ = OSError(111, "Connection refused")
    line = models.Pause(error, cast("Any", Endpoint()), 0, 1.0).line()
    assert line == (
        "No connection to http://127.0.0.1:9/v1 (Connection error: [Errno 111] Connection refused). "
        "Trying again in 1 s (1 of 4)."
    )


def test_an_answer_that_broke_off_says_nothing_about_the_context() -> None:
    whole = ModelResponse(parts=[TextPart("All.")], usage=RequestUsage(input_tokens=900, output_tokens=100))
    assert last_size([whole, ModelResponse(parts=[TextPart("A")])]) == 1000


def test_a_question_breaks_between_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line has room for the answer, even in a narrow terminal."""
    asked: list[str] = []

    async def typed(_session: object, message: str) -> str:
        asked.append(message)
        return " Y\n"

    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(keyboard, "_typed", typed)
    keys = keyboard.Keyboard(str(world.state / "history"), colour=False, beside=str)
    assert asyncio.run(keys.answer("Allow it? [y]es, [a]lways in this session, [N]o:", "  ")) == "y"
    assert asked == ["  Allow it? [y]es,\n  [a]lways in this\n  session, [N]o: "]
