"""What the scripts and makefiles do that a line runs, program by program."""

from __future__ import annotations

from anyhook.guard.own_programs import OURS
from anyhook.programs.collect import Collector
from anyhook.programs.paths import resolve
from anyhook.programs.program import Program
from anyhook.programs.scripts import scripts_of
from anyhook.programs.table import row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anyhook.programs.program import Word


def run_by(program: Program, home: str, launchers: Collection[str]) -> Iterator[Program]:
    """The programs that a script runs which this program runs; nothing if it runs none, or none that can be read.
    `launchers` are the files of our command. One may be a script, and what it does is decided by its verb."""
    if "/" in program.path and resolve(program.path, program.cwd) in launchers:
        return
    if (verb := _after_launcher(program, launchers)) is not None:
        args = tuple(word.text for word in verb)
        yield Program(OURS[0], args, verb, OURS[0], (*program.via, program.name), cwd=program.cwd)
        return
    for script in scripts_of(program):
        into = Collector(home)
        into.script(script, program)
        yield from into.runs


def _after_launcher(program: Program, launchers: Collection[str]) -> tuple[Word, ...] | None:
    """The words after our command, if an interpreter runs it as a script."""
    if program.code is not None or program.remote or row_of(program.name).language in ("", "othersh"):
        return None
    place = next((at for at, word in enumerate(program.words) if not word.text.startswith("-")), None)
    if place is None or resolve(program.words[place], program.cwd) not in launchers:
        return None
    return program.words[place + 1 :]
