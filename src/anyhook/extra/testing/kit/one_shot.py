"""The event of a case for the engine, in a separate process: the case on stdin, the decision on stdout. The test kit
uses it only in a temporary copy, of which everything may run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.hook_names import likely
from anyhook.engine.match import Catalog
from anyhook.engine.routes import open_catalog
from anyhook.extra.testing.kit.events import event_of
from anyhook.model import lean_json
from anyhook.model.hook import DISABLED
from anyhook.model.words import MODE, ON_FAILURE, checked
from anyhook.state.plans import Setup

BAD_TASK = 3
"""The exit status for an invalid task; stderr says why."""


def main() -> None:
    task: Any = lean_json.loads(sys.stdin.buffer.read().decode())
    setup = Setup.of(os.getcwd(), dict(os.environ), task["dialects"], "all", task["plugin_dirs"])
    catalog = open_catalog(setup)
    try:
        if task["only"]:
            catalog = keep_only(catalog, task["only"])
        event = event_of(task["event"], task["given"], hosted=task["hosted"])
    except (LookupError, ValueError) as error:
        sys.stderr.write(f"{error.args[0]}\n")
        sys.exit(BAD_TASK)
    posture = checked("on_failure", task["on_failure"] or None, ON_FAILURE)
    mode = checked("mode", task["mode"] or None, MODE)
    engine = open_engine(EngineOptions(setup, posture, mode, host="test", one_shot=True), catalog)
    decision = engine.fire_sync(event)
    engine.close_sync(0.0)
    sys.stdout.buffer.write(lean_json.dumps({"decision": decision.as_dict(), "stops": decision.stops}).encode())
    sys.stdout.buffer.flush()
    os._exit(0)


# -- which hooks people mean by an id, a name or a part of an id


def means(name: str, identity: str, hook_name: str = "") -> bool:
    """Whether a name means a hook: its id, its name, or a part of its id."""
    return name == hook_name or name in identity


def keep_only(catalog: Catalog, names: Sequence[str]) -> Catalog:
    """The catalog with only those hooks on that the names mean. LookupError for one that means none."""
    hooks = catalog.hooks
    for name in names:
        if not any(means(name, hook.id, hook.name) for hook in hooks):
            known = ", ".join(hook.id for hook in hooks) or "none"
            raise LookupError(f"there is no hook `{name}`.{likely(name, hooks)} Hooks: {known}")
    kept = [
        hook
        if any(means(name, hook.id, hook.name) for name in names)
        else hook.replace(status=DISABLED, why="not asked for")
        for hook in hooks
    ]
    return catalog.replace(hooks=kept)


if __name__ == "__main__":
    main()
