"""Folders outside the project that belong to a session, and those that only look so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from anyhook.install.working_places import own_folders, working_folders
from anyhook.rules.paths import CLASSES, Places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def repository(folder: Path, *, commit: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "-q", at=folder)
    if commit:
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x", at=folder)
    return folder


def git(*words: str, at: Path) -> None:
    subprocess.run(["git", *words], cwd=at, check=True, capture_output=True)


def working(home: Path, project: Path, cwd: Path | None = None, agent: str = "") -> set[str]:
    return {*working_folders(agent, {"HOME": str(home)}, str(project), str(cwd or project))}


def test_all_checkouts_of_the_repository_count(home: Path) -> None:
    main = repository(home / "work/main", commit=True)
    git("worktree", "add", "-q", str(home / "work/other"), at=main)
    both = {str(main), str(home / "work/other")}
    assert working(home, main) == both
    assert working(home, home / "work/other") == both
    assert working(home, main, home / "work") == both


def test_a_file_in_git_alone_names_no_checkout(home: Path) -> None:
    main = repository(home / "work/main")
    repository(home / "private")
    (main / ".git/worktrees/x").mkdir(parents=True)
    (main / ".git/worktrees/x/gitdir").write_text(f"{home}/private/.git\n")
    assert working(home, main) == {str(main)}


def test_the_repository_that_the_session_moved_to_counts(home: Path) -> None:
    project, other = repository(home / "work/a"), repository(home / "work/b")
    (other / "src").mkdir()
    assert working(home, project, other / "src") == {str(project), str(other)}
    (home / "notes").mkdir()
    assert working(home, project, home / "notes") == {str(project)}


def test_the_home_folder_never_counts_and_what_is_above_it(home: Path) -> None:
    project = repository(home / "work/a")
    repository(home)
    assert working(home, project, home) == {str(project)}
    assert working(home, home / "x", home / "x") == set()


def test_folders_of_the_users_settings_count_and_a_projects_do_not(home: Path) -> None:
    project = repository(home / "work/a")
    named = {"permissions": {"additionalDirectories": [str(home / "docs"), "~/more", "/", "..", 3, str(home)]}}
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps(named))
    assert working(home, project, agent="claude") == {str(project)}
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(json.dumps(named))
    assert working(home, project, agent="claude") == {str(project), str(home / "docs"), str(home / "more")}
    assert working(home, project, agent="codex") == {str(project)}
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(f'[sandbox_workspace_write]\nwritable_roots = ["{home}/c"]\n')
    assert working(home, project, agent="codex") == {str(project), str(home / "c")}
    (home / ".codex/config.toml").write_text("[[")
    assert working(home, project, agent="codex") == {str(project)}


def test_each_agent_has_its_own_folders() -> None:
    claude, codex = (own_folders(agent, {"HOME": "/h"}, "/h/p") for agent in ("claude", "codex"))
    assert "/h/.claude/plans/**" in claude
    assert codex == ("/h/.codex/memories/**",)
    assert {*claude, *codex} <= {*own_folders("", {"HOME": "/h"}, "/h/p")}
    assert own_folders("codex", {"HOME": "/h", "CODEX_HOME": "/h/x"}, "/h/p") == ("/h/x/memories/**",)


def test_what_counts_as_outside() -> None:
    places = Places("/h", "/h/p", own=lambda: ("/h/.claude/plans/**",), more=lambda: ("/h/q",))
    assert [path for path in ("/h/p/a", "/h/q/a", "/tmp/a", "/h/qq/a", "/h/a") if CLASSES["outside"](path, places)] == [
        "/h/qq/a", "/h/a",
    ]  # fmt: skip
    assert CLASSES["own"]("/h/.claude/plans/a.md", places)
    assert not CLASSES["own"]("/h/.claude/settings.json", places)


def test_what_counts_as_new(tmp_path: Path) -> None:
    """Where nothing is: what is written there replaces nothing."""
    home = tmp_path / "me"
    (home / "notes").mkdir(parents=True)
    (home / "notes" / "a.md").write_text("a")
    (home / "notes" / "link").symlink_to("nowhere")
    places = Places(str(home), str(home / "p"))
    paths = ("notes/b.md", "notes/a.md", "notes/link", "notes", "notes/*.md", ".ssh/b", "notes/.env", "Library/b", "")
    new = [path for path in paths if CLASSES["new"](f"{home}/{path}".rstrip("/"), places)]
    assert new == ["notes/b.md", "notes/.env"]
    assert not any(CLASSES["new"](path, places) for path in ("/usr/local/bin/none", "/c/Windows/none", "$DIR/none"))
    assert CLASSES["new"]("/mnt/none", places)
    assert CLASSES["new"](f"{home}/drafts/*.md", places)  # there is no such folder
