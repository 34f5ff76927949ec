"""`anyhook new` writes a hook that works at once, for every dialect, event, language and scope. The matrix calls the
command in this process, so only the hooks start processes. Its expectations never come from the tables under test."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from new_place import Place, check_syntax, texts, the_hook

from anyhook.documents.files import Files
from anyhook.engine.interpret import interpret
from anyhook.extra.testing.hook_script import EFFECTS as STOPS
from anyhook.extra.testing.hook_script import answers
from anyhook.model.call import Run
from anyhook.state.plans import Setup
from anyhook.tables.registry import DIALECTS, dialect

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

MARK = "anyhook-demo-block"

# What a block does, according to the contract. None if it stops nothing or cannot happen.
EFFECTS: dict[str, dict[str, str | None]] = {
    "kode": {
        "session_start": "abort", "user_prompt_submit": "abort", "tool_call_pre": "deny_tool",
        "tool_call_post": "feedback", "session_end": None,
    },
    "kodik": {
        "PreToolUse": "deny_tool", "PostToolUse": "feedback", "PermissionRequest": "deny_permission",
        "SubagentStart": "skip", "SubagentStop": "keep_working", "SessionStart": None, "PreCompact": "skip",
        "PostCompact": None, "UserPromptSubmit": "end_turn", "Stop": "keep_working",
    },
    "agenthooks": {
        "session_start": "abort", "session_end": None, "before_agent": "end_turn", "after_agent": "feedback",
        "before_tool": "deny_tool", "after_tool": "feedback", "after_tool_failure": "feedback",
        "subagent_start": "skip", "subagent_stop": "keep_working", "pre_compact": "skip",
        "before_stop": "keep_working",
    },
    "kolega": {
        "SessionStart": None, "UserPromptSubmit": "end_turn", "PreToolUse": "deny_tool", "PostToolUse": "end_turn",
        "PreCompact": None, "PostCompact": None, "Stop": "keep_working", "SubagentStop": None, "Notification": None,
        "SessionEnd": None,
    },
    "kodelet": {
        "before_tool_call": "deny_tool", "after_tool_call": None, "user_message_send": "abort", "after_turn": None,
        "agent_stop": None,
    },
}  # fmt: skip

# The folder of the log that the hook `my.hook` writes, by dialect: for the project and for the user.
LOGS = {
    "kode": (".kode", ".kode"),
    "kodik": (".kodik", "Documents/Kodik"),
    "agenthooks": (".agents", "cfg/agents"),
    "kolega": (".kolega", "state/kolega-code"),
    "kodelet": (".kodelet", ".kodelet"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path, monkeypatch, capfd)


MATRIX = [(name, event) for name, events in EFFECTS.items() for event in events]


def test_the_matrix_is_complete() -> None:
    assert [(name, row.native) for name in EFFECTS for row in dialect(name).events] == MATRIX


@pytest.mark.parametrize("scope", ["project", pytest.param("user", marks=pytest.mark.slow)])
@pytest.mark.parametrize("lang", ["bash", "python"])
@pytest.mark.parametrize(("name", "event"), MATRIX)
def test_a_new_hook_works_at_once(place: Place, name: str, event: str, lang: str, scope: str) -> None:
    made = place.new("my.hook", "--dialect", name, "--event", event, "--lang", lang, "--scope", scope)
    for path in texts(made["files"]):
        assert Path(path).is_relative_to(place.project if scope == "project" else place.home)
    script = texts(made["files"])[0]
    assert os.access(script, os.X_OK)
    check_syntax(script, lang)
    assert place.json("check", "--format", "json") == (0, {"problems": []})

    tries = texts(made["try"])
    if scope == "project":
        assert tries.pop(0) == "anyhook trust"
        _, waiting = place.fire(tries[0])
        assert the_hook(waiting, made["id"])["status"] == "untrusted"
        status, _, err = place.call("trust", "--yes")
        assert status == 0, err
    marked_line, harmless_line = tries

    effect = EFFECTS[name][event]
    status, marked = place.fire(marked_line)
    if effect:
        assert (status, marked["verdict"], marked["effect"], marked["hook"]) == (2, "block", effect, made["id"])
        assert marked["reason"] == f"my.hook: refused, because the event holds the word {MARK}"
    status, harmless = place.fire(harmless_line)
    record = the_hook(harmless, made["id"])
    assert (status, harmless["verdict"], harmless["problems"]) == (0, "none", [])
    ran = {"status": "ran", "ending": "exited", "exit_code": 0, "stdout": "", "stderr": ""}
    assert {key: record[key] for key in ran} == ran
    if not effect:
        assert (marked["verdict"], marked["problems"]) == ("none", [])
        base = place.project if scope == "project" else place.home
        lines = (base / LOGS[name][scope == "user"] / "my.hook.log").read_text().splitlines()
        assert [MARK in line for line in lines] == [True, False]
        assert all(isinstance(json.loads(line), dict) for line in lines)


GATES = [
    (name, row.native) for name in DIALECTS if name not in EFFECTS for row in dialect(name).events if row.block in STOPS
]


@pytest.mark.parametrize("lang", ["bash", pytest.param("python", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "event"), GATES)
def test_a_new_gate_of_every_other_dialect_blocks_at_once(place: Place, name: str, event: str, lang: str) -> None:
    made = place.new("my.hook", "--dialect", name, "--event", event, "--lang", lang)
    *trusts, marked_line, _ = texts(made["try"])
    assert not trusts or place.call("trust", "--yes")[0] == 0
    status, marked = place.fire(marked_line)
    assert (status, marked["verdict"], marked["hook"], marked["problems"]) == (2, "block", made["id"], [])
    assert MARK in str(marked["reason"])


@pytest.mark.parametrize("lang", ["bash", "python"])
def test_a_hook_that_objects_to_nothing_says_so_where_silence_may_refuse(place: Place, lang: str) -> None:
    """Antigravity expects a decision in every answer before a tool call."""
    made = place.new("my.hook", "--dialect", "antigravity", "--event", "PreToolUse", "--lang", lang)
    script, given = texts(made["files"])[0], '{"toolCall": {"name": "run_command", "args": {"CommandLine": "ls"}}}'
    done = subprocess.run([script], input=given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"decision": "allow"}
    assert all("decision" in line for line in Path(script).read_text().splitlines() if "overwrite" in line)


def test_a_tool_is_named_where_the_payload_has_it(place: Place) -> None:
    """Cline has no matchers and one program for each event. Its payload has the tool's name inside an object."""
    made = place.new("guard", "--dialect", "cline", "--event", "PreToolUse", "--tool", "execute_command")
    assert texts(made["files"]) == [str(place.project / ".cline" / "hooks" / "PreToolUse")]
    assert place.call("trust", "--yes")[0] == 0
    fire = 'anyhook fire PreToolUse --dialect cline --input \'{"command": "' + MARK + "\"}' --tool "
    assert place.fire(fire + "execute_command")[1]["verdict"] == "block"
    assert place.fire(fire + "read_file")[1]["verdict"] == "none"
    assert "one program for each event" in place.refused("other", "--dialect", "cline", "--event", "PreToolUse")


@pytest.mark.parametrize("lang", ["bash", "python"])
@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("kode", "tool_call_pre"), ("kode", "tool_call_post"), ("kodik", "PreToolUse"), ("kodik", "PermissionRequest"),
        ("agenthooks", "before_tool"), ("agenthooks", "after_tool"), ("kolega", "PreToolUse"),
        ("kolega", "PostToolUse"), ("kodelet", "before_tool_call"),
    ],
)  # fmt: skip
def test_a_tool_is_listened_to_and_others_are_not(place: Place, name: str, event: str, lang: str) -> None:
    made = place.new("guard", "--dialect", name, "--event", event, "--tool", "one|two", "--lang", lang)
    line = texts(made["try"])[1]
    for tool, status in (("one", 2), ("two", 2), ("other", 0)):
        words = shlex.split(line)
        words[words.index("--tool") + 1] = tool
        assert place.fire(shlex.join(words), "--trust", "all")[0] == status, tool


@pytest.mark.parametrize("tool", ["it's", 'a "b"', "naïve*", "$(touch x)", "`touch x`", "a\\b"])
@pytest.mark.parametrize("lang", ["bash", "python"])
def test_a_tool_with_signs_is_compared_as_it_is(place: Place, tool: str, lang: str) -> None:
    made = place.new("guard", "--dialect", "kode", "--event", "pre_tool", "--tool", tool, "--lang", lang)
    check_syntax(texts(made["files"])[0], lang)
    line = texts(made["try"])[1]
    assert place.fire(line, "--trust", "all")[0] == 2
    assert place.fire(line, "--tool", "other", "--trust", "all")[0] == 0
    assert not (place.project / "x").exists()


@pytest.mark.parametrize("name", [name for name in EFFECTS if name != "kode"])
def test_scripts_of_bash_do_the_same_in_a_plain_shell(place: Place, name: str) -> None:
    made = place.new("guard", "--dialect", name, "--event", "pre_tool", "--tool", "x")
    payload = json.dumps({"tool_name": "x", "tool_input": {"text": f"\\n {MARK}"}})
    found = [
        subprocess.run(
            [shell, texts(made["files"])[0], "run"], input=payload, capture_output=True, text=True, check=False
        )
        for shell in ("bash", "sh")
    ]
    assert found[0].stdout == found[1].stdout
    assert found[0].stderr == found[1].stderr
    assert found[0].returncode == found[1].returncode == (0 if name == "kodelet" else 2)


@pytest.mark.parametrize("name", EFFECTS)
def test_an_approval_covers_the_script(place: Place, name: str) -> None:
    made = place.new("guard", "--dialect", name, "--event", "pre_tool")
    _, marked_line, harmless_line = texts(made["try"])
    place.call("trust", "--yes")
    assert place.fire(marked_line)[0] == 2
    with open(texts(made["files"])[0], "a") as script:
        script.write("# changed\n")
    assert the_hook(place.fire(harmless_line)[1], made["id"])["status"] == "untrusted"


def test_the_command_itself(place: Place) -> None:
    """Called as a user would call it: from another folder, with results on stdout."""
    words = [
        "new",
        "guard",
        "--dialect",
        "kodik",
        "--event",
        "before_tool",
        "--tool",
        "Bash",
        "--project",
        str(place.project),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "anyhook", *words], cwd="/", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    folder = place.project / ".kodik" / "hooks"
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        f"wrote {folder}/guard.sh", f"wrote {folder}/hooks.json", "hook kodik:project:PreToolUse:guard.sh",
    ]  # fmt: skip
    tries = [line.rsplit("#", 1) for line in lines if line.startswith("  anyhook ")]
    assert [effect.strip() for _, effect in tries] == ["look at it and approve it", "blocks", "passes"]
    for line, effect in tries[1:]:
        words = [sys.executable, "-m", *shlex.split(line), "--trust", "all"]
        assert subprocess.run(words, cwd="/", capture_output=True, check=False).returncode == (
            2 if effect == " blocks" else 0
        )


# --- places


def test_user_files_follow_the_variables(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = place.new("a", "--dialect", "kode", "--event", "pre_tool", "--scope", "user")
    assert texts(made["files"]) == [f"{place.home}/.kode/hooks/a.sh", f"{place.home}/cfg/kode/config.yaml"]
    monkeypatch.setenv("KOLEGA_CODE_STATE_DIR", str(tmp_path / "elsewhere"))
    made = place.new("a", "--dialect", "kolega", "--event", "Stop", "--scope", "user")
    assert texts(made["files"])[1] == str(tmp_path / "elsewhere" / "hooks.json")
    other = str(tmp_path / "a third")
    made = place.new("a", "--dialect", "kolega", "--event", "Stop", "--scope", "user", "--state-dir", other)
    assert texts(made["files"])[1] == f"{other}/hooks.json"
    assert place.fire(texts(made["try"])[0])[0] == 2


def test_a_failure_of_a_shared_event_is_tried_as_one(place: Place) -> None:
    status, out, err = place.call("new", "a", "--dialect", "kode", "--event", "after_tool_failure")
    assert status == 0
    assert "tool_call_post --tool shell --tool-error" in out
    assert "whether it succeeded or failed" in err


def test_what_the_new_list_replaces_is_said(place: Place) -> None:
    place.new("mine", "--dialect", "kode", "--event", "pre_tool", "--scope", "user")
    _, _, err = place.call("new", "theirs", "--dialect", "kode", "--event", "pre_tool")
    assert "kode:user:tool_call_pre:mine.sh will not run any more" in err
    _, _, err = place.call("new", "more", "--dialect", "kode", "--event", "pre_tool")
    assert err == ""


def test_what_the_new_name_shadows_is_said(place: Place) -> None:
    place.new("same", "--dialect", "kodelet", "--event", "pre_tool", "--scope", "user")
    _, _, err = place.call("new", "same", "--dialect", "kodelet", "--event", "pre_tool")
    assert "both scopes" in err


def test_a_name_that_reads_as_a_number_stays_a_name(place: Place) -> None:
    for name in ("123", "true", "1e3", "null"):
        made = place.new(name, "--dialect", "agenthooks", "--event", "stop")
        assert made["id"] == f"agenthooks:project:{name}"


# --- examples in the scripts


def examples() -> list[tuple[str, str, Json, str]]:
    found = []
    for name in EFFECTS:
        for row in dialect(name).events:
            found += [(name, row.native, each.value, each.does) for each in answers(dialect(name), row)]
    return found


FILLS = {
    "rewrite the input": "tool_input", "replace the output": "tool_output", "rewrite the prompt": "prompt",
    "add context": "context", "tell the user": "messages", "add follow-up messages": "follow_ups",
    "replace the history": "history", "use `callback`": "recipe", "end the turn": "end_turn",
}  # fmt: skip


@pytest.mark.parametrize(("name", "event", "value", "does"), examples())
def test_the_examples_in_a_script_do_what_they_say(place: Place, name: str, event: str, value: Json, does: str) -> None:
    table = dialect(name)
    row = table.row(event)
    assert row is not None
    place.new("guard", "--dialect", name, "--event", event)
    roots = Setup.of(str(place.project), os.environ).roots(())
    (hook,) = (hook for source in table.find(roots) for hook in table.load(source, Files()).hooks)
    said = Run("exited", 0, json.dumps(value).encode(), b"", 0, 0.0)
    outcome = interpret(hook, table.replies["command"], row.canonical[0], said)
    assert outcome.failure is None
    assert not outcome.problems
    if does in ("grant it", "ask the user"):
        assert outcome.verdict == ("allow" if does == "grant it" else "ask")
    else:
        assert getattr(outcome, FILLS[does]), outcome
