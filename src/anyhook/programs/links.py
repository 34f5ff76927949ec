"""Second names: links, copies that are links, and mounts, through which a path can be changed under another name."""

from __future__ import annotations

from anyhook.programs.effects import EFFECTS
from anyhook.programs.options import sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.programs.collect import Collector
    from anyhook.programs.program import Program

LINKING = {"cp": ("-l", "--link"), "gcp": ("-l", "--link"), "cpio": ("-l", "--link"), "pax": ("-l",)}
"""Programs that copy, and the options with which they link instead."""
MOUNTING = ("bind", "rbind", "--bind", "--rbind", "-B", "-R", "--move", "-M")


def look_at_links(program: Program, into: Collector) -> None:
    """Add the paths that one program gives a second name."""
    name, cwd = program.name, program.cwd
    if program.remote or name not in NAMES:
        return
    effect = EFFECTS.get(name)
    options = sort_options(program.words, f"{effect.values} bind rbind move" if effect is not None else "")
    sources = options.rest if effect is not None and options.values(*effect.target) else options.rest[:-1]
    if name in ("ln", "link", "bindfs") or options.has(*LINKING.get(name, ())):
        for word in sources:
            into.link(word, cwd)
    elif name == "rsync":
        for word in options.values("--link-dest"):
            into.link(word, cwd)
    elif name == "mount":
        given = {*options.flags, *(part for value in options.values("-o") for part in value.text.split(","))}
        if not given.isdisjoint(MOUNTING):
            for word in (*options.values("--bind", "--rbind", "--move"), *sources):
                into.link(word, cwd)


NAMES = frozenset({"ln", "link", "bindfs", "rsync", "mount", *LINKING})
