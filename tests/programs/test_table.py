"""The table of programs checks itself, and every row's examples are true."""

from __future__ import annotations

import shlex

import pytest
from row_check import mistakes

from anyhook.journal import secrets
from anyhook.programs import quick
from anyhook.programs.facts import Facts
from anyhook.programs.rows import ProgramRow, Wraps
from anyhook.programs.table import _WRITTEN, PROGRAMS, row_of
from anyhook.rules import calls
from anyhook.rules.calls import facts_of

CWD, HOME = "/nowhere/project", "/nowhere/home"
ROWS = [ProgramRow(names, **cells) for names, cells in _WRITTEN]
EXAMPLES = [(row.name, example) for row in ROWS for example in row.examples]


def facts(line: str) -> Facts:
    return facts_of("Bash", {"command": line}, cwd=CWD, home=HOME, project=CWD)


def placed(path: str) -> str:
    return path if path.startswith("/") else CWD if path == "." else f"{CWD}/{path.removeprefix('./').rstrip('/')}"


def holds(line: str, found: Facts, expected: str) -> bool:
    word, _, value = expected.partition(" ")
    match word:
        case "nothing":
            paths = (found.reads, found.writes, found.deletes, found.changes, found.connects, found.links)
            return not any(paths) and not found.unknown
        case "unknown":
            return bool(found.unknown)
        case "runs":
            wanted = shlex.split(value)
            return any([each.name, *(arg.text for arg in each.words)] == wanted for each in found.runs)
        case "hides":
            low = line.lower()
            return any(
                line[start:end] == value for start, end in secrets.in_text(line, low, secrets.clues_of(line, low))
            )
        case "secrets":
            return value in found.secrets
        case "connects":
            return value in found.connects
        case "executable":
            return placed(value) in found.makes_executable
        case "trees":
            return placed(value) in [folder for folder, _ in found.trees]
        case "reads" | "writes" | "deletes" | "changes" | "links":
            return placed(value) in getattr(found, word)
        case _:
            raise ValueError(expected)


def test_the_table_has_no_mistakes() -> None:
    assert mistakes(ROWS) == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}: {example}" for name, example in EXAMPLES])
def test_examples(name: str, example: str) -> None:
    line, _, expected = example.partition(" -> ")
    found = facts(line)
    wrong = [each for each in expected.split("; ") if not holds(line, found, each)]
    assert wrong == [], f"{name}: {found!r}"


def test_the_check_can_fail() -> None:
    def wrong(**cells: object) -> list[str]:
        return mistakes([ProgramRow("x", examples=("x a -> nothing",)).replace(**cells)])

    assert wrong() == []
    assert wrong(write_by="-o") == ["x: write_by has -o, which is not in `values`"]
    assert wrong(values="n", not_if="-n") == ["x: not_if has -n, which takes a value"]
    assert wrong(examples=()) == ["x: it has no example"]
    assert wrong(examples=("y -> nothing",)) == ["x: the example 'y -> nothing' is of another program"]
    assert wrong(traits=("looks",), writes="all") == ["x: it only looks, and has writes"]
    assert wrong(traits=("text", "looks")) == ["x: the traits are not in order, or one is there twice"]
    assert wrong(wraps=Wraps(line="-c")) == ["x: -c is followed by what it runs, and is not in `values`"]
    assert wrong(code_by="e") == ["x: code_by without a language"]
    assert mistakes([ROWS[0], ROWS[0]]) == [
        "sh: it is in the rows of sh and sh",
        "bash: it is in the rows of sh and sh",
    ]
    assert not holds("cat a", facts("cat a"), "reads b")
    assert not holds("cat a", facts("cat a"), "nothing")


def test_names_with_versions_and_families() -> None:
    assert row_of("python3.12") is row_of("pypy3.10") is row_of("python")
    assert row_of("pip3") is row_of("pip")
    assert row_of("mkfs.btrfs") is row_of("mkfs")
    assert row_of("newfs_msdos") is row_of("newfs")
    for name in ("", "git2", "mkfsx", "newfsx", "python3-config", "12", "..."):
        assert row_of(name).names == "", name


def test_what_is_asked_before_the_table_is_loaded_is_what_its_rows_say() -> None:
    rows = [(name, row_of(name)) for name in PROGRAMS]
    hiding = [name for name, row in rows if row.hides or row.hides_last]
    assert sorted(hiding) == sorted(quick.HIDING)
    assert {name for name, row in rows if row.is_shell} == quick.SHELLS
    assert {name for name, row in rows if row.has("looks")} == quick.LOOKERS
    assert {name for name, row in rows if row.has("removes")} == quick.REMOVERS
    code = {name for name, row in rows if row.language or row.makes or row.has("scripts")}
    assert code == quick.CODE_READERS


def test_what_goes_into_a_file_is_never_read_as_a_path() -> None:
    named = (calls.PATHS, calls.SOURCES, calls.TARGETS, calls.FOLDERS, calls.PATCHES, calls.LINES)
    assert quick.CONTENTS.isdisjoint(key for keys in named for key in keys)
    for key in quick.CONTENTS:
        facts = calls.facts_of("save_note", {"path": "a", key: "/etc/b"}, cwd="/p", home="/h", project=None)
        assert (*facts.reads, *facts.writes, *facts.deletes) == ("/p/a",), key
