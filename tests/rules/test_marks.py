"""Marks: a rule that is skipped because a call has none of its marks could not have matched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from anyhook.model.event import Event
from anyhook.programs.facts import Facts, Program
from anyhook.rules.evaluate import Hits, RuleCall, holds
from anyhook.rules.language import parse
from anyhook.rules.marks import ANY, marks_of, needs_of
from anyhook.rules.paths import Places
from each_of import each_of

PLACES = Places("/home/me", "/home/me/app")


@each_of(
    ("condition", "needs"),
    [
        ("runs git", {"runs git"}),
        ("runs git|hub push|fetch --force", {"runs git push", "runs git fetch", "runs hub push", "runs hub fetch"}),
        ("runs git pu*", {"runs git"}),
        ("runs python*|*sh|a*", {"runs py*", "runs *sh", "runs *"}),
        ("runs kube* delete", {"runs * delete"}),
        ("writes **/.env", {"writes /.env", "writes *"}),
        ("writes *.py", {"writes"}),
        ("writes @home", {"writes"}),
        ("deletes src/**", {"deletes"}),  # deleting a parent folder deletes it too
        ("writes *.py and runs git push", {"runs git push"}),
        ("runs git push or connects", {"runs git push", "connects"}),
        ("not runs git", {ANY}),
    ],
)
def test_what_a_condition_needs(condition: str, needs: set[str]) -> None:
    assert set(needs_of(parse(condition))) == needs


NAMES = some.sampled_from(["git", "gitk", "sh", "bash", "python3", "R", "s", "push", "-f", "data", ".env", "a b"])
PATTERNS = some.sampled_from(
    ["git", "git*", "*sh", "?sh", "[bz]ash", "s*", "*", "R*", "py*3", "push", "-f", "data", "git|s*"]
)
PARTS = some.sampled_from(["home", "me", "app", "data", "secret", ".env", "*", "**", "sec*", "$X"])
PATHS = some.lists(PARTS, max_size=5).map(lambda parts: "/" + "/".join(parts))
PATH_PATTERNS = some.sampled_from(
    ["data", "data/**", "~/secret/*", "/home/me/app", "**/.env", "**/.env*", "~", "/", "@project", "@system", "sec*/a"]
)
CONDITIONS = some.one_of(
    some.lists(PATTERNS, min_size=1, max_size=3).map(lambda words: f"runs {' '.join(words)}"),
    some.tuples(some.sampled_from(["reads", "writes", "deletes", "changes"]), PATH_PATTERNS).map(" ".join),
)


@given(
    some.lists(CONDITIONS, min_size=1, max_size=3),
    some.sampled_from([" and ", " or "]),
    some.lists(some.tuples(NAMES, some.lists(NAMES, max_size=3), some.lists(NAMES, max_size=1)), max_size=2),
    some.lists(PATHS, max_size=2),
    some.sampled_from(["reads", "writes", "deletes", "changes"]),
)
def test_a_condition_that_holds_is_asked(
    conditions: list[str], word: str, programs: list[tuple[str, list[str], list[str]]], paths: list[str], field: str
) -> None:
    tree = parse(word.join(conditions))
    runs = tuple(Program(name, tuple(args), via=tuple(via)) for name, args, via in programs)
    facts = Facts(runs).replace(**{field: tuple(paths)})
    if holds(tree, RuleCall(Event("pre_tool", {}), "", PLACES, lambda: facts), Hits()):
        assert not marks_of(facts).isdisjoint(needs_of(tree))
