"""The first cases of a new hook: one event that it acts on and one that it lets pass, as `anyhook test` reads them. It
writes nothing."""

from __future__ import annotations

import os

from anyhook.documents.yaml_text import to_yaml
from anyhook.model import lean_json
from anyhook.testing.scaffold.script import EFFECTS
from anyhook.testing.scaffold.trial import trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.testing.scaffold.planning import Order, Plan

KEYS = {"--agent": "agent_type"}
"""Options of `fire` that a case calls otherwise; of the others it takes the name."""
AS_JSON = ("--input", "--data")


def case_file(order: Order, made: Plan) -> str:
    """Where they go: into the folder of the declarations, or above the folder that holds nothing but hooks."""
    return f"{os.path.dirname(made.source.path)}/{order.name}.hooktest.yaml"


def first_cases(order: Order, canonical: str, tool: str, hook: Hook) -> str:
    """The text of the file."""
    blocks = order.row.block in EFFECTS
    cases: list[Json] = []
    for marked, name in ((True, "acts on what it is for"), (False, "lets the rest pass")):
        verdict = "block" if blocks and marked else "none"
        words = trial(order.row, canonical, tool, marked)
        expect: dict[str, Json] = {"verdict": verdict, "ran": [hook.id], "problems": _problems(order, verdict)}
        cases.append({"name": name, **_fields(words), "dialect": order.dialect.name, "expect": expect})
    return to_yaml({"cases": cases})


def _fields(words: list[str]) -> dict[str, Json]:
    made: dict[str, Json] = {"event": words[1]}
    for option, value in zip(words[2::2], words[3::2], strict=True):
        key = KEYS.get(option, option.removeprefix("--").replace("-", "_"))
        made[key] = lean_json.loads(value) if option in AS_JSON else value
    return made


def _problems(order: Order, verdict: str) -> list[Json]:
    """Some dialects report a block as a problem of its own."""
    code = order.dialect.failing.codes.get("blocked")
    return [code] if code and verdict == "block" else []
