"""What is said in a run: the agent's own words and its sub-agents', and the results of their tools, for those who show
or report them as they come. Not the prompt, which the caller knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai import ModelRequestNode, UserPromptNode
from pydantic_ai.capabilities import AbstractCapability, ProcessEventStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable

    from pydantic_ai import RunContext
    from pydantic_ai.messages import AgentStreamEvent, ModelMessage

    Stream = Callable[[AgentStreamEvent], None]
    Said = Callable[[ModelMessage], None]


def listeners(stream: Stream | None, said: Said | None) -> list[AbstractCapability[Any]]:
    """Who hears the events of a run as they come, and who its messages; None if nobody does."""
    found: list[AbstractCapability[Any]] = []
    if stream is not None:

        async def forward(_ctx: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
            async for event in events:
                stream(event)

        found.append(ProcessEventStream(forward))
    if said is not None:
        found.append(Overheard(said))
    return found


@dataclass
class Overheard(AbstractCapability[Any]):
    """One run's listener."""

    tell: Said
    """Called with each message once, or with what was added to one."""
    _begun: bool = False
    """Whether the model has answered: until then there is only what it was asked, and what was said before."""
    _first: object = None
    """The conversation's first words, as long as it is the same conversation."""
    _count: int = 0
    _parts: int = 0
    """The number of messages that are known, and of parts of the last one."""

    async def for_run(self, ctx: RunContext[Any]) -> Overheard:
        return replace(self)

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        if isinstance(node, UserPromptNode):
            return result
        if not self._begun:
            self._begun = True
            self._know(ctx.messages[:-1])
        said = [*ctx.messages, *([result.request] if isinstance(result, ModelRequestNode) else [])]
        if _first(said) is self._first:  # else a hook or a summary has replaced it
            self._tell_rest(said)
        self._know(said)
        return result

    def _know(self, said: list[ModelMessage]) -> None:
        self._first, self._count, self._parts = _first(said), len(said), len(said[-1].parts) if said else 0

    def _tell_rest(self, said: list[ModelMessage]) -> None:
        last = self._count - 1
        if last >= 0 and len(said[last].parts) > self._parts:  # a hook had something to add
            self.tell(replace(said[last], parts=said[last].parts[self._parts :]))  # type: ignore[arg-type]
        for message in said[self._count :]:
            self.tell(message)


def _first(said: list[ModelMessage]) -> object:
    return said[0].parts[0] if said and said[0].parts else None
