"""Files that a call makes, downloads or runs, for rules about what a session made; and the marks by which such a file
is known again: its path, and its content."""

from __future__ import annotations

import os
from collections.abc import Iterator

from anyhook.model.lean_json import digest, short_digest
from anyhook.platform.places import head
from anyhook.programs.collect import sources_of
from anyhook.programs.facts import Facts
from anyhook.programs.paths import resolve
from anyhook.programs.program import UNKNOWN, Program
from anyhook.programs.scripts import scripts_named
from anyhook.programs.table import row_of

MAX_CONTENTS = 50
"""How many files of one call are known by their content too."""
MAX_CONTENT = 4 << 20
"""Of a larger file, its beginning and its size."""


def files_made(facts: Facts) -> dict[str, bool]:
    """The files that a call writes, and whether it downloads them."""
    whole = facts.whole()
    fetched = {*_downloads(whole)}
    return {path: path in fetched for path in whole.writes}


def files_run(facts: Facts) -> tuple[str, ...]:
    """The files that a call runs: scripts and programs named by their path, also those that these run."""
    paths = [path for part in facts.parts for path in part.inside]
    for program in facts.whole().runs:
        if program.remote:
            continue
        paths += [resolve(word, program.cwd) for word in scripts_named(program) if word.known]
        if "/" in program.path and UNKNOWN not in program.path:
            paths.append(resolve(program.path, program.cwd))
    return tuple(dict.fromkeys(paths))


def marks_of_files(paths: tuple[str, ...], *, contents: bool = True) -> Iterator[tuple[str, str]]:
    """The marks of files, each with its path: first that of the path, then that of what is in it now."""
    for number, path in enumerate(paths):
        yield short_digest(path), path
        if contents and number < MAX_CONTENTS and (data := head(path, MAX_CONTENT)):
            yield short_digest(f"{digest(data)} {os.path.getsize(path)}"), path


def _downloads(facts: Facts) -> Iterator[str]:
    yield from (path for field, path, name in facts.doers if field == "writes" and row_of(name).fetch_to)
    for program in facts.runs:
        if any(row_of(each.name).fetch_to for each in (program, *sources_of(program))):
            yield from _outputs(program)


def _outputs(program: Program) -> Iterator[str]:
    """The files that a program's output goes to."""
    written = [each.target for each in program.redirections if each.writes]
    if row_of(program.name).special == "tee":
        written += [word for word in program.words if not word.text.startswith("-")]
    yield from (resolve(word, program.cwd) for word in written if word.known)
