"""Handlers that ask a model: one question in a separate thread with a time limit, waited for like a process. The
model's text counts as the output of a process, and is read by the dialect's rules."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from anyhook.handlers.key_variables import key_names, without_keys
from anyhook.handlers.question import question
from anyhook.handlers.roles import role_of
from anyhook.handlers.tools import Workplace
from anyhook.model.call import Call, Run
from anyhook.model.extras import install_command
from anyhook.platform.child import OUTPUT_LIMIT
from anyhook.platform.spawn import inside_hook

if TYPE_CHECKING:
    from anyhook.handlers.model_client import AnyModel, Client
    from anyhook.model.hook import Hook
    from anyhook.model.words import Ending
    from anyhook.state.settings import Settings
    from anyhook.tables.rows import Dialect, Scene

LOADING_S = 60.0
"""How long the client library may take to load. This does not count for the hook's limit: it can take seconds on a busy
machine, while a limit of one second is meant for the model."""
ENDING_S = 5.0
"""How long to wait, once time is up, for the thread to end what it started."""


def start_question(
    hook: Hook, dialect: Dialect, call: Call, scene: Scene, model: AnyModel | None, settings: Settings
) -> RunningQuestion | Run:
    """Ask `model`; a Run that says why if there is no model to ask."""
    asking = dialect.asking
    if asking is None:
        return _not_started(f"nothing is known about {hook.handler} handlers of this dialect")
    if not model:
        role = role_of(hook, asking)
        return _not_started(f"no model is configured for `{role}`, and a handler of type {hook.handler} asks one")
    return RunningQuestion(hook, dialect, call, scene, model, settings)


def _not_started(why: str) -> Run:
    return Run("not_started", None, b"", b"", time_ns(), 0.0, why)


class RunningQuestion:
    """One question in progress. One thread waits for the model; any thread may wait for it or end it."""

    def __init__(
        self, hook: Hook, dialect: Dialect, call: Call, scene: Scene, model: AnyModel, settings: Settings
    ) -> None:
        self._hook, self._dialect, self._call, self._scene = hook, dialect, call, scene
        self._model, self._settings = model, settings
        self._started_ns, self._started_s = time_ns(), monotonic()
        self._asking, self._done, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._until = self._started_s + LOADING_S
        self._run: Run | None = None
        self._ending: Ending | None = None
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work,), name=f"anyhook-{hook.name}", daemon=True).start()

    def wait(self, grace_s: float | None = None) -> Run | None:
        if grace_s is not None:
            self._done.wait(grace_s)
            return self._run
        self._asking.wait(max(0.0, self._until - monotonic()))
        if not self._done.wait(max(0.0, self._until - monotonic()) + ENDING_S):
            self._conclude("timed_out")
        return self._run

    def end(self, ending: Ending = "cancelled") -> None:
        """End it, and everything its tools have started."""
        with self._lock:
            self._ending = self._ending or ending
            task = self._task
        if task is not None:
            try:
                task[0].call_soon_threadsafe(task[1].cancel)
            except RuntimeError:  # the loop has closed: it is over
                pass
            self._done.wait(ENDING_S)
        self._conclude(ending)

    def _conclude(
        self, ending: Ending, code: int | None = None, stdout: str = "", stderr: str = "", error: str | None = None
    ) -> None:
        said, noted = stdout.encode("utf-8", "replace"), stderr.encode("utf-8", "replace")
        if len(said) > OUTPUT_LIMIT:
            ending, code, said = "overflowed", None, said[:OUTPUT_LIMIT]
        with self._lock:
            if self._run is None:
                spent_s = monotonic() - self._started_s
                self._run = Run(ending, code, said, noted[:OUTPUT_LIMIT], self._started_ns, spent_s, error)
                self._done.set()
                self._asking.set()

    # -- in the thread

    def _work(self) -> None:
        inside_hook.set(True)
        try:
            from anyhook.handlers.model_client import Client, NoModelError
        except ImportError as error:
            why = f"the client for models is not installed ({error}): {install_command('llm')}"
            self._conclude("not_started", error=why)
            return
        try:
            client = Client(self._model, self._settings.providers, self._scene.env)
        except NoModelError as error:
            self._conclude("not_started", error=str(error))
            return
        asyncio.run(self._ask(client))

    async def _ask(self, client: Client) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (this is a coroutine)
        with self._lock:
            self._until = monotonic() + self._call.limit_s
            self._task = (asyncio.get_running_loop(), task)
            ended = self._ending
        self._asking.set()
        if ended:
            self._conclude(ended)
            return
        try:
            async with asyncio.timeout(self._call.limit_s) as bound:
                code, said, noted = await self._answer(client)
            self._conclude("exited", code, said, noted)
        except TimeoutError:
            self._conclude("timed_out" if bound.expired() else "exited", 1, "", "the model's client ran out of time")
        except asyncio.CancelledError:
            self._conclude(self._ending or "cancelled")

    async def _answer(self, client: Client) -> tuple[int, str, str]:
        hook, asking = self._hook, self._dialect.asking
        assert asking is not None  # noqa: S101 (nothing is asked without)
        nonce = os.urandom(8).hex()
        with_tools = hook.handler == "agent"
        asked = question(str(hook.spec["prompt"]), self._call.stdin, asking, nonce, with_tools=with_tools)
        noted = f"{asked.note}\n" if asked.note else ""
        if with_tools:
            env = without_keys(self._scene.env, key_names(self._settings))
            place = Workplace(self._scene.project, env, nonce, self._until)
            code, text = await client.ask(asked, None, place.tools())
            noted += place.notes()
        else:
            code, text = await client.ask(asked, asking, ())
        return code, *((text, noted) if code == 0 else ("", f"{noted}{text}"))
