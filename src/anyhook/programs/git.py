"""Git's operations in one spelling, and the paths that they change."""

from __future__ import annotations

import os

from anyhook.programs.facts import GitOperation
from anyhook.programs.options import sort_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.programs.options import SortedOptions
    from anyhook.programs.program import Program, Word

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


def operation_of(program: Program) -> tuple[GitOperation, SortedOptions] | None:
    """What a git command does; None if it has no sub-command."""
    left = list(program.words)
    folder = program.cwd or ""
    if by_variable := next((value for name, value in program.set if name == "GIT_WORK_TREE"), ""):
        folder = os.path.normpath(os.path.join(folder, by_variable))
    settings: list[str] = []
    while left and left[0].text.startswith("-"):
        option = left.pop(0)
        name, sign, value = option.text.partition("=")
        if name in GLOBAL_VALUES and not sign and left:
            value = left.pop(0).source
        if name in ("-C", "--work-tree"):
            folder = os.path.normpath(os.path.join(folder, value)) if value else folder
        if name == "-c":
            settings.append(value)
    if not left:
        return None
    verb = left.pop(0).text
    group = verb
    if verb in GROUPS and left and not left[0].text.startswith("-"):
        verb = f"{verb} {left.pop(0).text}"
    sorted_ = sort_options(_numbers_kept(left), VALUES.get(group, ""), LONG.get(group, {}))
    flags = tuple(
        dict.fromkeys(
            name if not value.text or name not in SHOWN else f"{name}={value.source}" for name, value in sorted_.named
        )
    )
    if verb == "clean" and "clean.requireforce=false" in map(str.lower, settings):
        flags = (*flags, "--force")
    args = sorted_.rest[: len(sorted_.rest) - len(sorted_.after_dashes)]
    paths = tuple(word.source for word in sorted_.after_dashes)
    words = tuple(word.source for word in args)
    found = GitOperation(verb, flags, words, paths, folder, tuple(settings), _is_in_folder(program))
    return found, sorted_


def _is_in_folder(program: Program) -> bool:
    """Whether it works in the repository of its folder, on this machine."""
    elsewhere = ("--git-dir", "--work-tree", "--namespace")
    is_told = any(word.text.partition("=")[0] in elsewhere for word in program.words)
    is_set = any(name.startswith("GIT_") for name, _ in program.set)
    return not (program.remote or program.cwd is None or is_told or is_set)


SHOWN = (
    "-B",
    "-C",
    "--file",
    "--expire",
    "--expire-unreachable",
    "--prune",
    "--chmod",
    "--recurse-submodules",
    "--rebase",
)
"""Options whose value changes what they mean."""


CONFIG_CHANGES = ("--unset", "--unset-all", "--remove-section", "--rename-section", "--edit")


def _numbers_kept(words: list[Word]) -> list[Word]:
    """Without `-5`, which is a number of commits."""
    return [word for word in words if not word.text[1:].isdigit() or not word.text.startswith("-")]


def remotes(operation: GitOperation) -> Iterator[str]:
    """The addresses that an operation names: an URL, or `host:path`."""
    if operation.verb.split(" ")[0] not in (
        "clone",
        "push",
        "pull",
        "fetch",
        "remote",
        "ls-remote",
        "submodule",
        "archive",
    ):
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
    verb, flags, args, paths = operation.verb, operation.flags, list(operation.args), list(operation.paths)
    if verb == "checkout":
        if paths:
            return paths, []
        if any(flag.partition("=")[0] in ("-b", "-B", "--orphan") for flag in flags):
            return [], []
        return [arg for arg in args if arg == "." or os.path.lexists(os.path.join(operation.folder, arg))], []
    if verb == "restore":
        return ([] if "--staged" in flags and "--worktree" not in flags else [*args, *paths]), []
    if verb == "reset" and any(flag in flags for flag in ("--hard", "--merge", "--keep")):
        return ["."], []
    if verb == "clean" and "--force" in flags and "--dry-run" not in flags:
        return [], [*args, *paths]
    if verb == "rm" and "--cached" not in flags and "--dry-run" not in flags:
        return [], [*args, *paths]
    if verb == "mv" and len(args + paths) > 1:
        named = args + paths
        return named[-1:], named[:-1]
    if verb == "clone" and args:
        return args[1:2] or [args[0].rstrip("/").rpartition("/")[2].removesuffix(".git")], []
    if verb == "worktree remove":
        return [], args
    if verb == "config" and (len(args) > 1 or any(flag in flags for flag in CONFIG_CHANGES)):
        return [flag.removeprefix("--file=") for flag in flags if flag.startswith("--file=")], []
    if verb in ("worktree add", "init"):
        return args[:1], []
    if verb in ("stash pop", "stash apply"):
        return ["."], []
    if verb in ("stash", "stash push"):
        return [*args, *paths], []
    if verb == "switch" and any(flag in flags for flag in ("--discard-changes", "--force")):
        return ["."], []
    return [], []
