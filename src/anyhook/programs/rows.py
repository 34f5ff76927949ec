"""What a row of the table of programs says. Options are written as in a shell, separated by spaces."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Which = Literal["", "all", "first", "rest", "last", "sources", "copied", "http"]
    """Which arguments: `rest` is all but the first, `sources` all but the last, `copied` the last one or, if that is a
    folder, the sources' names in it, `http` the first that is not a method."""
    Language = Literal[
        "", "sh", "othersh", "python", "node", "perl", "ruby", "php", "lua", "applescript", "tcl", "r", "julia",
        "elixir", "groovy", "powershell", "go", "other",
    ]  # fmt: skip
    """`sh` is the language of POSIX shells and their relatives, `othersh` of shells with another grammar, in which a
    simple command is much the same; in `other` languages, only calls of known functions are read."""
    Runs = Literal["", "shell", "each", "listed", "found", "git", "module", "schedule"]
    Special = Literal[
        "", "git", "dd", "tar", "find", "chmod", "curl", "wget", "socat", "awk", "sed", "patch", "apply_patch",
        "in_place", "cloud", "az", "split", "emptied", "tee", "database", "editor", "environment", "desktop",
        "powershell",
    ]  # fmt: skip
    Tree = Literal[
        "", "copy", "over", "sync", "move", "tar", "unzip", "git", "seven", "unrar", "here", "ar", "dpkg", "module",
        "wget", "cloud", "patch", "stow",
    ]  # fmt: skip
    Escape = Literal[
        "", "editor", "psql", "mysql", "sqlite", "debugger", "bang", "pager", "ssh", "sftp", "tar", "socat", "finder",
        "apt", "git", "tcl", "called", "julia", "make", "scripts",
    ]  # fmt: skip
    OwnFiles = Literal["", "sqlite", "psql", "mysql", "emacs"]
    Finds = Literal["", "find", "fd", "ls", "matches", "git"]
    RecipeKind = Literal[
        "", "make", "just", "task", "json", "compose", "rake", "nox", "invoke", "gradle", "gulp", "tox", "toml",
        "procfile", "play", "setup", "keys",
    ]  # fmt: skip
    Prints = Literal[
        "", "echo", "printf", "cat", "base64", "xxd", "tr", "rev", "pwd", "tee", "nothing", "which", "command", "type",
        "basename", "dirname", "realpath", "readlink", "git", "mktemp", "seq", "lines",
    ]  # fmt: skip
    State = Literal[
        "", "cd", "popd", "eval", "trap", "read", "link", "hash", "alias", "printf", "set", "shift", "declare",
        "mapfile", "complete", "enable", "bind", "fc", "evaluate", "build",
    ]  # fmt: skip
    Trait = Literal[
        "assigns", "builtin", "containers", "copies", "environment", "fed", "filters", "halts", "hands on", "hidden",
        "history", "kills", "lists", "looks", "managed", "packages", "project", "removes",
        "schedules", "scripts", "slashes", "spares", "tags", "text", "versions", "whole",
    ]  # fmt: skip


class Wraps(Record):
    """How a program names the one that it runs: after its own options."""

    values: str | None = None
    """The options with a value before that program; None if they are those of the row."""
    skip: int = 0
    """How many words come between its options and the program."""
    folder: str = ""
    """Options that change the folder."""
    line: str = ""
    """Options whose value is a shell line."""
    joined: bool = False
    """Whether its arguments are joined into a shell line."""
    remote: bool = False
    """Whether it runs elsewhere."""
    keep: bool = False
    """Whether it is reported itself."""
    writes: str = ""
    """Options with which it writes a file, and is then reported itself."""
    verbs: str = ""
    """Its sub-commands that run something; without one of them it runs nothing."""
    packages: bool = False
    """Whether it runs programs of packages, whose names may carry a version: `rimraf@5`."""
    program_if: str | None = None
    """If it runs nothing but the line of an option: the options with which it runs a program after all."""
    typed_after: str = ""
    """The word before a line that it types into a shell."""


class ProgramRow(Record):
    """One program, or several that are alike."""

    names: str
    """The program, then others that do the same with the same options."""

    # -- its command line
    values: str = ""
    """Options that take a value: the letters, then the long ones without dashes, separated by spaces."""
    all_values: bool = False
    """Whether these are all of them, so that every other word is an operand."""
    same: tuple[str, ...] = ()
    """Spellings of one option, each group in one text; after `verb: ` only for that sub-command."""

    # -- files and addresses
    reads: Which = ""
    writes: Which = ""
    deletes: Which = ""
    changes: Which = ""
    """Which paths get another mode, owner or attribute."""
    connects: Which = ""
    read_by: str = ""
    """Options whose value is a file that it reads,"""
    write_by: str = ""
    """or writes,"""
    delete_by: str = ""
    """or deletes."""
    name_by: str = ""
    """Options whose value is the name of a file that it writes, in the folder that one of the next options names."""
    folder_by: str = ""
    target: str = ""
    """Options that name the folder to which everything goes, so that all arguments are sources."""
    writes_if: str = ""
    """Options that make it write what it otherwise reads,"""
    deletes_if: str = ""
    """delete what it otherwise reads or writes,"""
    moves_if: str = ""
    """or delete what it has read."""
    skip_unless: str = ""
    """Its first argument is a program or a pattern, unless one of these options gave it."""
    not_if: str = ""
    """Options with which it only looks."""
    output_by: str = ""
    """Options with which it writes a report, a log or a result, written like `values`."""
    links: Which = ""
    """Which paths get a second name; also with one of the options,"""
    links_if: str = ""
    links_by: str = ""
    """and the options whose values get one."""
    copies: str = ""
    """Sub-commands that copy between this machine and others, separated by `|`."""
    fetch_to: str = ""
    """If it downloads: the options that say where to."""
    special: Special = ""
    """What its arguments do, if that needs a function,"""
    tree: Tree = ""
    """and which trees it copies or unpacks."""
    finds: Finds = ""
    """How its output names files, for what reads it or is run for each of them."""
    own_files: OwnFiles = ""
    """The language in which it is told about files."""

    # -- what it runs
    wraps: Wraps | None = None
    runs: Runs = ""
    """How else it runs other programs."""
    language: Language = ""
    """Of the code that it runs."""
    code_by: str = ""
    """Letters of options whose value is code."""
    loads: str = ""
    """Options that name what is loaded first, or where it is looked for."""
    script_after: str = ""
    """Sub-commands that are followed by its script."""
    told_by: str = ""
    """Options whose value is a file with commands in its own language; `<` if its input is one, `*` if its arguments
    are."""
    line_by: str = ""
    """Options whose value is a shell line; one that ends with `-path`, of another machine."""
    escape: Escape = ""
    """How its own language contains shell lines."""
    arguments_in: str = ""
    """A variable with arguments that it gets before its own."""
    recipes: RecipeKind = ""
    """How the recipes are written that it runs: for make or its relatives, in a Taskfile, as `scripts` or `tasks` in
    JSON or TOML, as services of containers, as plays, as tasks in the code of a language, or as
    the `setup.py` of a folder that it builds."""
    files_in: Language = ""
    """The language of the files that it runs without being an interpreter: its arguments, and those of `reads_here`."""
    reads_here: str = ""
    """Files of its folder that say what it runs,"""
    beside: str = ""
    """and others there that it reads."""

    # -- in a shell
    prints: Prints = ""
    """How its output is known without running it."""
    state: State = ""
    """What it changes in the shell that runs it."""

    # -- secrets on its command line
    hides: str = ""
    """Options that are followed by one; a sign at the end says after which character it starts (`-u:`), a `*` that it
    is in the same word."""
    hides_with: str = ""
    """The word without which they are not."""
    hides_last: str = ""
    """Words with one of which its last argument is one."""

    traits: tuple[Trait, ...] = ()
    """What else is so; see TRAITS."""
    examples: tuple[str, ...] = ()
    """`LINE -> what is known about it; …`, which tests check: `reads a`, `writes a`, `deletes a`, `changes a`,
    `connects a`, `links a`, `runs LINE`, `unknown`, `hides SECRET`, `nothing`."""

    def has(self, trait: Trait) -> bool:
        return trait in self.traits

    @property
    def name(self) -> str:
        return self.names.partition(" ")[0]

    @property
    def is_shell(self) -> bool:
        return self.language == "sh" and self.runs == "shell"

    @property
    def makes(self) -> bool:
        """Whether it runs recipes of makefiles or the like."""
        return self.recipes in ("make", "just")

    @property
    def files_known(self) -> bool:
        """Whether the row says what happens to the files among the arguments, if anything does."""
        return bool(
            self.reads or self.writes or self.deletes or self.changes or self.connects or self.special
            or self.read_by or self.write_by or self.has("spares") or self.has("lists")
        )  # fmt: skip


TRAITS: dict[Trait, str] = {
    "assigns": "words like NAME=VALUE before the program set variables for it",
    "builtin": "a shell has it built in",
    "containers": "it starts containers, which may have our folders",
    "copies": "what it reads may be somewhere else afterwards, under another name",
    "environment": "it runs others with packages that the project names",
    "fed": "without a command it runs its input as shell lines",
    "filters": "it prints what it reads, or parts of it",
    "halts": "its `-h` halts the machine",
    "hands on": "options like `--help` may belong to what it runs",
    "hidden": "people hide its name behind wildcards",
    "history": "it keeps the history of a folder, and may change most files there without being told their names",
    "kills": "it ends processes",
    "lists": "it reads names and sizes of files, not their contents",
    "looks": "it changes and runs nothing, whatever its arguments are",
    "managed": "package.json may say which version of it runs",
    "packages": "it installs and removes packages",
    "project": "it runs what files of the project say, in ways that are not read",
    "removes": "it can remove a whole folder, or hide what is in it",
    "schedules": "it runs something later",
    "scripts": "it runs the scripts in package.json",
    "slashes": "it has options like `/s`",
    "spares": "it does not change the files among its arguments, to our knowledge",
    "tags": "its `-t` is a name",
    "text": "an address among its arguments is only text",
    "versions": "its name may end in a version",
    "whole": "its options are whole words after one dash",
}
UNKNOWN_ROW = ProgramRow("")
"""For a program that is not in the table."""
