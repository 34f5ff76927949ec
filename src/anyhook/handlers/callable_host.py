"""A Python callable in a separate process: for the command, which has no host to share memory with. A callable that
ends its process or leaves children behind then affects only its own hook."""

from __future__ import annotations

import marshal
import sys

from anyhook.model.call import Call, Run
from anyhook.platform.run import start
from anyhook.tables.registry import module_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.handlers import Waitable
    from anyhook.model.hook import Hook
    from anyhook.tables.rows import Dialect, Scene


def start_in_process(hook: Hook, dialect: Dialect, call: Call, scene: Scene) -> Waitable | Run:
    """Start an interpreter that calls the callable; it is waited for and killed like any command."""
    project = scene.project if hook.scope == "project" else None
    task = (
        f"{module_of(dialect.name)}.api",
        hook.spec["callable"],
        project,
        scene.native,
        scene.project,
        scene.session,
        call.stdin,
    )
    argv = (sys.executable, "-P", __file__)
    made = Call(argv, marshal.dumps(task), dict(scene.env), scene.project, call.limit_s, "")
    return start(made.replace(may_be_warm=call.may_be_warm))


def main() -> None:
    """The process: reads the task, calls, and answers."""
    from anyhook.handlers.python import answer_of
    from anyhook.model.event import Event
    from anyhook.platform.answer_once import answer_once
    from anyhook.tables.rows import Scene

    api, target, own, native, project, session, payload = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 (from the process that started us)
    scene = Scene(Event("stop", {}), native, project, session, {}, {})
    answer_once(lambda: answer_of(api, target, own, scene, payload))


if __name__ == "__main__":
    main()
