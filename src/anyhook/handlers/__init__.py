"""Handler kinds behind one interface: every hook is started with `start` and waited for like a process."""

from __future__ import annotations

from anyhook.model.call import Call, Run
from anyhook.model.lean_json import encode
from anyhook.model.words import Ending, never
from anyhook.platform.spawn import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from anyhook.handlers.model_client import AnyModel
    from anyhook.model.hook import Hook
    from anyhook.state.settings import Settings
    from anyhook.tables.rows import Dialect, Scene

    class Waitable(Protocol):
        """Something that was started."""

        def wait(self, grace_s: float | None = None) -> Run | None: ...

        def end(self, ending: Ending = "cancelled") -> None: ...


def start(
    hook: Hook, dialect: Dialect, call: Call, scene: Scene, model: AnyModel | None, settings: Settings
) -> Waitable | Run:
    """Start a handler of any other kind. `model` is for handlers that ask one."""
    here.begin()
    match hook.handler:
        case "python":
            if scene.one_shot:
                from anyhook.handlers.callable_host import start_in_process

                return start_in_process(hook, dialect, call, scene)
            from anyhook.handlers.python import CallableRun

            return CallableRun(hook, dialect, call, scene)
        case "function":
            from anyhook.handlers.function import start_function

            return start_function(hook, call, scene)
        case "builtin":
            answer = dialect.builtin(hook.name).act(scene)
            return Run("exited", 0, encode(answer) if answer else b"", b"", 0, 0.0)
        case "http":
            from anyhook.handlers.http import HttpRun

            return HttpRun(hook, call, scene.env)
        case "mcp_tool":
            from anyhook.handlers.mcp_tool import start_tool

            return start_tool(hook, dialect, call, scene)
        case "prompt" | "agent":
            from anyhook.handlers.model import start_question

            return start_question(hook, dialect, call, scene, model, settings)
        case "" | "command" | "callable" | "rule":
            why = f"a handler of the kind {hook.handler!r} is not started here"
            return Run("not_started", None, b"", b"", 0, 0.0, why)
        case _:
            never(hook.handler)
