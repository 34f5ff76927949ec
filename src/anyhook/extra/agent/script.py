"""A model that follows a script: a YAML file of steps, for tests, demos and first trials without a network. If the
agent does not do what the script expects, it fails and says why."""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel, FunctionStreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage

from anyhook.extra.agent.settings import BadSetup, Failed
from anyhook.extra.frameworks.messages import plain
from anyhook.extra.frameworks.run_state import running
from anyhook.platform.spawn import inside_hook

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.models.function import AgentInfo
    from pydantic_ai.settings import ModelSettings

RECIPE, HOOK_WRITER, HOOK = "recipe", "hook_writer", "hook"
asked_apart: ContextVar[str] = ContextVar("anyhook_asked_apart", default="")
"""Who asks the model something outside the conversation: RECIPE, HOOK_WRITER, or ""."""
KEYS = ("text", "tools", "expect", "expect_not", "by", "times", "usage", "pause_s")
TOP = ("context_window", "steps")
WHO = ("main", "subagent", RECIPE, HOOK_WRITER, HOOK)


@dataclass
class ScriptStep:
    """One answer of the model."""

    text: str
    tools: list[tuple[str, dict[str, Any]]]
    expect: list[str]
    expect_not: list[str]
    by: str
    times: int
    usage: dict[str, int]
    pause_s: float = 0.0
    """Pause before every line of a streamed text but the first."""


class ModelScript:
    """The remaining steps."""

    def __init__(self, path: str, steps: list[ScriptStep]) -> None:
        self.path, self.steps = path, steps

    def answer(self, messages: list[ModelMessage]) -> tuple[ModelResponse, float]:
        """The model's answer, and the pause between lines of its stream."""
        who = self._who()
        step = next((step for step in self.steps if step.by == who and step.times > 0), None)
        if step is None:
            raise Failed(f"{self.path}: the script has no further step for {who}")
        step.times -= 1
        said = "\n".join(message["content"] for message in plain(messages[-1:]))
        for words in step.expect:
            if words not in said:
                raise Failed(f"{self.path}: the script expects {words!r}, and the model is told: {said!r}")
        for words in step.expect_not:
            if words in said:
                raise Failed(f"{self.path}: the script does not expect {words!r}, and the model is told: {said!r}")
        parts: list[Any] = [TextPart(step.text)] if step.text else []
        parts.extend(ToolCallPart(name, given) for name, given in step.tools)
        usage = RequestUsage(
            input_tokens=step.usage.get("input_tokens", 0), output_tokens=step.usage.get("output_tokens", 0)
        )
        return ModelResponse(parts=parts, usage=usage), step.pause_s

    @staticmethod
    def _who() -> str:
        if inside_hook.get():
            return HOOK
        run = running.get()
        return asked_apart.get() or (run.kind if run is not None else "main")


def script_model(path: str) -> FunctionModel:
    """The model of `script:FILE`."""
    document = _read(path)
    steps = document.get("steps")
    if not isinstance(steps, list) or not steps:
        raise BadSetup(f"{path}: `steps` must be a list with at least one step")
    script = ModelScript(path, [_step(path, number, step) for number, step in enumerate(steps, 1)])

    window = document.get("context_window")
    if window is not None and (not isinstance(window, int) or window < 1):
        raise BadSetup(f"{path}: `context_window` must be a whole number from 1 on")
    profile = ModelProfile(context_window=window) if window is not None else ModelProfile()
    return ScriptModel(script, Path(path).stem, profile)


class ScriptModel(FunctionModel):
    """Answers from the script, in one piece or as a stream."""

    def __init__(self, script: ModelScript, name: str, profile: ModelProfile) -> None:
        async def function(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
            return script.answer(messages)[0]

        super().__init__(function, model_name=name, profile=profile)
        self.script = script

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        answer, pause_s = self.script.answer(messages)
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        yield _ScriptStream(
            model_request_parameters=parameters,
            _model_name=self.model_name,
            _iter=_pieces(answer, pause_s),
            told=answer.usage if answer.usage.has_values() else None,
        )


@dataclass
class _ScriptStream(FunctionStreamedResponse):
    """A stream with the usage from the script, or an estimate."""

    told: RequestUsage | None = None

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for event in super()._get_event_iterator():
            yield event
        if self.told is not None:
            self._usage = self.told


async def _pieces(answer: ModelResponse, pause_s: float) -> AsyncIterator[Any]:
    for index, part in enumerate(answer.parts):
        if isinstance(part, TextPart):
            for number, line in enumerate(part.content.splitlines(keepends=True)):
                if number and pause_s:
                    await asyncio.sleep(pause_s)
                yield line
        elif isinstance(part, ToolCallPart):
            yield {index: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}


def _read(path: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSetup(f"{path}: the script cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadSetup(f"{path}: the script is not valid YAML: {error}") from None
    if not isinstance(document, dict):
        raise BadSetup(f"{path}: the script must be a mapping with `steps`")
    for key in document:
        if key not in TOP:
            raise BadSetup(f"{path}: `{key}` is not a key of a script; keys: {', '.join(TOP)}")
    return document


def _step(path: str, number: int, step: Any) -> ScriptStep:
    where = f"{path}: step {number}"
    if not isinstance(step, dict):
        raise BadSetup(f"{where} must be a mapping of {', '.join(KEYS)}")
    unknown = [str(key) for key in step if key not in KEYS]
    if unknown:
        raise BadSetup(f"{where}: `{unknown[0]}` is not a key of a step; keys: {', '.join(KEYS)}")
    by = step.get("by", "main")
    if by not in WHO:
        raise BadSetup(f"{where}: `by` must be one of {', '.join(WHO)}")
    calls = _calls(where, step.get("tools", []))
    text = str(step.get("text", ""))
    if not text and not calls:
        raise BadSetup(f"{where} needs `text` or `tools`")
    usage, pause_s, times = step.get("usage") or {}, step.get("pause_s", 0), step.get("times", 1)
    wrong = _wrong_figure(usage, pause_s, times)
    if wrong:
        raise BadSetup(f"{where}: {wrong}")
    expect, expect_not = _texts(step.get("expect")), _texts(step.get("expect_not"))
    return ScriptStep(text, calls, expect, expect_not, by, times, usage, pause_s)


def _calls(where: str, tools: Any) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(tools, list) or not all(_is_call(call) for call in tools):
        raise BadSetup(f"{where}: `tools` must be a list of calls, each `NAME: {{field: value}}`")
    return [(str(name), dict(given or {})) for call in tools for name, given in call.items()]


def _wrong_figure(usage: Any, pause_s: Any, times: Any) -> str:
    if not isinstance(times, int) or times < 1:
        return "`times` must be a whole number from 1 on"
    if not isinstance(usage, dict) or not all(isinstance(count, int) for count in usage.values()):
        return "`usage` must be a mapping of numbers of tokens"
    if not isinstance(pause_s, (int, float)) or not 0 <= pause_s < math.inf:
        return "`pause_s` must be a number of seconds"
    return ""


def _is_call(call: Any) -> bool:
    if not isinstance(call, dict) or len(call) != 1:
        return False
    return all(given is None or isinstance(given, dict) for given in call.values())


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]
