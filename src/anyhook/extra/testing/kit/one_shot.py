"""One event for the engine, in a separate process: a task on stdin, the decision on stdout. The test kit sets what is
trusted, and uses it only in a temporary copy."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.hook_names import likely
from anyhook.engine.routes import open_catalog
from anyhook.extra.testing.kit.events import event_of
from anyhook.model import lean_json
from anyhook.model.hook import DISABLED
from anyhook.model.record import Record
from anyhook.model.words import MODE, ON_FAILURE, TRUST, checked, word_of
from anyhook.state.plans import Setup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from anyhook.engine.match import Catalog
    from anyhook.model.json_types import Json

BAD_TASK = 3
"""The exit status for an invalid task; stderr says why."""


class Task(Record):
    """What to fire, and with which switches."""

    event: str
    given: dict[str, Json]
    hosted: bool = False
    dialects: tuple[str, ...] = ()
    on_failure: str = ""
    mode: str = ""
    plugin_dirs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """Hooks by id, name or part of the id; () for all."""
    trust: str = "ask"

    def text(self) -> str:
        return lean_json.dumps([getattr(self, field) for field in self.fields])


def main() -> None:
    values: Any = lean_json.loads(sys.stdin.buffer.read().decode())
    task = Task(*values)
    setup = Setup.of(os.getcwd(), dict(os.environ), task.dialects, word_of(task.trust, TRUST), task.plugin_dirs)
    catalog = open_catalog(setup)
    try:
        if task.only:
            catalog = keep_only(catalog, task.only)
        event = event_of(task.event, task.given, hosted=task.hosted)
    except (LookupError, ValueError) as error:
        sys.stderr.write(f"{error.args[0]}\n")
        sys.exit(BAD_TASK)
    posture, mode = checked("on_failure", task.on_failure or None, ON_FAILURE), checked("mode", task.mode or None, MODE)
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
