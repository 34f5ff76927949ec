"""Shell lines taken apart: which commands a line runs, where, and what cannot be known."""

from __future__ import annotations

import pytest

from anyhook.shell.loose import loose_words, plain_parts, words_read
from anyhook.shell.steps import UNKNOWN, steps

ENV = {"HOME": "/home/me", "DIR": "/d"}


def told(line: str) -> list[tuple[str | None, str]]:
    """Each command's folder and words."""
    return [(step.cwd, " ".join(step.words)) for step in steps(line, ENV, "/p")]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ls -l; cat a", [("/p", "ls -l"), ("/p", "cat a")]),
        ("A=1 rm $DIR/x ~/y '$DIR'", [("/p", "rm /d/x /home/me/y $DIR")]),
        ("cd sub && rm x", [("/p", "cd sub"), ("/p/sub", "rm x")]),
        ("cd $(pwd) && rm x", [("/p", f"cd {UNKNOWN}"), (None, "rm x"), (None, "pwd")]),
        ("sudo -n env B=2 timeout 5 rm x", [("/p", "rm x")]),
        ("sh -c 'cd /q; rm x' && rm y", [("/p", "sh -c cd /q; rm x"), ("/p", "cd /q"), ("/q", "rm x"), ("/p", "rm y")]),
        ("eval 'rm x'", [("/p", "eval rm x"), ("/p", "rm x")]),
        ("echo a b | xargs rm", [("/p", "echo a b"), ("/p", "rm a b")]),
        ("echo 'rm x' | sh", [("/p", "echo rm x"), ("/p", "sh"), ("/p", "rm x")]),
        ("bash <<E\nrm x\nE\n", [("/p", "bash"), ("/p", "rm x")]),
        ("> out", [("/p", "")]),
        ("rm a{b,c}", [("/p", "rm ab ac")]),
        ("rm /a\0b", [("/p", "rm /ab")]),
    ],
)
def test_the_commands_of_a_line(line: str, wanted: list[tuple[str | None, str]]) -> None:
    assert told(line) == wanted


def test_what_a_line_writes() -> None:
    assert [step.command.targets for step in steps("a > x 2>&1 | b >> $DIR/y", ENV, "/p")] == [("x",), ("/d/y",)]


def test_shells_in_shells_have_an_end() -> None:
    assert [step.name for step in steps("eval 'eval x'", ENV, "/p")] == ["eval", "eval", "x"]
    assert len(list(steps("eval " * 100 + "x", ENV, "/p"))) < 100


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("git push && A=1 B= ls -l", ["git push", "ls -l"]),
        ("a|b;c&d\ne", ["a", "b", "c", "d", "e"]),
        ("echo $(rm x)", None), ("echo `rm x`", None), ("cat <(rm x)", None),
    ],
)  # fmt: skip
def test_the_parts_of_a_line_as_text(line: str, parts: list[str] | None) -> None:
    assert plain_parts(line) == parts


def test_words_that_are_only_written_are_left_out() -> None:
    assert loose_words("a 'b c'>d; e") == ["a", "b c", ">", "d", ";", "e"]
    assert words_read("a b > c 2>>d < e") == ["a", "b", ">", "2", ">>", "<", "e"]
    assert loose_words("a 'b") == ["a", "'b"]
