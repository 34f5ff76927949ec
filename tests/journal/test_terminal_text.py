"""`log`, `explain` and `stats` as a person sees them: in terminals of any width, with and without colour, in ASCII."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from journal_box import Box, made
from rich.cells import cell_len
from terminal_box import Terminal

from anyhook.cli.view.rows import row_of
from anyhook.cli.view.text import cut, cut_middle, padded
from anyhook.journal.read import JournalLine
from conftest import World
from each_of import each_of

WIDE = "日本語の理由: 作業ディレクトリの外には書き込めません"
LONG = "agenthooks:project:a-hook-with-a-long-name-that-ends-in-guard"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def blocked(reason: str, hook: str = "kodik:user:guard", command: str = "rm -rf build") -> dict[str, Any]:
    decision = {"verdict": "block", "hook": hook, "reason": reason, "enforced": True, "hooks": []}
    data = {"tool": "Bash", "input": {"command": command}, "prompt": command}
    return made(hooks=[(hook, "block", 0.01, "exited")], data=data, decision=decision)


def printed(world: World, *words: str, columns: int, **env: str) -> str:
    ended, said = ended_with(world, *words, columns=columns, **env)
    assert ended == 0, said
    return said


def ended_with(world: World, *words: str, columns: int, **env: str) -> tuple[int, str]:
    terminal = Terminal(world, *words, columns=columns, env=env)
    return terminal.end(), terminal.said.replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_longer_than_the_terminal(world: World, box: Box, columns: int) -> None:
    """Cut text is marked as cut. The reason for a block gets its own line if it does not fit next to it."""
    box.write(blocked("not for agents"), blocked(WIDE * 4), made(hooks=[(LONG, "none", 2.0, "timed_out")]), made())
    for verb in ("log", "stats"):
        lines = printed(world, verb, columns=columns, NO_COLOR="1").splitlines()
        assert max(map(cell_len, lines)) <= columns, lines
    log = printed(world, "log", columns=columns, NO_COLOR="1")
    assert log.count("✗ block") == 2
    assert "作業" in log or columns == 40
    assert log.count("…") >= 1
    assert "not for" in log or columns == 40
    stats = printed(world, "stats", columns=columns, NO_COLOR="1")
    assert all(word in stats for word in ("runs", "waited", "guard")), "the end of a name tells it from others"
    assert ("p50" in stats, "█" in stats) == (columns == 200, columns > 40)


def test_sentences_break_between_words(world: World) -> None:
    """At a terminal; and the verdict is red there."""
    assert world.command("add", "git", "--yes").returncode == 0
    given = json.dumps({"command": "git push --force"})
    for words in (
        ("try", "git push --force"), ("rule", "git/forced-push"), ("status",),
        ("fire", "pre_tool", "--tool", "Bash", "--input", given),
    ):  # fmt: skip
        lines = ended_with(world, *words, columns=80)[1].splitlines()
        plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
        assert [line for line in plain if cell_len(line) > 80 and " " in line.strip()] == []
        assert any(re.search(r"\x1b\[31m(?:refused by|pre_tool: block)", line) for line in lines) == (
            words[0] in ("try", "fire")
        )


def test_a_pipe_gets_all_but_the_end_of_a_long_reason(box: Box) -> None:
    """`anyhook explain` has it whole."""
    box.write(made(data={"tool": "Bash", "input": {"command": "y" * 500}}), blocked("x" * 500))
    _, out, _ = box.call("log")
    assert f"pre_tool Bash  {'y' * 500}\n" in out
    assert re.search(r"pre_tool Bash  rm -rf build  kodik:user:guard: x{200,240}…\n$", out)
    assert "x" * 500 in box.call("explain", "refusal")[1]
    assert out.isascii() is False
    assert "\x1b" not in out


def test_colours_only_where_they_are_wanted(world: World, box: Box) -> None:
    """Without colour, the text is the same."""
    box.write(blocked("no"))
    with_colours = printed(world, "log", columns=120)
    assert "\x1b[31m✗ block" in with_colours
    without = printed(world, "log", columns=120, NO_COLOR="1")
    assert without == re.sub(r"\x1b\[\d*m", "", with_colours)
    assert printed(world, "log", columns=120, TERM="dumb") == without


@pytest.mark.parametrize("env", [{"LANG": "C"}, {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}])
def test_in_ascii_where_no_more_is_known(world: World, box: Box, env: dict[str, str]) -> None:
    box.write(blocked("no " * 99, hook="dear"), made(hooks=[("cheap", "none", 0.001, "exited")]))
    for verb in ("log", "stats"):
        said = printed(world, verb, columns=130, NO_COLOR="1", **env)
        assert said.isascii(), said
    assert "####" in said


def test_what_was_recorded_stays_what_it_was(world: World, box: Box) -> None:
    box.write(made(data={"tool": "Bash", "input": {"command": "echo ✓ …"}}))
    assert "echo \\u2713 \\u2026" in printed(world, "log", columns=100, LANG="C")
    assert "echo ✓ …" in printed(world, "log", columns=100, LANG="C.UTF-8")


def test_others_languages_stay(world: World, box: Box) -> None:
    box.write(blocked(WIDE))
    assert WIDE in printed(world, "log", columns=200, LANG="C")
    assert "✗" in printed(world, "log", columns=200, LANG="C.UTF-8")


def test_a_flood_is_cut_in_explain(box: Box) -> None:
    record = made(hooks=[("a", "none", 1.5, "exited")])
    record["calls"][0]["run"]["stdout"] = "y" * 250_000
    box.write(record)
    _, out, _ = box.call("explain", "1")
    assert max(map(len, out.splitlines())) < 500
    assert "y… (250,000 characters)" in out
    assert "end     exited, status 0, 1.5 s\n" in out
    assert re.match(r"record 1, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z+]", out), "with the time zone"


def told(**more: Any) -> tuple[str, str, str]:
    row = row_of(JournalLine(b"", made(**more)))
    return row.about, row.hook, row.reason


def test_what_a_row_is_about() -> None:
    """A row shows the first text of the input or the prompt, the hook that failed and how, and what was changed."""
    assert told(data={"tool": "T", "input": {"n": 1, "path": "a  b\nc", "text": "x"}})[0] == "a b c"
    assert told(data={"tool": "T", "input": "text"})[0] == "text"
    assert told(data={"prompt": "do it"})[0] == "do it"
    assert told(data={"tool": "T", "input": {"blake2b": "9f"}}, bodies="hashed")[0] == "", (
        "a hash tells nobody anything"
    )
    assert told(data={}) == ("", "", "")
    hooks = [("fine", "none", 0.1, "exited"), ("slow", "none", 0.1, "timed_out")]
    assert told(hooks=hooks)[1:] == ("slow", "failed: timed out")
    decision = {"verdict": "none", "tool_input": {}, "context": ["x"], "hooks": [{"id": "a", "status": "ran"}]}
    assert told(decision=decision)[1:] == ("a", "rewrote the input, added context")
    untrusted = {"verdict": "none", "hooks": [{"id": "a", "status": "untrusted"}, {"id": "b", "status": "unmatched"}]}
    assert told(decision=untrusted)[1:] == ("a", "OFF: not approved")
    both = {"verdict": "none", "hooks": [{"id": "a", "status": "ran"}, {"id": "b", "status": "untrusted"}]}
    assert told(decision=both)[2] == "OFF: b not approved", "a hook that waits is shown beside one that ran"


@each_of("text", ["", "plain", WIDE, "e\u0301e\u0301e\u0301", "👩🏽 ok", "mixed 日本 e\u0301 text"])
@each_of("room", [0, 1, 2, 5, 9, 100])
def test_widths(text: str, room: int) -> None:
    for made_to_fit in (cut(text, room), cut_middle(text, room)):
        assert cell_len(made_to_fit) <= room
        assert made_to_fit == text or not room or "…" in made_to_fit
    assert cell_len(padded(text, 200)) == 200


def test_no_line_of_theirs_looks_like_one_of_ours(world: World, box: Box) -> None:
    box.write(blocked("no\ndecision  allow\n  ✗ x", command="a\nhooks"))
    _, out, _ = box.call("explain", "1")
    assert [line.split("  ")[0] for line in out.splitlines() if line.strip() and line[0] != " "] == [
        out.splitlines()[0], "no hook was considered", "decision",
    ]  # fmt: skip
    said = printed(world, "explain", "1", columns=100)
    assert "\x1b[31mdecision  block, by kodik:user:guard\x1b[0m\n" in said
    assert said.count("\x1b[31m") == 1
