"""A model that follows a script: a YAML file of steps, for tests, demos and first trials without a network. If the
agent does not do what the script expects, it fails and says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel, FunctionStreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from anyhook.extra.agent.settings import BadSetup, Failed
from anyhook.extra.frameworks.messages import plain
from anyhook.extra.frameworks.plain_values import mistakes
from anyhook.extra.frameworks.run_state import running
from anyhook.platform.spawn import inside_hook

RECIPE, HOOK_WRITER, HOOK = "recipe", "hook_writer", "hook"
asked_apart: ContextVar[str] = ContextVar("anyhook_asked_apart", default="")
"""Who asks the model something outside the conversation: RECIPE, HOOK_WRITER, or ""."""
WHO = Literal["main", "subagent", "recipe", "hook_writer", "hook"]


class ScriptStep(BaseModel):
    """One answer of the model."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    text: str = ""
    tools: list[dict[str, dict[str, Any] | None]] = []
    """Calls, each `NAME: {field: value}`."""
    expect: list[str] = []
    expect_not: list[str] = []
    by: WHO = "main"
    times: Annotated[int, Field(ge=1)] = 1
    usage: dict[str, int] = {}
    pause_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Pause before every line of a streamed text but the first."""

    @field_validator("expect", "expect_not", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return value if isinstance(value, list) else [] if value is None else [value]

    @model_validator(mode="after")
    def _says(self) -> ScriptStep:
        if not self.text and not self.tools:
            raise ValueError("it needs `text` or `tools`")
        if any(len(call) != 1 for call in self.tools):
            raise ValueError("each of `tools` is one call, `NAME: {field: value}`")
        return self


class ScriptFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    steps: Annotated[list[ScriptStep], Field(min_length=1)]
    context_window: Annotated[int | None, Field(ge=1)] = None


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
        parts.extend(ToolCallPart(name, given or {}) for call in step.tools for name, given in call.items())
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
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise BadSetup(f"{path}: the script must be a mapping with `steps`")
        read = ScriptFile.model_validate(document)
    except OSError as error:
        raise BadSetup(f"{path}: the script cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise BadSetup(f"{path}: {mistakes(error)}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadSetup(f"{path}: the script is not valid YAML: {error}") from None
    window = read.context_window
    profile = ModelProfile(context_window=window) if window is not None else ModelProfile()
    return ScriptModel(ModelScript(path, read.steps), Path(path).stem, profile)


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
