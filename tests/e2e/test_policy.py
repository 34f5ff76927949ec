"""A team's signed policy (contract, §17): how it is pulled, what it can do, and twelve attacks on it."""

from __future__ import annotations

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from policy_box import FORCED, RELEASE, RULE, Team, run

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def team(world: World) -> Team:
    return Team(world)


def keeps_the_last_good_one(team: Team, *words: str, state: str = "broken", source: object = None) -> str:
    """A pull fails; version 1 still refuses; `policy`, `status` and the agent say so. Returns what the pull says."""
    before = {path: path.read_bytes() for path in team.installed().rglob("*") if path.is_file()}
    done = team.pull(*words, source=source)
    assert (done.returncode, done.stdout) == (1, "")
    assert before == {path: path.read_bytes() for path in team.installed().rglob("*") if path.is_file()}
    told = team.state()
    assert (told["version"], told["state"]) == (1, state)
    assert told["why"]
    assert told["why"] in done.stderr
    assert team.verdict() == "block"
    status = team.world.command("status", "--json")
    assert f"policy-{state}" in [problem["code"] for problem in json.loads(status.stdout)["problems"]]
    assert "acme" in session_start(team)
    return done.stderr


def session_start(team: Team) -> str:
    payload = {"session_id": os.urandom(4).hex(), "cwd": str(team.world.project), "source": "startup"}
    done = team.world.command("bridge", "claude", "SessionStart", stdin=json.dumps(payload))
    assert done.returncode == 0
    return done.stdout + done.stderr


# -- what it is


def test_a_policy_is_pulled_shown_and_removed(team: Team) -> None:
    team.start()
    assert "counts already" in team.pull().stdout
    told = team.state()
    key = " ".join(Path(f"{team.key}.pub").read_text().split()[:2])
    assert (told["name"], told["version"], told["state"], told["why"]) == ("acme", 1, "current", "")
    assert (told["source"], told["key"]) == (str(team.folder), key)
    assert abs(told["pulled"] - time.time_ns()) < 3600 * 10**9
    assert set(told) == {"name", "source", "version", "key", "pulled", "state", "why"}
    assert team.verdict() == "block"
    assert team.verdict("ls") == "none"
    assert "policy" not in session_start(team)
    (hook,) = json.loads(team.world.command("list", "--json").stdout)["hooks"]
    assert (hook["id"], hook["scope"], hook["status"]) == ("anyhook:policy:acme:pre_tool:no-release", "user", "armed")
    assert team.world.command("policy", "remove", "acme").returncode == 0
    assert json.loads(team.world.command("policy", "--json").stdout) == {"policies": []}
    assert team.verdict() == "none"
    assert team.world.command("status").returncode == 1
    assert "acme" not in team.world.command("status").stdout
    assert team.world.command("policy", "remove", "acme").returncode == 3


def test_a_new_version_replaces_all_of_the_old_one(team: Team) -> None:
    team.write("extra/old.txt", "old")
    team.start()
    shutil.rmtree(team.folder / "extra")
    team.write("hooks.toml", RULE.replace("make release", "make publish"))
    team.sign()
    assert team.pull().returncode == 0
    assert team.state()["version"] == 2
    assert (team.verdict(), team.verdict("make publish")) == ("none", "block")
    assert [path.name for path in team.installed().rglob("*")] == ["hooks.toml"]
    assert [path.name for path in team.installed().parent.iterdir()] == [team.installed().name]


def test_it_uses_packs_with_relaxations_and_the_shipped_names(team: Team) -> None:
    relaxed = '[[relax]]\nrule = "git/clean"\nenabled = false\n'
    team.write("hooks.toml", f'use = ["git"]\n{RULE}{relaxed}')
    team.start()
    assert (team.verdict(FORCED), team.verdict("git clean -fd")) == ("block", "none")
    reason = json.loads(team.world.command("try", FORCED, "--json").stdout)["reason"]
    assert "(rule git/forced-push;" in reason
    shown = json.loads(team.world.command("rule", "git/forced-push", "--json").stdout)
    assert shown["on"]
    assert shown["examples"]["refused"]
    assert "policy `acme`" in shown["relax"]


def test_a_relaxation_in_a_policy_leaves_the_users_own_rules(team: Team) -> None:
    assert team.world.command("add", "git", "--yes").returncode == 0
    team.write("hooks.toml", 'use = ["git"]\n[[relax]]\nrule = "git/forced-push"\nenabled = false\n')
    team.start()
    assert team.verdict(FORCED) == "block"


def test_a_user_relaxes_the_own_rule_and_is_told_that_the_policy_has_it_too(team: Team) -> None:
    assert team.world.command("add", "git", "--yes").returncode == 0
    team.write("hooks.toml", 'use = ["git"]\n')
    team.start()
    done = team.world.command("relax", "git/forced-push", "--off")
    assert (done.returncode, "The policy acme has this rule too" in done.stderr) == (0, True)
    assert team.verdict(FORCED) == "block"


def test_a_pack_outside_the_policy_is_not_used(team: Team) -> None:
    team.world.write(team.world.root / "outside.toml", RULE)
    team.write("hooks.toml", f'use = ["../../../../../../outside.toml"]\n{RULE.replace("release", "ship")}')
    team.start()
    assert (team.verdict(), team.verdict("make ship")) == ("none", "block")
    problems = json.loads(team.world.command("check", "--format", "json").stdout)["problems"]
    assert [problem["code"] for problem in problems] == ["unknown-pack"]


def test_hook_files_of_other_dialects_run_without_an_approval(team: Team) -> None:
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guard.sh'}]}
    team.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [group]}}))
    team.write("guard.sh", "#!/bin/sh\ngrep -q 'make release' && { echo 'not here' >&2; exit 2; }\nexit 0\n")
    team.write("hooks.toml", "")
    team.start()
    assert (team.verdict(), team.verdict("ls")) == ("block", "none")
    (hook,) = json.loads(team.world.command("list", "--json").stdout)["hooks"]
    assert (hook["dialect"], hook["scope"], hook["status"]) == ("claude", "user", "armed")


@pytest.mark.parametrize(
    ("ours", "theirs", "counts"),
    [
        ("", 'off = "deny"\non_failure = "deny"', ("deny", "deny")),
        ('off = "deny"\non_failure = "deny"', 'off = "pass"\non_failure = "allow"', ("deny", "deny")),
        ('off = "pass"\non_failure = "allow"', "", ("pass", "allow")),
        ("", 'off = "pass"\non_failure = "allow"', ("tell", "native")),
        ("", 'off = "bogus"', ("deny", "native")),
    ],
)
def test_its_settings_only_make_things_stricter(team: Team, ours: str, theirs: str, counts: tuple[str, str]) -> None:
    from anyhook.engine.catalog import read

    team.world.config(ours)
    team.write("config.toml", theirs)
    team.start()
    config = read(team.world.setup()).config
    assert (config.off, config.on_failure) == counts


def test_its_settings_leave_hooks_and_protection_of_the_user_as_they_are(team: Team) -> None:
    from anyhook.engine.catalog import read

    mine, theirs = "anyhook:user:pre_tool:mine", "anyhook:policy:acme:pre_tool:no-release"
    team.write(
        "config.toml",
        'protect = false\nplugins = ["/tmp"]\nrequire = ["anyhook:policy:acme:pre_tool:no-release"]\n'
        '[ask]\nwhere = "elsewhere"\nwait_s = 5\n'
        f'[hooks."{mine}"]\nmode = "shadow"\noff = "pass"\n[hooks."{theirs}"]\nmode = "shadow"\n',
    )
    team.world.config("[ask]\nwait_s = 9\n")
    team.start()
    config = read(team.world.setup()).config
    assert (config.protect, config.plugins, config.require) == (True, (), (theirs,))
    assert config.ask == {"where": "elsewhere", "wait_s": 9}
    assert (config.hook_mode, config.hook_off) == ({theirs: "shadow"}, {})
    problems = json.loads(team.world.command("check", "--format", "json").stdout)["problems"]
    assert any("plugins" in problem["what"] for problem in problems)


def test_ci_fails_where_a_gate_that_the_policy_requires_is_off(team: Team) -> None:
    team.write("config.toml", 'require = ["kodik:project:PreToolUse:guard.sh"]')
    team.start()
    done = team.world.command("ci")
    assert (done.returncode, "kodik:project:PreToolUse:guard.sh" in done.stderr) == (1, True)


def test_a_repository_at_a_revision_and_a_folder_in_it(team: Team) -> None:
    nested = team.world.root / "repository"
    team.folder = nested / "for agents"
    team.write("hooks.toml", RULE)
    team.sign()
    run("git", "init", "-q", str(nested))
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    for message in ("one", "two"):
        run("git", *identity, "-C", str(nested), "add", "-A")
        run("git", *identity, "-C", str(nested), "commit", "-qm", message)
        run("git", "-C", str(nested), "tag", message)
        team.write("hooks.toml", RULE.replace("make release", "make publish"))
        team.sign()
    for source, version in ((f"{nested}@one#for agents", 1), (f"file://{nested}@two#for agents", 2)):
        done = team.pull("--key", f"{team.key}.pub", source=source)
        assert done.returncode == 0, done.stderr
        assert (team.state()["version"], team.state()["source"]) == (version, source)
    assert team.verdict("make publish") == "block"


@pytest.mark.skipif(os.geteuid() != 0 or os.path.isdir("/etc/anyhook"), reason="needs root, and no tier of its own")
def test_the_organisations_policy_comes_first_and_no_user_turns_it_off(team: Team) -> None:
    folder = team.world.root / "managed"
    folder.mkdir()
    team.world.env["ANYHOOK_MANAGED_DIR"] = str(folder)
    team.world.hook("anyhook", "pre_tool", "exit 0")
    team.write(".kodik/settings.toml", '[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 0"\n')
    team.start("--managed")
    listed = json.loads(team.world.command("list", "--json").stdout)["hooks"]
    assert (listed[0]["id"], listed[0]["scope"]) == ("anyhook:policy:acme:pre_tool:no-release", "managed")
    team.world.config(f'mode = "shadow"\n[hooks."{listed[0]["id"]}"]\nmode = "shadow"\n')
    assert team.verdict() == "block"
    for verb in ("disable", "shadow"):
        assert team.world.command(verb, listed[0]["id"]).returncode == 3
    index = folder / "policies" / "index.json"
    assert oct(index.stat().st_mode)[-3:] == "644"
    index.chmod(0o666)  # others could have written it
    done = team.world.command("check", "--format", "json")
    assert "managed-not-root" in done.stdout
    index.chmod(0o644)
    done = team.world.command("policy", "remove", "acme")
    assert (done.returncode, "--managed" in done.stderr) == (3, True)
    assert team.world.command("policy", "remove", "acme", "--managed").returncode == 0
    assert team.verdict() == "none"


@pytest.mark.parametrize(
    "words",
    [
        ("pull",), ("pull", "a", "b"), ("push", "x"), ("pull", "x", "--key", "/nonexistent"), ("remove", "x"),
        ("pull", "x", "--signers", "2"), ("pull", "x", "--signers", "no"),
    ],
)  # fmt: skip
def test_a_bad_call_changes_nothing(team: Team, words: tuple[str, ...]) -> None:
    done = team.world.command("policy", *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_what_is_no_public_key_is_a_bad_call(team: Team) -> None:
    team.sign()
    options = team.world.write(team.world.root / "o.pub", f"cert-authority {team.public().read_text()}")
    for wrong in (team.key, options, team.folder / "hooks.toml", team.folder):
        done = team.pull("--key", str(wrong))
        assert (done.returncode, done.stdout) == (3, "")


# -- the twelve attacks


def test_1_a_rollback(team: Team) -> None:
    team.sign(0)
    shutil.copytree(team.folder, team.world.root / "old")
    team.write("hooks.toml", RULE)
    team.start()
    assert "version 0" in keeps_the_last_good_one(team, source=team.world.root / "old")
    team.write("config.toml", 'off = "tell"')
    team.sign(1)  # the same version with other content
    assert "other content" in keeps_the_last_good_one(team)


def test_2_a_swapped_key(team: Team) -> None:
    team.start()
    other = team.new_key("other")
    team.write("hooks.toml", "")
    team.sign(2, other)
    keeps_the_last_good_one(team)
    assert "policy remove acme" in keeps_the_last_good_one(team, "--key", f"{other}.pub")


def test_2_no_key_is_ever_taken_on_trust(team: Team) -> None:
    team.sign()
    done = team.pull()
    assert (done.returncode, "--key" in done.stderr) == (1, True)
    assert team.verdict() == "none"
    other = team.new_key("other")
    assert team.pull("--key", f"{other}.pub").returncode == 1
    assert team.world.command("policy", "--json").stdout.split() == ["{", '"policies":', "[]", "}"]


@pytest.mark.parametrize("path", ["manifest.json", "manifest.json.sig", "hooks.toml"])
def test_3_a_truncated_file(team: Team, path: str) -> None:
    team.start()
    team.write("notes.txt", "two")
    team.sign()
    file = team.folder / path
    file.write_bytes(file.read_bytes()[:-9])
    keeps_the_last_good_one(team)
    file.unlink()
    keeps_the_last_good_one(team)


def test_4_a_source_that_cannot_be_reached(team: Team) -> None:
    team.start()
    team.folder.rename(team.world.root / "elsewhere")
    keeps_the_last_good_one(team, state="stale")
    (team.world.root / "elsewhere").rename(team.folder)
    assert team.pull().returncode == 0
    assert team.state()["state"] == "current"
    assert "acme" not in session_start(team)


@pytest.mark.parametrize("path", ["extra.toml", ".anyhook/hooks.toml", "a/.git/config", ".claude/settings.json"])
def test_5_an_extra_file_that_nobody_signed(team: Team, path: str) -> None:
    team.start()
    team.sign()
    team.write(path, "x")
    keeps_the_last_good_one(team)


def test_6_a_replaced_source(team: Team) -> None:
    team.start()
    team.folder.rename(team.world.root / "before")
    (team.world.root / "lead").rename(team.world.root / "lead-before")
    team.key = team.new_key("lead")
    team.write("hooks.toml", "")
    team.sign(9)
    keeps_the_last_good_one(team)


@pytest.mark.parametrize("change", ["edited", "gone", "added", "linked", "index"])
def test_7_an_edit_by_its_user_closes_what_it_guards(team: Team, change: str) -> None:
    team.start()
    file = team.installed() / "hooks.toml"
    match change:
        case "edited":
            file.write_text(RULE.replace("make release", "make nothing"))
        case "gone":
            file.unlink()
        case "added":
            team.world.write(team.installed() / "json.py", "")
        case "linked":
            os.rename(file, team.world.root / "aside")
            file.symlink_to("/dev/null")
        case "index":
            index = team.installed().parent.parent / "index.json"
            index.write_text(index.read_text()[:-20])
        case _:
            raise AssertionError(change)
    assert (team.verdict(), team.verdict("ls")) == ("block", "block")
    status = team.world.command("status")
    assert (status.returncode, "broken" in status.stdout or "unreadable" in status.stdout) == (1, True)
    if change == "index":
        return
    assert team.state()["state"] == "broken"
    assert "acme" in session_start(team)
    assert team.pull().returncode == 0  # what the message tells to do
    assert (team.verdict(), team.verdict("ls"), team.state()["state"]) == ("block", "none", "current")


def test_7_a_policy_whose_files_are_all_gone_is_missed(team: Team) -> None:
    team.start()
    team.verdict()
    shutil.rmtree(team.installed().parent.parent)
    status = team.world.command("status")
    assert (status.returncode, "broken" in status.stdout, "acme" in status.stdout) == (1, True, True)
    assert "OFF" in session_start(team)
    assert team.world.command("policy", "remove", "acme").returncode == 0
    assert "acme" not in team.world.command("status").stdout


def test_8_and_9_a_month_offline_and_a_clock_that_moves(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    from anyhook.install import policy

    team.start()
    base = str(team.world.home / "config" / "anyhook" / "policies")
    for days in (31, -4000, 40_000):
        moved = time.time_ns() + days * 86_400 * 10**9
        monkeypatch.setattr(policy, "time_ns", lambda moved=moved: moved)
        assert policy.pull(str(team.folder), base, "user").version == 1  # what counts is the number, not the time
        assert (team.state()["state"], team.state()["pulled"], team.verdict()) == ("current", moved, "block")
    team.folder.rename(team.world.root / "elsewhere")
    keeps_the_last_good_one(team, state="stale")


def test_10_two_versions_at_once(team: Team) -> None:
    team.start()
    newer = team.world.root / "newer"
    team.sign(2)
    shutil.copytree(team.folder, newer)
    team.write("more.txt", "x")
    team.sign(3)
    with ThreadPoolExecutor() as pool:
        ended = [*pool.map(lambda source: team.pull(source=source).returncode, [newer, team.folder] * 3)]
    assert set(ended) <= {0, 1}
    assert team.state()["version"] == 3
    assert sorted(path.name for path in team.installed().iterdir()) == ["hooks.toml", "more.txt"]
    assert [path.name for path in team.installed().parent.iterdir()] == [team.installed().name]


def test_11_a_signer_was_removed(team: Team) -> None:
    second = team.new_key("second")
    team.start()
    team.sign(2, second)
    keeps_the_last_good_one(team)


def test_12_a_threshold_that_is_not_met(team: Team) -> None:
    second, third = team.new_key("second"), team.new_key("third")
    keys = ("--key", str(team.public(team.key, second)), "--signers", "2")
    team.sign(1, team.key, second)
    assert team.pull(*keys).returncode == 0
    for signers in ((team.key,), (team.key, team.key), (team.key, third)):
        team.sign(2, *signers)
        assert "1 of the pinned keys" in keeps_the_last_good_one(team)
    team.sign(2, second)
    assert "2 signatures are pinned" in keeps_the_last_good_one(team, *keys[:2], "--signers", "1")
    team.sign(2, second, team.key)
    assert team.pull().returncode == 0


# -- what a repository must not hold


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\b", "a\nb", " x", "x" * 300])
def test_a_name_in_the_manifest_never_leads_outside(team: Team, name: str) -> None:
    team.start()
    team.sign(2, files={**team.listed(), name: "0" * 64})
    keeps_the_last_good_one(team)


@pytest.mark.parametrize("name", ["../acme", "", "a/b", ".", "-x", "x" * 65, "a b", 7, None])
def test_the_name_of_a_policy_is_one_plain_word(team: Team, name: object) -> None:
    team.sign(1, name=name)
    assert team.pull("--key", f"{team.key}.pub").returncode == 1


@pytest.mark.parametrize("version", [-1, 1.5, "2", None, True, 2**60])
def test_a_version_is_a_whole_number(team: Team, version: object) -> None:
    team.sign(1, version=version)
    assert team.pull("--key", f"{team.key}.pub").returncode == 1


@pytest.mark.parametrize("odd", ["link", "folder link", "pipe", "large", "many", "case", "line"])
def test_odd_files_are_refused(team: Team, odd: str) -> None:
    team.start()
    target = team.folder / "odd"
    match odd:
        case "link":
            target.symlink_to(team.folder / "hooks.toml")
        case "folder link":
            target.symlink_to(team.world.home)
        case "pipe":
            os.mkfifo(target)
        case "large":
            target.write_bytes(b"x" * (1 << 20) + b"x")
        case "many":
            for number in range(501):
                team.write(f"many/{number}", "")
        case "case":
            team.write("ODD", "x")
            team.write("odd", "x")
        case "line":
            team.write("odd\nname", "x")
        case _:
            raise AssertionError(odd)
    listed = team.listed() if odd != "pipe" else {}
    team.sign(2, files=listed)
    keeps_the_last_good_one(team)


def test_a_key_twice_in_the_manifest_is_refused(team: Team) -> None:
    team.start()
    team.sign(2)
    manifest = team.folder / "manifest.json"
    manifest.write_text(manifest.read_text()[:-1] + ', "version": 3}')
    team.sign_again(team.key)
    keeps_the_last_good_one(team)


def test_a_signature_for_another_purpose_does_not_count(team: Team) -> None:
    team.start()
    team.sign(2)
    team.sign_again(team.key, "file")
    keeps_the_last_good_one(team)


@pytest.mark.parametrize("folder", ["../policy", "a/../..", "/etc", ".git", "link", "none"])
def test_a_folder_of_a_repository_never_leads_outside(team: Team, folder: str) -> None:
    team.sign()
    (team.folder / "link").symlink_to(team.world.root)
    assert team.pull("--key", f"{team.key}.pub", source=f"{team.folder}#{folder}").returncode == 1


@pytest.mark.parametrize("line", ["anyhook policy pull /tmp/x", "anyhook policy remove acme"])
def test_an_agent_cannot_pull_or_remove(team: Team, line: str) -> None:
    team.start()
    payload = {"session_id": "s", "cwd": str(team.world.project), "tool_name": "Bash", "tool_input": {"command": line}}
    done = team.world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    assert "is for people" in done.stdout + done.stderr


def test_an_agent_cannot_write_a_policys_files(team: Team) -> None:
    team.start()
    for tool, given in (
        ("Write", {"file_path": str(team.installed() / "hooks.toml"), "content": ""}),
        ("Bash", {"command": f"rm -rf {team.installed().parent}"}),
    ):
        payload = {"session_id": "s", "cwd": str(team.world.project), "tool_name": tool, "tool_input": given}
        done = team.world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
        assert '"deny"' in done.stdout


def test_what_a_project_holds_is_no_policy(team: Team) -> None:
    team.start()
    config = team.world.home / "config"
    shutil.move(config, team.world.project / "config")
    team.world.env["XDG_CONFIG_HOME"] = str(team.world.project / "config")
    listed = json.loads(team.world.command("list", "--json").stdout)
    assert [hook["scope"] for hook in listed["hooks"]] == []


def test_a_real_release_line_still_says_which_rule(team: Team) -> None:
    team.start()
    done = json.loads(team.world.command("try", RELEASE, "--json").stdout)
    assert (done["verdict"], done["rule"]) == ("block", "acme/no-release")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_pull_that_is_killed_leaves_all_of_one_version(team: Team) -> None:
    """300 rounds of kill -9 at random moments."""
    import random
    import subprocess

    from command import SCRIPT

    chance = random.Random(7)
    for number in range(20):
        team.write(f"part/{number}.txt", "x" * 10_000)
    team.start()
    for round_ in range(2, 302):
        for number in range(20):
            team.write(f"part/{number}.txt", f"{round_} " * 3_000)
        team.sign(round_)
        with subprocess.Popen(
            [SCRIPT, "policy", "pull", str(team.folder)], env=team.world.env, cwd=team.world.project,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as child:  # fmt: skip
            try:
                child.wait(chance.uniform(0.05, 0.6))
            except subprocess.TimeoutExpired:
                child.kill()
        told = team.state()
        assert (told["state"], team.verdict()) == ("current", "block")
        texts = {file.read_text() for file in (team.installed() / "part").iterdir()}
        assert texts == {f"{told['version']} " * 3_000} or told["version"] == 1
    assert team.pull().returncode == 0
    assert team.state()["version"] == 301
    assert [path.name for path in team.installed().parent.iterdir()] == [team.installed().name]
