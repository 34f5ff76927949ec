"""What a scripted model says next: steps with our own tools, translated to the names of the agent that asks. It does
not count requests: the step is found in the conversation, so that titles, retries and summaries shift nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from anyhook.extra.live.model_server import ModelRequest
from anyhook.extra.live.wire import ModelCall, ModelReply
from anyhook.model.json_types import Json
from anyhook.model.record import Record

Schema = dict[str, Json]

ASIDE = "ok, in short"
"""The answer to a request that offers no tools: a title, a summary, a question whether all is well."""
NO_TOOLS = "do not call any tools"
"""What agents say if they offer their tools and still want a summary."""
FIELDS = {
    "command": ("command", "cmd", "commands", "script"),
    "path": ("file_path", "path", "filePath", "absolute_path", "files", "file_paths"),
    "content": ("content", "contents", "file_text", "text", "new_text"),
    "task": ("prompt", "task", "message", "instructions", "goal", "description"),
    "agent_name": ("subagent_type", "agent_type", "agent_name", "task_name"),
    "escalation": ("sandbox_permissions",),
}
"""Our field → what tools call it."""
EMPTY: dict[str, Json] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}


class Step(Record):
    """One turn of the model: something said, or one tool called."""

    text: str = ""
    tool: str = ""
    """Our own name for the tool."""
    input: Mapping[str, str] = {}
    """In our own fields."""
    where: str = ""
    """The step belongs to conversations that open with this word, as a sub-agent's does; "" for all others."""
    tokens: int = ModelReply.tokens
    """How long the conversation is said to be by then."""


def script(
    steps: Sequence[Step],
    names: Mapping[str, Sequence[str]],
    fills: Mapping[str, Mapping[str, Json]] = MappingProxyType({}),
) -> Callable[[ModelRequest], ModelReply]:
    """The model that plays the steps; `names` are what the agent may call each of our tools, `fills` what it needs."""
    said = {step.text for step in steps if step.text}
    places = {step.where for step in steps if step.where}

    def answer(asked: ModelRequest) -> ModelReply:
        schemas = asked.schemas
        if not schemas or NO_TOOLS in asked.last.lower():
            return ModelReply(_aside(asked), tokens=max(step.tokens for step in steps))
        opening = asked.opening if places else ""
        where = next((word for word in places if word in opening), "")
        # What the agent has no tool for is left out: saying so instead would end its turn.
        offered = {ours: _offered(names.get(ours, ()), schemas) for ours in {step.tool for step in steps if step.tool}}
        possible = [step for step in steps if step.where == where and (not step.tool or offered[step.tool])]
        done = sum(1 for called, text in asked.turns if called or text.strip() in said)
        step = possible[done] if done < len(possible) else Step((possible or steps)[-1].text or "done")
        name = offered.get(step.tool)
        calls = (ModelCall(name, _input(step, schemas[name], fills.get(step.tool, {}))),) if name else ()
        return ModelReply(step.text, calls, tokens=step.tokens)

    return answer


def _offered(names: Sequence[str], schemas: Mapping[str, Schema]) -> str | None:
    return next((name for name in names if name in schemas), None)


def _aside(asked: ModelRequest) -> str:
    config = asked.body.get("generationConfig") or {}
    if config.get("responseMimeType") != "application/json":
        return ASIDE
    return json.dumps(_filled(config.get("responseJsonSchema") or config.get("responseSchema") or {}, {}))


def _input(step: Step, schema: Schema, fills: Mapping[str, Json]) -> dict[str, Json] | str:
    """The step's input in the tool's fields, with everything else that the tool requires; a tool without fields takes a
    patch."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        lines = step.input.get("content", "").splitlines()
        body = "".join(f"+{line}\n" for line in lines)
        return f"*** Begin Patch\n*** Add File: {step.input.get('path', '')}\n{body}*** End Patch\n"
    made: dict[str, Json] = {**fills}
    for field, value in step.input.items():
        name = next((name for name in FIELDS[field] if name in properties), None)
        if name is None:
            continue
        kind = _kind(properties[name])
        listed: Json = [value] if field == "command" and name != "command" else ["bash", "-c", value]
        if field == "path" and kind == "array":
            listed = [{"path": value}] if _holds_objects(properties[name]) else [value]
        made[name] = listed if kind == "array" else value
    return _filled(schema, made)


def _kind(schema: Json) -> str:
    """A property's type; where it may be several, a list if it may be one, else the first."""
    if not isinstance(schema, dict):
        return "string"
    kinds = schema.get("type") or [_kind(part) for part in _listed(schema.get("anyOf"))] or "string"
    words = [str(kind).lower() for kind in kinds] if isinstance(kinds, list) else [str(kinds).lower()]
    return "array" if "array" in words else words[0]


def _holds_objects(schema: Json) -> bool:
    parts = [schema, *_listed(schema.get("anyOf"))] if isinstance(schema, dict) else []
    return any(isinstance(part, dict) and _kind(part.get("items")) == "object" for part in parts)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _filled(schema: Schema, given: dict[str, Json]) -> dict[str, Json]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    made = dict(given)
    for name in _listed(schema.get("required")):
        rule = known.get(str(name))
        choices = _listed(rule.get("enum")) if isinstance(rule, dict) else []
        if name not in made:
            made[str(name)] = choices[0] if choices else EMPTY.get(_kind(rule), "scripted")
    return made
