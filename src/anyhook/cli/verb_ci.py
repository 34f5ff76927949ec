"""`anyhook ci`: fails a job if a required gate is off."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.cli import DONE, FINDINGS, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import HookOptions, JsonOptions, TrustOption, repeated
from anyhook.cli.verbs import verb
from anyhook.engine.catalog import build
from anyhook.gates.gate import protected
from anyhook.gates.status import gates
from anyhook.state.plans import Setup
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from anyhook.gates.gate import GateStatus
    from anyhook.model.json_types import Json


class CiOptions(JsonOptions, HookOptions, TrustOption):
    require: tuple[str, ...] = repeated("--require", "A gate that must be on, by its id; may be repeated.", "ID")


@verb("ci", CiOptions, "anyhook ci --require kodik:project:PreToolUse:guard.sh")
def ci(options: CiOptions) -> int:
    """Fail if a required gate is off, for use in CI.

    The required gates are those that --require names and those of `require` in the settings. If neither names any,
    every gate must be on, and there must be at least one. A fresh checkout has no approvals: run `anyhook trust --yes`
    before, or pass `--trust all`. Starts nothing.

    \b
    Exit status: 0 every required gate is on, 1 one is not, 3 bad call.
    """
    project = project_of(options.project, options.plugin_dir)
    setup = Setup.of(project, dict(os.environ), options.dialect, options.trust or "ask", options.plugin_dir)
    catalog = build(setup, may_start=False).with_lines()
    found = gates(setup, catalog)
    required = tuple(dict.fromkeys((*options.require, *catalog.config.require)))
    missing = _missing(found, required) if required else _not_on(found)
    if options.json:
        gates_: list[Json] = [gate.as_dict() for gate in found]
        render.json_out({"passed": not missing, "missing": [*missing], "gates": gates_}, indent=2)
    else:
        for line in missing:
            render.say(f"anyhook ci: {line}")
        if not missing:
            on = len(required) or sum(gate.state == "armed" for gate in found)
            render.out(f"{on} required gate{'' if on == 1 else 's'} on")
    return FINDINGS if missing else DONE


def _missing(found: list[GateStatus], required: tuple[str, ...]) -> list[str]:
    """A sentence for each required gate that is not armed. Gates that share an id must all be."""
    lines = []
    known = [gate.id for gate in found]
    for name in required:
        meant = [gate for gate in found if gate.id == name]
        if not meant:
            lines.append(f"`{name}` is not a gate of this project.{guess(name, known)}")
        lines += [gate.not_on for gate in meant if gate.state != "armed"]
    return lines


def _not_on(found: list[GateStatus]) -> list[str]:
    if protected(found):
        return []
    return [gate.not_on for gate in found if gate.state not in ("armed", "unmatched")] or [
        "no gate is on that is asked before an action" if found else "this project has no gates"
    ]
