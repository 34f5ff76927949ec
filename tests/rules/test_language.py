"""Conditions: how they are parsed, and the messages about mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from anyhook.rules.language import ATOMS, Names, events_of, parse
from anyhook.rules.tokens import BadCondition
from each_of import each_of

NAMES = Names({"shells": "sh|bash zsh"}, {"keys": ("~/.ssh/id_*", "*.pem")})


def test_a_program() -> None:
    word, names, operands, options, given, missing, saying, producers, through = parse(
        "runs git|hub push 'and' -f|--force with a* without -n saying /x y/ from curl|wget via sudo"
    )
    assert (word, names, operands, options) == (
        "runs",
        ("git", "hub"),
        (("push",), ("and",)),
        (("-f", "--force"),),
    )
    assert (given, missing, saying, producers, through) == (("a*",), ("-n",), "x y", ("curl", "wget"), ("sudo",))


def test_words_and_classes_of_the_file() -> None:
    assert parse("runs $shells", NAMES)[1:3] == (("sh", "bash"), (("zsh",),))
    assert parse("reads @keys", NAMES)[2] == (("~", (".ssh", "id_*")), ("/", ("**", "*.pem")))
    assert parse("runs '$shells'", NAMES)[1] == ("$shells",)


def test_who_does_it_to_a_path() -> None:
    assert parse("deletes src by rm|unlink")[-2:] == (("rm", "unlink"), False)
    assert parse("deletes src not by mv and failed")[1][0][-2:] == (("mv",), True)
    assert parse("deletes src and not failed")[1][0][-2:] == ((), False)


def test_how_conditions_combine() -> None:
    assert parse("failed or failed and not failed") == (
        "or",
        (("failed",), ("and", (("failed",), ("not", ("failed",))))),
    )
    assert parse("(failed or failed) unless failed")[0] == "and"


@each_of(
    ("text", "usual", "events"),
    [
        ("runs ls", "pre_tool", {"pre_tool"}),
        ("runs ls", "post_tool", {"post_tool"}),
        ("event stop", "pre_tool", {"stop"}),
        ("event before_tool", "pre_tool", {"pre_tool"}),
        ("event PostToolUse", "pre_tool", {"post_tool", "post_tool_failure"}),
        ("event stop or event session_start", "pre_tool", {"stop", "session_start"}),
        ("event stop or runs ls", "pre_tool", {"stop", "pre_tool"}),
        ("event stop|session_start and not event stop and mode plan", "pre_tool", {"stop", "session_start"}),
        ("not event stop", "pre_tool", {"pre_tool"}),
    ],
)
def test_the_events_of_a_condition(text: str, usual: str, events: set[str]) -> None:
    assert events_of(parse(text), usual) == events


@each_of(
    ("text", "column", "what", "fix"),
    [
        ("", 1, "missing", "runs git push"),
        ("rums ls", 1, "`rums` is not a condition", "`runs`"),
        ("runs ls and wirtes x", 13, "`wirtes`", "`writes`"),
        ("runs ls and", 12, "missing", ""),
        ("(runs ls", 1, "not closed", ")"),
        ("runs ls)", 8, "nothing should follow", "and"),
        ("runs 'ls", 6, "not closed", "'"),
        ("matches /x", 9, "not closed", "/"),
        ("matches /(/", 9, "not a valid pattern", ""),
        ("event stp", 7, "`stp`", "`stop`"),
        ("event PreToolUs", 7, "`PreToolUs`", "`PreToolUse`"),
        ("deletes @hom", 9, "`@hom`", "`home`"),
        ("runs $shels", 6, "`$shels`", "`shells`"),
        ("deletes every", 14, "needs a path", ""),
        ("runs a with b with c", 15, "twice", ""),
        ("tool", 5, "needs the name of a tool", ""),
    ],
)
def test_mistakes(text: str, column: int, what: str, fix: str) -> None:
    with pytest.raises(BadCondition) as error:
        parse(text, NAMES)
    assert (error.value.column, what in error.value.what, fix in error.value.fix) == (column, True, True), (
        error.value.fix
    )


PIECES = some.sampled_from(
    [
        *ATOMS,
        "and",
        "or",
        "not",
        "unless",
        "(",
        ")",
        "every",
        "with",
        "saying",
        "adding",
        "/x/",
        "'",
        '"',
        "@home",
        "-f",
        "a*",
        "$x",
    ]
)


@given(some.lists(PIECES, max_size=30).map(" ".join) | some.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No other exception is raised, and no error points outside the text."""
    column = 1
    try:
        parse(text, NAMES)
    except BadCondition as error:
        column = error.column
    assert 1 <= column <= len(text) + 1
