"""The types of this package: what one tool call would run, read, write, delete and connect to, and what cannot be
known."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.programs.program import Program, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

__all__ = ["Facts", "GitOperation", "Program", "Word"]


class GitOperation(Record):
    """One git operation, independent of its spelling."""

    verb: str
    """The sub-command: `push`, `stash drop`, `remote add`."""
    flags: tuple[str, ...] = ()
    """Options, split from bundles, by their long names if git has one: `--force`, `--hard`, `--delete`."""
    args: tuple[str, ...] = ()
    """Everything else: remotes, references, paths."""
    paths: tuple[str, ...] = ()
    """What comes after `--`."""
    folder: str = ""
    """Where it works: the current folder, or what `-C` names."""
    settings: tuple[str, ...] = ()
    """What `-c` sets."""
    in_folder: bool = True
    """Whether its repository is the one that its folder is in, on this machine."""


class Facts(Record):
    """What one call would do. Paths are absolute, with links followed; patterns stay patterns; a part that is known
    only at run time stays as it was written (`$X/a`)."""

    runs: tuple[Program, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    makes_executable: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """Paths whose mode, owner or attributes change, but not their content."""
    connects: tuple[str, ...] = ()
    """Addresses and host names."""
    git: tuple[GitOperation, ...] = ()
    secrets: tuple[str, ...] = ()
    """Kinds of secret material that are read, printed or sent."""
    unknown: tuple[str, ...] = ()
    """What could not be known: `path from $X`, `eval of …`, `code from the output of curl`."""
    doers: tuple[tuple[str, str, str], ...] = ()
    """Which program does what to a path: the field (`deletes`), the path, and the program's name; "" for a redirection
    and for a tool that works on files itself."""
    links: tuple[str, ...] = ()
    """Paths that get a second name, by which they can be changed later."""
    trees: tuple[tuple[str, str], ...] = ()
    """Folders over which a whole tree is copied or unpacked, and the tree or archive; "" if that is not known."""

    unread: tuple[str, ...] = ()
    """Those of `unknown` that say that a part of the call was not read at all."""
    cleans: tuple[str, ...] = ()
    """Folders that lose the files which git does not know; the folders themselves stay."""
    inside: tuple[str, ...] = ()
    """The files that these facts are in, outermost first: scripts, a makefile. Empty for the call itself."""
    parts: tuple[Facts, ...] = ()
    """What the files do that the call runs, part by part."""

    @property
    def all_changed(self) -> tuple[str, ...]:
        """Every path that the call changes."""
        return (*self.writes, *self.deletes, *self.makes_executable, *self.changes)

    def whole(self) -> Facts:
        """The call and the files that it runs, as one."""
        made: dict[str, tuple[object, ...]] = {}
        for name in self.fields:
            if name not in ("inside", "parts"):
                values = [value for each in (self, *self.parts) for value in getattr(each, name)]
                made[name] = tuple(values if name in ("runs", "git") else dict.fromkeys(values))
        return self.replace(parts=(), **made)

    def as_json(self) -> dict[str, Json]:
        """The form that `anyhook facts --json` prints and hooks get: with the files that the call runs."""
        if self.parts:
            return self.whole().as_json()
        return {
            "runs": [[program.name or program.path, *program.args] for program in self.runs],
            "reads": list(self.reads),
            "writes": list(self.writes),
            "deletes": list(self.deletes),
            "connects": list(self.connects),
            "unknown": list(self.unknown),
            "executable": list(self.makes_executable),
            "changes": list(self.changes),
            "git": [
                {"verb": each.verb, "flags": list(each.flags), "args": list(each.args), "paths": list(each.paths)}
                for each in self.git
            ],
            "secrets": list(self.secrets),
            "cleans": list(self.cleans),
        }
