"""Sub-agents in `--output-format stream-json`, which calls them tasks: each has lines when it starts, at each of its
tool calls, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from anyhook.extra.frameworks.plain_values import text_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json


@dataclass
class SubagentTask:
    """One sub-agent at work."""

    id: str
    call_id: str
    """The call that started it."""
    type: str
    prompt: str
    depth: int
    tokens: int = 0
    tools: int = 0
    """How many tools it has called."""
    _began_s: float = field(default_factory=monotonic)

    def start(self) -> dict[str, Json]:
        return {
            **self._about(), "description": self.prompt, "prompt": self.prompt, "task_type": "local_agent",
            "subagent_type": self.type, "is_backgrounded": False, "spawn_depth": self.depth,
        }  # fmt: skip

    def progress(self, tool: str) -> dict[str, Json]:
        about = {"description": f"Running {tool}", "subagent_type": self.type, "last_tool_name": tool}
        return {**self._about(), **about, "usage": self._usage()}

    def ending(self, status: str, output: Json) -> dict[str, Json]:
        """`output_file` is for a transcript, which is not kept."""
        summary = text_of(output) if output is not None else ""
        return {**self._about(), "status": status, "summary": summary, "output_file": "", "usage": self._usage()}

    def result(self, content: Json) -> Json:
        blocks: Json = content if isinstance(content, list) else [{"type": "text", "text": content}]
        return {
            "status": "completed", "prompt": self.prompt, "agentId": self.id, "agentType": self.type,
            "content": blocks, "totalDurationMs": self._past_ms(), "totalTokens": self.tokens,
            "totalToolUseCount": self.tools,
        }  # fmt: skip

    def _about(self) -> dict[str, Json]:
        return {"task_id": self.id, "tool_use_id": self.call_id}

    def _usage(self) -> Json:
        return {"total_tokens": self.tokens, "tool_uses": self.tools, "duration_ms": self._past_ms()}

    def _past_ms(self) -> int:
        return int((monotonic() - self._began_s) * 1000)
