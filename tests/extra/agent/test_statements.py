"""What the five documents state, as data. `statements/DIALECT.yaml` has for each statement the line of the document,
the rows of the specification, and how it is tried through the command and the agent. A statement without a trial is one
that the conformance vectors of its rows, or the tests in agent_rows.json, try.

A trial declares `hooks` (event → a shell script, or several) with `more` in each declaration. Every hook first writes
what it reads to a file; `$payload` has it in the script. The model answers with `steps`, or by default with one `call`
(LS) and the answer "Done.", which it gives only if it was `told` one text and not (`untold`) another. `ended` are files
with the number of a process that must not outlive the run. `see` is what must be seen, in the language of the
vectors.

`statements/lines.yaml` accounts for every line of the documents: the rows that it states, or why it states nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from agent_box import LS, recorded, script, traces

from anyhook.extra.testing.conformance.matching import faults, mismatches
from anyhook.extra.testing.conformance.vectors import load_suite
from conftest import World
from living import gone

HERE = Path(__file__).parent
DIALECTS = ("kode", "kodik", "agenthooks", "kolega", "kodelet")
STATEMENTS: dict[str, list[dict[str, Any]]] = {
    name: yaml.safe_load((HERE / f"statements/{name}.yaml").read_text()) for name in DIALECTS
}
LINES: dict[str, dict[int | str, str]] = yaml.safe_load((HERE / "statements/lines.yaml").read_text())
LENGTHS = {"kode": 115, "kodik": 58, "agenthooks": 492, "kolega": 72, "kodelet": 642}
STATES_NOTHING = ("title", "purpose", "advice", "link")
TRIALS = [
    pytest.param(name, each["tried"], id=f"{name} {each['at']}: {each['says']}")
    for name, listed in STATEMENTS.items()
    for each in listed
    if "tried" in each
]
TRIAL_KEYS = {
    "hooks", "more", "scope", "steps", "call", "told", "untold", "top", "prompt", "permission", "words", "ended",
    "see",
}  # fmt: skip


def declare(world: World, dialect: str, tried: dict[str, Any]) -> None:
    for native, scripts in tried["hooks"].items():
        for number, text in enumerate([scripts] if isinstance(scripts, str) else scripts):
            line = "$(printf '%s' \"$payload\" | tr -d '\\n')"  # written at once: hooks of parallel calls may overlap
            note = f"payload=$(cat); printf '%s\\n' \"{line}\" >> ../{native}"
            name = f"{native.replace('_', '-').lower()}-{number}"
            more = dict(tried.get("more", {}))
            world.hook(dialect, native, f"{note}\n{text}", tried.get("scope", "user"), name, **more)


def steps_of(tried: dict[str, Any]) -> list[Any]:
    if "steps" not in tried:
        answer: dict[str, Any] = {"text": "Done."}
        answer |= {"expect": tried["told"]} if "told" in tried else {}
        answer |= {"expect_not": tried["untold"]} if "untold" in tried else {}
        return [{"tools": [tried.get("call", LS)]}, answer]
    made = [dict(step) if isinstance(step, dict) else {"text": step} for step in tried["steps"]]
    for step in made:
        step["tools"] = [LS if call == "LS" else call for call in step.get("tools", [])]
    return made


def seen(world: World, dialect: str, tried: dict[str, Any]) -> dict[str, Any]:
    """Everything that a person or a hook could see of one run."""
    world.write(world.project / "notes.txt", "text\n")
    world.write(world.project / "shot.png", "text\n")
    declare(world, dialect, tried)
    model = script(world, *steps_of(tried), **tried.get("top", {}))
    words = ("--model", model, "--permission", tried.get("permission", "auto"), "--trust", "all", "--json")
    done = world.command("agent", "run", tried.get("prompt", "Go."), *words, *tried.get("words", ()))
    for name in tried.get("ended", ()):
        gone((world.project / name).read_text())
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    files = {name: world.project / name for name in tried["see"].get("files", {})}
    payloads = {native: recorded(world, native) for native in tried["hooks"]}
    return {
        "status": done.returncode,
        "stop": report["stop"],
        "text": report["text"],
        "turns": report["turns"],
        "ran": traces(world),
        "shown": done.stderr,
        "events": " ".join(it["event"] for it in report["events"]),
        "decisions": {it["event"]: it for it in reversed(report["events"])},
        "codes": [problem["code"] for it in report["events"] for problem in it["problems"]],
        "payloads": payloads,
        "keys": {native: list(read[0]) if read else [] for native, read in payloads.items()},
        "times": {native: len(read) for native, read in payloads.items()},
        "files": {name: path.read_text() if path.exists() else None for name, path in files.items()},
    }


def placed(value: Any, world: World) -> Any:
    """An expectation with the project's folder in it."""
    return json.loads(json.dumps(value).replace("{project}", str(world.project)))


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "tried"), TRIALS)
def test_a_statement(world: World, dialect: str, tried: dict[str, Any]) -> None:
    actual = seen(world, dialect, tried)
    assert mismatches(placed(tried["see"], world), actual) == [], actual["shown"]


def test_every_trial_can_be_read() -> None:
    for name, listed in STATEMENTS.items():
        for each in listed:
            assert {"at", "rows", "says"} <= set(each) <= {"at", "rows", "says", "tried"}, (name, each)
            tried = each.get("tried", {"see": {}})
            assert set(tried) <= TRIAL_KEYS, (name, each["says"])
            assert faults(tried["see"]) == [], (name, each["says"])


def test_every_row_is_stated_and_tried() -> None:
    """Every row of the specification has a statement, and each statement a way in which it is tried."""
    suite = load_suite()
    by_agent = json.loads((HERE / "agent_rows.json").read_text())
    for name, listed in STATEMENTS.items():
        stated = {row for each in listed for row in each["rows"]}
        assert stated == set(suite.rows[name]), name
        shown = {row for vector in suite.vectors[name] for row in vector.rows} | set(by_agent)
        for each in listed:
            if "tried" not in each:
                assert set(each["rows"]) <= shown | {"L-43"}, (name, each["says"])


def test_no_statement_is_there_twice() -> None:
    for name, listed in STATEMENTS.items():
        said = [(each["at"], each["says"]) for each in listed]
        assert len(said) == len(set(said)), name
        assert said, name


def what_lines_state(name: str) -> dict[int, list[str]]:
    """The rows of each line of a document; none for a line that states nothing."""
    found: dict[int, list[str]] = {}
    for place, what in LINES[name].items():
        first, _, last = str(place).partition("-")
        for line in range(int(first), int(last or first) + 1):
            assert line not in found, (name, line)
            found[line] = [] if what in STATES_NOTHING else what.split()
    return found


@pytest.mark.parametrize("name", DIALECTS)
def test_every_line_of_a_document_points_to_what_tries_it(name: str) -> None:
    suite = load_suite()
    stated = what_lines_state(name)
    assert sorted(stated) == list(range(1, LENGTHS[name] + 1))
    tried = {row for vector in suite.vectors[name] for row in vector.rows}
    tried |= set(json.loads((HERE / "agent_rows.json").read_text())) | {"L-43"}
    named = {row for rows in stated.values() for row in rows}
    assert named - set(suite.rows[name]) == set()
    assert named - tried == set()
    assert [each for each in STATEMENTS[name] if not stated[each["at"]]] == []
    assert set(suite.rows[name]) - named - {row for each in STATEMENTS[name] for row in each["rows"]} == set()
