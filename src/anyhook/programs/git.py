"""Git's operations in one spelling, and the paths that they change."""

from __future__ import annotations

import os

from anyhook.programs.facts import GitOperation
from anyhook.programs.options import SortedOptions, sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.programs.program import Program, Word

    Changed = tuple[list[str], list[str]]

GLOBAL_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env")
GROUPS = frozenset(
    {"stash", "remote", "worktree", "submodule", "reflog", "bisect", "notes", "lfs", "sparse-checkout", "bundle",
        "flow", "maintenance"}
)  # fmt: skip
"""Sub-commands with further sub-commands."""
COMMON = {"f": "--force", "n": "--dry-run", "q": "--quiet", "v": "--verbose"}
LONG: dict[str, dict[str, str]] = {
    "push": {**COMMON, "d": "--delete", "u": "--set-upstream"},
    "clean": {**COMMON, "d": "-d", "x": "-x", "X": "-X", "i": "--interactive", "e": "--exclude"},
    "branch": {"d": "--delete", "D": "-D", "f": "--force", "m": "--move", "M": "-M", "a": "--all", "r": "--remotes",
        "c": "--copy", "C": "-C"},
    "checkout": {"f": "--force", "b": "-b", "B": "-B", "p": "--patch", "m": "--merge", "q": "--quiet"},
    "switch": {"f": "--force", "c": "--create", "C": "-C", "d": "--detach", "m": "--merge"},
    "restore": {"S": "--staged", "W": "--worktree", "s": "--source", "p": "--patch", "q": "--quiet"},
    "reset": {"q": "--quiet", "p": "--patch", "N": "--intent-to-add"},
    "commit": {"n": "--no-verify", "a": "--all", "m": "--message", "F": "--file", "C": "--reuse-message",
        "c": "--reedit-message", "p": "--patch", "s": "--signoff", "S": "--gpg-sign", "q": "--quiet",
            "v": "--verbose", "e": "--edit"},
    "rm": {**COMMON, "r": "-r"}, "mv": {**COMMON, "k": "-k"},
    "add": {**COMMON, "A": "--all", "u": "--update", "p": "--patch", "i": "--interactive", "N": "--intent-to-add"},
    "rebase": {"i": "--interactive", "x": "--exec", "f": "--force-rebase", "s": "--strategy", "m": "--merge"},
    "merge": {"m": "--message", "n": "-n", "s": "--strategy", "q": "--quiet"},
    "tag": {"d": "--delete", "f": "--force", "a": "--annotate", "m": "--message", "l": "--list", "n": "-n"},
    "stash": {"u": "--include-untracked", "a": "--all", "m": "--message", "q": "--quiet", "p": "--patch",
        "k": "--keep-index", "S": "--staged"},
    "pull": {"f": "--force", "r": "--rebase", "q": "--quiet"},
    "fetch": {"f": "--force", "p": "--prune", "a": "--append", "q": "--quiet"},
    "worktree": {"f": "--force", "b": "-b", "B": "-B"}, "gc": {"q": "--quiet"}, "submodule": {"f": "--force"},
    "filter-branch": {"f": "--force", "d": "-d"},
    "update-ref": {"d": "--delete", "m": "--message"}, "symbolic-ref": {"d": "--delete", "m": "--message"},
    "apply": {"R": "--reverse", "p": "-p"},
    "config": {"f": "--file", "e": "--edit"},
    "init": {"q": "--quiet", "b": "--initial-branch"}, "revert": {"n": "--no-commit", "m": "--mainline"},
    "cherry-pick": {"n": "--no-commit", "m": "--mainline"},
    "am": {"3": "--3way", "q": "--quiet"}, "read-tree": {"m": "-m", "u": "-u"},
    "checkout-index": {"f": "--force", "a": "--all"}, "clone": {"b": "--branch", "q": "--quiet"},
}  # fmt: skip
"""The long names of short options, by sub-command."""
VALUES = {
    "push": "o push-option repo receive-pack", "clean": "e exclude",
    "branch": "u set-upstream-to contains merged sort format", "checkout": "bB conflict orphan",
    "switch": "cC create orphan conflict", "restore": "s source conflict pathspec-from-file",
    "reset": "pathspec-from-file",
    "commit": "mFCct message file author date fixup squash reuse-message reedit-message template trailer",
    "merge": "msSX message file strategy",
    "rebase": "xsXC exec onto strategy", "tag": "mFu message file sort contains",
    "stash": "m message pathspec-from-file",
    "clone": "bojcu branch depth origin config reference template upload-pack",
    "log": "nLSG max-count since until author grep format after before", "worktree": "bB reason",
    "filter-branch": "d tree-filter index-filter env-filter msg-filter commit-filter tag-name-filter "
        "subdirectory-filter parent-filter",
    "config": "f file get-regexp", "diff": "US unified", "show": "U", "update-ref": "m message",
    "revert": "m mainline", "cherry-pick": "m mainline", "init": "b initial-branch template",
    "archive": "o output format prefix",
    "add": "chmod pathspec-from-file", "gc": "", "reflog": "expire expire-unreachable",
    "fetch": "o depth refmap upload-pack", "pull": "sX strategy depth", "apply": "pC directory exclude include",
    "am": "pC directory", "submodule": "b branch reference depth",
    "blame": "L", "describe": "match", "bundle": "", "format-patch": "o output-directory", "grep": "eABCf max-depth",
}  # fmt: skip


ONLY_LONG = {
    "push": ("--mirror", "--prune", "--force-with-lease", "--force-if-includes", "--no-verify", "--all", "--tags"),
    "reset": ("--hard", "--merge", "--keep", "--soft", "--mixed"), "checkout": ("--orphan", "--ours", "--theirs"),
    "switch": ("--discard-changes", "--force-create", "--orphan"), "rm": ("--cached",),
}  # fmt: skip
"""Long options without a short form that decide what is lost."""


def operation_of(program: Program) -> tuple[GitOperation, SortedOptions] | None:
    """What a git command does; None if it has no sub-command."""
    left = list(program.words)
    folder, settings = _own_options(program, left)
    if not left:
        return None
    group = verb = left.pop(0).text
    if verb in GROUPS and left and not left[0].text.startswith("-"):
        verb = f"{verb} {left.pop(0).text}"
    sorted_ = sort_options(_numbers_kept(left), VALUES.get(group, ""), LONG.get(group, {}))
    sorted_ = sorted_.replace(named=tuple([(_whole_name(name, group), value) for name, value in sorted_.named]))
    flags = [f"{name}={value.source}" if value.text and name in SHOWN else name for name, value in sorted_.named]
    if verb == "clean" and "clean.requireforce=false" in map(str.lower, settings):
        flags.append("--force")
    args = sorted_.rest[: len(sorted_.rest) - len(sorted_.after_dashes)]
    paths = tuple([word.source for word in sorted_.after_dashes])
    words = tuple([word.source for word in args])
    once = tuple(dict.fromkeys(flags))
    return GitOperation(verb, once, words, paths, folder, tuple(settings), _is_in_folder(program)), sorted_


def _own_options(program: Program, left: list[Word]) -> tuple[str, list[str]]:
    """The folder and the settings that the options before the sub-command name; they are taken from the words."""
    folder = program.cwd or ""
    if by_variable := next((value for name, value in program.set if name == "GIT_WORK_TREE"), ""):
        folder = os.path.normpath(os.path.join(folder, by_variable))
    settings: list[str] = []
    while left and left[0].text.startswith("-"):
        name, sign, value = left.pop(0).text.partition("=")
        if name in GLOBAL_VALUES and not sign and left:
            value = left.pop(0).source
        if name in ("-C", "--work-tree") and value:
            folder = os.path.normpath(os.path.join(folder, value))
        if name == "-c":
            settings.append(value)
    return folder, settings


def _whole_name(flag: str, verb: str) -> str:
    """The option that an abbreviation stands for: git takes every beginning that only one option has."""
    if not flag.startswith("--"):
        return flag
    known = {*LONG.get(verb, {}).values(), *ONLY_LONG.get(verb, ())}
    meant = [] if flag in known else [name for name in known if name.startswith(flag)]
    return meant[0] if len(meant) == 1 else flag


def _is_in_folder(program: Program) -> bool:
    """Whether it works in the repository of its folder, on this machine."""
    elsewhere = ("--git-dir", "--work-tree", "--namespace")
    is_told = any(word.text.partition("=")[0] in elsewhere for word in program.words)
    is_set = any(name.startswith("GIT_") for name, _ in program.set)
    return not (program.remote or program.cwd is None or is_told or is_set)


SHOWN = (
    "-B", "-C", "--file", "--expire", "--expire-unreachable", "--prune", "--chmod", "--recurse-submodules", "--rebase",
)  # fmt: skip
"""Options whose value changes what they mean."""


CONFIG_CHANGES = ("--unset", "--unset-all", "--remove-section", "--rename-section", "--edit")


def _numbers_kept(words: list[Word]) -> list[Word]:
    """Without `-5`, which is a number of commits."""
    return [word for word in words if not word.text[1:].isdigit() or not word.text.startswith("-")]


CONNECTING = ("clone", "push", "pull", "fetch", "remote", "ls-remote", "submodule", "archive")


def remotes(operation: GitOperation) -> Iterator[str]:
    """The addresses that an operation names: an URL, or `host:path`."""
    if operation.verb.split(" ")[0] not in CONNECTING:
        return
    for arg in operation.args:
        if "://" in arg or ("@" in arg and ":" in arg and not arg.startswith("-")):
            yield arg


def cleans(operation: GitOperation) -> bool:
    """Whether it removes files of the folder that git does not know, whatever they are. The folder itself stays."""
    flags = operation.flags
    forced = operation.verb == "clean" and "--force" in flags and "--dry-run" not in flags
    stashed = operation.verb in ("stash", "stash push") and not {"--include-untracked", "--all"}.isdisjoint(flags)
    return (forced or stashed) and not (operation.args or operation.paths)


def read_paths(operation: GitOperation) -> tuple[str, ...]:
    """The files that an operation shows although they are in no repository."""
    shows = operation.verb == "hash-object" or (operation.verb == "diff" and "--no-index" in operation.flags)
    return (*operation.args, *operation.paths) if shows else ()


def changed_paths(operation: GitOperation) -> tuple[list[str], list[str]]:
    """The paths, as written, that an operation writes and deletes in the working tree."""
    act = CHANGED_BY.get(operation.verb)
    return act(operation, [*operation.args, *operation.paths]) if act is not None else ([], [])


def _checkout(operation: GitOperation, _named: list[str]) -> Changed:
    if operation.paths:
        return [*operation.paths], []
    if any(flag.partition("=")[0] in ("-b", "-B", "--orphan") for flag in operation.flags):
        return [], []
    return [arg for arg in operation.args if arg == "." or os.path.lexists(os.path.join(operation.folder, arg))], []


def _restore(operation: GitOperation, named: list[str]) -> Changed:
    return ([] if "--staged" in operation.flags and "--worktree" not in operation.flags else named), []


def _clone(operation: GitOperation, _named: list[str]) -> Changed:
    args = [*operation.args]
    return (args[1:2] or [args[0].rstrip("/").rpartition("/")[2].removesuffix(".git")] if args else []), []


def _config(operation: GitOperation, _named: list[str]) -> Changed:
    changes = len(operation.args) > 1 or not {*CONFIG_CHANGES}.isdisjoint(operation.flags)
    files = [flag.removeprefix("--file=") for flag in operation.flags if flag.startswith("--file=")]
    return (files if changes else []), []


def _all_with(*flags: str) -> Callable[[GitOperation, list[str]], Changed]:
    """With one of these options, everything in the folder is written."""
    return lambda operation, _: ([] if {*flags}.isdisjoint(operation.flags) else ["."], [])


CHANGED_BY: dict[str, Callable[[GitOperation, list[str]], Changed]] = {
    "checkout": _checkout,
    "restore": _restore,
    "reset": _all_with("--hard", "--merge", "--keep"),
    "switch": _all_with("--discard-changes", "--force"),
    "clean": lambda operation, named: (
        [], named if "--force" in operation.flags and "--dry-run" not in operation.flags else []
    ),
    "rm": lambda operation, named: ([], [] if {"--cached", "--dry-run"} & {*operation.flags} else named),
    "mv": lambda _, named: (named[-1:], named[:-1]) if len(named) > 1 else ([], []),
    "clone": _clone,
    "worktree remove": lambda operation, _: ([], [*operation.args] if "--force" in operation.flags else []),
    "worktree add": lambda operation, _: ([*operation.args[:1]], []),
    "init": lambda operation, _: ([*operation.args[:1]], []),
    "config": _config,
    "stash": lambda _, named: (named, []),
    "stash push": lambda _, named: (named, []),
    "stash pop": lambda *_: (["."], []),
    "stash apply": lambda *_: (["."], []),
}  # fmt: skip
"""What the sub-commands do to the files of the working tree: written, deleted."""
