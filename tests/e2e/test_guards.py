"""Turning guards on and off: `add`, `remove`, `guards`, `setup`, and what `anyhook` without arguments prints."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anyhook.rules.pack_list import GUARDS
from anyhook.tables.registry import host
from conftest import World

PUSH = json.dumps({"command": "git push --force"})
PACKAGE = """[[rule]]
name = "no release"
when = "runs make release"
because = "CI releases."

[[rule]]
name = "lint"
after = "writes *.md"
run = "echo linted {path}"
"""


def verdict(world: World, given: str = PUSH, tool: str = "Bash") -> str:
    return str(world.fire("pre_tool", "--tool", tool, "--input", given)["verdict"])


def guards(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.command("guards", "--json").stdout)
    return found


def gates(world: World) -> dict[str, Any]:
    return {gate["id"]: gate for gate in json.loads(world.command("status", "--json").stdout)["gates"]}


def test_guards_are_on_at_once_and_off_again(world: World) -> None:
    assert verdict(world) == "none"
    done = world.command("add", "guard", "--yes")
    assert done.returncode == 0, done.stderr
    assert "anyhook remove guard" in done.stderr
    assert verdict(world) == "block"
    assert verdict(world, json.dumps({"command": "git status"})) == "none"
    assert world.command("remove", "guard").returncode == 0
    assert verdict(world) == "none"
    assert world.command("remove", "guard").returncode == 1


def test_the_reason_says_what_to_do_instead(world: World) -> None:
    world.command("add", "git", "--yes")
    decision = world.fire("pre_tool", "--tool", "Bash", "--input", PUSH)
    assert "--force-with-lease" in decision["reason"]


def test_file_tools_are_guarded_like_the_shell(world: World) -> None:
    world.command("add", "guard", "--yes")
    settings = {"file_path": str(world.project / ".claude/settings.json"), "content": "{}"}
    assert verdict(world, json.dumps(settings), "Write") == "block"
    fine = {"file_path": str(world.project / "src/app.py"), "content": "x = 1"}
    assert verdict(world, json.dumps(fine), "Write") == "none"


def test_nothing_is_changed_without_a_yes(world: World) -> None:
    done = world.command("add", "guard")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert not (world.home / "config/anyhook/hooks.toml").exists()


def test_rules_of_ones_own_stay_as_they_are(world: World) -> None:
    path = world.home / "config/anyhook/hooks.toml"
    mine = '# mine\n[[rule]]\nname = "x"  # keep\nwhen = "runs x"\n'
    world.write(path, mine)
    world.command("add", "git", "--yes")
    assert mine.rstrip() in path.read_text()
    assert verdict(world) == "block"
    world.command("remove", "git")
    assert "git" not in path.read_text()
    assert 'name = "x"  # keep' in path.read_text()


def test_packs_of_a_project_are_approved_with_the_yes(world: World) -> None:
    done = world.command("add", "git", "--scope", "project", "--yes", "--json")
    assert json.loads(done.stdout)["approved"] > 10
    assert verdict(world) == "block"
    world.command("remove", "git", "--scope", "project")
    assert json.loads(world.command("status", "--json").stdout)["gates"] == []


def test_a_yes_to_a_pack_approves_no_other_rule_of_the_project(world: World) -> None:
    world.write(world.project / ".anyhook/hooks.toml", '[[rule]]\nname = "x"\nwhen = "runs x"\n')
    world.command("add", "git", "--scope", "project", "--yes")
    states = {hook["id"]: hook["status"] for hook in json.loads(world.command("list", "--json").stdout)["hooks"]}
    assert states["anyhook:project:pre_tool:x"] != "armed"
    assert states["anyhook:project:git:pre_tool:hard-reset"] == "armed"


def test_guards_shows_what_is_on(world: World) -> None:
    world.command("add", "git", "--yes")
    found = {pack["name"]: pack for pack in guards(world)["packs"]}
    assert found["git"]["on"] == ["user"]
    assert found["files"]["on"] == []
    assert {rule["state"] for rule in found["git"]["rules"]} == {"armed"}
    rules = {rule["name"]: rule for rule in found["git"]["rules"]}
    assert rules["hard reset"]["id"] == "anyhook:user:git:pre_tool:hard-reset"
    path = world.home / "config/anyhook/hooks.toml"
    path.write_text(path.read_text() + '\n[[relax]]\nrule = "git/hard reset"\nenabled = false\n')
    after = {rule["name"]: rule["state"] for pack in guards(world)["packs"] for rule in pack["rules"]}
    assert after["hard reset"] == "disabled"


def test_a_word_that_is_no_pack_is_a_bad_call(world: World) -> None:
    done = world.command("add", "gaurd", "--yes")
    assert done.returncode == 3
    assert "guard" in done.stderr
    assert world.command("remove", "nonsense").returncode == 3


def test_a_package_is_shown_pinned_updated_and_removed(world: World) -> None:
    folder = world.root / "house-rules"
    world.write(folder / "packs/house.toml", PACKAGE)
    shown = world.command("add", str(folder))
    assert shown.returncode == 1
    assert "runs: echo linted" in shown.stdout
    assert world.command("add", str(folder), "--yes").returncode == 0
    release = json.dumps({"command": "make release"})
    assert verdict(world, release) == "block"
    lock = world.home / "config/anyhook/anyhook.lock"
    pinned = json.loads(lock.read_text())["packages"]["house-rules"]
    assert pinned["source"] == str(folder)
    assert len(pinned["files"]["packs/house.toml"]) == 64
    world.write(folder / "packs/house.toml", PACKAGE.replace("CI releases.", "Ask first."))
    again = world.command("add", str(folder))
    assert '+because = "Ask first."' in again.stdout
    assert again.returncode == 1
    world.command("add", str(folder), "--yes")
    assert [each["changed"] for each in guards(world)["packages"]] == [False]
    copy = world.home / "config/anyhook/packages/house-rules/packs/house.toml"
    copy.write_text(copy.read_text() + "# changed\n")
    assert [each["changed"] for each in guards(world)["packages"]] == [True]
    assert verdict(world, release) == "none", "what changed behind the lock does not count"
    states = {
        gate["id"]: (gate["state"], gate["fix"])
        for gate in json.loads(world.command("status", "--json").stdout)["gates"]
    }
    assert states["anyhook:user:house:pre_tool:no-release"] == ("changed", "anyhook guards")
    world.command("add", str(folder), "--yes")
    assert verdict(world, release) == "block"
    assert world.command("remove", "house-rules").returncode == 0
    assert not lock.exists()
    assert verdict(world, release) == "none"


def test_a_package_from_a_repository_is_taken_at_its_revision(world: World) -> None:
    folder = world.root / "rules"
    world.write(folder / "house.toml", PACKAGE)

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        done = subprocess.run(("git", "-C", str(folder), *who, *words), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    first = git("rev-parse", "HEAD")
    world.write(folder / "house.toml", PACKAGE.replace("CI releases.", "Ask first."))
    git("commit", "-qam", "two")
    done = world.command("add", f"{folder}@{first}", "--yes", "--json")
    assert json.loads(done.stdout)["revision"] == first
    assert "CI releases." in (world.home / "config/anyhook/packages/rules/house.toml").read_text()
    bare = world.root / "other.git"
    subprocess.run(("git", "clone", "-q", "--bare", str(folder), str(bare)), check=True)
    taken = world.command("add", f"{bare}@{first[:10]}", "--yes", "--json")
    assert json.loads(taken.stdout)["revision"] == first
    newest = world.command("add", str(bare), "--yes", "--json")
    assert json.loads(newest.stdout)["revision"] == git("rev-parse", "HEAD")
    bad = world.command("add", f"{folder}@nowhere", "--yes")
    assert bad.returncode == 3
    assert "git could not fetch it" in bad.stderr


def test_a_folder_without_rules_is_no_package(world: World) -> None:
    world.write(world.root / "empty/readme.md", "x")
    done = world.command("add", str(world.root / "empty"), "--yes")
    assert done.returncode == 3
    assert "[[rule]]" in done.stderr
    assert world.command("add", "./nowhere", "--yes").returncode == 3


def team_package(world: World) -> Path:
    """Create a package with hooks of two other dialects, and a rule in the usual file."""
    folder = world.root / "team"
    entry = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}
    world.write(folder / ".claude/settings.json", json.dumps(settings))
    world.write(folder / ".claude/guard.sh", "#!/bin/sh\n! grep -q deploy || { echo CI deploys >&2; exit 2; }\n")
    (folder / ".claude/guard.sh").chmod(0o755)
    world.write(folder / ".kode/config.yaml", "hooks:\n  tool_call_pre:\n    - exec: [sh, -c, '! grep -q wipe']\n")
    world.write(folder / ".anyhook/hooks.toml", '[[rule]]\nname = "no release"\nwhen = "runs make release"\n')
    return folder


def line(command: str) -> str:
    return json.dumps({"command": command})


def test_a_package_of_other_dialects_is_shown_approved_and_told_when_it_changes(world: World) -> None:
    folder = team_package(world)
    shown = world.command("add", str(folder))
    assert shown.returncode == 1
    assert ".claude/guard.sh" in shown.stdout
    assert verdict(world, line("deploy")) == "none"
    assert world.command("add", str(folder), "--yes").returncode == 0
    for command in ("deploy", "wipe", "make release"):
        assert verdict(world, line(command)) == "block", command
    assert verdict(world, line("ls")) == "none"
    assert "guard.sh: stopped 1 of" in world.command("report", "team/guard.sh").stdout
    assert world.command("disable", "team/guard.sh").returncode == 0
    assert verdict(world, line("deploy")) == "none"
    assert world.command("enable", "team/guard.sh").returncode == 0
    copy = world.home / "config/anyhook/packages/team"
    script = copy / ".claude/guard.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    found = gates(world)
    gate = found["claude:package:team:PreToolUse:guard.sh"]
    assert (gate["state"], gate["fix"]) == ("changed", f"anyhook trust --project {copy}")
    assert found["anyhook:package:team:pre_tool:no-release"]["state"] == "armed"
    again = world.command("add", str(folder), "--yes")
    assert "+! grep -q deploy" in again.stdout
    assert verdict(world, line("deploy")) == "block"
    assert world.command("remove", "team").returncode == 0
    assert verdict(world, line("deploy")) == "none"
    assert gates(world) == {}


def test_a_package_of_a_project_waits_for_whoever_did_not_add_it(world: World) -> None:
    world.write(
        world.project / ".claude/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
    )
    world.command("add", str(team_package(world)), "--scope", "project", "--yes")
    assert verdict(world, line("deploy")) == "block"
    states = {hook["id"]: hook["status"] for hook in json.loads(world.command("list", "--json").stdout)["hooks"]}
    assert states["claude:project:Stop:x"] == "untrusted", "a yes to a package is none to the project's own hooks"
    world.env["XDG_STATE_HOME"] = str(world.root / "another person")
    assert verdict(world, line("deploy")) == "none"
    folder = world.project / ".anyhook/packages/team"
    world.command("trust", "--project", str(folder), "--dialect", "claude", "--yes")
    assert verdict(world, line("deploy")) == "block"
    assert verdict(world, line("make release")) == "none"


@pytest.mark.parametrize(("agent", "waits"), [("codex", True), ("claude", False)])
def test_setup_says_what_the_person_has_to_confirm_in_the_agent(world: World, agent: str, waits: bool) -> None:
    done = world.command("setup", agent, "--yes")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert f"{host(agent).title}: calls anyhook" in said
    assert (f"calls anyhook once you have approved it: {host(agent).confirm}" in said) == waits


def test_setup_does_it_all_and_says_how_to_undo_it(world: World) -> None:
    plan = world.command("setup", "claude", "--dry-run")
    assert plan.returncode == 0
    assert not (world.home / ".claude").exists()
    assert not (world.home / "config/anyhook/hooks.toml").exists()
    assert world.command("setup", "claude").returncode == 1  # there is no terminal to ask at
    done = world.command("setup", "claude", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["guards"] == [*GUARDS]
    assert told["proof"]["verdict"] == "block"
    assert [(agent["agent"], agent["installed"]) for agent in told["agents"]] == [("claude", True)]
    assert told["undo"] == ["anyhook uninstall claude", "anyhook remove guard"]
    assert "bridge claude PreToolUse" in (world.home / ".claude/settings.json").read_text()
    again = json.loads(world.command("setup", "claude", "--yes", "--json").stdout)
    assert again["guards"] == []
    counted = json.loads(world.command("report", "git/forced-push", "--json").stdout)
    assert counted["calls"] == 0, "no agent made the calls of the proof"
    assert world.command("setup", "claud", "--yes").returncode == 3


def test_the_format_pack_formats_by_what_the_project_uses(world: World) -> None:
    world.command("add", "format", "--yes")
    for tool in ("ruff", "black"):
        program = world.project / f".venv/bin/{tool}"
        world.write(program, f'#!/bin/sh\nfor last; do :; done\necho {tool} > "$last"\n')
        program.chmod(0o755)
    edited = world.project / "app.py"
    for settings, formatted in (("[project]", "x"), ("[tool.ruff]", "ruff"), ("[tool.black]", "black")):
        world.write(world.project / "pyproject.toml", f"{settings}\n")
        world.write(edited, "x\n")
        world.fire("post_tool", "--tool", "Write", "--input", json.dumps({"file_path": str(edited)}))
        assert edited.read_text() == f"{formatted}\n"


@pytest.mark.parametrize(
    ("steps", "following"),
    [
        ((), "anyhook setup"),
        ((("add", "guard", "--yes"),), "anyhook install AGENT"),
        ((("setup", "claude", "--yes"),), "anyhook doctor --live"),
    ],
)
def test_the_bare_command_greets_with_the_next_step(
    world: World, steps: tuple[tuple[str, ...], ...], following: str
) -> None:
    world.env["PATH"] = "/usr/bin:/bin"
    for step in steps:
        world.command(*step)
    done = world.command()
    assert done.returncode == 0
    assert f"next    {following}" in done.stdout
    assert ("no guard is on" in done.stdout) == (not steps)


def test_help_shows_every_verb_once_in_groups(world: World) -> None:
    from anyhook.cli.app import GROUPS, VERBS

    shown = world.command("--help").stdout
    for name in VERBS:
        assert shown.count(f"\n  {name} ") == 1, name
    assert [title for title in GROUPS if f"\n{title}:\n" not in shown] == []


def test_rules_are_known_by_the_names_that_people_see(world: World) -> None:
    assert "anyhook add git" in world.command("shadow", "forced push").stderr
    world.command("add", "git", "--yes")
    for name in ("forced push", "git/forced push", "git/forced-push", "forced-push"):
        done = world.command("shadow", name)
        assert done.stdout == "shadow: anyhook:user:git:pre_tool:forced-push\n", name
    assert (
        "would refuse, but is in shadow mode"
        in world.command("fire", "pre_tool", "--tool", "Bash", "--input", PUSH).stdout
    )
    assert "would have stopped 1 of 1 call:" in world.command("report", "git").stdout
    world.command("enforce", "git")
    assert verdict(world) == "block"
    assert "`git/forced-push`" in world.command("report", "git/forced-psh").stderr
    (hook,) = json.loads(world.command("stats", "--json").stdout)["hooks"]
    assert (hook["hook"], hook["runs"], hook["blocks"], hook["shadow_blocks"]) == (
        "anyhook:user:git:pre_tool:forced-push",
        2,
        2,
        1,
    )


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("install cla", "claude"),
        ("fire before_t", "before_tool"),
        ("check --dialect kodi", "kodik"),
        ("add sec", "secrets"),
        ("report git/forced", "git/forced-push"),
    ],
)
def test_a_shell_completes_values(world: World, words: str, completed: str) -> None:
    world.command("add", "git", "--yes")
    world.env |= {"_ANYHOOK_COMPLETE": "bash_complete", "COMP_WORDS": f"anyhook {words}"}
    world.env["COMP_CWORD"] = str(len(words.split()))
    assert f"plain,{completed}" in world.command().stdout.splitlines()
