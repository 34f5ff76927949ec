"""A function of a `hooks.py`, in a separate process. It gets and answers JSON; `anyhook.hooks.worker` is the other
end."""

from __future__ import annotations

from anyhook.hooks import worker
from anyhook.model import lean_json
from anyhook.model.call import Call, Run
from anyhook.platform.launched import own_python
from anyhook.platform.places import state_dir
from anyhook.platform.run import start
from anyhook.state.entry_places import own_env

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.handlers import Waitable
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Scene


def start_function(hook: Hook, call: Call, scene: Scene) -> Waitable | Run:
    """Start the process; it is waited for and ended like any command."""
    made = function_call(hook, scene, call.limit_s, state_dir(own_env(scene.env)))
    return start(made.replace(may_be_warm=call.may_be_warm))


def function_call(hook: Hook, scene: Scene, limit_s: float, kept_in: str) -> Call:
    """The process of a function, and what it reads. `kept_in` is the state folder, for what functions store."""
    given = hook.spec.get("given")
    kept = lean_json.digest(f"{hook.source}\0{scene.session}".encode("utf-8", "surrogateescape"))[:32]
    task: dict[str, Json] = {
        "file": hook.source,
        "function": hook.spec["function"],
        "modules": hook.spec.get("modules") or {},
        "event": scene.event.name,
        "project": scene.project,
        "session": scene.session,
        "state": kept_in,
        "kept": kept,
        "data": scene.event.data,
        **(given if isinstance(given, dict) else {}),
    }
    stdin = lean_json.dumps(task).encode("utf-8", "surrogatepass")
    return Call((*own_python(), worker.__file__), stdin, dict(scene.env), scene.project, limit_s, "")
