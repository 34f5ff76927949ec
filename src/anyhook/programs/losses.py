"""What a git operation would lose that no commit, stash, branch or remote has. Git is asked, with limits, and changes
nothing. If it does not answer, that is not known, and a rule holds as if something were lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from anyhook.platform.other_programs import ask
from anyhook.programs.facts import Facts, GitOperation
from anyhook.programs.table import row_of

ASK_GIT_S = 1.5
"""How long git may take for one question."""
MAX_OPERATIONS = 8
MAX_LOST_SHOWN = 3
ONLY_LOOKING = (
    "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat",
    "-c", "submodule.recurse=false", "-c", "diff.external=", "-c", "core.quotePath=false",
)  # fmt: skip
MOVES = frozenset({
    "checkout", "switch", "rebase", "merge", "commit", "pull", "cherry-pick", "am", "revert", "reset", "update-ref",
    "symbolic-ref", "stash", "stash push", "stash pop", "stash apply", "read-tree", "rm", "mv",
})  # fmt: skip
"""Operations after which the repository is not as it is now."""


class NotKnownError(Exception):
    """Git did not say, or the call changes the repository first."""


def losses(facts: Facts, is_temporary: Callable[[str], bool], is_built: Callable[[str], bool]) -> str | None:
    """What the git operations of a call would lose, as a text; "" if nothing, None if that is not known."""
    found: list[str] = []
    moved: set[str] = set()
    if len(facts.git) > MAX_OPERATIONS:
        return None
    try:
        for operation in facts.git:
            act = LOSING.get(operation.verb)
            if act is not None and not _is_thrown_away(operation, facts, is_temporary):
                if not operation.in_folder or operation.folder in moved or not operation.folder.startswith("/"):
                    return None
                found.append(_clean(operation, is_built) if act is _lists_only else act(operation))
            if operation.verb in MOVES:
                moved.add(operation.folder)
    except (NotKnownError, OSError, ValueError, IndexError):
        return None
    return "; ".join(dict.fromkeys(filter(None, found)))


def _is_thrown_away(operation: GitOperation, facts: Facts, is_temporary: Callable[[str], bool]) -> bool:
    """Whether it works in a temporary folder, or in one that the call itself makes."""
    folder = operation.folder
    if not operation.in_folder:
        return False
    makes = any(each.verb in ("clone", "init", "worktree add") for each in facts.git)
    made = [path for kind, path, name in facts.doers if kind == "writes" and (makes or row_of(name).special != "git")]
    is_new = any(f"{folder}/".startswith(f"{each}/") for each in made) and not os.path.lexists(folder)
    return is_new or is_temporary(folder)


def _git(folder: str, *words: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    answer = ask(["git", "-C", folder, *ONLY_LOOKING, *words], ASK_GIT_S, env=env)
    if answer.status != 0:
        raise NotKnownError(answer.complaint())
    return answer.out.decode("utf-8", "replace")


def _named(words: Sequence[str]) -> list[str]:
    """The same words, if all of them are known."""
    if any("$" in word or "`" in word or word.startswith("-") for word in words):
        raise NotKnownError
    return [*words]


def _changed(operation: GitOperation, paths: Sequence[str] = (), *, staged: bool, untracked: bool = False) -> str:
    """The files with changes that no commit has; also those that are staged, or that git does not know."""
    mode = "all" if untracked else "no"
    said = _git(operation.folder, "status", "--porcelain", "-z", "--no-renames", f"--untracked-files={mode}",
                "--ignore-submodules=none", "--", *_named(paths))  # fmt: skip
    lines = [line for line in said.split("\0") if len(line) > 3]
    lost = [line[3:] for line in lines if line[1] not in " D" or (staged and line[0] not in " D")]
    what = "has changes that no commit has" if len(lost) == 1 else "have changes that no commit has"
    return _listed("file", lost, what)


def _listed(kind: str, names: Sequence[str], what: str) -> str:
    if not names:
        return ""
    more = ", …" if len(names) > MAX_LOST_SHOWN else ""
    return f"{len(names)} {kind}{'s' * (len(names) != 1)} {what}: {', '.join(names[:MAX_LOST_SHOWN])}{more}"


def _commits(operation: GitOperation, branch: str, kept: Sequence[str]) -> str:
    """The commits that only a branch has, if it goes away from them."""
    if not _git(operation.folder, "for-each-ref", "--format=x", f"refs/heads/{branch}").strip():
        return ""
    said = _git(operation.folder, "rev-list", "--count", f"refs/heads/{branch}", "--not", *kept, "--remotes", "--tags",
                f"--exclude={branch}", "--branches")  # fmt: skip
    count = int(said)
    return f"{count} commit{'s' * (count != 1)} of {branch} on no other branch or remote" if count else ""


def _reset(operation: GitOperation) -> str:
    if not {"--hard", "--merge", "--keep"} & {*operation.flags}:
        return ""
    found = [_changed(operation, staged=True)]
    target = _named(operation.args)
    if target and target[0] not in ("HEAD", "@"):
        branch = _git(operation.folder, "rev-parse", "--abbrev-ref", "HEAD").strip()
        commit = _git(operation.folder, "rev-parse", "--verify", f"{target[0]}^{{commit}}").strip()
        found.append(_commits(operation, branch, [commit]))
    return "; ".join(filter(None, found))


def _checkout(operation: GitOperation) -> str:
    flags = {*operation.flags}
    if flags & {"-b", "--orphan", "--create"}:
        return ""
    if forced := [flag for flag in flags if flag.partition("=")[0] in ("-B", "-C", "--force-create")]:
        [branch] = _named([forced[0].partition("=")[2] or "$"])
        return _commits(operation, branch, _named(operation.args) or ["HEAD"])
    if flags & {"--force", "--discard-changes"}:
        return _changed(operation, staged=True)
    paths = [*operation.paths, *(arg for arg in operation.args if _is_path(operation, arg))]
    others = [arg for arg in operation.args if arg not in paths]
    if "--pathspec-from-file" in flags:
        raise NotKnownError
    if not paths:
        _git(operation.folder, "rev-parse", "--git-dir")  # a branch, or a file that is not there: if it is a repository
    return _changed(operation, paths, staged=bool(others)) if paths else ""


def _is_path(operation: GitOperation, arg: str) -> bool:
    """Whether an argument of `checkout` is a file or a pattern, not a branch."""
    return arg.startswith((":", ".")) or "*" in arg or os.path.lexists(os.path.join(operation.folder, arg))


def _restore(operation: GitOperation) -> str:
    flags = {*operation.flags}
    if "--staged" in flags and "--worktree" not in flags:
        return ""
    paths = [*operation.args, *operation.paths]
    if "--pathspec-from-file" in flags:
        raise NotKnownError
    return _changed(operation, paths, staged="--source" in flags or "--staged" in flags)


def _branch(operation: GitOperation) -> str:
    flags = {*operation.flags}
    if "-M" in flags or "--remotes" in flags:
        raise NotKnownError
    names = _named([*operation.args, *operation.paths])
    if "-D" in flags or {"--delete", "--force"} <= flags:
        found = [_commits(operation, name, ["HEAD"]) for name in names]
        return "; ".join(filter(None, found))
    return _commits(operation, names[0], names[1:2] or ["HEAD"]) if "--force" in flags else ""


def _stash(operation: GitOperation) -> str:
    found = _git(operation.folder, "stash", "list").splitlines()
    if operation.verb == "stash drop":
        found = found[:1]
    return _listed("stash" if len(found) == 1 else "stashe", found, "would be gone")


def _worktree(operation: GitOperation) -> str:
    if "--force" not in operation.flags:
        return ""
    found = []
    for path in _named([*operation.args, *operation.paths]):
        folder = os.path.join(operation.folder, path)
        found.append(_changed(operation.replace(folder=folder), staged=True, untracked=True))
    return "; ".join(filter(None, found))


def _clean(operation: GitOperation, is_built: Callable[[str], bool]) -> str:
    flags = {*operation.flags}
    if "--force" not in flags or flags & {"--dry-run", "--interactive"}:
        return ""
    if "--exclude" in flags:
        raise NotKnownError
    kept = [flag for flag in ("-d", "-x", "-X") if flag in flags]
    said = _git(operation.folder, "clean", "--dry-run", *kept, "--", *_named([*operation.args, *operation.paths]))
    names = [line.removeprefix("Would remove ") for line in said.splitlines() if line.startswith("Would remove ")]
    lost = [name for name in names if not is_built(os.path.join(operation.folder, name))]
    return _listed("file", lost, "that git does not know")


def _lists_only(_operation: GitOperation) -> str:
    """Stands for `clean`, which needs to know what a build makes."""
    raise NotKnownError


def _never_known(_operation: GitOperation) -> str:
    raise NotKnownError


LOSING: dict[str, Callable[[GitOperation], str]] = {
    "reset": _reset, "checkout": _checkout, "switch": _checkout, "restore": _restore, "branch": _branch,
    "stash drop": _stash, "stash clear": _stash, "worktree remove": _worktree, "clean": _lists_only,
    "checkout-index": _never_known, "read-tree": _never_known,
}  # fmt: skip
