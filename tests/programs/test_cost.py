"""The cost of reading a line is bounded by its length, counted in steps and programs, not in seconds."""

from __future__ import annotations

import random

from anyhook.programs.expand import MAX_WORDS, braces
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
    inner = " git submodule foreach 'git log -1'" * 200  # every word could be read again with all that follow
    for before in (doubling, calling, long, inner, "sudo " * 200, "true && " * 5_000, "a | " * 600 + "b"):
        assert facts(f"{before}; rm -rf ~").unread, before[:40]
    assert not facts("cat > a <<'X'\n" + "text\n" * 40_000 + "X\nrm b").unread


def test_lines_inside_lines_are_read_a_few_times_their_length() -> None:
    for inner in ("nohup ", "sudo ", "xargs ", "time ", "parallel ", "git bisect run "):
        assert facts(f"{inner * 2_000}rm -rf ~").unread, inner
    assert facts("sudo env A=1 nohup nice timeout 5 bash -c 'xargs rm -rf ~'").deletes
    assert not facts(f"sudo bash -c 'echo {'x' * 100_000}; rm b'").unread


def test_braces_are_paired_in_one_walk() -> None:
    for word in ("{" * 8_000, "{a," * 8_000, "{a," * 2_000 + "}" * 2_000, "}{," * 2_000, "{1..1}" * 1_000):
        assert len(braces(word)) <= MAX_WORDS, word[:20]
    assert braces("a{b,{c,d}}{e") == ["ab{e", "ac{e", "ad{e"]
    assert braces("{x}{1..3}{,}") == ["{x}1", "{x}1", "{x}2", "{x}2", "{x}3", "{x}3"]
    assert braces("{a,{b}") == ["{a,{b}"]
    assert braces("a}{b,c}") == ["a}b", "a}c"]


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


def test_the_root_of_a_repository_is_looked_for_from_any_folder() -> None:
    for folder in (".", "a/b", "D:\\a", "/a/b"):  # it once had no end from one that is not below `/`
        found = facts_of("Bash", {"command": "git rev-parse --show-toplevel"}, cwd=folder, home="/h", project=None)
        assert [program.name for program in found.runs] == ["git"], folder
