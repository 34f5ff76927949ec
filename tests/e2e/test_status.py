"""`anyhook status`, and how the setting `off` changes `fire` and `bridge`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import anyhook
from anyhook import Event
from anyhook.model.outcome import STOPPING
from anyhook.tables.registry import dialect

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World
from layer_files import OF_PROJECTS

GATE_KEYS = {"id", "event", "dialect", "scope", "source", "state", "agent", "why", "fix"}
CALL = ("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
SHELL = Event.pre_tool("Bash", {"command": "ls"})
AGAIN = "install it again: anyhook install claude"
PASS = "exit 0"
SOURCES = Path(anyhook.__file__).parents[1]


def status(world: World, *words: str) -> tuple[int, dict[str, Any]]:
    done = world.command("status", *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


def test_the_answer_for_programs(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    world.hook("claude", "PreToolUse", PASS)
    code, told = status(world)
    assert (code, told["protected"], told["project"], told["root"]) == (0, True, str(world.project), None)
    assert [set(gate) for gate in told["gates"]] == [GATE_KEYS, GATE_KEYS]
    assert [(gate["state"], gate["agent"]) for gate in told["gates"]] == [("armed", None), ("armed", None)]
    assert (told["agents"], told["problems"]) == ({}, [])
    (world.project / ".git").mkdir()
    code, told = status(world, "claude", "opencode")
    assert (code, told["root"]) == (0, str(world.project))
    assert [(gate["state"], gate["agent"]) for gate in told["gates"]] == [
        ("armed", "claude"), ("native", "claude"), ("armed", "opencode"), ("armed", "opencode"),
    ]  # fmt: skip
    assert {name: (agent["installed"], agent["state"]) for name, agent in told["agents"].items()} == {
        "claude": (False, "off"),
        "opencode": (False, "off"),
    }
    assert told["agents"]["claude"]["channel"] == "message"
    assert told["agents"]["opencode"]["channel"] == "context"


def test_an_entry_in_place_is_told(world: World) -> None:
    """The state depends on the entry, every settings layer and the guards."""

    def claude() -> tuple[bool, str, str]:
        row = status(world, "claude")[1]["agents"]["claude"]
        return row["installed"], row["state"], row["why"]

    world.hook("kodik", "PreToolUse", PASS)
    assert claude() == (False, "off", "not installed: anyhook install claude")
    assert world.command("install", "claude").returncode == 0
    assert claude() == (True, "on", "")
    path = world.home / ".claude" / "settings.json"
    text = path.read_text()
    for layer in (path, world.project / ".claude/settings.json", world.project / ".claude/settings.local.json"):
        before = layer.read_text() if layer.exists() else "{}"
        world.write(layer, json.dumps({**json.loads(before), "disableAllHooks": True}))
        installed, state, why = claude()
        assert (installed, state, str(layer) in why) == (True, "off", True), why
        code, told = status(world, "claude")
        assert (code, told["protected"], [gate["state"] for gate in told["gates"]]) == (1, False, ["uncovered"])
        layer.write_text(before)
    narrow = json.loads(text)
    narrow["hooks"]["PreToolUse"][0]["matcher"] = "Read"
    path.write_text(json.dumps(narrow))
    assert claude()[1:] == ("off", f"{path}: the entry for PreToolUse is narrowed to 'Read'; {AGAIN}")
    del narrow["hooks"]["PreToolUse"]
    path.write_text(json.dumps(narrow))
    assert claude()[1:] == ("off", f"there is no entry for PreToolUse, so the agent does not ask there; {AGAIN}")
    path.write_text(text[:-3])
    assert claude()[:2] == (True, "off")
    assert "is not valid JSON" in claude()[2]
    path.write_text(text)
    world.config('mode = "shadow"\n')
    assert claude()[1] == "off"
    assert "OFF" in claude()[2]


def test_what_an_agent_wants_confirmed_is_unknown(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    assert world.command("install", "hermes").returncode == 0
    row = status(world, "hermes")[1]["agents"]["hermes"]
    assert (row["state"], "whether it was confirmed cannot be seen" in row["why"]) == ("unknown", True)
    assert world.command("install", "codex").returncode == 0
    world.write(world.home / ".codex" / "config.toml", "[features]\nhooks = false\n")
    row = status(world, "codex")[1]["agents"]["codex"]
    assert (row["state"], "`features.hooks` is false" in row["why"]) == ("off", True)


def test_one_screen_and_one_line(world: World) -> None:
    done = world.command("status")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "NOT PROTECTED: no guard is on")
    world.hook("kodik", "PreToolUse", PASS)
    world.hook("kode", "tool_call_pre", PASS, scope="project")
    done = world.command("status", "--short")
    assert (done.returncode, done.stdout) == (1, "anyhook: 1 guard on; 1 OFF: sh (waiting). Run: anyhook trust\n")
    done = world.command("status")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("NOT PROTECTED: ")
    world.approve()
    assert world.command("install", "claude").returncode == 0
    done = world.command("status", "--short")
    assert (done.returncode, done.stdout) == (0, "anyhook: 2 guards on\n")


def test_a_pack_takes_one_line_for_each_state(world: World) -> None:
    """Small packs too, over all of their events; what is off has a command that turns all of it on."""

    def lines(word: str) -> list[str]:
        return [line for line in world.command("status").stdout.splitlines() if word in line]

    for pack in ("outside", "redact"):
        assert world.command("add", pack, "--yes").returncode == 0
    assert [line.split() for line in lines("anyhook:user:")] == [
        ["armed", "anyhook:user:outside", "pre_tool:", "2", "guards"],
        ["armed", "anyhook:user:redact", "post_tool,", "post_tool_failure,", "user_prompt_submit:", "3", "guards"],
    ]
    whole = world.command("status", "--json").stdout
    for done, undone in (("shadow outside", "enforce outside"), ("disable outside", "enable outside")):
        assert world.command(*done.split()).returncode == 0
        assert [line.partition("→ anyhook ")[2] for line in lines("anyhook:user:outside")] == [undone]
        assert world.command(*undone.split()).returncode == 0
        assert world.command("status", "--json").stdout == whole
    world.config('mode = "shadow"\n')
    assert lines("NOT PROTECTED") == [
        'NOT PROTECTED: 0 guards on; 5 OFF: delete outside the project (shadow) and 4 more. Take `mode = "shadow"` out '
        "of the settings."
    ]


def test_guards_that_no_agent_asks_are_not_called_protection(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    alone = "1 guard on, but no agent calls anyhook. Run: anyhook setup\n"
    for _ in range(2):  # the second answer may come from the cache
        assert world.command("status", "--short").stdout == f"anyhook: {alone}"
    assert world.command("status").stdout.endswith(f"GUARDS ON: {alone}")
    assert world.command("install", "claude").returncode == 0
    assert world.command("status", "--short").stdout == "anyhook: 1 guard on\n"
    done = world.command("status")
    assert (done.stdout.endswith("\nPROTECTED: 1 guard on\n"), done.stdout.startswith("claude: on\n")) == (True, True)
    assert status(world)[1]["agents"]["claude"]["state"] == "on"
    settings = world.home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"disableAllHooks": True, **json.loads(settings.read_text())}))
    assert "but claude does not ask them: " in world.command("status", "--short").stdout
    assert "\nGUARDS ON: 1 guard on, but claude does not ask them: " in world.command("status").stdout
    settings.unlink()
    assert world.command("install", "claude").returncode == 0
    assert "\nGUARDS ON: 2 guards on, but pi does not ask them" in world.command("status", "claude", "pi").stdout


def test_bad_calls(world: World) -> None:
    assert world.command("status", "claud").returncode == 3
    assert world.command("status", "--project", "/no/such/folder").returncode == 3


def test_it_starts_nothing(world: World) -> None:
    ran = world.root / "ran"
    world.hook("kodelet", "before_tool_call", PASS)
    path = world.home / ".kodelet" / "hooks" / "it"
    path.write_text(f"#!/bin/sh\ntouch {ran}\necho before_tool_call\n")
    status(world)
    assert not ran.exists()


# -- what happens when a gate is off


@pytest.mark.parametrize("name", OF_PROJECTS)
@pytest.mark.parametrize("off", ["tell", "pass", "deny"])
def test_a_gate_that_waits_closes_what_it_guards_where_the_user_says_so(world: World, name: str, off: str) -> None:
    row = dialect(name).row_for("pre_tool")
    assert row is not None
    world.hook(name, row.native, PASS, scope="project")
    world.config(f'off = "{off}"\n')
    told = world.engine().fire_sync(SHELL)
    assert told.verdict == ("block" if off == "deny" else "none")
    if off == "deny":
        assert "anyhook trust" in str(told.reason)
        assert "OFF" in str(told.reason)
        assert any(problem.code == "gate-off" for problem in told.problems)
    world.approve()
    assert world.engine().fire_sync(SHELL).verdict == "none"


def test_only_what_it_guards(world: World) -> None:
    world.config('off = "deny"\n')
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    path = world.project / ".claude" / "settings.json"
    world.declare(path, "PreToolUse", group)
    assert world.fire(*CALL)["verdict"] == "block"
    assert world.fire("pre_tool", "--tool", "Read", "--input", "{}")["verdict"] == "none"
    assert world.fire("post_tool", "--tool", "Bash", "--input", "{}", "--output", "x")["verdict"] == "none"
    world.approve()
    path.write_text("{}")  # the same holds for a hook that is gone
    assert world.fire(*CALL)["verdict"] == "block"
    assert world.fire("pre_tool", "--tool", "Read", "--input", "{}")["verdict"] == "none"


def test_for_one_hook_or_all_but_one(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS, scope="project")
    _, told = status(world)
    one = told["gates"][0]["id"]
    world.config(f'[hooks."{one}"]\noff = "deny"\n')
    assert world.fire(*CALL)["verdict"] == "block"
    world.config(f'off = "deny"\n[hooks."{one}"]\noff = "tell"\n')
    assert world.fire(*CALL)["verdict"] == "none"


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_a_file_that_cannot_be_read_closes_every_gated_event_of_its_dialect(world: World, name: str) -> None:
    row = dialect(name).row_for("pre_tool")
    assert row is not None
    world.hook(name, row.native, PASS, scope="project")
    files = [path for path in world.project.rglob("*") if path.is_file() and not path.read_text().startswith("#!")]
    if not files:
        pytest.skip("its hooks are programs, which are not parsed")
    for path in files:
        path.write_bytes(b"---\n\xff\xfe: [{\n")
    gates = status(world)[1]["gates"]
    assert [gate["state"] for gate in gates] == ["unreadable"] * len(files)
    name = gates[0]["dialect"]  # the first, if two dialects keep their files in one folder
    assert world.fire(*CALL)["verdict"] == "none"
    world.config('off = "deny"\n')
    assert world.fire(*CALL)["verdict"] == "block"
    engine = world.engine()
    for event in {row.canonical[0] for row in dialect(name).events}:
        gated = any(event in row.canonical and row.block in STOPPING for row in dialect(name).events)
        assert (engine.fire_sync(Event.of(event)).verdict == "block") == gated, event


def test_a_program_that_is_missing(world: World) -> None:
    path = world.home / ".claude" / "settings.json"
    world.declare(path, "PreToolUse", {"hooks": [{"type": "command", "command": "/no/such/program"}]})
    assert world.fire(*CALL)["verdict"] == "none"
    world.config('off = "deny"\n')
    assert world.fire(*CALL)["verdict"] == "block"


def test_pass_opens_nothing_that_the_dialect_closes(world: World) -> None:
    path = world.home / "config" / "kode" / "config.yaml"
    world.declare(path, "tool_call_pre", {"exec": ["/no/such/program"]})
    for off in ("pass", "tell", "deny"):
        world.config(f'off = "{off}"\n')
        assert world.fire(*CALL)["verdict"] == "block", off


def test_an_agent_is_refused_in_its_own_words(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS, scope="project")
    world.config('off = "deny"\n')
    payload = {"session_id": "s", "cwd": str(world.project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    done = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "anyhook trust" in said["permissionDecisionReason"]


def test_shadow_for_one_hook_runs_it_and_counts_nothing(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2")
    one = status(world)[1]["gates"][0]["id"]
    assert world.fire(*CALL)["verdict"] == "block"
    world.config(f'[hooks."{one}"]\nmode = "shadow"\n')
    told = world.fire(*CALL)
    assert (told["verdict"], told["hooks"][0]["verdict"], told["hooks"][0]["status"]) == ("none", "block", "ran")


def test_a_word_that_is_none_is_reported(world: World) -> None:
    world.config('off = "maybe"\n[hooks."a:b"]\noff = "maybe"\nspeed = "high"\n')
    problems = world.fire(*CALL)["problems"]
    assert [problem["code"] for problem in problems] == ["bad-setting"] * 3


@pytest.mark.parametrize("words", [(), ("--short",), ("--json",)])
def test_the_same_answer_is_kept_as_long_as_nothing_changes(world: World, words: tuple[str, ...]) -> None:
    """A shell prompt runs `status` all the time. Every change that matters must show at once."""
    script = world.write(world.home / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    world.hook("kodik", "PreToolUse", str(script))

    def asked() -> tuple[int, str]:
        done = world.command("status", *words)
        return done.returncode, done.stdout

    time.sleep(0.06)  # answers about files that just changed are not cached
    first = asked()
    kept = {path: path.read_bytes() for path in (world.state / "plans").iterdir()}
    assert kept
    assert asked() == first
    assert first[0] == 0
    script.chmod(0o644)
    assert asked()[0] == 1, "its execute bit is gone"
    script.chmod(0o755)
    assert asked()[0] == 0
    script.unlink()
    assert asked()[0] == 1
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert asked()[0] == 1
    script.write_text("#!/bin/sh\n<<<<<<< a\n=======\n>>>>>>> b\n")
    assert asked()[0] == 1
    script.write_text("#!/bin/sh\nexit 0\n")
    assert asked() == first
    world.config('mode = "shadow"\n')
    assert asked()[0] == 1
    world.config("")
    world.write(world.project / ".claude/settings.json", "{")
    assert asked()[0] == 1


def test_a_kept_answer_loads_next_to_nothing(world: World) -> None:
    world.hook("kodik", "PreToolUse", PASS)
    time.sleep(0.06)
    first = world.command("status", "--short")
    assert first.returncode == 0
    probe = "import sys; sys.argv = ['anyhook', 'status', '--short']; import os; os._exit = lambda s: None\n"
    probe += "from anyhook.entry import main; main(); print(sorted({'click', 'rich', 'json', 're'} & set(sys.modules)))"
    words = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCES)!r})\n{probe}"]
    done = subprocess.run(words, env=world.env, cwd=world.project, capture_output=True, text=True, check=True)
    assert done.stdout == f"{first.stdout}[]\n", done.stdout + done.stderr


def test_hooks_that_the_agent_runs_itself_are_not_said_to_be_unasked(world: World) -> None:
    world.hook("claude", "PreToolUse", "exit 0", scope="project")
    assert world.command("trust", "--yes").returncode == 0
    assert world.command("install", "claude").returncode == 0
    for words in ((), ("claude",), ("--short",)):
        said = world.command("status", *words).stdout
        assert "not ask them" not in said
    assert "runs its own hooks itself" in world.command("status").stdout


@pytest.mark.parametrize(
    ("agent", "covered"), [("codebuddy", False), ("qwen", False), ("pi", True), ("opencode", True)]
)
def test_redaction_counts_as_on_only_where_no_secret_was_seen_to_pass(world: World, agent: str, covered: bool) -> None:
    """CodeBuddy Code takes a replaced output, and does not give hooks that of its shell."""
    assert world.command("add", "redact", "--yes").returncode == 0
    assert world.command("install", agent).returncode == 0
    said = world.command("status").stdout
    assert ("cannot replace a tool's output" in said) is not covered, said


def test_a_pack_that_is_on_is_not_advised_again(world: World) -> None:
    """Outputs that an agent cannot replace: with `secrets` on, the calls that read secrets are refused, and the gate is
    still said to be off."""
    for pack, advised in (("redact", True), ("secrets", False)):
        assert world.command("add", pack, "--yes").returncode == 0
        assert world.command("install", "qwen").returncode == 0
        said = world.command("status", "qwen").stdout
        assert ("anyhook add secrets" in world.command("status").stdout + said) is advised, said
        assert "cannot replace a tool's output" in said
        assert "NOT PROTECTED" in said
    assert "`secrets` refuses the calls that read them" in said
