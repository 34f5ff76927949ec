"""How to try a new hook: `fire` command lines, and its first cases for `anyhook test`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.documents.dump_yaml import to_yaml
from anyhook.extra.testing.scaffold.answers import EFFECTS
from anyhook.extra.testing.scaffold.script import MARK
from anyhook.model import lean_json as json
from anyhook.model.event import FIELDS
from anyhook.tables.patterns import names_only

if TYPE_CHECKING:
    from anyhook.extra.testing.scaffold.plan import Order, Plan
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

OPTIONS = {
    "prompt": "--prompt", "message": "--message", "source": "--source", "trigger": "--trigger", "reason": "--reason",
    "agent_type": "--agent",
}  # fmt: skip
"""Canonical fields with their own option."""
CASE_KEYS = {"--agent": "agent_type"}
"""Options of `fire` with a different name in cases; the others have the same name."""
AS_JSON = ("--input", "--data")


MCP_TOOL = "mcp__server__tool"
"""A tool of an MCP server, as most agents call one."""


def tool_of(order: Order) -> str:
    """A tool that the hook is for."""
    if order.tool:
        names = sorted(names_only(order.tool) or ())
        return names[0] if names else order.tool
    table, about = order.dialect, order.row.about
    if about:
        return table.tools[about[0]].native if about[0] in table.tools else MCP_TOOL
    return table.scaffold.tool if table.scaffold else ""


def _telling_input(order: Order, text: str) -> dict[str, Json]:
    """The input of a call, with the text where the hook sees it."""
    about = order.row.about[:1]
    if not about or about[0] in ("shell", "mcp"):
        return {"command": text.replace("say", "echo")}
    return {order.dialect.tools[about[0]].inputs.get("path", "path"): text}


def trial(order: Order, canonical: str, *, marked: bool) -> list[str]:
    """The arguments of `fire` for an event that a new hook blocks or records, or, not marked, lets pass."""
    text, row = f"say {MARK}" if marked else "say hello", order.row
    cells = [field.cell for field in row.payload]
    words = ["fire", row.native]
    if order.about_tools:
        words += ["--tool", tool_of(order)]
    if canonical in ("pre_tool", "permission_request"):
        return [*words, "--input", json.dumps(_telling_input(order, text), ensure_ascii=False)]
    if canonical == "post_tool":
        return [*words, "--output", text]
    if canonical == "post_tool_failure":
        return [*words, "--tool-error", text]
    for cell in cells:
        if isinstance(cell, str) and cell in OPTIONS:
            return [*words, OPTIONS[cell], text]
    for cell in cells:
        if isinstance(cell, str) and cell != "tool" and isinstance(FIELDS[cell], str):
            return [*words, "--data", json.dumps({cell: text}, ensure_ascii=False)]
    return [*words, "--session", text.replace(" ", "-")]


def case_file(order: Order, made: Plan) -> str:
    """Where the cases go: into the folder of the declarations, or above a folder that may contain only hooks."""
    return f"{os.path.dirname(made.source.path)}/{order.name}.hooktest.yaml"


def first_cases(order: Order, canonical: str, hook: Hook) -> str:
    """The text of a file with one event that the hook acts on, and one that it lets pass."""
    blocks = order.row.block in EFFECTS
    cases: list[Json] = []
    for marked, name in ((True, "acts on what it is for"), (False, "lets the rest pass")):
        verdict = "block" if blocks and marked else "none"
        words = trial(order, canonical, marked=marked)
        where_it_applies = hook.handler in ("rule", "function")
        ran = "not_ran" if where_it_applies and not marked else "ran"
        expect: dict[str, Json] = {"verdict": verdict, ran: [hook.id], "problems": _problems(order, verdict)}
        cases.append({"name": name, **_fields(words), "dialect": order.dialect.name, "expect": expect})
    return to_yaml({"cases": cases})


def _fields(words: list[str]) -> dict[str, Json]:
    made: dict[str, Json] = {"event": words[1]}
    for option, value in zip(words[2::2], words[3::2], strict=True):
        key = CASE_KEYS.get(option, option.removeprefix("--").replace("-", "_"))
        made[key] = json.loads(value) if option in AS_JSON else value
    return made


def _problems(order: Order, verdict: str) -> list[Json]:
    """Some dialects also report a block as a problem."""
    code = order.dialect.failing.codes.get("blocked")
    return [code] if code and verdict == "block" else []
