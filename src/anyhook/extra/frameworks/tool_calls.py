"""One tool call of a pydantic-ai agent on its way through permission, hooks and the tool itself. It never runs a tool
that was denied, and never hides a tool's failure."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError
from pydantic_ai import RunContext
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    ModelRetry,
    SkipToolExecution,
    ToolFailed,
    ToolFailedError,
    ToolRetryError,
)
from pydantic_ai.messages import ToolCallPart, ToolReturn

from anyhook.extra.frameworks.conversation import HookedResult, Script, ToolCall, play, said_by
from anyhook.extra.frameworks.lifecycle import unconfirmed
from anyhook.extra.frameworks.plain_values import jsonable, mistakes, text_of
from anyhook.model.json_types import Json

if TYPE_CHECKING:
    from anyhook.extra.frameworks.pydantic_ai import Hooked

FAILURES = (ModelRetry, ToolFailed, ToolFailedError, ToolRetryError)
NO_RESULT = (CallDeferred, ApprovalRequired, SkipToolExecution)
DELEGATE = ("agent_name", "task")
"""The fields by which a tool is known to start a sub-agent."""
delegated: ContextVar[tuple[str, str, str] | None] = ContextVar("anyhook_delegated", default=None)
"""Name and task of the sub-agent that a tool is starting here, and the id of that call."""


@dataclass
class ToolRecord:
    """The result of one call."""

    tool: str
    input: dict[str, Json]
    output: Json = None
    denied: bool = False
    call_id: str = ""
    unpermitted: bool = False
    """Whether it was denied because nobody permitted it, not by a hook of the tool."""
    failed: bool = False
    """Whether it ran, and failed."""
    result: object = None
    """The tool's own result, or what a hook put in its place; None if there is none."""


class Gate(Protocol):
    """Who decides whether a tool may run, before any hook of the tool is asked."""

    async def refuses(self, hooked: Hooked, tool: str, given: dict[str, Json], call_id: str) -> str | None:
        """Why the tool may not run; None if it may."""

    async def confirms(self, hooked: Hooked, tool: str, given: dict[str, Json], reason: str) -> bool:
        """Whether somebody says yes, because a hook wants to be sure."""


async def execute(hooked: Hooked, ctx: RunContext[Any], call: ToolCallPart, args: Any, handler: Any) -> Any:
    """Run one call, if all hooks let it."""
    given: dict[str, Json] = jsonable(call.args_as_dict())  # type: ignore[assignment]  # a dict stays a dict
    record = ToolRecord(call.tool_name, given, call_id=call.tool_call_id)
    try:
        return await _Call(hooked, ctx, call, record).run(args, handler)
    finally:
        hooked.log(record)


class _Call:
    """One call."""

    def __init__(self, hooked: Hooked, ctx: RunContext[Any], call: ToolCallPart, record: ToolRecord) -> None:
        self.hooked, self.ctx, self.record = hooked, ctx, record
        self.hooks = ToolCall(record.tool, record.input, record.call_id, by=hooked.state.kind)

    async def run(self, args: Any, handler: Callable[[Any], Any]) -> Any:
        hooked, record = self.hooked, self.record
        if hooked.gate is not None:
            why = await hooked.gate.refuses(hooked, record.tool, record.input, record.call_id)
            if why is not None:
                record.unpermitted = True
                self.deny(f"Permission denied for {record.tool}: {why}")
        args = await self.before(args)
        if hooked.before_tool is not None:
            await hooked.before_tool(record.tool, record.input)
        self.hooks.began_s = perf_counter()
        token = self.announce()
        try:
            result = await handler(args)
        except NO_RESULT:
            raise
        except FAILURES as error:
            return await self.failed(error)
        except Exception as error:
            record.failed = True
            await self.after(self.hooks.failed(error))
            raise
        finally:
            self.conceal(token)
        return await self.succeeded(result)

    def deny(self, text: str) -> None:
        self.record.output, self.record.denied = text, True
        raise ToolFailed(text)

    def announce(self) -> Any:
        """Let a run inside this tool know its name."""
        name, task = (self.record.input.get(field) for field in DELEGATE)
        if isinstance(name, str) and isinstance(task, str):
            return delegated.set((name, task, self.record.call_id))
        return None

    @staticmethod
    def conceal(token: Any) -> None:
        if token is not None:
            delegated.reset(token)

    async def before(self, args: Any) -> Any:
        """The input to run with, once the hooks have seen it."""
        record, hooks = self.record, self.hooks
        await play(hooks.before(), self.hooked.fire)
        hooks.turn.over = None  # only what is said after a tool ends the turn here
        if hooks.refusal is not None and hooks.unsure is None:
            self.deny(hooks.refusal)
        record.input = hooks.input
        if hooks.rewritten:
            args = self.validated(hooks.input)
        if hooks.unsure is not None:
            gate = self.hooked.gate
            if gate is None or not await gate.confirms(self.hooked, record.tool, record.input, hooks.unsure):
                self.deny(unconfirmed(record.tool, hooks.unsure))
        return args

    def validated(self, given: dict[str, Json]) -> Any:
        """A rewritten input, checked as the model's own was."""
        manager = self.ctx.tool_manager
        tool = manager.tools.get(self.record.tool) if manager is not None and manager.tools is not None else None
        if tool is None:
            return given
        known = tool.tool_def.parameters_json_schema.get("properties", {})
        open_ended = tool.tool_def.parameters_json_schema.get("additionalProperties", False)
        fitting = {key: value for key, value in given.items() if open_ended or key in known}
        try:
            return tool.args_validator.validate_python(fitting)
        except ValidationError as error:
            self.deny(
                f"A hook rewrote the input of {self.record.tool} into one that it does not take: {mistakes(error)}"
            )

    async def after(self, script: Script[HookedResult]) -> HookedResult:
        heard = await play(script, self.hooked.fire)
        if self.hooks.turn.over is not None:
            self.hooked.state.over = self.hooks.turn.over
        return heard

    async def failed(self, error: Exception) -> Any:
        said = said_by(error)
        self.record.output, self.record.failed = said, True
        heard = await self.after(self.hooks.failed(error))
        if heard.replaced in (None, said) and not heard.notes:
            raise error
        self.record.output = heard.text(said)
        raise ToolFailed(self.record.output) from error

    async def succeeded(self, result: Any) -> Any:
        inner = result.return_value if isinstance(result, ToolReturn) else result
        code = self.hooked.exit_code(self.record.tool, inner)
        self.record.failed = self.record.failed or bool(code)
        hooks = self.hooks
        heard = await self.after(hooks.failed(text_of(inner), exit_code=code) if code else hooks.after(inner))
        self.record.output = jsonable(inner)
        if heard.replaced is not None:
            result = inner = heard.replaced
            self.record.output = result
        self.record.result = inner
        if not heard.notes:
            return result
        if isinstance(inner, str) and not isinstance(result, ToolReturn):
            self.record.output = "\n\n".join([inner, *heard.notes])
            return self.record.output
        kept = result if isinstance(result, ToolReturn) else ToolReturn(result)
        kept.content = [*_listed(kept.content), *heard.notes]
        return kept


def _listed(content: Any) -> list[Any]:
    if content is None:
        return []
    return [content] if isinstance(content, str) else list(content)
