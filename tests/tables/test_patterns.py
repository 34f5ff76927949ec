"""Patterns: the same answers as Python's `re` for ordinary patterns, and a limit for hostile ones. No test measures
time; pytest-timeout ends a hang."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from anyhook.tables import patterns
from anyhook.tables.patterns import (
    LENGTH_LIMIT,
    BadPattern,
    PatternTimeout,
    can_never_match,
    compile_pattern,
    names_only,
    needed_texts,
)
from each_of import each_of
from examples import examples

TOOLS = [
    "Bash",
    "Edit",
    "MultiEdit",
    "Write",
    "mcp__github__create_issue",
    "shell",
    "execute_terminal_command",
    "a",
    "",
]

# --- names -----------------------------------------------------------------------------------------------------------


@each_of(
    ("pattern", "names"),
    [
        ("Bash", {"Bash"}), ("Edit|Write", {"Edit", "Write"}), ("a-b|c:d|e/f|g h", {"a-b", "c:d", "e/f", "g h"}),
        ("Edit | Write", {"Edit ", " Write"}), ("é|Ж", {"é", "Ж"}),
        ("", None), ("|", None), ("Edit|", None), ("Edit||Write", None), ("Bash.*", None), ("(Bash)", None),
        ("^Bash", None),
        ("Bash$", None), ("Ba[s]h", None), ("Ba?", None), ("B+", None), ("*", None), ("a\\|b", None), ("a{2}", None),
    ],
)  # fmt: skip
def test_plain_names_are_recognised(pattern: str, names: set[str] | None) -> None:
    assert names_only(pattern) == names


@examples(200)
@given(st.text(alphabet="ab|-:/ &#~<>=!,é\n", min_size=1, max_size=12), st.text(alphabet="ab-:/ &#é\n", max_size=6))
def test_plain_names_mean_what_they_mean_as_patterns(pattern: str, text: str) -> None:
    assume(names_only(pattern) is not None)
    assert compile_pattern(pattern).fullmatch(text) == (re.fullmatch(pattern, text) is not None)
    assert compile_pattern(pattern).search(text) == (re.search(pattern, text) is not None)


def test_plain_names_load_no_engine() -> None:
    code = (
        "import sys; before = set(sys.modules); from anyhook.tables import patterns as p; "
        "assert all(p.compile_pattern(f'Tool{n}|Other').fullmatch('Other') for n in range(1000)); "
        "print(sorted({'re', 'regex', 'typing'} & (set(sys.modules) - before)))"
    )
    root = str(Path(patterns.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


# --- the same answers as re ------------------------------------------------------------------------------------------

ORDINARY = [
    ".*", "Bash|Edit.*", "^Bash$", "(?i)bash", "(Edit|Write)", "Edit|Write|MultiEdit", "mcp__.*", "mcp__[^_]+__.*",
    "(?!Bash).*",
    r"mcp__(?!github).*", r"\w+", r"[A-Z]\w*", "Multi(?:Edit|Write)?", "Edit|", "a|ab", "(a|ab)(c|bcd)?", "[^B].*",
    ".*Edit",
    r"rm\s+-rf\s+/", r"\.py$", r"rm -rf /|mkfs|dd if=/dev/zero", r"git\s+push.*--force", r"(^|\s)sudo(\s|$)",
    r"\bcurl\b.*\|\s*sh",
    r"^/etc/", r"\.env(\.|$)", r"[\"']?password[\"']?\s*[:=]", r"(?<!\w)eval\(", r"a{2,3}", r"x{0}", r"(\w)\1",
    r"(?P<q>['\"]).*(?P=q)",
    "/users/{id}", "${HOME}", "{", "}", "a{,2}", "a{,}", "{}", r"\{e\}", "a{e}", "a{i<=2}", "a{1,2", "x{2}{", "[{]e}",
    "[]a]", "[^]a]",
    r"[\w-]+", r"\d{4}-\d{2}-\d{2}", "[0-9a-f]{8}-[0-9a-f]{4}", r"(?:\d{1,3}\.){3}\d{1,3}", "(?s).+", "(?m)^b$",
    "(?x) B a s h # c",
]  # fmt: skip
TEXTS = [*TOOLS, "ab", "abc", "abcd", "aa", "aaa", "rm -rf /", "rm -rf /tmp", "main.py", "x.pyc", ".env",
         "/etc/passwd", "a{e}", "{}", "{",
         "/users/{id}", "curl x | sh", "git push --force", "password: x", "10.0.0.1", "2024-01-31", "a\nb", "b\n",
         "sudo", "x{2}{",
         "${HOME}", "}", "a{1,2", "a{i<=2}", "0123abcd-0000", '"q"', "{e}", "]", "a{"]  # fmt: skip


@each_of("pattern", ORDINARY)
def test_ordinary_patterns_answer_as_re_does(pattern: str) -> None:
    ours, theirs = compile_pattern(pattern), re.compile(pattern)
    for text in TEXTS:
        assert ours.fullmatch(text) == (theirs.fullmatch(text) is not None), text
        assert ours.search(text) == (theirs.search(text) is not None), text


ATOMS = st.sampled_from(
    ["a", "b", ".", r"\w", r"\d", r"\s", "[ab]", "[^a]", r"\.", r"\b", "^", "$", "{", "}", "{a}", " ", "[a-c]", "-"]
)
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "*?", "+?", "??", "{0,2}?", "++", "?+"])
GROUPS = st.sampled_from(["(%s)", "(?:%s)", "(?=%s)", "(?!%s)", "(?i:%s)", "(?>%s)"])


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.builds(lambda group, body, repeat: group % body + repeat, GROUPS, inner, REPEATS)
    return st.lists(repeated | inner, min_size=1, max_size=3).map("".join) | st.lists(inner, max_size=3).map("|".join)


PATTERNS = st.recursive(st.builds(lambda atom, repeat: atom + repeat, ATOMS, REPEATS), _joined, max_leaves=6)


@examples(600)
@given(PATTERNS, st.lists(st.text(alphabet="abcA1 .-{}\n", max_size=6), min_size=1, max_size=4))
@example("a|b", ["ab", "a", "b"])
@example("(a|ab)(c|bcd)(d*)", ["abcd"])
def test_generated_patterns_answer_as_re_does(pattern: str, texts: list[str]) -> None:
    try:
        theirs = re.compile(pattern)
    except re.error:
        assume(False)
    ours = compile_pattern(pattern)
    for text in texts:
        assert ours.fullmatch(text) == (theirs.fullmatch(text) is not None), text
        assert ours.search(text) == (theirs.search(text) is not None), text


@examples(600)
@given(
    PATTERNS | st.sampled_from(ORDINARY),
    st.lists(st.sampled_from(TEXTS) | st.text(alphabet="abcAB1 .-{}\n", max_size=6)),
)
@example("(?i:Ab)|(c)+?d", ["xaB", "CD"])
def test_what_a_pattern_needs_is_in_every_text_that_it_matches(pattern: str, texts: list[str]) -> None:
    """Rules skip the engine for a text without it, so a mistake here would be a gate that is open."""
    try:
        ours = compile_pattern(f"(?i){pattern}")
    except BadPattern:
        assume(False)
    needed = needed_texts(pattern)
    for text in texts:
        assert not needed or not ours.search(text) or any(each in text.lower() for each in needed)


@each_of(
    "pattern, needed",
    [
        (r"^\s*export HUSKY=0", ("export husky=0",)),
        (r"(?:^|[;&])\s*(declare|typeset)\s+-p", ("declare", "typeset")),
        (r"x?(ab){2,}c*", ("ab",)),
        (r"a|\w", ()),
        (r"(?!no)[xy]*", ()),
        ("stra\N{LATIN SMALL LETTER SHARP S}e", ("stra",)),
        (r"\p{L}abc", ()),
    ],
)
def test_what_a_pattern_needs(pattern: str, needed: tuple[str, ...]) -> None:
    assert needed_texts(pattern) == needed


def test_alternatives_are_anchored_as_a_whole() -> None:
    pattern = compile_pattern("Edit|Wri(te)?")
    assert [
        name for name in ("Edit", "Write", "EditWrite", "MultiEdit", "Edits", "xWrite") if pattern.fullmatch(name)
    ] == [
        "Edit",
        "Write",
    ]
    assert pattern.search("MultiEdit")


# --- patterns that cannot be used ------------------------------------------------------------------------------------


@each_of(
    ("pattern", "position"),
    [
        ("(", 1), ("a)", 1), ("a**", 2), ("*", 0), ("*.py", 0), ("[a", 2), ("(?P<n", 5), ("[z-a]", 4), ("\\", 1),
        (r"\L<x>", 5),
        ("{a}{b}(", 7), ("{a}\\{(", 6), ("(?1)", 2), ("(?V1)a", None), ("(?P=x)", 3),
    ],
)  # fmt: skip
def test_a_bad_pattern_is_refused_with_its_position(pattern: str, position: int | None) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)
    assert caught.value.what
    assert caught.value.position == position


@each_of(
    "pattern",
    [
        "(" * 15 + "a" + "){2,3}" * 15, "(" * 30 + "a" + "){2}" * 30, "(?:(?:(?:a{1000}){1000}){1000}){1000}",
        "a{9999999}",
        "[ab]{60000}", "(?x)((a{99} ) {99} ) {99}", "(?x)" + "(" * 20 + "a # )\n" + ") # (\n{3}" * 20,
        "(ab){4294967295}",
        "a{99999999999999999999}", "((((a){0000000000099}){099}){099}){099}", "(" * 3_000 + "a" + ")" * 3_000,
        "(?=" * 3_000, "[" * 5_000 + "(",
        ".*" * LENGTH_LIMIT, "(?:" * 400 + "a" + "|b)?" * 400, "(" * 12 + "[[:alpha:])]" + "){4}" * 12,
        "(" * 12 + r"\)" + "(a)(?#x){4})" * 12,
    ],
)  # fmt: skip
def test_a_pattern_that_would_explode_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}",
        "(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}",
        ".{1000,}", "(?:[A-F0-9]{1,4}:){7}[A-F0-9]{1,4}", "(a|b){100}",
        "|".join(f"mcp__server{n}__.*" for n in range(400)),
        "(" * 40 + "a" + ")*" * 40, "(?:(?:a{0,1000}){0,1000}){0,1000}",
    ],
)  # fmt: skip
def test_a_large_but_honest_pattern_is_accepted(pattern: str) -> None:
    compile_pattern(pattern)


@examples(400)
@given(
    st.text(alphabet="ab()[]{}|*+?.^$\\,-:=!<>P&#'2 9xiLVpNR~", max_size=30),
    st.text(alphabet="ab(){}29 \n", max_size=20),
)
def test_any_pattern_answers_or_is_refused(pattern: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compiled = compile_pattern(pattern)
        except BadPattern as error:
            position = error.position
            compiled = None
        if compiled is None:
            assert position is None or 0 <= position <= len(pattern)
            return
        for ask in (compiled.fullmatch, compiled.search):
            try:
                answer = ask(text)
            except PatternTimeout:
                continue
            assert isinstance(answer, bool)


# --- patterns that take too long -------------------------------------------------------------------------------------

SLOW = ["(a|aa)+$", "(a|a|aa)*b?c", "(?:a?){30}(?:a?){30}b?c", r"(a+)\1+b", "(?R)", "((?1)*)"]
EVIL = [
    "(a+)+$",
    "(.*a){20}$",
    "(a*)*b",
    "(a|a)*b",
    "(.*?,){11}P",
    r"^(\w+\s?)*$",
    "(?=(a+)+$)b",
    "(?:a{0,99}){0,99}b",
    *SLOW,
]


@each_of("pattern", EVIL)
def test_a_catastrophic_pattern_ends(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    for text in ("a" * 40 + "!", "a" * 20_000, "a," * 5_000):
        for ask in (compiled.fullmatch, compiled.search):
            try:
                answer: object = ask(text)
            except PatternTimeout as error:
                answer = error.pattern
            assert answer in (True, False, pattern)


def test_the_limit_is_really_set() -> None:
    """At least one of these is too much for the engine, so the test above really reaches the limit."""

    def too_long(pattern: str) -> bool:
        try:
            compile_pattern(pattern).fullmatch("a" * 60 + "!")
        except PatternTimeout:
            return True
        return False

    assert any(map(too_long, SLOW))


# --- patterns that match nothing -------------------------------------------------------------------------------------


@each_of(
    ("pattern", "word"),
    [
        ("/Bash/", "slash"), ("/Edit|Write/", "slash"), ("/bash/i", "slash"), ("^/Bash", "slash"),
        ("/Edit|/Write", "slash"),
        (" Bash", "space"), ("Bash ", "space"), ("Edit | Write", "space"), ("Bash\n", "space"), ("Bash $", "space"),
        ("^ Bash", "space"),
        ("$Bash", "end"), ("Bash^", "beginning"), ("Ba^sh", "beginning"), ("Bash$Edit", "end"),
        ("|", "empty"), ("^$", "empty"), ("()", "empty"), ("^", "empty"), ("$|", "empty"),
        ("Edit,Write", "joined"), ("Edit, Write", "joined"), ("Edit Write", "joined"),
    ],
)  # fmt: skip
def test_what_can_never_match_is_said(pattern: str, word: str) -> None:
    reason = can_never_match(pattern)
    assert reason is not None
    assert word in reason


@each_of(
    "pattern",
    [
        "", "*", "Bash", "^Bash$", "Edit|Write", "Edit|/x", " ?Bash", " *Bash", "/?Bash", "$B?", r"\$Bash", "[$]Bash",
        "[^ab]", "(^|x)Bash",
        "(?x) Bash ", "mcp/tool", ".*", "(?m)^Bash$", "a{1,2}", "Bash|", r"\s?Bash", "(a| )b?", "Bash( .*)?", "[/]?x",
        "(", "[",
    ],
)  # fmt: skip
def test_what_may_match_is_left_alone(pattern: str) -> None:
    assert can_never_match(pattern) is None


BODIES = st.lists(st.sampled_from([*"ab$^/, ?*+.()", "[^a]", "(?:", "Bash", "\\s", "{2}", "\\/", "\\"]), max_size=4)
CHOICES = st.builds(
    lambda head, body, tail: head + "".join(body) + tail,
    st.sampled_from(["", "/", " ", "$", "^/", "^ ", "a^", "a,"]),
    BODIES,
    st.sampled_from(["", "/", " ", "^", " $", "$a", "/i"]),
)
NAMES = st.from_regex(r"[a-zA-Z0-9_.:-]([a-zA-Z0-9_.:/-]{0,5}[a-zA-Z0-9_.:-])?", fullmatch=True)


@examples(600)
@given(st.lists(CHOICES, min_size=1, max_size=2).map("|".join), st.lists(NAMES, min_size=1, max_size=9))
@example("a^?", ["a"])
def test_what_is_said_never_to_match_never_matches(pattern: str, names: list[str]) -> None:
    if can_never_match(pattern) is None:
        return
    try:
        compiled = compile_pattern(pattern)
    except BadPattern:
        return
    for name in [*names, "a", "b", "ab", "aa", "Bash", "a/b", "aBash", "Basha"]:
        assert not compiled.fullmatch(name)
