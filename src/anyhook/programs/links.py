"""Second names: links, copies that are links, and mounts, through which a path can be changed under another name."""

from __future__ import annotations

from anyhook.programs.options import sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.programs.collect import Collector
    from anyhook.programs.program import Program
    from anyhook.programs.rows import ProgramRow


def look_at_links(program: Program, row: ProgramRow, into: Collector) -> None:
    """Add the paths that one program gives a second name."""
    if program.remote or not (row.links or row.links_if or row.links_by):
        return
    options = sort_options(program.words, row.values)
    given = {*options.flags, *(part for value in options.values("-o") for part in value.text.split(","))}
    for word in options.values(*row.links_by.split()):
        into.link(word, program.cwd)
    if row.links or not given.isdisjoint(row.links_if.split()):
        has_target = bool(row.target) and bool(options.values(*row.target.split()))
        for word in options.rest if has_target else options.rest[:-1]:
            into.link(word, program.cwd)
