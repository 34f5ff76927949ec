"""Python callables, in our own process: imported, called in a separate thread with a time limit. A callable that takes
too long keeps running, because a thread cannot be killed, but its answer no longer counts."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Awaitable, Callable
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder
from types import ModuleType

from anyhook.hooks.worker import SourceOnly
from anyhook.model import lean_json as json
from anyhook.model.call import Call
from anyhook.model.hook import Hook
from anyhook.platform.spawn import inside_hook
from anyhook.platform.watcher import InThread
from anyhook.tables.registry import module_of
from anyhook.tables.rows import Dialect, Scene

_Function = Callable[[object], object]


class ProjectPath(str):
    """A project's folder in `sys.path`, put there for its own hooks."""

    __slots__ = ()


class CallableRun(InThread):
    """One call of a callable."""

    def __init__(self, hook: Hook, dialect: Dialect, call: Call, scene: Scene) -> None:
        self._hook, self._dialect, self._call, self._scene = hook, dialect, call, scene
        super().__init__(hook.name, call.limit_s)

    def _work(self) -> None:
        inside_hook.set(True)
        try:
            self._conclude("exited", 0, self._answer())
        except BaseException as error:  # noqa: BLE001 (whatever a hook raises, SystemExit included, is its own failure)
            self._conclude("exited", 1, stderr=f"{type(error).__name__}: {error}")

    def _answer(self) -> bytes:
        own = self._scene.project if self._hook.scope == "project" else None
        target = str(self._hook.spec["callable"])
        return answer_of(
            f"{module_of(self._dialect.name)}.api", target, own, self._scene, self._call.stdin, self._finish
        )

    def _finish(self, awaitable: Awaitable[object]) -> object:
        """The result of an asynchronous callable, which can really be stopped when its time is up."""
        import asyncio

        async def bounded() -> object:
            async with asyncio.timeout(self._left_s()) as bound:
                try:
                    return await awaitable
                finally:
                    if bound.expired():  # first: it is not the hook's own error
                        self.end("timed_out")

        return asyncio.run(bounded())


def _run_to_its_end(awaitable: Awaitable[object]) -> object:
    import asyncio

    async def awaited() -> object:
        return await awaitable

    return asyncio.run(awaited())


def answer_of(
    api_name: str,
    target: str,
    project: str | None,
    scene: Scene,
    payload: bytes,
    finish: Callable[[Awaitable[object]], object] = _run_to_its_end,
) -> bytes:
    """Call the callable with the event in its dialect's form; returns the answer as JSON. `project` is the folder that
    may contain the module."""
    api = importlib.import_module(api_name)
    api.provide()
    function = _load(target, project)
    result = function(api.event(scene, json.loads(payload.decode())))
    if inspect.isawaitable(result):
        result = finish(result)
    answer = api.answer(result)
    return b"" if answer is None else json.dumps(answer).encode()


def _load(target: str, project: str | None) -> _Function:
    module_name, _, function_name = target.partition(":")
    if project is not None and project not in sys.path:
        sys.path.append(ProjectPath(project))  # last, so that a project cannot replace a module of the program
        if _project_finder not in sys.path_hooks:
            sys.path_hooks.insert(0, _project_finder)
        sys.path_importer_cache.pop(project, None)
        importlib.invalidate_caches()
    module = importlib.import_module(module_name)
    _refuse_stranger(module, module_name, project)
    found: object = module
    for part in function_name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{target} is not callable")
    return found


def _project_finder(path: str) -> FileFinder:
    """A path hook for projects' folders only."""
    if not any(isinstance(each, ProjectPath) and f"{path}/".startswith(f"{each}/") for each in sys.path):
        raise ImportError(path)
    return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (SourceOnly, SOURCE_SUFFIXES))


def _refuse_stranger(module: ModuleType, name: str, project: str | None) -> None:
    """Refuse a module that another project loaded into this process: it is not what was approved, and must not replace
    the user's own."""
    found = os.path.realpath(module.__file__ or "")
    own = [f"{project}/{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py")] if project else []
    there = {os.path.realpath(path) for path in own if os.path.isfile(path)}
    others = [path for path in sys.path if isinstance(path, ProjectPath) and path != project]
    strange = any(found.startswith(f"{os.path.realpath(path)}/") for path in others)
    if found not in there and (there or strange):
        raise ImportError(f"{name} is already loaded from {module.__file__}, which is another project's")
