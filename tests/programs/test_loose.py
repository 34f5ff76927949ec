"""The words of a command, without the grammar."""

from __future__ import annotations

from anyhook.programs.loose import argv_read, loose_words, plain_parts, words_read
from each_of import each_of


@each_of(
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


@each_of(
    ("command", "made"),
    [
        ("F=~/x.sh; sh $F", "~/x.sh"),
        ("$(git rev-parse --show-toplevel)/.claude/a.sh", "$(git rev-parse --show-toplevel)/.claude/a.sh"),
        ("sh $(dirname $0)/b.sh", "$_/b.sh"),
        ("cat {a,b}.sh", "b.sh"),
        ("sh ./gu''ard.sh", "./guard.sh"),
    ],
)
def test_words_that_a_line_computes_are_pinned_as_well(command: str, made: str) -> None:
    assert made in words_read(command)


def test_a_plain_line_has_its_own_words_alone() -> None:
    assert words_read('"$DIR"/x.sh --y ${Z}') == ["$DIR/x.sh", "--y", "${Z}"]


def test_the_line_of_a_shell_that_a_program_starts_is_read_as_a_line() -> None:
    assert argv_read(["/bin/sh", "-c", "./g.sh < in >> log"]) == ["/bin/sh", "-c", "./g.sh", "<", "in", ">>"]
    assert argv_read(["cat", "-c", "a > b"]) == ["cat", "-c", "a > b"]
    assert argv_read(["sh", "g.sh", "a > b"]) == ["sh", "g.sh", "a > b"]
