"""Plain English in everything that a person reads: no phrase of the list in `plain_english` appears in the documents,
in `--help`, in the problem codes, in the texts, comments and names of the source, or in the docstrings and comments of
tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from plain_english import NAMES, PHRASES, Hit, Phrase, hits, hits_in_code, name_of, names_in_code
from sources import ROOT, SOURCE

from anyhook.cli.app import app
from anyhook.model.codes import CODES
from each_of import each_of

NOT_YET: tuple[str, ...] = ()
"""Paths, or prefixes of paths, that still contain phrases of the list. The list may only get shorter."""

NAMES_NOT_YET: tuple[str, ...] = ()
"""The same for names."""

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "src/**/*.md", "tests/*/README.md")
    for path in ROOT.glob(pattern)
    if path.parent != ROOT / "tests" / "data"
)
"""Leaves out `tests/data`, which quotes licences."""
SCRIPTS = sorted([ROOT / "Makefile", *ROOT.glob("scripts/*.sh"), *ROOT.glob("native/*.[ch]"), *ROOT.glob("bench/*.c")])
MODULES = sorted(SOURCE.rglob("*.py"))
TOOLS = sorted(
    path
    for pattern in ("bench/*.py", "docs/*.py", "examples/**/*.py", "live/*.py", "scripts/*.py")
    for path in ROOT.glob(pattern)
)

TESTS = sorted(
    path for path in ROOT.glob("tests/**/*.py") if path.name not in ("plain_english.py", Path(__file__).name)
)
"""Their string values are not checked: many quote what users write."""


def written(path: Path) -> list[Hit]:
    return [*hits(name_of(path), path.read_text(encoding="utf-8"))]


def clean(paths: list[Path], later: tuple[str, ...]) -> list[Path]:
    return [path for path in paths if not name_of(path).startswith(later)] if later else paths


def test_the_pages_are_in_plain_english() -> None:
    assert [str(hit) for path in clean([*PAGES, *SCRIPTS], NOT_YET) for hit in written(path)] == []


def test_the_code_is_in_plain_english() -> None:
    assert [str(hit) for path in clean([*MODULES, *TOOLS], NOT_YET) for hit in hits_in_code(path)] == []


def test_docstrings_and_comments_of_tests_are_in_plain_english() -> None:
    assert [str(hit) for path in TESTS for hit in hits_in_code(path, with_values=False)] == []


def test_names_are_words_of_the_trade() -> None:
    assert [name for path in clean(MODULES, NAMES_NOT_YET) for name in names_in_code(path)] == []


def test_there_is_something_to_check() -> None:
    assert len(PAGES) > 20
    assert len(SCRIPTS) > 3
    assert len(MODULES) > 100
    assert len(TOOLS) > 2
    assert len(TESTS) > 100


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in commands(command, context))


def test_the_help_is_in_plain_english() -> None:
    context = click.Context(app)
    helps = {name: command.get_help(click.Context(command)) for name, command in commands(app, context)}
    assert len(helps) > 20
    assert [str(hit) for name, text in helps.items() for hit in hits(f"{name} --help", text)] == []


def test_the_problem_codes_are_in_plain_english() -> None:
    texts = {f"{name} {code.group}": f"{code.meaning} {code.fix}" for name, code in CODES.items()}
    assert [str(hit) for name, text in texts.items() for hit in hits(name, text)] == []


@pytest.mark.parametrize("prefix", NOT_YET)
def test_what_is_clean_leaves_the_list(prefix: str) -> None:
    pages = [path for path in [*PAGES, *SCRIPTS] if name_of(path).startswith(prefix)]
    modules = [path for path in [*MODULES, *TOOLS] if name_of(path).startswith(prefix)]
    found = any(written(path) for path in pages) or any(True for path in modules for _ in hits_in_code(path))
    assert found, f"{prefix} is clean: take it out of NOT_YET"


@pytest.mark.parametrize("prefix", NAMES_NOT_YET)
def test_what_has_good_names_leaves_the_list(prefix: str) -> None:
    modules = [path for path in MODULES if name_of(path).startswith(prefix)]
    assert any(True for path in modules for _ in names_in_code(path)), f"{prefix}: take it out of NAMES_NOT_YET"


@each_of("phrase", PHRASES, ids=lambda phrase: phrase.example)
def test_a_phrase_is_found_and_its_replacement_is_not(phrase: Phrase) -> None:
    assert [hit.phrase for hit in hits("here", phrase.example)] == [phrase]
    assert [*hits("here", phrase.instead)] == []


def test_a_phrase_is_found_over_the_end_of_a_line() -> None:
    (hit,) = hits("page.md", "One line.\nWhat is here is\n  no JSON, they say.")
    assert (hit.line, hit.text) == (2, "is no J")


def test_phrases_are_found_in_texts_docstrings_comments_and_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Mends it."""\nWORD_MOST = f"{1} is no word"  # begun anew\n')
    monkeypatch.setattr("plain_english.ROOT", tmp_path)
    assert sorted((hit.line, hit.text) for hit in hits_in_code(module)) == [(1, "Mends"), (2, "anew"), (2, "is no w")]
    assert sorted(hit.text for hit in hits_in_code(module, with_values=False)) == ["Mends", "anew"]
    assert [*names_in_code(module)] == ["module.py:2: WORD_MOST → max"]


@each_of("text", ["There is no such verb.", "It is no longer there.", "stands for stdin", "no more than two"])
def test_ordinary_english_is_left_alone(text: str) -> None:
    assert [*hits("here", text)] == []


def test_names_are_not_replaced_by_other_names_of_the_list() -> None:
    assert NAMES.keys().isdisjoint(word for words in NAMES.values() for word in words.split(", "))
