"""Project files come from the nearest folder, going upwards, that has them. An approval holds in every checkout of a
repository. Runs the installed command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from trust_box import Box

from command import run
from satellite import satellite

TOOL = ("--tool", "Bash", "--input", '{"command": "ls"}', "--json")
CALLS: dict[str, dict[str, Any]] = {
    "claude": {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
               "tool_input": {"command": "ls"}},
    "codex": {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
              "tool_input": {"command": "ls"}},
    "gemini": {"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "run_shell_command",
               "tool_input": {"command": "ls"}},
    "qwen": {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "run_shell_command",
             "tool_input": {"command": "ls"}},
    "goose": {"event": "PreToolUse", "session_id": "s", "tool_name": "developer__shell",
              "tool_input": {"command": "ls"}},
}  # fmt: skip


@pytest.fixture
def box(tmp_path: Path) -> Box:
    found = Box(tmp_path.resolve())
    found.env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
    return found


def git(box: Box, *words: str, cwd: Path | None = None) -> None:
    user = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *user, *words], check=True, cwd=cwd or box.project, env=box.env, capture_output=True)


def guard(box: Box, base: Path | None = None, command: str = "./guard.sh") -> None:
    """Declare a Claude gate that logs its working directory and $CLAUDE_PROJECT_DIR, and refuses."""
    text = f"#!/bin/sh\necho \"$PWD $CLAUDE_PROJECT_DIR\" >> '{box.log}'\ncat >> '{box.log}'\necho no >&2\nexit 2\n"
    box.write("guard.sh", text, 0o755, base)
    entry = {"matcher": "", "hooks": [{"type": "command", "command": command}]}
    box.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}), base=base)


def gate(box: Box, project: Path) -> list[tuple[str, str]]:
    """The ids and statuses of the project's pre_tool hooks, as `fire` reports them."""
    hooks = box.json("fire", "pre_tool", *TOOL, status=None, project=project)["hooks"]
    return [(hook["id"], hook["status"]) for hook in hooks if hook["scope"] == "project"]


def statuses(box: Box, project: Path) -> list[str]:
    assert [status for _, status in gate(box, project)] == [
        {"armed": "ran", "changed": "untrusted"}.get(hook["status"], hook["status"])
        for hook in box.json("list", "--json", project=project)["hooks"]
        if hook["scope"] == "project"
    ], "`list` and `fire` agree"
    return [status for _, status in gate(box, project)]


def sub_of(box: Box, name: str = "sub/deep", base: Path | None = None) -> Path:
    folder = (base or box.project) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# --- searching upwards


def test_the_root_s_guard_holds_below_it_and_runs_in_the_root(box: Box) -> None:
    git(box, "init")
    guard(box)
    sub = sub_of(box)
    assert statuses(box, sub) == ["untrusted"]
    box.run("trust", "--yes")
    assert statuses(box, sub) == ["ran"]
    shown = "".join(box.run("list", project=sub).stdout.decode().split())
    assert f"from{box.project}" in shown, "long paths are folded"
    box.log.unlink()
    assert box.json("fire", "pre_tool", *TOOL, status=2, project=sub)["verdict"] == "block"
    first, payload = box.logged().splitlines()[:2]
    assert first == f"{box.project} {box.project}"
    assert json.loads(payload)["cwd"] == str(sub), "what it reads is about the agent's folder"


def test_trust_below_shows_and_approves_the_root_s_hooks_for_the_root(box: Box) -> None:
    git(box, "init")
    guard(box)
    sub = sub_of(box)
    shown = box.json("trust", "--json", "--yes", project=sub)
    assert [item["project"] for item in shown["items"]] == [str(box.project)]
    assert statuses(box, box.project) == statuses(box, sub) == ["ran"]
    listed = json.loads(run(["trust", "--list", "--json"], env=box.env, cwd=box.root, as_script=True).stdout)
    assert [each["project"] for each in listed["approvals"]] == [str(box.project)]
    assert str(box.project) in box.run("trust", "--revoke", project=sub).stdout.decode()
    assert statuses(box, box.project) == statuses(box, sub) == ["untrusted"]


@pytest.mark.parametrize("host", CALLS)
def test_every_host_that_gives_a_folder_below_is_refused(box: Box, host: str) -> None:
    git(box, "init")
    guard(box)
    box.run("trust", "--yes")
    sub = sub_of(box)
    key = "working_dir" if host == "goose" else "cwd"
    payload = json.dumps({**CALLS[host], key: str(sub)})
    done = run(
        ["bridge", host, "BeforeTool" if host == "gemini" else "PreToolUse"],
        env=box.env,
        cwd=box.root,
        stdin=payload.encode(),
        as_script=True,
    )
    assert f"{box.project} {box.project}\n" in box.logged(), (done.stdout, done.stderr)
    assert done.returncode == 2 or b"deny" in done.stdout or b"block" in done.stdout


def test_the_nearest_folder_counts_for_each_dialect(box: Box) -> None:
    git(box, "init")
    guard(box)
    box.script("k.sh", "kodik")
    box.kodik("./k.sh")
    sub = sub_of(box, "sub")
    guard(box, sub, "./guard.sh --sub")
    box.run("trust", "--yes", project=sub)
    hooks = box.json("list", "--json", project=sub / "")["hooks"]
    found = {hook["dialect"]: hook["source"].rpartition(":")[0] for hook in hooks if hook["scope"] == "project"}
    assert found == {
        "claude": str(sub / ".claude/settings.json"), "kodik": str(box.project / ".kodik/hooks/hooks.json"),
    }  # fmt: skip
    assert statuses(box, sub) == ["ran", "ran"]
    assert "untrusted" in statuses(box, box.project), "the root's own Claude hook was not shown there"


def test_a_settings_file_without_hooks_hides_no_guard_above(box: Box) -> None:
    git(box, "init")
    guard(box)
    box.run("trust", "--yes")
    sub = sub_of(box)
    box.write(".claude/settings.local.json", '{"permissions": {"allow": ["Bash(ls)"]}}', base=sub)
    assert statuses(box, sub) == ["ran"]


def test_a_file_that_appears_above_is_noticed(box: Box) -> None:
    git(box, "init")
    sub = sub_of(box)
    box.run("fire", "pre_tool", *TOOL, project=sub)
    os.utime(box.project, ns=(0, 0))
    assert box.json("fire", "pre_tool", *TOOL, project=sub)["hooks"] == []
    guard(box)
    assert statuses(box, sub) == ["untrusted"]
    box.run("trust", "--yes", project=sub)
    assert statuses(box, sub) == ["ran"]
    box.project.joinpath(".git").rename(box.project / "git")
    assert statuses(box, sub) == [], "it is a repository's root no more"


def test_outside_a_repository_only_the_folder_itself_counts(box: Box) -> None:
    guard(box)
    assert statuses(box, sub_of(box)) == []
    assert statuses(box, box.project) == ["untrusted"]


def test_below_home_it_is_the_folder_under_home(box: Box) -> None:
    work = sub_of(box, "work/a/b", box.home)
    guard(box, box.home)
    box.home.joinpath(".claude/settings.json").unlink()  # it would be the user's file
    entry = {"hooks": [{"type": "command", "command": "true"}]}
    box.write(".kodik/hooks/hooks.json", json.dumps({"hooks": {"PreToolUse": [entry]}}), base=box.home)
    assert statuses(box, work) == [], "home itself does not count"
    guard(box, box.home / "work")
    assert statuses(box, work) == ["untrusted"]
    git(box, "init", cwd=work)
    assert statuses(box, work) == [], "a repository ends there"


def test_a_ledger_in_the_root_approves_nothing_below_it(box: Box) -> None:
    git(box, "init")
    guard(box)
    sub = sub_of(box)
    box.env["XDG_STATE_HOME"] = str(box.project / "state")
    assert b"inside the project" in box.run("trust", "--yes", status=3, project=sub).stderr
    assert statuses(box, sub) == ["untrusted"]


def test_a_hook_above_is_turned_off_for_its_own_folder(box: Box) -> None:
    git(box, "init")
    guard(box)
    sub = sub_of(box)
    box.run("trust", "--yes", project=sub)
    identity = gate(box, sub)[0][0]
    box.run("disable", identity, project=sub)
    assert statuses(box, sub) == statuses(box, box.project) == ["disabled"]


def test_a_hook_above_that_is_gone_is_missed_below(box: Box) -> None:
    git(box, "init")
    guard(box)
    sub = sub_of(box)
    box.run("trust", "--yes")
    box.project.joinpath(".claude/settings.json").unlink()
    items = box.json("trust", "--json", status=1, project=sub)["items"]
    assert [(item["status"], item["project"]) for item in items] == [("removed", str(box.project))]
    assert [gate["state"] for gate in box.json("status", "--json", status=1, project=sub)["gates"]] == ["changed"]
    box.run("trust", "--yes", project=sub)
    assert box.json("status", "--json", status=1, project=sub)["gates"] == [], "a person has agreed that it is gone"


# --- worktrees and clones


def committed(box: Box) -> None:
    git(box, "init")
    guard(box)
    git(box, "add", ".")
    git(box, "commit", "-m", "guard")


def test_an_approval_holds_in_a_worktree_for_the_same_bytes(box: Box) -> None:
    committed(box)
    said = box.run("trust", "--yes").stderr.decode()
    assert "other worktrees of this repository" in said
    assert "no remote `origin`" in said, "so nobody can tell its clones"
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    assert statuses(box, tree) == ["ran"]
    assert statuses(box, sub_of(box, base=tree)) == ["ran"]
    assert f"{tree} {tree}\n" in box.logged(), "it runs in the worktree"
    box.write("guard.sh", "#!/bin/sh\nexit 0\n", 0o755, tree)
    assert statuses(box, tree) == ["untrusted"]
    assert [item["status"] for item in box.json("trust", "--json", status=1, project=tree)["items"]] == ["changed"]
    assert statuses(box, box.project) == ["ran"]


def test_the_same_bytes_at_another_place_are_not_covered(box: Box) -> None:
    committed(box)
    box.run("trust", "--yes")
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    sub = sub_of(box, "sub", tree)
    guard(box, sub)
    assert statuses(box, sub) == ["untrusted"]


def test_an_approval_holds_in_a_second_clone_of_the_same_origin(box: Box) -> None:
    committed(box)
    git(box, "clone", "--bare", str(box.project), str(box.root / "hub.git"), cwd=box.root)
    clones = [box.root / "one", box.root / "two"]
    for clone in clones:
        git(box, "clone", str(box.root / "hub.git"), str(clone), cwd=box.root)
    assert statuses(box, clones[1]) == ["untrusted"]
    said = box.run("trust", "--yes", project=clones[0]).stderr.decode()
    assert "other worktrees and clones" in said
    assert statuses(box, clones[1]) == ["ran"]
    git(box, "remote", "set-url", "origin", "https://example.com/other", cwd=clones[1])
    assert statuses(box, clones[1]) == ["untrusted"], "another origin is another repository"


def guarded_by(box: Box, command: str, files: dict[str, str]) -> list[Path]:
    """Two clones of a repository with one hook."""
    git(box, "init")
    guard(box, command=command)
    for name, text in files.items():
        box.write(name, text, 0o755)
    git(box, "add", ".")
    git(box, "commit", "-m", "guard")
    git(box, "clone", "--bare", str(box.project), str(box.root / "hub.git"), cwd=box.root)
    clones = [box.root / "one", box.root / "two"]
    for clone in clones:
        git(box, "clone", str(box.root / "hub.git"), str(clone), cwd=box.root)
    return clones


LOADING = [
    ("python3 g.py", {"g.py": "import helper\n", "helper.py": "pass\n"}, "helper.py"),
    ("sh g.sh", {"g.sh": ". ./helper.sh\n", "helper.sh": "true\n"}, "helper.sh"),
    ("make -s check", {"Makefile": "include more.mk\ncheck:\n\t@true\n", "more.mk": "X = 1\n"}, "more.mk"),
]


@pytest.mark.parametrize(("command", "files", "helper"), LOADING, ids=["python", "shell", "make"])
def test_an_approval_holds_in_a_clone_if_everything_it_runs_is_the_same(
    box: Box, command: str, files: dict[str, str], helper: str
) -> None:
    one, two = guarded_by(box, command, files)
    box.run("trust", "--yes", project=one)
    assert statuses(box, two) == ["ran"]
    (two / helper).write_text("# other\n" + (two / helper).read_text())
    assert statuses(box, two) == ["untrusted"], "a fork's helper"
    assert statuses(box, one) == ["ran"]


UNKNOWN = [
    ("sh g.sh", {"g.sh": 'sh "$(cat name)"\n', "name": "x.sh", "x.sh": "true\n"}),
    ("pytest", {}),
    ("python3 g.py", {"g.py": "import importlib, sys\nimportlib.import_module(sys.argv[0].partition('.')[0])\n"}),
]


@pytest.mark.parametrize(("command", "files"), UNKNOWN, ids=["shell", "runner", "python"])
def test_what_is_not_pinned_is_asked_again_in_a_clone_and_not_in_a_worktree(
    box: Box, command: str, files: dict[str, str]
) -> None:
    """A worktree is as much the user's own as another branch in the approved folder. A clone is known by a name only,
    which a submodule or an unpacked archive can have too."""
    one, two = guarded_by(box, command, files)
    said = box.run("trust", "--yes", project=one).stderr.decode()
    assert "Clones need their own approval of 1 of them" in said
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree), cwd=one)
    states = {place: box.json("status", "--json", status=None, project=place)["gates"][0] for place in (one, two, tree)}
    assert [states[place]["state"] for place in (one, tree)] == [states[one]["state"]] * 2
    assert states[one]["state"] in ("armed", "broken")  # the program may not be installed
    assert states[two]["state"] == "waiting"
    assert "approved in another clone only, and it also runs" in states[two]["why"]
    assert [item["status"] for item in box.json("trust", "--json", status=1, project=two)["items"]] == ["new"]


def test_a_submodule_of_a_stranger_at_a_forks_commit_does_not_get_the_approval(box: Box) -> None:
    one, _ = guarded_by(box, "python3 g.py", {"g.py": "import helper\n", "helper.py": "pass\n"})
    box.run("trust", "--yes", project=one)
    fork = box.root / "fork"
    git(box, "clone", str(box.root / "hub.git"), str(fork), cwd=box.root)
    log = box.root / "evil"
    (fork / "helper.py").write_text(f"open({str(log)!r}, 'w')\n")
    git(box, "commit", "-am", "evil", cwd=fork)
    git(box, "push", "origin", "HEAD:evil", cwd=fork)
    hostile = box.root / "hostile"
    hostile.mkdir()
    git(box, "init", cwd=hostile)
    allow = ("-c", "protocol.file.allow=always")
    git(box, *allow, "submodule", "add", "-b", "evil", str(box.root / "hub.git"), "sub", cwd=hostile)
    assert statuses(box, hostile / "sub") == ["untrusted"]
    assert not log.exists()


def test_a_link_to_anothers_git_folder_is_no_worktree(box: Box) -> None:
    one, _ = guarded_by(box, "sh g.sh", {"g.sh": 'sh "$(cat name)"\n', "name": "x.sh", "x.sh": "true\n"})
    box.run("trust", "--yes", project=one)
    other = box.root / "unpacked"
    shutil.copytree(one, other, ignore=shutil.ignore_patterns(".git"))
    (other / ".git").symlink_to(one / ".git")
    assert statuses(box, other) == ["untrusted"]


CASE = "cases:\n  - {name: it, event: pre_tool, tool: Bash, input: {command: ls}, expect: {verdict: block}}\n"


def published(box: Box) -> Path:
    """Give the project a remote `origin`. Returns a clone of that remote."""
    hub, clone = str(box.root / "hub.git"), box.root / "clone"
    git(box, "clone", "--bare", str(box.project), hub, cwd=box.root)
    git(box, "clone", hub, str(clone), cwd=box.root)
    git(box, "remote", "add", "origin", hub)
    return clone


def test_an_approval_from_before_there_was_an_origin_reaches_clones_once_a_person_says_so(box: Box) -> None:
    committed(box)
    assert "Once it has one, `anyhook trust --yes` here" in box.run("trust", "--yes").stderr.decode()
    clone = published(box)
    assert statuses(box, clone) == ["untrusted"], "nobody has approved that"
    said = box.run("trust").stderr.decode()
    assert "approved before its remote `origin` was" in said
    assert "`anyhook trust --yes` here lets this one count there too" in said
    assert statuses(box, clone) == ["untrusted"]
    assert "other worktrees and clones" in box.run("trust", "--yes").stderr.decode()
    assert statuses(box, clone) == ["ran"]
    assert box.run("trust").stderr == b""


def test_an_approval_for_this_folder_only_stays_so_with_a_new_origin(box: Box) -> None:
    committed(box)
    box.run("trust", "--yes", "--here")
    clone = published(box)
    assert b"origin" not in box.run("trust", "--yes").stderr
    assert statuses(box, clone) == ["untrusted"]


def test_cases_and_hooks_of_a_second_clone_are_approved_with_the_first(box: Box) -> None:
    """`anyhook test` in one clone runs what `anyhook trust` approved in the other, and nothing else."""
    satellite("testing")
    git(box, "init")
    guard(box)
    box.write("tests/guard.hooktest.yaml", CASE)
    git(box, "add", ".")
    git(box, "commit", "-m", "guard")
    clones = [box.root / "one", box.root / "two"]
    git(box, "clone", "--bare", str(box.project), str(box.root / "hub.git"), cwd=box.root)
    for clone in clones:
        git(box, "clone", str(box.root / "hub.git"), str(clone), cwd=box.root)
    box.run("test", str(clones[1] / "tests"), status=3, project=clones[1])
    box.run("trust", "--yes", project=clones[0])
    for clone in clones:
        box.run("test", str(clone / "tests"), project=clone)
    box.write("tests/guard.hooktest.yaml", CASE.replace("it,", "other,"), base=clones[1])
    box.run("test", str(clones[1] / "tests"), status=3, project=clones[1])


def test_here_limits_an_approval_to_its_folder(box: Box) -> None:
    committed(box)
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    assert "this folder only" in box.run("trust", "--yes", "--here").stderr.decode()
    assert (statuses(box, box.project), statuses(box, tree)) == (["ran"], ["untrusted"])
    box.script("k.sh", "kodik")
    box.kodik("./k.sh")
    box.run("trust", "--yes")
    assert statuses(box, tree) == ["untrusted"], "a later approval does not widen it"


def test_here_narrows_what_was_approved_for_all(box: Box) -> None:
    committed(box)
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    box.run("trust", "--yes")
    assert statuses(box, tree) == ["ran"]
    box.run("trust", "--yes", "--here")
    assert (statuses(box, box.project), statuses(box, tree)) == (["ran"], ["untrusted"])


def test_revoking_in_one_checkout_leaves_no_approval_that_counts_for_it(box: Box) -> None:
    committed(box)
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    box.run("trust", "--yes")
    said = box.run("trust", "--revoke", project=tree).stdout.decode()
    assert f"{box.project}: no longer approved." in said
    assert statuses(box, tree) == statuses(box, box.project) == ["untrusted"]


def test_a_git_file_that_names_another_s_repository_is_not_its_worktree(box: Box) -> None:
    committed(box)
    box.run("trust", "--yes")
    tree, fake = box.root / "tree", box.root / "fake"
    git(box, "worktree", "add", str(tree))
    fake.mkdir()
    guard(box, fake)
    fake.joinpath(".git").write_text(tree.joinpath(".git").read_text())
    assert statuses(box, fake) == ["untrusted"]


def test_an_approval_of_an_earlier_version_holds_for_its_folder(box: Box) -> None:
    committed(box)
    box.run("trust", "--yes")
    ledger = box.state / "trust.json"
    stored = json.loads(ledger.read_text())
    for entry in stored["projects"].values():
        del entry["repository"]
    ledger.write_text(json.dumps(stored))
    tree = box.root / "tree"
    git(box, "worktree", "add", str(tree))
    assert (statuses(box, box.project), statuses(box, tree)) == (["ran"], ["untrusted"])
