"""Whatever a project contains, the user's own hooks and self-protection answer as they would without it, and failures
are reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook import Event
from anyhook.engine.catalog import build
from anyhook.engine.routes import open_catalog
from anyhook.tables.registry import DIALECTS, dialect
from conftest import World
from layer_files import CASES, IDS, NUMBERED, OF_PROJECTS, PROJECT_FILES, filled

if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.hook import Layer, Source

LONG = "9" * 309
"""Infinite as a float, but not as an integer."""
NUMBERS = {
    "309 digits": LONG,
    "negative": f"-{LONG}",
    "a fraction": f"{LONG}.5",
    "hex": "0x" + "f" * 4200,
    "5,000": "7" * 5000,
}
REFUSE = "echo 'not here' >&2; exit 2"


def payload(world: World, **changes: Any) -> str:
    given = {"session_id": "s", "cwd": str(world.project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    return json.dumps({**given, **changes})


def refused(world: World, stdin: str) -> str:
    """Check that the bridge refuses the call. Returns its reason."""
    done = world.command("bridge", "claude", "PreToolUse", stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout, f"nothing was said: {done.stderr}"
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    return str(said["permissionDecisionReason"])


def test_every_dialect_is_here() -> None:
    assert set(PROJECT_FILES) == set(OF_PROJECTS)


@pytest.mark.parametrize(("name", "path", "text"), NUMBERED, ids=IDS[: len(NUMBERED)])
def test_a_number_in_a_project_changes_nothing(world: World, name: str, path: str, text: str) -> None:
    """Runs the command that agents call in an unapproved clone. It runs twice, since the second run reads a plan."""
    world.hook("kodik", "PreToolUse", REFUSE)
    world.write(world.project / path, filled(text, LONG), 0o755)
    for _ in range(2):
        assert refused(world, payload(world)) == "not here"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("name", "path", "text"), NUMBERED, ids=IDS[: len(NUMBERED)])
def test_a_number_is_a_problem_of_its_entry(world: World, name: str, path: str, text: str, number: str) -> None:
    """A bad number is reported like any other bad value, without the general handler for loading errors."""
    world.hook("kolega", "PreToolUse", "true")
    world.write(world.project / path, filled(text, NUMBERS[number]), 0o755)
    catalog = build(world.setup(trust="all"), may_start=False).with_lines()
    assert "layer-failed" not in [problem.code for problem in catalog.problems]
    assert "kolega:user" in {f"{hook.dialect}:{hook.scope}" for hook in catalog.hooks}
    if name != "kodelet":  # kodelet's files are programs
        assert [problem for problem in catalog.problems if str(world.project) in problem.where]


def test_a_number_in_a_users_file_spoils_one_entry(world: World) -> None:
    """The other hook in the same file still works."""
    world.hook("kodik", "PreToolUse", "true", timeout=10**309)
    world.hook("kodik", "PreToolUse", REFUSE)
    assert refused(world, payload(world)) == "not here"


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list of dialects. Reading their project files fails in an unexpected way."""
    broken: list[str] = []
    for name in DIALECTS:
        table = dialect(name)

        def load(source: Source, files: Files, real: Any = table.load) -> Layer:
            if source.scope == "project" and source.dialect in broken:
                raise ZeroDivisionError("nobody thought of this")
            made: Layer = real(source, files)
            return made

        module = __import__(f"anyhook.agents.{name}", fromlist=["DIALECT"])
        monkeypatch.setattr(module, "DIALECT", table.replace(load=load))
    return broken


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_a_layer_that_fails_is_dropped_alone(world: World, breaks: list[str], name: str) -> None:
    breaks.append(name)
    for each in DIALECTS:
        native = next(row.native for row in dialect(each).events if "pre_tool" in row.canonical)
        world.hook(each, native, "exit 0")
    path, text = PROJECT_FILES[name][0]
    world.write(world.project / path, filled(text, "5"), 0o755)
    catalog = build(world.setup(trust="all"), may_start=True)
    assert {hook.dialect for hook in catalog.hooks if hook.scope == "user"} == set(DIALECTS)
    failed = [problem for problem in catalog.problems if problem.code == "layer-failed"]
    assert {(problem.dialect, problem.scope) for problem in failed} == {(name, "project")}
    assert all("nobody thought of this" in problem.why and problem.fix for problem in failed)


def test_a_dropped_layer_is_told_every_time(world: World, breaks: list[str]) -> None:
    """No plan is stored for an incomplete catalog."""
    breaks.append("claude")
    for _ in range(3):
        assert "layer-failed" in [problem.code for problem in open_catalog(world.setup()).problems]
    breaks.clear()
    assert open_catalog(world.setup()).problems == []


def test_the_library_answers(world: World, breaks: list[str]) -> None:
    breaks.extend(DIALECTS)
    world.hook("kodik", "PreToolUse", REFUSE)
    decision = world.engine().fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    assert (decision.verdict, decision.reason) == ("block", "not here")
    assert "layer-failed" in [problem.code for problem in decision.problems]


@pytest.mark.parametrize(
    "step", ["discover", "trust", "layer", "with_types", "builtins", "open_ledger", "read_settings"]
)
def test_every_step_of_loading_is_fenced(world: World, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Whichever step fails for a dialect or the project, the build returns a catalog that reports the failure."""
    import anyhook.engine.catalog as module

    world.hook("kodik", "PreToolUse", REFUSE)
    real = getattr(module, step)

    def fails(*given: Any, **named: Any) -> Any:
        first = given[0]
        where = repr(first) if step in ("open_ledger", "read_settings") else getattr(first, "name", "")
        if where != "kodik":
            raise RecursionError("too deep")
        return real(*given, **named)

    monkeypatch.setattr(module, step, fails)
    catalog = build(world.setup(), may_start=False)
    assert [hook.dialect for hook in catalog.hooks if hook.scope == "user"] == ["kodik"]
    assert "layer-failed" in [problem.code for problem in catalog.problems]


def test_layers_that_cannot_be_joined_leave_the_users(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import anyhook.engine.catalog as module

    world.hook("kodik", "PreToolUse", REFUSE)
    world.hook("kodik", "PreToolUse", "true", "project")
    real = getattr(module, "layer")  # noqa: B009 (it is not exported)

    def fails(table: Any, layers: Any, files: Any) -> Any:
        if any(each.hooks and each.source.scope == "project" for each in layers):
            raise MemoryError
        return real(table, layers, files)

    monkeypatch.setattr(module, "layer", fails)
    catalog = build(world.setup(trust="all"), may_start=False)
    assert [hook.scope for hook in catalog.hooks if hook.dialect == "kodik"] == ["user"]
    (problem,) = [problem for problem in catalog.problems if problem.code == "layer-failed"]
    assert (problem.dialect, problem.scope) == ("kodik", "project")


@pytest.mark.parametrize(
    "verb",
    [["list", "--json"], ["check"], ["explain", "pre_tool", "--json"], ["trust", "--json"], ["status"], ["doctor"]],
)
def test_verbs_that_only_look(world: World, verb: list[str]) -> None:
    world.hook("kodik", "PreToolUse", REFUSE)
    for _, path, text in CASES:
        world.write(world.project / path, filled(text, LONG), 0o755)
    done = world.command(*verb)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert "could not go on" not in done.stderr
    if verb[0] in ("list", "explain"):
        assert any(hook["scope"] == "user" for hook in json.loads(done.stdout)["hooks"])
