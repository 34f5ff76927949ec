"""The process of one function: imports its `hooks.py`, calls it, prints what it asks for as JSON. Only the answer
reaches the engine, not what the function does, raises or prints."""

from __future__ import annotations

import os
import sys

# `importlib.util` and `importlib.machinery` only re-export these, and load twelve files more.
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

from anyhook.hooks.call import HookCall, HookSession, Programs
from anyhook.hooks.decide import Collected, Decided
from anyhook.model import lean_json
from anyhook.platform.answer_once import answer_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

    from anyhook.model.json_types import Json

NAME = "hooks"
"""The name of the file's module."""


def main() -> None:
    task = lean_json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    assert isinstance(task, dict)  # noqa: S101 (from the process that started us)
    sys.dont_write_bytecode = True
    answer_once(lambda: answer_of(task), lambda error: _place(error, str(task["file"])))


def answer_of(task: dict[str, Json]) -> bytes:
    """Call the function: what it asks for, as JSON."""
    call = _call(task)
    modules = task["modules"]
    function = getattr(_load(str(task["file"]), modules if isinstance(modules, dict) else {}), str(task["function"]))
    try:
        result = function(call)
    except Decided:
        result = None
    call.session.close()
    if result is not None:
        what = f"{task['function']} returned {type(result).__name__}"
        raise TypeError(f"{what}; call deny(…) or what else is meant, and return nothing")
    made = _collected(call, str(task["command_key"]))
    return lean_json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _call(task: dict[str, Json]) -> HookCall:
    data, facts = task["data"], task["facts"]
    assert isinstance(data, dict)  # noqa: S101 (of our own making, as the next)
    assert isinstance(facts, dict)  # noqa: S101
    runs = tuple(tuple(map(str, _list(each))) for each in _list(facts.get("runs")))
    rest = {name: tuple(map(str, _list(facts.get(name)))) for name in Programs.fields if name != "runs"}
    given, paths = data.get("input"), tuple(str(path) for path in _list(task["paths"]))
    return HookCall(
        event=str(task["event"]),
        agent=str(task["agent"]),
        project=str(task["project"]),
        tool=str(data.get("tool") or ""),
        input=given if isinstance(given, dict) else {},
        command=str(task["command"]),
        path=paths[0] if paths else "",
        paths=paths,
        prompt=str(data.get("prompt") or ""),
        message=str(data.get("message") or ""),
        output=data.get("output"),
        error=str(data.get("tool_error") or ""),
        facts=Programs(runs=runs, **rest),
        data=data,
        session=HookSession(str(task["session"]), str(task["state"]), str(task["kept"]), _object(task.get("earlier"))),
    )


def _collected(call: HookCall, command_key: str) -> dict[str, Json]:
    """What the function asked for."""
    made: dict[str, Json] = {}
    if Collected.verdict:
        made.update(verdict=Collected.verdict, reason=str(Collected.reason))
    if Collected.context:
        made["context"] = "\n".join(map(str, Collected.context))
    if Collected.messages:
        made["message"] = "\n".join(map(str, Collected.messages))
    fields = dict(Collected.fields)
    if Collected.command is not None:
        if not command_key:
            raise TypeError("the call has no command to rewrite")
        fields[command_key] = Collected.command
    if fields:
        made["input"] = {**call.input, **fields}
    return made


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _load(path: str, modules: Mapping[str, Json]) -> ModuleType:
    """The module of a `hooks.py`. From its folder it can import only what its source names: the rest is not
    approved."""
    sys.meta_path.append(
        SiblingFinder({name: str(place) for name, place in modules.items()})
    )  # last: it replaces nothing
    loader = SourceOnly(NAME, path)
    spec = spec_from_file_location(NAME, path, loader=loader)
    assert spec is not None  # noqa: S101 (there is a loader)
    module = module_from_spec(spec)
    sys.modules[NAME] = module
    loader.exec_module(module)
    return module


class SiblingFinder:
    """Finds the modules next to a `hooks.py`."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        place = self.modules.get(name)
        if place is None:
            return None
        below = [os.path.dirname(place)] if place.endswith("/__init__.py") else None
        return spec_from_file_location(name, place, loader=SourceOnly(name, place), submodule_search_locations=below)


class SourceOnly(SourceFileLoader):
    """Runs the source that was approved: a compiled file next to it could be different."""

    def get_code(self, fullname: str) -> CodeType:
        place = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(place), place)
        return code


def _place(error: BaseException, path: str) -> str:
    """Where in the hook's file it happened."""
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = f"{path}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return found


if __name__ == "__main__":
    main()
