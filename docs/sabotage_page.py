"""The page about sabotages: whether one guard holds in real agents, generated from the results of `make live`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anyhook.tables.registry import host

DATA = Path(__file__).parents[1] / "live" / "sabotage.json"
INTRO = """\
One guard refuses one call. In every row the guard is damaged in one way, and a real agent then makes that call. Either
the call is refused, or it runs and the person is told, in the line that says `OFF`. They are told

- **in the session**: the agent printed the line, or its model read it with the request to pass it on;
- **by a message**: the agent got the line as a message for its user. It shows such messages in its own interface; a run
  without a person shows none. (Claude Code in a terminal was seen to show it when the session starts, and at the call.)
- **by `anyhook status` and `anyhook doctor`**, where the agent never asks anyhook, and where the user chose it
  (`shadow`, `disabled`).

`anyhook status AGENT` and `anyhook doctor AGENT --live` must not claim a guard that is absent, in any cell. An agent in
bold is one where they do, or where nobody is told; then `make live` fails. The data, with what `status` and `doctor`
said in each cell, is in `live/sabotage.json`.

Some agents do not show what a hook says, goose, Mastra Code and Kimi Code among them. They run in a terminal here, and
anyhook writes to that. Without a terminal nobody would see it: `off = "deny"` is the safe setting for such runs. Codex
asks for each hook in a dialog, which a run without a person cannot answer. There `status` says `unknown`, and
`doctor` rightly says `INERT`; the calls here were made with the option that skips the dialog."""
RESULTS = {
    "refused": "refused",
    "in the session": "ran, told in the session",
    "by a message": "ran, told by a message",
    "by status and doctor": "ran, told by `status` and `doctor`",
    "": "ran, **told nobody**",
}
"""The result of a cell, and how the page shows it."""


def sabotage_page(note: str) -> str:
    """The page, in Markdown."""
    data: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {}
    names = dict.fromkeys(name for found in data.values() for name in found["cells"])
    rows = [
        (_shown(name), _results({a: f["cells"][name] for a, f in data.items() if name in f["cells"]})) for name in names
    ]
    agents = [
        (
            host(agent).title,
            found["version"],
            _dates(found["cells"]),
            str(len(found["cells"])),
            str(_wrong(found["cells"])),
        )
        for agent, found in data.items()
    ]
    count = sum(len(found["cells"]) for found in data.values())
    parts = [
        "# Sabotage",
        note,
        INTRO,
        "## What happened",
        _table(("sabotage", "result"), rows),
        "## The agents",
        f"{count} cells in {len(data)} agents.",
        _table(("agent", "version", "tried", "sabotages", "wrong"), agents),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _shown(sabotage: str) -> str:
    before, brace, path = sabotage.partition("{")
    return f"{before}`{brace}{path}`" if brace else sabotage


def _results(cells: Mapping[str, dict[str, Any]]) -> str:
    """Each result, and the agents that gave it."""
    agents: dict[str, list[str]] = {result: [] for result in RESULTS}
    for agent, cell in cells.items():
        title = host(agent).title
        agents["refused" if cell["call"] == "refused" else cell["told"]].append(
            f"**{title}**" if cell["wrong"] else title
        )
    groups = sorted(((result, titles) for result, titles in agents.items() if titles), key=lambda group: len(group[1]))
    said = [f"{RESULTS[result]}: {', '.join(titles)}" for result, titles in groups]
    result, titles = groups[-1]
    if len(titles) > 3 and not any(title.startswith("**") for title in titles):
        said[-1] = f"{RESULTS[result]}: {'all' if len(groups) == 1 else 'the other'} {len(titles)}"
    return "; ".join(said)


def _wrong(cells: Mapping[str, dict[str, Any]]) -> int:
    return sum(bool(cell["wrong"]) for cell in cells.values())


def _dates(cells: Mapping[str, dict[str, Any]]) -> str:
    """When an agent's cells were tried: the first day, and the last."""
    days = sorted({cell["date"] for cell in cells.values()})
    return " to ".join(dict.fromkeys((days[0], days[-1])))
