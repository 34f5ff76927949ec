"""`--output-format stream-json`: a run as lines of JSON while it goes on, in the format that scripts around agents
read. The last line has the run's usage and cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from uuid import uuid4

from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from anyhook.extra.agent.models import RETRIES, Pause, status_of
from anyhook.extra.agent.prompts import recipes, skills
from anyhook.extra.agent.session import Session, TurnResult
from anyhook.extra.agent.spent import TooExpensive, Used
from anyhook.extra.agent.tools import ShellText
from anyhook.extra.frameworks.messages import prompt_text
from anyhook.extra.frameworks.plain_values import jsonable, text_of
from anyhook.extra.frameworks.run_state import running
from anyhook.extra.frameworks.tool_calls import ToolRecord
from anyhook.handlers.model_client import key_source
from anyhook.model.event import Event
from anyhook.model.json_types import Json

SUCCESS, BUDGET = "success", "error_max_budget_usd"
SUBTYPES = {"done": SUCCESS, "blocked": SUCCESS, "max_turns": "error_max_turns"}
ENDINGS = {"done": "completed", "blocked": "hook_stopped", "refused": "hook_stopped", "max_turns": "max_turns",
           "interrupted": "aborted_streaming"}  # fmt: skip
STOPS = {"stop": "end_turn", "tool_call": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
MODES = {"ask": "default", "auto": "bypassPermissions", "deny": "dontAsk"}


class StreamJson:
    """One run."""

    def __init__(self, write: Callable[[Json], None]) -> None:
        self._write, self._began_s = write, monotonic()
        self._session = ""
        self._denied: list[Json] = []
        self._records: dict[str, ToolRecord] = {}
        """Calls that are over, by id, until their results are told."""
        self._used, self._stopped = RequestUsage(), ""
        """Of the agent's own answers: what they used, and why the last one ended."""

    def begins(self, session: Session) -> None:
        options, equipment = session.options, session.equipment
        servers: list[Json] = [{"name": server.name, "status": server.status} for server in equipment.all_servers]
        plugins: list[Json] = [{"name": path.rstrip("/").rpartition("/")[2], "path": path}
                               for path in options.plugin_dirs]  # fmt: skip
        self._session = session.id
        self._line(
            "system", subtype="init", cwd=options.project, model=session.model.model_name,
            tools=[*equipment.tool_names], mcp_servers=servers, agents=[each.name for each in equipment.all_types],
            skills=[skill.name for skill in equipment.skills], permissionMode=MODES[options.permission],
            slash_commands=[*recipes(session), *skills(session)], output_style="default", plugins=plugins,
            apiKeySource=key_source(session.model_name, session.config.providers, options.env),
        )  # fmt: skip

    def said(self, message: ModelMessage) -> None:
        """A line for each piece of an answer, and for the result of each of its tools."""
        run = running.get()
        about: dict[str, Json] = {"parent_tool_use_id": run.call_id or None if run is not None else None}
        if run is not None and run.depth:
            about["subagent_type"] = run.name
        if isinstance(message, ModelResponse):
            if run is None or not run.depth:
                self._used += message.usage
                self._stopped = STOPS.get(message.finish_reason or "", "")
            self._answer(message, about)
            return
        for part in message.parts:
            if (block := _block(part)) is not None:
                if run is None or not run.depth:
                    about |= self._told(part, block)
                self._line("user", message={"role": "user", "content": [block]}, **about)

    def _told(self, part: object, block: dict[str, Json]) -> dict[str, Json]:
        """What a tool's result is for a program, next to what the model reads of it."""
        if not isinstance(part, (ToolReturnPart, RetryPromptPart)) or not part.tool_name:
            return {}
        record = self._records.pop(part.tool_call_id, None)
        if record is not None and record.failed:
            block["is_error"] = True  # a command's status; its text is a result for the model
        if block["is_error"]:
            content = block["content"]
            return {"tool_use_result": f"Error: {content if isinstance(content, str) else text_of(content)}"}
        result = record.result if record is not None else None
        if isinstance(result, ShellText):
            streams: Json = {"stdout": result.stdout, "stderr": result.stderr, "interrupted": False, "isImage": False}
            return {"tool_use_result": streams}
        return {"tool_use_result": block["content"] if result is None else jsonable(result)}

    def _answer(self, answer: ModelResponse, about: dict[str, Json]) -> None:
        told: dict[str, Json] = {
            "id": answer.provider_response_id or f"msg_{uuid4().hex}", "type": "message", "role": "assistant",
            "model": answer.model_name, "stop_reason": None, "stop_sequence": None, "usage": _usage(answer.usage),
        }  # fmt: skip
        for part in answer.parts:
            if (block := _block(part)) is not None:
                self._line("assistant", message={**told, "content": [block]}, **about)

    def called(self, record: ToolRecord) -> None:
        """Denied calls are listed again at the end."""
        self._records[record.call_id] = record
        if record.unpermitted:
            self._line("system", subtype="permission_denied", tool_name=record.tool, tool_use_id=record.call_id,
                       message=record.output)  # fmt: skip
        if record.denied:
            self._denied.append({"tool_name": record.tool, "tool_use_id": record.call_id, "tool_input": record.input})

    def pauses(self, pause: Pause) -> None:
        self._line("system", subtype="api_retry", attempt=pause.attempt + 1, max_retries=RETRIES,
                   retry_delay_ms=int(pause.wait_s * 1000), error_status=pause.status, error=pause.why)  # fmt: skip

    def event(self, event: Event) -> None:
        """A conversation that was compacted."""
        if event.name == "post_compact":
            about: dict[str, Json] = {"trigger": event.get("trigger"), "pre_tokens": event.get("input_tokens")}
            self._line("system", subtype="compact_boundary", compact_metadata=about)

    def ends(self, session: Session, turn: TurnResult) -> None:
        self._session = session.id
        spent, error = session.spent, turn.error
        by_provider, failed = isinstance(error, ModelAPIError), turn.stop not in ("done", "blocked")
        subtype = SUBTYPES.get(turn.stop, "error_during_execution")
        ending = ENDINGS.get(turn.stop, "model_error")
        if isinstance(error, TooExpensive):
            subtype, ending = BUDGET, "budget_exhausted"
        elif by_provider:
            subtype, ending = SUCCESS, "api_error"
        said: dict[str, Json] = {"errors": [turn.why]}
        if subtype == SUCCESS:
            said = {"result": turn.why if failed else turn.text, "api_error_status": status_of(error)}
        self._line(
            "result", subtype=subtype, is_error=failed, **said,
            stop_reason=self._stopped or None, terminal_reason=ending, stop=turn.stop,
            num_turns=session.lifecycle.turns, duration_ms=int((monotonic() - self._began_s) * 1000),
            duration_api_ms=int(spent.model_s * 1000), total_cost_usd=spent.cost, usage=_usage(self._used),
            modelUsage={name: _model_usage(used) for name, used in spent.models.items()},
            permission_denials=self._denied,
        )  # fmt: skip

    def _line(self, kind: str, **fields: Json) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write({"type": kind, **fields, "session_id": self._session, "uuid": str(uuid4()), "timestamp": now})


def _block(part: object) -> dict[str, Json] | None:
    """A part of a message in that format; None if it is left out."""
    if isinstance(part, UserPromptPart):
        return {"type": "text", "text": prompt_text(part.content)}
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.content}
    if isinstance(part, ThinkingPart):
        return {"type": "thinking", "thinking": part.content, "signature": part.signature or ""}
    if isinstance(part, ToolCallPart):
        given = jsonable(part.args_as_dict())
        return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": given}
    if isinstance(part, ToolReturnPart):
        content, failed = _content(part.content), part.outcome != "success"
        return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": content, "is_error": failed}
    if isinstance(part, RetryPromptPart) and part.tool_name:
        text = part.model_response()
        return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text, "is_error": True}
    return None


def _content(value: object) -> Json:
    """A tool's result: a text, or pieces if it has images."""
    if not isinstance(value, list) or not any(isinstance(each, BinaryContent) for each in value):
        value = [value] if isinstance(value, BinaryContent) else text_of(value)
    return [_piece(each) for each in value] if isinstance(value, list) else value


def _piece(value: object) -> Json:
    if not isinstance(value, BinaryContent):
        return {"type": "text", "text": text_of(value)}
    source: Json = {"type": "base64", "media_type": value.media_type, "data": value.base64}
    return {"type": "image", "source": source}


def _usage(used: RequestUsage) -> dict[str, Json]:
    """Usage in that format, which counts input tokens without cached ones."""
    written, cached = used.cache_write_tokens, used.cache_read_tokens
    return {
        "input_tokens": max(0, used.input_tokens - written - cached),
        "output_tokens": used.output_tokens,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
    }


def _model_usage(used: Used) -> Json:
    names = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    return {**dict(zip(names, _usage(used.tokens).values(), strict=True)), "costUSD": used.cost}
