"""Amp, by Sourcegraph: no command hooks, so our plug-in calls us. It needs an account with its maker, so it is not run
here; the table comes from its documents."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2
from anyhook.agents._plugins import plugin_text
from anyhook.agents._results import as_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "October 2026"


CONTEXT = Say({"context": "{context}"})
TOOL = taken(tool="tool", input="input", call_id="toolUseID")
EVENTS = (
    HostEvent("session.start", ("session_start",), fixed={"source": "startup"}, why_not="its answer is not read"),
    HostEvent(
        "agent.start",
        ("user_prompt_submit",),
        taken(prompt="message"),
        {"context": CONTEXT},
        why_not="a prompt cannot be refused",
    ),
    HostEvent("tool.call", ("pre_tool",), TOOL, {"block": EXIT_2, "input": Say({"input": "{input}"})}, limit_s=600),
    HostEvent(
        "tool.result",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("output",))),
        {"output": Say({"output": "{output}"}), "context": CONTEXT},
        error=("error",),
        limit_s=600,
    ),
    HostEvent("agent.end", ("stop",), taken(stop_reason="status"), {"block": EXIT_2}, limit_s=600),
)

MODULE = """\
const where = (event) => ({ cwd: process.cwd(), session: event.thread?.id ?? `pid-${process.pid}` })
const tell = (event, data) => { try { return ask(event, { ...data, ...where(data) }) } catch { return {} } }

export default function (amp) {
  amp.on("session.start", async (event) => { tell("session.start", event) })
  amp.on("agent.start", async (event) => {
    const { context } = tell("agent.start", event)
    if (context) return { message: { content: context, display: false } }
  })
  amp.on("tool.call", async (event) => {
    try {
      const { input } = ask("tool.call", { ...event, ...where(event) })
      return input ? { action: "modify", input } : { action: "allow" }
    } catch (error) {
      return { action: "reject-and-continue", message: error.message }
    }
  })
  amp.on("tool.result", async (event) => {
    const { output, context } = tell("tool.result", event)
    if (output || context) return { output: [output ?? event.output, context].filter(Boolean).join("\\n\\n") }
  })
  amp.on("agent.end", async (event) => {
    try { ask("agent.end", { status: event.status, ...where(event) }) } catch (error) {
      return { action: "continue", userMessage: error.message }
    }
  })
}
"""

HOST = Host(
    name="amp",
    title="Amp",
    events=EVENTS,
    base=taken(session="session"),
    tools={
        "Bash": HostTool("shell", {"command": "cmd"}),
        "Read": HostTool("read_file"),
        "create_file": HostTool("write_file"),
        "edit_file": HostTool("edit_file", {"old_text": "old_str", "new_text": "new_str"}),
        "glob": HostTool("list_files", {"glob": "filePattern"}),
        "Grep": HostTool("grep"),
        "Task": HostTool("delegate_task", {"task": "prompt"}),
    },
    entry=Entry(
        "module",
        {"user": "{config}/amp/plugins/anyhook.js", "project": "{project}/.amp/plugins/anyhook.js"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        module=plugin_text("amp", MODULE),
        owned=True,
    ),
    program="amp",
    marks=("AMP_CURRENT_THREAD_ID",),
    confirm="nothing to confirm: it loads plug-ins from this folder.",
    confirms=(),
    without_us="open",  # our own plug-in ignores a missing program, unless it is closed
    gaps=("refusing a prompt", "asking the user", "threads that run elsewhere"),
    result=as_text,
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    return Sample(
        calls="tool.call",
        payload={"tool": "Bash", "toolUseID": "t", "input": {"cmd": COMMAND}, "session": "s"},
        stderr=REASON,
        status=2,
    )
