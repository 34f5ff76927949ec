"""Event: something that happens in a host's loop, with canonical names."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json

# Every canonical event, and the field whose value a matcher may be tried against, or "".
EVENTS: dict[str, tuple[str, ...]] = {
    "session_start": ("source",),
    "session_end": ("reason",),
    "user_prompt_submit": (),
    "turn_start": (),
    "turn_end": (),
    "step_end": (),
    "pre_tool": ("tool",),
    "post_tool": ("tool",),
    "post_tool_failure": ("tool",),
    "permission_request": ("tool",),
    "notification": ("notification_type",),
    "subagent_start": ("agent_type", "agent_name"),
    "subagent_stop": ("agent_type", "agent_name"),
    "pre_compact": ("trigger",),
    "post_compact": ("trigger",),
    "stop": (),
    "stop_failure": ("error",),
    "setup": ("trigger",),
    "user_prompt_expansion": ("command_name",),
    "instructions_loaded": ("load_reason",),
    "message_display": (),
    "permission_denied": ("tool",),
    "post_tool_batch": (),
    "elicitation": ("mcp_server_name",),
    "elicitation_result": ("mcp_server_name",),
    "task_created": (),
    "task_completed": (),
    "teammate_idle": (),
    "pre_model_switch": ("to_model",),
    "post_model_switch": ("to_model",),
    "config_change": ("source",),
    "cwd_changed": (),
    "directory_added": ("source",),
    "file_changed": ("file_path",),
    "worktree_create": (),
    "worktree_remove": (),
}

# A block of one of these keeps something from happening, so no other hook needs to be asked; the others come after
# it has happened, and every dialect still sees them.
GATES = frozenset(
    {
        "session_start",
        "user_prompt_submit",
        "turn_start",
        "pre_tool",
        "permission_request",
        "subagent_start",
        "subagent_stop",
        "pre_compact",
        "stop",
        "user_prompt_expansion",
        "post_tool_batch",
        "elicitation",
        "elicitation_result",
        "task_created",
        "task_completed",
        "teammate_idle",
        "pre_model_switch",
        "config_change",
        "worktree_create",
    }
)

AFTER_CALL = ("post_tool", "post_tool_failure")
"""The events of a call that ran; a failed run counts."""
ABOUT_CALLS = ("pre_tool", "permission_request", *AFTER_CALL)

# Every canonical field and the empty value it has where the caller gives none, so that payloads are always complete.
FIELDS: dict[str, Json] = {
    "tool": "",
    "input": {},
    "output": "",
    "tool_error": "",
    "call_id": "",
    "prompt": "",
    "source": "",
    "trigger": "",
    "reason": "",
    "agent_type": "",
    "agent_name": "",
    "agent_id": "",
    "message": "",
    "session": "",
    "parent_session": "",
    "usage": {"input_tokens": 0, "output_tokens": 0, "current_context_window": 0, "max_context_window": 0},
    "messages": [],
    "turn_number": 0,
    "tools_used": False,
    "auto_compact_enabled": False,
    "auto_compact_threshold": 0,
    "invoked_recipe": "",
    "invoked_by": "main",
    "step_count": 0,
    "turns": 0,
    "stop_reason": "",
    "final_message": None,
    "last_message": "",
    "attachments": [],
    "provider": "",
    "model": "",
    "auto_approve": False,
    "exit_code": 0,
    "duration_ms": 0,
    "duration_s": 0,
    "permission_mode": "",
    "notification_type": "",
    "input_tokens": 0,
    "model_context_length": 0,
    "task": "",
    "result": "",
    "sub_agent_info": {},
    "skills": [],
    "context": {},
    # Of events that one agent or two have, by that agent's own words.
    "tool_calls": [],
    "expansion_type": "",
    "command_name": "",
    "command_args": "",
    "command_source": "",
    "error": "",
    "error_details": "",
    "from_model": "",
    "to_model": "",
    "requested_model": None,
    "context_tokens": 0,
    "prompt_cache_warm": False,
    "cache_ttl": "",
    "estimated_cache_write_usd": 0,
    "pricing": {},
    "turn_id": "",
    "message_id": "",
    "index": 0,
    "final": False,
    "mcp_server_name": "",
    "mode": "",
    "url": "",
    "elicitation_id": "",
    "requested_schema": None,
    "action": "",
    "task_id": "",
    "task_subject": "",
    "task_description": "",
    "teammate_name": "",
    "team_name": "",
    "file_path": "",
    "memory_type": "",
    "load_reason": "",
    "globs": None,
    "trigger_file_path": "",
    "parent_file_path": "",
    "old_cwd": "",
    "new_cwd": "",
    "change": "",
    "directory": "",
    "worktree_name": "",
    "worktree_path": "",
    "compact_summary": "",
    "custom_instructions": None,
}


def _only_canonical(name: str, failed: bool) -> str:
    raise ValueError(f"unknown event `{name}`. Canonical events: {', '.join(EVENTS)}.")


_canonical: Callable[[str, bool], str] = _only_canonical


def understand_names(canonical: Callable[[str, bool], str]) -> None:
    """Let `Event.of` take the names that the agents' tables know. The registry calls this; the model knows no table."""
    global _canonical  # noqa: PLW0603 (set once, when the registry is imported)
    _canonical = canonical


def _fields(given: dict[str, Json]) -> dict[str, Json]:
    """A tool's input. No guard would see what is in anything but an object."""
    if not isinstance(given, dict):
        raise TypeError(f'the input of a tool must be a dict, such as {{"command": "…"}}, not {type(given).__name__}')
    return given


class Event(Record):
    """A canonical name, and the canonical fields that the host gave."""

    name: str
    data: dict[str, Json]
    raw: bytes = b""
    """The host's own bytes, unchanged, if there are any."""
    hosted: bool = False
    """Whether it comes from a host with its own tool names: then each dialect's hooks see their own names and fields
    for the host's tools, and events of sub-agents as their document says. Otherwise nothing is translated."""
    ours: str = ""
    """Our name for the host's tool, if the host uses another: dialects translate from ours."""
    inputs: dict[str, str] | None = None
    """Our input fields → the host's, where they differ."""
    also: tuple[str, ...] = ()
    """Other names of the tool that matchers are tried against."""
    refused: str = ""
    """Why self-protection refuses this call of an agent; "" if it does not, or was not asked."""

    def get(self, field: str) -> Json:
        """A field's value, or its empty value; an object with known keys has all of them."""
        empty = FIELDS[field]
        if field not in self.data:
            return empty
        value = self.data[field]
        return {**empty, **value} if empty and isinstance(empty, dict) and isinstance(value, dict) else value

    def targets(self) -> tuple[Json, ...]:
        """The values that this event's matchers may be tried against."""
        return tuple(self.get(field) for field in EVENTS[self.name])

    @classmethod
    def of(cls, name: str, **data: Json) -> Event:
        """Any event by its canonical or any dialect's own name, with canonical fields."""
        return cls.made(name, data)

    @classmethod
    def made(cls, name: str, data: dict[str, Json], *, hosted: bool = False) -> Event:
        """The same, with the fields as a value that becomes part of the event."""
        if name not in EVENTS:
            name = _canonical(name, "tool_error" in data)
        if "agent_type" in data:
            data.setdefault("agent_name", data["agent_type"])  # who names only one means both
        if not data.keys() <= FIELDS.keys():
            unknown = next(field for field in data if field not in FIELDS)
            raise ValueError(f"unknown event field {unknown!r}; known: {', '.join(FIELDS)}")
        return cls(name, data, b"", hosted)

    @classmethod
    def pre_tool(cls, tool: str, input: dict[str, Json], **data: Json) -> Event:  # noqa: A002 (the contract's word)
        return cls.of("pre_tool", tool=tool, input=_fields(input), **data)

    @classmethod
    def post_tool(cls, tool: str, input: dict[str, Json], output: Json, **data: Json) -> Event:  # noqa: A002
        return cls.of("post_tool", tool=tool, input=_fields(input), output=output, **data)

    @classmethod
    def post_tool_failure(cls, tool: str, input: dict[str, Json], error: str, **data: Json) -> Event:  # noqa: A002
        return cls.of("post_tool_failure", tool=tool, input=_fields(input), tool_error=error, **data)

    @classmethod
    def permission_request(cls, tool: str, input: dict[str, Json], **data: Json) -> Event:  # noqa: A002
        return cls.of("permission_request", tool=tool, input=_fields(input), **data)

    @classmethod
    def user_prompt_submit(cls, prompt: str, **data: Json) -> Event:
        return cls.of("user_prompt_submit", prompt=prompt, **data)

    @classmethod
    def session_start(cls, source: str = "startup", **data: Json) -> Event:
        return cls.of("session_start", source=source, **data)

    @classmethod
    def session_end(cls, reason: str, **data: Json) -> Event:
        return cls.of("session_end", reason=reason, **data)

    @classmethod
    def turn_start(cls, prompt: str = "", **data: Json) -> Event:
        return cls.of("turn_start", prompt=prompt, **data)

    @classmethod
    def turn_end(cls, **data: Json) -> Event:
        return cls.of("turn_end", **data)

    @classmethod
    def step_end(cls, **data: Json) -> Event:
        return cls.of("step_end", **data)

    @classmethod
    def notification(cls, message: str, **data: Json) -> Event:
        return cls.of("notification", message=message, **data)

    @classmethod
    def subagent_start(cls, agent_type: str, **data: Json) -> Event:
        return cls.of("subagent_start", agent_type=agent_type, **data)

    @classmethod
    def subagent_stop(cls, agent_type: str, **data: Json) -> Event:
        return cls.of("subagent_stop", agent_type=agent_type, **data)

    @classmethod
    def pre_compact(cls, trigger: str, **data: Json) -> Event:
        return cls.of("pre_compact", trigger=trigger, **data)

    @classmethod
    def post_compact(cls, trigger: str, **data: Json) -> Event:
        return cls.of("post_compact", trigger=trigger, **data)

    @classmethod
    def stop(cls, **data: Json) -> Event:
        return cls.of("stop", **data)

    @classmethod
    def stop_failure(cls, error: str, **data: Json) -> Event:
        return cls.of("stop_failure", error=error, **data)

    @classmethod
    def setup(cls, trigger: str, **data: Json) -> Event:
        return cls.of("setup", trigger=trigger, **data)

    @classmethod
    def user_prompt_expansion(cls, command_name: str, prompt: str, **data: Json) -> Event:
        return cls.of("user_prompt_expansion", command_name=command_name, prompt=prompt, **data)

    @classmethod
    def instructions_loaded(cls, file_path: str, load_reason: str, **data: Json) -> Event:
        return cls.of("instructions_loaded", file_path=file_path, load_reason=load_reason, **data)

    @classmethod
    def message_display(cls, message: str, **data: Json) -> Event:
        return cls.of("message_display", message=message, **data)

    @classmethod
    def permission_denied(cls, tool: str, input: dict[str, Json], reason: str, **data: Json) -> Event:  # noqa: A002
        return cls.of("permission_denied", tool=tool, input=_fields(input), reason=reason, **data)

    @classmethod
    def post_tool_batch(cls, tool_calls: list[Json], **data: Json) -> Event:
        return cls.of("post_tool_batch", tool_calls=tool_calls, **data)

    @classmethod
    def elicitation(cls, mcp_server_name: str, message: str, **data: Json) -> Event:
        return cls.of("elicitation", mcp_server_name=mcp_server_name, message=message, **data)

    @classmethod
    def elicitation_result(cls, mcp_server_name: str, action: str, **data: Json) -> Event:
        return cls.of("elicitation_result", mcp_server_name=mcp_server_name, action=action, **data)

    @classmethod
    def task_created(cls, task_id: str, task_subject: str, **data: Json) -> Event:
        return cls.of("task_created", task_id=task_id, task_subject=task_subject, **data)

    @classmethod
    def task_completed(cls, task_id: str, task_subject: str, **data: Json) -> Event:
        return cls.of("task_completed", task_id=task_id, task_subject=task_subject, **data)

    @classmethod
    def teammate_idle(cls, teammate_name: str, team_name: str, **data: Json) -> Event:
        return cls.of("teammate_idle", teammate_name=teammate_name, team_name=team_name, **data)

    @classmethod
    def pre_model_switch(cls, from_model: str, to_model: str, **data: Json) -> Event:
        return cls.of("pre_model_switch", from_model=from_model, to_model=to_model, **data)

    @classmethod
    def post_model_switch(cls, from_model: str, to_model: str, **data: Json) -> Event:
        return cls.of("post_model_switch", from_model=from_model, to_model=to_model, **data)

    @classmethod
    def config_change(cls, source: str, **data: Json) -> Event:
        return cls.of("config_change", source=source, **data)

    @classmethod
    def cwd_changed(cls, old_cwd: str, new_cwd: str, **data: Json) -> Event:
        return cls.of("cwd_changed", old_cwd=old_cwd, new_cwd=new_cwd, **data)

    @classmethod
    def directory_added(cls, directory: str, source: str, **data: Json) -> Event:
        return cls.of("directory_added", directory=directory, source=source, **data)

    @classmethod
    def file_changed(cls, file_path: str, change: str, **data: Json) -> Event:
        return cls.of("file_changed", file_path=file_path, change=change, **data)

    @classmethod
    def worktree_create(cls, worktree_name: str, **data: Json) -> Event:
        return cls.of("worktree_create", worktree_name=worktree_name, **data)

    @classmethod
    def worktree_remove(cls, worktree_path: str, **data: Json) -> Event:
        return cls.of("worktree_remove", worktree_path=worktree_path, **data)
