"""OpenClaw: no command hooks for tools, so our plug-in calls us. Measured with 2026.9.2, by a plug-in like ours."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, EXIT_2, FILE
from anyhook.agents._plugins import plugin_text
from anyhook.agents._results import parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "2026.9.2"

TOOL = (
    Taken("tool", ("event.toolName",)),
    Taken("input", ("event.params",)),
    Taken("call_id", ("event.toolCallId",)),
)
ALONE = "it fires for every request to the model"
EVENTS = (
    HostEvent(
        "before_agent_run",
        ("user_prompt_submit",),
        (Taken("prompt", ("event.prompt",)),),
        {"block": EXIT_2, "context": Say({"context": "{context}"})},
    ),
    HostEvent(
        "before_tool_call", ("pre_tool",), TOOL, {"block": EXIT_2, "input": Say({"input": "{input}"})}, limit_s=15
    ),
    HostEvent(
        "after_tool_call",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("event.result.content",), parts_text), Taken("duration_ms", ("event.durationMs",))),
        error=("event.error",),
        limit_s=15,
    ),
    HostEvent("agent_end", ("stop",), why_not="the turn has ended when it comes"),
    HostEvent("before_agent_reply", installed=False, why_not="the same prompt reaches before_agent_run"),
    HostEvent("before_agent_finalize", installed=False, why_not="what an answer does was not seen"),
    *left_out(ALONE, "before_model_resolve", "before_prompt_build", "llm_input", "llm_output"),
    HostEvent("tool_result_persist", installed=False, why_not="the same result reaches after_tool_call"),
)

MODULE = """\
const sent = (event, { sessionId, workspaceDir } = {}) => ({ event, ctx: { sessionId, workspaceDir } })

export default {
  id: "anyhook",
  name: "anyhook",
  description: "Calls the hooks of anyhook",
  register(api) {
    api.on("before_agent_run", (event, ctx) => {
      try {
        const { context } = ask("before_agent_run", sent({ prompt: event.prompt }, ctx))
        if (context) return { prependContext: context }
      } catch (error) {
        return { outcome: "block", reason: error.message, message: error.message }
      }
    })
    api.on("before_tool_call", (event, ctx) => {
      try {
        const { input } = ask("before_tool_call", sent(event, ctx))
        if (input) return { params: input }
      } catch (error) {
        return { block: true, blockReason: error.message }
      }
    })
    for (const name of ["after_tool_call", "agent_end"]) api.on(name, (event, ctx) => {
      const { messages, ...rest } = event
      try { ask(name, sent(rest, ctx)) } catch {}
    })
  },
}
"""
PACKAGE = '{"name": "anyhook", "version": "1.0.0", "type": "module", "openclaw": {"extensions": ["./index.js"]}}\n'
MANIFEST = (
    '{"id": "anyhook", "name": "anyhook", "activation": {"onStartup": true}, '
    '"configSchema": {"type": "object", "additionalProperties": false}}\n'
)

HOST = Host(
    name="openclaw",
    title="OpenClaw",
    events=EVENTS,
    base=(Taken("session", ("ctx.sessionId", "event.sessionId")),),
    tools={
        "exec": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
    },
    entry=Entry(
        "module",
        {"user": "{config}/extensions/anyhook/index.js"},
        {"config": ("OPENCLAW_STATE_DIR", "{home}/.openclaw")},
        module=plugin_text("openclaw", MODULE),
        owned=True,
        beside={"package.json": PACKAGE, "openclaw.plugin.json": MANIFEST},
    ),
    project=("ctx.workspaceDir", "event.cwd"),
    program="openclaw",
    confirm="Allow it with `plugins.allow` and `plugins.entries.anyhook` in openclaw.json, where plug-ins are limited.",
    confirms=("user",),
    without_us="open",  # our own plug-in passes over a program that is not there, unless it is closed
    gaps=("sessions", "keeping a turn going", "asking the user", "replaced output"),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    event: dict[str, Json] = {"toolName": "exec", "params": {"command": COMMAND}, "toolCallId": "c"}
    return Sample(
        calls="before_tool_call",
        payload={"event": {**event}, "ctx": {"sessionId": "s"}},
        stderr=REASON,
        status=2,
    )
