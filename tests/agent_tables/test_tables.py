"""The tables of the agents in this package: they pass the check, the registry's lines are correct, and the check finds
mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anyhook.tables import registry
from anyhook.tables.extend import extend
from anyhook.tables.host_rows import HostTool, Say
from anyhook.tables.readers import whole_object
from anyhook.tables.registry import (
    AGENTS,
    BRIDGED,
    CALLS,
    DECLARES,
    DIALECTS,
    HOSTS,
    BadTable,
    dialect,
    host,
    module_of,
    part,
    special,
)
from anyhook.tables.rows import Dialect, EventRow, Field, Key, Limits, Reply
from anyhook.tables.self_check import mistakes
from each_of import each_of


@each_of("line", AGENTS, ids=lambda line: str(line[0]))
def test_a_line_of_the_registry(line: tuple[str, int, tuple[str, ...]]) -> None:
    name, does, variables = line
    found, called = part(module_of(name), "DIALECT"), part(module_of(name), "HOST")
    assert bool(does & DECLARES) == (found is not None)
    assert bool(does & (CALLS | BRIDGED)) == (called is not None)
    where = found.variables if found is not None else ()
    assert variables[: len(where)] == where
    assert variables == where or part(module_of(name), "PAST"), "more of them say where its transcripts are"
    assert mistakes(name, found, called) == []
    if called is not None:
        assert bool(does & CALLS) == (called.entry is not None)
        assert part(module_of(name), "drive") is None or called.entry is not None
        assert part(module_of(name), "VERSION")


def test_the_order_in_which_hooks_run() -> None:
    """People rely on this order, and read journals by it."""
    known = (
        "kode", "kodik", "agenthooks", "kolega", "kodelet", "claude", "codex", "gemini", "qwen", "copilot", "goose",
    )  # fmt: skip
    assert tuple(name for name in DIALECTS if name in known) == known
    called = (
        "kolega", "claude", "codex", "gemini", "qwen", "copilot", "goose", "kimi", "vibe", "cline", "opencode",
    )  # fmt: skip
    assert tuple(name for name in HOSTS if name in called) == called


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "layering": ({"layering": "stack"}, "DIALECT.layering"),
    "chain": ({"chains": ("inputs",)}, "DIALECT.chains"),
    "event": ({"events": {"PreToolUse": {"canonical": ("before",)}}}, "DIALECT.events[PreToolUse].canonical"),
    "effect of a block": ({"events": {"Stop": {"block": "stops"}}}, "DIALECT.events[Stop].block"),
    "field": ({"base": {"x": Field("x", "toool")}}, "DIALECT.base[x]"),
    "bound": ({"events": {"PreToolUse": {"bound": 3}}}, "DIALECT.events[PreToolUse].bound"),
    "tool": ({"tools": {"bash": None, "hell": object()}}, "DIALECT.tools"),
    "limits": ({"limits": {"command": None}}, "DIALECT.limits"),
    "type of a list": ({"events": "PreToolUse"}, "DIALECT.events: it must be a tuple, not 'PreToolUse'"),
    "type of a row": ({"limits": {"command": 10}}, "DIALECT.limits[command]: it must be a Limits, not 10"),
    "type of a cell": (
        {"replies": {"command": Reply(whole_object, (Key("why", "string", "reason"),))}},  # type: ignore[arg-type]
        "DIALECT.replies[command].keys[why].path: it must be a tuple, not 'why'",
    ),
    "type of a number": ({"limits": {"command": Limits("10")}}, "DIALECT.limits[command].default_s: it must be a"),  # type: ignore[arg-type]
    "type of a function": ({"match": "names"}, "DIALECT.match: it must be a function, not 'names'"),
    "a word": ({"layering": "sideways"}, "DIALECT.layering: there is no word 'sideways'"),
    "a word of a row": ({"events": {"Stop": {"block": "blok"}}}, "DIALECT.events[Stop].block: there is no word 'blok'"),
    "one of several words": ({"chains": ("input", "promt")}, "DIALECT.chains[1]: there is no word 'promt'. Did you"),
    "words that are not there": (
        {"replies": {"command": Reply(whole_object, (Key(("why",), "string", "reason", any_case=True),))}},
        "DIALECT.replies[command].keys[why].any_case",
    ),
    "find": ({"find": lambda roots: roots.env["NOT_SET"]}, "DIALECT.find: it fails on linux (KeyError: 'NOT_SET')"),
    "nothing to read": (
        {"base": (), "events": {"New": EventRow("New", ("stop",), None)}},
        "DIALECT.events[New].payload",
    ),
}


@each_of("change", CHANGES)
def test_a_dialects_mistake_names_its_cell(change: str) -> None:
    changes, cell = CHANGES[change]
    made = extend(dialect("claude"), **{key: value for key, value in changes.items() if key != "events"})
    made = extend(made, **{key: value for key, value in changes.items() if key == "events"})
    assert [found for found in mistakes("claude", made, None) if found.startswith(cell)]


HOST_CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "effect": ({"events": {"Stop": {"says": {"blocks": Say({"a": "{reason}"})}}}}, "HOST.events[Stop].says"),
    "value": ({"events": {"Stop": {"says": {"block": Say({"a": "{why}"})}}}}, "HOST.events[Stop].says[block]"),
    "no value": ({"events": {"Stop": {"says": {"context": Say({"a": "b"})}}}}, "HOST.events[Stop].says[context]"),
    "no input": ({"events": {"PreToolUse": {"takes": ()}}}, "HOST.events[PreToolUse].takes"),
    "no time": ({"events": {"Stop": {"limit_s": 0}}}, "HOST.events[Stop].limit_s"),
    "scope": ({"reads": {"claude": ("users",)}}, "HOST.reads[claude]"),
    "tool": ({"tools": {"Bash": HostTool("bash")}}, "HOST.tools[Bash].ours"),
}


@each_of("change", HOST_CHANGES)
def test_a_hosts_mistake_names_its_cell(change: str) -> None:
    changes, cell = HOST_CHANGES[change]
    made = extend(host("claude"), **changes)
    assert [found for found in mistakes("claude", None, made) if found.startswith(cell)]


def test_extend() -> None:
    base = dialect("claude")
    made = extend(base, title="Other", limits={"http": None}, events={"Stop": None, "SessionEnd": {"target": None}})
    assert (made.title, made.name, made.load) == ("Other", base.name, base.load)
    assert set(base.limits) - set(made.limits) == {"http"}
    assert made.row("Stop") is None
    ending = made.row("SessionEnd")
    assert ending is not None
    assert (ending.target, ending.payload) == (None, base.row("SessionEnd").payload)  # type: ignore[union-attr]
    assert base.row("Stop") is not None, "the base stays as it is"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"titel": "x"}, "Dialect.titel: there is no such field. Did you mean `title`?"),
        ({"events": {"Stopp": {"bound": 1}}}, "Dialect.events[Stopp]: there is no such row"),
        ({"events": {"Stop": {"bounds": 1}}}, "EventRow.bounds: there is no such field"),
    ],
)
def test_extend_says_what_is_wrong(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(BadTable) as error:
        extend(dialect("claude"), **changes)
    assert told in str(error.value)


def test_one_broken_table_takes_no_other_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anyhook.agents.gemini.DIALECT", None, raising=False)
    monkeypatch.setattr("anyhook.agents.gemini.DIALECT", None)
    found: dict[str, Dialect] = {name: dialect(name) for name in DIALECTS}
    assert [name for name, table in found.items() if table.broken] == ["gemini"]


def test_what_an_agent_sends_to_anothers_hooks_is_what_they_are_written_for() -> None:
    """Otherwise we ask their gates too. A gate that reads `file_path` refuses nothing where the field is `path`."""
    found = []
    for name in HOSTS:
        table = host(name)
        for other in table.reads:
            if other == name or name not in DIALECTS or other in table.misreads:
                continue
            for native, tool in (table.borrowed or table.tools).items():
                row = dialect(other).tools.get(tool.ours)
                if row is None or tool.split is not None:
                    continue
                fields = {*tool.inputs, *row.inputs}
                same = all(tool.inputs.get(field, field) == row.inputs.get(field, field) for field in fields)
                if native not in (row.native, *row.also) or not same:
                    found.append((name, other, native))
    assert found == []


def test_what_is_special_is_absent_or_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An agent whose module is gone has nothing special. A part that is there and cannot be loaded is an error."""
    assert special("no_such_agent", "SERVERS") is None
    assert special("kodik", "SERVERS") is None
    (tmp_path / "half_an_agent").mkdir()
    (tmp_path / "half_an_agent/__init__.py").write_text("")
    (tmp_path / "half_an_agent/servers.py").write_text("SERVERS = (\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry._MODULES, "half", "half_an_agent")
    assert special("half", "APPROVALS") is None
    with pytest.raises(SyntaxError):
        special("half", "SERVERS")
