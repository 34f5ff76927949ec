"""What git would lose, asked of real repositories: the loss is named, and the same operation passes where nothing is
lost."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from anyhook.model.event import Event
from anyhook.rules.calls import facts_of
from anyhook.rules.evaluate import RuleCall
from anyhook.rules.paths import Places


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    """A repository with a remote that has `main` and `shared`; only we have `mine`. Not in memory: what is there counts
    as thrown away."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield made_in(Path(folder))


def made_in(folder: Path) -> Path:
    (folder / "up").mkdir()
    git(folder / "up", "init", "--bare")
    work = folder / "work"
    git(folder, "clone", str(folder / "up"), "work")
    git(work, "checkout", "-b", "main")
    for name in ("a.txt", "b.txt", "Makefile"):
        (work / name).write_text("one\n")
    git(work, "add", ".")
    git(work, "commit", "-m", "one")
    git(work, "commit", "--allow-empty", "-m", "two")
    git(work, "push", "origin", "main", "main:shared")
    git(work, "branch", "merged")
    git(work, "branch", "shared")
    git(work, "checkout", "-b", "mine")
    git(work, "commit", "--allow-empty", "-m", "only here")
    git(work, "checkout", "main")
    (work / "b.txt").write_text("changed\n")
    git(work, "worktree", "add", "../clean", "merged")
    git(work, "worktree", "add", "../dirty", "shared")
    (folder / "dirty" / "new.txt").write_text("new\n")
    (work / "new.txt").write_text("new\n")
    (work / "build").mkdir()
    (work / "build" / "out.o").write_text("o\n")
    return work


def lost(repository: Path, line: str) -> str | None:
    places = Places("/nowhere/home", str(repository), temp=("/tmp/thrown",))
    facts = facts_of("Bash", {"command": line}, cwd=str(repository), home=places.home, project=None)
    return RuleCall(Event("pre_tool", {"tool": "Bash", "input": {"command": line}}), "", places, lambda: facts).lost


NOTHING = (
    "git checkout -- a.txt", "git checkout a.txt", "git restore a.txt Makefile", "git restore --staged b.txt",
    "git checkout merged", "git checkout -b new", "git checkout -bnew", "git branch -D merged",
    "git branch -D shared merged", "git worktree remove --force ../clean", "git stash clear", "git stash drop",
    "git clean -fd build", "git clean -n", "git push --force", "git branch -f merged main", "git checkout -B new main",
    "git reset b.txt", "git reset --soft HEAD~1", "git -C ../clean reset --hard", "git checkout HEAD -- a.txt",
    "cd ../clean && git checkout .", "git -C /tmp/thrown/x reset --hard",
    "git clone x ../made && cd ../made && git clean -fdx",
)  # fmt: skip
SOMETHING = {
    "git checkout -- b.txt": "b.txt", "git checkout .": "b.txt", "git restore .": "b.txt", "git restore b.txt": "b.txt",
    "git reset --hard": "b.txt", "git reset --hard origin/main": "b.txt", "git checkout -f merged": "b.txt",
    "git switch --discard-changes merged": "b.txt", "git checkout HEAD~1 -- b.txt": "b.txt",
    "git branch -D mine": "1 commit of mine", "git branch -f mine main": "1 commit of mine",
    "git checkout -B mine main": "1 commit of mine", "git switch -C mine main": "1 commit of mine",
    "git worktree remove --force ../dirty": "new.txt", "git clean -fd": "new.txt", "git clean -f new.txt": "new.txt",
    "cd ../dirty && git clean -fd": "new.txt",
}  # fmt: skip
NOT_KNOWN = (
    "git --git-dir=../x/.git reset --hard", "GIT_DIR=../x/.git git reset --hard", "ssh host git reset --hard",
    'git branch -D "$NAME"', 'git checkout -- "$FILE"', "git reset --hard nowhere", "git -C ../none reset --hard",
    "git checkout shared && git reset --hard origin/main", "git branch -M mine main", "git read-tree --reset HEAD",
    'cd "$X" && git reset --hard', "; ".join(["git reset --hard"] * 20),
)  # fmt: skip


def test_nothing_is_lost(repository: Path) -> None:
    assert {line: found for line in NOTHING if (found := lost(repository, line)) != ""} == {}


def test_what_is_lost_is_named(repository: Path) -> None:
    assert {
        line: found for line, name in SOMETHING.items() if name not in ((found := lost(repository, line)) or "")
    } == {}


def test_what_git_does_not_say_counts_as_lost(repository: Path) -> None:
    assert {line: found for line in NOT_KNOWN if (found := lost(repository, line)) is not None} == {}


def test_a_stash_is_lost(repository: Path) -> None:
    git(repository, "stash", "push", "b.txt")
    try:
        assert "1 stash would be gone" in (lost(repository, "git stash drop") or "")
        assert lost(repository, "git reset --hard") == ""
    finally:
        git(repository, "stash", "pop")


def test_asking_starts_no_program_of_the_repository(repository: Path) -> None:
    mark = repository / "ran"
    git(repository, "config", "core.fsmonitor", f"touch {mark}")
    hooks = repository / ".git" / "hooks"
    for name in ("post-index-change", "pre-auto-gc", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    try:
        for line in SOMETHING:
            lost(repository, line)
        assert not mark.exists()
    finally:
        git(repository, "-c", "core.fsmonitor=false", "config", "--unset", "core.fsmonitor")
