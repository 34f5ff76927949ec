"""Python callables, in our own process: imported, called in a separate thread with a time limit. A callable that takes
too long keeps running, because a thread cannot be killed, but its answer no longer counts."""

from __future__ import annotations

import contextvars
import importlib
import inspect
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder
from time import monotonic, time_ns
from types import ModuleType

from anyhook.hooks.worker import SourceOnly
from anyhook.model import lean_json as json
from anyhook.model.call import Call, Run
from anyhook.model.hook import Hook
from anyhook.model.words import Ending
from anyhook.platform.spawn import inside_hook
from anyhook.tables.registry import module_of
from anyhook.tables.rows import Dialect, Scene

_Function = Callable[[object], object]


class ProjectPath(str):
    """A project's folder in `sys.path`, put there for its own hooks."""

    __slots__ = ()


class CallableRun:
    """One call of a callable."""

    def __init__(self, hook: Hook, dialect: Dialect, call: Call, scene: Scene) -> None:
        self._hook, self._dialect, self._call, self._scene = hook, dialect, call, scene
        self._started_ns, self._started_s = time_ns(), monotonic()
        self._done = threading.Event()
        self._run: Run | None = None
        self._lock = threading.Lock()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work,), name=f"anyhook-{hook.name}", daemon=True).start()

    def wait(self, grace_s: float | None = None) -> Run | None:
        left = max(0.0, self._started_s + self._call.limit_s - monotonic())
        if self._done.wait(left if grace_s is None else min(grace_s, left)):
            return self._run
        if grace_s is not None and grace_s < left:
            return None
        self.end("timed_out")
        return self._run

    def end(self, ending: Ending = "cancelled") -> None:
        self._conclude(Run(ending, None, b"", b"", self._started_ns, monotonic() - self._started_s))

    def _conclude(self, run: Run) -> None:
        with self._lock:
            if self._run is None:
                self._run = run
                self._done.set()

    def _work(self) -> None:
        inside_hook.set(True)
        stdout, stderr, code = b"", b"", 0
        try:
            stdout = self._answer()
        except BaseException as error:  # noqa: BLE001 (whatever a hook raises, SystemExit included, is its own failure)
            code, stderr = 1, f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        self._conclude(Run("exited", code, stdout, stderr, self._started_ns, monotonic() - self._started_s))

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
            left = max(0.0, self._started_s + self._call.limit_s - monotonic())
            async with asyncio.timeout(left) as bound:
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
