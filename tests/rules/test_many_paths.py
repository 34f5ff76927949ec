"""Many paths at once give the same answer as each path alone."""

from __future__ import annotations

import random

import pytest

from anyhook.rules import paths
from anyhook.rules.paths import CLASSES, Places, compile_path, matches, matching

PLACES = Places("/home/u", "/home/u/work/p")
NAMES = ("a", "b", "src", ".git", ".env", ".ssh", "x.py", "etc", "home", "u", "work", "p", "tmp", "id_rsa", "build")
PARTS = (*NAMES, "*", "**", "*.py", ".e*", "[ab]", "?")


def some(rng: random.Random, parts: tuple[str, ...], starts: tuple[str, ...]) -> str:
    return rng.choice(starts) + "/".join(rng.choice(parts) for _ in range(rng.randint(1, 4)))


def test_many_paths_match_like_each_of_them() -> None:
    rng = random.Random(7)
    starts = ("/", "/home/u/", "/home/u/work/p/", "/home/u/work/p/src/", "$X/", "/tmp/")
    matched = missed = 0
    for _ in range(300):
        paths = [some(rng, NAMES if rng.random() < 0.8 else PARTS, starts) for _ in range(30)]
        paths += ["/", "/home", "/home/u", "/home/u/", "/home/u/work/p", "/home/u/work/p/*", "/home/u/work/"]
        words = [some(rng, PARTS, ("/", "~/", "./", "", "**/")) for _ in range(6)]
        patterns = tuple(compile_path(word) for word in (*words, f"@{rng.choice([*CLASSES])}"))
        for covers in (False, True):
            alone = [path for path in paths if any(matches(each, path, PLACES, covers=covers) for each in patterns)]
            assert matching(patterns, paths, PLACES, covers=covers) == alone, words
            matched, missed = matched + len(alone), missed + len(paths) - len(alone)
    assert matched > 1_000
    assert missed > 1_000


def test_a_pattern_is_compared_only_with_paths_that_it_may_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: 1,000 paths and 300 patterns of other places take no comparison at all."""
    asked: list[str] = []
    real = paths.matches

    def counted(pattern: paths.PathPattern, path: str, places: Places, *, covers: bool, may_be: bool = True) -> bool:
        asked.append(path)
        return real(pattern, path, places, covers=covers, may_be=may_be)

    monkeypatch.setattr(paths, "matches", counted)
    given = [f"/home/u/work/p/src/{number % 37}/module_{number}.py" for number in range(1_000)]
    words = [word for number in range(100) for word in (f"~/.x{number}/**", f"**/y{number}/z", f"*.z{number}")]
    assert matching(tuple(map(compile_path, words)), given, PLACES, covers=True) == []
    assert asked == []
    assert matching((compile_path("./src/3/module_3.py"),), given, PLACES, covers=True) == [given[3]]
    assert asked == [given[3]]
