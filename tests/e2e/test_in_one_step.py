"""From a refusal to a lasting exception, and out again: `try`, `rule`, `relax`, `uninstall --all` (contract, §16)."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from anyhook import Engine, Event
from anyhook.rules.pack_list import GUARDS, examples_of, read_pack
from anyhook.state.approvals import allow, key_of
from command import SCRIPT
from satellite import satellite

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

FORCED = "git push --force"


@pytest.fixture
def guarded(world: World) -> World:
    assert world.command("add", "guard", "--yes").returncode == 0
    return world


def tried(world: World, line: str, *words: str) -> dict[str, Any]:
    done = world.command("try", line, "--json", *words)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (2 if found["verdict"] == "block" else 0)
    return found


def fired(world: World, line: str) -> dict[str, Any]:
    done = world.command("fire", "pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line}), "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# -- try


def test_a_line_is_tried_without_a_record(guarded: World) -> None:
    found = tried(guarded, FORCED)
    assert (found["verdict"], found["rule"]) == ("block", "git/forced-push")
    assert found["facts"]["runs"] == [["git", "push", "--force"]]
    assert found["reason"].endswith("(rule git/forced-push; a person can run: anyhook rule git/forced-push)")
    assert tried(guarded, "ls")["rule"] is None
    assert guarded.journal() == []


@pytest.mark.parametrize("line", [FORCED, "ls", "npm publish", "docker compose down -v"])
def test_it_says_what_fire_says(guarded: World, line: str) -> None:
    found, there = tried(guarded, line), fired(guarded, line)
    assert (found["verdict"], found["reason"]) == (there["verdict"], there["reason"])


def test_a_person_reads_the_verdict_and_the_rule(guarded: World) -> None:
    done = guarded.command("try", FORCED)
    assert (done.returncode, "refused by git/forced-push" in done.stdout) == (2, True)
    assert "passes" in guarded.command("try", "ls").stdout


def test_any_other_hook_is_named_by_its_id(guarded: World) -> None:
    guarded.hook("kodik", "PreToolUse", "exit 2", "user")
    found = tried(guarded, "ls")
    assert (found["verdict"], found["rule"].partition("user:")[0]) == ("block", "kodik:")


def test_trying_uses_no_allowance_up(guarded: World) -> None:
    refused = fired(guarded, FORCED)
    data: dict[str, Json] = {"tool": "Bash", "input": {"command": FORCED}}
    allow(str(guarded.state), key_of(refused["hook"], str(guarded.project), "pre_tool", data), None)
    assert tried(guarded, FORCED)["verdict"] == "block"
    assert fired(guarded, FORCED)["verdict"] == "none", "the allowance is still there"
    assert fired(guarded, FORCED)["verdict"] == "block"


def test_a_line_where_another_verb_was_meant(world: World) -> None:
    """`facts` takes a line, too; those that take an event say what does."""
    assert (
        world.command("facts", FORCED, "--json").stdout
        == world.command("facts", "--input", json.dumps({"command": FORCED}), "--json").stdout
    )
    assert world.command("facts", FORCED, "--input", "{}").returncode == 3
    for verb in ("fire", "explain"):
        done = world.command(verb, FORCED)
        assert (done.returncode, done.stdout) == (3, "")
        assert "anyhook try 'COMMAND'" in done.stderr


def test_the_last_refusal_is_explained_by_its_name(guarded: World) -> None:
    none_yet = guarded.command("explain", "refusal")
    assert (none_yet.returncode, "nothing was refused yet" in none_yet.stderr) == (3, True)
    fired(guarded, FORCED)
    fired(guarded, "ls")
    assert json.loads(guarded.command("explain", "refusal", "--json").stdout)["n"] == 1
    assert json.loads(guarded.command("explain", "last", "--json").stdout)["n"] == 2
    nothing = guarded.command("explain")
    assert (nothing.returncode, nothing.stdout) == (3, "")
    for advised in re.findall(r"`anyhook (explain [^`]*)`", nothing.stderr.replace("explain 12", "explain 2")):
        assert guarded.command(*shlex.split(advised)).returncode == 0, advised


def test_a_decision_fits_a_screen(guarded: World) -> None:
    engine = Engine.open(guarded.project, env=guarded.env)
    shown = repr(engine.fire_sync(Event.pre_tool("Bash", {"command": FORCED})))
    engine.close_sync()
    assert len(shown) < 500
    assert "verdict='block'" in shown
    assert "git/forced-push" in shown


# -- rule


@pytest.mark.parametrize("pack", GUARDS)
def test_every_rule_is_shown_by_its_name(guarded: World, pack: str) -> None:
    refused, _ = examples_of(pack)
    for rule in read_pack(pack).rules[:3]:
        found = json.loads(guarded.command("rule", f"{pack}/{rule['name']}", "--json").stdout)
        assert found["rule"] == f"{pack}/{found['rule'].partition('/')[2]}"
        assert found["because"] == rule["because"]
        assert found["examples"]["refused"][0] == refused[rule["name"]][0]
        assert found["examples"]["passed"]
        assert found["on"] is True
        again = json.loads(guarded.command("rule", found["rule"], "--json").stdout)
        assert again == found, "blanks and hyphens are the same"


def test_the_name_that_a_refusal_gives_is_known(guarded: World) -> None:
    advised = shlex.split(fired(guarded, FORCED)["reason"].rpartition("a person can run: ")[2].removesuffix(")"))
    assert advised[0] == "anyhook"
    done = guarded.command(*advised[1:])
    assert (done.returncode, done.stdout.splitlines()[0].partition(" ")[0]) == (0, "git/forced-push")


def test_a_rule_of_a_pack_that_is_off(world: World) -> None:
    found = json.loads(world.command("rule", "git/forced push", "--json").stdout)
    assert (found["rule"], found["on"]) == ("git/forced-push", False)
    assert "anyhook add git" in world.command("rule", "git/forced-push").stdout


def test_a_misspelt_rule_is_guessed(guarded: World) -> None:
    done = guarded.command("rule", "git/forcd-push")
    assert (done.returncode, done.stdout) == (3, "")
    assert "Did you mean `git/forced-push`?" in done.stderr


# -- relax


@pytest.mark.parametrize(
    ("words", "verdict"),
    [(("--off",), "none"), (("--ask",), "ask"), (("--path", "sandbox"), "block"), (("--path", "."), "none")],
)
def test_a_relaxation_counts_and_its_undo_line_undoes_it(guarded: World, words: tuple[str, ...], verdict: str) -> None:
    rules = guarded.home / "config/anyhook/hooks.toml"
    before = rules.read_bytes()
    done = guarded.command("relax", "git/forced-push", *words)
    assert done.returncode == 0, done.stderr
    assert fired(guarded, FORCED)["verdict"] == verdict
    assert guarded.command("check").returncode == 0
    undo = shlex.split(done.stderr.partition("Undo it:")[2])
    assert guarded.command(*undo[1:]).returncode == 0
    assert rules.read_bytes() == before
    assert guarded.command(*undo[1:]).returncode == 1, "there is nothing left to take back"


@pytest.mark.parametrize("words", [("--path", "./sandbox"), ("--off", "--project-only")])
def test_the_undo_line_of_a_relaxation_works_in_any_folder(guarded: World, words: tuple[str, ...]) -> None:
    rules = guarded.home / "config/anyhook/hooks.toml"
    before = rules.read_bytes()
    done = guarded.command("relax", "git/forced-push", *words)
    undo = shlex.split(done.stderr.partition("Undo it:")[2])
    elsewhere = guarded.root / "elsewhere"
    elsewhere.mkdir()
    assert guarded.command(*undo[1:], cwd=elsewhere).returncode == 0
    assert rules.read_bytes() == before


def test_a_rule_shows_how_it_is_relaxed_and_how_to_take_that_back(guarded: World) -> None:
    for words in (("--path", "sandbox"), ("--off",)):
        assert guarded.command("relax", "git/forced-push", *words).returncode == 0
    said = guarded.command("rule", "git/forced-push").stdout
    assert f'except = ["{guarded.project}/sandbox/**"]' in said
    assert "enabled = false" in said
    assert guarded.command("relax", "git/forced-push", "--undo").returncode == 0
    assert "--undo" in said
    assert "--undo" not in guarded.command("rule", "git/forced-push").stdout


def test_a_relaxation_says_where_the_rule_still_counts(guarded: World) -> None:
    assert guarded.command("add", "git", "--scope", "project", "--yes").returncode == 0
    done = guarded.command("relax", "git/forced-push", "--off")
    assert (done.returncode, "also on for the project" in done.stderr) == (0, True)
    assert tried(guarded, FORCED)["verdict"] == "block"


SPARED = {
    "cd sandbox && git push --force": "none",
    "git -C sandbox push --force": "none",
    "git -C sandbox -C .. push --force": "block",
    "cd sandbox && git -C .. push --force": "block",
    "cd sandbox && GIT_DIR=/srv/other/.git git push --force": "block",
    "cd sandbox && git push --force $TO": "block",
    "cd sandbox && git push --force ../other": "block",
    "cd sandbox; cd -; git push --force": "block",
    "cd sandbox && git push --force; cd .. && git push --force": "block",
    "cd $X && git push --force": "block",
}


@pytest.mark.parametrize("line", SPARED)
def test_a_folder_is_spared_and_nothing_else(guarded: World, line: str) -> None:
    (guarded.project / "sandbox").mkdir()
    assert guarded.command("relax", "git/forced-push", "--path", "sandbox").returncode == 0
    assert fired(guarded, line)["verdict"] == SPARED[line]


def test_a_link_out_of_the_folder_is_not_spared(guarded: World) -> None:
    (guarded.project / "sandbox").mkdir()
    (guarded.project / "sandbox/out").symlink_to(guarded.project)
    assert guarded.command("relax", "git/forced-push", "--path", "sandbox").returncode == 0
    assert fired(guarded, "cd sandbox/out && git push --force")["verdict"] == "block"


def test_a_deleted_path_is_spared(guarded: World) -> None:
    (guarded.project / "src").mkdir()
    assert fired(guarded, "rm -rf src")["verdict"] != "none"
    assert guarded.command("relax", "files/delete-source-folders", "--path", "src").returncode == 0
    assert fired(guarded, "rm -rf src")["verdict"] == "none"
    assert fired(guarded, "rm -rf lib")["verdict"] != "none"


def test_one_project_alone(guarded: World) -> None:
    elsewhere = guarded.root / "elsewhere"
    elsewhere.mkdir()
    assert guarded.command("relax", "git/forced-push", "--off", "--project-only").returncode == 0
    assert tried(guarded, FORCED)["verdict"] == "none"
    assert tried(guarded, FORCED, "--project", str(elsewhere))["verdict"] == "block"
    (guarded.project / "sub").mkdir()
    assert tried(guarded, FORCED, "--project", str(guarded.project / "sub"))["verdict"] == "none"
    beside = guarded.project.with_name(f"{guarded.project.name}-2")
    beside.mkdir()
    assert tried(guarded, FORCED, "--project", str(beside))["verdict"] == "block", "a name that begins alike is another"


@pytest.mark.parametrize("value", ['"/p"', "[3]", '["relative"]', "true"])
def test_a_slip_in_projects_leaves_the_rule_on(guarded: World, value: str) -> None:
    rules = guarded.home / "config/anyhook/hooks.toml"
    rules.write_text(f'{rules.read_text()}\n[[relax]]\nrule = "git/forced push"\nenabled = false\nprojects = {value}\n')
    assert fired(guarded, FORCED)["verdict"] == "block"
    assert guarded.command("check").returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("git/forced-push",), "--path PATH, --ask or --off"),
        (("git/forced-push", "--ask", "--off"), "cannot be combined"),
        (("git/nonsense", "--off"), "there is no rule"),
    ],
)
def test_what_cannot_be_relaxed_changes_nothing(guarded: World, words: tuple[str, ...], said: str) -> None:
    rules = guarded.home / "config/anyhook/hooks.toml"
    before = rules.read_bytes()
    done = guarded.command("relax", *words)
    assert (done.returncode, said in done.stderr) == (3, True)
    assert rules.read_bytes() == before


def test_a_project_s_rule_is_not_relaxed_by_one_user(world: World) -> None:
    assert world.command("add", "git", "--scope", "project", "--yes").returncode == 0
    done = world.command("relax", "git/forced-push", "--off")
    assert (done.returncode, "not in your own rules" in done.stderr) == (3, True)


def test_an_agent_may_not_relax(guarded: World) -> None:
    assert guarded.command("install", "claude").returncode == 0
    payload = {
        "session_id": "s", "cwd": str(guarded.project), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "anyhook relax git/forced-push --off"},
    }  # fmt: skip
    done = guarded.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    assert "deny" in done.stdout


# -- uninstall --all


def test_everything_is_taken_out(guarded: World) -> None:
    settings = guarded.home / ".claude/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"model": "x"}\n')
    guarded.config("off = 'deny'\n")
    for words in (("claude",), ("gemini",), ("codex", "--scope", "project")):
        assert guarded.command("install", *words).returncode == 0
    fired(guarded, "ls")
    left = guarded.command("uninstall", "--all", "--purge")
    assert (left.returncode, "Add --yes" in left.stderr, guarded.state.exists()) == (1, True, True)
    done = guarded.command("uninstall", "--all", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert settings.read_text() == '{"model": "x"}\n'
    assert not guarded.state.exists()
    assert not (guarded.home / "config/anyhook").exists()
    assert [path.name for path in guarded.project.rglob("hooks.json")] == []
    assert not (guarded.home / ".gemini/settings.json").exists()


def test_what_other_installations_of_the_user_keep_stays(guarded: World) -> None:
    shared = guarded.root / "run"
    guarded.env["XDG_RUNTIME_DIR"] = str(shared)
    place = shared / "anyhook"
    place.mkdir(parents=True, mode=0o700)
    others = place / "0123456789abcdef-00000000"
    others.write_bytes(b"")
    prefix = f"{satellite('warm.place').checksum(os.path.dirname(os.path.realpath(SCRIPT)))}-"
    mine = [place / f"{prefix}{end}" for end in ("00000000.lock", "00000000.12.seen")]
    for path in mine:
        path.write_bytes(b"")
    shown = json.loads(guarded.command("uninstall", "--all", "--purge", "--dry-run", "--json").stdout)
    assert str(others) not in shown["removed"]
    assert str(place) not in shown["removed"]
    assert guarded.command("uninstall", "--all", "--purge", "--yes").returncode == 0
    assert [*place.iterdir()] == [others]
    others.unlink()
    assert guarded.command("uninstall", "--all", "--purge", "--yes").returncode == 0
    assert not place.exists()


def test_one_s_own_rules_stay(guarded: World) -> None:
    rules = guarded.home / "config/anyhook/hooks.toml"
    rules.write_text(rules.read_text() + '\n[[rule]]\nname = "mine"\nwhen = "runs mine"\n')
    before = rules.read_bytes()
    done = guarded.command("uninstall", "--all", "--purge", "--yes")
    assert (done.returncode, rules.read_bytes()) == (0, before)
    assert "your own rules" in done.stderr


def test_policies_go_with_the_rest(guarded: World) -> None:
    """A team's rules are not one's own."""
    index = guarded.home / "config/anyhook/policies/index.json"
    guarded.write(index, '{"policies": []}')
    guarded.write(index.with_name(".lock"), "")
    shown = json.loads(guarded.command("uninstall", "--all", "--purge", "--dry-run", "--json").stdout)
    assert str(index.parent) in shown["removed"]
    assert guarded.command("uninstall", "--all", "--purge", "--yes").returncode == 0
    assert not index.parent.exists()


def test_several_agents_are_named(guarded: World) -> None:
    for agent in ("claude", "gemini"):
        assert guarded.command("install", agent).returncode == 0
    assert guarded.command("uninstall", "claude", "gemini").returncode == 0
    assert "No agent has an entry" in guarded.command("uninstall", "--all").stdout


@pytest.mark.parametrize("words", [(), ("claude", "--all"), ("claude", "--purge"), ("nonsense",)])
def test_a_bad_call_takes_nothing_out(guarded: World, words: tuple[str, ...]) -> None:
    assert guarded.command("install", "claude").returncode == 0
    before = (guarded.home / ".claude/settings.json").read_bytes()
    assert guarded.command("uninstall", *words).returncode == 3
    assert (guarded.home / ".claude/settings.json").read_bytes() == before


def test_the_first_example_in_everybodys_file_does_what_it_says(guarded: World) -> None:
    """`[[relax]] rule = "git/clean"` is in the header of each rule file."""
    for line in ("git clean -fd", "git clean -fdx"):
        assert tried(guarded, line)["rule"] == "git/clean"
    assert guarded.command("relax", "git/clean", "--off").returncode == 0
    assert tried(guarded, "git clean -fd")["verdict"] == "none"
