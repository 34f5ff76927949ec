"""Schemas of hook files: every sample matches its schema, and what the loader reports as unknown does not."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from anyhook.documents.parse import split_front_matter
from anyhook.tables.registry import DIALECTS, dialect, sample
from anyhook.tables.schema import schema_of
from conftest import World
from each_of import each_of
from satellite import satellite

WITH_FILES = [name for name in DIALECTS if schema_of(dialect(name)) is not None]


def declaration(name: str) -> dict[str, Any]:
    """The document in a dialect's sample that declares its hook."""
    for path, value in sample(name).files.items():
        if not isinstance(value, str):
            return dict(value)  # type: ignore[arg-type]
        if path.endswith(".toml"):
            return tomllib.loads(value)
        front = split_front_matter(value) if path.endswith(".md") else None
        if front is not None or path.endswith((".yaml", ".json")):
            return dict(yaml.safe_load(front[0] if front is not None else value))
    raise AssertionError(f"the sample of {name} declares nothing")


@pytest.mark.parametrize("name", WITH_FILES)
def test_the_sample_fits(name: str) -> None:
    schema = schema_of(dialect(name))
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(declaration(name))] == []


def first_entry(document: dict[str, Any]) -> dict[str, Any]:
    """The object that holds the command or the rule."""
    if "rule" in document:
        return dict(document["rule"][0])
    found: Any = document.get("hooks", document)
    while True:
        inner = found[0] if isinstance(found, list) else found.get("hooks", next(iter(found.values())))
        if not isinstance(found, list) and not _holds_entries(inner):
            return dict(found)
        found = inner


def _holds_entries(value: Any) -> bool:
    """Whether a value leads to an entry, and is not a part of one."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def replaced(document: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> Any:
    return json.loads(json.dumps(document).replace(json.dumps(old), json.dumps(new)))


@each_of("name", WITH_FILES)
def test_a_mistake_does_not(name: str) -> None:
    schema, document = schema_of(dialect(name)), declaration(name)
    assert schema is not None
    entry = first_entry(document)
    for wrong in ({**entry, "no_such_key": 1}, {}, {**entry, next(iter(entry)): 7}):
        changed = replaced(document, entry, wrong)
        assert changed != document
        assert list(Draft202012Validator(schema).iter_errors(changed)), wrong


def test_programs_that_declare_themselves_have_no_file() -> None:
    assert "kodelet" not in WITH_FILES
    assert len(WITH_FILES) > 10


def test_the_command(world: World) -> None:
    done = world.command("schema", "kodik")
    assert (done.returncode, json.loads(done.stdout)) == (0, schema_of(dialect("kodik")))
    assert world.command("schema", "kodelet").returncode == 3
    told = world.command("schema", "kodic")
    assert told.returncode == 3
    assert "Did you mean `kodik`?" in told.stderr


def test_a_new_rule_file_names_its_schema(world: World) -> None:
    satellite("testing")
    done = world.command("new", "guard", "--dialect", "anyhook", "--event", "pre_tool")
    assert done.returncode == 0, done.stderr
    folder = world.project / ".anyhook"
    assert (folder / "hooks.toml").read_text().splitlines()[0] == "#:schema ./hooks.schema.json"
    schema = json.loads((folder / "hooks.schema.json").read_text())
    Draft202012Validator(schema).validate(tomllib.loads((folder / "hooks.toml").read_text()))
    assert world.command("new", "other", "--dialect", "anyhook", "--event", "stop").returncode == 0
    Draft202012Validator(schema).validate(tomllib.loads((folder / "hooks.toml").read_text()))
