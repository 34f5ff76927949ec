"""A session's model, for the agent, a sub-agent or a recipe. It counts every answer, enforces the cost limit, and shows
its waits before retries."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_ai.exceptions import ModelAPIError, ToolFailed
from pydantic_ai.models.wrapper import WrapperModel

from anyhook.extra.agent.trouble import explained, pause_for
from anyhook.extra.frameworks.run_state import running

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from anyhook.extra.agent.spent import Spent
    from anyhook.extra.agent.trouble import Pause

T = TypeVar("T")


class SessionModel(WrapperModel):
    """One model of a session. If a stream breaks once it has begun, its reader asks again."""

    def __init__(self, wrapped: Model, spent: Spent, pauses: Callable[[Pause], None]) -> None:
        super().__init__(wrapped)
        self._spent, self._pauses = spent, pauses
        client: Any = getattr(wrapped, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # its own waits are silent

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        answer = await self._tried(lambda: self.wrapped.request(messages, model_settings, model_request_parameters))
        self._spent.add(self.model_name, answer)
        return answer

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with AsyncExitStack() as stack:
            stream = await self._tried(
                lambda: stack.enter_async_context(
                    self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
                )
            )
            began_s = monotonic()
            try:
                yield stream
            except ModelAPIError as error:
                error.in_stream = True  # a client raises it only for the provider's own error
                self._fail_sub_agent(error)
                raise
            finally:
                self._spent.model_s += monotonic() - began_s
                self._spent.add(self.model_name, stream.get())

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T:
        for attempt in count():
            self._spent.check()
            began_s = monotonic()
            try:
                return await ask()
            except Exception as error:
                pause = pause_for(error, self, attempt, in_stream=False)
                if pause is None:
                    self._fail_sub_agent(error)
                    raise
            finally:
                self._spent.model_s += monotonic() - began_s
            self._pauses(pause)
            await asyncio.sleep(pause.wait_s)
        raise AssertionError("the last attempt returns")

    def _fail_sub_agent(self, error: Exception) -> None:
        """A sub-agent that gets no answer is a tool that failed, which the agent around it can do something about."""
        run = running.get()
        if run is not None and run.depth and isinstance(error, ModelAPIError):
            raise ToolFailed(f"The sub-agent got no answer. {explained(error, self)}") from error
