"""The pytest plugin, in separate pytest runs: fixtures, builders, case files as tests, and no effect if it is not
used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from anyhook.engine.receive import receive
from anyhook.extra.testing.kit.cases import cases_in
from anyhook.extra.testing.kit.events import Events, payload_of_agent
from anyhook.extra.testing.verb_record import case_of
from anyhook.journal.read import JournalLine
from anyhook.model.event import FIELDS
from anyhook.model.json_types import Json
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host
from captured import BY_FOLDER, each_folder, received
from each_of import each_of

pytest_plugins = ["pytester"]

LEAN = [
    word for name in ("cacheprovider", "xdist", "timeout", "anyio", "hypothesispytest") for word in ("-p", f"no:{name}")
]
"""Without the parts that take most of the start-up time and are not tested here. One run has all of them."""

GUARD = {"hooks": [{"type": "command", "command": "! grep -q 'rm -rf' || { echo no >&2; exit 2; }"}]}
NOTE = {"hooks": [{"type": "command", "command": "echo $MARK >> seen.txt"}]}
TESTS = """
def test_blocks(anyhook_hook):
    harness = anyhook_hook()
    decision = harness.fire("PreToolUse", tool="Bash", input={"command": "rm -rf /"})
    assert (decision.verdict, decision.effect, decision.reason, decision.stops) == ("block", "deny_tool", "no", True)
    assert [report.exit_code for report in decision.hooks] == [2, None]

def test_one_hook_of_several(anyhook_hook):
    harness = anyhook_hook("PreToolUse:echo", env={"MARK": "m"})
    for _ in range(2):
        decision = harness.fire(harness.events.dialects.kodik.PreToolUse(tool="Bash", input={"command": "rm -rf /"}))
        assert decision.verdict == "none"
    assert (harness.project / "seen.txt").read_text() == "m\\nm\\n"

def test_an_agent(anyhook_hook):
    harness = anyhook_hook(dialects=["kodik"])
    answer = harness.bridge(harness.events.agents.claude.PreToolUse(tool="Bash", input={"command": "rm -rf /"}))
    assert answer.status == 0
    assert answer.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer.decision.verdict == "block"

def test_files_and_postures(anyhook_hook):
    broken = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 9"}]}]}}'
    harness = anyhook_hook(files={".kodik/hooks/hooks.json": broken}, on_failure="deny", mode="shadow")
    decision = harness.fire("stop")
    assert (decision.verdict, decision.enforced, decision.stops) == ("block", False, False)
    assert decision.problems[0].code == "hook-failed"

def test_names_are_guessed(anyhook_hook, anyhook_events):
    import pytest
    with pytest.raises(Exception, match="there is no hook `nobody`. Hooks: kodik:"):
        anyhook_hook("nobody").fire("stop")
    with pytest.raises(Exception, match="Did you mean `PreToolUse`"):
        anyhook_events.dialects.kodik.PreTolUse
    with pytest.raises(Exception, match="Did you mean `codex`"):
        anyhook_events.agents.codx
    with pytest.raises(TypeError, match="Did you mean `on_failure`"):
        anyhook_hook(on_failur="deny")
    with pytest.raises(ValueError, match="Did you mean `input`"):
        anyhook_events.agents.codex.PreToolUse(inputt={})
"""


def project(pytester: pytest.Pytester) -> None:
    path = pytester.path / ".kodik" / "hooks" / "hooks.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"hooks": {"PreToolUse": [GUARD, NOTE]}}))


def test_the_fixtures(pytester: pytest.Pytester) -> None:
    project(pytester)
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=5)
    assert not (pytester.path / "seen.txt").exists(), "hooks run in a copy"


MISTAKES = """
def test_verdict(anyhook_hook):
    decision = anyhook_hook("PreToolUse:echo").fire("PreToolUse", tool="Bash", input={"command": "ls"})
    assert decision.verdict == "block"

def test_hook(anyhook_hook):
    anyhook_hook("ehco").fire("stop")

def test_event(anyhook_hook):
    anyhook_hook().fire("PreTolUse")

def test_field(anyhook_hook):
    anyhook_hook().fire("PreToolUse", tol="Bash")

def test_mode(anyhook_hook):
    anyhook_hook(mode="shadw")

def test_dialect(anyhook_hook):
    anyhook_hook(dialects=["kodix"])

def test_sent(anyhook_hook):
    anyhook_hook().events.agents.codex.PreToolUse(prompt="x")

def test_agent(anyhook_hook):
    anyhook_hook().events.agents.codx
"""


def test_failures_that_a_person_understands(pytester: pytest.Pytester) -> None:
    """Messages say what is wrong, where in the test, and what the hooks did. They show none of our internals."""
    project(pytester)
    pytester.makepyfile(MISTAKES)
    result = pytester.runpytest_subprocess(*LEAN)
    result.assert_outcomes(failed=8)
    said = result.stdout.str()
    assert "/kit/" not in said, "no line of ours stands between the test and its mistake"
    for line in (
        "PreToolUse: none",
        "  kodik:project:PreToolUse:echo  ran, exit 0",
        "*CannotRun: there is no hook `ehco`. Did you mean `echo`? Hooks: kodik:*",
        "*CannotRun: unknown event `PreTolUse`. Did you mean `PreToolUse`?*",
        "*CannotRun: no dialect knows the field `tol`. Did you mean `tool`?",
        "*ValueError: mode='shadw' is not one of enforce, shadow. Did you mean `shadow`?",
        "*ValueError: dialects='kodix' is not one of *. Did you mean `kodik`?",
        "*ValueError: Codex CLI sends no `prompt` with PreToolUse, only: *",
        "*AttributeError: there is no agent `codx`. Did you mean `codex`?*",
    ):
        result.stdout.fnmatch_lines([line])


def test_case_files_are_tests(pytester: pytest.Pytester) -> None:
    project(pytester)
    (pytester.path / "guard.hooktest.yaml").write_text("""\
defaults: {event: pre_tool, tool: Bash}
cases:
  - {name: holds, input: {command: rm -rf x}, expect: {verdict: block}}
  - {name: does not, input: {command: ls}, expect: {verdict: block}}
  - {name: waits, skip: later, expect: {verdict: block}}
""")
    done = pytester.runpytest_subprocess(*LEAN, "-rA", "--anyhook-trust=all")
    done.assert_outcomes(passed=1, failed=1, skipped=1)
    done.stdout.fnmatch_lines(['*verdict: expected "block", got "none"*'])
    assert "Traceback" not in done.stdout.str()
    (pytester.path / "guard.hooktest.yaml").write_text("cases:\n  - {nam: x}\n")
    done = pytester.runpytest_subprocess(*LEAN)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*guard.hooktest.yaml:2: there is no key `nam` here. Did you mean `name`?*"])


def test_case_files_of_an_unapproved_folder_do_not_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks that were added after the approval do not run either."""
    project(pytester)
    home = pytester.mkdir("home")
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    mark, folder = home / "ran", pytester.mkdir("tests")
    (pytester.path / ".kodik").rename(folder / ".kodik")
    (folder / "guard.hooktest.yaml").write_text(
        f"cases:\n  - {{name: it, event: stop, setup: touch {mark}, expect: {{verdict: none}}}}\n"
    )
    done = pytester.runpytest_subprocess(*LEAN, str(folder))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([f"*guard.hooktest.yaml: this case file is not run: you never approved it*{folder}*"])
    assert not mark.exists()
    trust = [sys.executable, "-m", "anyhook", "trust", "--yes"]
    subprocess.run(trust, cwd=folder, check=True, capture_output=True)
    pytester.runpytest_subprocess(*LEAN, str(folder)).assert_outcomes(passed=1)
    mark.unlink()
    stop = {"hooks": [{"type": "command", "command": f"touch {home}/stopped"}]}
    hooks = {"hooks": {"PreToolUse": [GUARD, NOTE], "Stop": [stop]}}
    (folder / ".kodik" / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    done = pytester.runpytest_subprocess(*LEAN, str(folder))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["kodik:project:Stop:touch is not run: you never approved it.*"])
    assert not (home / "stopped").exists()


def test_runs_that_do_not_use_it_load_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys
        def test_it():
            assert "anyhook.extra.testing.pytest_plugin" in sys.modules
            ours = {name for name in sys.modules if name.split(".")[0] == "anyhook"}
            kit = ("", ".testing", ".testing.kit", ".testing.pytest_plugin")
            assert ours == {"anyhook", *(f"anyhook.extra{name}" for name in kit)}
            assert not {"yaml", "regex", "click"} & set(sys.modules)
    """)
    pytester.runpytest_subprocess(*LEAN).assert_outcomes(passed=1)


def test_builders_are_found() -> None:
    events = Events()
    assert dir(events.dialects) == sorted(DIALECTS)
    assert dir(events.agents) == sorted(HOSTS)
    for name in DIALECTS:
        assert [*events.dialects[name]] == [row.native for row in dialect(name).events]
    for name in HOSTS:
        assert [*events.agents[name]] == [row.native for row in host(name).events]


@each_of("name", DIALECTS)
def test_every_event_of_a_dialect_can_be_made(name: str) -> None:
    """The payload has every key that the dialect's page lists."""
    table = dialect(name)
    for row in table.events:
        made = Events("/p").dialects[name][row.native](session="s")
        wanted = {field.key for field in (*table.base, *row.payload) if not field.optional}
        assert wanted <= set(json.loads(made.stdin))


@each_of("agent", HOSTS)
def test_every_field_that_is_built_is_received(agent: str) -> None:
    """Build each event of an agent with each field that it may have. Other fields are rejected, so none is lost."""
    table, seen = host(agent), 0
    samples: dict[str, Json] = {"input": {"x": "y"}, "invoked_by": "subagent", "messages": [{"role": "user"}]}
    for row in table.events:
        for field, empty in FIELDS.items() if row.canonical else ():
            value = samples.get(field, True if empty is False else 7 if empty == 0 else "text")
            try:
                built = Events("/p").agents[agent][row.native](**{field: value})
            except ValueError as why:
                assert f"sends no `{field}` with {row.native}" in str(why)  # noqa: PT017 (either is right)
                continue
            if row.when is not None and not row.when(built.payload):
                continue
            (event,) = receive(table, row, built.payload, b"").events
            assert event.data[field] == row.fixed.get(field, value), (row.native, field)
            seen += 1
    assert seen > len(table.events)


@each_folder
def test_a_built_payload_says_what_the_real_one_says(folder: str) -> None:
    """For every payload that real agents sent: a payload built from its fields means the same."""
    for path in BY_FOLDER[folder]:
        table, row, _, raw, real = received(path)
        if not real.events:
            continue
        first = real.events[0]
        said = {**first.data, "tool": first.also[0], "input": real.input} if real.split else first.data
        built = receive(table, row, payload_of_agent(table, row, said, "/p"), raw)
        assert built.replace(response=None) == real.replace(response=None), path


@each_folder
def test_what_was_recorded_of_a_real_payload_can_be_read(folder: str) -> None:
    """Each event from a real agent gives a valid case."""
    of_payloads = [(found[0], event) for found in map(received, BY_FOLDER[folder]) for event in found[4].events]
    for table, event in of_payloads:
        decision: dict[str, Json] = {"verdict": "none", "hooks": []}
        record: dict[str, Json] = {"host": table.name, "project": "/p", "hosted": True, "decision": decision}
        record.update(event=event.name, data=event.data)
        (read,) = cases_in({"cases": [{"name": "it", **case_of(JournalLine.of(record))}]}, "the record")
        assert read.agent == table.name


def test_a_hook_script_by_itself(tmp_path: Path) -> None:
    """A payload from a builder can be passed to the script without any engine."""
    made = Events(str(tmp_path)).dialects["kodik"]["PreToolUse"](tool="Bash", input={"command": "ls"})
    script = "import json, sys; given = json.load(sys.stdin); print(given['tool_name'], given['tool_input'])"
    done = subprocess.run([sys.executable, "-c", script], input=made.stdin, capture_output=True, text=True, check=True)
    assert done.stdout == "Bash {'command': 'ls'}\n"
