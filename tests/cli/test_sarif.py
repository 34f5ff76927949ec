"""SARIF logs: valid against the real schema, with the location of every problem and no private path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from anyhook.cli.view.sarif import sarif
from anyhook.model.problem import ERROR, WARNING, Problem
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Object = dict[str, Json]

SCHEMA = json.loads((Path(__file__).parent.parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def run_of(log: Object) -> Object:
    VALIDATOR.validate(log)
    (run,) = cast("list[Object]", log["runs"])
    return run


def results_of(log: Object) -> list[Object]:
    return cast("list[Object]", run_of(log)["results"])


def rules_of(log: Object) -> list[Object]:
    tool = cast("Object", run_of(log)["tool"])
    driver = cast("Object", tool["driver"])
    assert driver["name"] == "anyhook"
    assert driver["version"]
    return cast("list[Object]", driver["rules"])


def location_of(problem: Problem, root: str | None) -> Object:
    (result,) = results_of(sarif([problem], root=root))
    (location,) = cast("list[Object]", result["locations"])
    return location


def test_the_schema_notices_an_invalid_log() -> None:
    log = sarif([Problem(code="X-1", what="w")])
    assert VALIDATOR.is_valid(log)
    results_of(log)[0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(log)


def test_no_problems_are_a_valid_log_without_results() -> None:
    log = sarif([])
    assert results_of(log) == []
    assert rules_of(log) == []


def test_one_rule_per_code_in_order_of_appearance() -> None:
    problems = [Problem(code=code, what=f"what {n}") for n, code in enumerate(["B", "A", "B"])]
    log = sarif(problems)
    assert [rule["id"] for rule in rules_of(log)] == ["B", "A"]
    assert [(result["ruleId"], result["ruleIndex"]) for result in results_of(log)] == [("B", 0), ("A", 1), ("B", 0)]


def test_levels_follow_the_severity() -> None:
    log = sarif([Problem(code="A", what="w", severity=ERROR), Problem(code="B", what="w", severity=WARNING)])
    assert [result["level"] for result in results_of(log)] == ["error", "warning"]
    assert [rule["defaultConfiguration"] for rule in rules_of(log)] == [{"level": "error"}, {"level": "warning"}]


@each_of(
    ("problem", "text"),
    [
        (Problem(code="A", what="bad entry", why="no list", fix="write a list"), "bad entry. no list. write a list."),
        (Problem(code="A", what="What now?", fix="Go on."), "What now? Go on."),
        (Problem(code="A", what="only what"), "only what."),
        (Problem(code="A", what='expected {"a": {0}}'), 'expected {{"a": {{0}}}}.'),
    ],
)
def test_the_message_is_what_why_and_fix(problem: Problem, text: str) -> None:
    (result,) = results_of(sarif([problem]))
    assert result["message"] == {"text": text}


def test_help_is_the_given_text_or_the_fix() -> None:
    problems = [Problem(code="A", what="w", fix="do it"), Problem(code="B", what="w", fix="do that")]
    texts = [cast("Object", rule["help"])["text"] for rule in rules_of(sarif(problems, helps={"A": "About A."}))]
    assert [str(text).split(" More")[0] for text in texts] == ["About A.", "do that."]


def test_a_file_in_the_project_is_told_relative_to_it(tmp_path: Path) -> None:
    problem = Problem(code="A", what=f"cannot read {tmp_path}/a/b.json", where=f"{tmp_path}/a/b.json:12")
    log = sarif([problem], root=str(tmp_path))
    assert location_of(problem, str(tmp_path)) == {
        "physicalLocation": {
            "artifactLocation": {"uri": "a/b.json", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 12},
        }
    }
    assert str(tmp_path) not in json.dumps(log)


def test_a_resolved_path_is_inside_a_root_that_is_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    for spelling in (real, link):
        location = location_of(Problem(code="A", what="w", where=f"{spelling}/x.yaml"), str(link))
        assert location == {"physicalLocation": {"artifactLocation": {"uri": "x.yaml", "uriBaseId": "%SRCROOT%"}}}


@each_of(
    ("where", "uri"),
    [
        ("/elsewhere/a b.json", "file:///elsewhere/a%20b.json"),
        ("/elsewhere/ü#?.json:3", "file:///elsewhere/%C3%BC%23%3F.json"),
        ("/project-of-other/x", "file:///project-of-other/x"),
        ("/project/../elsewhere/x", "file:///elsewhere/x"),
        ("/project/a b/ü%.json", "a%20b/%C3%BC%25.json"),
        ("/project/x:y.json", "x%3Ay.json"),
        ("/project/.hidden:0", ".hidden%3A0"),
    ],
)
def test_uris_are_percent_encoded(where: str, uri: str) -> None:
    location = location_of(Problem(code="A", what="w", where=where), "/project")
    physical = cast("Object", location["physicalLocation"])
    assert cast("Object", physical["artifactLocation"])["uri"] == uri


def test_a_relative_file_that_is_there_and_a_hook_id_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    there = location_of(Problem(code="A", what="w", where="x.json:2"), str(tmp_path))
    assert there["physicalLocation"] == {
        "artifactLocation": {"uri": "x.json", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2},
    }
    assert location_of(Problem(code="A", what="w", where="some:hook:1"), str(tmp_path)) == {
        "logicalLocations": [{"fullyQualifiedName": "some:hook:1"}]
    }


def test_no_place_is_no_location() -> None:
    (result,) = results_of(sarif([Problem(code="A", what="w")], root="/project"))
    assert "locations" not in result


texts = st.text(st.characters(codec="utf-8"), max_size=20)
problems = st.builds(
    Problem,
    code=texts.filter(bool),
    what=texts.filter(bool),
    where=texts | texts.map(lambda name: f"/project/{name}:7"),
    why=texts,
    fix=texts,
    severity=st.sampled_from([ERROR, WARNING]),
)


@given(st.lists(problems, max_size=4))
def test_every_log_is_valid_and_every_problem_is_in_it(found: list[Problem]) -> None:
    log = sarif(found, root="/project")
    assert [result["ruleId"] for result in results_of(log)] == [problem.code for problem in found]
