"""Load, as a table: what a source's text becomes, entry by entry. A faulty entry is reported as a problem; the others
load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anyhook.documents.files import Files
from anyhook.engine.catalog import builtins, load
from anyhook.model.hook import Hook, Layer, Source
from anyhook.tables.registry import dialect


def handler(command: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": command, **more}


def kolega(*groups: object, **top: object) -> str:
    return json.dumps({"schema_version": 1, "hooks": {"PreToolUse": list(groups)}, **top})


GOOD: dict[str, Any] = {"hooks": [handler("a")]}
TABLE: list[tuple[str, str | None, int, bool, str]] = [
    ("kolega", None, 0, False, "a file that is not there is no mistake"),
    ("kolega", "", 0, True, "an empty file is one"),
    ("kolega", "{", 0, True, "a file that cannot be read counts as empty"),
    ("kolega", "[]", 0, True, "and so does another kind of value"),
    ("kolega", kolega(GOOD), 1, False, "one entry"),
    ("kolega", kolega(GOOD, schema_version=2), 0, True, "schema_version has to be 1, or the file is rejected"),
    ("kolega", kolega(GOOD, "nonsense", GOOD), 2, True, "a bad entry is dropped alone"),
    ("kolega", kolega({"hooks": [handler("a"), {"type": "no-such"}]}), 1, True, "and so is a bad handler"),
    ("kodik", json.dumps({"hooks": {"PreToolUse": [GOOD], "NoSuch": [GOOD]}}), 1, True,
     "an event that there is not takes none with it"),
    ("kode", "hooks:\n  tool_call_pre:\n    - exec: [/bin/true]\n    - exec: [/bin/false]\n", 2, False,
     "entries are listed under their event"),
    ("kode", "hooks: [\n", 0, True, "YAML that is cut off"),
]  # fmt: skip


def loaded(name: str, text: str | None, folder: Path) -> tuple[Layer, Files]:
    path = folder / ("config.yaml" if name == "kode" else "hooks.json")
    place = folder if name == "kodik" else path  # kodik looks for one of two files in the folder
    if text is not None:
        path.write_text(text)
    files = Files()
    return load(dialect(name), Source(name, "user", str(place), str(folder)), files), files


@pytest.mark.parametrize(("name", "text", "count", "is_wrong", "why"), TABLE, ids=[row[4] for row in TABLE])
def test_what_loads(tmp_path: Path, name: str, text: str | None, count: int, is_wrong: bool, why: str) -> None:
    layer, files = loaded(name, text, tmp_path)
    assert len(layer.hooks) == count, why
    assert bool(files.problems) == is_wrong, why
    assert all(problem.where.startswith(str(tmp_path)) for problem in files.problems), "each names its file"


def hook_of(name: str, text: str, folder: Path) -> Hook:
    (hook,) = loaded(name, text, folder)[0].hooks
    return hook


def test_what_a_hook_knows_of_itself(tmp_path: Path) -> None:
    hook = hook_of("kolega", kolega({"matcher": "Bash", "hooks": [handler("a", timeout=7)]}), tmp_path)
    assert (hook.native_event, hook.events, hook.matcher, hook.handler) == (
        "PreToolUse", ("pre_tool",), "Bash", "command",
    )  # fmt: skip
    assert (hook.limit_s, hook.scope, hook.source) == (7.0, "user", str(tmp_path / "hooks.json"))


def test_reading_that_fails_is_one_problem_of_one_source(tmp_path: Path) -> None:
    """If one agent's own code fails, the other agents' files are still read."""

    def fails(*_: object) -> Layer:
        raise ZeroDivisionError("division by zero")

    files = Files()
    files.owner = before = ("outer", "user")
    source = Source("kodik", "project", str(tmp_path / "x"), str(tmp_path))
    layer = load(dialect("kodik").replace(load=fails), source, files)
    assert (layer.source, layer.hooks) == (source, ())
    (problem,) = files.problems
    assert (problem.where, problem.dialect, problem.scope) == (source.path, "kodik", "project")
    assert files.owner == before


@pytest.mark.parametrize(("name", "events"), [("kodelet", ["after_turn"]), ("kode", [])])
def test_what_a_product_brings_along(name: str, events: list[str]) -> None:
    found = builtins(dialect(name))
    assert [hook.native_event for hook in found] == events
    assert {hook.scope for hook in found} <= {"builtin"}


GATE = "{PreToolUse: [{hooks: [{type: command, command: 'true'}]}]}"
FRONT_MATTER: list[tuple[str, int, list[str], str]] = [
    (f"name: a\nhooks: {GATE}", 1, [], "a key of its own"),
    (f'name: a\n"hooks" : {GATE}', 1, [], "in quotes"),
    (f"{{name: a, hooks: {GATE}}}", 1, [], "on one line"),
    (f"name: a\nmetadata:\n  hooks: {GATE}", 0, [], "a key inside another is the product's business"),
    ("name: a\ndescription: it hooks: [", 0, [], "and so is a file that only mentions the word"),
    ("name: a\nhooks: [", 0, ["invalid-yaml"], "it declares hooks and cannot be read"),
    ("name: a\nhooks:\ufeff  PreToolUse:\n    - hooks: []", 0, ["unknown-key"], "with a character nobody sees"),
]


@pytest.mark.parametrize(("front", "count", "codes", "why"), FRONT_MATTER, ids=[row[3] for row in FRONT_MATTER])
def test_front_matter(tmp_path: Path, front: str, count: int, codes: list[str], why: str) -> None:
    folder = tmp_path / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(f"---\n{front}\n---\nDo it.\n")
    files = Files()
    layer = load(dialect("claude"), Source("claude", "project", str(folder), str(tmp_path), "agents"), files)
    assert (len(layer.hooks), [problem.code for problem in files.problems]) == (count, codes), why
