"""The page of sabotages: whether one guard holds in real agents, generated from what `make live` wrote down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anyhook.tables.registry import host

DATA = Path(__file__).parents[1] / "live" / "sabotage.json"
INTRO = """\
One guard refuses one call. In every row the guard is damaged in one way, and a real agent then makes that call. Either
the call is refused, or the person is told, in the line that says `OFF`. They are told

- **in the session**: the agent printed the line, or its model read it with the request to pass it on;
- **by a message**: the agent got the line as a message for its user. It shows such messages in its own interface; a run
  without a person shows none. (Claude Code in a terminal was seen to show it when the session starts, and at the call.)
- **by `anyhook status` and `anyhook doctor`**, where the agent never asks anyhook, and where the user chose it
  (`shadow`, `disabled`).

`anyhook status AGENT` and `anyhook doctor AGENT --live` must not claim a guard that is absent. A cell in bold does, or
tells nobody, and makes `make live` fail. goose and Mastra Code do not show what a hook says, so they run in a terminal
here, and anyhook writes to that. Without a terminal no one would learn of it: `off = "deny"` is the safe setting for
such runs.

A cell has the result of the call, who told it, the agent's state by `status`, and the status by `doctor --live`. Codex
wants each hook confirmed in a dialog, which no run without a person can do. There `status` says `unknown`, and `doctor`
rightly says `INERT`; the calls here were made with the option that skips the dialog."""


def sabotage_page(note: str) -> str:
    """The page, in Markdown."""
    data: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {}
    names = list(dict.fromkeys(name for found in data.values() for name in found["cells"]))
    agents = [f"{host(agent).title} ({found['version']}, {_dates(found['cells'])})" for agent, found in data.items()]
    rows = [f"| sabotage | {' | '.join(agents)} |", f"|{' --- |' * (len(agents) + 1)}"]
    for name in names:
        cells = [_cell(found["cells"].get(name)) for found in data.values()]
        rows.append(f"| {name.replace('{', '`{', 1) + ('`' if '{' in name else '')} | {' | '.join(cells)} |")
    return "\n\n".join(["# Sabotage", note, INTRO, "\n".join(rows)]) + "\n"


def _dates(cells: dict[str, Any]) -> str:
    """When an agent's cells were tried: the first day, and the last."""
    days = sorted({cell["date"] for cell in cells.values()})
    return " to ".join(dict.fromkeys((days[0], days[-1])))


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "–"
    told = f", told {cell['told']}" if cell["told"] and cell["call"] == "ran" else ""
    said = f"{cell['call']}{told}; {cell['state']}; {cell['doctor']}"
    return f"**{said}**" if cell["wrong"] else said
