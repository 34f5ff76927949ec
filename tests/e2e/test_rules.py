"""Rules with the whole command: shadow mode and reports, failures, agents, and the output for many rules."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from anyhook.rules.evaluate import RuleCall
from anyhook.rules.pack_list import GUARDS, NAMES
from anyhook.state.settings import Settings

if TYPE_CHECKING:
    from conftest import World

RULES = '[[rule]]\nname = "no ls"\nwhen = "runs ls"\nbecause = "Use rg."\n\n[[rule]]\nwhen = "runs pwd"\n'
ID = "anyhook:user:pre_tool:no-ls"


def rules(world: World, text: str) -> None:
    world.write(world.home / "config" / "anyhook" / "hooks.toml", text)


def call(world: World, command: str, *words: str) -> dict[str, object]:
    given = json.dumps({"command": command})
    return dict(world.fire("pre_tool", "--tool", "Bash", "--input", given, *words))


def test_shadow_report_and_enforce(world: World) -> None:
    rules(world, RULES)
    assert call(world, "ls -a")["verdict"] == "block"
    done = world.command("shadow", "no ls", "--for", "7d")
    assert done.returncode == 0, done.stderr
    decision = call(world, "ls -b")
    assert (decision["verdict"], [row["verdict"] for row in decision["hooks"]]) == ("none", ["block", "none"])  # type: ignore[attr-defined]
    assert call(world, "cat x")["verdict"] == "none"
    gates = {gate["id"]: gate["state"] for gate in json.loads(world.command("status", "--json").stdout)["gates"]}
    assert gates[ID] == "shadow"
    found = json.loads(world.command("report", ID, "--json").stdout)
    assert (found["calls"], found["stopped"], found["would_have_stopped"]) == (3, 1, 1)
    assert [each["about"] for each in found["examples"]] == ["ls -a", "ls -b"]
    assert "stopped 1 and would have stopped 1 of 3 calls" in world.command("report", ID).stdout
    assert world.command("enforce", ID).returncode == 0
    assert call(world, "ls")["verdict"] == "block"


def test_a_new_rule_is_asked_about_the_past(world: World) -> None:
    call(world, "git push --force")
    call(world, "git push")
    rules(world, '[[rule]]\nname = "force"\nwhen = "runs git push --force"\n')
    found = json.loads(world.command("report", "force", "--json").stdout)
    assert (found["calls"], found["stopped"], found["would_have_stopped"]) == (2, 0, 1)


def test_a_mode_ends_with_its_time() -> None:
    settings = Settings(hook_mode={"a": "shadow", "b": "shadow"}, hook_until={"a": 100})
    assert settings.at(99).hook_mode == {"a": "shadow", "b": "shadow"}
    assert settings.at(100).hook_mode == {"b": "shadow"}


def test_the_settings_keep_what_else_they_say(world: World) -> None:
    rules(world, RULES)
    world.config('# mine\noff = "pass"\n\n[journal]\nkeep_days = 3 # days\n')
    assert world.command("shadow", ID).returncode == 0
    text = (world.home / "config" / "anyhook" / "config.toml").read_text()
    assert text == f'# mine\noff = "pass"\n\n[journal]\nkeep_days = 3 # days\n\n[hooks."{ID}"]\nmode = "shadow"\n'
    world.config("off = 7 7\n")
    refused = world.command("shadow", ID)
    assert (refused.returncode, "is left as it is" in refused.stderr) == (3, True)


@pytest.mark.parametrize(("posture", "verdict"), [("native", "block"), ("deny", "block"), ("allow", "none")])
def test_a_rule_that_cannot_be_asked_is_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch, posture: str, verdict: str
) -> None:
    """An exception in our code never opens a gate."""

    def raises(_self: object) -> None:
        raise RuntimeError("no facts today")

    rules(world, RULES)
    monkeypatch.setattr(RuleCall, "facts", property(raises))
    from anyhook.model.event import Event

    decision = world.engine(on_failure=posture).fire_sync(Event.pre_tool("Bash", {"command": "cat x"}))
    assert decision.verdict == verdict
    assert "no facts today" in decision.problems[0].what


def test_many_rules_are_one_line(world: World) -> None:
    rules(world, "".join(f'[[rule]]\nwhen = "runs no{number}"\n' for number in range(30)))
    done = world.command("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert done.stdout.splitlines()[0] == "- 30 rules do not apply"
    assert len(call(world, "ls")["hooks"]) == 30  # type: ignore[arg-type]
    record = json.loads(world.command("log", "--json").stdout.splitlines()[-1])
    assert (record["decision"]["hooks"], record["decision"]["unmet"]) == ([], 30)
    assert "30 rules did not apply" in world.command("explain", "last").stdout


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_an_agent_is_told(world: World, agent: str) -> None:
    from anyhook.tables.registry import sample

    rules(world, '[[rule]]\nname = "no echo"\nwhen = "runs echo"\nbecause = "no echo"\n')
    shown = sample(agent)
    done = world.command("bridge", agent, shown.calls, stdin=json.dumps(dict(shown.payload)))
    assert "no echo (rule no-echo; a person can run: anyhook rule no-echo)" in done.stdout + done.stderr


def test_ask_is_never_weaker(world: World) -> None:
    """An agent that cannot ask its user refuses."""
    from anyhook.tables.registry import HOSTS, host, sample

    rules(world, '[[rule]]\nwhen = "runs echo"\nthen = "ask"\nbecause = "Sure?"\n')
    mute = next(
        name for name in HOSTS if "ask" not in (host(name).row(sample(name).calls) or host(name).events[0]).says
    )
    shown = sample(mute)
    done = world.command("bridge", mute, shown.calls, stdin=json.dumps(dict(shown.payload)))
    assert "Sure?" in done.stdout + done.stderr
    assert "cannot be asked here" in done.stdout + done.stderr


def test_rules_see_what_rules_made_of_a_call(world: World) -> None:
    rewrite = '[[rule]]\nwhen = "runs cp"\nthen = "rewrite"\nto = "{command} -v"\n'
    rules(world, f'[[rule]]\nwhen = "runs zzz"\n{rewrite}')
    decision = call(world, "cp a b")
    assert (decision["tool_input"], decision["problems"]) == ({"command": "cp a b -v"}, [])


def test_rules_see_what_other_hooks_made_of_a_call(world: World) -> None:
    rules(world, '[[rule]]\nname = "no rm"\nwhen = "runs rm"\n')
    answer = json.dumps({"replace_tool_input": {"command": "rm x"}})
    world.hook("kode", "tool_call_pre", f"echo '{answer}'")
    decision = call(world, "ls")
    assert (decision["verdict"], decision["hook"]) == ("block", "anyhook:user:pre_tool:no-rm")


@pytest.mark.parametrize(
    ("rule", "warned"),
    [
        ('when = "agent cluade and runs x"', ["cluade"]),
        ('when = "runs x"\nunless = "agent claude or not agent codx"', ["codx"]),
        ('when = "runs x"\nagents = ["claude", "gemni", "my-*"]', ["gemni"]),
        ('when = "agent claude or agent fire or agent library"', []),
    ],
)
def test_an_agent_that_nobody_knows_is_told_with_a_guess(world: World, rule: str, warned: list[str]) -> None:
    world.write(world.project / ".anyhook/hooks.toml", f'[[rule]]\nname = "r"\n{rule}\n')
    found = json.loads(world.command("check", "--format", "json").stdout)["problems"]
    told = [problem for problem in found if problem["code"] == "unknown-agent"]
    assert [problem["severity"] for problem in told] == ["warning"] * len(warned)
    for name, problem in zip(warned, told, strict=True):
        assert f"`{name}`" in problem["what"]
        assert "Did you mean" in problem["fix"]


def test_an_approval_shows_what_names_stand_for(world: World) -> None:
    """And what changed about them, without the tree that pins it."""
    rules = 'when = "runs $pm publish or writes @keys"\n[words]\npm = "npm|yarn"\n[paths]\nkeys = ["*.pem"]\n'
    path = world.write(world.project / ".anyhook/hooks.toml", f"[[rule]]\n{rules}")
    shown = world.command("trust", "--yes").stdout
    assert '"$pm": "npm|yarn", "@keys": ["*.pem"]' in shown
    path.write_text(path.read_text().replace("npm|yarn", "npm"))
    changed = world.command("trust").stdout
    assert [line.strip() for line in changed.splitlines() if line.startswith(("    -  ", "    +  "))] == [
        '-    "$pm": "npm|yarn",', '+    "$pm": "npm",',
    ]  # fmt: skip


TRIED = {
    "flow": "pre_tool: ask\n  reason: A secret was read in this session",
    "loops": "  context: This call was made several times in a row",
    "budget": "asks about over 1000 calls",
    "redact": "  output → token=[secret: GitHub token]",
    "format": "run        writes *.py",
    "notify": "anyhook:user:notify:stop:the-agent-is-done  ran",
    "test-after-edit": "context    writes *.py",
    "context": "  context: ",
}
"""What the line to try of each pack shows that is not one of the guards: `tests/guards` has those."""


@pytest.mark.parametrize("pack", [name for name in NAMES if name not in GUARDS])
def test_the_line_to_try_a_pack_shows_what_it_does(world: World, pack: str) -> None:
    subprocess.run(["git", "init", "-q", world.project], check=True)
    said = world.command("add", pack, "--yes").stderr
    line = next(line for line in said.splitlines() if line.startswith("Try it: ")).removeprefix("Try it: ")
    line, _, note = line.partition("   # ")
    for _ in range({"": 1, "four times": 4}[note]):
        for part in line.split("&&"):
            shown = world.command(*shlex.split(part)[1:]).stdout
    assert TRIED[pack] in shown


def test_the_examples_in_the_header_of_a_rule_file_do_what_they_say(world: World) -> None:
    assert world.command("add", "git", "--yes").returncode == 0
    path = world.home / "config/anyhook/hooks.toml"
    examples = [line.removeprefix("#   ") for line in path.read_text().splitlines() if line.startswith("#   ")]
    subprocess.run(["git", "init", "-q", world.project], check=True)
    world.write(world.project / "new.txt", "x")
    assert world.command("try", "git clean -fd").returncode == 2
    assert world.command("try", "make release").returncode == 0
    path.write_text(path.read_text() + "\n" + "\n".join(examples) + "\n")
    assert json.loads(world.command("check", "--format", "json").stdout)["problems"] == []
    assert world.command("try", "git clean -fd").returncode == 0
    assert world.command("try", "make release").returncode == 2
