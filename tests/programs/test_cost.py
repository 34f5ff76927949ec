"""The cost of reading a line is bounded by its length, counted in steps and programs, not in seconds."""

from __future__ import annotations

import random

from anyhook.programs.facts import Facts
from anyhook.programs.statements import MAX_PROGRAMS, MAX_STEPS, read_line
from anyhook.rules.calls import facts_of

PLAIN = (
    "ls a;", "x=$y;", "echo $(ls);", "a | b;", "( c );", "{ d; };", "if e; then f; fi;", "for i in 1 2; do g; done;",
    "cat <<X\nh\nX\n", "j && k || l;", "case m in n) o;; esac;", "p > q;", "echo `r`;", "sudo s;", "xargs t;", "! u;",
)  # fmt: skip
GROWING = (
    "a=xx;", "b=$a$a;", "a=$b$b;", "f(){ g; g; };", "g(){ f; f; };", "f;", "g;", "eval \"$a\";", "alias l='f;f';", "l;",
    "echo {1..9}{1..9}{1..9};", "set -- $@ $@ a;", "a=(${a[@]} ${a[@]} x);", "b=${a//x/xxxx};", "bash -c 'f; f';",
    "trap 'g' EXIT;", "for i in {1..99}; do f; done;", "$(", ")", "'", '"', "`", "((", "))", "<<X", "\nX\n",
)  # fmt: skip
SEED = 29


def lines(pieces: tuple[str, ...], count: int, longest: int) -> list[str]:
    rng = random.Random(SEED)
    return ["".join(rng.choices(pieces, k=rng.randint(1, longest))) for _ in range(count)]


def test_without_definitions_there_are_fewer_steps_than_characters() -> None:
    for line in lines(PLAIN, 200, 60):
        found = read_line(line, "/p", "/h")
        assert not found.unread, line
        assert found.steps <= len(line), line
        assert len(found.programs) <= len(line), line


def test_twice_the_line_takes_at_most_twice_the_steps() -> None:
    for line in lines(PLAIN, 60, 30):
        once, twice = read_line(line, "/p", "/h").steps, read_line(line * 2, "/p", "/h").steps
        assert twice <= 2 * once + 2, line


def test_whatever_grows_ends_within_the_budget_and_says_so() -> None:
    for line in lines(GROWING, 150, 25):
        found = read_line(line, "/p", "/h")
        assert found.steps <= MAX_STEPS + 1, line
        assert len(found.programs) <= MAX_PROGRAMS + 1, line
        assert max((len(word.text) for each in found.programs for word in each.words), default=0) <= 2_000_000


def facts(line: str) -> Facts:
    return facts_of("Bash", {"command": line}, cwd="/p", home="/h", project="/p")


def test_what_is_behind_too_much_is_not_taken_for_read() -> None:
    doubling = "a=xx;" + "".join(f"{chr(98 + at)}=${chr(97 + at)}${chr(97 + at)};" for at in range(24)) + "echo $z"
    calling = "".join(f"f{at}(){{ f{at + 1}; f{at + 1}; }};" for at in range(30)) + "f30(){ :; };f0"
    long = "cat > a <<'X'\n" + "text\n" * 250_000 + "X\n"
    for before in (doubling, calling, long, "sudo " * 200, "true && " * 5_000):
        assert facts(f"{before}; rm -rf ~").unread, before[:40]
    assert not facts("cat > a <<'X'\n" + "text\n" * 40_000 + "X\nrm b").unread


def test_what_goes_through_long_pipes_does_not_grow_at_each_program() -> None:
    for piece in (
        "p -E 'rm -|mkfs|dd if=' a'",
        "sh | ",
        "base64 | ",
        "base64 -d | ",
        "find -exec sh \\; | ",
        "eval | ",
    ):
        found = read_line("echo aGk= | " + piece * 100, "/p", "/h")
        assert max(len(each.stdin_from) for each in found.programs) <= len(found.programs), piece
        assert max(len(each.stdin or "") for each in found.programs) <= 1 << 20, piece
