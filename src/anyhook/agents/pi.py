"""Pi: no command hooks, so our extension calls us and blocks what is refused. Measured with 0.87.1, by an extension
like ours; newer features are from its documents."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2
from anyhook.agents._plugins import plugin_text
from anyhook.agents._results import as_text, parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Drive, HostEffect, Json, Sample

VERSION = "0.87.1"


TOOL = taken(tool="toolName", input="input", call_id="toolCallId")
MESSAGE: dict[HostEffect, Say] = {"message": Say({"message": "{message}"})}
EVENTS = (
    HostEvent("session_start", ("session_start",), taken(source="reason"), MESSAGE),
    HostEvent(
        "input",
        ("user_prompt_submit",),
        taken(prompt="text"),
        {"block": EXIT_2, "prompt": Say({"prompt": "{prompt}"}), "context": Say({"context": "{context}"}), **MESSAGE},
    ),
    HostEvent(
        "tool_call", ("pre_tool",), TOOL, {"block": EXIT_2, "input": Say({"input": "{input}"}), **MESSAGE}, limit_s=600
    ),
    HostEvent(
        "tool_result",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("content",), parts_text)),
        {"output": Say({"output": "{output}"}), "context": Say({"context": "{context}"}), **MESSAGE},
        error=("isError",),
        limit_s=600,
    ),
    HostEvent(
        "session_before_compact", ("pre_compact",), (), {"block": EXIT_2}, why_not="a short run compacts nothing"
    ),
    HostEvent("agent_end", ("stop",), why_not="it comes after the turn has ended"),
    HostEvent("session_shutdown", ("session_end",), taken(reason="reason"), why_not="the agent does not wait"),
)

MODULE = """\
const where = (ctx) => ({
  cwd: ctx?.cwd ?? process.cwd(),
  sessionId: ctx?.sessionManager?.getSessionId?.() ?? `pid-${process.pid}`,
})
const show = ({ message }, ctx) => {
  if (message) ctx?.hasUI ? ctx.ui.notify(message, "warning") : console.error(message)
}
const tell = (event, data, ctx) => { try { show(ask(event, { ...data, ...where(ctx) }), ctx) } catch {} }
const text = (content) => content.filter((part) => part.type === "text").map((part) => part.text).join("\\n")

export default function (pi) {
  pi.on("session_start", async (event, ctx) => tell("session_start", event, ctx))
  pi.on("session_shutdown", async (event, ctx) => tell("session_shutdown", event, ctx))
  pi.on("agent_end", async (event, ctx) => tell("agent_end", { type: event.type }, ctx))
  pi.on("input", async (event, ctx) => {
    if (event.source === "extension") return
    try {
      const answer = ask("input", { type: event.type, text: event.text, source: event.source, ...where(ctx) })
      show(answer, ctx)
      const said = [answer.prompt ?? event.text, answer.context].filter(Boolean).join("\\n\\n")
      if (said !== event.text) return { action: "transform", text: said }
    } catch (error) {
      ctx?.ui?.notify?.(error.message, "error")
      return { action: "handled" }
    }
  })
  pi.on("tool_call", async (event, ctx) => {
    try {
      const answer = ask("tool_call", { ...event, ...where(ctx) })
      show(answer, ctx)
      if (answer.input) set(event.input, answer.input)
    } catch (error) {
      return { block: true, reason: error.message }
    }
  })
  pi.on("tool_result", async (event, ctx) => {
    let answer = {}
    try { answer = ask("tool_result", { ...event, ...where(ctx) }) } catch {}
    show(answer, ctx)
    if (!answer.output && !answer.context) return
    const said = [answer.output ?? text(event.content), answer.context].filter(Boolean).join("\\n\\n")
    return { content: [{ type: "text", text: said }] }
  })
  pi.on("session_before_compact", async (event, ctx) => {
    try { ask("session_before_compact", { type: event.type, ...where(ctx) }) } catch { return { cancel: true } }
  })
}
"""

HOST = Host(
    name="pi",
    title="Pi",
    events=EVENTS,
    base=taken(session="sessionId"),
    tools={
        "bash": HostTool("shell"),
        "powershell": HostTool("shell"),
        "read": HostTool("read_file"),
        "write": HostTool("write_file"),
        "edit": HostTool("edit_file"),
        "find": HostTool("list_files", {"glob": "pattern"}),
        "ls": HostTool("list_files"),
        "grep": HostTool("grep"),
    },
    entry=Entry(
        "module",
        {"user": "{config}/extensions/anyhook.js", "project": "{project}/.pi/extensions/anyhook.js"},
        {"config": ("PI_CODING_AGENT_DIR", "{home}/.pi/agent")},
        module=plugin_text("pi", MODULE),
        owned=True,
    ),
    program="pi",
    confirm="A project's extensions load once the project is trusted.",
    without_us="open",  # our own extension ignores a missing program, unless it is closed
    gaps=("keeping a turn going", "asking the user", "a reason for refusing a prompt without a terminal"),
    result=as_text,
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, PROVIDER, Drive

    model: Json = {
        "id": "{model}", "name": "{model}", "reasoning": False, "input": ["text"], "contextWindow": 200000,
        "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }  # fmt: skip
    provider: Json = {"baseUrl": "{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [model]}
    return Drive(
        ("--provider", PROVIDER, "--model", "{model}", "-p", "{prompt}"),
        {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
        writes={"{config}/models.json": {"providers": {PROVIDER: provider}}},
        cannot_show={
            "pre_tool allow": "it never asks",
            "pre_compact": "a short run compacts nothing",
            "sub-agents": "its model has no such tool",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    return Sample(
        calls="tool_call",
        payload={
            "type": "tool_call",
            "toolName": "bash",
            "toolCallId": "c",
            "input": {"command": COMMAND},
            "sessionId": "s",
        },
        stderr=REASON,
        status=2,
    )
