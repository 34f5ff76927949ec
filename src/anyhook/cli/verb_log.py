"""`anyhook log`: the journal, oldest first."""

from __future__ import annotations

import os
import time

from anyhook.cli import render
from anyhook.cli.options import JSON
from anyhook.cli.verbs import verb
from anyhook.model import lean_json
from anyhook.stores.journal import Journal
from anyhook.stores.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values
    from anyhook.model.json_types import Json


@verb("log", (JSON,), "anyhook log --json | tail -1")
def log(values: Values) -> int:
    """Print the journal of fired events; with --json one record per line."""
    for line in Journal(state_dir(os.environ)).lines():
        text = line.decode("utf-8", "replace").rstrip("\n")
        if values["json"]:
            render.exact_out(text)
            continue
        try:
            record = lean_json.loads(text)
        except ValueError:
            render.say(f"a line of the journal is damaged: {text[:60]!r}")
            continue
        if isinstance(record, dict):
            render.out(_line(record))
    return 0


def _line(record: dict[str, Json]) -> str:
    at = record.get("at")
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at / 1e9)) if isinstance(at, int) else "?"
    if "background" in record:
        run = record.get("run")
        ending = run.get("ending") if isinstance(run, dict) else "?"
        return f"{when}  background  {record['background']}  {ending}"
    decision, data = record.get("decision"), record.get("data")
    decision = decision if isinstance(decision, dict) else {}
    tool = data.get("tool") if isinstance(data, dict) else None
    line = f"{when}  {record.get('event')}" + (f" {tool}" if tool else "") + f"  {decision.get('verdict')}"
    if decision.get("hook"):
        line += f" by {decision['hook']}: {decision.get('reason')}"
    return line
